"""Estimates before and after as a table with verdicts: indicators, coefficients, whatever has intervals."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import narwhals as nw
import polars as pl

from sdckit import charts
from sdckit._support.number_text import number, percent
from sdckit.choose.assessment import Assessment
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.values import as_text, texts
from sdckit.engine import frames, tables
from sdckit.estimate.estimated import ALL, MEASURES, estimates_of
from sdckit.methods.registry import find
from sdckit.report.disclosure import visible
from sdckit.report.public_numbers import MIN_PUBLIC_COUNT
from sdckit.report.relabel import TIMES, relabel
from sdckit.report.sections import section_of

MOST = 30  # rows, those that changed most first
FIGURES = 4  # an estimate can be the value of one record, as a median is
CHARTS = 8
WIDTH = 300  # two beside each other
CATEGORY = re.compile(r"(?:C\()?([^:\[\]()]+)\)?\[(?:T\.)?(.*?)\](?=:|$)")  # in a term: sex[T.Female]
INTERCEPT = "Intercept"
NEEDED = {"estimate_original", "estimate_protected", "overlap_clipped", "verdict"}


def estimates(x: Assessment) -> list[dict[str, Any]]:
    """The table of every measure that compares estimates, and how many estimates got which verdict.

    Nobody sees estimates of a domain, or coefficients of a category, of fewer than 5 records of the original:
    they may be these records' values.
    """
    found = []
    for name, result in x.utility.items():
        if result.parts is None or not result.parts.height or not {*result.parts.columns} >= NEEDED:
            continue
        spec = find(name)
        large = result.parts.filter(_large(x.original, result))
        shown = _shown(x, replace(result, parts=large))
        rows = _rows(shown)
        changed = _changed(shown)
        found.append(
            {
                "name": name,
                "section": section_of(spec),
                "title": spec.title,
                "what": "coefficient" if "term" in result.parts.columns else "estimate",
                "rows": rows,
                "pictures": [_picture(result, panel) for panel in changed[:CHARTS]],
                "changed": len(changed),
                "all": result.parts.height,
                "few": result.parts.height - large.height,
                "verdicts": _verdicts(result.parts),
            }
        )
    return found


def public_estimates(x: Assessment) -> list[dict[str, Any]]:
    """How many estimates got which verdict: a term, a domain or a proportion may name a rare category."""
    nothing: dict[str, Any] = {"rows": [], "pictures": [], "changed": 0, "few": 0}
    return [{**table, **nothing} for table in estimates(x)]


def _verdicts(parts: pl.DataFrame) -> list[dict[str, Any]]:
    """How often there was each verdict: why one is lost says that it is; after a semicolon, more on one."""
    counts = Counter(str(v).partition(";")[0].rpartition(": ")[2] for v in parts["verdict"])
    return [{"verdict": verdict, "count": count} for verdict, count in counts.most_common()]


def shown_estimates(x: Assessment) -> set[tuple[str, str]]:
    """Measure and name, as a map has them, of the estimates that may be shown."""
    hidden = {*x.original.columns} - {*visible(x.original, *x.protected)}
    found = set()
    for e, large in zip(estimates_of(x.utility), _all_large(x), strict=True):
        if large and not _names(hidden, e.name):
            found.add((e.measure, e.name))
    return found


def _all_large(x: Assessment) -> list[bool]:
    """`_large` for all estimates, in the order in which a map has them."""
    results = [x.utility[name] for name in MEASURES if name in x.utility]
    return [large for r in results if r.parts is not None for large in _large(x.original, r)]


def _large(original: Microdata, result: Result) -> pl.Series:
    """Whether an estimate of a domain, or of a category, rests on at least 5 records of the original."""
    parts = result.parts
    assert parts is not None
    if "term" in parts.columns:
        return pl.Series(_large_terms(original, [str(t) for t in parts["term"]]), dtype=pl.Boolean)
    by = list(result.options.get("by") or ())
    sizes = {v: _sizes(original, v, by) for v in parts["variable"].unique()}
    rows = zip(parts["variable"], parts["domain"], strict=True)
    return pl.Series([sizes[v].get(d, 0) >= MIN_PUBLIC_COUNT for v, d in rows], dtype=pl.Boolean)


def _large_terms(original: Microdata, terms: Sequence[str]) -> list[bool]:
    """A category that cannot be found counts as small; so do all others where the one left out is small."""
    pairs = [CATEGORY.findall(term) for term in terms]
    named: dict[str, set[str]] = {}
    for column, category in (pair for some in pairs for pair in some):
        named.setdefault(column, set()).add(category)
    sizes = {c: _categories(original, c) for c in named}
    small = {
        c
        for c, known in sizes.items()
        if any(n < MIN_PUBLIC_COUNT and not names & named[c] for names, n in known)
    }
    count = {(c, name): n for c, known in sizes.items() for names, n in known for name in names}
    return [
        not (small if term == INTERCEPT else small & {c for c, _ in some})
        and all(count.get(pair, 0) >= MIN_PUBLIC_COUNT for pair in some)
        for term, some in zip(terms, pairs, strict=True)
    ]


def _categories(data: Microdata, column: str) -> list[tuple[set[str], int]]:
    """How each category of a column may be written, and its records."""
    if column not in data.columns:
        return []
    labels = {as_text(k): str(t) for k, t in data.labels.values.get(column, {}).items()}
    counts = _counts(data.table, [column])
    return [({value, labels.get(value, value)}, n) for value, n in counts.iter_rows()]


def _counts(table: tables.Table, by: Sequence[str]) -> pl.DataFrame:
    """Records of each combination of values, as text, without those where one is missing."""
    cells = tables.count_cells(table, by, None)
    written = pl.DataFrame({str(i): texts(cells[c]) for i, c in enumerate(by)})
    names = written.columns
    written = written.with_columns(cells[tables.RECORDS].alias("records")).drop_nulls()
    return written.group_by(names).agg(pl.col("records").sum())


def _names(columns: set[str], text: str) -> bool:
    """Whether a term or a name has one of these columns in it."""
    return any(re.search(rf"(?<!\w){re.escape(c)}(?!\w)", text) for c in columns)


def _sizes(data: Microdata, variable: str, by: Sequence[str]) -> dict[str, int]:
    """Records with a value, by the domain's label; the smallest where several domains have the same."""
    known = data.table.filter(~nw.col(variable).is_null())
    sizes = {ALL: frames.height(known.to_native())}
    if not by:
        return sizes
    labels = [{as_text(k): str(t) for k, t in data.labels.values.get(c, {}).items()} for c in by]
    for *values, count in _counts(known, by).iter_rows():
        name = TIMES.join(known_as.get(v, v) for known_as, v in zip(labels, values, strict=True))
        sizes[name] = min(count, sizes.get(name, count))
    return sizes


