"""Blocks into which strata are cut that are too large for one kernel, the same ones on every engine.

What decides, a sample drawn by the ids and comparisons with its values, does not depend on where the records
are or in which order they come.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import narwhals as nw
import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.engine.random import round_keys
from sdckit.kernels.keyed_numbers import keyed_uniform
from sdckit.protect._groupings import Transform, transformed
from sdckit.protect._numbers import location_and_spread

LARGEST = 1_000_000  # records of a stratum or block that are in memory together
FILLED = 0.8  # how full blocks are on average, since a sample does not tell their sizes exactly
SAMPLE = 2_000  # records for each block, from which the cuts are made
MOST = 200_000  # records of one sample
TINY = 1e-300  # a deviation by which numbers can be divided
SEED, STEP = 0, 1  # the sample is part of the method, not a draw of the user


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of distances in all blocks of a stratum, (t(x) − mean)/spread, as a sample of it tells.

    Blocks on scales of their own would lose 40 to 70 % more. `ranks`: for each column the different values
    of the sample and their mean ranks as shares, between which ranks are interpolated.
    """

    transform: Transform
    mean: Floats
    spread: Floats
    ranks: tuple[tuple[Floats, Floats], ...] = ()

    @classmethod
    def of_sample(cls, x: Floats, transform: Transform, low: Floats, high: Floats) -> "Scale":
        """The scale from a sample of records, and from the ends of each column in the stratum.

        The range takes the place of a deviation of 0: the few other values of a column may not be sampled.
        """
        ranks = tuple(_mean_ranks(column) for column in x.T) if transform is Transform.RANK else ()
        bare = cls(transform, np.zeros(x.shape[1]), np.ones(x.shape[1]), ranks)
        mean, spread = location_and_spread(bare.transformed(x))
        width = bare.transformed(high[None])[0] / 2 - bare.transformed(low[None])[0] / 2
        spread = np.where(spread > 0, spread, np.where(width > 0, width, 1.0))
        return cls(transform, mean, spread, ranks)

    def transformed(self, x: Floats) -> Floats:
        """Numbers as distances see them."""
        if self.transform is not Transform.RANK:
            return transformed(x, self.transform)
        columns = [np.interp(c, *known) for c, known in zip(x.T, self.ranks, strict=True)]
        return np.where(np.isnan(x), np.nan, np.column_stack(columns))

    def of(self, x: Floats) -> Floats:
        """Numbers on this scale; missing stays missing."""
        halves = self.transformed(x) / 2 - self.mean / 2  # the difference of very large numbers overflows
        return np.asarray(halves / self.spread * 2)


def _mean_ranks(column: Floats) -> tuple[Floats, Floats]:
    values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    if not len(values):
        return np.zeros(1), np.zeros(1)
    return values, (np.cumsum(counts) - counts / 2) / counts.sum()


@dataclass(frozen=True, slots=True)
class Cut:
    """Records below a value in a column, of equal ones those with lower ids, go to `low`, others to `high`.

    Either is another cut or the number of a block. Missing values are not below any.
    """

    column: int
    value: float
    code: int
    low: "Cut | int"
    high: "Cut | int"


