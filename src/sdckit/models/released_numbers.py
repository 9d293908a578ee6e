"""The number a synthetic record gets: not its donor's own, but one between the neighbours, or of the tail."""

from dataclasses import dataclass

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.models.column_codes import ColumnCodes
from sdckit.models.tree_synthesis import Drawn, Tree, VariableTrees

TAIL = 0.01  # share of the records to which a tail is fitted
ENOUGH = 50  # records for that; with fewer the mean of the tail stands for all of it
FEWEST = 5  # records whose mean stands for a tail, at least: fewer would tell their own values
PROTECTED = (
    0.1  # of a value: the second largest, who knows their own, cannot tell the largest nearer than that
)
STEEPEST, FLATTEST = 0.5, -0.5  # shapes of a tail that are believed


@dataclass(frozen=True, slots=True)
class Tail:
    """The values beyond `edge`, of which none is released. sign: 1 for the largest, −1 for the smallest.

    mean: what stands for these values. shape and scale: of the generalised Pareto distribution beyond the
    edge; a scale of 0 says that the mean stands for all of them. bound: no value is drawn beyond it.
    """

    sign: int
    edge: float
    mean: float
    shape: float = 0.0
    scale: float = 0.0
    bound: float = np.inf

    def holds(self, values: Floats) -> Bools:
        """Which values belong to it."""
        return np.asarray(self.sign * values > self.sign * self.edge)

    def draw(self, u: Floats) -> Floats:
        """Values of the tail for random numbers."""
        if not self.scale:
            return np.full(len(u), self.mean)
        rest = 1 - u
        away = -np.log(rest) if abs(self.shape) < 1e-9 else (rest**-self.shape - 1) / self.shape
        return np.asarray(self.sign * np.minimum(self.sign * self.edge + self.scale * away, self.bound))


def fit_tails(values: Floats, count: int) -> tuple[Tail, ...]:
    """The `count` largest and smallest of these numbers; none where so many share the extreme value."""
    found = []
    for sign in (1, -1):
        if not count or not len(values):
            continue
        x = np.sort(sign * values)[::-1]  # the tail comes first
        if len(x) <= 2 * max(count, FEWEST):  # nearly all of them are extreme: the mean stands for all
            return (Tail(1, -np.inf, _few(values)),)
        edge = x[count]
        if x[0] > edge:
            bound = 0.0 if sign < 0 and values.min() >= 0 else np.inf
            shape, scale = _pareto(x, float(edge))
            found.append(Tail(sign, sign * edge, sign * _safe_mean(x, count), shape, scale, bound))
    return tuple(found)


def _safe_mean(x: Floats, count: int) -> float:
    """The mean of the first of these falling numbers, in which no person's value shows."""
    several = max(count, FEWEST)
    return float(x[several] + not_dominated(x[:several] - x[several]).mean())


def _few(values: Floats) -> float:
    """What stands for a handful of numbers: of fewer than ten an order of magnitude, else their mean.

    Any mean of so few is near the value of one of them, or tells it to who knows the others. Of ten and more
    the smallest and the largest are left out, and no other dominates.

    >>> _few(np.array([37_123.0, 58_211.0, 99_402.0]))
    100000.0
    """
    if len(values) < 2 * FEWEST:
        middle = float(np.median(values))
        return float(np.sign(middle)) * 10.0 ** round(np.log10(abs(middle))) if middle else 0.0
    inner = np.sort(values)[1:-1]
    return float(inner[0] + not_dominated((inner - inner[0])[::-1]).mean())


def not_dominated(x: Floats) -> Floats:
    """Falling numbers of 0 and more, the first two cut so that their sum tells no one of them.

    As the p % rule of tables has it: who has the second largest knows the largest up to the sum of all
    others, which must be at least a tenth of it.

    >>> not_dominated(np.array([1000.0, 30.0, 4.0, 3.0, 1.0])).tolist()
    [80.0, 30.0, 4.0, 3.0, 1.0]
    """
    return np.minimum(x, float(x[2:].sum()) / PROTECTED)


