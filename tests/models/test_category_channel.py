"""The channel of a category against plain loops, known protections, and the traps of transition matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_intruder as naive
from sdckit.models.category_channel import Relation, category_channel


def pairs_of(draw_size, rng, n=300, blanks=0.2, stay=0.6):
    x = rng.integers(-1, draw_size, n)
    y = np.where(rng.random(n) < stay, x, rng.integers(0, draw_size, n))
    return x, np.where(rng.random(n) < blanks, -1, y)


@settings(max_examples=40)
@given(
    st.integers(0, 10_000),
    st.integers(2, 9),
    st.sampled_from([0.0, 0.1, 0.5]),
    st.sampled_from([0.2, 0.6, 0.95]),
)
def test_agrees_with_plain_loops(seed, size, blanks, stay):
    x, y = pairs_of(size, np.random.default_rng(seed), blanks=blanks, stay=stay)
    channel = category_channel(x, y, size)
    expected = naive.channel(x, y, size)
    if np.array_equal(channel.image, np.arange(size + 1)):  # no map was recognised: the loops know none
        np.testing.assert_allclose(channel.matrix(), expected, rtol=1e-12)
    np.testing.assert_allclose(channel.matrix()[:, : size + 1].sum(axis=1), 1, rtol=1e-12)


def test_pair_counts_are_pairs():
    x, y = pairs_of(5, np.random.default_rng(1))
    distinct, count = np.unique(np.column_stack([x, y]), axis=0, return_counts=True)
    counted = category_channel(distinct[:, 0], distinct[:, 1], 5, count=count.astype(float))
    np.testing.assert_allclose(counted.matrix(), category_channel(x, y, 5).matrix(), rtol=1e-14)


def test_diagonal_plus_rank_one():
    channel = category_channel(*pairs_of(6, np.random.default_rng(2)), 6)
    rank_one = channel.spread[:, None] * channel.pull[None, :-1]
    diagonal = np.diag(channel.excess)[:, :-1]
    np.testing.assert_allclose(channel.matrix()[:, :-1], rank_one + diagonal, rtol=1e-12)


def test_recoding_is_a_map():
    x = np.repeat(np.arange(20), 4)
    channel = category_channel(x, x // 5, 20)
    assert channel.exact
    np.testing.assert_array_equal(channel.images(x), x // 5)
    assert set(np.unique(channel.matrix()[:20])) == {0.0, 1.0}
    assert channel.sentence("age") == "age: recoded."


def test_recoding_with_blanks_is_a_map_with_blanks():
    x = np.repeat(np.arange(20), 5)
    y = x // 5
    y[::7] = -1
    channel = category_channel(x, y, 20)
    assert channel.relation is Relation.MAPPED
    assert not channel.moves
    np.testing.assert_allclose(channel.stay[:4] + channel.suppressed[:4], 1)
    assert channel.sentence("age") == "age: recoded, or suppressed."


def test_unchanged_values_need_not_repeat():
    channel = category_channel(np.arange(50), np.arange(50), 50)
    assert channel.exact
    assert channel.sentence("age") == "age: unchanged."


def test_a_map_of_values_that_do_not_repeat_is_not_learned_but_taken_from_the_log():
    x = np.arange(40)
    unseen = category_channel(x, x // 10, 40)
    assert not unseen.exact
    assert not unseen.learnable
    assert "too low" in unseen.sentence("age")
    logged = category_channel(x, x // 10, 40, image=np.append(np.arange(40) // 10, 40))
    assert logged.exact


def test_missing_is_a_value():
    x = np.array([-1, -1, -1, 0, 0, 1, 1, 1])
    assert category_channel(x, x, 2).exact
    filled = np.where(x < 0, 1, x)
    assert category_channel(x, filled, 2).images(np.array([-1])) == 1
    partly = x.copy()
    partly[0] = 0
    channel = category_channel(x, partly, 2)
    assert channel.likelihood(np.array([-1]), np.array([-1])) == (2 + 0.5) / (3 + 1)
    assert channel.likelihood(np.array([0]), np.array([1])) == 0  # nobody with a value moved


def test_nobody_moves_where_only_blanks_were_set():
    x = np.repeat([0, 1, 2], 50)
    y = x.copy()
    y[:5] = -1
    channel = category_channel(x, y, 3)
    assert channel.likelihood(np.array([0]), np.array([1])) == 0
    np.testing.assert_allclose(channel.stay[:3] + channel.suppressed[:3], 1)
    assert channel.suppressed[0] > channel.suppressed[1]


def test_released_values_that_do_not_occur_attract_nobody():
    x = np.array([0] * 30 + [1] * 30 + [2] * 30)
    y = np.where(x == 2, 0, x)
    y[:3] = 1
    channel = category_channel(x, y, 4)
    assert channel.pull[2] == channel.pull[3] == 0
    assert channel.pull[1] == 3.5


def test_prior_is_strong_where_values_are_alike_and_weak_where_not():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 30, 6000)
    alike = np.where(rng.random(6000) < 0.7, x, rng.integers(0, 30, 6000))
    apart = np.where(rng.random(6000) < np.linspace(0.1, 0.95, 30)[x], x, rng.integers(0, 30, 6000))
    assert category_channel(x, alike, 30).prior >= 100
    assert category_channel(x, apart, 30).prior <= 20


@pytest.mark.parametrize("seed", range(5))
def test_a_shuffled_column_is_no_map(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 90, 2000)
    channel = category_channel(x, rng.permutation(x), 90)
    np.testing.assert_array_equal(channel.image, np.arange(91))
    assert channel.stay[:-1].max() < 0.2


def test_recoding_before_randomisation_is_recognised():
    rng = np.random.default_rng(4)
    x = rng.integers(0, 60, 3000)
    group = 60 + x // 10
    y = np.where(rng.random(3000) < 0.7, group, rng.integers(60, 66, 3000))
    channel = category_channel(x, y, 66)
    np.testing.assert_array_equal(channel.image[:60], 60 + np.arange(60) // 10)
    assert channel.relation is Relation.RANDOM
    np.testing.assert_allclose(channel.stay[60:66], 0.7 + 0.3 / 6, atol=0.06)


def test_a_value_that_mostly_moves_to_the_frequent_one_keeps_its_own_channel():
    # taking the most frequent released value as image would hide that value 2 is shown by nobody else
    x = np.array([0] * 700 + [1] * 150 + [2] * 150)
    y = x.copy()
    y[:35], y[35:70] = 1, 2
    y[700:730] = 0
    y[850:955] = 0
    channel = category_channel(x, y, 3)
    np.testing.assert_array_equal(channel.image, np.arange(4))
    assert channel.likelihood(np.array([2]), np.array([2])) > 5 * channel.likelihood(
        np.array([0]), np.array([2])
    )


def test_an_always_suppressed_value_is_still_likely_to_be_suppressed():
    x = np.repeat([0, 1, 2], [50, 50, 20])
    channel = category_channel(x, np.where(x == 2, -1, x), 3)
    assert channel.suppressed[2] > 0.7 > channel.suppressed[0]