def _shown(x: Assessment, result: Result) -> pl.DataFrame:
    """The estimates in labels, without those that name a direct identifier."""
    hidden = {*x.original.columns} - {*visible(x.original, *x.protected)}
    shown = relabel(result, x.original.columns, hidden, x.original.labels).parts
    assert shown is not None
    if "term" in shown.columns:
        named = [not _names(hidden, str(term)) for term in shown["term"]]
        shown = shown.filter(pl.Series(named, dtype=pl.Boolean))
    return shown


def _rows(shown: pl.DataFrame) -> list[dict[str, Any]]:
    worst = shown.with_row_index("place").sort("overlap_clipped", nulls_last=False, maintain_order=True)
    return [_row(line) for line in worst.head(MOST).sort("place").to_dicts()]


def _changed(parts: pl.DataFrame) -> list[pl.DataFrame]:
    """The rows of each indicator and variable that changed, or of all coefficients; most changed first."""
    if "indicator" in parts.columns:
        panels = parts.partition_by(["indicator", "variable"], maintain_order=True)
    else:
        panels = [parts]
    found = [p for p in panels if any(v != "unchanged" for v in p["verdict"])]
    return sorted(found, key=lambda p: min(v or 0.0 for v in p["overlap_clipped"]))


def _picture(result: Result, panel: pl.DataFrame) -> dict[str, Any]:
    first = panel.row(0, named=True)
    title = f"{first['indicator']} of {first['variable']}" if "indicator" in first else "coefficients"
    numbers = [f"{what}_{file}" for what in ("estimate", "low", "high") for file in ("original", "protected")]
    rounded = panel.with_columns(pl.col(numbers).round_sig_figs(FIGURES))
    chart = charts.estimates(replace(result, parts=rounded), width=WIDTH)
    return {"title": title, "chart": charts.plain(chart)}


def _row(line: dict[str, Any]) -> dict[str, Any]:
    label = f"{line['indicator']} of {line['variable']}" if "indicator" in line else line["term"]
    share = line["relative_difference"]
    return {
        "label": label,
        "domain": line.get("domain") or "",
        "verdict": line["verdict"],
        "good": _good(line["overlap_clipped"]),
        "original": _interval(line, "original"),
        "protected": _interval(line, "protected"),
        "change": "" if share is None or not isfinite(share) else percent(share / 100),
        "overlap": "" if line["overlap_clipped"] is None else percent(line["overlap_clipped"]),
        "numbers": {
            **{
                f"{what}_{file}": _rounded(line[f"{what}_{file}"])
                for file in ("original", "protected")
                for what in ("estimate", "low", "high")
            },
            "relative_difference": _rounded(share),
            "overlap": _rounded(line["overlap_clipped"]),
        },
    }


def _good(overlap: float | None) -> bool | None:
    """Whether the intervals mostly agree; None where there is none."""
    return None if overlap is None else overlap >= 0.5


def _interval(line: dict[str, Any], file: str) -> str:
    value, low, high = (_rounded(line[f"{what}_{file}"]) for what in ("estimate", "low", "high"))
    if value is None:
        return "–"
    return (
        number(value) if low is None or high is None else f"{number(value)} ({number(low)} to {number(high)})"
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else float(f"{value:.{FIGURES}g}")
