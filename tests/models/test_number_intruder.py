"""What an intruder finds who knows numbers, alone or with keys."""

from dataclasses import replace

import numpy as np
import pytest

from linked_cases import averaged, exchanged, noisy, randomised_keys, rank_swapped, shuffled_rows, skewed
from sdckit.models import number_channel, number_intruder
from sdckit.models.linked_files import KnownKeys
from sdckit.models.number_channel import fit_number_channel
from sdckit.models.number_intruder import Attack, attack_numbers, draw_targets, known_values

EXACTLY, ROUGHLY = 0.0, 0.1


def attacked(x, y, error=EXACTLY, **given):
    own = given.pop("own", np.arange(len(x)))
    return attack_numbers(x, y, own, errors=np.full(x.shape[1], error), **given)


def test_unchanged_numbers_are_found():
    x = skewed(400, 2, zeros=0.0)
    result = attacked(x, x)
    assert result.value == 1.0
    assert result.claims(0.9) == (400, 400.0)


def test_equal_persons_share_their_records():
    x = np.repeat([[1.0, 2.0], [3.0, 4.0]], [3, 5], axis=0)
    result = attacked(x, x)
    np.testing.assert_allclose(result.found, np.repeat([1 / 3, 1 / 5], [3, 5]))
    np.testing.assert_allclose(result.believed, result.found)
    np.testing.assert_array_equal(result.best_records, np.repeat([3, 5], [3, 5]))


def test_rank_swapping_is_seen_through():
    x = np.exp(2 * np.random.default_rng(1).normal(size=(540, 3)))
    result = attacked(x, rank_swapped(x, 0.1))
    assert result.attack is Attack.SHARES
    assert result.value >= 3 * result.attacks[Attack.NEAREST_RECORD]


def test_value_of_somebody_else_is_not_believed():
    found, believed = 0.0, 0.0
    for seed in range(4):
        x = skewed(540, 3, zeros=0.2, seed=seed)
        result = attacked(x, rank_swapped(x, 0.3, seed=seed))
        found, believed = found + result.found.sum(), believed + result.believed.sum()
    assert believed <= 2 * found


def test_normal_kernel_after_correlated_noise():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(500, 3))
    common = rng.normal(size=(500, 1))
    result = attacked(x, x + 0.8 * common + 0.05 * rng.normal(size=x.shape))
    assert result.attack is Attack.NORMAL_KERNEL
    assert result.value > 1.5 * result.attacks[Attack.SHARES]


@pytest.mark.parametrize("error", [EXACTLY, ROUGHLY])
def test_more_protection_less_found(error):
    x = skewed(400, 2, zeros=0.0)
    for protect, amounts in (
        (noisy, (0.02, 0.1, 0.5)),
        (averaged, (2, 5, 25)),
        (rank_swapped, (0.02, 0.1, 0.5)),
    ):
        values = [attacked(x, protect(x, amount), error).value for amount in amounts]
        assert values == sorted(values, reverse=True)
        assert values[0] > 2 * values[-1]


def test_more_randomised_keys_less_found():
    x = skewed(600, 1)
    y = noisy(x, 0.3)
    kept = [randomised_keys(600, 4, stay=stay, blank=0.0) for stay in (0.9, 0.7, 0.5, 0.3)]
    values = [attacked(x, y, ROUGHLY, keys=keys).value for keys in kept]
    assert values == sorted(values, reverse=True)


def test_knowing_more_finds_more():
    x = skewed(500, 2)
    y, keys = noisy(x, 0.3), randomised_keys(500, 3, exact=(0,))
    both = attacked(x, y, ROUGHLY, keys=keys)
    assert both.value > 2 * attacked(x, y, ROUGHLY).value
    assert both.value > 2 * attacked(x[:, :0], y[:, :0], keys=keys).value


@pytest.mark.parametrize("error", [EXACTLY, ROUGHLY])
def test_shuffled_columns_tell_nothing(error):
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x = skewed(600, 2, seed=seed)
        keys = randomised_keys(600, 2, levels=30, seed=seed)
        keys = KnownKeys(keys.true, rng.permuted(keys.released, axis=0), (np.full((30, 31), 1 / 31),) * 2)
        found.append(attacked(x, rng.permuted(x, axis=0), error, keys=keys).found.sum())
    assert np.mean(found) <= 4, "1 by chance; the best of four attacks of one draw"


@pytest.mark.parametrize("protect", [noisy, rank_swapped, exchanged])
@pytest.mark.parametrize("error", [EXACTLY, ROUGHLY])
def test_own_and_independent_channel_agree(protect, error):
    """Learned from other people, other draws of the protection: what is found is not due to the own pairs.

    Ranks are those among the values of the file, which everybody sees.
    """
    own_found, elsewhere_found = 0.0, 0.0
    for seed in (11, 12, 13):
        x, others = skewed(800, 2, seed=seed), skewed(800, 2, seed=seed + 100)
        y, y_others = protect(x, 0.05, seed=seed), protect(others, 0.05, seed=seed + 100)
        errors = np.full(2, error)
        known = known_values(others, errors, np.arange(800) + 5_000)
        channels = [fit_number_channel(known[:, v], y_others[:, v], exact=error == 0) for v in range(2)]
        seen = [replace(c.transform, ordered=np.sort(y[:, v])) for v, c in enumerate(channels)]
        channels = [replace(c, transform=transform) for c, transform in zip(channels, seen, strict=True)]
        own_found += attacked(x, y, error).attacks[Attack.SHARES]
        elsewhere_found += attacked(x, y, error, channels=channels).attacks[Attack.SHARES]
    assert own_found == pytest.approx(elsewhere_found, rel=0.1)


