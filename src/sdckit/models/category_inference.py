"""What an intruder who knows a person's keys learns about a sensitive category, the record found or not."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Floats, Ints
from sdckit.models._key_cells import KeyCells, key_cells
from sdckit.models._key_looks import Carried, Looks, TooManyCells, look, odds_beyond_series, series
from sdckit.models.attribute_inference import AttributeInference
from sdckit.models.category_channel import CategoryChannel
from sdckit.models.key_intruder import own_likelihood
from sdckit.models.key_pairs import KeyPairs

MOST_PROBABILITIES = 50_000_000  # person cells × sensitive values kept in memory
_TIE = 1e-9
_Codes = npt.NDArray[np.signedinteger]


def infer_category(
    pairs: KeyPairs,
    true: _Codes,
    shown: _Codes,
    size: int,
    channels: Sequence[CategoryChannel] | None = None,
) -> AttributeInference | TooManyCells:
    """Infer a sensitive category from the keys: q(s) = Σ_j ρ_j·b(s | released value of record j).

    ρ is the posterior of the attack on keys, b(s | z) = N(s, z)/N(z) the share of true values s among records
    that show z (1 for s = z if the column was released as it is). `true` and `shown` are codes below `size`;
    −1 is missing or blank. Rows of `pairs` must have one true and one shown value each. Where persons were
    left out, what is missing in ρ to 1 is filled by the shares of the whole file.
    """
    known = pairs.channels() if channels is None else channels
    cells, in_file = key_cells(pairs, known), pairs.in_file
    value = np.where(true < 0, size, true).astype(np.int64)
    label = np.where(shown < 0, size, shown).astype(np.int64)
    number = len(cells.records.block)
    joint = np.bincount((label * number + cells.record)[in_file], pairs.count[in_file], (size + 1) * number)
    released = np.flatnonzero(np.bincount(label[in_file], minlength=size + 1))
    payload = joint.reshape(size + 1, number)[released].astype(np.float64)
    if len(released) * len(cells.persons.block) > MOST_PROBABILITIES:
        return TooManyCells(cells.tensor_cells, 0)
    people = cells.per_person_cell(pairs.count)
    looks = look(cells, Carried(people, payload.sum(axis=0), payload, len(released), pairs.complete))
    if isinstance(looks, TooManyCells):
        return looks
    backward = _backward(value[in_file], label[in_file], pairs.count[in_file], size)[:, released]
    place = np.searchsorted(released, np.where(in_file, label, released[0] if len(released) else 0))
    return _inference(pairs, cells, looks, _Sensitive(value, place, backward, size), known)


@dataclass(frozen=True, slots=True)
class _Sensitive:
    value: Ints  # [p] true value, `size` if missing
    place: Ints  # [p] place of the own record's value among the released ones
    backward: Floats  # [size + 1, released]
    size: int


def _backward(value: Ints, label: Ints, count: Floats, size: int) -> Floats:
    """b(s | z): shares of true values among the records that show z."""
    joint = np.bincount(value * (size + 1) + label, count, (size + 1) ** 2).reshape(size + 1, size + 1)
    return np.asarray(joint / np.maximum(joint.sum(axis=0), 1e-300))


def _inference(
    pairs: KeyPairs, cells: KeyCells, looks: Looks, sensitive: _Sensitive, channels: Sequence[CategoryChannel]
) -> AttributeInference:
    value, backward = sensitive.value, sensitive.backward
    counted = np.where(value < sensitive.size, pairs.count, 0.0)
    shares = np.bincount(value, counted, sensitive.size + 1) / max(counted.sum(), 1e-300)
    beyond, at, in_file = odds_beyond_series(looks.best_share), cells.person, looks.in_file
    weights = looks.sums + looks.share_payload * np.where(looks.best_share > 0, beyond, 0.0)
    total = weights.sum(axis=0)
    scale = np.divide(in_file, total, out=np.zeros_like(total), where=total > 0)
    rest = np.where(total > 0, 1 - in_file, 1.0)
    chances = (backward @ weights) * scale + shares[:, None] * rest
    largest = chances[: sensitive.size].max(axis=0, initial=0.0)
    ties = chances[: sensitive.size] >= largest * (1 - _TIE)
    likeliest = ties.sum(axis=0)[at]
    known = np.minimum(value, sensitive.size - 1)
    without = _without_own(cells, looks, sensitive, own_likelihood(pairs, channels), shares[value])
    return AttributeInference(
        counted,
        chances[value, at],
        without,
        largest[at],
        ties[known, at] / np.maximum(likeliest, 1),
        shares[value],
        float(shares.max(initial=0.0)),
    )


def _without_own(
    cells: KeyCells, looks: Looks, sensitive: _Sensitive, own: Floats, known_anyway: Floats
) -> Floats:
    """Probability of the true value, had the person not taken part.

    The odds are then the shares of all others' records, L/(U − L); what their sum lacks to 1 is the chance
    that the person is not in the file, and only the share of the value is known. The own record is taken out
    of the counts before these are multiplied by odds, which may be huge.
    """
    at, value, place, backward = cells.person, sensitive.value, sensitive.place, sensitive.backward
    expected, best = looks.expected[cells.record], looks.best_share[at]
    share = np.divide(own, expected, out=np.zeros_like(own), where=(own > 0) & (expected > 0))
    is_best = (share > 0) & (share >= (1 - 1e-8) * best)
    beyond = np.where(best > 0, odds_beyond_series(best), 0.0)
    own_series = np.where(is_best, series(best), series(share))
    right, total = np.zeros(len(own)), np.zeros(len(own))
    for kind in range(len(looks.sums)):
        mine = place == kind
        others = np.maximum(looks.sums[kind][at] - np.where(mine, own_series, 0.0), 0.0)
        others[others < 1e-9 * looks.sums[kind][at]] = 0.0  # rounding
        others += np.maximum(looks.share_payload[kind][at] - (mine & is_best), 0.0) * beyond
        right += backward[value, kind] * others
        total += others
    return right / np.maximum(total, 1.0) + known_anyway * np.maximum(1 - total, 0.0)
