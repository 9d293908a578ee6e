"""Robust Gaussian mixtures by trimmed likelihood: the records that fit worst are left out of the fit."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.errors import DataError, OptionError
from sdckit.models.gaussian_mixture import Mixture, by_weight, check, run_em
from sdckit.models.mixture_families import FAMILIES, Family

_SEARCH = (Family.EII, Family.VVI, Family.EEE, Family.VVV)  # the families that search from random starts
_FIRST, _FEW, _MANY = 2, 5, 60  # C-steps from every start; EM steps within these and within later ones
_ROUNDS = 50  # C-steps at most until the kept records stay the same
_FINALISTS = 3
_PLENTY = 1_000  # more records than this are searched from a sample
_NOTHING = 1e-8  # records; what counts less is outside
_FEW_RECORDS, _THIN = (
    5,
    1e-3,
)  # for each mean and variable; variance along a direction over that within components


@dataclass(frozen=True, slots=True)
class TrimmedMixture:
    """A mixture of the kept records, and where every record belongs.

    mixture: fitted to the kept records. kept: the h of n records in the fit. component: of kept records the
    most probable one, of trimmed records the nearest in Mahalanobis distance. squares: squared Mahalanobis
    distances (n, G). history: the criterion 2Q − parameters·log h after every C-step; it never falls.
    counts: the weights of the records, 1 on average.
    """

    mixture: Mixture
    kept: Bools
    component: Ints
    squares: Floats
    history: tuple[float, ...]
    counts: Floats

    @property
    def kept_sizes(self) -> Ints:
        """h_g: the kept records of each component; with weights n_g times the kept share of its weight."""
        whole = np.bincount(self.component, self.counts, self.mixture.components)
        kept = np.bincount(self.component, self.counts * self.kept, self.mixture.components)
        return np.rint(self.sizes * kept / np.where(whole > 0, whole, 1.0)).astype(np.int64)

    @property
    def sizes(self) -> Ints:
        """n_g: the records of each component, trimmed ones with it."""
        return np.bincount(self.component, minlength=self.mixture.components)

    @property
    def breakdown(self) -> float:
        """The guaranteed breakdown fraction (n−h)/n, or 0 where ½[n+G(p+1)] < h < n−G(p+1) does not hold."""
        n, h = len(self.kept), int(self.kept.sum())
        needed = self.mixture.components * (self.variables + 1)
        return (n - h) / n if 0.5 * (n + needed) < h < n - needed else 0.0

    @property
    def variables(self) -> int:
        """The number of variables."""
        return int(self.mixture.means.shape[1])


def trimmed_mixture(
    x: Floats,
    *,
    trim: float = 0.25,
    components: Sequence[int] = (1, 2, 3),
    families: Sequence[Family] = FAMILIES,
    starts: int = 10,
    smallest: int | None = None,
    weights: Floats | None = None,
    seed: int = 0,
) -> TrimmedMixture | None:
    r"""The mixture with the largest trimmed likelihood found, its family and size chosen by BIC.

    .. math:: Q = \sum_{i=1}^{h} \ell(x_{\nu(i)}; \theta), \quad h = n - \lfloor n \cdot trim \rfloor

    over the h records with the largest log-density ℓ. A C-step fits the mixture to the kept records by EM
    from where it was and then keeps the h records with the largest log-densities; Q never falls. `starts`
    random starts for each number of components and each of four search families make two short C-steps, the
    best go on until they keep the same records. From there every C-step chooses the family and number of
    components with the largest BIC of the kept records, among them the one it has, so that
    2Q − parameters·log h never falls. Components of fewer than `smallest` records (p + 2 unless told) are
    not allowed, nor are spurious ones: those of fewer than 5(p + 1) records whose variance along some
    direction is below a thousandth of that within all components. None where nothing can be fitted: too few
    records, or they are constant or collinear and no family of `families` allows it. More than 1,000 records
    are searched from a sample, with the last C-steps among all. The order of the rows does not matter.

    `weights` (positive; only their ratios matter) make the log-likelihood a pseudo-likelihood: a record
    counts as w_i n/Σw records in Q, in the sizes of components and in the share that is trimmed. The record
    on the edge of that share counts in part, so that Q never falls here either. BIC stays that of h records.
    Equal weights give the fit without weights.
    Reference: Neykov, Filzmoser, Dimova & Neytchev (2007); Foschi (2011).

    >>> rng = np.random.default_rng(1)
    >>> x = np.vstack([rng.normal(size=(90, 2)), rng.normal(size=(10, 2)) * 0.5 + 50])
    >>> fit = trimmed_mixture(x, components=(1,))
    >>> int(fit.kept.sum()), bool(fit.kept[90:].any()), fit.breakdown
    (75, False, 0.25)
    """
    check(x, components)
    if not 0 <= trim < 0.5:
        raise OptionError("The trimmed share must leave the majority.", given=trim, allowed="0 to below 0.5")
    n, p = x.shape
    h, least = n - math.floor(n * trim), p + 2 if smallest is None else smallest
    if least < 1:
        raise DataError("A component holds at least one record.", given=smallest)
    counts = _counts(weights, n)
    order = np.lexsort([counts, *x.T])
    rows = np.ascontiguousarray(x[order], dtype=np.float64)
    whole = _Search(rows, counts[order], h, least, np.random.default_rng(seed))
    found = (
        whole.search(components, families, starts)
        if n <= _PLENTY
        else _from_sample(whole, components, families, starts)
    )
    if found is None:
        return None
    mixture, history = found
    kept = np.zeros(n, dtype=bool)
    kept[order[whole.best_rows(mixture)[0]]] = True
    return _placed(x, by_weight(mixture), kept, history, counts)


def _counts(weights: Floats | None, n: int) -> Floats:
    """The weights on a scale on which they are 1 on average."""
    if weights is None:
        return np.ones(n)
    if weights.shape != (n,) or not (np.isfinite(weights).all() and (weights > 0).all()):
        raise DataError("Weights are positive numbers, one a record.", given=f"{len(weights):,} for {n:,}")
    relative = weights / weights.max()  # equal weights are 1 to the last digit
    return np.asarray(relative * (n / relative.sum()))


def _from_sample(
    whole: "_Search", components: Sequence[int], families: Sequence[Family], starts: int
) -> tuple[Mixture, tuple[float, ...]] | None:
    """The mixture of a sample, brought to convergence among all records."""
    n, p = whole.x.shape
    rows = np.sort(whole.rng.choice(n, _PLENTY, replace=False))
    # a tenth more, so that a component that is just large enough in the sample is so among all
    least = max(math.ceil(1.1 * whole.smallest * _PLENTY / n), min(whole.smallest, p + 2))
    counts = _counts(whole.counts[rows], _PLENTY)
    sample = _Search(whole.x[rows], counts, round(whole.h * _PLENTY / n), least, whole.rng)
    numbers = list(components)
    while found := sample.search(numbers, families, starts):
        first = whole.c_step(found[0], found[0].family, _MANY)
        if first is not None:
            mixture, history = whole.converge(first)
            return mixture, tuple(history)
        numbers = [g for g in numbers if g < found[0].components]
    return None


@dataclass(frozen=True, slots=True)
class _Search:
    x: Floats
    counts: Floats
    h: int
    smallest: int
    rng: np.random.Generator
    # what `choose` has fitted: finalists often keep the same records and begin at the same mixtures
    fitted: dict[tuple[bytes, int], tuple[Mixture, list[Mixture]]] = field(default_factory=dict, repr=False)

    def search(
        self, components: Sequence[int], families: Sequence[Family], starts: int
    ) -> tuple[Mixture, tuple[float, ...]] | None:
        """The best mixture and the criterion on the way to it."""
        numbers = [g for g in sorted(set(components)) if g * self.smallest <= self.h]
        pool = sorted(self.pool(numbers, families, starts), key=lambda m: -m.bic)
        done = [self.choose(m, pool, families) for m in pool[:_FINALISTS]]
        return max(done, key=lambda d: d[0].bic, default=None)

    def best_rows(self, mixture: Mixture) -> tuple[Ints, Floats]:
        """The rows with the largest log-densities that count as h records, and how much each counts."""
        if self.h == len(self.x):
            return np.arange(self.h), self.counts
        order = np.argsort(-mixture.scores(self.x), kind="stable")
        room = self.h - np.cumsum(self.counts[order]) + self.counts[order]
        inside = np.minimum(self.counts[order], room)
        rows = np.sort(order[inside > _NOTHING])
        counts = np.empty_like(inside)
        counts[order] = inside
        return rows, counts[rows]

    def c_step(self, mixture: Mixture, family: Family, steps: int) -> Mixture | None:
        """EM on the h best rows, from this mixture on if it is of the family."""
        rows, counts = self.best_rows(mixture)
        near = self.x[rows]
        before = mixture if mixture.family is family else None
        return self._em(near, counts, family, mixture.posterior(near), before, steps)

    def converge(self, mixture: Mixture) -> tuple[Mixture, list[float]]:
        """C-steps until the kept rows stay the same."""
        history, rows = [mixture.bic], None
        for _ in range(_ROUNDS):
            now = self.best_rows(mixture)[0]
            if rows is not None and np.array_equal(now, rows):
                break
            after = self.c_step(mixture, mixture.family, _MANY)
            if after is None:
                break
            mixture, rows = after, now
            history.append(mixture.bic)
        return mixture, history

    def pool(self, numbers: Sequence[int], families: Sequence[Family], starts: int) -> Iterator[Mixture]:
        """The best mixture from random starts for every number of components and search family."""
        searching = [f for f in _SEARCH if f in families] or list(families[:1])
        for g in numbers:
            begun = [self._random_start(g, spread=i % 2 == 0) for i in range(starts if g > 1 else 2 * starts)]
            for family in searching:
                tried = [m for rows, z in begun if (m := self._first(rows, z, family)) is not None]
                tried.sort(key=lambda m: -m.log_likelihood)
                settled = [self.converge(m)[0] for m in tried[:_FINALISTS]]
                if settled:
                    yield max(settled, key=lambda m: m.log_likelihood)

    def choose(
        self, mixture: Mixture, pool: Sequence[Mixture], families: Sequence[Family]
    ) -> tuple[Mixture, tuple[float, ...]]:
        """C-steps with the model chosen by BIC in each, until model and rows stay the same."""
        history: list[float] = []
        while True:
            mixture, more = self.converge(mixture)
            history += more
            rows, counts = self.best_rows(mixture)
            near, best = self.x[rows], mixture
            for begin in {m.components: m for m in (*reversed(pool), mixture)}.values():
                for fit in self._of_families(rows.tobytes(), near, counts, begin, families):
                    if fit.bic > best.bic + 1e-6 * (1 + abs(best.bic)):
                        best = fit
            if best is mixture:
                return mixture, tuple(history)
            mixture = best

    def _of_families(
        self, rows: bytes, x: Floats, counts: Floats, begin: Mixture, families: Sequence[Family]
    ) -> list[Mixture]:
        """EM for every family from one mixture; `rows` says which x is."""
        known = (rows, id(begin))  # begin is kept with the fits, so that no other mixture gets its id
        if known not in self.fitted:
            posterior = begin.posterior(x)
            tried = [self._em(x, counts, f, posterior.copy(), None, _MANY) for f in families]
            self.fitted[known] = begin, [fit for fit in tried if fit is not None]
        return self.fitted[known][1]

    def _em(
        self, x: Floats, counts: Floats, family: Family, posterior: Floats, before: Mixture | None, steps: int
    ) -> Mixture | None:
        fit = run_em(x, family, posterior, before, steps=steps, counts=counts, smallest=self.smallest)
        return None if fit is not None and _is_spurious(fit) else fit

    def _first(self, rows: Ints, posterior: Floats, family: Family) -> Mixture | None:
        """A start after a few short C-steps, or None where it became singular."""
        mixture = run_em(self.x[rows], family, posterior.copy(), None, steps=1, counts=self.counts[rows])
        for _ in range(_FIRST):
            if mixture is None:
                return None
            mixture = self.c_step(mixture, family, _FEW)
        return mixture

    def _random_start(self, g: int, *, spread: bool) -> tuple[Ints, Floats]:
        """Rows and their components: all rows near one of g random ones, or p + 2 random rows for each."""
        n, p = self.x.shape
        if not spread and g * (p + 2) <= n:
            rows = self.rng.choice(n, g * (p + 2), replace=False)
            return rows, np.repeat(np.eye(g), p + 2, axis=0)
        middle = np.median(self.x, axis=0)
        scale = np.median(np.abs(self.x - middle), axis=0)
        z = (self.x - middle) / np.where(scale > 0, scale, 1.0)
        centres = z[self.rng.choice(n, g, replace=False)]
        distance = ((z[:, None, :] - centres[None]) ** 2).sum(axis=2)
        rows = np.argsort(distance.min(axis=1), kind="stable")[: self.h]
        return rows, np.eye(g)[distance[rows].argmin(axis=1)]


def _is_spurious(mixture: Mixture) -> bool:
    """Whether a component of few records is nearly flat beside the others.

    The likelihood of a component grows without limit as it gets thinner, so that a few records that happen to
    lie near a plane can outweigh the penalty of BIC.
    """
    p = mixture.means.shape[1]
    few = mixture.weights * mixture.records < _FEW_RECORDS * (p + 1)
    if mixture.components == 1 or not few.any():
        return False
    within = np.einsum("k,kij->ij", mixture.weights, mixture.covariances)
    root = np.linalg.cholesky(within)
    for covariance in mixture.covariances[few]:
        half = np.linalg.solve(root, covariance)
        if np.linalg.eigvalsh(np.linalg.solve(root, half.T))[0] < _THIN:
            return True
    return False


def _placed(
    x: Floats, mixture: Mixture, kept: Bools, history: tuple[float, ...], counts: Floats
) -> TrimmedMixture:
    """Every record with its component; trimmed ones go to the nearest, only so that they are counted."""
    squares = np.empty((len(x), mixture.components))
    for k, (mean, covariance) in enumerate(zip(mixture.means, mixture.covariances, strict=True)):
        away = np.linalg.solve(np.linalg.cholesky(covariance), (x - mean).T)
        squares[:, k] = (away**2).sum(axis=0)
    component = np.where(kept, mixture.component_logs(x).argmax(axis=1), squares.argmin(axis=1))
    return TrimmedMixture(mixture, kept, component.astype(np.int64), squares, history, counts)
