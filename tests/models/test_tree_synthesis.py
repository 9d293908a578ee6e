"""Donors come from the leaf that a record reaches; numbers are released between neighbours, tails never."""

import numpy as np
import polars as pl
import pytest

from sdckit.kernels.synthesis.grow import START, STOP
from sdckit.models.column_codes import category_codes, number_codes
from sdckit.models.released_numbers import Tail, fit_tails, release_numbers
from sdckit.models.tree_synthesis import Drawn, Table, draw_again, draw_donors, fit_variable

NOBODY = np.empty(0, dtype=np.int32)


def columns(n=800, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 4, n)
    age = rng.integers(0, 90, n)
    income = np.where(rng.random(n) < 0.1, 0.0, np.round(100 * group + 5 * age + rng.exponential(50, n), 1))
    values = [None if rng.random() < 0.05 else float(v) for v in income]
    return (
        category_codes(pl.Series(group)),
        number_codes(pl.Series(age), spikes=()),
        number_codes(pl.Series(values)),
    )


def fitted(leaf=5, gain=1.0, target=2):
    coded = columns()
    table = Table(
        np.stack([c.codes for c in coded]), np.array([c.levels for c in coded], dtype=np.int32), NOBODY
    )
    rows = np.arange(800, dtype=np.int32)
    return table, coded, fit_variable(table, np.arange(2, dtype=np.int32), coded[target], rows, leaf, gain)


def test_every_donor_is_in_the_leaf_that_its_record_reaches():
    table, coded, trees = fitted()
    drawn = draw_donors(trees, table.codes, np.random.default_rng(1))
    tree = trees.numbers
    numbers = drawn.places >= 0
    low, high = tree.nodes[drawn.nodes, START], tree.nodes[drawn.nodes, STOP]
    assert ((low <= drawn.places) & (drawn.places < high))[numbers].all()
    assert (tree.donors[drawn.places[numbers]] == drawn.donors[numbers]).all()
    # missing and spikes come as often as before, up to chance
    before, after = (np.bincount(coded[2].classes[d], minlength=5) for d in (np.arange(800), drawn.donors))
    assert np.abs(before - after).max() < 40


def test_a_function_of_a_category_stays_one():
    coded = columns()
    same = category_codes(pl.Series(coded[0].classes * 7 % 5))
    table = Table(coded[0].codes[None, :], np.array([4], dtype=np.int32), NOBODY)
    trees = fit_variable(table, np.zeros(1, dtype=np.int32), same, np.arange(800, dtype=np.int32), 5, 1.0)
    drawn = draw_donors(trees, table.codes, np.random.default_rng(1))
    assert (same.classes[drawn.donors] == same.classes).all()


def test_values_come_as_often_as_they_should_but_single_donors_do_not():
    table, coded, _ = fitted()
    rows = np.arange(800, dtype=np.int32)
    trees = fit_variable(table, np.empty(0, dtype=np.int32), coded[1], rows, 5, 0.0)
    assert trees.leaves == 1
    codes = np.zeros((3, 800), dtype=np.uint16)
    drawn = [draw_donors(trees, codes, np.random.default_rng(s)) for s in range(200)]
    counts = np.array([np.bincount(d.donors, minlength=800) for d in drawn])
    assert counts.mean(axis=0) == pytest.approx(1, abs=0.35), "every donor has the same chance"
    # five records among five donors: a donor is left out with probability 0.8⁵, nearly as in a bootstrap
    assert (counts == 0).mean() == pytest.approx(0.8**5, abs=0.01)
    order = trees.numbers.donors
    runs = counts[:, order].reshape(200, 160, 5).sum(axis=2)
    assert (runs == 5).all(), "but five neighbours in value come five times"


