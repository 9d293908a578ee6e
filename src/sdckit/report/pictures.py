"""The charts of measures: any measure with one shows up in the report by itself."""

from collections.abc import Callable
from dataclasses import replace
from math import isnan
from typing import Any

from sdckit import charts
from sdckit.charts.bars import FigureBars, PartsBars, PartsBeforeAfter, TableBars
from sdckit.choose.assessment import Assessment
from sdckit.data.result import Result
from sdckit.errors import SdcError
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind, Spec
from sdckit.report.disclosure import visible
from sdckit.report.file_risks import FileRisks
from sdckit.report.measures import at_best
from sdckit.report.relabel import relabel
from sdckit.report.sections import section_of

MOST = {Kind.RISK: 6, Kind.UTILITY: 9}
BARS = (PartsBars, PartsBeforeAfter, FigureBars, TableBars)
HALF = 300  # pixels: two charts beside each other
Chart = Callable[[Result], Any]


def pictures(x: Assessment, kind: Kind) -> dict[str, Any]:
    """Charts as plain data (Vega-Lite), in the order of the measures, and how many there would be in all."""
    about = FileRisks.of(x)
    results = x.utility if kind is Kind.UTILITY else x.after
    specs = {name: find(name) for name in results}
    found = [
        p for n, r in results.items() if not about.artificial(specs[n]) and (p := _picture(x, specs[n], r))
    ]
    first = sorted(found, key=lambda p: not p["wide"])[: MOST[kind]]
    names = {p["name"] for p in first}
    drawn = [{**p, "chart": charts.plain(p["chart"])} for p in found if p["name"] in names]
    return {"charts": drawn, "all": len(found)}


def _picture(x: Assessment, spec: Spec, result: Result) -> dict[str, Any] | None:
    chart = spec.chart
    if chart is None or chart is charts.estimates:  # drawn beside the table of estimates
        return None
    if isnan(result.value) or at_best(spec, result):  # the table says so
        return None
    hidden = {*x.original.columns} - {*visible(x.original, *x.protected)}
    shown = relabel(_without_keys(result), x.original.columns, hidden, x.original.labels)
    by = result.parts.columns[0] if isinstance(chart, PartsBars) and result.parts is not None else ""
    if isinstance(chart, PartsBars) and not _any_change(shown, chart):
        return None
    both = isinstance(chart, TableBars) and spec.name in x.before
    try:
        drawn = _before_after(chart, x.before[spec.name], result) if both else chart(shown)
    except SdcError:  # nothing to draw
        return None
    return {
        "name": spec.name,
        "section": section_of(spec),
        "title": f"{spec.title}, by {by}" if by else spec.title,
        "wide": not isinstance(chart, BARS),
        "both": both,
        "chart": drawn,
    }


def _without_keys(result: Result) -> Result:
    """The result without what it says key by key: a chart of its own has that before and after."""
    kept = {name: table for name, table in result.tables.items() if table.columns[:1] != ["key"]}
    return replace(result, tables=kept)


def _before_after(chart: Any, before: Result, after: Result) -> Any:
    """The bars of a table of both files beside each other; what only one of them has is left out."""
    files = [dict(chart.pairs(result)) for result in (before, after)]
    names = [name for name in files[0] if name in files[1]]
    if not names or not any(file[name] for file in files for name in names):
        raise SdcError("There is nothing to draw.")
    values = [[file[name] for name in names] for file in files]
    return charts.before_after(names, *values, axis=chart.axis, share=chart.share, width=HALF)


def _any_change(result: Result, chart: PartsBars) -> bool:
    parts = result.parts
    return (
        parts is not None
        and chart.column in parts.columns
        and any(abs(v) > 1e-9 for v in parts[chart.column].drop_nulls())
    )
