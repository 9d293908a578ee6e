"""The attack of an intruder who knows the keys of all members of a household."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.models._household_attack import (
    BELIEVED,
    HAS_OWN,
    HAS_OWN_LIKELY,
    POSTERIOR,
    RECORDS,
    RECORDS_LIKELY,
    SETTLED,
    all_pairs,
    sampled_targets,
)
from sdckit.models._household_cells import Households, SizeClass, member_cells, size_classes
from sdckit.models.category_channel import CategoryChannel, category_channel
from sdckit.models.key_intruder import BestRecords, KeyAttack
from sdckit.models.key_pairs import KeyPairs

MOST_PAIRS = 5_000_000  # of households, beyond which targets are sampled
APART = 200  # households that are attacked as well, as fewest others can be theirs


@dataclass(frozen=True, slots=True, eq=False)
class HouseholdAttack:
    """What the intruder finds of the target households; arrays of the attacks are over `targets`."""

    households: Ints  # [targets] labels
    total: int  # households in the file
    any_order: KeyAttack  # members matched in all ways
    by_place: KeyAttack | None  # members matched in the order of the file, where that was released
    settled: Bools  # [targets] whether no record household is left that could look better
    shared: tuple[int, ...]  # keys that are household variables
    channels: tuple[CategoryChannel, ...]  # of all keys; of household variables learned over households
    drawn: Bools  # [targets] who was drawn at random, or is attacked with all others

    @property
    def strongest(self) -> KeyAttack:
        """The attack that finds more."""
        if self.by_place is not None and self.by_place.expected_links > self.any_order.expected_links:
            return self.by_place
        return self.any_order

    @property
    def sampling_error(self) -> float:
        """Standard error of the share found, because only some households are targets."""
        found = self.strongest.found[self.drawn]
        if len(found) < 2 or len(found) == self.total:
            return 0.0
        return float(np.std(found, ddof=1) / np.sqrt(len(found)) * np.sqrt(1 - len(found) / self.total))


def attack_households(
    pairs: KeyPairs,
    household: Ints,
    *,
    ordered: bool,
    rng: np.random.Generator,
    targets: int = 300,
    images: Sequence[Ints | None] | None = None,
    channels: Sequence[CategoryChannel] | None = None,
) -> HouseholdAttack:
    """Attack households by the keys of all their members; the candidates are released ones of the same size.

    L_hg = Π m(y_g | x_h) over household variables · mean over permutations σ of Π_a Π m(y_{g,σ(a)} | x_{h,a})
    over personal ones; then shares, odds and best households as for persons. A household variable (constant
    in every household, and released values that are shown agree) counts once, and one member who shows it is
    enough. With more than eight members the best matching stands for the mean. `pairs` has one row a
    person, `household` a label for each; `ordered` says that members are released in the order they have
    in the original. Members without a record are taken for unknown, unless the whole household has none.
    Channels are learned from the pairs, with maps of the log as `images`, unless given.
    All households are targets where this is quick, else a random sample of `targets`, and those with the
    fewest others of their size and with their unchanged keys: a sample may have none of those who are alone.
    """
    homes = Households.of(pairs, household)
    known = _channels(pairs, homes, images) if channels is None else tuple(channels)
    cells, chances = member_cells(
        homes, tuple(known[v] for v in homes.personal), tuple(known[v] for v in homes.shared)
    )
    variants = [
        size_classes(homes, cells, chances, by_place) for by_place in ([False, True] if ordered else [False])
    ]
    effort = sum(part.effort for part in variants[0])
    number = len(homes.labels)
    drawn = chosen = np.arange(number)
    if effort > MOST_PAIRS and number > targets:
        drawn = np.sort(rng.choice(number, targets, replace=False))
        chosen = np.union1d(drawn, _apart(variants[0], number, rng))
    results = [_attack(homes, parts, chosen, rng) for parts in variants]
    settled = np.all([result[1] for result in results], axis=0)
    return HouseholdAttack(
        homes.labels[chosen],
        number,
        results[0][0],
        results[1][0] if ordered else None,
        settled,
        tuple(homes.shared),
        known,
        np.isin(chosen, drawn),
    )


def _apart(parts: Sequence[SizeClass], number: int, rng: np.random.Generator) -> Ints:
    """The households with the fewest others in their block, at random among equals."""
    alike = np.zeros(number)
    for part in parts:
        alike[part.households] = np.repeat(np.diff(part.bounds), np.diff(part.bounds))
    return np.lexsort((rng.random(number), alike))[:APART]


def any_member(chances: Floats, household: Ints) -> tuple[Ints, Floats]:
    """Labels of households, and 1 − Π(1 − r) over their members: the chance that somebody is found.

    With the members' r* this is the risk of a household whose intruder does not know who is in the file; with
    what is found of them one by one, that of a file whose household numbers are not released.
    """
    labels, number = np.unique(household, return_inverse=True)
    with np.errstate(divide="ignore"):
        nobody = np.bincount(number, np.log1p(-np.minimum(chances, 1.0)), len(labels))
    return labels, -np.expm1(nobody)


def _channels(
    pairs: KeyPairs, homes: Households, images: Sequence[Ints | None] | None
) -> tuple[CategoryChannel, ...]:
    """Learned over persons, but over households for household variables."""
    learned = list(pairs.channels(images))
    known = [None] * len(pairs.sizes) if images is None else images
    released = homes.released
    together = homes.shown_together()
    for place, v in enumerate(homes.shared):
        true = homes.x[homes.start, v][released]
        learned[v] = category_channel(true, together[released, place], pairs.sizes[v], image=known[v])
    return tuple(learned)


def _attack(
    homes: Households, parts: list[SizeClass], chosen: Ints, rng: np.random.Generator
) -> tuple[KeyAttack, Bools]:
    """One variant, for the chosen households."""
    figures = np.zeros((7, len(homes.labels)))
    wanted = np.zeros(len(homes.labels), bool)
    wanted[chosen] = True
    complete = bool(homes.released.all())
    for part in parts:
        figures[:, part.households] = _all_alike(part, homes.released, complete)
        for number in np.flatnonzero(~part.alike).tolist():
            rows = part.households[part.bounds[number] : part.bounds[number + 1]]
            mine = np.flatnonzero(wanted[rows])
            if not len(mine):
                continue
            block = part.block(number)
            if block.pairs <= MOST_PAIRS:
                figures[:, rows] = all_pairs(block, complete)
            else:
                figures[:, rows[mine]] = sampled_targets(block, mine, complete, rng)
    figures = figures[:, chosen]
    by_odds = BestRecords(figures[HAS_OWN] > 0, figures[RECORDS], figures[RECORDS])
    by_likelihood = BestRecords(figures[HAS_OWN_LIKELY] > 0, figures[RECORDS_LIKELY], figures[RECORDS_LIKELY])
    attack = KeyAttack(
        np.ones(len(chosen)),
        by_odds,
        by_likelihood,
        np.minimum(figures[BELIEVED], 1.0),
        np.minimum(figures[POSTERIOR], 1.0),
    )
    return attack, figures[SETTLED] > 0


def _all_alike(part: SizeClass, released: Bools, complete: bool) -> Floats:
    """Figures of households whose block has one true and one released combination: all look the same."""
    lengths = np.diff(part.bounds)
    kept = released[part.households].astype(np.float64)
    number = np.repeat(np.add.reduceat(kept, part.bounds[:-1]), lengths)
    believed = np.divide(1.0, number, out=np.zeros_like(number), where=number > 0)
    if not complete:
        believed *= number / np.repeat(lengths, lengths)
    return np.stack([kept, number, kept, number, believed, believed * kept, np.ones(len(kept))])
