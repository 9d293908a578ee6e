import subprocess
import sys
from importlib.metadata import version

import pytest

import sdckit.choose.plan
from sdckit._support.accepted_risk import accepted_risk
from sdckit.choose.plain import clean
from sdckit.cli._options import names, shares
from sdckit.cli._progress import following
from sdckit.cli._show import number
from sdckit.errors import OptionError

COMMANDS = ("demo", "columns", "protect", "assess", "compare", "report", "methods")


def program(*words: str) -> subprocess.CompletedProcess[str]:
    code = "from sdckit.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False, encoding="utf-8"
    )


def test_the_program_itself():
    result = program("methods", "il1z")
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


def test_python_runs_it_by_name():
    words = [sys.executable, "-m", "sdckit", "methods", "il1z"]
    result = subprocess.run(words, capture_output=True, text=True, check=False, encoding="utf-8")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == program("methods", "il1z").stderr


def test_help_loads_no_heavy_library():
    code = (
        "import sys\nfrom sdckit.cli import app\n"
        "try: app(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('numba', 'altair', 'scipy', 'joblib') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stdout.splitlines()[-1] == "[]"


def test_help_documents_the_exit_codes(run):
    text = run("--help").stdout
    assert "Exit codes" in text
    for command in COMMANDS:
        assert command in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(run, command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"sdckit {command}" in " ".join(result.stdout.split("Example")[1].split())


def test_version(run):
    assert run("--version").stdout.strip() == version("sdckit")


def test_no_command_shows_help_as_wrong_usage(run):
    assert run().exit_code == 2
    assert run("protekt").exit_code == 2


def test_interrupt_is_130_and_leaves_the_old_file(run, plan, monkeypatch):
    out = plan.with_name("p.csv")
    out.write_text("old")

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(sdckit.choose.plan.Plan, "read", interrupted)
    result = run("protect", plan, "--scenario", "age5", "--out", out, "--force")
    assert result.exit_code == 130
    assert "Interrupted" in result.stderr
    assert out.read_text() == "old"
    assert sorted(p.name for p in plan.parent.iterdir()) == ["p.csv", "plan.yaml", "survey.csv"]


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_flags_are_shown_as_flags(run, command):
    text = run(*command, "--help").stdout
    assert "--help" in text
    assert "bool" not in text


def test_help_in_other_words(run):
    assert run("-h").stdout == run("help").stdout == run("--help").stdout
    assert run("compare", "-h").stdout == run("help", "compare").stdout == run("compare", "--help").stdout
    assert run("help", "protekt").exit_code == 2


def test_a_file_one_may_not_write_is_one_line(run, plan, monkeypatch):
    def refused(*args, **kwargs):
        raise PermissionError(13, "Permission denied", "p.csv")

    monkeypatch.setattr("sdckit.io.write", refused)
    result = run("protect", plan, "--scenario", "age5", "--out", plan.with_name("p.csv"))
    assert result.exit_code == 1
    assert "p.csv cannot be read or written: no permission, or it is open in another program" in result.stderr
    assert result.stdout == ""


def test_progress_on_a_terminal_is_a_bar(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with following("Step") as tell:
        tell("recode", 0, 2)
        tell("suppress", 1, 2)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Step 1/2: recode" not in captured.err
    assert "suppress" in captured.err


def test_progress_elsewhere_is_lines(capsys):
    with following("Step") as tell:
        tell("recode", 0, 2)
    with following("Scenario", finished=True) as tell:
        tell("k3", 1, 2)
    assert capsys.readouterr().err == "Step 1/2: recode\nScenario 1/2: k3\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (0.1234567, "0.1235"),
        (12345.6, "12,346"),
        (3.0, "3"),
        (1e-12, "0"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_in_tables(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("given", "number"), [("0.05", 0.05), ("5%", 0.05), ("5 %", 0.05), (0.05, 0.05), (3, 3.0), (None, None)]
)
def test_accepted_risk(given, number):
    assert accepted_risk(given, "--max-risk") == number


@pytest.mark.parametrize("given", ["0,05", "low", "nan", "inf", "%", "", True, [0.1]])
def test_accepted_risk_that_is_no_number(given):
    with pytest.raises(OptionError, match="a number such as"):
        accepted_risk(given, "--max-risk")


def test_lists_and_shares():
    assert names(None) == names([" , "]) == []
    assert shares([]) is None
    assert shares(["a,b"]) == shares(["a", "b"]) == ["a", "b"]
    assert shares(["a, b=2"]) == {"a": 1.0, "b": 2.0}


def test_clean_json():
    import numpy as np

    assert clean({"a": np.float64("inf"), "b": np.int64(3), 4: True}) == {"a": None, "b": 3, "4": True}
