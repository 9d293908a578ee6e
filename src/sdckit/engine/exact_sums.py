"""Sums that are the same number on every engine, in any order of the rows and on any number of threads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import frexp, isfinite
from typing import Any

import narwhals as nw

from sdckit.engine import frames
from sdckit.engine.tables import OURS, Table
from sdckit.errors import DataError

BITS = 62  # a sum of whole numbers must stay below 2⁶³
SMALLEST = -900  # exponents below would scale by more than a floating-point number can be


@dataclass(frozen=True, slots=True)
class ExactSum:
    """The number of values present and their sum."""

    n: int
    total: Fraction

    @property
    def mean(self) -> float:
        """The mean, rounded once; 0 where there is no value."""
        return float(self.total / self.n) if self.n else 0.0


@dataclass(frozen=True, slots=True)
class Scale:
    """How numbers up to a largest one, `n` of them, become two whole numbers whose sums cannot overflow.

    With |x| < 2^exponent and r = 62 − ⌈log₂ n⌉ bits: h = ⌊x·2^(r−exponent)⌋ and l = ⌊(x·2^(r−exponent) −
    h)·2^r⌋. All steps but the last are exact in floating point; the last leaves out what is below
    2^(exponent − 2r), for every engine alike. The sum is (Σh + Σl/2^r)·2^(exponent−r).
    """

    bits: int
    exponent: int

    @classmethod
    def of(cls, n: int, largest: float) -> "Scale":
        """The scale for n numbers of at most this size."""
        if not isfinite(largest):
            raise DataError("Numbers are too large to be added up.", given=f"{largest:g}")
        return cls(BITS - max(n, 1).bit_length(), max(frexp(largest)[1], SMALLEST))

    def total(self, high: int | None, low: int | None) -> Fraction:
        """The sum of the numbers from the sums of the two."""
        whole = ((high or 0) << self.bits) + (low or 0)
        return Fraction(whole) * Fraction(2) ** (self.exponent - 2 * self.bits)


def split(table: Table, scales: Mapping[str, Scale]) -> Table:
    """The table with the two whole numbers of some columns, named with h and l behind; NULL for NULL."""
    scaled = [
        (nw.col(c).cast(nw.Float64) * 2.0 ** (s.bits - s.exponent)).alias(f"{c}l") for c, s in scales.items()
    ]
    table = table.with_columns(*scaled)
    table = table.with_columns(nw.col(f"{c}l").floor().cast(nw.Int64).alias(f"{c}h") for c in scales)
    rest = {c: nw.col(f"{c}l") - nw.col(f"{c}h").cast(nw.Float64) for c in scales}
    return table.with_columns(
        (rest[c] * 2.0**s.bits).floor().cast(nw.Int64).alias(f"{c}l") for c, s in scales.items()
    )


def exact_sums(
    table: Table, columns: Sequence[str], by: Sequence[str] = ()
) -> dict[tuple[Any, ...], list[ExactSum]]:
    """The sums of the columns' present values, for each stratum `by` (NULL is a value), or for ().

    Engines add in parallel, in an order that changes from run to run and with it the last digits: numbers
    that decide about values (thresholds, deviations of noise, probabilities) must not depend on it. Two
    passes: the largest number, then sums of whole numbers. The columns may be computed before; products are
    rounded alike on every engine.
    """
    codes = [f"{OURS}s{i}" for i in range(len(columns))]
    groups = [f"{OURS}g{i}" for i in range(len(by))]
    table = table.select(
        *(nw.col(c).alias(group) for c, group in zip(by, groups, strict=True)),
        *(nw.col(c).cast(nw.Float64).alias(code) for c, code in zip(columns, codes, strict=True)),
    )
    scales = _scales(table, codes)
    table = split(table, scales)
    wanted = [nw.col(code).count().cast(nw.Int64).alias(code) for code in codes]
    wanted += [nw.col(f"{code}{part}").sum().cast(nw.Int64) for code in codes for part in "hl"]
    rows = frames.gather(table.group_by(*groups).agg(*wanted) if groups else table.select(*wanted))
    return {
        tuple(row[group] for group in groups): [
            ExactSum(int(row[c] or 0), scales[c].total(row[f"{c}h"], row[f"{c}l"])) for c in codes
        ]
        for row in rows.iter_rows(named=True)
    }


def _scales(table: Table, codes: Sequence[str]) -> dict[str, Scale]:
    wanted = [nw.len().cast(nw.Int64).alias(f"{OURS}n")]
    wanted += [nw.col(code).abs().max().alias(code) for code in codes]
    row = frames.gather(table.select(*wanted)).row(0, named=True)
    return {code: Scale.of(int(row[f"{OURS}n"]), row[code] or 0.0) for code in codes}
