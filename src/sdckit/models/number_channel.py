"""The channel of a number: how likely each known value becomes each released value.

Learned from true pairs (a person's known value x, the value y of the person's own record) with few
parameters, so that it carries no trace of a single pair. Two kinds:

*Map.* The released value is a non-decreasing function of a value known exactly: unchanged, rounded, top or
bottom coded, averaged over neighbours in rank (individual ranking), rescaled. Then the function is known.

*Density.* Else a probability over the released values,

    m(y | x) = p(x)·[y = x] + (1 − p(x))·g(z)/s_b·Δ(y),      z = (T(y) − T(x) − med_b)/s_b

p is the share of values that stay; b one of up to ten bins of x; med_b and s_b the median and the mean
absolute deviation of the residuals there; g one kernel density for all bins, with heavier tails; Δ(y) the
width of the line of T that belongs to y, more for values released often; T the identity, an inverse
hyperbolic sine (close to a logarithm, for both signs) or the rank, whichever foretells y best when each
pair is left out in turn.

Missing values. A released blank is an outcome of its own; its probability is learned in each bin of x. A true
value that is missing is not known to the intruder either: as a target, the person produces every released
outcome as often as it occurs in the file, which tells nothing. As one of the others who could have produced a
record, the person counts with what missing values really become (most often: blanks).
"""

from dataclasses import dataclass, replace

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.models.number_column import NumberColumn, frequent_values, is_among
from sdckit.models.number_scale import Scale as Scale
from sdckit.models.number_scale import Transform

BINS, BIN_SIZE = 10, 100  # of known values
PRIOR = 5.0  # records: how firmly bins are drawn towards the whole, and the kernel density towards a normal
REACH = (
    12.0  # the density is tabulated to so many mean absolute deviations; beyond it only the tails are left
)
STEPS = tuple(
    240 * 2**k for k in range(8)
)  # from 0 to REACH; the points of a coarse table are in every finer one
TAIL = 0.02  # share of a Cauchy density, since residuals beyond all that were seen do occur
SPREAD_OF_NORMAL = float(np.sqrt(np.pi / 2))  # standard deviation of a normal with mean absolute deviation 1
MOST_PAIRS = 50_000  # that a density is learned from
CHOOSING = 10_000  # pairs by which the scale is chosen, and whether bins differ
FIRST_PAIRS = 1_000  # that are looked at before all are sorted
FEW_DISTINCT = 20  # as many different values in the same order are no accident


@dataclass(frozen=True, slots=True)
class Density:
    """A tabulated density of standardised residuals from −REACH to REACH; outside only the tails."""

    table: Floats

    def at(self, z: Floats) -> Floats:
        """The density at z, between the points of the table by straight lines."""
        grid = np.linspace(-REACH, REACH, self.table.size)
        return np.where(np.abs(z) < REACH, np.interp(z, grid, self.table), TAIL * _cauchy(z))


@dataclass(frozen=True, slots=True)
class NumberChannel:
    """What was learned. A profile is a bin of x, or a frequent value with a probability p of its own."""

    knots: Floats  # of a map: known values, sorted; none: a density
    images: Floats  # what they become
    transform: Transform
    density: Density
    edges: Floats  # between bins
    frequent: Floats  # values that have a profile of their own, sorted; these profiles follow the bins
    middle: Floats  # (profiles,) med
    spread: Floats  # (profiles,) s
    stay: Floats  # (profiles,) p
    blank: Floats  # (profiles,) probability of a released blank
    blank_of_missing: float  # the same where the true value is missing
    pairs: int  # with a known value; 0: nothing was learned

    @property
    def is_map(self) -> bool:
        """Whether the released value is a function of the known one."""
        return self.knots.size > 0

    def profiles(self, x: Floats) -> Ints:
        """The profile of each known value; −1 where it is missing."""
        profile = np.searchsorted(self.edges, x, "right")
        if self.frequent.size:
            place = np.searchsorted(self.frequent, x).clip(max=self.frequent.size - 1)
            profile = np.where(self.frequent[place] == x, self.edges.size + 1 + place, profile)
        return np.where(np.isnan(x) | (self.pairs == 0), -1, profile)

    def image(self, x: Floats) -> Floats:
        """What a map makes of x.

        Of a value not met before, what it makes of both neighbours; where these differ the value itself, if
        the map leaves most values as they are, else what it makes of the lower one.
        """
        last = self.knots.size - 1
        if last > 0 and (self.knots is self.images or np.array_equal(self.knots, self.images)):
            return x  # nothing was changed
        below = (np.searchsorted(self.knots, x, "right") - 1).clip(min=0)
        above = np.searchsorted(self.knots, x).clip(max=last)
        low, high = self.images[below], self.images[above]
        if np.mean(self.knots == self.images) > 0.5:
            between, edge = x, self.images[[0, -1]] != self.images[[min(1, last), max(last - 1, 0)]]
        else:
            between, edge = low, np.array([False, False])
        outside = ((x < self.knots[0]) & edge[0]) | ((x > self.knots[-1]) & edge[1])
        return np.where(np.isnan(x), np.nan, np.where((low != high) | outside, between, low))


