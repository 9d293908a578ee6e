"""Histogram bins common to both files: round limits, open ends, weighted shares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, fsum
from typing import Any

import narwhals as nw

from sdckit._support.number_text import round_marks, round_step
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, tables
from sdckit.report.disclosure import visible
from sdckit.report.public_numbers import MIN_PUBLIC_COUNT, rounded_count

MOST = 6  # histograms in a report
CONSIDERED = 40  # variables looked at to find those that changed most
BINS = 18
CODES = 20  # a key with no more different whole numbers has a bar for each
QUANTILES = (0.02, 0.25, 0.75, 0.98)


def histograms(original: Microdata, protected: Microdata) -> dict[str, Any]:
    """Histograms of the numbers that changed most, and how many there are.

    Shares are weighted, each file's by its own weights, where it has any.
    """
    names = _numbers(original, protected)
    made = [_weighted(original, protected, name) for name in names[:CONSIDERED]]
    # of equal ones the first
    charts = sorted((c for c in made if c is not None), key=lambda c: -c["changed"])
    return {"charts": charts[:MOST], "all": len(names)}


def public_histograms(
    original: Microdata, protected: Microdata, mosaics: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Histograms for the public, in the order of the variables: records, rounded to multiples of 5.

    Every bar stands for at least 5 records of each file. Variables that are in one of the mosaics are left
    out: two pictures put values together in different ways.
    """
    tiled = {name for mosaic in mosaics for name in mosaic["names"]}
    names = [n for n in _numbers(original, protected) if n not in tiled]
    made = [_rounded(original, protected, name) for name in names[:CONSIDERED]]
    return {"charts": [c for c in made if c is not None][:MOST], "all": len(names)}


def _numbers(original: Microdata, protected: Microdata) -> list[str]:
    """Numeric variables, and keys that are numbers rather than codes, as far as they still are numbers."""
    seen = visible(original, protected)
    first, second = frames.schema(original.frame), frames.schema(protected.frame)
    coded = original.labels.values
    keys = [k for k in original.roles.keys if not coded.get(k)]
    return [
        c
        for c in dict.fromkeys([*original.roles.numeric, *keys])
        if c in seen and first[c].is_numeric() and c in second and second[c].is_numeric()
    ]


@dataclass(frozen=True, slots=True)
class _Bins:
    """Inner limits, names where bins are codes, and by file the records and their weight in each bin."""

    edges: list[float]
    labels: list[str]
    files: tuple[list[tuple[float, float]], list[tuple[float, float]]]


def _bins(original: Microdata, protected: Microdata, name: str) -> _Bins | None:
    codes = _codes(original, protected, name)
    edges = codes[1:] or _edges(original, name)
    if not edges:
        return None
    before, after = (_counts(data, name, edges) for data in (original, protected))
    labels = [f"{code:.0f}" for code in codes]
    while len(edges) > 1 and not before[0][0] + after[0][0]:  # an empty end would tell where the values start
        edges, before, after = edges[1:], before[1:], after[1:]
    while len(edges) > 1 and not before[-1][0] + after[-1][0]:
        edges, before, after = edges[:-1], before[:-1], after[:-1]
    return _Bins(edges, labels, (before, after))


def _weighted(original: Microdata, protected: Microdata, name: str) -> dict[str, Any] | None:
    bins = _bins(original, protected, name)
    if bins is None:
        return None
    # the last figures of a sum depend on its order, which threads decide: a report should not
    shares = [[round(s, 9) for s in _shares([w for _, w in counts])] for counts in bins.files]
    changed = round(fsum(abs(b - a) for b, a in zip(*shares, strict=True)) / 2, 9)
    return {**_chart(original, name, bins.edges, bins.labels, shares), "changed": changed}


