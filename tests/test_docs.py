"""The documentation does what it says: every code block is run, every link leads somewhere.

A page is one session in a folder of its own, from top to bottom: `sh` lines are run (`# exit code 3` behind
one says how it ends), a `yaml` block must be a plan, `python` blocks are executed, both are written to the
file whose name they begin with, and `pycon` blocks must print what they show.
"""

import doctest
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import sdckit.cli
from sdckit.choose.plan import SECTIONS, Plan
from sdckit.cli._plan import Settings
from sdckit.data.roles import Role
from sdckit.methods.registry import specs, unregister

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
MADE = ("_build", "reference")
WRITTEN = sorted(p for p in DOCS.rglob("*.md") if p.relative_to(DOCS).parts[0] not in MADE)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *WRITTEN]
BLOCK = re.compile(r"^( *)```(\S*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
SHOWN_ONLY = ("", "text", "{toctree}", "{eval-rst}", "{figure}", "{note}")
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
LINK = re.compile(r"(?<!`)\]\(([^)\s]+)\)")
CODE = re.compile(r"\bexit code (\d)")  # in a comment behind a command: how it ends
ELSEWHERE = ("pip install", "git clone", "cd ")
DEMO = "sdckit demo --out"
VERDICTS = (3, 4)  # exit codes of a command that worked: not to be released, or something was not judged


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[tuple[str, str, int]]:
    """Language, text and line of every fenced block."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(text):
        indent, language, body = match.groups()
        lines = [line.removeprefix(indent) for line in body.splitlines()]
        found.append((language, "\n".join(lines) + "\n", text[: match.start()].count("\n") + 2))
    return found


def load(name: str, file: Path):
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def session(tmp_path, monkeypatch):
    """A folder with people.csv; `sdckit` is on the path, what a page registers is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "120")
    write_people(tmp_path / "people.csv")
    before = {spec.name for spec in specs()}
    yield tmp_path
    for spec in specs():
        if spec.name not in before:
            unregister(spec.name)


def write_people(path):
    """A file of one's own, as a newcomer has it: names, text categories, holes."""
    rng = np.random.default_rng(3)
    n = 400
    people = pl.DataFrame(
        {
            "name": [f"Person {i}" for i in range(n)],
            "region": rng.choice(["North", "South", "East", ""], n, p=[0.5, 0.3, 0.15, 0.05]),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(0, 95, n),
            "income": np.exp(rng.normal(9.5, 0.8, n)).round(),
            "weight": rng.uniform(50, 300, n).round(1),
        }
    )
    people.write_csv(path)


def with_blocks(page):
    """A page as a parameter; those with the demo go to one process, which runs it once."""
    demo = DEMO in page.read_text(encoding="utf-8")
    marks = [pytest.mark.xdist_group("pages with the demo")] if demo else []
    return pytest.param(page, id=name_of(page), marks=marks)


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """Runs the demo into a folder, a second time by copying what the first wrote."""
    kept = tmp_path_factory.mktemp("kept") / "demo"
    found = []

    def run(command):
        if not found:
            found.append(carried_out(f"{DEMO} {kept} --n 300"))  # the same, sooner
        if kept.exists():
            shutil.copytree(kept, Path.cwd() / command.removeprefix(DEMO).strip())
        return found[0]

    return run


@pytest.mark.slow
@pytest.mark.parametrize("page", [with_blocks(p) for p in PAGES if blocks(p)])
def test_every_code_block_of_a_page_runs(page, session, demo):
    names = {"__name__": "page"}
    for language, text, line in blocks(page):
        where = f"{name_of(page)}:{line}"
        if language == "pycon":
            run_examples(text, names, where, line)
        elif language == "python":
            write_module(text, session)
            code = compile("\n" * (line - 1) + text, str(page), "exec")
            if DOCS / "studies" not in page.parents:  # there it is from the script that wrote the page
                exec(code, names)
        elif language == "sh":
            run_commands(text, where, demo)
        elif language == "yaml":
            write_plan(text, session)
        else:
            assert language in SHOWN_ONLY, f"{where}: nothing runs a block of {language!r}"


def run_examples(text, names, where, line):
    test = doctest.DocTestParser().get_doctest(text, names, where, where, line)
    assert test.examples, f"{where}: no >>> in this block"
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert runner.failures == 0, "".join(report)


def run_commands(text, where, demo):
    for line in text.splitlines():
        command, _, comment = line.partition(" #")
        command, code = command.strip(), CODE.search(comment)
        if not command or command.startswith(ELSEWHERE):
            continue
        if command.startswith("make "):
            target = command.split()[1]
            assert f"\n{target}:" in (ROOT / "Makefile").read_text(encoding="utf-8"), f"{where}: {command}"
            continue
        ended, shown = (demo if command.startswith(DEMO) else carried_out)(command)
        expected = (0, *VERDICTS) if code is None else (int(code[1]),)
        assert ended in expected, f"{where}: {command}: {ended}\n{shown}"


