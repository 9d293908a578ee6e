"""One page a protection or measure, made from the registry, the docstrings and a run example."""

import inspect
import re
from math import isinf
from pathlib import Path

from sdckit.cli._example import example as line_of_a_plan
from sdckit.cli._methods import about, default, values
from sdckit.methods.options import RoleColumns
from sdckit.methods.registry import specs
from sdckit.methods.spec import STEPS, Compares, Kind, Spec

HERE = Path(__file__).resolve().parent
TITLES = {
    Kind.PREPARATION: ("Preparations", "What is done to a file before it is the original: `sdc.prepare.…`."),
    Kind.PROTECTION: ("Protections", "Functions from Microdata to Microdata: `sdc.protect.…`."),
    Kind.RISK: ("Risk measures", "What an intruder could still learn: `sdc.risk.…`."),
    Kind.UTILITY: ("Utility measures", "What an analyst has lost: `sdc.utility.…`."),
}
INFORMATIVE = {
    Compares.ONE_FILE: "It looks at one file, so it is measured before and after any protection.",
    Compares.RECORDS: "It compares each record with its counterpart: informative where a record still "
    "stands for the same person, not after swapping, shuffling or synthesis.",
    Compares.PERSONS: "It compares each person with the record that was made from them: informative after "
    "every protection, as long as the data holder knows which record is whose.",
    Compares.DISTRIBUTIONS: "It compares distributions: informative after any protection, also for files of "
    "different length.",
}
MODULES = {
    Kind.PREPARATION: "prepare",
    Kind.PROTECTION: "protect",
    Kind.RISK: "risk",
    Kind.UTILITY: "utility",
}


def make_reference(folder: Path, *, examples: bool = True) -> None:
    """Write all pages; files that would not change are left alone."""
    advice = _advice((HERE / "choosing-a-method.md").read_text(encoding="utf-8"))
    index = ["# Reference", "", "```{toctree}", ":maxdepth: 2", ""]
    kept = {folder / "index.md"}
    for kind in TITLES:
        (folder / kind.value).mkdir(parents=True, exist_ok=True)
        kept.add(_write(folder / f"{kind.value}.md", _index(kind)))
        index.append(kind.value)
        for spec in specs(kind):
            kept.add(_page(spec, folder / kind.value, advice.get(spec.name, []), examples))
    _write(folder / "index.md", [*index, "```"])
    for old in set(folder.rglob("*.md")) - kept:
        old.unlink()


def _index(kind: Kind) -> list[str]:
    """The page of one kind: a table a family, and the pages under it."""
    title, about = TITLES[kind]
    families: dict[str, list[Spec]] = {}
    for spec in sorted(specs(kind), key=lambda s: (s.family == "Further", s.family)):
        families.setdefault(spec.family, []).append(spec)
    lines = [f"# {title}", "", about]
    for name, family in families.items():
        lines += ["", f"## {name}", "", "| name | what it is | what it does |", "|---|---|---|"]
        lines += [f"| `{s.name}` | {s.title} | {_cell(s.summary)} |" for s in family]
    pages = [f"{kind.value}/{s.name}" for family in families.values() for s in family]
    return [*lines, "", "```{toctree}", ":hidden:", "", *pages, "```"]


def _page(spec: Spec, folder: Path, advice: list[str], examples: bool) -> Path:
    lines = [f"# {spec.name}", "", f"**{spec.title}.** {spec.summary}", "", *_facts(spec)]
    if spec.interpretation:
        lines += ["", "## How to read it", "", spec.interpretation]
    when = [*advice]
    if spec.kind not in STEPS:
        when.append(INFORMATIVE[spec.compares])
    if when:
        lines += ["", "## When to use it", "", *when]
    lines += ["", "## Definition", "", "```{eval-rst}", *_definition(spec), "```", "", *_options(spec)]
    if examples and spec.kind is not Kind.PREPARATION:  # theirs stands in the definition
        lines += ["", *_example(spec, folder)]
    return _write(folder / f"{spec.name}.md", lines)


