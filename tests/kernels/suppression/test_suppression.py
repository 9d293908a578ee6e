"""Local suppression: always k-anonymous, never worse than sdcMicro, close to the optimum."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import oracle_cases
from naive_suppression import (
    fewest_cells,
    fewest_cells_by_need,
    group_sizes,
    unreachable,
    wildcard_sizes,
)
from sdckit.errors import DataError
from sdckit.kernels.suppression.wildcard_rule import UnreachableError, importance_costs, suppress_cells
from sdckit.kernels.wildcard import wildcard_counts

COSTS = st.sampled_from([1.0, 1.0, 2.0, 5.0, np.inf])


@st.composite
def tables(draw, max_rows=24, max_keys=5):
    n, q = draw(st.integers(1, max_rows)), draw(st.integers(1, max_keys))
    levels = draw(st.lists(st.integers(0, 4), min_size=q, max_size=q))
    low = draw(st.sampled_from([-1, 0]))
    rows = st.tuples(*(st.integers(low, max(low, top)) for top in levels))
    return np.array(draw(st.lists(rows, min_size=n, max_size=n)), dtype=np.int32)


def blanked(codes, mask):
    out = codes.copy()
    out[mask] = -1
    return out


@settings(deadline=None, max_examples=100)
@given(tables(), st.data())
def test_wildcard_result_is_anonymous_and_touches_only_what_it_may(codes, data):
    q = codes.shape[1]
    cost = np.array(data.draw(st.lists(COSTS, min_size=q, max_size=q)))
    some = st.lists(st.integers(0, q - 1), min_size=1, max_size=q, unique=True)
    subsets = data.draw(st.one_of(st.just([list(range(q))]), st.lists(some, min_size=1, max_size=4)))
    k = data.draw(st.lists(st.integers(2, 5), min_size=len(subsets), max_size=len(subsets)))
    blocked = unreachable(codes, k, cost, subsets)
    if blocked:
        with pytest.raises(UnreachableError, match="cannot become k-anonymous") as caught:
            suppress_cells(codes, k=k, cost=cost, subsets=subsets, effort=0.01)
        assert caught.value.records.tolist() == blocked
        return
    mask = suppress_cells(codes, k=k, cost=cost, subsets=subsets, effort=0.01)
    after = blanked(codes, mask)
    needy = np.zeros(len(codes), bool)
    for columns, need in zip(subsets, k, strict=True):
        assert min(wildcard_sizes(after, columns)) >= need
        needy |= np.array(wildcard_sizes(codes, columns)) < need
    assert not mask[:, np.isinf(cost)].any()
    assert not mask[codes < 0].any()
    assert not mask[~needy].any()


@pytest.mark.compiled
@settings(deadline=None, max_examples=100)
@given(tables(), st.integers(2, 5), st.data())
def test_category_result_has_no_small_group(codes, k, data):
    q = codes.shape[1]
    cost = np.array(data.draw(st.lists(COSTS, min_size=q, max_size=q)))
    fixed = np.flatnonzero(np.array(group_sizes(codes[:, np.isinf(cost)])) < k)
    if len(fixed):
        with pytest.raises(UnreachableError) as caught:
            suppress_cells(codes, k=k, cost=cost, rule="category")
        assert caught.value.records.tolist() == fixed.tolist()
        return
    mask = suppress_cells(codes, k=k, cost=cost, rule="category")
    assert min(group_sizes(blanked(codes, mask))) >= k
    assert not mask[:, np.isinf(cost)].any()
    assert not mask[codes < 0].any()


@pytest.mark.compiled
@settings(deadline=None, max_examples=30)
@given(tables(), st.integers(2, 4), st.sampled_from(["wildcard", "category"]), st.randoms())
def test_row_order_does_not_matter(codes, k, rule, random):
    if len(codes) < k:
        return
    cost = np.arange(1.0, codes.shape[1] + 1)
    order = np.array(random.sample(range(len(codes)), len(codes)))
    results = [
        blanked(table, suppress_cells(table, k=k, cost=cost, rule=rule, effort=0.02))
        for table in (codes, codes, codes[order])
    ]
    assert np.array_equal(results[0], results[1])
    assert sorted(map(tuple, results[0].tolist())) == sorted(map(tuple, results[2].tolist()))


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(12))
def test_near_the_optimum_on_tiny_tables(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (7, 3)).astype(np.int32)
    k = 2 + seed % 2
    cost = np.ones(3)
    ours = suppress_cells(codes, k=k, cost=cost, effort=0.05).sum()
    assert fewest_cells(codes, k, cost) <= ours <= fewest_cells_by_need(codes, k, cost) + 1


def test_one_missing_cell_serves_two_records():
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 0]], dtype=np.int32)
    assert suppress_cells(codes, k=2, cost=np.ones(2)).sum() == 1


def test_cheaper_key_is_suppressed():
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32)
    mask = suppress_cells(codes, k=2, cost=np.array([1.0, 3.0]))
    assert mask.sum(axis=0).tolist() == [2, 0]


@pytest.mark.compiled
def test_more_keys_than_all_sets_can_be_listed_for():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 4, (60, 16)).astype(np.int32)
    mask = suppress_cells(codes, k=3, cost=np.ones(16), effort=0.05)
    assert min(wildcard_sizes(blanked(codes, mask), range(16))) >= 3
    assert mask.sum() < mask.size


def test_stratum_is_a_key_that_is_never_touched():
    codes = np.array([[0, 0], [1, 0], [0, 1], [2, 1]], dtype=np.int32)
    mask = suppress_cells(codes, k=2, cost=np.array([1.0, np.inf]))
    assert mask.sum(axis=0).tolist() == [2, 0]


def test_nothing_to_do_and_no_records():
    codes = np.zeros((5, 2), dtype=np.int32)
    assert not suppress_cells(codes, k=5, cost=np.ones(2)).any()
    assert suppress_cells(codes[:0], k=2, cost=np.ones(2)).shape == (0, 2)
    assert suppress_cells(codes[:0], k=2, cost=np.ones(2), rule="category").shape == (0, 2)


def test_progress_starts_with_the_violating_records_and_ends_with_none():
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 0]], dtype=np.int32)
    for rule in ("wildcard", "category"):
        seen: list[int] = []
        suppress_cells(codes, k=2, cost=np.ones(2), rule=rule, progress=seen.append)
        assert seen[0] == 2
        assert seen[-1] == 0


@pytest.mark.compiled
def test_more_effort_is_never_worse():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, [3, 4, 5, 9], (300, 4)).astype(np.int32)
    totals = [suppress_cells(codes, k=3, cost=np.ones(4), effort=e).sum() for e in (0, 0.1, 0.5)]
    assert totals == sorted(totals, reverse=True)
    assert totals[-1] < totals[0]


def test_refusals():
    codes = np.zeros((3, 2), dtype=np.int32)
    with pytest.raises(DataError, match="wildcard rule"):
        suppress_cells(codes, k=2, cost=np.ones(2), rule="category", subsets=[(0,)])
    with pytest.raises(DataError, match="Too many keys"):
        suppress_cells(np.zeros((3, 63), np.int32), k=2, cost=np.ones(63))


def test_importance_doubles_per_rank():
    assert importance_costs([5, 4, 3, 2, 1]).tolist() == [1, 2, 4, 8, 16]
    assert importance_costs([1, 7, 7]).tolist() == [2, 1, 1]


def codes_of(frame: pl.DataFrame, columns: list[str]) -> np.ndarray:
    ranks = [frame[c].rank("dense").cast(pl.Int32).fill_null(0) - 1 for c in columns]
    return np.column_stack([r.to_numpy() for r in ranks]).astype(np.int32)


def oracle_demand(case: dict) -> tuple[list[tuple[int, ...]], list[int], np.ndarray]:
    """Subsets, their k and the costs of an oracle case; a stratum is the last column, part of all subsets."""
    params, inputs = case["params"], case["inputs"]
    q = len(inputs["key_vars"])
    stratum = (q,) if inputs.get("strata") else ()
    cost = importance_costs(params["importance"]) if params.get("importance") else np.ones(q)
    ks = params["k"] if isinstance(params["k"], list) else [2]
    sizes = params.get("combs") or [q]
    subsets = [
        (s + stratum, k) for size, k in zip(sizes, ks, strict=True) for s in combinations(range(q), size)
    ]
    return [s for s, _ in subsets], [k for _, k in subsets], np.append(cost, [np.inf] * len(stratum))


@pytest.mark.compiled
@pytest.mark.parametrize("case", oracle_cases("04"))
def test_costs_no_more_than_sdcmicro(case, oracles):
    inputs = case["inputs"]
    name = case["dataset"] if isinstance(case["dataset"], str) else case["dataset"]["name"]
    columns = [*inputs["key_vars"], *([inputs["strata"]] if inputs.get("strata") else [])]
    codes = codes_of(oracles.frame(name), columns)
    subsets, ks, cost = oracle_demand(case)
    mask = suppress_cells(codes, k=ks, cost=cost, subsets=subsets, effort=0.1)
    theirs = np.array([case["expected"]["suppressions"][key] for key in inputs["key_vars"]])
    mine = mask.sum(axis=0)[: len(theirs)]
    assert mine @ cost[: len(theirs)] <= theirs @ cost[: len(theirs)]
    assert mine.sum() <= theirs.sum()
    after = blanked(codes, mask)
    for subset, k in zip(subsets, ks, strict=True):
        cells, records = np.unique(after[:, subset], axis=0, return_counts=True)
        counts, _ = wildcard_counts(cells, records.astype(float), records.astype(float))
        assert counts.min() >= k