def test_row_order_of_either_file_changes_nothing():
    x = skewed(300, 2)
    x[::17, 0] = np.nan
    y, keys = noisy(x, 0.2), randomised_keys(300, 3, exact=(1,))
    identity = np.random.default_rng(7).permutation(10_000)[:300]
    first = attacked(x, y, ROUGHLY, keys=keys, identity=identity)
    order = np.random.default_rng(8).permutation(300)
    released, moved, own = shuffled_rows(y, keys)
    moved = KnownKeys(keys.true[order], moved.released, keys.channels)
    second = attacked(x[order], released, ROUGHLY, keys=moved, identity=identity[order], own=own[order])
    np.testing.assert_array_equal(second.found, first.found[order])
    np.testing.assert_allclose(second.believed, first.believed[order], rtol=1e-9)
    np.testing.assert_allclose(second.posterior, first.posterior[order], rtol=1e-9, atol=1e-15)


def test_renamed_categories_change_nothing():
    x = skewed(200, 1)
    keys = randomised_keys(200, 2)
    new = np.array([2, 0, 3, 1, 4])
    channels = tuple(m[np.argsort(new[:4])][:, np.argsort(new)] for m in keys.channels)
    renamed = KnownKeys(new[keys.true].astype(np.int32), new[keys.released].astype(np.int32), channels)
    first, second = (attacked(x, noisy(x, 0.2), keys=given) for given in (keys, renamed))
    np.testing.assert_array_equal(first.found, second.found)
    np.testing.assert_allclose(first.believed, second.believed)


def test_persons_without_a_record_are_not_found():
    x = skewed(400, 2, zeros=0.0)
    y, _, own = shuffled_rows(noisy(x, 0.05), None, kept=0.5)
    result = attacked(x, y, own=own)
    assert not result.found[own < 0].any()
    assert not result.posterior[own < 0].any()
    assert result.found[own >= 0].mean() > 0.5
    assert result.believed.sum() == pytest.approx(result.found.sum(), rel=0.15)


def test_target_with_nothing_known_picks_at_random():
    """Numbers missing in the original: every record is as good as any other with the same keys."""
    x = skewed(200, 1, zeros=0.0)
    y = noisy(x, 0.01)
    x[:20], y[:20] = np.nan, np.nan
    result = attacked(x, y)
    np.testing.assert_allclose(result.posterior[:20], 1 / 200, rtol=0.5)
    assert result.found[20:].mean() > 0.3


def test_blank_is_an_outcome():
    """Only large values were blanked: who is large is looked for among the blanks."""
    x = np.arange(1.0, 1_001.0)[:, None]
    y = np.where(x > 990, np.nan, x)
    result = attacked(x, y)
    np.testing.assert_allclose(result.found[-10:], 0.1)
    np.testing.assert_allclose(result.found[:900], 1.0)


@pytest.mark.parametrize("error", [EXACTLY, ROUGHLY])
def test_edges(error):
    one = np.ones((1, 1))
    assert attacked(one, one + 5, error).value == 1.0
    alike = np.ones((6, 2))
    np.testing.assert_allclose(attacked(alike, alike, error).value, 1 / 6)
    missing = np.full((6, 2), np.nan)
    np.testing.assert_allclose(attacked(missing, missing, error).value, 1 / 6)
    np.testing.assert_allclose(attacked(alike, missing, error).value, 1 / 6)
    np.testing.assert_allclose(attacked(np.empty((6, 0)), np.empty((6, 0)), error).value, 1 / 6)
    nobody = attacked(alike, np.empty((0, 2)), error, own=np.full(6, -1))
    assert nobody.value == 0.0
    assert nobody.claims(0.5) == (0, 0.0)


def test_infinite_values_are_missing():
    x = skewed(50, 1)
    y, with_nan = x.copy(), x.copy()
    y[3], with_nan[3] = np.inf, np.nan
    np.testing.assert_array_equal(attacked(x, y).found, attacked(x, with_nan).found)


def test_weights_of_the_best_records():
    x = np.repeat([[1.0], [2.0]], [2, 3], axis=0)
    result = attacked(x, x, weights=np.array([1.0, 2.0, 10.0, 20.0, 30.0]))
    np.testing.assert_array_equal(result.best_weight, [3, 3, 60, 60, 60])