def _facts(spec: Spec) -> list[str]:
    """The table at the head of a page."""
    facts = {"Needs the roles": ", ".join(r.value for r in spec.needs) or "none"}
    if spec.kind not in STEPS:
        low, high = ("∞" if isinf(b) else f"{b:g}" for b in spec.bounds)
        facts = {"Good is": spec.better.value, "Range": f"{low} to {high}", "Unit": spec.unit, **facts}
    facts |= {"Engines": ", ".join(spec.engines), "Reference": spec.reference}
    source = spec.function.__module__.replace(".", "/")
    facts["Source"] = f"[`{spec.name}`](../../../src/{source}.py)"
    rows = [f"| {name} | {_cell(text)} |" for name, text in facts.items() if text]
    return ["| | |", "|---|---|", *rows]


def _definition(spec: Spec) -> list[str]:
    """The call and the docstring without its first line, as reStructuredText."""
    files = ", ".join(spec.file_names)
    options = "".join(f", {n}={_default(spec, n, '...')}" for n in spec.options.model_fields)
    star = ", *" if options else ""
    body = (inspect.getdoc(spec.function) or "").split("\n")[1:]
    lines = [f".. py:function:: sdckit.{MODULES[spec.kind]}.{spec.name}({files}{star}{options})", ""]
    return [*lines, *(f"   {_plain_bars(line)}" if line else "" for line in body)]


def _plain_bars(line: str) -> str:
    """|x| in our docstrings is an absolute value, not a substitution."""
    if line.lstrip().startswith((">>>", "...", ".. math")) or "\\" in line:
        return line
    return line.replace("|", r"\|")


def _options(spec: Spec) -> list[str]:
    line = ["", f"In a plan: `{line_of_a_plan(spec)}`"]
    rows = [
        f"| `{field.name}` | {_cell(about(field))} | {_cell(values(field))} | {_cell(default(field))} |"
        for field in spec.form()
    ]
    if not rows:
        return ["## Options", "", "None.", *line]
    head = ["| option | what it is | values | default |", "|---|---|---|---|"]
    return ["## Options", "", *head, *rows, *line]


def _default(spec: Spec, name: str, other: str) -> str:
    """A default as Python writes it, where that is short and clear."""
    field = spec.options.model_fields[name]
    if isinstance(field.default, RoleColumns) or field.is_required():
        return other
    value = getattr(field.default, "value", field.default)
    return repr(value) if isinstance(value, int | float | str | None) else other


def _example(spec: Spec, folder: Path) -> list[str]:
    from examples import draw, run_example  # of docs/_ext, which conf.py puts on the path

    made = run_example(spec)
    lines = ["## Example", "", "```python", "import sdckit as sdc", "", made.code, "```"]
    if made.output:
        lines += ["", "```text", made.output, "```"]
    if made.chart is None:
        return lines
    draw(made.chart, folder / f"{spec.name}.svg", f"Picture of {spec.title}")
    return [*lines, "", f"{made.about}:", "", f"![{spec.title}]({spec.name}.svg)"]


def _advice(text: str) -> dict[str, list[str]]:
    """What the page on choosing says of each protection and measure, from the rows of its tables."""
    found: dict[str, list[str]] = {}

    def say(names: str, line: str) -> None:
        for name in re.findall(r"`(\w+)`", names):
            found.setdefault(name, []).append("- " + line.replace("](guides/", "](../../guides/"))

    for row in re.findall(r"^\| (?!variable|question|---)(.*) \|$", text, re.MULTILINE):
        cells = [cell.strip() for cell in row.split("|")]
        if len(cells) == 2:
            say(cells[1], f"*{cells[0]}*")
        elif len(cells) == 5:
            variable, worry, first, then, measure = cells
            say(first, f"First choice for *{variable}*, where the worry is: {worry}. Look at {measure}.")
            say(then, f"Second choice for *{variable}*, where the worry is: {worry}. Look at {measure}.")
            say(measure, f"After {first}, on *{variable}*.")
    return {name: [*lines, ""] for name, lines in found.items()}


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")


def _write(path: Path, lines: list[str]) -> Path:
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path
