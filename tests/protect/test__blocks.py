import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdckit.protect import _blocks
from sdckit.protect._blocks import (
    Blocks,
    Cut,
    Scale,
    blocks_in_memory,
    parts_by_presence,
    sampled_share,
    without_small,
)
from sdckit.protect._groupings import Transform


def test_patterns_by_hand():
    present = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=bool)
    # none present; 2 records go with the most frequent; 5 are a part of their own
    assert parts_by_presence(present, np.array([9, 2, 5, 40]), 3).tolist() == [-1, 0, 1, 0]
    # of equal ones the pattern with the first variable comes first; all are below k
    assert parts_by_presence(present, np.array([9, 2, 2, 1]), 3).tolist() == [-1, 0, 0, 0]
    assert parts_by_presence(present[:1], np.array([9]), 3).tolist() == [-1]


def test_small_blocks_join_their_neighbours_by_hand():
    assert without_small(np.array([1, 5, 0, 2, 4, 1]), 3).tolist() == [0, 0, 1, 1, 1, 1]
    assert without_small(np.array([3, 3, 3]), 3).tolist() == [0, 1, 2]
    assert without_small(np.array([1, 1]), 3).tolist() == [0, 0]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=20), st.integers(1, 5))
def test_no_block_stays_below_k(sizes, k):
    new = without_small(np.array(sizes), k)
    together = np.bincount(new, weights=sizes)
    assert together.min() >= min(k, sum(sizes))
    assert (np.diff(new) >= 0).all()


def test_cuts_by_hand(monkeypatch):
    """Four blocks of a file of eight, all sampled: the two farthest out, then cuts of the widest column."""
    monkeypatch.setattr(_blocks, "LARGEST", 2)
    monkeypatch.setattr(_blocks, "FILLED", 1.0)
    x = np.array([[0.0, 1], [0, 2], [0, 3], [0, 4], [0, 5], [0, 6], [100, 3], [-100, 3]])
    codes = np.arange(8)
    scale = Scale(Transform.NONE, np.array([0.0, 3.5]), np.ones(2))
    blocks = Blocks.of_sample(x, codes, 8, scale)
    assert blocks.numbers(x, codes).tolist() == [1, 1, 2, 2, 3, 3, 0, 0]
    # 1 block below, 2 above: the cut is at the third of the six, and the next one at the fifth
    assert blocks.cuts == Cut(1, 3.0, 2, 1, Cut(1, 5.0, 4, 2, 3))


def test_equal_values_are_cut_by_their_codes(monkeypatch):
    monkeypatch.setattr(_blocks, "LARGEST", 5)
    x, codes = np.zeros((20, 1)), np.arange(20) * 3 - 7
    rows = [rows.tolist() for rows, _ in blocks_in_memory(x, codes, 2, Transform.NONE)]
    assert rows == [list(range(i, i + 5)) for i in range(0, 20, 5)]


@settings(deadline=None, max_examples=60)
@given(st.integers(31, 400), st.integers(0, 60), st.sampled_from(list(Transform)), st.integers(2, 5))
def test_blocks_are_a_partition_with_at_least_k_records_of_about_the_same_size(n, seed, transform, k):
    draw = np.random.default_rng(seed)
    x = np.where(draw.random((n, 2)) < 0.1, np.nan, draw.lognormal(size=(n, 2)).round(1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_blocks, "LARGEST", 30)
        found = blocks_in_memory(x, draw.permutation(n), k, transform)
    rows = np.sort(np.concatenate([rows for rows, _ in found]))
    assert rows.tolist() == np.flatnonzero(~np.isnan(x).all(axis=1)).tolist()
    assert all(len(rows) <= 2 * 30 for rows, _ in found)
    assert min(len(rows) for rows, _ in found) >= k


def test_a_sample_tells_the_scale():
    x = np.random.default_rng(2).gamma(3.0, 2.0, size=(500, 1))
    scale = Scale.of_sample(x, Transform.NONE, x.min(axis=0), x.max(axis=0))
    assert scale.of(x).mean() == pytest.approx(0)
    assert scale.of(x).std(ddof=1) == pytest.approx(1)
    logs = Scale.of_sample(np.exp(x) - 1, Transform.LOG, np.exp(x.min(axis=0)), np.exp(x.max(axis=0)))
    assert logs.of(np.exp(x) - 1) == pytest.approx(scale.of(x))


def test_ranks_between_those_of_the_sample():
    x = np.array([[1.0], [2.0], [2.0], [5.0]])
    scale = Scale.of_sample(x, Transform.RANK, np.array([0.0]), np.array([9.0]))
    # mean ranks as shares: 1/8, 4/8 and 7/8; halfway between 2 and 5 is 5.5/8
    wanted = np.array([1, 4, 5.5, 7, 7, np.nan]) / 8
    assert scale.transformed(np.array([[1.0], [2], [3.5], [5], [8], [np.nan]]))[:, 0] == pytest.approx(
        wanted, nan_ok=True
    )


def test_a_column_constant_in_the_sample_is_measured_by_its_range():
    scale = Scale.of_sample(np.zeros((9, 1)), Transform.NONE, np.array([0.0]), np.array([1e6]))
    assert scale.of(np.array([[1e6]]))[0, 0] == 2.0
    nothing = Scale.of_sample(np.zeros((9, 1)), Transform.NONE, np.zeros(1), np.zeros(1))
    assert nothing.of(np.zeros((1, 1)))[0, 0] == 0.0


def test_samples_are_bounded():
    assert sampled_share(1_600_000) == 2 * _blocks.SAMPLE / 1_600_000
    assert sampled_share(10**9) == _blocks.MOST / 10**9
    assert sampled_share(1000) == 1.0