def _pareto(x: Floats, edge: float) -> tuple[float, float]:
    """Shape and scale beyond the edge, from the largest hundredth by probability-weighted moments.

    Hosking & Wallis (1987): with a₀ the mean excess and a₁ that of (1 − F)·excess, shape = 2 − a₀/(a₀ − 2a₁)
    and scale = 2·a₀·a₁/(a₀ − 2·a₁).
    """
    number = int(TAIL * len(x))
    if number < ENOUGH:
        return 0.0, 0.0
    threshold = x[number]
    excess = not_dominated(x[:number] - threshold)[::-1]
    first = float(excess.mean())
    second = float((excess * (number - np.arange(1, number + 1)) / (number - 1)).sum() / number)
    if first <= 2 * second or first <= 0:
        return 0.0, 0.0
    shape = float(np.clip(2 - first / (first - 2 * second), FLATTEST, STEEPEST))
    scale = first * (1 - shape)  # the mean excess of this shape is scale / (1 − shape)
    beyond = scale + shape * (edge - threshold)
    return (shape, beyond) if beyond > 0 else (0.0, 0.0)


def release_numbers(
    trees: VariableTrees, drawn: Drawn, tails: tuple[Tail, ...], *, common: int, rng: np.random.Generator
) -> Floats:
    """The number of each record; nan where the donor's value is taken: missing, spikes, categories.

    A value that fewer than `common` units have is smoothed: uniform between the midpoints to the next other
    values in its leaf. Where rounding gives the donor's own value it is drawn once more: gaps between
    neighbours vary as exponential variables do, so that otherwise it would come back twice as often as among
    other people.
    """
    k = len(drawn.donors)
    result = np.full(k, np.nan)
    u, v = rng.random((2, k))
    at = np.flatnonzero(drawn.places >= 0)
    tree, target = trees.numbers, trees.target
    if tree is None or not len(at):
        return result
    places = drawn.places[at]
    own, _ = _table(tree, target, places, tails)
    result[at] = own
    if common:
        low, high = _between(tree, target, places, tails)
        rare = target.alike[drawn.donors[at]] < common
        smoothed = target.rounded(low + u[at] * (high - low))
        again = np.flatnonzero(rare & (smoothed == own))
        smoothed[again] = low[again] + rng.random(len(again)) * (high - low)[again]
        result[at[rare]] = smoothed[rare]
    for tail in tails:
        inside = at[tail.holds(target.values[drawn.donors[at]])]
        result[inside] = tail.draw(v[inside])
    return target.rounded(result)


def _between(tree: Tree, target: ColumnCodes, places: Ints, tails: tuple[Tail, ...]) -> tuple[Floats, Floats]:
    """The midpoints from the values of donors to the next other values in their leaves.

    Other values: of several donors with one value, which a bootstrap or few persons make, each would be the
    neighbour of the next, and the value would come out. The first and the last value of a leaf, and those
    next to a tail, lie between themselves and one midpoint: so the mean of a leaf stays what it is. A value
    that would lie between itself and itself goes half the way to the tail.
    """
    values = target.values[tree.donors]
    begins = np.append(True, values[1:] != values[:-1]) | tree.begins[:-1]
    starts = np.append(np.flatnonzero(begins), len(values))
    run = np.searchsorted(starts, places, side="right") - 1
    first, last = starts[run], starts[run + 1] - 1
    own, _ = _table(tree, target, places, tails)
    before, too_low = _table(tree, target, np.maximum(first - 1, 0), tails)
    after, too_high = _table(tree, target, np.minimum(last + 1, len(values) - 1), tails)
    at_start, at_end = tree.begins[first], tree.begins[last + 1]
    alone = (at_start | too_low) & (at_end | too_high)
    low = np.where(at_start | (too_low & ~alone), own, (own + before) / 2)
    high = np.where(at_end | (too_high & ~alone), own, (own + after) / 2)
    return low, high


def _table(tree: Tree, target: ColumnCodes, places: Ints, tails: tuple[Tail, ...]) -> tuple[Floats, Bools]:
    """The values of donors, those of a tail replaced by its mean, and which these are."""
    values = target.values[tree.donors[places]]
    replaced, extreme = values.copy(), np.zeros(len(values), dtype=bool)
    for tail in tails:
        inside = tail.holds(values)
        replaced[inside] = tail.mean
        extreme |= inside
    return replaced, extreme