@dataclass(frozen=True, slots=True)
class _Fit:
    """Residuals on one scale."""

    transform: Transform
    middle: Floats  # (bins,) or one for all
    spread: Floats
    density: Density
    score: float


def fit_number_channel(
    x: Floats | NumberColumn, y: Floats | NumberColumn, *, exact: bool = True
) -> NumberChannel:
    """The channel of the pairs (x, y); nan is missing.

    x: what the intruder knows of each person. y: the value in the person's own record. exact: whether x is
    the true value; only then the channel can be a map.
    """
    a, b = (values if isinstance(values, NumberColumn) else NumberColumn(values) for values in (x, y))
    known, pair = a.present, a.present & b.present
    missing = ~known
    blank_of_missing = float(((missing & ~b.present).sum() + 1e-3) / (missing.sum() + 1e-3))
    knots = _map_knots(a, b, pair) if exact and pair.any() else np.empty(0)
    if knots.size:
        images = _images(a.values[pair], b.values[pair], knots)
        return _map_channel(a.values[known], b.values[known], knots, images, blank_of_missing)
    moved = pair & (a.values != b.values)
    every = int(moved.sum()) == a.ordered.size  # then they are in order already
    edges = _edges(a.ordered if every else a.values[moved if moved.any() else pair], in_order=every)
    frequent = frequent_values(a.only(pair).ordered, max(5.0, int(pair.sum()) / 200.0))
    rows = _evenly(b, moved)
    fit = _best_fit(a.values[rows], b.values[rows], edges, a.ordered, int(moved.sum()))
    profiles = edges.size + 1 + frequent.size
    stay, blank = np.zeros(profiles), np.zeros(profiles)
    if int(moved.sum()) < int(pair.sum()):
        stay = _stay(a.values[pair], b.values[pair], edges, frequent)
    if int(pair.sum()) < int(known.sum()):
        blank = _blank(a.values[known], b.values[known], edges, frequent)
    own_bin = np.searchsorted(edges, frequent, "right")
    return NumberChannel(
        knots,
        np.empty(0),
        fit.transform,
        fit.density,
        edges,
        frequent,
        np.append(fit.middle, fit.middle[own_bin]),
        np.append(fit.spread, fit.spread[own_bin]),
        stay,
        blank,
        blank_of_missing,
        int(known.sum()),
    )


def _map_knots(a: NumberColumn, b: NumberColumn, pair: Bools) -> Floats:
    """The known values, if the released one is a non-decreasing function of them by more than accident."""
    x, y = a.values[pair], b.values[pair]
    if np.array_equal(x, y):
        return a.only(pair).distinct
    if not _rises(x[:FIRST_PAIRS], y[:FIRST_PAIRS]) or not _rises(x, y):  # most that are not show it at once
        return np.empty(0)
    values, distinct = np.unique(x), np.unique(y).size
    ample = np.mean(x == y) > 0.5 or distinct <= 0.7 * values.size or distinct >= FEW_DISTINCT
    return values if ample else np.empty(0)


def _rises(x: Floats, y: Floats) -> bool:
    """Whether y is a non-decreasing function of x."""
    order = np.argsort(x)
    x, y = x[order], y[order]
    same = x[1:] == x[:-1]
    return bool((y[1:] >= y[:-1]).all()) and not (y[1:] != y[:-1])[same].any()


def _images(x: Floats, y: Floats, knots: Floats) -> Floats:
    if np.array_equal(x, y):
        return knots
    images = np.empty(knots.size)
    if knots.size:
        images[np.searchsorted(knots, x)] = y
    return images


def _map_channel(
    x: Floats, y: Floats, knots: Floats, images: Floats, blank_of_missing: float
) -> NumberChannel:
    none = np.empty(0)
    edges = _edges(x) if np.isnan(y).any() else none  # without blanks all values behave alike
    blank = _blank(x, y, edges, none)
    return NumberChannel(
        knots,
        images,
        Transform(Scale.LINEAR, 1.0, none),
        Density(np.zeros(2)),
        edges,
        none,
        np.zeros(blank.size),
        np.ones(blank.size),
        np.ones(blank.size),
        blank,
        blank_of_missing,
        x.size,
    )


