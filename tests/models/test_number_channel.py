"""The channel of a number: maps are known, densities add up, and no pair leaves a trace."""

import numpy as np
import pytest

from linked_cases import exchanged, noisy, rank_swapped, skewed
from naive_linked import number_matrix
from sdckit.models import number_channel
from sdckit.models.number_channel import Scale, fit_number_channel
from sdckit.models.number_column import NumberColumn


def column(n=1_000, zeros=0.2):
    return skewed(n, 1, zeros=zeros)[:, 0]


@pytest.mark.parametrize(
    "protect",
    [
        lambda x: x,
        lambda x: np.round(x),
        lambda x: np.minimum(x, np.quantile(x, 0.9)),
        lambda x: np.maximum(x, np.quantile(x, 0.4)),
        lambda x: 3 * x + 1,
        lambda x: np.repeat([x[np.argsort(x)].reshape(-1, 5).mean(axis=1)], 5)[np.argsort(np.argsort(x))],
    ],
    ids=["unchanged", "rounded", "top", "bottom", "rescaled", "individual ranking"],
)
def test_functions_that_keep_the_order_are_maps(protect):
    x = np.random.default_rng(5).permutation(np.cumsum(np.random.default_rng(6).exponential(size=1_000)))
    y = protect(x)
    channel = fit_number_channel(x, y)
    assert channel.is_map
    np.testing.assert_array_equal(channel.image(x), y)
    assert not fit_number_channel(x, y, exact=False).is_map


def test_what_is_no_function_is_no_map():
    x = column()
    for y in (noisy(x[:, None], 0.1)[:, 0], exchanged(x[:, None], 0.3)[:, 0], -x):
        assert not fit_number_channel(x, y).is_map
    few = np.array([1.0, 2.0, 5.0, 9.0])
    assert not fit_number_channel(few, few + 0.1).is_map, "four values in order are an accident"


def test_scale_follows_the_protection():
    x = column(2_000, zeros=0.0)
    rng = np.random.default_rng(4)
    assert fit_number_channel(x, x + rng.normal(size=x.size)).transform.scale is Scale.LINEAR
    assert fit_number_channel(x, x * np.exp(0.3 * rng.normal(size=x.size))).transform.scale is Scale.ARCSINH
    assert fit_number_channel(x, rank_swapped(x[:, None], 0.05)[:, 0]).transform.scale is Scale.RANK


@pytest.mark.parametrize("kind", ["noise", "swap", "rank"])
def test_probabilities_over_released_values_add_up(kind):
    x = column(800)
    y = {"noise": noisy, "swap": exchanged, "rank": rank_swapped}[kind](x[:, None], 0.2)[:, 0]
    channel = fit_number_channel(x, y)
    values, first = np.unique(y, return_index=True)
    total = number_matrix(channel, x, y, target=False)[:, first].sum(axis=1)
    assert values.size == first.size
    assert np.median(total) == pytest.approx(1, abs=0.1)
    assert total.mean() == pytest.approx(1, abs=0.15)


def test_frequent_value_has_its_own_share_of_stayers():
    x = np.where(np.arange(1_000) < 400, 0.0, np.arange(1_000.0))
    y = x.copy()
    y[:100] = np.linspace(2_000, 3_000, 100)  # a quarter of the zeros move
    y[400:] += np.random.default_rng(1).normal(size=600)
    channel = fit_number_channel(x, y)
    np.testing.assert_allclose(channel.stay[channel.profiles(np.array([0.0, 500.0]))], [0.75, 0.0])


def test_blanks_by_size_and_of_missing_values():
    x = np.arange(2_000.0)
    y = np.round(x, -1)
    y[1_800:] = np.nan
    x[:100] = np.nan
    y[:50] = np.nan
    channel = fit_number_channel(x, y)
    blank = channel.blank[channel.profiles(np.array([500.0, 1_990.0]))]
    assert blank[0] < 0.02
    assert blank[1] > 0.9
    assert channel.blank_of_missing == pytest.approx(0.5, abs=0.01)
    assert channel.profiles(np.array([np.nan]))[0] == -1


