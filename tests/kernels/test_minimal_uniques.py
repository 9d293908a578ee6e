import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_suda import minimal_uniques_of_records
from sdckit.kernels.hashing import bit_layout
from sdckit.kernels.minimal_uniques import minimal_uniques


def of_records(codes, max_size, wildcard):
    """The minimal uniques of each record, as the naive twin gives them."""
    codes = np.asarray(codes, dtype=np.int32)
    cells, cell, records = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    cell = cell.reshape(-1)
    sets = uniques(cells, records == 1, max_size, wildcard=wildcard)
    return [set(sets[c]) for c in cell]


def uniques(codes, candidate, max_size, **options):
    """The minimal uniques of each cell, and none of them twice."""
    sets = [[] for _ in codes]
    for keys, cells in minimal_uniques(codes, candidate, max_size, **options):
        for cell in cells:
            sets[cell].append(tuple(sorted(keys)))
    assert all(len(s) == len(set(s)) for s in sets)
    return sets


@st.composite
def record_files(draw):
    keys = draw(st.integers(1, 5))
    few = draw(st.sampled_from([[0], [0, 1], [0, 1, 2], [-1, 0, 1], [-1, 0, 1, 2, 3], [-1, 0, 50_000]]))
    rows = draw(
        st.lists(st.lists(st.sampled_from(few), min_size=keys, max_size=keys), min_size=1, max_size=25)
    )
    return rows, draw(st.integers(1, keys))


@settings(max_examples=250, deadline=None)
@given(file=record_files(), wildcard=st.booleans())
def test_agrees_with_every_record_on_every_set_of_keys(file, wildcard):
    rows, max_size = file
    assert of_records(rows, max_size, wildcard) == minimal_uniques_of_records(rows, max_size, wildcard)


@pytest.mark.parametrize("wildcard", [False, True])
@pytest.mark.parametrize(
    ("n", "keys", "values", "missing"), [(150, 7, 3, 0.1), (60, 8, 4, 0.3), (150, 6, 9, 0)]
)
def test_larger_files_agree_with_the_naive_twin(n, keys, values, missing, wildcard):
    rng = np.random.default_rng(n)
    codes = rng.integers(0, values, (n, keys))
    codes[:, 0] = rng.integers(0, 5 * values, n)  # keys of unequal length, the longest first
    codes[rng.random(codes.shape) < missing] = -1
    found = of_records(codes, keys, wildcard)
    assert found == minimal_uniques_of_records(codes.tolist(), keys, wildcard)
    assert sum(map(len, found)) > n / 2


@pytest.mark.parametrize("wildcard", [False, True])
def test_keys_of_more_than_one_word(wildcard):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, (60, 6))
    codes[codes == 2] = 40_000
    codes[rng.random(codes.shape) < 0.1] = -1
    assert bit_layout(codes.astype(np.int32)).words > 1
    found = of_records(codes, 6, wildcard)
    assert found == minimal_uniques_of_records(codes.tolist(), 6, wildcard)


def test_twelve_keys():
    # each record but the last has a key of its own; each rules out all but one set for the record of zeros
    codes = np.vstack([np.eye(12, dtype=np.int32), np.zeros((1, 12), dtype=np.int32)])
    found = uniques(codes, np.ones(13, dtype=bool), 12)
    assert found == [[(k,)] for k in range(12)] + [[tuple(range(12))]]


def test_many_keys_with_a_small_largest_size():
    rng = np.random.default_rng(1)
    codes = np.unique(rng.integers(0, 6, (40, 30)), axis=0)
    found = of_records(codes, 2, False)
    assert max(len(s) for sets in found for s in sets) == 2
    assert found == minimal_uniques_of_records(codes.tolist(), 2, False)


def test_only_candidates_are_found_and_others_count_as_somebody():
    codes = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
    assert uniques(codes, np.array([True, False, False]), 2) == [[(1,)], [], []]


def test_an_incomplete_record_is_told_apart_by_a_further_key():
    # record 1 has key 0 for itself, unless the incomplete record has it too; key 1 rules that out
    codes = np.array([[0, 0], [1, 1], [-1, 2], [2, 1]], dtype=np.int32)
    every = np.ones(4, dtype=bool)
    assert uniques(codes, every, 2, wildcard=True) == [[(1,)], [(0, 1)], [(1,)], [(0, 1)]]
    assert uniques(codes, every, 2) == [[(0,), (1,)], [(0,)], [(1,)], [(0,)]]


@pytest.mark.parametrize("wildcard", [False, True])
def test_nothing_one_record_and_everything_missing(wildcard):
    assert of_records([[3, -1, 0]], 3, wildcard) == [{(0,), (2,)}]
    assert of_records([[-1, -1]], 2, wildcard) == [set()]
    nothing = np.empty((0, 2), np.int32)
    assert list(minimal_uniques(nothing, np.empty(0, bool), 2, wildcard=wildcard)) == []
