"""How true values of a category become released ones, as an intruder knows it: learned from true pairs."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Floats, Ints

# Records of prior weight, from the strongest to the weakest; of equally likely ones the strongest is taken
PRIORS = (1e5, 1000.0, 100.0, 20.0, 5.0)
PSEUDO_MOVE = 0.5  # added to the number of records that moved to a value, so that none is impossible
_CLEAR = 4.0  # standard errors by which a map with exceptions must beat its alternatives
_LEAD = 2  # records by which a released value must lead, so that no single record decides the image
_NOISE = 1e-12  # probabilities below are rounding errors
_Codes = npt.NDArray[np.signedinteger]


class Relation(StrEnum):
    """How released values hang on true ones."""

    EXACT = "exact"  # one released value for every true one, never blank
    MAPPED = "mapped"  # one released value for every true one, or blank
    RANDOM = "random"  # values stay, are suppressed, or move


@dataclass(frozen=True, slots=True, eq=False)
class CategoryChannel:
    """m(y | x), the probability that the true value x of one variable is released as y.

    True and released values share one list of codes 0 … size − 1. Arrays over true values have size + 1
    places, the last for a missing one; in the same way the last released value is blank. A true value x is
    first replaced by `image[x]` (recoding, rounding, top coding; x itself where there is none). An image u
    stays with probability `stay[u]`, is suppressed with `suppressed[u]`, and otherwise moves to y ≠ u in
    proportion to `pull[y]`:

        m(y | x) = d(u)·[y = u] + spread(u)·pull(y) for y shown,   suppressed(u) for y blank,

    with spread(u) = (1 − stay − suppressed)/Σ_{y≠u} pull(y) and d = stay − spread·pull. These are three
    numbers for each value, shrunk towards those of the whole variable, and never the observed transition
    matrix: in that one the trace of the own pair would give a record away.
    """

    image: Ints
    stay: Floats
    suppressed: Floats
    spread: Floats
    pull: Floats  # over released values; 0 for blank and for values that are not in the released file
    relation: Relation
    prior: float  # records of prior weight that were chosen
    learnable: bool  # False: true values hardly repeat and few stay, so that a map could not be seen

    @property
    def size(self) -> int:
        """Number of values, missing and blank not counted."""
        return len(self.image) - 1

    @property
    def exact(self) -> bool:
        """Whether every pair has y = image(x)."""
        return self.relation is Relation.EXACT

    @property
    def moves(self) -> bool:
        """Whether any value can become another one."""
        return bool(self.spread.any())

    @property
    def excess(self) -> Floats:
        """d: what staying adds to moving to the same value by chance. Negative where few stay."""
        return self.stay - self.spread * self.pull

    def images(self, x: _Codes) -> Ints:
        """Images of true codes (−1 is missing); a missing image is `size`."""
        return self.image[np.where(x < 0, self.size, x)]

    def likelihood(self, x: _Codes, y: _Codes) -> Floats:
        """m(y | x) for pairs of codes of any shape, broadcast; −1 is missing or blank."""
        u, shown = self.images(x), y >= 0
        moved = self.spread[u] * self.pull[np.where(shown, y, self.size)]
        return np.where(shown, np.where(u == y, self.stay[u], moved), self.suppressed[u])

    def matrix(self) -> Floats:
        """m [x, y] with missing as the last row and blank as the last column."""
        codes = np.append(np.arange(self.size), -1)
        return self.likelihood(codes[:, None], codes[None, :])

    def sentence(self, name: str) -> str:
        """The channel in words, for a note."""
        if not self.learnable:
            return (
                f"{name}: true values hardly repeat and the released ones differ, so a recoding could not be "
                "recognised and the values were taken for random; the risk may be too low."
            )
        recoded = not np.array_equal(self.image, np.arange(self.size + 1))
        if self.relation is Relation.RANDOM:
            stay = self.stay[:-1][self.pull[:-1] > 0]
            return (
                f"{name}: {'recoded and then ' if recoded else ''}changed at random; a value stays with "
                f"probability {stay.min():.2f} to {stay.max():.2f}."
            )
        what = "recoded" if recoded else "unchanged"
        return f"{name}: {what}." if self.exact else f"{name}: {what}, or suppressed."


def category_channel(
    x: _Codes, y: _Codes, size: int, *, count: Floats | None = None, image: Ints | None = None
) -> CategoryChannel:
    """Learn the channel from true pairs (x, y) of codes below `size`; −1 is missing, or blank.

    `count` says how many records a pair stands for. `image` is a map the log of the protection knows:
    size + 1 codes, the last for missing (where `size` itself means missing). A map on top of it, or without
    it, is recognised from the pairs: exactly, where all shown y are a function of x and x repeats; with
    exceptions (recoding, then PRAM), where the released value that most others with the same x have is
    right far more often than x itself and the most frequent value, and the channel becomes more likely.
    """
    known = np.arange(size + 1) if image is None else np.asarray(image, np.int64)
    pairs = _Pairs.of(known[_coded(x, size)], _coded(y, size), count, size)
    if pairs.same.all():
        return _estimate(pairs, known)
    seen = pairs.function()
    if seen is not None:
        return _estimate(pairs.replaced(seen), seen[known])
    plain = _estimate(pairs, known)
    best, best_fit = plain, pairs.fit(plain) + _CLEAR**2 / 2
    for candidate in pairs.maps_with_exceptions():
        learned = _estimate(pairs.replaced(candidate), candidate[known])
        fit = pairs.replaced(candidate).fit(learned)
        if fit > best_fit:
            best, best_fit = learned, fit
    return best


def _coded(codes: _Codes, size: int) -> Ints:
    return np.where(codes < 0, size, codes).astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Distinct pairs (u, v) of codes with the number of records; `size` is missing, or blank."""

    u: Ints
    v: Ints
    number: Floats
    size: int

    @classmethod
    def of(cls, u: Ints, v: Ints, count: Floats | None, size: int) -> "_Pairs":
        """Count them."""
        joint = u * (size + 1) + v
        if (size + 1) ** 2 <= 4 * len(u) + 10_000:
            totals = np.bincount(joint, count, (size + 1) ** 2)
            distinct = np.flatnonzero(totals)
            number = totals[distinct].astype(np.float64)
        else:
            distinct, place = np.unique(joint, return_inverse=True)
            number = np.bincount(place, count, len(distinct)).astype(np.float64)
        return cls(distinct // (size + 1), distinct % (size + 1), number, size)

    @property
    def same(self) -> npt.NDArray[np.bool_]:
        """Pairs whose value was released as it is (or was missing and is blank)."""
        return np.asarray(self.u == self.v)

    @property
    def shown(self) -> npt.NDArray[np.bool_]:
        """Pairs whose released value is not blank."""
        return self.v < self.size

    @property
    def repeats(self) -> bool:
        """Whether true values repeat: there are at most half as many as records."""
        return bool(2 * len(np.unique(self.u)) <= self.number.sum())

    def replaced(self, image: Ints) -> "_Pairs":
        """The pairs of images; they need not be distinct."""
        return _Pairs(image[self.u], self.v, self.number, self.size)

    def function(self) -> Ints | None:
        """The map from true to released values, if there is one without exceptions.

        Blanks are none, but for missing values: those are all filled in, or all blank.
        """
        image = np.arange(self.size + 1)
        given = self.shown | self.same
        u, v = self.u[given], self.v[given]
        image[u] = v
        lawful = np.array_equal(image[u], v)
        return image if lawful and (self.repeats or np.array_equal(u, v)) else None

    def maps_with_exceptions(self) -> list[Ints]:
        """Maps to the most frequent released value, for true values that never stay, and for all.

        Only if guessing each record from the *others* with the same true value is clearly better than
        guessing the value itself, and the value most frequent in the whole file. A lead of two records is
        what is left of a lead when the own record is taken out.
        """
        given = self.shown & (self.u < self.size)
        u, v, number = self.u[given], self.v[given], self.number[given]
        order = np.lexsort((-number, u))
        u, v, number = u[order], v[order], number[order]
        first = np.flatnonzero(np.diff(u, prepend=-1))
        runner_up = np.zeros(len(first))
        several = np.flatnonzero(np.diff(first, append=len(u)) > 1)
        runner_up[several] = number[first[several] + 1]
        leads = number[first] - runner_up >= _LEAD
        right = number[first][leads].sum()
        constant = np.bincount(v, number).max(initial=0.0)
        unchanged = number[u == v].sum()
        if right - max(constant, unchanged) <= _CLEAR * np.sqrt(right + max(constant, unchanged)):
            return []
        everywhere = np.arange(self.size + 1)
        everywhere[u[first][leads]] = v[first][leads]
        stays = np.isin(np.arange(self.size + 1), u[u == v])
        return [np.where(stays, np.arange(self.size + 1), everywhere), everywhere]

    def fit(self, channel: CategoryChannel) -> float:
        """Log-likelihood of the released values, given images."""
        u, v = self.u, self.v
        moved = channel.spread[u] * channel.pull[v]
        chance = np.where(v == self.size, channel.suppressed[u], np.where(u == v, channel.stay[u], moved))
        return float(self.number @ np.log(np.maximum(chance, 1e-300)))


def _estimate(pairs: _Pairs, image: Ints) -> CategoryChannel:
    """The channel whose pairs of images these are."""
    size, missing, shown, same = pairs.size, pairs.u == pairs.size, pairs.shown, pairs.same
    moved = shown & ~same
    occurs = np.bincount(pairs.v, minlength=size + 1) > 0
    pull: Floats = np.where(occurs, PSEUDO_MOVE, 0.0)
    pull += np.bincount(pairs.v[moved], pairs.number[moved], size + 1)
    pull[size] = 0.0
    outcomes = _outcomes(pairs)
    prior = max(PRIORS, key=lambda k: _leave_one_out(outcomes, k))
    stay, suppressed = _shrunk(outcomes, prior)
    stay[size] = 0.0
    suppressed[size] = _stays_missing(
        pairs.number[missing & ~shown].sum(), pairs.number[missing & shown].sum()
    )
    others = pull.sum() - pull
    leaving = np.maximum(1 - stay - suppressed, 0.0)
    can_move = moved.any() & (others > 0) & (leaving > _NOISE)
    total = np.where(can_move, 1.0, np.maximum(stay + suppressed, _NOISE))
    relation = Relation.RANDOM if moved.any() else Relation.EXACT if same.all() else Relation.MAPPED
    return CategoryChannel(
        image=image,
        stay=stay / total,
        suppressed=suppressed / total,
        spread=np.where(can_move, leaving, 0.0) / np.where(can_move, others, 1.0),
        pull=pull,
        relation=relation,
        prior=prior,
        learnable=pairs.repeats or bool(2 * pairs.number[moved].sum() <= pairs.number[shown].sum()),
    )


def _outcomes(pairs: _Pairs) -> Floats:
    """Records [value, (stay, suppressed, moved)], of values that were not missing."""
    known = pairs.u < pairs.size
    kind = np.where(pairs.same, 0, np.where(pairs.shown, 2, 1))[known]
    flat = np.bincount(3 * pairs.u[known] + kind, pairs.number[known], 3 * (pairs.size + 1))
    return flat.reshape(-1, 3).astype(np.float64)


def _shares(outcomes: Floats) -> Floats:
    """Outcomes over all values; where all are missing nothing is known and a value would stay."""
    total = outcomes.sum()
    return np.asarray(outcomes.sum(axis=0) / total) if total else np.array([1.0, 0.0, 0.0])


def _leave_one_out(outcomes: Floats, prior: float) -> float:
    """Log-likelihood of every record's outcome, given those of the others with the same value."""
    row, kind = np.nonzero(outcomes)
    count = outcomes[row, kind]
    others = outcomes.sum(axis=1)[row] - 1
    return float(count @ np.log((count - 1 + prior * _shares(outcomes)[kind]) / (others + prior)))


def _shrunk(outcomes: Floats, prior: float) -> tuple[Floats, Floats]:
    """Probabilities of staying and of suppression for each value."""
    chances = (outcomes + prior * _shares(outcomes)) / (outcomes.sum(axis=1, keepdims=True) + prior)
    return chances[:, 0].copy(), chances[:, 1].copy()


def _stays_missing(still: float, filled: float) -> float:
    """Probability that a missing value is blank in the released file, too."""
    return 1.0 if filled == 0 else (still + 0.5) / (still + filled + 1)