def test_some_targets_are_those_of_all():
    x = skewed(300, 2)
    y = noisy(x, 0.2)
    targets = draw_targets(np.arange(300), 100, np.random.default_rng(1))
    some, everybody = attacked(x, y, targets=targets), attacked(x, y)
    np.testing.assert_array_equal(some.targets, targets)
    for attack in (Attack.SHARES, Attack.LIKELIHOOD, Attack.NEAREST_RECORD):
        assert attack in some.attacks
    if some.attack is everybody.attack:
        np.testing.assert_array_equal(some.found, everybody.found[targets])
    assert everybody.sampling_error == 0.0
    expected = some.found.std(ddof=1) / 10 * np.sqrt(2 / 3)
    assert some.sampling_error == pytest.approx(expected)


def test_targets_are_the_same_persons_in_every_order():
    identity = np.random.default_rng(1).permutation(1_000)
    order = np.random.default_rng(2).permutation(1_000)
    first = draw_targets(identity, 50, np.random.default_rng(3))
    second = draw_targets(identity[order], 50, np.random.default_rng(3))
    assert set(identity[first]) == set(identity[order][second])
    assert len(set(first)) == 50
    assert draw_targets(identity, 2_000, np.random.default_rng(3)).size == 1_000


def test_knowledge_is_within_the_error():
    x = np.full((10_000, 2), 100.0)
    known = known_values(x, np.array([0.1, 0.0]), np.arange(10_000))
    assert known[:, 0].min() == pytest.approx(90, abs=0.1)
    assert known[:, 0].max() == pytest.approx(110, abs=0.1)
    assert known[:, 0].mean() == pytest.approx(100, abs=0.3)
    np.testing.assert_array_equal(known[:, 1], 100)


@pytest.mark.parametrize("error", [EXACTLY, ROUGHLY])
@pytest.mark.parametrize("changed", [False, True])
def test_some_targets_are_found_as_when_all_are_attacked(error, changed):
    """Blocks without a target are not laid out, and matter to none."""
    rng = np.random.default_rng(5)
    x = skewed(600, 2, zeros=0.1)
    codes = rng.integers(0, 40, (600, 1)).astype(np.int32)
    keys = KnownKeys(codes, codes, (np.eye(41),))
    targets = np.sort(rng.choice(600, 12, replace=False))
    y = noisy(x, 0.3) if changed else x
    every = attacked(x, y, error, keys=keys)
    some = attacked(x, y, error, keys=keys, targets=targets)
    if some.attack is every.attack:
        np.testing.assert_allclose(some.found, every.found[targets])
        np.testing.assert_allclose(some.believed, every.believed[targets])
    shared = {name for name in some.attacks if name in every.attacks}
    assert shared == set(every.attacks)


def test_targets_are_those_with_the_smallest_draws():
    identity = np.arange(500) % 90  # several are equal
    chosen = draw_targets(identity, 20, np.random.default_rng(1))
    stream = int(np.random.default_rng(1).integers(1, 2**62))
    order = np.lexsort((identity, number_intruder._uniform(identity, stream)))
    assert chosen.tolist() == sorted(order[:20].tolist())


@pytest.mark.parametrize("error", [EXACTLY, ROUGHLY])
@pytest.mark.parametrize("how", ["noise", "rank swap", "microaggregation"])
def test_the_value_of_some_pairs_is_that_of_all(monkeypatch, how, error):
    """A small study of what 50,000 pairs of a large file say: here 300 of 1,500, for the same persons."""
    x = skewed(1500, 2)
    ways = {
        "noise": lambda: noisy(x, 0.3),
        "rank swap": lambda: rank_swapped(x, 0.05),
        "microaggregation": lambda: averaged(x, 3),
    }
    y = ways[how]()
    whole = attacked(x, y, error)
    monkeypatch.setattr(number_channel, "MOST_PAIRS", 300)
    monkeypatch.setattr(number_channel, "CHOOSING", 300)
    some = attacked(x, y, error)
    error_of_one = whole.found.std() / np.sqrt(x.shape[0])
    assert some.value == pytest.approx(whole.value, abs=2 * error_of_one)
    assert some.value > 0.8 * whole.value


@pytest.mark.parametrize("kept", [1.0, 0.8])
def test_keys_by_combination_are_those_of_each_person(kept):
    x = skewed(300, 1)
    keys = randomised_keys(300, 2, exact=(0,))
    y, keys, own = shuffled_rows(noisy(x, 0.3), keys, kept=kept)
    true, person = np.unique(keys.true, axis=0, return_inverse=True)
    released, record = np.unique(keys.released, axis=0, return_inverse=True)
    short = KnownKeys(true, released, keys.channels, person.ravel(), record.ravel())
    errors = np.array([0.1])
    one, other = (attack_numbers(x, y, own, errors=errors, keys=given) for given in (keys, short))
    assert one.attacks == pytest.approx(other.attacks)
    np.testing.assert_allclose(one.found, other.found)
    np.testing.assert_allclose(one.believed, other.believed)


def test_several_numbers_at_a_time_teach_the_same(monkeypatch):
    x = skewed(400, 3)
    y = noisy(x, 0.2)
    one = attacked(x, y, ROUGHLY)
    monkeypatch.setattr(number_intruder, "MANY", 100)
    other = attacked(x, y, ROUGHLY)
    np.testing.assert_array_equal(one.found, other.found)
    np.testing.assert_array_equal(one.believed, other.believed)
