"""Sums and maxima of a product of category channels over all combinations of keys, one key at a time.

Persons fill a tensor with one axis for each key that was changed and a last axis for blocks (combinations
of the keys that were not); released records fill a second one. A channel has the structure diagonal plus
rank one plus a blank column, so that a product along an axis costs as much as reading the tensor. Tensors
are flat arrays; every product takes the first axis and puts it last, which in the end leaves blocks in front.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]

TIE = 1e-9  # relative difference below which two likelihoods are equal
_SLAB = 250_000  # numbers worked on at a time: the temporary arrays fit into the cache


class Axis(NamedTuple):
    """The channel of one key, between its X true and Y released values that occur."""

    same: _Ints  # [X] place of the true value among the shown released ones; −1 if it is not released
    stay: _Floats  # [X] probability of being released as it is
    suppressed: _Floats  # [X]
    spread: _Floats  # [X] probability of moving to y is spread · pull(y)
    pull: _Floats  # [shown Y]
    blank: bool  # whether blanks occur; blank is then the last released value

    @property
    def released(self) -> int:
        """Length of the axis in the tensor of records."""
        return len(self.pull) + self.blank

    def row(self, value: int) -> _Floats:
        """m(y | x) of one true value for all released ones."""
        chances = self.spread[value] * self.pull
        if self.same[value] >= 0:
            chances[self.same[value]] = self.stay[value]
        return np.append(chances, self.suppressed[value]) if self.blank else chances

    def power(self, exponent: int) -> "Axis":
        """The axis whose probabilities are powers of these; it has the same structure."""
        chances = (self.stay**exponent, self.suppressed**exponent, self.spread**exponent, self.pull**exponent)
        return Axis(self.same, *chances, self.blank)


def expected_records(persons: _Floats, axes: list[Axis]) -> _Floats:
    """Σ over persons of m(y | x): [X…, blocks] → [blocks, Y…]."""
    for axis in axes:
        wide = persons.reshape(len(axis.same), -1)
        out = np.empty((wide.shape[1], axis.released))
        for low, high in _slabs(wide.shape[1], max(wide.shape[0], axis.released)):
            out[low:high] = _forward(wide[:, low:high], axis).T
        persons = out.reshape(-1)
    return persons


def _forward(wide: _Floats, axis: Axis) -> _Floats:
    out = np.zeros((axis.released, wide.shape[1]))
    shown, has = len(axis.pull), axis.same >= 0
    moved = axis.spread @ wide
    if axis.spread.any():
        out[:shown] = axis.pull[:, None] * moved
        # a value does not move to itself; rounding must not leave a negative rest
        others = np.maximum(moved - axis.spread[has, None] * wide[has], 0.0)
        out[axis.same[has]] = axis.pull[axis.same[has], None] * others
    out[axis.same[has]] += axis.stay[has, None] * wide[has]
    if axis.blank:
        out[shown] = axis.suppressed @ wide
    return out


def sum_over_records(values: _Floats, axes: list[Axis]) -> _Floats:
    """Σ over records of their value times m(y | x): [Y…, blocks] → [blocks, X…]."""
    for axis in axes:
        wide = values.reshape(axis.released, -1)
        out = np.empty((wide.shape[1], len(axis.same)))
        for low, high in _slabs(wide.shape[1], max(len(axis.same), axis.released)):
            out[low:high] = _back(wide[:, low:high], axis).T
        values = out.reshape(-1)
    return values


def _back(wide: _Floats, axis: Axis) -> _Floats:
    shown, has = len(axis.pull), axis.same >= 0
    moved = axis.pull @ wide[:shown]
    others = np.repeat(moved[None, :], len(has), axis=0)
    others[has] = np.maximum(moved - axis.pull[axis.same[has], None] * wide[axis.same[has]], 0.0)
    out = axis.spread[:, None] * others
    out[has] += axis.stay[has, None] * wide[axis.same[has]]
    if axis.blank:
        out += axis.suppressed[:, None] * wide[shown]
    return out


def best_over_records(values: _Floats, payload: _Floats, axes: list[Axis]) -> tuple[_Floats, _Floats]:
    """The largest value times m(y | x), and the payload of the records that attain it.

    values [Y…, blocks], payload [K, Y…, blocks] → [blocks, X…], [K, blocks, X…]. Records that differ from the
    largest by a factor of less than 1 − TIE attain it. Where the largest is 0 the payload means nothing.
    """
    kinds = len(payload)
    for axis in axes:
        wide, carried = values.reshape(axis.released, -1), payload.reshape(kinds, axis.released, -1)
        length = wide.shape[1]
        best, held = np.empty((length, len(axis.same))), np.empty((kinds, length, len(axis.same)))
        for low, high in _slabs(length, kinds * max(len(axis.same), axis.released)):
            top, with_it = _best(wide[:, low:high], carried[:, :, low:high], axis)
            best[low:high] = top.T
            held[:, low:high] = with_it.transpose(0, 2, 1)
        values, payload = best.reshape(-1), held.reshape(kinds, -1)
    return values, payload


def _best(wide: _Floats, carried: _Floats, axis: Axis) -> tuple[_Floats, _Floats]:
    shown, has = len(axis.pull), axis.same >= 0
    place = np.maximum(axis.same, 0)
    held = carried[:, place]
    best = np.where(has, axis.stay, 0.0)[:, None] * wide[place]
    if axis.spread.any():
        pulled = axis.pull[:, None] * wide[:shown]
        top, near, top_held = _top(pulled, carried[:, :shown])
        second, _, second_held = _top(np.where(near, 0.0, pulled), carried[:, :shown])
        own = near[place] & has[:, None]
        alone = own & (np.count_nonzero(near, axis=0) == 1)
        other = axis.spread[:, None] * np.where(alone, second, top)
        other_held = np.where(alone, second_held[:, None], top_held[:, None] - np.where(own, held, 0.0))
        best, held = better(best, held, other, other_held)
    if axis.blank:
        best, held = better(best, held, axis.suppressed[:, None] * wide[shown], carried[:, shown, None])
    return best, held


def _top(values: _Floats, carried: _Floats) -> tuple[_Floats, npt.NDArray[np.bool_], _Floats]:
    """The largest of each column, where it is attained, and the payload there."""
    top = values.max(axis=0)
    near = values >= top * (1 - TIE)
    return top, near, np.einsum("yc,kyc->kc", near, carried)


def better(best: _Floats, held: _Floats, other: _Floats, other_held: _Floats) -> tuple[_Floats, _Floats]:
    """The larger of two values with its payload; both payloads where they tie."""
    largest = np.maximum(best, other)
    least = largest * (1 - TIE)
    return largest, np.where(best >= least, held, 0.0) + np.where(other >= least, other_held, 0.0)


def _slabs(length: int, height: int) -> list[tuple[int, int]]:
    """Ranges of columns whose slab of this height is small enough."""
    step = max(_SLAB // max(height, 1), 1)
    return [(low, min(low + step, length)) for low in range(0, length, step)]
