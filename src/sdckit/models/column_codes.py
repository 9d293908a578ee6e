"""A column as codes that trees can be grown on, and as the target of a tree."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from sdckit._support.arrays import Codes, Floats, Ints

Predictor = npt.NDArray[np.uint16]

MOST_CODES = 65_000  # of a predictor: more different numbers are cut into so many quantiles
HANDFUL = 10  # records of whose numbers no step is learned
SEVERAL = 5  # records that have it at least: of 15 numbers each is that of a fifteenth, and of one person
DECIMALS = 6  # more than these are taken for a measurement that is not rounded
LARGEST = 2.0**53  # whole numbers up to it are exact
REST = 0  # the class of numbers that are neither missing nor a spike


@dataclass(frozen=True, slots=True)
class ColumnCodes:
    """One column of n records.

    codes: as a predictor; of a number its rank, 0 where missing. levels: 0 where codes are ordered, else
    how many there are. classes: as a target; of a category its level, of a number whether it is missing, a
    spike or one of the REST. values and ranks: of a number, else empty; alike: how many have the same,
    records, or units (households) where these are given. step: numbers are whole multiples of it after
    `origin`; 0 where they are not rounded. spikes: how many values are classes of their own.
    """

    codes: Predictor
    levels: int
    classes: Codes
    values: Floats
    ranks: Floats
    alike: Codes
    step: float = 0.0
    origin: float = 0.0
    spikes: int = 0
    units: Codes | None = None

    @property
    def is_number(self) -> bool:
        """Whether the column is synthesised as a number."""
        return len(self.values) > 0

    def once(self, rows: Codes) -> Floats:
        """The numbers of these records: once a record, however often it is named, and once a unit."""
        rows = np.unique(rows)
        values = self.values[rows]
        if self.units is None:
            return values
        units = self.units[rows]
        order = np.lexsort((values, units))
        values, units = values[order], units[order]
        first = np.append(True, (values[1:] != values[:-1]) | (units[1:] != units[:-1]))
        return np.asarray(values[first[: len(values)]])

    def rounded(self, values: Floats) -> Floats:
        """Numbers with the digits that the column has."""
        if not self.step:
            return values
        whole = np.round((values - self.origin) / self.step)
        if self.step < 1:  # decimal digits: 0.1 · 3 is not 0.3
            return np.asarray(np.round(self.origin + whole * self.step, round(-np.log10(self.step))))
        return np.asarray(self.origin + whole * self.step)


def category_codes(column: pl.Series) -> ColumnCodes:
    """A column of categories; missing is one of them, the last."""
    classes = _levels(column)
    count = int(classes.max(initial=-1)) + 1
    nothing = np.empty(0)
    codes = np.minimum(classes, np.iinfo(np.uint16).max).astype(np.uint16)
    return ColumnCodes(codes, count, classes, nothing, nothing, nothing.astype(np.int32))


def number_codes(column: pl.Series, spikes: Sequence[float] = (), units: Codes | None = None) -> ColumnCodes:
    """A column of numbers, dates or times. spikes: values that are classes of their own.

    units: the household of each record, so that what five members share is the number of one household.
    """
    physical = column.to_physical() if column.dtype.is_temporal() else column
    values = physical.cast(pl.Float64).fill_null(np.nan).to_numpy()
    finite = np.isfinite(values)
    known, dense, counts = np.unique(values[finite], return_inverse=True, return_counts=True)
    found = np.unique(np.asarray(spikes, dtype=float))
    classes = np.zeros(len(values), dtype=np.int32)
    classes[~finite] = np.where(np.isnan(values[~finite]), 1, np.where(values[~finite] > 0, 2, 3))
    for number, spike in enumerate(found, 4):
        classes[values == spike] = number
    rest = classes == REST
    codes = np.zeros(len(values), dtype=np.uint16)
    average = np.cumsum(counts) - (counts - 1) / 2
    codes[finite] = (
        1 + dense if len(known) < MOST_CODES else 1 + average[dense] * (MOST_CODES - 1) / len(dense)
    )
    codes[values == np.inf] = codes.max(initial=0) + 1
    ranks = np.zeros(len(values))
    ranks[finite] = average[dense]
    alike = np.zeros(len(values), dtype=np.int32)
    alike[finite] = (counts if units is None else _holders(dense, units[finite], len(known)))[dense]
    step, origin = _grid(known, int((rest & finite).sum()))
    ranks = np.where(rest, ranks, 0.0)
    return ColumnCodes(codes, 0, classes, values, ranks, alike, step, origin, len(found), units)


def _holders(values: Ints, units: Codes, different: int) -> Ints:
    """How many units have each of these values 0, 1, …."""
    many = int(units.max(initial=0)) + 1
    pairs = np.unique(values.astype(np.int64) * many + units)
    return np.bincount(pairs // many, minlength=different)


def _levels(column: pl.Series) -> Codes:
    """The level of each record in the order of the values, missing after the last."""
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):  # engines outside memory know texts only
        column = column.cast(pl.String)
        column = column.cast(pl.Enum(column.drop_nulls().unique().sort()))
    present = column.is_not_null().to_numpy()
    levels = np.zeros(len(column), dtype=np.int32)
    if present.any():
        values = column.drop_nulls().to_physical()
        values = values.cast(pl.UInt8) if values.dtype == pl.Boolean else values
        levels[present] = np.unique(values.to_numpy(), return_inverse=True)[1]
        levels[~present] = levels.max() + 1
    return levels


def _grid(values: Floats, records: int) -> tuple[float, float]:
    """The step of which different numbers are multiples and where they begin; 0 where there is none.

    Of a handful of records beside the spikes no step is learned, for it would tell their numbers.
    """
    if not len(values):
        return 1.0, 0.0
    if (values == np.round(values)).all() and np.abs(values).max() < LARGEST:
        if records < HANDFUL:
            return 1.0, 0.0
        away = (values - values[0]).astype(np.int64)
        return float(max(int(np.gcd.reduce(away)), 1)), float(values[0])
    for digits in range(1, DECIMALS + 1):
        if (np.round(values, digits) == values).all():
            return 10.0**-digits, 0.0
    return 0.0, 0.0