def _edges(x: Floats, *, in_order: bool = False) -> Floats:
    bins = min(BINS, max(1, x.size // BIN_SIZE))
    if bins == 1:
        return np.empty(0)
    at = np.arange(1, bins) / bins
    if not in_order:
        return np.unique(np.quantile(x, at))
    return np.unique(np.interp(at * (x.size - 1), np.arange(x.size), x))


def _evenly(released: NumberColumn, moved: Bools) -> Ints:
    """Rows that moved: all, or of many some, evenly along the released values.

    More would tell no more of so few parameters.
    """
    number = int(moved.sum())
    if number <= min(MOST_PAIRS, CHOOSING):
        return np.flatnonzero(moved)
    return released.order[moved[released.order]][:: -(-number // MOST_PAIRS)]


def _drawn_to_whole(value: Floats, chosen: Ints, groups: int, whole: float, prior: float) -> Floats:
    """The mean of each group, drawn towards the whole by so many records."""
    count = np.bincount(chosen, minlength=groups)
    return np.asarray((np.bincount(chosen, value, groups) + prior * whole) / (count + prior))


def _stay(x: Floats, y: Floats, edges: Floats, frequent: Floats) -> Floats:
    """p: of a frequent value its own share of stayers, of all others one share, less one record."""
    stays = (x == y).astype(np.float64)
    place = np.searchsorted(frequent, x).clip(max=max(frequent.size - 1, 0))
    often = is_among(x, frequent)
    others = stays[~often]
    share = max(others.sum() - 1.0, 0.0) / max(others.size - 1, 1)
    count = np.bincount(place[often], minlength=frequent.size)[: frequent.size]
    own = np.bincount(place[often], stays[often], frequent.size)[: frequent.size] / np.maximum(count, 1)
    return np.append(np.full(edges.size + 1, share), own)


def _blank(x: Floats, y: Floats, edges: Floats, frequent: Floats) -> Floats:
    """The probability of a released blank by bin; a frequent value is drawn towards its bin."""
    hidden = np.isnan(y).astype(np.float64)
    bins = np.searchsorted(edges, x, "right")
    whole = float(hidden.mean()) if hidden.size else 0.0
    by_bin = _drawn_to_whole(hidden, bins, edges.size + 1, whole, PRIOR)
    if not frequent.size:
        return by_bin
    place = np.searchsorted(frequent, x).clip(max=frequent.size - 1)
    often = frequent[place] == x
    count = np.bincount(place[often], minlength=frequent.size)
    total = np.bincount(place[often], hidden[often], frequent.size)
    prior = by_bin[np.searchsorted(edges, frequent, "right")]
    return np.append(by_bin, (total + PRIOR * prior) / (count + PRIOR))


def _best_fit(x: Floats, y: Floats, edges: Floats, known: Floats, pairs: int) -> _Fit:
    """The scale, and one or several bins, with the largest leave-one-out density of y.

    A bin costs log(n), as in Schwarz's criterion: its median and spread are not left out. `known` values
    are in order. (x, y) are all pairs, or some of so many.
    """
    deviation = float(known.std()) if known.size else 0.0
    learnable = x.size >= 2 * PRIOR and deviation > 0
    bins = np.searchsorted(edges, x, "right")
    few = slice(None, None, max(1, -(-x.size // CHOOSING)))
    best: _Fit | None = None
    for scale in list(Scale) if learnable else [Scale.LINEAR]:
        residuals = _Residuals.of(Transform(scale, deviation or 1.0, known), x[few], y[few])
        for size in sorted({edges.size + 1, 1}, reverse=True):
            fit = _fit(residuals, bins[few], size)
            if best is None or fit.score > best.score:
                best, used = fit, size
    assert best is not None
    if x[few].size < pairs:
        best = _fit(_Residuals.of(best.transform, x, y), bins, used, pairs)
    middle, spread = (np.resize(values, edges.size + 1) for values in (best.middle, best.spread))
    return replace(best, middle=middle, spread=spread)


def some_of(ordered: Floats) -> Floats:
    """Not too many of some values, evenly along their order: enough for a spread."""
    return ordered[:: max(1, -(-ordered.size // CHOOSING))]


@dataclass(frozen=True, slots=True)
class _Residuals:
    """Residuals on a scale, whatever the bins."""

    transform: Transform
    values: Floats  # T(y) − T(x)
    deviation: float  # of T of the known values
    log_slope: Floats  # of T at y

    @classmethod
    def of(cls, transform: Transform, x: Floats, y: Floats) -> "_Residuals":
        known = transform.ordered
        deviation = float(np.std(transform.value(some_of(known)))) if known.size else 1.0
        values = transform.value(y) - transform.value(x)
        return cls(transform, values, deviation, np.log(transform.slope(y)))


def _fit(residuals: _Residuals, bins: Ints, used: int, pairs: int = 0) -> _Fit:
    """Residuals in bins or in one; the density is as sharp as so many pairs can make it."""
    values = residuals.values
    bin_of = bins if used > 1 else np.zeros_like(bins)
    middle, spread = _centres(values, bin_of, used, residuals.deviation)
    density, left_out = _kernel_density((values - middle[bin_of]) / spread[bin_of], pairs)
    heights = np.log(left_out) - np.log(spread)[bin_of] + residuals.log_slope
    score = float(heights.sum()) - used * np.log(max(values.size, 1))
    return _Fit(residuals.transform, middle, spread, density, score)


def _centres(residual: Floats, bin_of: Ints, bins: int, deviation: float) -> tuple[Floats, Floats]:
    """Median and mean absolute deviation by bin, drawn towards those of all."""
    least = max(1e-9 * deviation, 1e-12)
    if not residual.size:
        return np.zeros(bins), np.full(bins, max(deviation, least))
    whole = float(np.median(residual))
    count = np.bincount(bin_of, minlength=bins)
    middle = np.array([np.median(residual[bin_of == b]) if count[b] else whole for b in range(bins)])
    middle = (count * middle + PRIOR * whole) / (count + PRIOR)
    far = np.abs(residual - middle[bin_of])
    return middle, np.maximum(_drawn_to_whole(far, bin_of, bins, float(far.mean()), PRIOR), least)


def _cauchy(z: Floats) -> Floats:
    return np.asarray(1.0 / (np.pi * (1.0 + z * z)))


def _normal(z: Floats, deviation: float) -> Floats:
    return np.asarray(np.exp(-0.5 * (z / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi)))


def _kernel_density(z: Floats, pairs: int = 0) -> tuple[Density, Floats]:
    """The density of z, and at each z the density that the others give.

    Kernels (normal, Silverman's bandwidth, where z are some of so many pairs that of all) are laid over
    arsinh(z), so that they are wider where residuals are rare: there a single pair would else leave its
    trace.
    """
    w, reach = np.arcsinh(z), float(np.arcsinh(REACH))
    width = _bandwidth(w, max(pairs, w.size))
    half = next((s for s in STEPS if REACH / s <= width / 4), STEPS[-1])
    step = reach / half
    inside = np.abs(w) < reach
    place = (w[inside] + reach) / step
    left = np.floor(place).astype(np.int64)
    points = 2 * half + 1
    count = np.bincount(left, 1 - (place - left), points + 1) + np.bincount(
        left + 1, place - left, points + 1
    )
    taps = np.arange(-int(5 * width / step) - 1, int(5 * width / step) + 2)
    total = np.convolve(count[:points], _normal(taps * step, width))[taps.size // 2 :][:points]
    grid, warped = np.linspace(-REACH, REACH, points), np.linspace(-reach, reach, points)

    def mixed(at: Floats, kernels: Floats, records: int) -> Floats:
        kernels = kernels / np.sqrt(1.0 + at * at)
        body = (kernels + PRIOR * _normal(at, SPREAD_OF_NORMAL)) / (records + PRIOR)
        return np.asarray((1 - TAIL) * body + TAIL * _cauchy(at))

    others = np.zeros(z.size)
    others[inside] = total[left] + (place - left) * (total[left + 1] - total[left])
    others = np.where(inside, others - _normal(np.zeros(1), width), 0.0).clip(min=0.0)
    density = Density(mixed(grid, np.interp(np.arcsinh(grid), warped, total), z.size))
    return density, mixed(z, others, max(z.size - 1, 0))


def _bandwidth(z: Floats, size: int) -> float:
    if z.size < 2:
        return 1.0
    quarter = np.quantile(z, [0.25, 0.75])
    spreads = [s for s in (float(z.std()), float(quarter[1] - quarter[0]) / 1.34) if s > 1e-9]
    return float(0.9 * min(spreads, default=1.0) * size**-0.2)
