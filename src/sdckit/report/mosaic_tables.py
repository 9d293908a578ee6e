"""Two-way tables of keys for mosaic plots, in labels, original and protected over the same categories."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import Any

import narwhals as nw
import polars as pl

from sdckit._support.categories import Place, Sizes
from sdckit.choose.cross_table import MOST as CATEGORIES
from sdckit.choose.cross_table import CrossTable, cross_table
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, tables
from sdckit.report.disclosure import visible
from sdckit.report.public_numbers import MIN_PUBLIC_COUNT, rounded_table

MOST = 3  # mosaics in a report
CONSIDERED = 12  # keys looked at
MERGED = 0.3  # a public mosaic with more than this share put together shows too little
SHARED = 0.5  # a recoded key with less in common has no tiles to compare

Cells = Mapping[Place, Sizes]  # records, weight


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair of keys in both files, in labels."""

    names: tuple[str, str]
    before: Cells
    after: Cells

    @property
    def changed(self) -> float:
        """Total variation between the two tables: 0 the same, 1 nothing in common.

        To nine digits: the last ones depend on the order of sums, which should not decide what is shown.
        """
        sums = [fsum(w for _, w in cells.values()) or 1.0 for cells in (self.before, self.after)]
        moved = fsum(
            abs(self.before.get(c, (0, 0.0))[1] / sums[0] - self.after.get(c, (0, 0.0))[1] / sums[1])
            for c in {*self.before, *self.after}
        )
        return round(moved / 2, 9)


def mosaics(original: Microdata, protected: Microdata, recoded: Collection[str] = ()) -> dict[str, Any]:
    """Mosaics of the pairs of keys that changed most, and how many pairs there are.

    `recoded`: keys that the original has in the categories of the protected file here, of which each mosaic
    says its own.
    """
    pairs = _pairs(original, protected)
    pairs.sort(key=lambda pair: -pair.changed)  # of equal ones the first, in the order of the keys
    charts: list[dict[str, Any]] = []
    for pair in pairs:
        found = cross_table(original, pair.names, [pair.before, pair.after])
        if found is not None and _shows_something(found) and len(charts) < MOST:
            # the last figures of a sum depend on its order, which threads decide: a report should not
            sizes = [_matrix(found, [float(f"{c[1]:.9g}") for c in _flat(found, i)]) for i in (0, 1)]
            charts.append({**_chart(found, pair, sizes, recoded), "changed": pair.changed})
    return {"charts": charts, "all": _number(original, protected), "changed": any(p.changed for p in pairs)}


def public_mosaics(
    original: Microdata, protected: Microdata, recoded: Collection[str] = ()
) -> dict[str, Any]:
    """Mosaics for the public, in the order of the keys: records, rounded to multiples of 5.

    Every tile stands for at least 5 records of each file, or none. Each key is in one mosaic only: from
    tables that share a key, cells of all their keys together could be worked out.
    """
    charts: list[dict[str, Any]] = []
    for pair in _pairs(original, protected):
        if len(charts) == MOST or any(name in chart["names"] for chart in charts for name in pair.names):
            continue
        found = cross_table(original, pair.names, [pair.before, pair.after], least=MIN_PUBLIC_COUNT)
        if found is not None and _shows_something(found) and found.merged_share <= MERGED:
            counts = [rounded_table(_matrix(found, [c[0] for c in _flat(found, i)])) for i in (0, 1)]
            charts.append(_chart(found, pair, counts, recoded))
    return {"charts": charts, "all": _number(original, protected), "changed": False}


def _keys(original: Microdata, protected: Microdata) -> list[str]:
    return [k for k in original.roles.keys if k in visible(original, protected) and k in protected.columns]


def _number(original: Microdata, protected: Microdata) -> int:
    keys = len(_keys(original, protected))
    return keys * (keys - 1) // 2


