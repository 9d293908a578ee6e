"""Households as targets: by all matchings of members, household variables, samples of targets."""

import numpy as np
import pytest

import naive_intruder as naive
from intruder_files import people, pram, recoded, suppress_unique
from sdckit.models import _household_attack, household_intruder
from sdckit.models.household_intruder import any_member, attack_households
from sdckit.models.key_intruder import attack_keys
from sdckit.models.key_pairs import KeyPairs

SIZES = (4, 2, 15, 3)


def homes(number, rng, largest=3):
    """Persons in households; the first key is the same for all members."""
    household = np.repeat(np.arange(number), rng.integers(1, largest + 1, number))
    x = people(len(household), rng, SIZES)
    x[:, 0] = rng.integers(0, SIZES[0], number)[household]
    return x, household


def once_a_household(x, household, stay, rng):
    """PRAM that moves the first key of a household together."""
    y = pram(x, stay, rng, keys=(1, 2, 3))
    labels, first = np.unique(household, return_index=True)
    y[:, 0] = pram(x[first], stay, rng, keys=(0,))[:, 0][np.searchsorted(labels, household)]
    return y


def attack(x, y, household, **options):
    options = {"ordered": True, "rng": np.random.default_rng(0)} | options
    released = options.pop("released", None)
    pairs = KeyPairs.of_records(x, y, sizes=SIZES[: x.shape[1]], released=released)
    return attack_households(pairs, household, **options)


@pytest.mark.parametrize(
    "name", ["nothing", "recoded", "suppressed", "PRAM", "PRAM on two", "suppressed, PRAM"]
)
def test_agrees_with_all_matchings_of_all_households(name):
    rng = np.random.default_rng(1)
    x, household = homes(45, rng)
    y = {
        "nothing": x,
        "recoded": recoded(x, 2, 5),
        "suppressed": suppress_unique(x, rng),
        "PRAM": once_a_household(x, household, 0.7, rng),
        "PRAM on two": pram(x, 0.6, rng, keys=(2, 3)),
        "suppressed, PRAM": pram(suppress_unique(x, rng), 0.8, rng),
    }[name]
    result = attack(x, y, household)
    matrices = [channel.matrix() for channel in result.channels]
    for by_place, fast in ((False, result.any_order), (True, result.by_place)):
        likelihood = naive.household_likelihoods(x, y, household, matrices, result.shared, by_place)
        slow = naive.attack(likelihood, np.arange(len(likelihood)))
        np.testing.assert_allclose(fast.odds.found, slow["found"])
        np.testing.assert_allclose(fast.likelihood.found, slow["likely"])
        np.testing.assert_allclose(fast.believed, slow["believed"], rtol=1e-9)
        np.testing.assert_allclose(fast.posterior, slow["posterior"], rtol=1e-9, atol=1e-15)
    assert result.settled.all()
    assert (0 in result.shared) == (name != "suppressed, PRAM")


def test_members_known_together_find_more_than_one_by_one():
    rng = np.random.default_rng(2)
    x, household = homes(300, rng)
    y = pram(x, 0.8, rng, keys=(1, 2, 3))
    together = attack(x, y, household).strongest.expected_links
    alone = attack_keys(KeyPairs.of_records(x, y, sizes=SIZES)).found
    assert together > 1.5 * any_member(alone, household)[1].sum()


def test_a_household_variable_blanked_for_one_member_hides_nothing():
    x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2)
    household = np.repeat([0, 1, 2, 3], 2)
    y = x.copy()
    y[0, 0] = -1
    assert attack(x, y, household).shared == (0,)
    np.testing.assert_array_equal(
        attack(x, y, household).strongest.found, attack(x, x, household).strongest.found
    )


def test_a_household_variable_is_learned_over_households():
    rng = np.random.default_rng(3)
    x, household = homes(200, rng, largest=5)
    y = once_a_household(x, household, 0.6, rng)
    channel = attack(x, y, household).channels[0]
    assert channel.prior in (5, 20, 100, 1000, 1e5)
    _, first = np.unique(household, return_index=True)
    stayed = (x[first, 0] == y[first, 0]).mean()
    shares = np.bincount(x[first, 0], minlength=4) / len(first)
    assert channel.stay[:4] @ shares == pytest.approx(stayed, abs=0.03)


def test_own_pairs_flatter_no_household():
    own, elsewhere = np.zeros(8), np.zeros(8)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x, household = homes(250, rng)
        other, other_household = homes(250, rng)
        y, other_y = (
            once_a_household(x, household, 0.6, rng),
            once_a_household(other, other_household, 0.6, rng),
        )
        result = attack(x, y, household)
        learned = attack(other, other_y, other_household).channels
        own[seed] = result.any_order.odds.found.sum()
        elsewhere[seed] = attack(x, y, household, channels=learned).any_order.odds.found.sum()
    error = np.std(own - elsewhere, ddof=1) / np.sqrt(8)
    assert own.mean() == pytest.approx(elsewhere.mean(), rel=0.02, abs=2 * error)


