"""Attacks on one block of households: all against all, or targets against those that could look best."""

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.models._household_cells import Block
from sdckit.models._key_looks import odds

REFERENCES = 50  # households that tell roughly how many households would produce a released one
CAP = 20  # released households looked at exactly for one target
_AT_ONCE = 5
_TIE = 1e-8

# Rows of the figures an attack gives for each household
HAS_OWN, RECORDS, HAS_OWN_LIKELY, RECORDS_LIKELY, BELIEVED, POSTERIOR, SETTLED = range(7)


def all_pairs(block: Block, complete: bool) -> Floats:
    """Figures [7, households] from the whole matrix of likelihoods, exact."""
    likelihood = block.likelihood(np.arange(len(block.true.number)), np.arange(len(block.shown.number)))
    expected = block.true.number @ likelihood
    share = likelihood / np.where(expected > 0, expected, 1.0)
    ratio, number = odds(share), block.shown.number
    total = ratio @ number
    chance = np.ones(len(total)) if complete else np.minimum(share @ number, 1.0)
    scale = np.divide(chance, total, out=np.zeros_like(total), where=total > 0)
    best, likely = _best(share), _best(likelihood)
    true, own = block.true_cell, np.maximum(block.shown_cell, 0)
    released = block.shown_cell >= 0
    return np.stack(
        [
            best[true, own] & released,
            (best @ number)[true],
            likely[true, own] & released,
            (likely @ number)[true],
            (ratio.max(axis=1, initial=0.0) * scale)[true],
            np.where(released, ratio[true, own] * scale[true], 0.0) if len(number) else np.zeros(len(true)),
            np.ones(len(true)),
        ]
    )


def _best(values: Floats) -> Bools:
    """Where the largest of each row is attained."""
    largest = values.max(axis=1, keepdims=True, initial=0.0)
    return np.asarray((values > 0) & (values >= (1 - _TIE) * largest))


def sampled_targets(block: Block, targets: Ints, complete: bool, rng: np.random.Generator) -> Floats:
    """Figures [7, targets] for some households of a block, without the whole matrix.

    The share of a released household g that is not the target's own is at most L/(L + likelihood of g's own).
    Those whose bound reaches the own share are looked at in the order of a rough share, at most CAP of them.
    A target is settled, and the result exact, when none is left whose bound reaches the best share found.
    """
    field = _Field(block, rng)
    return np.stack([field.attack(int(target), complete) for target in targets], axis=1)


class _Field:
    """Released households of a block with what is known of U, kept from target to target."""

    def __init__(self, block: Block, rng: np.random.Generator) -> None:
        self._block = block
        released = block.shown_cell >= 0
        own = block.likelihood_of_pairs(block.true_cell[released], block.shown_cell[released])
        cells = len(block.shown.number)
        self._own_total = np.bincount(block.shown_cell[released], own, cells)
        persons = block.true.number
        drawn = rng.choice(len(persons), REFERENCES, p=persons / persons.sum())
        rough = block.likelihood(drawn, np.arange(cells)).sum(axis=0) * persons.sum() / REFERENCES
        self._rough = self._own_total + rough
        self._expected = np.full(cells, np.nan)

    def _learn(self, cells: Ints) -> None:
        """U of these released households."""
        unknown = cells[np.isnan(self._expected[cells])]
        if len(unknown):
            block = self._block
            likelihood = block.likelihood(np.arange(len(block.true.number)), unknown)
            self._expected[unknown] = block.true.number @ likelihood

    def attack(self, target: int, complete: bool) -> Floats:
        block = self._block
        own, number = int(block.shown_cell[target]), block.shown.number
        row = block.likelihood(block.true_cell[target : target + 1], np.arange(len(number)))[0]
        share = np.full(len(row), np.nan)
        if own >= 0:
            self._learn(np.array([own]))
            share[own] = row[own] / self._expected[own] if row[own] > 0 else 0.0
        bound = row / np.maximum(row + self._own_total, 1e-300)
        rough = row / np.maximum(row + self._rough, 1e-300)
        settled = self._look(row, bound, rough, share)
        looked = ~np.isnan(share)
        top = np.max(share[looked], initial=0.0)
        best = looked & (share > 0) & (np.nan_to_num(share) >= (1 - _TIE) * top)
        likely = (row > 0) & (row >= (1 - _TIE) * row.max(initial=0.0))
        guessed = np.where(looked, share, rough)
        ratio = odds(guessed)
        total = ratio @ number
        chance = 1.0 if complete else min(float(guessed @ number), 1.0)
        scale = chance / float(total) if total > 0 else 0.0
        return np.array(
            [
                own >= 0 and best[own],
                best @ number,
                own >= 0 and likely[own],
                likely @ number,
                odds(np.array([top]))[0] * scale,
                ratio[own] * scale if own >= 0 else 0.0,
                settled,
            ]
        )

    def _look(self, row: Floats, bound: Floats, rough: Floats, share: Floats) -> bool:
        """Fill in shares of contenders; whether none was left out."""
        best = np.max(share[~np.isnan(share)], initial=0.0)
        contenders = np.flatnonzero((row > 0) & np.isnan(share) & (bound >= (1 - _TIE) * best))
        contenders = contenders[np.argsort(-rough[contenders], kind="stable")]
        looked = 0
        while len(contenders) and looked < CAP:
            now = contenders[:_AT_ONCE]
            self._learn(now)
            share[now] = row[now] / self._expected[now]
            best, looked = max(best, share[now].max()), looked + len(now)
            contenders = contenders[_AT_ONCE:]
            contenders = contenders[bound[contenders] >= (1 - _TIE) * best]
        return not len(contenders)
