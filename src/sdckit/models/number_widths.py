"""How much of the line belongs to each released value of a number: Δ of its channel."""

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit.models.number_channel import NumberChannel
from sdckit.models.number_column import NumberColumn

NEIGHBOURS = 5  # released values either side


def masses_of_values(channel: NumberChannel, released: NumberColumn) -> Floats:
    """ΔT: the width of the transformed line that belongs to each of the different released values.

    Ranks are flat outside the known values, so that a width has a least value.
    """
    moved = channel.transform.value(released.distinct)
    new = np.append(True, moved[1:] != moved[:-1])[: moved.size]
    place = np.cumsum(new) - 1
    together = np.bincount(place, released.count, int(new.sum()))
    width = _widths(moved[new], together)
    least = 1e-3 * float(width @ together) / max(float(together.sum()), 1.0)
    return np.asarray(np.maximum(width, least)[place])


def widths_of_values(released: NumberColumn) -> Floats:
    """The width of the line that belongs to each of the different values, more for values released often.

    Of a value with five others either side: what lies between those, by its share of the records there.

    >>> widths_of_values(NumberColumn(np.array([1.0, 2.0, 3.0, 3.0]))).round(3)
    array([0.8, 0.8, 1.6])
    """
    return _widths(released.distinct, released.count)


def _widths(values: Floats, count: Floats | Ints) -> Floats:
    if values.size < 2:
        return np.ones(values.size)
    at = np.arange(values.size)
    low, high = (at - NEIGHBOURS).clip(min=0), (at + NEIGHBOURS).clip(max=values.size - 1)
    up_to = np.cumsum(count)
    # the first and the last of the window only count half: the window ends in the middle of them
    between = up_to[high] - up_to[low] + (count[low] - count[high]) / 2.0
    return np.asarray(count * (values[high] - values[low]) / between)
