"""The wildcard rule: k matches for everybody, never dearer than sdcMicro, only rare records touched."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import oracle_cases
from naive_suppression import cells_of, records_of, tables, unreachable, wildcard_sizes
from sdckit.kernels.suppression.sound import UnreachableError
from sdckit.kernels.suppression.wildcard_rule import suppress_by_wildcard

COSTS = st.sampled_from([1.0, 1.0, 2.0, 5.0, np.inf])


@settings(deadline=None, max_examples=100)
@given(tables(), st.data())
def test_everybody_matches_k_and_only_rare_records_are_touched(codes, data):
    q = codes.shape[1]
    cost = np.array(data.draw(st.lists(COSTS, min_size=q, max_size=q)))
    some = st.lists(st.integers(0, q - 1), min_size=1, max_size=q, unique=True)
    subsets = data.draw(st.one_of(st.just([list(range(q))]), st.lists(some, min_size=1, max_size=4)))
    k = data.draw(st.lists(st.integers(2, 5), min_size=len(subsets), max_size=len(subsets)))
    cells, counts = cells_of(codes)
    blocked = unreachable(codes, k, cost, subsets)
    if blocked:
        with pytest.raises(UnreachableError, match="Fewer than k") as caught:
            suppress_by_wildcard(cells, counts, k=k, cost=cost, subsets=subsets)
        assert sorted(map(tuple, cells[caught.value.cells].tolist())) == sorted(
            {tuple(codes[r].tolist()) for r in blocked}
        )
        return
    release = suppress_by_wildcard(cells, counts, k=k, cost=cost, subsets=subsets)
    before, after = records_of(cells, release)
    assert sorted(map(tuple, before.tolist())) == sorted(map(tuple, codes.tolist()))
    mask = (after < 0) & (before >= 0)
    needy = np.zeros(len(codes), bool)
    for columns, need in zip(subsets, k, strict=True):
        assert min(wildcard_sizes(after, columns)) >= need
        needy |= np.array(wildcard_sizes(before, columns)) < need
    assert not mask[:, np.isinf(cost)].any()
    assert not mask[~needy].any()


def test_one_blank_serves_two_records():
    codes = np.array([[0, 0], [0, 1]], dtype=np.int32)
    release = suppress_by_wildcard(codes, np.array([1, 1]), k=2, cost=np.ones(2))
    assert sorted(release.blank.tolist()) == [0, 2]


def test_many_keys_progress_and_stop():
    rng = np.random.default_rng(3)
    codes, counts = cells_of(rng.integers(0, 4, (60, 16)).astype(np.int32))
    seen = []
    release = suppress_by_wildcard(codes, counts, k=3, cost=np.ones(16), progress=lambda *a: seen.append(a))
    _, after = records_of(codes, release)
    assert min(wildcard_sizes(after, range(16))) >= 3
    assert seen[0] == (0, 60)
    assert seen[-1] == (60, 60)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        suppress_by_wildcard(codes, counts, k=3, cost=np.ones(16), progress=stop)


def codes_of(frame: pl.DataFrame, columns: list[str]) -> np.ndarray:
    ranks = [frame[c].rank("dense").cast(pl.Int32).fill_null(0) - 1 for c in columns]
    return np.column_stack([r.to_numpy() for r in ranks]).astype(np.int32)


def oracle_demand(case: dict) -> tuple[list[tuple[int, ...]], list[int], np.ndarray]:
    """Subsets, their k and the costs of an oracle case; a stratum is the last column, part of all subsets."""
    params, inputs = case["params"], case["inputs"]
    q = len(inputs["key_vars"])
    stratum = (q,) if inputs.get("strata") else ()
    ranks = -np.array(params.get("importance") or np.ones(q), dtype=float)
    cost = np.exp2(np.unique(ranks, return_inverse=True)[1])
    ks = params["k"] if isinstance(params["k"], list) else [2]
    sizes = params.get("combs") or [q]
    subsets = [
        (s + stratum, k) for size, k in zip(sizes, ks, strict=True) for s in combinations(range(q), size)
    ]
    return [s for s, _ in subsets], [k for _, k in subsets], np.append(cost, [np.inf] * len(stratum))


@pytest.mark.compiled
@pytest.mark.parametrize("case", oracle_cases("04"))
def test_costs_no_more_than_sdcmicro_by_its_own_rule(case, oracles):
    inputs = case["inputs"]
    name = case["dataset"] if isinstance(case["dataset"], str) else case["dataset"]["name"]
    columns = [*inputs["key_vars"], *([inputs["strata"]] if inputs.get("strata") else [])]
    subsets, ks, cost = oracle_demand(case)
    cells, counts = cells_of(codes_of(oracles.frame(name), columns))
    release = suppress_by_wildcard(cells, counts, k=ks, cost=cost, subsets=subsets)
    theirs = np.array([case["expected"]["suppressions"][key] for key in inputs["key_vars"]])
    mine = np.array([((release.blank >> j & 1) * release.records).sum() for j in range(len(theirs))])
    assert mine @ cost[: len(theirs)] <= theirs @ cost[: len(theirs)]
    assert mine.sum() <= theirs.sum()
