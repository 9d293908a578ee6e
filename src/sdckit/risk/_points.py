"""Records of several files as points on one scale: numbers, categories and missing values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit._support.messages import join_names
from sdckit.data.common_columns import is_continuous
from sdckit.data.microdata import Microdata
from sdckit.data.values import in_one_column
from sdckit.errors import DataError, OptionError
from sdckit.methods.options import Option

SAME = 1e-9  # distances that differ by less, relatively, are ties: they are equal but for rounding
_NOTHING = 1e-12  # and those that differ by less than this many standard deviations or ranges
TINY, LARGER = 1e-200, 2.0**600  # numbers below lose digits when halved, and are made larger before
WORTH_A_TREE = 0.005  # share of the records that lack the same values
FARTHEST = 1e100  # ranges: squares of larger numbers overflow


class Distance(StrEnum):
    """How far apart two records are.

    euclidean, manhattan: over numbers in standard deviations of the original.
    gower: the mean over variables of |x−y|/range for numbers, 0 or 1 for categories.
    """

    EUCLIDEAN = "euclidean"
    MANHATTAN = "manhattan"
    GOWER = "gower"


DistanceOption = Annotated[
    Distance | None,
    Option(
        "Distance",
        "How far apart two records are.",
        choices={
            "euclidean": "over numbers, in standard deviations of the original",
            "manhattan": "absolute differences of numbers, in standard deviations of the original",
            "gower": "mean over variables of the difference over the range, 0 or 1 for categories",
        },
        absent="by the kind of the columns",
    ),
]


@dataclass(frozen=True, slots=True)
class Points:
    """One row per record in each of `files`; NaN is missing. `size` makes distances of sums."""

    variables: tuple[str, ...]
    files: tuple[Floats, ...]
    nominal: Bools
    far: Floats
    distance: Distance
    notes: tuple[str, ...]

    def rule(self, *, blank_counts: bool) -> Any:
        """How distances are made; `blank_counts`: a value only the query lacks is as far as can be."""
        from sdckit.kernels.nearest import Rule

        plain = not self.nominal.any() and not any(np.isnan(x).any() for x in self.files)
        blank = self.far if blank_counts else np.zeros_like(self.far)
        return Rule(self.nominal, self.far, blank, self.distance is Distance.EUCLIDEAN, plain)

    def tree(self, file: int, *, blank_counts: bool) -> Any:
        """A tree of one file's records."""
        from sdckit.kernels.nearest import build

        return build(self.files[file], self.rule(blank_counts=blank_counts))

    def part(self, columns: Bools, rows: Ints) -> "Points":
        """Some of the variables, and of the last file only some records."""
        *files, last = self.files
        return Points(
            tuple(v for v, wanted in zip(self.variables, columns, strict=True) if wanted),
            tuple(np.ascontiguousarray(x[:, columns]) for x in (*files, last[rows])),
            self.nominal[columns],
            self.far[columns],
            self.distance,
            self.notes,
        )

    def size(self, sums: Floats) -> Floats:
        """Distances from sums over variables."""
        if self.distance is Distance.EUCLIDEAN:
            return np.sqrt(sums)
        return sums / len(self.variables) if self.distance is Distance.GOWER else sums

    def around(self, sums: Floats) -> tuple[Floats, Floats]:
        """The sums just below and just above: between them lie those that are equal but for rounding."""
        root = np.sqrt(sums) if self.distance is Distance.EUCLIDEAN else sums
        low = np.maximum(root * (1 - SAME) - _NOTHING, 0.0)
        high = root * (1 + SAME) + _NOTHING
        return (low**2, high**2) if self.distance is Distance.EUCLIDEAN else (low, high)