def carried_out(command: str) -> tuple[int, str]:
    """The exit code of a command line and what it showed.

    A line that is nothing but `sdckit` and its words is run here, as a process of its own spends most of its
    time on imports; --import, which registers for good, and everything else go to a shell.
    """
    words = shlex.split(command)
    if words[0] == "sdckit" and "--import" not in words and not set(command) & set("|&;<>$*?~`\\"):
        result = CliRunner().invoke(sdckit.cli.app, words[1:])
        return result.exit_code, f"{result.output}\n{result.exception!r}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=300)
    return done.returncode, f"{done.stdout}\n{done.stderr}"


def write_module(text, folder):
    first = re.match(r"# (\w+\.py)\n", text)
    if first:
        (folder / first.group(1)).write_text(text, encoding="utf-8")


def write_plan(text, folder):
    plan = Plan.parse(text)
    assert plan.scenarios or plan.search or plan.assess
    first = re.match(r"# (\S+\.yaml)\b", text)
    if first:
        (folder / first.group(1)).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_examples_are_fenced(page):
    outside = BLOCK.sub("", page.read_text(encoding="utf-8"))
    assert not re.search(r"^\s*>>>", outside, re.MULTILINE), "outside a fence >>> is a quotation"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    labels = re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in heads} | set(labels)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page):
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if DOCS / "reference" in file.parents:  # made by the build, which checks the links to it
            continue
        assert file.exists(), f"{name_of(page)} links to {target}"
        assert not anchor or anchor in anchors(file), f"{name_of(page)} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_functions_named_in_links_to_code_are_there(page):
    links = load("links", DOCS / "_ext" / "links.py")
    for name, path in links.CODE_LINK.findall(page.read_text(encoding="utf-8")):
        assert links.line_of(ROOT / path, name) > 0


def test_the_page_on_plans_has_every_section_and_entry():
    text = (DOCS / "plans.md").read_text(encoding="utf-8")
    for section in SECTIONS:
        assert f"\n## {section}\n" in text
    entries = {"file", "keep_direct", "engine", "choices", "range", "log", "optional", "one of", "where"}
    for entry in entries | {role.value for role in Role} | set(Settings.model_fields):
        assert re.search(rf"`{entry}[`:]|\b{entry}: |\*\*{entry}\*\*", text), entry


def test_the_page_on_the_verdict_has_every_criterion():
    text = (DOCS / "guides" / "intruders-and-the-verdict.md").read_text(encoding="utf-8")
    rows = " | ".join(re.findall(r"^\| ([a-z][^|]*) \|", text, re.MULTILINE))
    named = set()
    for file in (ROOT / "src" / "sdckit" / "choose").glob("*.py"):
        code = file.read_text(encoding="utf-8")
        if "Criterion(" in code and file.stem != "criteria":
            named |= set(re.findall(r"(?:Criterion|_asked)\(\s*\"([a-z][a-z ]+)\"", code))
            named |= set(
                re.findall(r"\b(?:NAME|name|kind)\b[\w, ]* = .*?f?\"([a-z]+ [a-z ]+)(?=[\"{])", code)
            )
    assert {"order of the rows", "claims of ", "direct identifiers", "differential privacy"} <= named
    assert not [name for name in named if name not in rows]


def test_every_protection_and_measure_has_a_page(tmp_path):
    made = load("make_reference", DOCS / "make_reference.py")
    made.make_reference(tmp_path, examples=False)
    for spec in specs():
        text = (tmp_path / spec.kind.value / f"{spec.name}.md").read_text(encoding="utf-8")
        assert spec.title in text
        assert "## Definition" in text
        index = (tmp_path / f"{spec.kind.value}.md").read_text(encoding="utf-8")
        assert f"| `{spec.name}` |" in index
        assert f"{spec.kind.value}/{spec.name}\n" in index


def test_formulas_become_mathml():
    pytest.importorskip("docutils")
    to_mathml = load("mathml", DOCS / "_ext" / "mathml.py").to_mathml
    for spec in specs():
        for formula in re.findall(r"\.\. math:: (.*(?:\n {7}.*)*)", spec.function.__doc__ or ""):
            assert "<math" in to_mathml(formula, block=True)


def test_a_half_is_a_half_and_not_twelve():
    pytest.importorskip("docutils")
    to_mathml = load("mathml", DOCS / "_ext" / "mathml.py").to_mathml
    for formula in (r"\frac12 x", r"\tfrac12\left[x\right]", r"\tfrac 1 2 \sum_i x_i"):
        drawn = to_mathml(formula, block=True)
        assert "<mn>1</mn>" in drawn
        assert "<mn>2</mn>" in drawn


def test_every_example_of_the_reference_names_something_that_exists():
    examples = load("examples", DOCS / "_ext" / "examples.py")
    names = {spec.name for spec in specs()}
    assert set(examples.TRIED) | set(examples.TOLD) <= names


def test_every_method_of_ours_has_a_family():
    assert not [spec.name for spec in specs() if spec.family == "Further"]