def test_no_pairs_nothing_learned():
    nothing = np.full(5, np.nan)
    for x, y in ((nothing, nothing), (np.empty(0), np.empty(0))):
        channel = fit_number_channel(x, y)
        assert channel.pairs == 0
        assert (channel.profiles(np.arange(5.0)) == -1).all()
    assert fit_number_channel(np.arange(5.0), nothing).blank.min() == 1.0


def test_one_pair_and_constant_columns():
    for x, y in ((np.ones(1), np.ones(1)), (np.ones(1), np.zeros(1)), (np.ones(50), np.arange(50.0))):
        m = number_matrix(fit_number_channel(x, y), x, y, target=True)
        assert np.isfinite(m).all()
        assert (np.diag(m) > 0).all()


def test_many_pairs_teach_no_more_than_some(monkeypatch):
    rng = np.random.default_rng(4)
    x = np.exp(rng.normal(size=4000))
    y = x * np.exp(0.2 * rng.normal(size=4000))
    whole = fit_number_channel(x, y)
    monkeypatch.setattr(number_channel, "MOST_PAIRS", 1000)
    some = fit_number_channel(x, y)
    assert some.transform.scale is whole.transform.scale
    np.testing.assert_allclose(some.spread, whole.spread, rtol=0.15)
    z = np.linspace(-3, 3, 13)
    np.testing.assert_allclose(some.density.at(z), whole.density.at(z), atol=0.05)


@pytest.mark.parametrize("how", ["noise", "share", "rank swap", "few stay"])
def test_some_pairs_choose_the_scale_that_all_choose(monkeypatch, how):
    rng = np.random.default_rng(9)
    x = np.exp(rng.normal(size=3000))
    ways = {
        "noise": x + 0.3 * rng.normal(size=3000),
        "share": x * np.exp(0.3 * rng.normal(size=3000)),
        "rank swap": rank_swapped(x[:, None], 0.05)[:, 0],
        "few stay": np.where(rng.random(3000) < 0.2, x, x + 0.3 * rng.normal(size=3000)),
    }
    whole = fit_number_channel(x, ways[how])
    monkeypatch.setattr(number_channel, "CHOOSING", 300)
    some = fit_number_channel(x, ways[how])
    assert some.transform.scale is whole.transform.scale
    np.testing.assert_allclose(some.middle, whole.middle, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(some.spread, whole.spread, rtol=1e-9)
    np.testing.assert_allclose(some.density.table, whole.density.table, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(some.stay, whole.stay)


def test_columns_that_are_sorted_already_teach_the_same():
    rng = np.random.default_rng(3)
    x, y = (rng.normal(size=800).round(2) for _ in range(2))
    x[:40], y[30:60] = np.nan, np.nan
    a, b = NumberColumn(x), NumberColumn(y)
    assert a.ordered.size + b.order.size == 760 + 770
    for known, released, exact in ((a, b, True), (b, b, True), (a, a, False)):
        bare = fit_number_channel(known.values, released.values, exact=exact)
        found = fit_number_channel(known, released, exact=exact)
        for name in ("knots", "images", "edges", "frequent", "middle", "spread", "stay", "blank"):
            np.testing.assert_allclose(getattr(found, name), getattr(bare, name), rtol=1e-12)
        assert found.blank_of_missing == bare.blank_of_missing


def test_edges_of_values_in_order():
    x = np.sort(np.random.default_rng(8).normal(size=2345))
    found = number_channel._edges(x, in_order=True)
    np.testing.assert_allclose(found, number_channel._edges(x), rtol=1e-12)


def test_a_map_is_seen_after_the_first_pairs_only_if_all_agree():
    x = np.arange(3000.0)
    y = np.floor(x / 10)
    assert fit_number_channel(x, y).is_map
    y[-1] = 0.0  # far behind the first
    assert not fit_number_channel(x, y).is_map
