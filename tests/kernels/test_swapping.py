"""swap_in_window: pairs, never beyond the window, drawn as the plain twin draws them."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_rank_swap import naive_partners
from sdckit.kernels.swapping import swap_in_window


@settings(max_examples=200, deadline=None)
@given(n=st.integers(0, 80), window=st.integers(1, 90), seed=st.integers(0, 2**63 - 1))
def test_pairs_within_the_window(n, window, seed):
    partner = swap_in_window(n, window, seed)
    ranks = np.arange(n)
    assert (partner[partner] == ranks).all(), "places are exchanged in pairs"
    assert (np.abs(partner - ranks) <= window).all()
    assert (partner == ranks).sum() == n % 2, "only of an odd number one stays"
    assert (swap_in_window(n, window, seed) == partner).all()


@pytest.mark.parametrize(("n", "window"), [(2, 1), (3, 2), (4, 2), (5, 4)])
def test_every_outcome_is_as_frequent_as_by_definition(n, window):
    runs = 4000
    draw = random.Random(1)
    ours: dict[tuple, int] = {}
    plain: dict[tuple, int] = {}
    for seed in range(runs):
        for counts, result in (
            (ours, swap_in_window(n, window, seed * 1_000_003)),
            (plain, naive_partners(n, window, draw)),
        ):
            counts[tuple(result)] = counts.get(tuple(result), 0) + 1
    assert set(ours) == set(plain)
    # difference of two proportions, 4.5 standard errors: a right kernel fails for one seed in 10,000
    for outcome in ours:
        p = (ours[outcome] + plain[outcome]) / (2 * runs)
        assert abs(ours[outcome] - plain[outcome]) / runs <= 4.5 * (2 * p * (1 - p) / runs) ** 0.5