def test_very_many_levels_are_ordered_by_the_target():
    rng = np.random.default_rng(0)
    town = rng.integers(0, 3_000, 20_000)
    rich = rng.normal(size=3_000)[town] + rng.normal(size=20_000) / 10
    table = Table(town[None, :].astype(np.uint16), np.array([3_000], dtype=np.int32), NOBODY)
    rows = np.arange(20_000, dtype=np.int32)
    for target in (number_codes(pl.Series(rich)), category_codes(pl.Series(np.digitize(rich, [-1, 0, 1])))):
        trees = fit_variable(table, np.zeros(1, dtype=np.int32), target, rows, 5, 1.0)
        drawn = draw_donors(trees, table.codes, rng)
        told = target.codes[drawn.donors].astype(float)
        assert np.corrcoef(told, target.codes)[0, 1] > 0.8


def test_drawing_again_goes_up_the_tree():
    table, _, trees = fitted()
    drawn = draw_donors(trees, table.codes, np.random.default_rng(1))
    far = draw_again(trees, drawn, 60, np.random.default_rng(1))
    assert not far.nodes.any()
    assert not far.class_nodes.any()
    near = draw_again(trees, drawn, 0, np.random.default_rng(2))
    assert (near.nodes == drawn.nodes).all()
    assert (near.donors != drawn.donors).mean() > 0.5


def test_smoothed_numbers_lie_between_the_neighbours_in_the_leaf():
    table, coded, trees = fitted()
    rng = np.random.default_rng(5)
    drawn = draw_donors(trees, table.codes, rng)
    values = release_numbers(trees, drawn, (), common=10**6, rng=rng)
    at = np.flatnonzero(drawn.places >= 0)
    for i in at[:200]:
        low, high = trees.numbers.nodes[drawn.nodes[i], [START, STOP]]
        leaf = np.unique(coded[2].values[trees.numbers.donors[low:high]])
        place = int(np.searchsorted(leaf, coded[2].values[drawn.donors[i]]))
        bounds = [
            leaf[place] if j in (-1, len(leaf)) else (leaf[place] + leaf[j]) / 2
            for j in (place - 1, place + 1)
        ]
        assert bounds[0] - 0.051 <= values[i] <= bounds[1] + 0.051
    own = coded[2].values[drawn.donors[at]]
    assert (values[at] == own).mean() < 0.3
    assert np.isnan(values[drawn.places < 0]).all()
    some = release_numbers(trees, drawn, (), common=2, rng=rng)[at]
    often = coded[2].alike[drawn.donors[at]] >= 2
    assert (some == own)[often].all(), "what two records have is no record's own"
    assert (some == own)[~often].mean() < 0.3
    plain = release_numbers(trees, drawn, (), common=0, rng=rng)
    assert (plain[at] == own).all()


def test_tails_are_the_outermost_values_unless_many_share_them():
    values = np.concatenate([np.arange(100.0), [1e6, 2e6]])
    high, low = fit_tails(values, 3)
    assert values[high.holds(values)].tolist() == [99.0, 1e6, 2e6]
    cut = (3 + 2 + 1) / 0.1  # the two largest, above the sixth, 96
    assert high.mean == pytest.approx(96 + (2 * cut + 3 + 2 + 1) / 5)
    assert values[low.holds(values)].tolist() == [0.0, 1.0, 2.0]
    assert fit_tails(np.array([5.0] * 10 + [1.0] * 10), 3) == ()
    assert fit_tails(values, 0) == ()
    only = fit_tails(np.arange(10.0, 20.0), 5)
    assert only[0].draw(np.array([0.1, 0.9])).tolist() == [14.5, 14.5], "nearly all are extreme"


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "ends", [[1e9], [1.1e9, 1e9], [1e9] + [2_000.0] * 6, [3_000.0], [2_500.0] + [2_000.0] * 6], ids=str
)
@pytest.mark.parametrize("n", [300, 6_000])
def test_no_tail_tells_its_largest_value(n, ends, sign, count):
    """Neither by itself nor as so many times the mean of the tail, nor where others share the next value."""
    rng = np.random.default_rng(1)
    values = sign * np.concatenate([np.round(rng.normal(1_000, 100, n)), ends])
    tail = next(t for t in fit_tails(values, count) if t.sign == sign or t.edge == -np.inf)
    assert tail.holds(values).any()
    drawn = tail.draw(rng.random(2_000))
    largest = sign * ends[0]
    for times in (1, len(ends), 5, 1 / 5):
        mean = times * drawn.mean() - (times - 1) * tail.edge
        assert abs(mean - largest) > 0.02 * abs(largest - sign * 1_000), (times, mean)


