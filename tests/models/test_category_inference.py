"""Inference of a sensitive category: by hand, against all pairs, and with persons left out."""

import numpy as np
import pytest

import naive_intruder as naive
from intruder_files import SIZES, people, pram, recoded, suppress_unique
from sdckit.models import _key_looks
from sdckit.models.category_inference import infer_category
from sdckit.models.key_intruder import TooManyCells
from sdckit.models.key_pairs import KeyPairs


def sensitive_of(x, rng):
    """A value that hangs on two keys."""
    return np.where(rng.random(len(x)) < 0.7, (x[:, 0] + x[:, 3]) % 4, rng.integers(0, 4, len(x)))


@pytest.mark.parametrize("name", ["nothing", "recoded", "suppressed", "PRAM", "both"])
@pytest.mark.parametrize("subsets", [False, True])
def test_agrees_with_all_persons_against_all_records(name, subsets, monkeypatch):
    if subsets:
        monkeypatch.setattr(_key_looks, "FEW_TENSOR_CELLS", 0)
        monkeypatch.setattr(_key_looks, "VISITS_PER_TENSOR_CELL", 1e9)
    rng = np.random.default_rng(1)
    x = people(400, rng)
    y = {
        "nothing": x,
        "recoded": recoded(x, 2, 10),
        "suppressed": suppress_unique(recoded(x, 2, 5), rng),
        "PRAM": pram(x, 0.9, rng),
        "both": pram(suppress_unique(x, rng), 0.9, rng),
    }[name]
    true = sensitive_of(x, rng)
    shown = (
        np.where(rng.random(400) < 0.1, -1, pram(true[:, None], 0.8, rng)[:, 0]) if name == "both" else true
    )
    pairs = KeyPairs.of_records(x, y, sizes=SIZES)
    fast = infer_category(pairs, true, shown, 4)
    attack = naive.attack(naive.likelihoods(x, y, [c.matrix() for c in pairs.channels()]), np.arange(400))
    share = np.bincount(true, minlength=4) / 400
    chance, right, without = naive.infer(attack["odds"], attack["rho"], np.arange(400), true, shown, 4, share)
    assert fast.baseline == share.max()
    # odds of records beside the best and the own one are cut: felt where two records are nearly certain
    assert np.mean(np.abs(fast.true_chance - chance) > 0.04) < 0.01
    assert np.abs(fast.true_chance - chance).mean() < 0.003
    assert np.abs(fast.without_own - without).mean() < 0.003
    assert fast.guess_right == pytest.approx(right.mean(), abs=0.005)
    assert fast.inferred(0.9) == pytest.approx(np.sum(chance >= 0.9 - 1e-9), rel=0.02)


def test_a_homogeneous_cell_tells_everything_without_finding_anybody():
    x = np.repeat([0, 1, 2], [5, 20, 20])[:, None]
    true = np.where(x[:, 0] == 0, 0, np.arange(45) % 3)
    told = infer_category(KeyPairs.of_records(x, x), true, true, 3)
    np.testing.assert_allclose(told.true_chance[:5], 1)
    assert told.inferred(0.9) == 5
    assert told.inferred_by_own_record(0.9) == 0  # the four others tell it


def test_a_unique_person_owes_it_to_the_own_record():
    x = np.repeat([0, 1], [1, 30])[:, None]
    true = np.arange(31) % 2
    told = infer_category(KeyPairs.of_records(x, x), true, true, 2)
    assert told.inferred(0.9) == told.inferred_by_own_record(0.9) == 1
    assert told.without_own[0] == pytest.approx(16 / 31)


def test_a_value_nearly_all_have_is_not_inferred():
    x = np.repeat([0, 1], [1, 30])[:, None]
    true = np.zeros(31, int)
    true[5] = 1
    told = infer_category(KeyPairs.of_records(x, x), true, true, 2)
    assert told.true_chance[0] == 1
    assert told.inferred(0.9) == 0


def test_randomising_the_sensitive_column_protects():
    rng = np.random.default_rng(2)
    x = people(600, rng)
    true = sensitive_of(x, rng)
    pairs = KeyPairs.of_records(x, x, sizes=SIZES)
    told = [
        infer_category(pairs, true, pram(true[:, None], stay, rng)[:, 0], 4).inferred(0.9)
        for stay in (1, 0.9, 0.6)
    ]
    assert told[0] > told[1] > told[2] == 0


def test_missing_true_values_are_not_counted():
    x = np.repeat([0, 1], 10)[:, None]
    true = np.array([-1, *[0] * 9, *[1] * 10])
    told = infer_category(KeyPairs.of_records(x, x), true, true, 2)
    assert told.persons == 19
    assert told.baseline == pytest.approx(10 / 19)
    np.testing.assert_allclose(told.true_chance[1:10], 0.9)


def test_persons_left_out_leave_a_doubt():
    x = np.repeat([0, 1], 10)[:, None]
    true = np.repeat([0, 1], 10)
    released = np.arange(20) % 2 == 0
    told = infer_category(KeyPairs.of_records(x, x, released=released), true, true, 2)
    np.testing.assert_allclose(told.true_chance, 0.5 + 0.5 * 0.5)  # half of the persons are in the file
    assert told.guess_right == 1


def test_grouped_pairs_give_the_same():
    rng = np.random.default_rng(3)
    x = people(300, rng)
    y, true = pram(x, 0.8, rng), sensitive_of(x, rng)
    plain = infer_category(KeyPairs.of_records(x, y, sizes=SIZES), true, true, 4)
    rows, place, count = np.unique(
        np.column_stack([x, y, true]), axis=0, return_inverse=True, return_counts=True
    )
    pairs = KeyPairs(rows[:, :5], rows[:, 5:10], SIZES, count.astype(float))
    grouped = infer_category(pairs, rows[:, 10], rows[:, 10], 4)
    np.testing.assert_allclose(grouped.true_chance[place.ravel()], plain.true_chance)
    np.testing.assert_allclose(grouped.without_own[place.ravel()], plain.without_own, atol=1e-9)
    assert grouped.guess_right == pytest.approx(plain.guess_right)


def test_too_many_combinations(monkeypatch):
    for name in ("FEW_TENSOR_CELLS", "MOST_TENSOR_CELLS", "MOST_VISITED"):
        monkeypatch.setattr(_key_looks, name, 1)
    rng = np.random.default_rng(4)
    x = people(100, rng)
    true = sensitive_of(x, rng)
    assert isinstance(infer_category(KeyPairs.of_records(x, pram(x, 0.5, rng)), true, true, 4), TooManyCells)
