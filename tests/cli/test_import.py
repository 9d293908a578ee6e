import sys

import pytest

from sdckit.methods.registry import specs, unregister

MINE = """
import sdckit as sdc
from sdckit.methods.registry import protection, risk

@risk("Share of one record", bounds=(0, 1), interpretation="0: many records.", reference="none")
def one_record(data: sdc.Microdata) -> sdc.Result:
    "One record's share."
    return sdc.Result(1 / data.height)

@protection("First half", reference="none")
def first_half(data: sdc.Microdata) -> sdc.Microdata:
    "Keep the first half of the records."
    return data.with_frame(data.frame.head(data.height // 2))
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A file with methods; afterwards everything is as before."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before, modules = {spec.name for spec in specs()}, {*sys.modules}
    path = tmp_path / "my_methods.py"
    path.write_text(MINE, encoding="utf-8")
    yield path
    for name in {spec.name for spec in specs()} - before:
        unregister(name)
    for name in {*sys.modules} - modules:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


def test_methods_lists_and_explains(run, mine):
    assert run("methods", "one_record").exit_code == 1
    result = run("methods", "one_record", "--import", mine)
    assert result.exit_code == 0
    assert "One record's share." in result.stdout
    assert "first_half" in run("methods", "--import", mine, "--import", mine).stdout


def test_by_the_name_of_a_module(run, mine, monkeypatch):
    monkeypatch.chdir(mine.parent)
    assert "one_record" in run("methods", "--import", "my_methods").stdout


def test_assess_and_compare_and_protect(run, mine, plan, tmp_path):
    asked = ("assess", "survey.csv", "survey.csv", "--keys", "sex", "--measures", "one_record")
    files = [tmp_path / word if word.endswith(".csv") else word for word in asked]
    assert '"value": 0.005' in run(*files, "--import", mine, "--json").stdout
    result = run("compare", plan, "--risk", "one_record", "--import", mine, "--json")
    assert '"one_record": 0.005' in result.stdout
    plan.write_text(
        "data: {file: survey.csv, keys: [sex]}\nscenarios: {half: [first_half]}\n", encoding="utf-8"
    )
    out = tmp_path / "half.csv"
    assert run("protect", plan, "--out", out, "--import", mine).exit_code == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 101


def test_a_method_that_is_not_known_points_to_import(run, plan):
    result = run("compare", plan, "--risk", "one_record")
    assert result.exit_code == 1
    assert "--import FILE.py" in result.stderr


def test_a_plan_cannot_import_code(run, mine, plan):
    with plan.open("a", encoding="utf-8") as file:
        file.write(f"import: {mine}\n")
    result = run("compare", plan, "--risk", "one_record")
    assert result.exit_code == 1
    assert "import" in result.stderr
    assert "my_methods" not in sys.modules


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("gone.py", None, "The file to import does not exist"),
        ("notes.txt", "x", "must be a Python file"),
        ("two.dots.py", "x = 1", "must be a Python file"),
        ("bad_syntax.py", "def (", "cannot be imported. Given: {}. SyntaxError"),
        ("bad_code.py", "1 / 0", "cannot be imported. Given: {}. ZeroDivisionError: division by zero"),
        ("no_methods.py", "x = 1", "Nothing in it is registered as a method"),
        ("statistics.py", "x = 1", "Another module has the name of this file"),
        (
            "takes_ours.py",
            MINE.replace("one_record", "suda"),
            "sdckit has a method of this name. Given: suda",
        ),
    ],
)
def test_what_cannot_be_imported_is_said(run, mine, tmp_path, file, text, words):
    path = tmp_path / file
    if text is not None:
        path.write_text(text, encoding="utf-8")
    result = run("methods", "--import", path)
    assert result.exit_code == 1
    assert words.format(path) in result.stderr
    assert "Traceback" not in result.stderr


def test_no_such_module(run, mine):
    result = run("methods", "--import", "there_is_no_such_module")
    assert "ModuleNotFoundError" in result.stderr


def test_warnings_of_ours_are_one_line(run, plan, tmp_path):
    (tmp_path / "twice.csv").write_text("pid,k\n1,a\n1,b\n", encoding="utf-8")
    text = "data: {file: twice.csv, keys: [k], id: pid}\nscenarios: {same: [drop: {variables: [pid]}]}\n"
    plan.write_text(text, encoding="utf-8")
    result = run("protect", plan, "--out", tmp_path / "out.csv")
    assert result.exit_code == 0
    assert "Warning: Values of 'pid', given as id, are repeated" in result.stderr
    assert "UserWarning" not in result.stderr
    assert "SdcWarning" not in result.stderr