def _pairs(original: Microdata, protected: Microdata) -> list[Pair]:
    """The pairs of keys that can be compared, in the order of the keys."""
    keys = _keys(original, protected)[:CONSIDERED]
    cells = [_cells(data, keys) for data in (original, protected)]
    comparable = [i for i, key in enumerate(keys) if _comparable(original, protected, key, cells, i)]
    files = list(zip((original, protected), cells, strict=True))
    pairs = []
    for i, j in combinations(comparable, 2):
        names = keys[i], keys[j]
        pairs.append(Pair(names, *(_two_way(data, c, (i, j), names) for data, c in files)))
    return pairs


def _cells(data: Microdata, keys: Sequence[str]) -> pl.DataFrame:
    """Key combinations under names of our own, so that no column's name can collide with ours."""
    weight = data.roles.weight
    columns = [nw.col(k).alias(f"key_{i}") for i, k in enumerate(keys)]
    mass = nw.lit(1.0) if weight is None else nw.col(weight).cast(nw.Float64)
    return tables.count_cells(
        data.table.select(*columns, mass.alias("mass")), [f"key_{i}" for i in range(len(keys))], "mass"
    )


def _comparable(
    original: Microdata, protected: Microdata, key: str, cells: Sequence[pl.DataFrame], i: int
) -> bool:
    """Whether a key has few categories or the usual many, and mostly the same ones in both files."""
    numbers = frames.schema(original.frame)[key].is_numeric() and not original.labels.values.get(key)
    margins = [
        _margin(data, c, f"key_{i}", key) for data, c in zip((original, protected), cells, strict=True)
    ]
    if numbers and len(margins[0]) > 2 * CATEGORIES:
        return False  # a histogram shows it better
    if len(margins[0]) < 2:
        return False
    shared = {*margins[0]} & {*margins[1]}
    return all(sum(m[c] for c in shared) >= SHARED * sum(m.values()) for m in margins)


def _margin(data: Microdata, cells: pl.DataFrame, column: str, key: str) -> dict[str, float]:
    margin: dict[str, float] = {}
    for value, weight in cells.group_by(column).agg(pl.col(tables.WEIGHT_SUM).sum()).iter_rows():
        text = data.labels.text(key, value)
        margin[text] = margin.get(text, 0.0) + weight
    return margin


def _two_way(data: Microdata, cells: pl.DataFrame, pair: tuple[int, int], names: tuple[str, str]) -> Cells:
    columns = [f"key_{i}" for i in pair]
    sums = (
        cells.group_by(columns)
        .agg(pl.col(tables.RECORDS, tables.WEIGHT_SUM).sum())
        .sort(columns, nulls_last=True)
    )
    found: dict[Place, Sizes] = {}
    for a, b, records, weight in sums.iter_rows():
        cell = data.labels.text(names[0], a), data.labels.text(names[1], b)
        old = found.get(cell, (0.0, 0.0))
        found[cell] = old[0] + records, old[1] + weight
    return found


def _shows_something(found: CrossTable) -> bool:
    return any(len(levels) > 1 for levels in found.levels)


def _flat(found: CrossTable, file: int) -> list[Sizes]:
    """Records and weight of every tile of a file, column by column."""
    first, second = found.levels
    return [found.cells[file].get((a, b), (0.0, 0.0)) for a in first for b in second]


def _matrix(found: CrossTable, sizes: Sequence[float]) -> list[list[float]]:
    width = len(found.levels[1])
    return [list(sizes[i : i + width]) for i in range(0, len(sizes), width)]


def _chart(found: CrossTable, pair: Pair, sizes: Sequence[Any], recoded: Collection[str]) -> dict[str, Any]:
    return {
        "names": list(pair.names),
        "first": list(found.levels[0]),
        "second": list(found.levels[1]),
        "before": sizes[0],
        "after": sizes[1],
        "first_title": found.titles[0],
        "second_title": found.titles[1],
        "other": found.rest[1],
        "recoded": [name for name in pair.names if name in recoded],
    }
