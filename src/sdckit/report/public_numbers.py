"""Numbers of a public report: so coarse that no difference of two of them tells of a few records."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite

from sdckit._support.number_text import SPACE, number
from sdckit.methods.spec import Figure, Kind, Spec

MIN_PUBLIC_COUNT = 5  # records; counts are rounded to multiples of it
COARSEST = 0.25  # a file in which 5 records are a larger share than this is too small for shares


@dataclass(frozen=True, slots=True)
class PublicNumber:
    """A rounded number; `at_most` where it is only an upper limit, `share` where it is in percent."""

    value: float
    at_most: bool = False
    share: bool = False

    def __str__(self) -> str:
        text = f"{100 * self.value:.0f}{SPACE}%" if self.share else number(self.value)
        return f"<{text}" if self.at_most else text


def rounded_count(count: float) -> int:
    """A number of records to the nearest multiple of 5.

    >>> [rounded_count(n) for n in (0, 2, 3, 7, 8, 12)]
    [0, 0, 5, 5, 10, 10]
    """
    return MIN_PUBLIC_COUNT * floor(count / MIN_PUBLIC_COUNT + 0.5)


def public_count(count: float) -> PublicNumber:
    """A number of records: 0, fewer than 5, or a multiple of 5.

    >>> [str(public_count(n)) for n in (0, 1, 4, 7, 1234)]
    ['0', '<5', '<5', '5', '1,235']
    """
    if 0 < count < MIN_PUBLIC_COUNT:
        return PublicNumber(MIN_PUBLIC_COUNT, at_most=True)
    return PublicNumber(rounded_count(count))


def share_step(records: int) -> float:
    """The step in which shares of so many records are shown: whole percents, and 5 records at least.

    >>> share_step(2000), share_step(200), share_step(60)
    (0.01, 0.03, 0.09)
    """
    return max(1, ceil(100 * MIN_PUBLIC_COUNT / max(records, 1))) / 100


def public_share(value: float, records: int) -> PublicNumber | None:
    """A share of records in such steps; a smaller one than a step is an upper limit. None: too few records.

    >>> [str(public_share(v, 2000)).replace(SPACE, " ") for v in (0, 0.0004, 0.034, 0.999)]
    ['0 %', '<1 %', '3 %', '100 %']
    """
    step = share_step(records)
    if step > COARSEST:
        return None
    if 0 < value < step:
        return PublicNumber(step, at_most=True, share=True)
    return PublicNumber(min(round(floor(value / step + 0.5) * step, 2), 1.0), share=True)


def public_number(meaning: Spec | Figure, kind: Kind, value: float, records: int) -> PublicNumber | None:
    """A number of a measure as the public may see it; None where it may not.

    Shares, and losses that run from 0 to 1, in steps of at least 5 records; counts to multiples of 5. Nothing
    else: a smallest diversity or a largest distance is that of the one group that is worst off, and a loss
    without an upper bound, as the mean change of a cell, may be that of a few records.
    """
    if not isfinite(value) or (isinstance(meaning, Figure) and meaning.extreme):
        return None
    if meaning.counts_records:
        return public_count(value)
    if meaning.share:
        return public_share(value, records)
    if kind is Kind.UTILITY and meaning.bounds == (0, 1):
        return without_percent(public_share(value, records))
    return None


def without_percent(shown: PublicNumber | None) -> PublicNumber | None:
    """The same number as a number from 0 to 1."""
    return None if shown is None else PublicNumber(shown.value, shown.at_most)


def rounded_table(table: Sequence[Sequence[float]]) -> list[list[int]]:
    """Counts of records to multiples of 5."""
    return [[rounded_count(count) for count in row] for row in table]
