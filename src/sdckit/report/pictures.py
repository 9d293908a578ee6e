"""The charts of measures: any measure with one shows up in the report by itself."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isnan
from typing import Any

from sdckit import charts
from sdckit.charts.parts_bars import FigureBars, PartsBars
from sdckit.charts.parts_before_after import PartsBeforeAfter
from sdckit.charts.table_cells import most_changed
from sdckit.choose.assessment import Assessment
from sdckit.data.result import Result
from sdckit.engine import tables
from sdckit.errors import SdcError
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind, Spec
from sdckit.report.disclosure import FEW, visible
from sdckit.report.measures import at_best
from sdckit.report.relabel import relabel
from sdckit.report.released import in_released_categories
from sdckit.report.rounding import settled
from sdckit.report.sections import section_of

Chart = Callable[[Result], Any]

MOST = {Kind.RISK: 8, Kind.UTILITY: 12}
ENOUGH = 50  # records behind a correlation that is published
BARS = (PartsBars, PartsBeforeAfter, FigureBars)
# what a public chart may be taken apart by: never a record, a category or a cluster
PER = ("variable", "table", "component", "matrix")
# these say much the same as others: drawn where there is room
LAST = ("contingency_loss", "correlation_loss", "eigenvalues", "matrix_discrepancy", "il1", "variable_loss")


def _largest_change(result: Result) -> Any:
    return charts.table_heatmap(result, table=most_changed(result))


def _risk_classes(result: Result) -> Any:
    return charts.risk_distribution(replace(result, tables={"classes": result.tables["classes"]}))


# The report has histograms, mosaics and charts by key and by k of its own.
INSTEAD: Mapping[str, Chart | None] = {
    "individual_risk": _risk_classes,
    "k_anonymity": None,
    "suda": None,
    "distribution_distance": PartsBars(
        "kolmogorov_smirnov", "largest difference of the distribution functions", share=True, counts="share"
    ),
    "contingency_tables": _largest_change,
}
PUBLIC: Mapping[str, Chart] = {
    "contingency_tables": PartsBars(
        "total_variation", "at least this share of records is in another cell", share=True, counts="share"
    ),
    "moments": charts.correlation_heatmaps,
}


def pictures(x: Assessment, kind: Kind, *, public: bool) -> dict[str, Any]:
    """Charts as plain data (Vega-Lite), in the order of the measures, and how many there would be in all."""
    results = {**(x.utility if kind is Kind.UTILITY else x.after)}
    again = _tables_again(x, results.get("contingency_tables"))
    if again:
        results["contingency_tables"] = again[0]
    found = [p for name, result in results.items() if (p := _picture(x, find(name), result, public=public))]
    first = sorted(found, key=lambda p: (p["name"] in LAST, not p["wide"]))[: MOST[kind]]
    names = {p["name"] for p in first}
    told = {"contingency_tables": again[1]} if again else {}
    drawn = [
        {**p, "chart": charts.plain(p["chart"]), "recoded": told.get(p["name"], [])}
        for p in found
        if p["name"] in names
    ]
    return {"charts": drawn, "all": len(found)}


def _tables_again(x: Assessment, found: Result | None) -> tuple[Result, list[str]] | None:
    """Tables with the original in the categories of a recoded protected file, and what was recoded.

    Ages in years beside ages in bands would be a picture of nothing but new names.
    """
    if found is None:
        return None
    alike, recoded = in_released_categories(x.original, x.protected[0])
    if not recoded:
        return None
    result = find("contingency_tables").call(alike, x.protected[0], **found.options)
    tables = {"contingency_tables": result}
    return settled(replace(x, before={}, after={}, utility=tables)).utility["contingency_tables"], recoded


def _picture(x: Assessment, spec: Spec, result: Result, *, public: bool) -> dict[str, Any] | None:
    chart = _chart(x, spec, result, public=public)
    if chart is None or isnan(result.value) or at_best(spec, result):  # the table says so
        return None
    hidden = {*x.original.columns} - {*visible(x.original, *x.protected)}
    by = result.parts.columns[0] if isinstance(chart, PartsBars) and result.parts is not None else ""
    shown = relabel(result, x.original.columns, hidden, x.original.labels)
    few = False
    if isinstance(chart, PartsBars):
        if public:
            shown, few = _without_few(shown, chart, min(x.original.height, x.protected[0].height))
        if not _any_change(shown, chart):
            return None
    try:
        drawn = chart(shown)
    except SdcError:  # nothing to draw
        return None
    return {
        "name": spec.name,
        "section": section_of(spec),
        "title": f"{spec.title}, by {by}" if by else spec.title,
        "wide": not isinstance(chart, BARS),
        "few": few,
        "chart": drawn,
    }


def _chart(x: Assessment, spec: Spec, result: Result, *, public: bool) -> Chart | None:
    """What draws a measure; for the public only what is known to be taken apart by nothing small."""
    if spec.chart is None or spec.chart is charts.estimates:  # drawn beside the table of estimates
        return None
    chart = INSTEAD.get(spec.name, spec.chart)
    if chart is None or not public:
        return chart
    if spec.kind is not Kind.UTILITY:
        return None
    chart = PUBLIC.get(spec.name, chart)
    if chart is charts.correlation_heatmaps:
        return chart if _complete(x) >= ENOUGH else None
    if isinstance(chart, FigureBars):
        return chart
    known = result.parts is not None and result.parts.columns[0] in PER
    return chart if known and isinstance(chart, BARS) else None


def _complete(x: Assessment) -> int:
    """At least so many records of either file have all numbers."""
    numbers = list(x.original.roles.numeric)
    least = []
    for data in (x.original, *x.protected):
        lost = tables.missing_counts(data.table, [c for c in numbers if c in data.columns])
        least.append(data.height - sum(lost.values()))
    return min(least)


def _without_few(result: Result, chart: PartsBars, records: int) -> tuple[Result, bool]:
    """The result without parts that tell of fewer than 5 records, and whether there were any."""
    if not chart.counts or result.parts is None or chart.column not in result.parts.columns:
        return result, False
    least = FEW / records if chart.counts == "share" else FEW
    sizes = [None if v is None else chart.size(float(v)) for v in result.parts[chart.column]]
    kept = [size is None or size == 0 or size >= least for size in sizes]
    return replace(result, parts=result.parts.filter(kept)), not all(kept)


def _any_change(result: Result, chart: PartsBars) -> bool:
    parts = result.parts
    return (
        parts is not None
        and chart.column in parts.columns
        and any(abs(v) > 1e-9 for v in parts[chart.column].drop_nulls())
    )
