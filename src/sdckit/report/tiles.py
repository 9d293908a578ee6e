"""Two-way tables of keys for mosaic plots, in labels, original and protected over the same categories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import polars as pl

from sdckit.engine import frames, tables
from sdckit.microdata import Microdata
from sdckit.report.disclosure import OTHER, merged, visible

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
        """Total variation between the two tables: 0 the same, 1 nothing in common."""
        sums = [sum(w for _, w in cells.values()) or 1.0 for cells in (self.before, self.after)]
        return (
            sum(
                abs(self.before.get(c, (0, 0.0))[1] / sums[0] - self.after.get(c, (0, 0.0))[1] / sums[1])
                for c in {*self.before, *self.after}
            )
            / 2
        )


def mosaics(original: Microdata, protected: Microdata, *, public: bool) -> dict[str, Any]:
    """Mosaics of the pairs of keys that changed most, and how many pairs there are."""
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
    pairs.sort(key=lambda pair: -pair.changed)
    charts: list[dict[str, Any]] = []
    for pair in pairs:
        chart = _chart(original, pair, public=public) if len(charts) < MOST else None
        charts += [chart] if chart else []
    return {
        "charts": charts,
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
    before, after = pair.before, pair.after
    for axis in (0, 1):
        together = _rare(before, after, axis, public=public)
        if together is None:
            return None
        before, after = (_renamed(cells, axis, together) for cells in (before, after))
    if public:
        for column in {a for a, _ in (*before, *after)}:
            together = merged(
                *({b: n for (a, b), (n, _) in c.items() if a == column} for c in (before, after))
            )
            if together is None:
                return None
            before, after = (_renamed(c, 1, together, column) for c in (before, after))
        if any(_hidden(cells) > HIDDEN for cells in (before, after)):
            return None
    first, second = (_order(data, pair, axis, (before, after)) for axis in (0, 1))
    tables_ = [[[c.get((a, b), (0, 0.0))[1] for b in second] for a in first] for c in (before, after)]
    if len(first) < 2 and len(second) < 2:
        return None
    return {
        "names": list(pair.names),
        "first": first,
        "second": second,
        "before": tables_[0],
        "after": tables_[1],
        "first_title": data.labels.name(pair.names[0]),
        "second_title": data.labels.name(pair.names[1]),
        "changed": pair.changed,
    }


def _hidden(cells: Cells) -> float:
    """The share of the records that only show as "other"."""
    total = sum(records for records, _ in cells.values())
    return sum(records for cell, (records, _) in cells.items() if OTHER in cell) / (total or 1.0)


def _rare(before: Cells, after: Cells, axis: int, *, public: bool) -> set[str] | None:
    """The categories of one key to show together: beyond the largest and, for the public, small ones."""
    margins: list[dict[str, float]] = [{}, {}]
    for margin, cells in zip(margins, (before, after), strict=True):
        for cell, (records, _) in cells.items():
            margin[cell[axis]] = margin.get(cell[axis], 0.0) + records
    names = sorted({*margins[0], *margins[1]}, key=lambda n: -margins[0].get(n, 0) - margins[1].get(n, 0))
    beyond = set(names[CATEGORIES:]) if len(names) > CATEGORIES + 1 else set()
    if not public:
        return beyond
    joined = [_joined(margin, beyond) for margin in margins]
    small = merged(*joined)
    return None if small is None else beyond | small


def _joined(margin: Mapping[str, float], names: set[str]) -> dict[str, float]:
    kept = {n: v for n, v in margin.items() if n not in names}
    rest = sum(v for n, v in margin.items() if n in names)
    return {**kept, OTHER: kept.get(OTHER, 0.0) + rest} if rest else kept


def _renamed(cells: Cells, axis: int, together: set[str], column: str | None = None) -> Cells:
    """The cells with these categories of one key (in one column) put together."""
    done: dict[tuple[str, str], tuple[float, float]] = {}
    for (a, b), (records, weight) in cells.items():
        names = [a, b]
        if names[axis] in together and column in (None, a):
            names[axis] = OTHER
        cell = names[0], names[1]
        old = done.get(cell, (0.0, 0.0))
        done[cell] = old[0] + records, old[1] + weight
    return done


def _order(data: Microdata, pair: Pair, axis: int, files: Sequence[Cells]) -> list[str]:
    """Categories in the order of the codes (or the alphabet), merged and missing ones last."""
    seen = dict.fromkeys(cell[axis] for cells in (pair.before, pair.after) for cell in cells)
    coded = [str(text) for text in data.labels.values.get(pair.names[axis], {}).values()]
    rank = {text: i for i, text in enumerate(dict.fromkeys([*coded, *sorted(seen)]))}
    shown = {cell[axis] for cells in files for cell in cells}
    return sorted(shown, key=lambda text: (text == "missing", text == OTHER, rank.get(text, len(rank)), text))