@dataclass(frozen=True, slots=True)
class Blocks:
    """How the records of a stratum are divided into `count` blocks of about the same size.

    Block 0 has the records farther from the mean than the root of `outer`, for in sparse regions cuts cost
    most (where distances are of the numbers themselves); cuts divide the others.
    """

    scale: Scale
    columns: tuple[int, ...]
    outer: float | None
    cuts: Cut | int
    count: int

    @classmethod
    def of_sample(cls, x: Floats, codes: Ints, n: int, scale: Scale) -> "Blocks":
        """From a sample of n records in the order of their codes, whole numbers that tell them apart."""
        count = ceil(n / (FILLED * LARGEST))
        columns = tuple(np.flatnonzero(~np.isnan(x).all(axis=0)).tolist())
        first = cls(scale, columns, None, 0, 1)
        rows, outer, number = np.arange(len(x)), None, 0
        if scale.transform is Transform.NONE and len(x):
            away = first._distances(x)
            outer = float(np.sort(away)[-1 - len(x) // count])
            rows, number = np.flatnonzero(away <= outer), 1
        z = scale.of(x)
        cuts = _cuts(x, np.where(np.isnan(z), 0.0, z), codes, list(columns), rows, (number, count))
        return cls(scale, columns, outer, cuts, count)

    def numbers(self, x: Floats, codes: Ints) -> Ints:
        """The block of each record in memory."""
        found = np.zeros(len(x), dtype=np.int64)
        inside = np.ones(len(x), dtype=bool) if self.outer is None else self._distances(x) <= self.outer
        waiting: list[tuple[Cut | int, Ints]] = [(self.cuts, np.flatnonzero(inside))]
        while waiting:
            cut, rows = waiting.pop()
            if isinstance(cut, int):
                found[rows] = cut
                continue
            value = x[rows, cut.column]
            low = (value < cut.value) | ((value == cut.value) & (codes[rows] < cut.code))
            waiting += [(cut.low, rows[low]), (cut.high, rows[~low])]
        return found

    def expression(self, names: Sequence[str], code: str) -> nw.Expr:
        """The same for the records of an engine, their numbers in columns."""
        found = _expression(self.cuts, names, code)
        if self.outer is None:
            return found
        away = nw.lit(0.0)
        for j in self.columns:
            half, factor = self._factors(j)
            z = (nw.col(names[j]) * 0.5 - half) * factor
            away = away + nw.when(z.is_null()).then(nw.lit(0.0)).otherwise(z * z)
        return nw.when(away <= self.outer).then(found).otherwise(nw.lit(0))

    def _distances(self, x: Floats) -> Floats:
        """Squared distances from the mean, in the steps of `expression`."""
        away = np.zeros(len(x))
        with np.errstate(over="ignore"):
            for j in self.columns:
                half, factor = self._factors(j)
                z = (x[:, j] * 0.5 - half) * factor
                away = away + np.where(np.isnan(z), 0.0, z * z)
        return away

    def _factors(self, column: int) -> tuple[float, float]:
        return float(self.scale.mean[column]) * 0.5, 2.0 / max(float(self.scale.spread[column]), TINY)


def _cuts(
    x: Floats, z: Floats, codes: Ints, columns: list[int], rows: Ints, numbers: tuple[int, int]
) -> Cut | int:
    """Cuts of the sampled rows into the blocks with these numbers, always of the widest column."""
    start, stop = numbers
    if stop - start < 2 or len(rows) < 2:
        return start
    column = columns[int(np.ptp(z[rows][:, columns], axis=0).argmax())]
    rows = rows[np.lexsort((codes[rows], x[rows, column]))]
    middle = (start + stop) // 2
    place = max(len(rows) * (middle - start) // (stop - start), 1)
    at = rows[place]
    if np.isnan(x[at, column]):  # some rare records without a value that the others have
        return start
    low = _cuts(x, z, codes, columns, np.sort(rows[:place]), (start, middle))
    high = _cuts(x, z, codes, columns, np.sort(rows[place:]), (middle, stop))
    return Cut(column, float(x[at, column]), int(codes[at]), low, high)


def _expression(cut: Cut | int, names: Sequence[str], code: str) -> nw.Expr:
    if isinstance(cut, int):
        return nw.lit(cut)
    x = nw.col(names[cut.column])
    below = (x < cut.value) | ((x == cut.value) & (nw.col(code) < cut.code))
    low, high = _expression(cut.low, names, code), _expression(cut.high, names, code)
    return nw.when(below).then(low).otherwise(high)


def sampled_share(n: int) -> float:
    """The share of n records whose keyed numbers, up to this, put them into the sample."""
    return min(1.0, min(SAMPLE * ceil(n / (FILLED * LARGEST)), MOST) / n)


def parts_by_presence(present: Bools, counts: Ints, k: int) -> Ints:
    """The part of a stratum to which records with each pattern of present values go; −1 for none present.

    Each pattern is a part, but patterns of fewer than k records are in that of the most frequent one.
    """
    part = np.full(len(counts), -1, dtype=np.int64)
    some = np.flatnonzero(present.any(axis=1))
    if len(some):
        ordered = some[np.lexsort((*present[some].T[::-1], counts[some]))[::-1]]
        part[ordered] = np.where(counts[ordered] >= k, np.arange(len(ordered)), 0)
    return part


def without_small(sizes: Ints, k: int) -> Ints:
    """New numbers of blocks of these sizes: neighbours are one block until they have k records together."""
    number, new, together = 0, np.empty(len(sizes), dtype=np.int64), 0
    for block, size in enumerate(sizes.tolist()):
        new[block] = number
        together += size
        if together >= k:
            number, together = number + 1, 0
    return np.minimum(new, max(number - 1, 0))


def blocks_in_memory(x: Floats, codes: Ints, k: int, transform: Transform) -> list[tuple[Ints, Scale | None]]:
    """The rows of each block of a stratum [n, p] in the order of the codes, and the scale of its distances.

    A stratum of at most LARGEST records is one block, on its own scale. A larger one is first divided by
    which values are present, and a part that is still larger by `Blocks`. Records without any value are left
    out.
    """
    if len(x) <= LARGEST:
        return [(np.arange(len(x)), None)]
    patterns, pattern, counts = np.unique(~np.isnan(x), axis=0, return_inverse=True, return_counts=True)
    part = parts_by_presence(patterns, counts, k)[pattern.ravel()]
    found: list[tuple[Ints, Scale | None]] = []
    for number in np.unique(part[part >= 0]):
        rows = np.flatnonzero(part == number)
        found += [(rows, None)] if len(rows) <= LARGEST else _divided(x, codes, rows, k, transform)
    return found


def _divided(
    x: Floats, codes: Ints, rows: Ints, k: int, transform: Transform
) -> list[tuple[Ints, Scale | None]]:
    mine, named = x[rows], codes[rows]
    drawn = keyed_uniform(named, round_keys(SEED, STEP)) <= sampled_share(len(rows))
    low, high = np.fmin.reduce(mine), np.fmax.reduce(mine)
    scale = Scale.of_sample(mine[drawn], transform, low, high)
    blocks = Blocks.of_sample(mine[drawn], named[drawn], len(rows), scale)
    number = blocks.numbers(mine, named)
    number = without_small(np.bincount(number, minlength=blocks.count), k)[number]
    return [(rows[number == one], scale) for one in range(int(number.max()) + 1)]
