"""The attack of an intruder who knows a person's true keys and how the file was protected."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from sdckit._support.arrays import Bools, Floats
from sdckit.models._key_cells import key_cells
from sdckit.models._key_looks import Carried, TooManyCells, look, odds, odds_beyond_series
from sdckit.models.category_channel import CategoryChannel
from sdckit.models.cell_risk import Method, cell_risk
from sdckit.models.key_pairs import KeyPairs

ROUNDING = 1e-9  # of probabilities: 9 of 10 is sure at .9
_TIE = 1e-8  # the own record is among the best if it comes as near as this


class Attack(StrEnum):
    """By what an intruder ranks the released records."""

    ODDS = "odds"  # likelihood, divided by what all others would produce
    LIKELIHOOD = "likelihood"


@dataclass(frozen=True, eq=False)
class BestRecords:
    """The released records T that look most like a person's, in one attack: arrays over the pairs."""

    has_own: Bools  # whether the person's own record is among them
    records: Floats  # |T|
    weight: Floats  # sum of their weights

    @cached_property
    def found(self) -> Floats:
        """Probability that a pick at random among the best is the own record."""
        return np.where(self.has_own, 1 / np.maximum(self.records, 1.0), 0.0)

    def risk(self, method: Method) -> Floats:
        """Individual risk R(|T|, W) of the set, if the own record is among it."""
        risk = np.zeros(len(self.records))
        own = self.has_own
        risk[own] = cell_risk(self.records[own], self.weight[own], method)
        return risk


@dataclass(frozen=True, eq=False)
class KeyAttack:
    """What the intruder finds: arrays over the pairs, each of which stands for `count` persons.

    `believed` is the probability the intruder himself gives to his pick, `posterior` the one he gives to the
    person's own record; both from the odds. What he finds is an outcome, counted by the data holder.
    """

    count: Floats
    odds: BestRecords
    likelihood: BestRecords
    believed: Floats
    posterior: Floats

    @property
    def persons(self) -> float:
        """Number of persons."""
        return float(self.count.sum())

    @cached_property
    def strongest(self) -> Attack:
        """The attack that finds more persons."""
        by_odds, by_likelihood = self.count @ self.odds.found, self.count @ self.likelihood.found
        return Attack.LIKELIHOOD if by_likelihood > by_odds else Attack.ODDS

    @property
    def best(self) -> BestRecords:
        """The best records of the strongest attack."""
        return self.likelihood if self.strongest is Attack.LIKELIHOOD else self.odds

    @property
    def found(self) -> Floats:
        """Probability of finding each person, by the strongest attack."""
        return self.best.found

    @property
    def expected_links(self) -> float:
        """Number of persons found."""
        return float(self.count @ self.found)

    @property
    def value(self) -> float:
        """Share of persons found."""
        return self.expected_links / self.persons

    @property
    def standard_error(self) -> float:
        """Of `value`, over draws of the protection."""
        return float(np.sqrt(self.count @ (self.believed * (1 - self.believed)))) / self.persons

    def claims(self, sure: float) -> float:
        """Number of persons about whom the intruder is at least so sure."""
        return float(self.count @ (self.believed >= sure - ROUNDING))

    def claims_right(self, sure: float) -> float:
        """How many of these claims are right."""
        return float((self.count * self.odds.found) @ (self.believed >= sure - ROUNDING))

    def risks(self, method: Method = Method.APPROX) -> Floats:
        """r* of an intruder who does not know who is in the file, by the attack with the larger sum."""
        by_odds, by_likelihood = self.odds.risk(method), self.likelihood.risk(method)
        return by_likelihood if self.count @ by_likelihood > self.count @ by_odds else by_odds


def attack_keys(
    pairs: KeyPairs, channels: Sequence[CategoryChannel] | None = None
) -> KeyAttack | TooManyCells:
    """Attack every person by the true keys.

    L_ij = Π_v m_v(y_jv | x_iv) and U_j = Σ_l L_lj over all persons. The share s_ij = L_ij/U_j says how
    likely it is that person i, of all persons, produced record j; the odds s/(1 − s), normalised over the
    records, are the intruder's posterior. He picks the record with the largest share, or by likelihood
    alone. `channels` are learned from the pairs unless given. Exact for all persons, but that in the sum of
    the odds those of records which are neither the best nor the own one are cut after the third power of
    the share: `believed` and `posterior` come out a little too high.
    """
    known = pairs.channels() if channels is None else channels
    cells = key_cells(pairs, known)
    weight = pairs.count if pairs.weight is None else pairs.weight
    records = cells.per_record_cell(pairs.count, pairs.in_file)
    payload = np.stack([records, cells.per_record_cell(weight, pairs.in_file)])
    looks = look(cells, Carried(cells.per_person_cell(pairs.count), records, payload, 1, pairs.complete))
    if isinstance(looks, TooManyCells):
        return looks
    own = own_likelihood(pairs, known)
    own_expected, like_own = looks.expected[cells.record], records[cells.record]
    share = np.divide(own, own_expected, out=np.zeros_like(own), where=(own > 0) & (own_expected > 0))
    at = cells.person
    by_odds = _best_records(share, looks.best_share[at], looks.share_payload[:, at])
    by_likelihood = _best_records(own, looks.best_likelihood[at], looks.likelihood_payload[:, at])
    total = (looks.sums[0] + looks.share_payload[0] * odds_beyond_series(looks.best_share))[at]
    total += np.where(by_odds.has_own, 0.0, like_own * odds_beyond_series(share))
    scale = np.divide(looks.in_file[at], total, out=np.zeros_like(total), where=by_odds.records > 0)
    best_odds = odds(looks.best_share)[at]
    own_odds = np.where(by_odds.has_own, best_odds, odds(share))
    return KeyAttack(
        pairs.count,
        by_odds,
        by_likelihood,
        np.minimum(best_odds * scale, 1.0),
        np.minimum(own_odds * scale, 1.0),
    )


def own_likelihood(pairs: KeyPairs, channels: Sequence[CategoryChannel]) -> Floats:
    """L of every person's own record; 0 without one."""
    own = pairs.in_file.astype(np.float64)
    for v, channel in enumerate(channels):
        own *= channel.likelihood(pairs.x[:, v], pairs.y[:, v])
    return own


def _best_records(own: Floats, best: Floats, payload: Floats) -> BestRecords:
    has_own = (own > 0) & (own >= (1 - _TIE) * best)
    records, weight = np.where(best > 0, payload, 0.0)  # nobody could have produced what is not released
    return BestRecords(has_own, records, weight)
