"""Results as tables on stdout."""

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path

import typer
import yaml
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sdckit._support.number_text import count_of, count_records
from sdckit.choose.assessment import Assessment
from sdckit.choose.criteria import Status, Verdict
from sdckit.choose.describe import ColumnSummary
from sdckit.choose.quantity import Quantity
from sdckit.choose.risk_utility_map import Point, RiskUtilityMap
from sdckit.choose.scenario import Scenario
from sdckit.data.microdata import Microdata
from sdckit.methods.registry import find
from sdckit.methods.spec import Better
from sdckit.report.disclosure import Audience

SLOWEST = 10
WORD = 24  # letters
WIDE = 140  # columns where the output is not a terminal, so that pipes and files get whole lines


def out() -> Console:
    """Where results go."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDE)


def number(value: float | None) -> str:
    """A number short enough for a table; a dash where there is none."""
    if value is None or isnan(value):
        return "–"
    if abs(value) < 1e-9:
        return "0"  # what is left after sums that should cancel
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1000 else f"{value:.4g}"


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: str = "") -> Table:
    """A table; `right` lists the columns of numbers, separated by |, which are never folded."""
    made = Table(title=escape(title) or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    cells = [list(row) for row in rows]
    for position, column in enumerate(columns):
        if column in right.split("|"):
            made.add_column(column, justify="right", no_wrap=True)
        else:  # words are broken only where they are very long
            words = [word for text in (column, *(row[position] for row in cells)) for word in text.split()]
            made.add_column(column, overflow="fold", min_width=min(WORD, max(map(len, words), default=1)))
    for row in cells:
        made.add_row(*[escape(cell) for cell in row])
    return made


def assessment(done: Assessment, *, timings: bool = False) -> None:
    """Risk before and after, utility, and what was left out."""
    console = out()
    title = (
        f"Assessment{f' of {done.scenario}' if done.scenario else ''}: {count_records(done.original.height)}"
    )

    def row(name: str, *numbers: float | None) -> list[str]:
        spec = find(name)
        good = "low" if spec.better is Better.LOW else "high"
        return [name, *map(number, numbers), good, spec.title]

    before = {name: r.value for name, r in done.before.items()}
    risks = [row(name, before.get(name), r.value) for name, r in done.after.items()]
    losses = [row(name, r.value) for name, r in done.utility.items()]
    console.print(escape(title), style="bold")
    if alone(done):
        rows = [row(name, r.value) for name, r in done.after.items()]
        console.print(table("", ["risk", "value", "good", "what it is"], rows, right="value"))
    else:
        heads = ["risk", "before", "after", "good", "what it is"]
        console.print(table("", heads, risks, right="before|after"))
        heads = ["utility", "value", "good", "what it is"]
        console.print(table("", heads, losses, right="value"))
    _left_out(console, done)
    for text in () if alone(done) else done.warnings:
        console.print(escape(f"Warning: {text}"))
    if timings:
        slowest(done.seconds, "measure")
    if not alone(done):
        verdict(done.verdict)


def _left_out(console: Console, done: Assessment) -> None:
    """Measures that were left out, by reason; without roles nearly all are, for the same reason."""
    roles = done.original.roles
    if done.omitted and not (roles.keys or roles.numeric or roles.sensitive):
        console.print(
            f"Left out: {len(done.omitted)} measures; no column has the role keys, numeric or sensitive."
        )
        return
    reasons: dict[str, list[str]] = {}
    for omission in done.omitted:
        reasons.setdefault(omission.reason, []).append(omission.measure)
    for reason, measures in reasons.items():
        console.print(escape(f"Left out: {', '.join(measures)}: {reason}"))


def alone(done: Assessment) -> bool:
    """Whether one file was measured, without another beside it."""
    return done.protected[0] is done.original


def slowest(seconds: Mapping[str, float], what: str) -> None:
    """What took longest, with its share of the time, and all the rest in one line."""
    order = sorted(seconds.items(), key=lambda pair: -pair[1])
    total = sum(seconds.values()) or 1.0
    rest = order[SLOWEST:]
    rows = [(name, took) for name, took in order[:SLOWEST]]
    rows += [(f"{len(rest)} others", sum(took for _, took in rest))] if rest else []
    cells = [[name, f"{took:.2f}", f"{100 * took / total:.0f} %"] for name, took in rows]
    title = f"Slowest of {len(order)} {what}s, {sum(seconds.values()):.2f} seconds in all"
    console = out()
    console.print(escape(title), style="bold")
    console.print(table("", [what, "seconds", "share"], cells, right="seconds|share"))


def verdict(found: Verdict) -> None:
    """Every criterion, what is not met first, and the conclusion."""
    console = out()
    order = [Status.NOT_MET, Status.NOT_JUDGED, Status.MET]
    rows = [
        [c.status.value, c.name, c.text(c.value), c.text(c.limit), c.why]
        for c in sorted(found, key=lambda c: order.index(c.status))
    ]
    heads = ["criterion is", "about", "value", "accepted", "why"]
    console.print(table("Verdict", heads, rows, right="value|accepted"))
    for c in found:
        if not c.met and c.mends:
            written = f" In the plan: {c.in_plan}" if c.in_plan else ""
            console.print(escape(f"What would mend “{c.name}”: {c.mends}{written}"))
    console.print(escape(found.headline), style="bold")


def risk_utility_map(found: RiskUtilityMap) -> None:
    """One row a scenario, the untouched file first, what the columns mean, and the recommendation."""
    best, console = found.best, out()
    front = set(found.front["scenario"])
    risks = list(found.risk) if len(found.risk) > 1 else []
    losses = list(found.utility) if len(found.utility) > 1 else []

    def note(point: Point) -> str:
        if point.error:
            return "failed"
        if best and point.name == best.name:
            return f"★ {found.advice}"
        if found.max_risk is not None and point.risk > found.max_risk:
            return "risk too high"
        return "cannot be cleared" if found.objection(point) else ""

    points = [found.original, *found.results]
    texts = {
        "scenario": [p.name for p in points],
        "front": ["●" if p.name in front else "" for p in points],
        "": ["untouched", *map(note, found.results)],
    }
    numbers = {"risk": [number(p.risk) for p in points], "loss": [number(p.loss) for p in points]}
    for name in (*risks, *losses, *found.extra_measures):
        numbers[name] = [number(p.value(name)) for p in points]
    number_of = len(found.results)
    console.print(f"{number_of} scenario{'s' * (number_of > 1)}", style="bold")
    console.print(escape(f"risk: {axis(found.risk)}\nloss: {axis(found.utility)}"))
    _print_map(console, texts, numbers)
    console.print("● on the front: no other scenario is as good in risk and loss and better in one of them.")
    mixed = " and ".join([*(["risk"] if risks else []), *(["loss"] if losses else [])])
    if mixed:
        console.print(
            f"{mixed}: not the mean of the columns as shown, but of what they are when brought to 0…1 "
            "(v/(1+v) where there is no upper bound)."
        )
    for point in found.results:
        if point.error:
            console.print(escape(f"{point.name} failed: {point.error}"))
    for text in found.warnings:
        console.print(escape(f"Warning: {text}"))
    console.print(escape(found.recommendation), style="bold")
    if found.verdict is not None:
        verdict(found.verdict)


def _print_map(console: Console, texts: Mapping[str, list[str]], numbers: Mapping[str, list[str]]) -> None:
    """The columns in one table, or in several below each other where the screen is too narrow."""

    def made(some: Sequence[str], with_notes: bool) -> Table:
        heads = ["scenario", *some, *(["front", ""] if with_notes else [])]
        columns = [numbers[name] if name in some else texts[name] for name in heads]
        return table("", heads, zip(*columns, strict=True), right="|".join(some))

    def fits(some: Sequence[str], with_notes: bool) -> bool:
        unbounded = console.options.update(max_width=10_000)
        return console.measure(made(some, with_notes), options=unbounded).minimum <= console.width

    waiting = list(numbers)
    first = True
    while waiting:
        taken = len(waiting)
        while taken > (2 if first else 1) and not fits(waiting[:taken], first):
            taken -= 1
        console.print(made(waiting[:taken], first))
        waiting, first = waiting[taken:], False


def found(
    whole: RiskUtilityMap,
    report_file: Path | None,
    audience: Audience,
    *,
    as_json: bool,
    only_front: bool = False,
    save: Path | None = None,
) -> None:
    """A map as a table or JSON, its report and results where asked for, and the exit code of its verdict."""
    from sdckit.choose import plain
    from sdckit.cli import _json
    from sdckit.cli._exit import Code

    shown = whole.only_front() if only_front else whole
    if as_json:
        _json.emit(plain.risk_utility_map(whole))
    else:
        risk_utility_map(shown)
        if only_front and whole.best is not None:
            steps(whole.best.scenario)
        if whole.seed is None and whole.best is not None and any(s.random for s in whole.best.scenario.steps):
            out().print(
                "\nRandom steps were drawn in secret, and sdckit protect draws anew: judge the file it "
                "writes with sdckit assess, or put a seed into the plan, as secret as the original.",
                soft_wrap=True,
            )
    if save is not None:
        saved(shown, save)
    if report_file is not None:
        report_files(shown, report_file, audience)
    code = Code.NOT_RELEASABLE if whole.verdict is None else whole.verdict.exit_code
    if code:
        raise typer.Exit(code)


def steps(scenario: Scenario) -> None:
    """A scenario that a search found, in words and as it stands in a plan: its name says nothing."""
    console = out()
    console.print(escape(f"\nThe steps of {scenario.name}:"), style="bold")
    for position, step in enumerate(scenario.steps, 1):
        options = f", with {_pairs(step.options)}" if step.options else ""
        console.print(escape(f"  {position}. {find(step.method).title} ({step.method}){options}"))
    if not scenario.steps:
        console.print("  none: the file as it is")
    console.print("In a plan (--save FILE writes one):", style="bold")
    text = yaml.safe_dump(
        {scenario.name: scenario.as_list()}, default_flow_style=None, sort_keys=False, allow_unicode=True
    )
    for line in ("scenarios:", *(f"  {part}" for part in text.splitlines())):
        console.print(escape(line), soft_wrap=True)


def saved(x: Assessment | RiskUtilityMap, path: Path) -> None:
    """Save results for later reports, and say where."""
    from sdckit.cli._progress import say
    from sdckit.report import save_results

    written = save_results(x, path)
    say(f"Wrote {written}, for internal use. Next: sdckit report {written} --out report.html")


def report_files(x: Assessment | RiskUtilityMap, path: Path, audience: Audience) -> None:
    """Write a report with its numbers beside it, and say where."""
    from sdckit.cli._progress import following, say
    from sdckit.report import json_beside, report

    with following("Report") as tell:
        written = report(x, path, audience=audience, progress=tell)
    say(f"Wrote {written} and {json_beside(written)}")


def axis(measures: Mapping[str, float]) -> str:
    """What an axis shows: one measure in its unit, or several with their shares."""
    if len(measures) > 1:
        parts = ", ".join(f"{name} {number(share)}" for name, share in measures.items())
        return f"mean of measures brought to 0…1, with shares: {parts}"
    name = next(iter(measures))
    unit = Quantity.named(name).axis_unit
    return f"{name}, {unit}" if unit else name


def log(data: Microdata, title: str) -> None:
    """What each step did."""
    rows = [
        [str(position), entry.method, _pairs(entry.options), _pairs(entry.figures)]
        for position, entry in enumerate(data.log, 1)
    ]
    out().print(table(title, ["step", "method", "options", "what it did"], rows, right="step"))


def columns(found: Sequence[ColumnSummary], records: int) -> None:
    """The columns of a file; values are shown where they are common and harmless."""
    heads = ["column", "type", "different", "missing", "common values", "suggested role"]
    rows = [
        [
            f"{c.name} ({c.label})" if c.label else c.name,
            c.kind,
            number(c.different),
            number(c.missing),
            ", ".join(c.common),
            c.role.value if c.role else "–",
        ]
        for c in found
    ]
    title = f"{count_of(len(found), 'column', 'columns')}, {count_records(records)}"
    out().print(table(title, heads, rows, right="different|missing"))


def released(dropped: Sequence[str], without_role: Sequence[str]) -> None:
    """Which columns are gone, and which are in the file although no risk looks at them."""
    lines = {"Dropped": dropped, "Released without a role, so that no risk looks at them": without_role}
    for words, columns in lines.items():
        if columns:
            out().print(escape(f"{words}: {', '.join(columns)}"))


def written(files: Mapping[str, Path]) -> None:
    """What was written where."""
    out().print(table("Written", ["file", "what it is"], [[str(p), what] for what, p in files.items()]))


def _pairs(values: object) -> str:
    pairs = values.items() if hasattr(values, "items") else ()
    return ", ".join(f"{k}={_short(v)}" for k, v in pairs if v not in (None, (), [], {}))


def _short(value: object) -> str:
    if hasattr(value, "items"):
        return "{" + _pairs(value) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_short, value)) + "]"
    return number(value) if isinstance(value, float) else str(value)