def _rounded(original: Microdata, protected: Microdata, name: str) -> dict[str, Any] | None:
    bins = _bins(original, protected, name)
    if bins is None:
        return None
    records = [[n for n, _ in counts] for counts in bins.files]
    groups = _large_groups(*records)
    if len(groups) < 2:
        return None
    edges = [bins.edges[group[0] - 1] for group in groups[1:]]
    labels = _together(bins.labels, groups) if bins.labels else []
    counts = [[rounded_count(sum(file[i] for i in group)) for group in groups] for file in records]
    shown = _chart(original, name, edges, labels, [_shares(file) for file in counts])
    return {**shown, "records_before": counts[0], "records_after": counts[1]}


def _shares(counts: Sequence[float]) -> list[float]:
    total = fsum(counts) or 1.0
    return [count / total for count in counts]


def _chart(
    data: Microdata, name: str, edges: list[float], labels: list[str], shares: Sequence[list[float]]
) -> dict[str, Any]:
    return {
        "name": name,
        "title": data.labels.name(name),
        "edges": edges,
        "labels": labels,
        "before": shares[0],
        "after": shares[1],
    }


def _codes(original: Microdata, protected: Microdata, name: str) -> list[float]:
    """The values of a key that is a code or a small number, as 1 and 2; none for other variables."""
    if name not in original.roles.keys:
        return []
    found: set[float] = set()
    for data in (original, protected):
        cells = tables.count_cells(data.table.select(nw.col(name).alias("code")), ["code"], None)
        found |= {float(value) for value in cells["code"] if value is not None}
    whole = all(value.is_integer() for value in found)
    return sorted(found) if whole and 1 < len(found) <= CODES else []


def _together(labels: Sequence[str], groups: Sequence[Sequence[int]]) -> list[str]:
    """Names of groups of codes; at the ends without the first and the last code, which few records have."""
    names = []
    for i, group in enumerate(groups):
        first, last = labels[group[0]], labels[group[-1]]
        if len(group) == 1:
            names.append(first)
        elif i == 0:
            names.append(f"up to {last}")
        else:
            names.append(f"{first} and more" if i == len(groups) - 1 else f"{first} to {last}")
    return names


def _edges(data: Microdata, name: str) -> list[float]:
    """Round numbers over the middle of the original; no value of a record, no extreme."""
    quantiles = tables.quantiles(data.table, name, QUANTILES)
    if any(q is None for q in quantiles):
        return []
    low, lower, upper, high = (float(q or 0.0) for q in quantiles)
    spread = upper - lower
    if spread > 0:  # a heavy tail goes into the open bin, so that the bulk is seen
        low, high = max(low, lower - 3 * spread), min(high, upper + 3 * spread)
    if high <= low:
        return []
    whole = frames.schema(data.frame)[name].is_integer()
    parts = BINS
    if whole and round_step(high - low, parts) < 1:
        parts = max(ceil(high - low), 1)
    return round_marks(low, high, parts)


def _counts(data: Microdata, name: str, edges: Sequence[float]) -> list[tuple[float, float]]:
    """Records and their weight per bin."""
    value = nw.col(name).cast(nw.Float64)
    number = nw.sum_horizontal(*[(value >= edge).cast(nw.Int64) for edge in edges])
    weight = data.roles.weight
    mass = nw.lit(1.0) if weight is None else nw.col(weight).cast(nw.Float64)
    table = data.table.filter(~nw.col(name).is_null()).select(number.alias("bin"), mass.alias("mass"))
    found = {r[0]: (r[1], r[2]) for r in tables.count_cells(table, ["bin"], "mass").iter_rows()}
    return [found.get(i, (0, 0.0)) for i in range(len(edges) + 1)]


def _large_groups(before: Sequence[float], after: Sequence[float]) -> list[list[int]]:
    """Neighbouring bins put together until each group has at least 5 records in both files."""
    groups: list[list[int]] = [[]]
    for i in range(len(before)):
        groups[-1].append(i)
        if min(sum(counts[j] for j in groups[-1]) for counts in (before, after)) >= MIN_PUBLIC_COUNT:
            groups.append([])
    rest = groups.pop()
    if rest and groups:
        groups[-1] += rest
    return groups
