"""Whole households in files of new records: compositions that come back beyond chance."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.people import households
from sdckit.risk._whole_households import Homes, _coded, _compositions, _excess, _expected_again, _numbers

KEYS = ["region", "sex", "age"]
LIMIT = 0.05


def homes(seed: int, number: int = 500) -> pl.DataFrame:
    """Persons in 80 cells, each of them common; together most are one of a kind."""
    return households(number, seed).select("home", "region", "sex", pl.col("age") // 20, "health")


def shuffled(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """The same households under new numbers, in a new order."""
    drawn = np.random.default_rng(seed).permutation(frame["home"].n_unique()) + 5_000
    number = pl.Series(drawn).gather(frame["home"].rank("dense").cast(pl.Int64) - 1)
    return frame.with_columns(number.alias("home")).sample(fraction=1, shuffle=True, seed=seed)


def found(made: pl.DataFrame, others: pl.DataFrame | None, seed: int = 4) -> tuple[float, str]:
    roles = {"keys": KEYS, "sensitive": "health", "household": "home"}
    data, safe = (sdc.read(frame, **roles) for frame in (homes(seed), made))
    result = sdc.risk.reidentification_risk(data, safe, linked=False, holdout=others)
    return result.figures["in_some_columns"], " ".join(result.notes)


@pytest.mark.parametrize("held_back", [True, False])
def test_households_copied_whole_are_known_by_their_composition(held_back):
    others = homes(44) if held_back else None
    made = shuffled(homes(4), 1)
    value, notes = found(made, others)
    assert value > 0.4
    assert "as whole households" in notes
    junk = made.with_columns(pl.col("health").shuffle(seed=1))
    assert found(junk, others)[0] > 0.2
    apart = made.with_columns(pl.col("home").shuffle(seed=2))
    assert found(apart, others)[0] <= LIMIT


@pytest.mark.parametrize("held_back", [True, False])
@pytest.mark.parametrize("seed", [71, 72])
def test_other_households_come_back_no_more_than_by_chance(held_back, seed):
    assert found(homes(seed), homes(44) if held_back else None)[0] <= LIMIT


def test_a_composition_is_its_members_in_any_order():
    home = _numbers(pl.Series([7, 7, 3, 3, None, None]))
    assert home.tolist() == [1, 1, 0, 0, 2, 3]
    column = _coded(np.array([1.0, 2.0, 2.0, 1.0, np.nan, np.nan]))
    together, size = _compositions([column], home)
    assert together[0] == together[1] != together[2] == together[3]
    assert size.tolist() == [2, 2, 1, 1]


def test_persons_in_households_one_of_a_kind_are_counted():
    """Households {1, 2}, {1, 1}, {3}, {3}; the first two are one of a kind, the first comes back."""
    mine = _coded(np.array([1.0, 2.0, 1.0, 1.0, 3.0, 3.0]))
    made, nobody = _coded(np.array([2.0, 1.0, 3.0])), _coded(np.empty(0))
    at = Homes(np.array([0, 0, 1, 1, 2, 3]), np.array([0, 0, 1]), np.empty(0, dtype=np.int64))
    assert _excess([[mine, made, nobody]], at)[0] == pytest.approx(2 / 6 - 2 / 6)  # the pair of {3}
    held = Homes(at.people, at.records, np.array([0, 1]))
    assert _excess([[mine, made, _coded(np.array([4.0, 3.0]))]], held)[0] == pytest.approx(2 / 6)


def test_what_another_file_has_again():
    """Against the mean over many pairs of files: never less, and at most a third more."""
    rng = np.random.default_rng(1)
    share = rng.dirichlet(np.full(300, 0.8))
    expected, again = [], []
    for _ in range(200):
        one, two = rng.multinomial(200, share), rng.multinomial(200, share)
        again.append(((one == 1) & (two > 0)).sum())
        expected.append(_expected_again(np.repeat(one, one)).sum())
    assert np.mean(again) <= np.mean(expected) * 1.02
    assert np.mean(expected) < 1.34 * np.mean(again)
