"""Tables of matching records when a missing key matches any value."""

import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import jit
from sdckit.kernels.keys import bit_layout, pack, pack_words
from sdckit.kernels.wildcard import _same_group


def wildcard_tables(codes: npt.NDArray[np.int32], values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """For every cell the column sums of values [c, v] over the cells it matches, itself included.

    codes [c, q], -1 for missing: cells match when they agree on every key where neither is missing. As
    `wildcard_counts`, with many columns for the price of one search: O(patterns · cells · v).
    """
    present = codes >= 0
    layout = bit_layout(codes)
    _, first, pattern = np.unique(pack(np.where(present, 0, -1)), return_index=True, return_inverse=True)
    order = np.argsort(pattern, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(pattern, minlength=len(first)))]).astype(np.int64)
    packed = np.take(pack_words(codes, layout), order, axis=1)
    totals = np.empty_like(values)
    totals[order] = _totals(packed, layout.mask(present[first]), starts, values[order])
    return totals


@jit
def _totals(
    packed: npt.NDArray[np.int64],
    masks: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """The sums by cell; packed [words, c] and values [c, v] are sorted by missing pattern as in `starts`."""
    totals = np.zeros_like(values)
    for p in range(len(starts) - 1):
        for q in range(p, len(starts) - 1):
            small, large = p, q
            if starts[p + 1] - starts[p] > starts[q + 1] - starts[q]:
                small, large = q, p
            s0, s1, l0, l1 = starts[small], starts[small + 1], starts[large], starts[large + 1]
            if p == q:  # all is said once the cells are grouped among themselves
                l1 = l0
            in_small, in_large = _same_group(packed[:, s0:s1], packed[:, l0:l1], masks[p] & masks[q])
            here = np.zeros((s1 - s0, values.shape[1]))
            _add(here, in_small, values[s0:s1])
            if p == q:
                _give(totals[s0:s1], in_small, here)
            else:
                there = np.zeros((s1 - s0, values.shape[1]))
                _add(there, in_large, values[l0:l1])
                _give(totals[l0:l1], in_large, here)
                _give(totals[s0:s1], in_small, there)
    return totals


@jit
def _add(
    sums: npt.NDArray[np.float64], group: npt.NDArray[np.int64], values: npt.NDArray[np.float64]
) -> None:
    """Add each row of values to the sums of its group (-1 = none)."""
    for i in range(len(group)):
        if group[i] >= 0:
            for v in range(values.shape[1]):
                sums[group[i], v] += values[i, v]


@jit
def _give(
    totals: npt.NDArray[np.float64], group: npt.NDArray[np.int64], sums: npt.NDArray[np.float64]
) -> None:
    """Add the sums of its group to each row of totals (-1 = none)."""
    for i in range(len(group)):
        if group[i] >= 0:
            for v in range(sums.shape[1]):
                totals[i, v] += sums[group[i], v]
