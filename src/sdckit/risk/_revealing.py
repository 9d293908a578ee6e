"""The search for columns that tell a hidden variable."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import sqrt

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.risk import _sums
from sdckit.risk._clues import mentioned, names_of, same_text
from sdckit.risk._dependence import GROUPS, VALUES, binned, coarse, dependence, telling_together
from sdckit.risk._guesses import Clue, Truth, confidence, right_guesses, right_votes
from sdckit.risk._known_anyway import KnownAnyway, known_anyway, where_it_helps
from sdckit.risk._released_columns import BINS, Hidden, Released
from sdckit.risk._surely_told import SurelyTold

SCREENED = 4_000  # records on which columns are compared before they are taken in pairs, and parts of texts
FITTED = 2_000  # records to which weighted sums are fitted
BEST = 8  # single columns that are taken in pairs, and pairs that tell something only together
PAIR = 2
PAIRED = 2_000  # records in which all pairs of columns are compared
IN_THREES, THREES = 12, 3  # columns that are compared three by three, and threes that are looked at
MOST_TOGETHER = 5  # columns that are taken together
MADE = 4  # sums, products, … of two columns that are tried on all sampled records
MANY_FACTORS = 3  # pairs are tried as they are
LARGEST_LOG = 700.0  # of a number
CLEARLY = 0.05  # by how much several columns must tell more than each alone
SURE = 4.0  # standard errors
MORE = 0.05  # of the hidden values: so many must be told besides those known anyway


@dataclass(frozen=True, slots=True)
class Finding:
    """What some columns tell of a hidden variable, over all records that look as if they might be hidden.

    criterion: 0, the value itself is told; 1, one near it. beside_released: by records that have, too, the
    same released value of the variable itself. changed: share of the records whose value really is hidden.
    z: standard errors by which told is above known_anyway.
    """

    hidden: str
    columns: str
    criterion: int
    beside_released: bool
    records: int
    changed: float
    told: float
    known_anyway: float
    z: float

    @property
    def gain(self) -> float:
        """The share told of what was not known anyway."""
        left = 1 - self.known_anyway
        return max(0.0, (self.told - self.known_anyway) / left) if left > 0 else 0.0

    @property
    def matters(self) -> bool:
        """Whether the difference is no accident, and more than the last few records of a known variable."""
        return self.z > SURE and self.told - self.known_anyway >= MORE * self.changed


@dataclass(frozen=True, slots=True)
class _Sample:
    """Some records with a true value: their truth and what is released."""

    key: tuple[str, int]  # the column it is drawn for, and its size
    drawn: Ints  # places in the sample of the file, which has records without a true value, too
    index: Ints  # places among the records with a true value
    rows: Ints  # places in the file
    truth: Truth
    released: Clue | None
    member: Clue | None
    votes: Ints | None


@dataclass(frozen=True)
class Search:
    """One hidden variable against all released columns. size: records that are sampled. alarm: a gain."""

    released: Released
    hidden: Hidden
    size: int
    alarm: float
    _samples: dict[int, _Sample] = field(default_factory=dict)

    @cached_property
    def surely(self) -> SurelyTold:
        """Who is told with near certainty, by all that was tried so far."""
        return SurelyTold(self.released)

    @property
    def surely_told(self) -> float:
        """Their share of all persons: those of whom no value is hidden are told none."""
        return self.surely.share * int((self._known.classes >= 0).sum()) / self.released.height

    def findings(self, labels: Mapping[object, str]) -> Iterator[Finding]:
        """Single columns, parts of texts, pairs of columns, and what can be reckoned from several.

        labels: of the hidden variable's values.
        """
        singles = {c: self._of_columns([c], self.size) for c in self.released.clues if c != self.hidden.name}
        yield from singles.values()
        yield from self._of_texts(labels)
        quiet = [c for c, f in singles.items() if f.gain < self.alarm or not f.matters]
        highest = max((singles[c].gain for c in quiet), default=0.0)
        size = self.size if self.size >= self.released.height else max(self.size // 2, SCREENED)
        related = self._most_related(quiet)
        pairs = [*combinations(related, 2), *self._together(quiet, PAIR)[:BEST]]
        best: dict[tuple[str, ...], float] = {}
        for pair in dict.fromkeys(pairs):
            finding = self._of_columns(pair, size)
            best[pair] = finding.gain
            if finding.gain > max(singles[c].gain for c in pair) + CLEARLY:
                highest = max(highest, finding.gain)
                yield finding
        for finding in self._of_more(quiet, best, size):
            if finding.gain > highest + CLEARLY:
                highest = finding.gain
                yield finding
        for finding in self._of_sums(set(singles) - set(quiet)):
            if finding.gain > highest + CLEARLY:
                highest = finding.gain
                yield finding

    @cached_property
    def _known(self) -> KnownAnyway:
        return known_anyway(self.hidden)

    @cached_property
    def _repeats(self) -> bool:
        """Whether released values of the variable come often enough to compare records that share one."""
        released = self.hidden.released
        return released is not None and 2 * len(np.unique(released.codes)) <= len(released.codes)

    @cached_property
    def _index(self) -> Ints:
        """For each record of the file its place among those with a true value; −1 where it has none."""
        index = np.full(self.released.height, -1)
        index[self.hidden.rows] = np.arange(len(self.hidden.rows))
        return index

    def _sample(self, columns: Sequence[str], size: int) -> _Sample:
        finest = self.released.finest(columns, size)
        if not finest and size in self._samples:
            return self._samples[size]
        hidden = self.hidden
        index = self._index[self.released.sample(finest, size)]
        drawn = np.flatnonzero(index >= 0)
        index = index[drawn]
        sample = _Sample(
            (finest, min(size, self.released.height)),
            drawn,
            index,
            hidden.rows[index],
            hidden.truth.take(index),
            hidden.released.take(index) if hidden.released is not None and self._repeats else None,
            None if hidden.member is None else hidden.member.take(index),
            None if hidden.votes is None else hidden.votes[index],
        )
        if not finest:
            self._samples[size] = sample
        return sample

    def _of_columns(self, columns: Sequence[str], size: int) -> Finding:
        """What records with the same values in some columns tell, in a sample of so many records."""
        sample = self._sample(columns, size)
        clue, *more = (self.released.clues[c].take(sample.rows) for c in columns)
        for other in more:
            clue = clue.beside(other)
        return self._of_clue(" and ".join(columns), sample, clue)

    def _of_clue(self, label: str, sample: _Sample, clue: Clue) -> Finding:
        """What a clue tells, alone or beside what is released of the variable."""
        truth, member = sample.truth, () if sample.member is None else (sample.member,)
        attacks = [right_guesses(truth, clue, *member)]
        if sample.votes is not None:
            voted = right_votes(truth, clue, sample.votes)
            attacks[0] = [[*found, voted] for found in attacks[0]]
        if sample.released is not None:
            attacks.append(right_guesses(truth, clue, sample.released, *member))
        if truth.values is not None:  # the column is the number itself
            attacks[0] = [
                [*found, same] for found, same in zip(attacks[0], truth.hit(clue.place), strict=True)
            ]
        clues: list[Clue | Ints] = [clue]
        if truth.repeats:
            clues.append(confidence(truth, clue, *member))
        return self._judged(label, sample, attacks, clues)

    def _judged(
        self,
        label: str,
        sample: _Sample,
        attacks: Sequence[Sequence[Sequence[Bools]]],
        clues: Sequence[Clue | Ints] = (),
    ) -> Finding:
        """The largest gain of all attacks, by any criterion.

        attacks: without and with the variable's own release; by each criterion; one or more. clues: what the
        intruder sees of the records besides their columns.
        """
        classes = self._known.classes[sample.index]
        asked = classes >= 0
        changed = float(self.hidden.changed[sample.index][asked].mean()) if asked.any() else 0.0
        findings = []
        for criterion, known in enumerate(self._known.right):
            anyway = known[sample.index][asked]
            for beside, found in enumerate(attacks):
                used = [where_it_helps(right[asked], anyway, classes[asked]) for right in found[criterion]]
                shares, z = _compared(max(used, key=np.count_nonzero), anyway)
                facts = (criterion, bool(beside), len(anyway), changed, *shares, z)
                findings.append(Finding(self.hidden.name, label, *facts))
        pairs = (
            (right[asked], known[sample.index][asked])
            for found in attacks
            for rights, known in zip(found, self._known.right, strict=True)
            for right in rights
        )
        seen = [c.take(asked) if isinstance(c, Clue) else c[asked] for c in clues]
        self.surely.add(label, sample.key, sample.rows[asked], pairs, seen)
        return max(findings, key=lambda f: (f.gain, f.told, -f.criterion, -f.beside_released))

    def _of_texts(self, labels: Mapping[object, str]) -> Iterator[Finding]:
        """Parts of long codes and texts, and texts that say the hidden value as it is."""
        hidden = self.hidden
        size = min(self.size, SCREENED)
        sample = self._sample([], size)
        for column, parts in self.released.texts(size).items():
            if column == hidden.name:
                continue
            for label, clue in parts:
                yield self._of_clue(label, sample, clue.take(sample.drawn))
            here = self.released.frame[column][sample.rows]
            if hidden.truth.values is None:
                named = mentioned(here, names_of(hidden.column, labels))
                if named is not None:
                    yield self._of_clue(f"{column}, what it mentions", sample, named)
            said = same_text(hidden.column[sample.index], here)
            if said.any():
                yield self._judged(column, sample, [[[said]] * hidden.truth.criteria])

    def _most_related(self, columns: Sequence[str]) -> list[str]:
        """The columns on which the hidden variable depends most, whether or not one alone tells its value."""
        sample = self._sample([], min(self.size, SCREENED))
        truth = sample.truth
        x, size = truth.codes, truth.size
        if truth.values is not None and not truth.repeats:
            x, size = binned(x), BINS
        scores = {}
        for column in columns:
            clue = self.released.clues[column]
            codes, groups = clue.codes[sample.rows], clue.size
            if groups * BINS > len(codes):
                codes, groups = binned(codes), BINS
            scores[column] = dependence(x, size, codes, groups)
        return sorted(scores, key=lambda c: -scores[c])[:BEST]

    def _of_more(
        self, columns: Sequence[str], pairs: Mapping[tuple[str, ...], float], size: int
    ) -> Iterator[Finding]:
        """What three and more columns tell: those that do only together, and the best pair with others.

        The digits of a code tell little two by two, and the shares of a secret nothing.
        """
        for three in self._together(columns, PAIR + 1)[:THREES]:
            yield self._of_columns(three, size)
        if not pairs:
            return
        used = max(pairs, key=lambda pair: pairs[pair])
        gain, others = pairs[used], dict.fromkeys(c for pair in pairs for c in pair)
        while gain < self.alarm and len(used) < MOST_TOGETHER:
            further = {(*used, c): self._of_columns((*used, c), size) for c in others if c not in used}
            if not further:
                return
            used = max(further, key=lambda columns: further[columns].gain)
            if further[used].gain <= gain:
                return
            gain = further[used].gain
            yield further[used]

    def _together(self, columns: Sequence[str], count: int) -> list[tuple[str, ...]]:
        """So many columns on which the hidden variable depends together, beyond what each of them tells."""
        sample = self._sample([], min(self.size, PAIRED if count == PAIR else SCREENED))
        x = coarse(sample.truth.codes, sample.truth.size, VALUES)
        most = _sums.MOST_COLUMNS if count == PAIR else IN_THREES
        codes = {c: self._groups(c, sample) for c in columns}
        return telling_together(x, {c: of for c, of in codes.items() if of.any()}, count, most)

    def _groups(self, column: str, sample: _Sample) -> Ints:
        """The values of a column in so few groups that records share those of two columns."""
        clue = self.released.clues[column]
        return coarse(clue.codes[sample.rows], clue.size, GROUPS)

    @property
    def not_combined(self) -> int:
        """Columns of numbers that were not tried in all combinations, as they are too many."""
        numbers = len(self._numbers)
        if self.hidden.truth.values is None or numbers < 2:
            return 0
        if not _sums.can_be_fitted(min(numbers, _sums.MOST_COLUMNS), len(self._fitted(numbers).index)):
            return numbers
        return max(0, numbers - _sums.MOST_COLUMNS)

    @cached_property
    def _numbers(self) -> list[str]:
        """The columns of numbers and dates that have more than one value."""
        kinds = self.released.frame.schema.items()
        named = [c for c, kind in kinds if kind.is_numeric() or kind.is_temporal()]
        return [c for c in named if self.released.clues[c].size > 2]

    def _fitted(self, numbers: int) -> _Sample:
        """The records to which a weighted sum of so many columns is fitted."""
        wanted = max(FITTED, 10 * min(numbers, _sums.MOST_COLUMNS))
        return self._sample([], min(self.size, wanted))

    def _of_sums(self, left_out: set[str]) -> Iterator[Finding]:
        """Sums, differences, products and ratios of two columns, and weighted sums of more."""
        truth = self.hidden.truth
        names = [c for c in self._numbers if c not in left_out][: _sums.MOST_COLUMNS]
        if len(names) < 2 or truth.values is None:
            return
        numbers = {c: self.released.clues[c].place for c in names}
        few = self._sample([], min(self.size, _sums.SCREENED if len(names) <= _sums.MANY else _sums.FEWER))
        values = truth.values[few.index]
        here = {c: place[few.rows] for c, place in numbers.items()}
        sample = self._sample([], self.size)
        pairs = [*_sums.likely_pairs(here, values, MADE), *self._exact_pairs(numbers, sample)]
        for a, operation, b in dict.fromkeys(pairs):
            made = _sums.combined(numbers[a][sample.rows], operation, numbers[b][sample.rows])
            yield self._of_clue(f"{a} {operation} {b}", sample, _as_clue(made))
        yield from self._of_products(numbers)
        sample = self._fitted(len(self._numbers))
        if _sums.can_be_fitted(len(numbers), len(sample.index)) and sample.truth.values is not None:
            here = {c: place[sample.rows] for c, place in numbers.items()}
            used, guess = _sums.by_weighted_sum(here, sample.truth.values, self.hidden.name)
            if len(used) > 1:
                right = [[hit] for hit in sample.truth.hit(guess)]
                yield self._judged(f"a sum of {', '.join(used)}", sample, [right])

    def _of_products(self, numbers: Mapping[str, Floats]) -> Iterator[Finding]:
        """Products and quotients of columns, as an hour's wage, hours and weeks: sums of logarithms."""
        sample = self._fitted(len(self._numbers))
        values = sample.truth.values
        assert values is not None
        above = values > 0
        taken = {c: _sums.logarithms(place[sample.rows]) for c, place in numbers.items()}
        logs = {c: of[above] for c, of in taken.items() if of is not None}
        if len(logs) < MANY_FACTORS or not _sums.can_be_fitted(len(logs), int(above.sum())):
            return
        used, made = _sums.by_weighted_sum(logs, np.log(values[above]), self.hidden.name)
        if len(used) >= MANY_FACTORS:
            guess = np.full(len(values), np.nan)
            guess[above] = np.exp(np.minimum(made, LARGEST_LOG))
            right = [[hit] for hit in sample.truth.hit(guess)]
            yield self._judged(f"a product of {', '.join(used)}", sample, [right])

    def _exact_pairs(self, numbers: Mapping[str, Floats], sample: _Sample) -> list[tuple[str, str, str]]:
        """Two columns that give the very number, in records of which it is not known anyway."""
        values = sample.truth.values
        unknown = ~self._known.right[0][sample.index] & (self._known.classes[sample.index] >= 0)
        asked = self.released.draws().permutation(np.flatnonzero(unknown))[: _sums.ASKED]
        if values is None or not len(asked):
            return []
        here = {c: place[sample.rows[asked]] for c, place in numbers.items()}
        return _sums.exact_pairs(here, values[asked], sample.truth.slack[0][asked], MADE)


def _compared(told: Bools, anyway: Bools) -> tuple[tuple[float, float], float]:
    """The shares that two attacks find, and the standard errors of their difference (McNemar)."""
    if not len(told):
        return (0.0, 0.0), 0.0
    more, fewer = int((told & ~anyway).sum()), int((anyway & ~told).sum())
    z = (more - fewer) / sqrt(more + fewer) if more + fewer else 0.0
    return (float(told.mean()), float(anyway.mean())), z


def _as_clue(made: Floats) -> Clue:
    """A number that was reckoned; what differs by an error of rounding is the same."""
    present = ~np.isnan(made)
    step = 1e-12 * float(np.abs(made[present]).max(initial=0.0)) or 1.0
    codes = np.unique(np.round(made / step), return_inverse=True, equal_nan=True)[1].astype(np.int64)
    return Clue(codes, int(codes.max(initial=0)) + 1, made)
