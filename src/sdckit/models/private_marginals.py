"""Counts with differential privacy: noisy tables of one variable, and of the pairs of a spanning tree.

This is the only part of the private synthesis that sees the data. All that it gives away has noise in it;
what is made of that later (`marginal_tree`) costs nothing more.
"""

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit.models.discrete_gaussian import Source, discrete_gaussian, exponential_choice
from sdckit.models.zcdp import exponential_cost, gaussian_cost, rate_for, variance_for

LARGEST_TABLE = 250_000  # cells of a pair: beyond, a table is noise


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How far one unit moves a table of counts: its sum of changes, and the square of its length.

    >>> Sensitivity.of_records(replaced=True), Sensitivity.of_households(4)
    (Sensitivity(total=2, squared=2), Sensitivity(total=4, squared=16))
    """

    total: int
    squared: int

    @classmethod
    def of_records(cls, *, replaced: bool) -> "Sensitivity":
        """A record more or less changes one count by 1; a record replaced changes two counts by 1."""
        return cls(2, 2) if replaced else cls(1, 1)

    @classmethod
    def of_households(cls, members: int) -> "Sensitivity":
        """A household more or less changes counts by as many as it has members, at worst in one cell."""
        return cls(members, members**2)


@dataclass(frozen=True, slots=True)
class NoisyTables:
    """What was measured with noise.

    sizes: the numbers of categories. singles: the noisy counts of each variable. pairs: the chosen pairs of
    variables, and `doubles` their noisy counts. total: the number of records, public or estimated from the
    noisy counts. rho: what all of it costs.
    """

    sizes: tuple[int, ...]
    singles: tuple[Ints, ...]
    pairs: tuple[tuple[int, int], ...]
    doubles: tuple[Ints, ...]
    total: float
    single_variance: float
    double_variance: float
    rho: Fraction


def noisy_tables(
    codes: Ints,
    sizes: Sequence[int],
    rho: Fraction,
    sensitivity: Sensitivity,
    *,
    total: int | None = None,
    source: Source = secrets.token_bytes,
) -> NoisyTables:
    r"""Noisy counts of every variable, and of the pairs of a tree that the exponential mechanism chose.

    codes: records × variables, categories 0 … sizes − 1 known without the data. A third of ρ goes to the
    counts of single variables, a third to the choice, a third to the counts of pairs (two variables leave no
    choice: halves). The choice is Kruskal's: among the pairs that join two trees one is drawn with
    probability ∝ exp(rate · score),

    .. math:: \text{score}_{ab} = \sum_{x,y} |n_{ab}(x,y) - e_{ab}(x,y)|

    with n the true counts and e the counts expected of independent variables, computed from the noisy single
    counts and rounded to whole numbers. Score/2n is a total variation distance. As e does not depend on the
    data any more, one unit changes a score by at most the sum of its changes in n (triangle inequality): 1, 2
    for a record replaced, h for a household. `total`: the number of records where it is public.
    Reference: McKenna, Miklau & Sheldon (2021), whose mechanism MST this resembles.
    """
    variables = len(sizes)
    joins = variables - 1
    phases = 1 + (joins > 0) + (joins > 1)
    share = rho / phases
    spent = Fraction(0)
    variance = variance_for(share / variables, sensitivity.squared)
    singles = tuple(
        _with_noise(np.bincount(codes[:, j], minlength=sizes[j]), variance, source) for j in range(variables)
    )
    spent += variables * gaussian_cost(variance, sensitivity.squared)
    records = float(total) if total is not None else _estimated_total(singles)
    if not joins:
        return NoisyTables(tuple(sizes), singles, (), (), records, float(variance), 0.0, spent)
    rate = rate_for(share / joins, sensitivity.total) if joins > 1 else Fraction(0)
    pairs = _tree(codes, sizes, singles, records, rate, source)
    if rate:
        spent += len(pairs) * exponential_cost(rate, sensitivity.total)
    double = variance_for(share / joins, sensitivity.squared)
    doubles = tuple(_with_noise(_pair_counts(codes, sizes, pair), double, source) for pair in pairs)
    spent += len(pairs) * gaussian_cost(double, sensitivity.squared)
    return NoisyTables(tuple(sizes), singles, pairs, doubles, records, float(variance), float(double), spent)


def _with_noise(counts: Ints, variance: Fraction, source: Source) -> Ints:
    return counts + discrete_gaussian(variance, counts.size, source).reshape(counts.shape)


def _estimated_total(singles: Sequence[Ints]) -> float:
    """The number of records by all tables, those of few categories, which have less noise, counting more."""
    precision = [1 / len(counts) for counts in singles]
    sums = [int(counts.sum()) for counts in singles]
    return max(sum(w * s for w, s in zip(precision, sums, strict=True)) / sum(precision), 1.0)


def _tree(
    codes: Ints,
    sizes: Sequence[int],
    singles: Sequence[Ints],
    total: float,
    rate: Fraction,
    source: Source,
) -> tuple[tuple[int, int], ...]:
    """The pairs of a spanning tree; of several trees where tables would be too large."""
    pairs = [(a, b) for a, b in combinations(range(len(sizes)), 2) if sizes[a] * sizes[b] <= LARGEST_TABLE]
    scores = np.array([_score(codes, sizes, singles, total, pair) for pair in pairs], dtype=np.int64)
    tree_of = list(range(len(sizes)))
    chosen: list[tuple[int, int]] = []
    while True:
        open_ = [i for i, (a, b) in enumerate(pairs) if tree_of[a] != tree_of[b]]
        if not open_:
            return tuple(chosen)
        place = exponential_choice(scores[open_], rate, source) if len(open_) > 1 else 0
        a, b = pairs[open_[place]]
        chosen.append((a, b))
        tree_of = [tree_of[a] if tree == tree_of[b] else tree for tree in tree_of]


def _score(
    codes: Ints, sizes: Sequence[int], singles: Sequence[Ints], total: float, pair: tuple[int, int]
) -> int:
    """How far the counts of a pair are from those of independent variables, a whole number."""
    expected = np.rint(_outer(singles, total, pair)).astype(np.int64)
    return int(np.abs(_pair_counts(codes, sizes, pair) - expected).sum())


def _outer(singles: Sequence[Ints], total: float, pair: tuple[int, int]) -> Floats:
    """The counts expected of independent variables, by the noisy counts alone."""
    a, b = (np.maximum(singles[j], 0).astype(np.float64) for j in pair)
    spread = max(float(a.sum()), 1.0), max(float(b.sum()), 1.0)
    return np.outer(a / spread[0], b / spread[1]) * min(total, math.ldexp(1, 53))


def _pair_counts(codes: Ints, sizes: Sequence[int], pair: tuple[int, int]) -> Ints:
    a, b = pair
    flat = codes[:, a] * sizes[b] + codes[:, b]
    return np.bincount(flat, minlength=sizes[a] * sizes[b]).reshape(sizes[a], sizes[b])
