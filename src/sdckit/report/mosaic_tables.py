"""Two-way tables of keys for mosaic plots, in labels, original and protected over the same categories."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import Any

import polars as pl

from sdckit.data.microdata import Microdata
from sdckit.engine import frames, tables
from sdckit.report.disclosure import FEW, OTHER, visible
from sdckit.report.subtraction import small_difference

MOST = 3  # mosaics in a report
CONSIDERED = 12  # keys looked at
CATEGORIES = 8  # more are put together as "other"
HIDDEN = 0.3  # a mosaic with more than this share put together shows too little
SHARED = 0.5  # a recoded key with less in common has no tiles to compare

Cells = Mapping[tuple[str, str], tuple[float, float]]  # records, weight


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


def mosaics(
    original: Microdata, protected: Microdata, *, public: bool, recoded: Collection[str] = ()
) -> dict[str, Any]:
    """Mosaics of the pairs of keys that changed most, and how many pairs there are.

    For the public each key is in one mosaic only: from tables that share a key, cells of all their keys
    together, which may be of one record, could be worked out. A mosaic that gives a small count away when
    subtracted from one before it, as age in tens and in fives may, is `withheld`. `recoded`: keys that the
    original has in the categories of the protected file here, of which each mosaic says its own.
    """
    keys = [k for k in original.roles.keys if k in visible(original, protected) and k in protected.columns]
    cells = [_cells(data, keys[:CONSIDERED]) for data in (original, protected)]
    comparable = [
        i for i, key in enumerate(keys[:CONSIDERED]) if _comparable(original, protected, key, cells, i)
    ]
    files = list(zip((original, protected), cells, strict=True))
    pairs = []
    for i, j in combinations(comparable, 2):
        names = keys[i], keys[j]
        pairs.append(Pair(names, *(_two_way(data, c, (i, j), names) for data, c in files)))
    pairs.sort(key=lambda pair: -pair.changed)  # of equal ones the first, in the order of the keys
    charts: list[dict[str, Any]] = []
    withheld: list[str] = []
    for pair in pairs:
        again = public and any(name in chart["names"] for chart in charts for name in pair.names)
        chart = None if again or len(charts) == MOST else _chart(original, pair, public=public)
        if chart and public and small_difference((original, protected), chart, charts):
            withheld.append(" by ".join(original.labels.name(name) for name in pair.names))
        elif chart:
            charts.append({**chart, "recoded": [name for name in pair.names if name in recoded]})
    return {
        "charts": charts,
        "withheld": withheld,
        "all": len(keys) * (len(keys) - 1) // 2,
        "changed": any(p.changed for p in pairs),
    }


def _cells(data: Microdata, keys: Sequence[str]) -> pl.DataFrame:
    """Key combinations under names of our own, so that no column's name can collide with ours."""
    import narwhals as nw

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
    found: dict[tuple[str, str], tuple[float, float]] = {}
    for a, b, records, weight in sums.iter_rows():
        cell = data.labels.text(names[0], a), data.labels.text(names[1], b)
        old = found.get(cell, (0.0, 0.0))
        found[cell] = old[0] + records, old[1] + weight
    return found


def _chart(data: Microdata, pair: Pair, *, public: bool) -> dict[str, Any] | None:
    files: Sequence[Cells] = [pair.before, pair.after]
    for axis in (0, 1):
        files = _together(files, axis, _beyond(files, axis))
    if public:
        large = _large(files)
        if large is None or any(_hidden(cells) > HIDDEN for cells in large):
            return None
        files = large
    first, second = (_order(data, pair, axis, files) for axis in (0, 1))
    # the last figures of a sum depend on its order, which threads decide: a report should not
    sizes = [[[float(f"{c.get((a, b), (0, 0.0))[1]:.9g}") for b in second] for a in first] for c in files]
    if len(first) < 2 and len(second) < 2:
        return None
    return {
        "names": list(pair.names),
        "first": first,
        "second": second,
        "before": sizes[0],
        "after": sizes[1],
        "first_title": data.labels.name(pair.names[0]),
        "second_title": data.labels.name(pair.names[1]),
        # of the cells before they were put together: one record that moved would be seen
        **({} if public else {"changed": pair.changed}),
    }


def _hidden(cells: Cells) -> float:
    """The share of the records that only show as "other"."""
    total = sum(records for records, _ in cells.values())
    return sum(records for cell, (records, _) in cells.items() if OTHER in cell) / (total or 1.0)


def _beyond(files: Sequence[Cells], axis: int) -> set[str]:
    """The categories of one key beyond the largest."""
    sums = _sums(files, axis)
    names = sorted(sums, key=lambda name: (-sums[name], name))
    return set(names[CATEGORIES:]) if len(names) > CATEGORIES + 1 else set()


def _large(files: Sequence[Cells]) -> Sequence[Cells] | None:
    """The cells with categories put together until none has fewer than 5 records. None: there are too few.

    The smallest category with such a cell goes first, everywhere at once: if it stayed elsewhere in the
    table, its total less what is shown would be the count to hide.
    """
    while small := {c for cells in files for c, (records, _) in cells.items() if records < FEW}:
        sums = [_sums(files, axis) for axis in (0, 1)]
        found = [(sums[i][cell[i]], i, cell[i]) for cell in small for i in (0, 1) if len(sums[i]) > 1]
        if not found:
            return None
        _, axis, name = min(found)
        rest = sorted({*sums[axis]} - {name}, key=lambda n: (n != OTHER, sums[axis][n], n))
        files = _together(files, axis, {name, rest[0]})
    return files


def _sums(files: Sequence[Cells], axis: int) -> dict[str, float]:
    """Records of both files by category of one key."""
    sums: dict[str, float] = {}
    for cells in files:
        for cell, (records, _) in cells.items():
            sums[cell[axis]] = sums.get(cell[axis], 0.0) + records
    return sums


def _together(files: Sequence[Cells], axis: int, names: set[str]) -> list[Cells]:
    """The cells with these categories of one key put together."""
    done: list[Cells] = []
    for cells in files:
        sums: dict[tuple[str, str], tuple[float, float]] = {}
        for (a, b), (records, weight) in cells.items():
            cell = (OTHER if axis == 0 and a in names else a, OTHER if axis == 1 and b in names else b)
            old = sums.get(cell, (0.0, 0.0))
            sums[cell] = old[0] + records, old[1] + weight
        done.append(sums)
    return done


def _order(data: Microdata, pair: Pair, axis: int, files: Sequence[Cells]) -> list[str]:
    """Categories in the order of the codes (or the alphabet), merged and missing ones last."""
    seen = dict.fromkeys(cell[axis] for cells in (pair.before, pair.after) for cell in cells)
    coded = [str(text) for text in data.labels.values.get(pair.names[axis], {}).values()]
    rank = {text: i for i, text in enumerate(dict.fromkeys([*coded, *sorted(seen)]))}
    shown = {cell[axis] for cells in files for cell in cells}
    return sorted(shown, key=lambda text: (text == "missing", text == OTHER, rank.get(text, len(rank)), text))