def test_order_of_rows_and_labels_do_not_matter():
    rng = np.random.default_rng(4)
    x, household = homes(80, rng)
    y = once_a_household(x, household, 0.7, rng)
    plain = attack(x, y, household, ordered=False)
    order, names = rng.permutation(len(x)), rng.permutation(1000)[:80]
    other = attack(x[order], y[order], names[household[order]], ordered=False)
    place = np.searchsorted(other.households, names)
    np.testing.assert_allclose(other.any_order.found[place], plain.any_order.found)
    np.testing.assert_allclose(other.any_order.believed[place], plain.any_order.believed)


def test_members_shuffled_within_households_are_matched_all_the_same():
    rng = np.random.default_rng(5)
    x, household = homes(120, rng)
    y = once_a_household(x, household, 0.8, rng)
    order = np.lexsort((rng.random(len(x)), household))
    shuffled = y[order]  # x keeps its order, so that places no longer agree
    plain, mixed = attack(x, y, household), attack(x, shuffled, household)
    # channels are learned from wrong pairs of members here; by place nothing would be left
    assert mixed.any_order.expected_links > mixed.by_place.expected_links
    assert plain.by_place.expected_links >= plain.any_order.expected_links


def test_large_households():
    rng = np.random.default_rng(6)
    household = np.repeat(np.arange(6), 10)
    x = people(60, rng, SIZES)
    result = attack(x, pram(x, 0.9, rng), household)
    assert result.any_order.expected_links == 6


@pytest.mark.parametrize("name", ["PRAM", "suppressed"])
def test_sampled_targets_agree_with_all_pairs(name, monkeypatch):
    rng = np.random.default_rng(7)
    x, household = homes(400, rng)
    y = once_a_household(x, household, 0.7, rng) if name == "PRAM" else suppress_unique(x, rng)
    dense = attack(x, y, household)
    monkeypatch.setattr(household_intruder, "MOST_PAIRS", 10)
    every = attack(x, y, household, targets=400)
    np.testing.assert_array_equal(every.any_order.likelihood.found, dense.any_order.likelihood.found)
    sure = every.settled
    assert sure.mean() > 0.3
    np.testing.assert_allclose(every.any_order.odds.found[sure], dense.any_order.odds.found[sure])
    assert every.any_order.odds.found.sum() == pytest.approx(dense.any_order.odds.found.sum(), rel=0.02)
    believed = [one.any_order.count @ one.any_order.believed for one in (every, dense)]
    assert believed[0] == pytest.approx(believed[1], rel=0.1)
    monkeypatch.setattr(_household_attack, "CAP", 10_000)
    settled = attack(x, y, household, targets=400)
    assert settled.settled.all()
    np.testing.assert_allclose(settled.any_order.odds.found, dense.any_order.odds.found)


def test_a_sample_of_targets_says_how_sure_it_is(monkeypatch):
    rng = np.random.default_rng(8)
    x, household = homes(400, rng)
    y = once_a_household(x, household, 0.6, rng)
    everybody = attack(x, y, household)
    assert everybody.sampling_error == 0
    monkeypatch.setattr(household_intruder, "MOST_PAIRS", 10)
    sample = attack(x, y, household, targets=100)
    assert len(sample.drawn) == len(sample.households) == len(sample.strongest.found)
    found = sample.strongest.found[sample.drawn]  # the others are the rarest ones, not a sample
    assert len(found) == 100
    assert sample.sampling_error == pytest.approx(found.std(ddof=1) / 10 * np.sqrt(0.75))
    assert abs(found.mean() - everybody.strongest.value) < 4 * sample.sampling_error


def test_households_left_out():
    rng = np.random.default_rng(9)
    x, household = homes(100, rng, largest=2)
    released = np.isin(household, np.flatnonzero(rng.random(100) < 0.6))
    result = attack(x, x, household, released=released)
    rows = [tuple(sorted(map(tuple, x[household == label]))) for label in range(100)]
    for label in range(100):
        alike = [g for g in range(100) if rows[g] == rows[label]]
        kept = [g for g in alike if released[household == g].all()]
        expected = 1 / len(kept) if label in kept else 0
        assert result.any_order.found[label] == pytest.approx(expected)
        assert result.any_order.believed[label] == pytest.approx(1 / len(alike) if kept else 0)


def test_anybody_of_the_household():
    labels, chance = any_member(np.array([0.5, 0.5, 1.0, 0.1, 0.0]), np.array([3, 3, 1, 1, 2]))
    np.testing.assert_array_equal(labels, [1, 2, 3])
    np.testing.assert_allclose(chance, [1, 0, 0.75])