def points(
    frames: Sequence[pl.DataFrame],
    variables: Sequence[str],
    data: Microdata,
    distance: Distance | None,
    *,
    ranges: int,
) -> Points:
    """The variables of all files on one scale, by the roles of `data`.

    Numeric are columns in the numeric role, dates, and numbers that are neither keys nor sensitive. A key or
    sensitive column of numbers is numeric, too, where the first file has more than 20 values of it and no
    value labels, as of an age in years; a note says so. The values of an Enum are ordered; all others are
    categories. Without `distance`: Euclidean where all are
    numeric, else Gower. The standard deviation (n−1) is the first file's, Gower's range that of the first
    `ranges` files together. A variable that is numbers in one file and text in another, has no value in a
    file, or does not vary where its scale comes from is left out with a note.
    """
    columns, notes = [], []
    for name in dict.fromkeys(variables):
        both = in_one_column([f[name] for f in frames])
        if both is None:
            notes.append(f"{name} is coded differently in the files and left out.")
        else:
            kind = _kind(both, data)
            if kind == "nominal" and both.dtype.is_numeric() and is_continuous(frames[0][name], data):
                kind = "numeric"
                notes.append(f"{name} has many values, most of them without a label: taken for a number.")
            columns.append((name, both, kind))
    mixed = [name for name, _, kind in columns if kind != "numeric"]
    if distance is None:
        distance = Distance.GOWER if mixed else Distance.EUCLIDEAN
    elif mixed and distance is not Distance.GOWER:
        raise OptionError(
            f"Categories have no {distance.value} distance.",
            given=join_names(mixed),
            allowed=Distance.GOWER.value,
        )
    starts = np.cumsum([0, *(f.height for f in frames)])
    scaled: dict[str, tuple[Floats, bool, float]] = {}
    for name, both, kind in columns:
        found = _scaled(both, kind, distance, starts, ranges)
        if found is None:
            notes.append(f"{name} does not vary, or a file has no value of it; left out.")
        else:
            scaled[name] = found
    stack = np.column_stack([v for v, _, _ in scaled.values()]) if scaled else np.empty((starts[-1], 0))
    return Points(
        tuple(scaled),
        tuple(np.ascontiguousarray(x) for x in np.split(stack, starts[1:-1])),
        np.array([nominal for _, nominal, _ in scaled.values()], dtype=np.bool_),
        np.array([far for _, _, far in scaled.values()], dtype=np.float64),
        distance,
        tuple(notes),
    )


def distinct_order(x: Floats) -> Ints:
    """The rows sorted by their values, so that what is done in this order does not depend on row order."""
    return np.lexsort(x.T) if x.shape[1] else np.arange(len(x))


def by_missing(y: Floats) -> Iterator[tuple[Ints, Bools]]:
    """Rows that lack the same values, with the columns they have; rare patterns together, with all columns.

    What a query lacks adds nothing to its distances, so a tree split by it does not lead to the nearest.
    """
    patterns, of_row, sizes = np.unique(np.isnan(y), axis=0, return_inverse=True, return_counts=True)
    frequent = sizes >= WORTH_A_TREE * len(y)
    for k in np.flatnonzero(frequent):
        yield np.flatnonzero(of_row.reshape(-1) == k), ~patterns[k]
    rest = np.flatnonzero(~frequent[of_row.reshape(-1)])
    if len(rest):
        yield rest, np.ones(y.shape[1], dtype=np.bool_)


def by_record(data: Microdata, columns: pl.DataFrame) -> pl.DataFrame:
    """The columns beside the id of each record."""
    return columns.insert_column(0, data.ids(beside=columns.columns))


def _kind(both: pl.Series, data: Microdata) -> str:
    if isinstance(both.dtype, pl.Enum):
        return "ordinal"
    number = both.dtype.is_numeric() and both.name not in (*data.roles.keys, *data.roles.sensitive)
    role = both.name in data.roles.numeric and both.dtype.is_numeric()
    return "numeric" if role or number or both.dtype.is_temporal() else "nominal"


def _scaled(
    both: pl.Series, kind: str, distance: Distance, starts: Ints, ranges: int
) -> tuple[Floats, bool, float] | None:
    """Values as coordinates, whether they are categories, and the term of the sum for far apart."""
    missing = both.is_null().to_numpy()
    if any(missing[a:b].all() for a, b in pairwise(starts)):
        return None
    if kind == "nominal":
        codes = both.rank("dense").cast(pl.Float64).to_numpy()
        return (codes, True, 1.0) if np.nanmin(codes) < np.nanmax(codes) else None
    values = (both if both.dtype.is_numeric() else both.to_physical()).cast(pl.Float64).to_numpy()
    if np.isinf(values).any():
        raise DataError(f"Column {both.name!r} has infinite values.", allowed="finite numbers or missing")
    if isinstance(both.dtype, pl.Enum):
        levels = len(both.dtype.categories)
        return (values / (levels - 1), False, 1.0) if levels > 1 else None
    end = int(starts[ranges if distance is Distance.GOWER else 1])
    if np.nanmax(np.abs(values[:end])) < TINY:  # halves of the smallest numbers are 0
        values = np.clip(values, -1.0, 1.0) * LARGER
    low, high = np.nanmin(values[:end]) / 2, np.nanmax(values[:end]) / 2  # halves: the range may overflow
    if low == high:
        return None
    with np.errstate(over="ignore"):  # another file may lie far outside the range of the first
        unit = np.clip((values / 2 - low) / (high - low), -FARTHEST, FARTHEST)
    shared = unit[:end]
    if distance is Distance.GOWER:
        return unit / (np.nanmax(shared) - np.nanmin(shared)), False, 1.0
    spread = float(np.nanstd(shared, ddof=1))
    widest = float(np.nanmax(unit) - np.nanmin(unit)) / spread
    return unit / spread, False, widest**2 if distance is Distance.EUCLIDEAN else widest
