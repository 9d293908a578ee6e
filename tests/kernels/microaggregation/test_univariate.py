import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from naive_mdav import least_sum_of_squares, sum_of_squares
from naive_rank_swap import naive_largest_group
from sdckit.kernels.microaggregation.univariate import individual_ranking, optimal_univariate, rank_groups

NAMES = ("CASC4", "CASC13", "Tarragona3", "Tarragona13", "EIA10")

values = st.one_of(st.integers(-4, 4).map(float), st.floats(-1e3, 1e3))


def loss(column, labels):
    return sum_of_squares([[v] for v in column], labels.tolist())


def group_means(column, labels):
    return (np.bincount(labels, column) / np.bincount(labels))[labels]


def test_individual_ranking_by_hand():
    column = np.array([5.0, 1.0, 5.0, 2.0, 9.0, 5.0, 0.0])
    # sorted rows: 6 1 3 | 0 2 5 4 (the last group takes the remainder, ties in order of appearance)
    assert individual_ranking(column, 3).tolist() == [1, 0, 1, 0, 1, 1, 0]


def test_optimal_by_hand():
    # ranking in threes would join 3 with 100 and 101
    column = np.array([100.0, 1.0, 2.0, 3.0, 101.0, 0.0, 102.0])
    assert optimal_univariate(column, 3).tolist() == [1, 0, 0, 0, 1, 0, 1]


@settings(deadline=None, max_examples=60)
@given(st.lists(values, min_size=1, max_size=8), st.integers(1, 4))
def test_optimal_against_all_partitions(column, k):
    labels = optimal_univariate(np.array(column), k)
    best = least_sum_of_squares(column, min(k, len(column)))
    assert loss(column, labels) == pytest.approx(best, rel=1e-9, abs=1e-9)


@settings(deadline=None)
@given(st.lists(values, min_size=1, max_size=60), st.integers(1, 7))
def test_sizes_order_and_loss(column, k):
    x = np.array(column)
    ranked, optimal = individual_ranking(x, k), optimal_univariate(x, k)
    for labels in (ranked, optimal):
        sizes = np.bincount(labels)
        assert sizes.min() >= min(k, len(x))
        assert sizes.max() <= 2 * k - 1
        assert (np.diff(labels[np.argsort(x, kind="stable")]) >= 0).all()
    assert (np.bincount(ranked)[:-1] == k).all()
    assert loss(column, optimal) <= loss(column, ranked) * (1 + 1e-9) + 1e-9


def test_optimal_keeps_small_values_apart_beside_huge_ones():
    # sums of squares by differences of running totals would lose these groups to rounding
    column = np.array([0.0, 1e-3, 1.0, 1.001, 1e9, 1e9])
    assert optimal_univariate(column, 2).tolist() == [0, 0, 1, 1, 2, 2]


def columns(oracles, case):
    data = oracles.frame(case["dataset"]["name"])
    return data.select(case["inputs"]["variables"]).to_numpy().astype(float)


@pytest.mark.parametrize("k", [3, 5, 10])
@pytest.mark.parametrize("name", NAMES)
def test_individual_ranking_against_sdcmicro(oracles, name, k):
    """Values per column equal sdcMicro's; the optimal partition loses no more."""
    case = next(c for c in oracles.cases("05") if c["id"] == f"{name}_onedims_k{k}")
    x = columns(oracles, case)
    masked = np.column_stack([group_means(column, individual_ranking(column, k)) for column in x.T])
    optimal = np.column_stack([group_means(column, optimal_univariate(column, k)) for column in x.T])
    reference = case["expected"]["IL_SSE_over_SST"]
    scale = x.std(axis=0, ddof=1)
    total = (len(x) - 1) * x.shape[1]
    assert (((x - masked) / scale) ** 2).sum() / total == pytest.approx(reference, rel=1e-9)
    assert (((x - optimal) / scale) ** 2).sum() / total <= reference
    if "result_csv" in case["expected"]:
        stored = oracles.frame(case["expected"]["result_csv"]).to_numpy().astype(float)
        for ours, theirs in zip(masked.T, stored.T, strict=True):
            # a tie at a group boundary may go to either group
            assert np.sort(ours) == pytest.approx(np.sort(theirs), rel=1e-9)


@given(n=st.integers(1, 200), percent=st.integers(1, 100))
@example(n=100, percent=7)  # 0.07 · 100 > 7 in floating point
def test_groups_obey_the_rule_and_are_as_few_as_possible(n, percent):
    label = rank_groups(n, percent / 100, 1)
    sizes = np.bincount(label)
    largest = naive_largest_group(n, percent / 100)
    assert (np.diff(label) >= 0).all()
    assert sizes.max() <= largest
    assert len(sizes) == -(-n // largest)
    assert sizes.max() - sizes.min() <= 1


@given(n=st.integers(1, 200), percent=st.integers(1, 100), least=st.integers(1, 9))
def test_groups_are_never_too_small(n, percent, least):
    sizes = np.bincount(rank_groups(n, percent / 100, least))
    assert sizes.min() >= min(least, n)


def test_the_paper_s_groups():
    assert np.bincount(rank_groups(100, 0.04, 1)).tolist() == [4] * 25
    assert np.bincount(rank_groups(300, 0.08, 3)).tolist() == [24] + [23] * 12