@pytest.mark.parametrize("n", range(1, 10))
def test_of_fewer_than_ten_numbers_only_a_power_of_ten_is_told(n):
    rng = np.random.default_rng(n)
    for values in (rng.uniform(20_000, 90_000, n), np.full(n, 50_000.0), -rng.uniform(20_000, 90_000, n)):
        (tail,) = fit_tails(values, 5)
        assert np.log10(abs(tail.mean)) == round(np.log10(abs(tail.mean)))
        assert tail.holds(values).all()
    (tail,) = fit_tails(np.append(np.full(max(n - 1, 2), 2.0), 1e6), 5)
    assert tail.mean == 1.0, "the others cannot hide it"
    assert fit_tails(np.zeros(n), 5)[0].mean == 0.0


@pytest.mark.parametrize("n", [10, 14, 30])
def test_the_mean_of_a_handful_tells_neither_its_largest_nor_its_smallest(n):
    values = np.random.default_rng(n).uniform(20_000, 90_000, n)
    order = np.argsort(values)
    told = fit_tails(values, 20)[0].mean
    assert told not in values
    for place, factor in ((order[-1], 1_000.0), (order[0], 0.001)):
        changed = values.copy()
        changed[place] *= factor
        assert fit_tails(changed, 20)[0].mean == told
    three = np.append(np.full(n - 3, 5.0), [7e4, 8e4, 9e4])
    assert fit_tails(three, 20)[0].mean == 5.0  # which all others have


def test_tails_follow_a_pareto_distribution_where_there_are_enough_records():
    rng = np.random.default_rng(1)
    values = (1 - rng.random(2_000_000)) ** -0.3  # generalised Pareto with shape 0.3
    high = fit_tails(values, 5)[0]
    assert high.shape == pytest.approx(0.3, abs=0.04)
    drawn = high.draw(rng.random(50_000))
    assert drawn.min() >= high.edge
    exact = high.edge / (1 - 0.3)  # mean of a Pareto variable beyond the edge
    assert drawn.mean() == pytest.approx(exact, rel=0.15)


def test_the_smallest_of_positive_numbers_stay_positive():
    rng = np.random.default_rng(1)
    low = fit_tails(rng.exponential(size=20_000), 5)[1]
    assert low.sign == -1
    assert (low.draw(rng.random(1_000)) >= 0).all()
    assert isinstance(low, Tail)


def test_smoothing_and_tails_leave_the_mean_of_heavy_tailed_numbers_unchanged():
    """Every donor many times: neighbours of extreme values are not pulled towards them."""
    rng = np.random.default_rng(3)
    n = 300
    group = category_codes(pl.Series(np.repeat(np.arange(30), 10)))
    coded = number_codes(pl.Series(np.exp(rng.normal(0, 2.5, n))))
    table = Table(group.codes[None, :], np.array([group.levels], dtype=np.int32), NOBODY)
    rows = np.arange(n, dtype=np.int32)
    trees = fit_variable(table, np.zeros(1, dtype=np.int32), coded, rows, 5, 0.0)
    assert trees.leaves > 20
    places = np.tile(np.arange(n), 300)
    zero = np.zeros(len(places), dtype=np.int32)
    drawn = Drawn(trees.numbers.donors[places], places, zero, zero)
    tails = fit_tails(coded.values, 5)
    released = release_numbers(trees, drawn, tails, common=5, rng=rng)
    assert released.mean() == pytest.approx(coded.values.mean(), rel=0.004)
    assert not np.isin(coded.values, released).any()
