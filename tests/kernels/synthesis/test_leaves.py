"""Donors in leaves: as a plain loop has them, all with the same chance, values as often as they should."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_trees import spread_places
from sdckit.kernels.synthesis.grow import START, STOP
from sdckit.kernels.synthesis.leaves import spread_donors


def nodes_of(*ranges: tuple[int, int]) -> np.ndarray:
    nodes = np.full((len(ranges), 7), -1, dtype=np.int32)
    nodes[:, [START, STOP]] = ranges
    return nodes


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 80), st.sampled_from([1, 3, 5, 20]))
def test_as_a_plain_loop(seed, records, block):
    rng = np.random.default_rng(seed)
    ranges = [(0, 60), (0, 7), (7, 60), (7, 12), (12, 60)]
    at = rng.integers(0, 5, records).astype(np.int32)
    u = rng.random(records)
    found = spread_donors(at, nodes_of(*ranges), u, np.int64(block))
    wanted = np.array(spread_places(at.tolist(), dict(enumerate(ranges)), u.tolist(), block), dtype=np.int64)
    assert (found == wanted).mean() > 0.97 if records else len(found) == 0  # but for the last digit of a sum
    assert (np.abs(found - wanted) <= 1).all()


@pytest.mark.parametrize(("records", "donors", "block"), [(30, 30, 5), (30, 7, 5), (4, 30, 5), (90, 31, 1)])
def test_every_donor_has_the_same_chance_and_runs_get_their_share(records, donors, block):
    rng = np.random.default_rng(1)
    at, nodes = np.zeros(records, dtype=np.int32), nodes_of((0, donors))
    drawn = np.array([spread_donors(at, nodes, rng.random(records), np.int64(block)) for _ in range(4_000)])
    counts = np.array([np.bincount(places, minlength=donors) for places in drawn])
    expected = records / donors
    assert counts.mean(axis=0) == pytest.approx(expected, abs=6 * np.sqrt(expected / 4_000))
    # no record's donor follows from its place
    assert drawn.mean(axis=0) == pytest.approx((donors - 1) / 2, abs=6 * donors / np.sqrt(12 * 4_000))
    upper = (drawn >= donors / 2).sum(axis=1)
    chance = records / 4  # variance where each record draws on its own
    assert upper.var() < (0.6 if donors // block > 1 else 1.2) * chance
    if records == donors:  # among five donors a single one is left out nearly as often as in a bootstrap
        assert (counts == 0).mean() == pytest.approx((1 - 1 / block) ** block, abs=0.02)
