"""Households found by the numbers of all their members."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc


def homes(number: int = 100, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(number), rng.integers(1, 4, number))
    sex = rng.choice(["f", "m"], len(home))
    return pl.DataFrame({"home": home, "sex": sex, "income": rng.normal(0, 10, len(home))})


def found(true: pl.DataFrame, shown: pl.DataFrame, numbers: list[str]) -> dict[str, float]:
    data = sdc.read(true, keys="sex", numeric=numbers or ["income"], household="home")
    knows = sdc.Intruder("relative", ["sex"], dict.fromkeys(numbers, 0.0), unit="household")
    result = sdc.risk.reidentification_risk(data, data.with_frame(shown), intruders=[knows])
    return {**result.figures, "value": result.value}


def with_noise(frame: pl.DataFrame, spread: float, seed: int = 2) -> pl.DataFrame:
    noise = np.random.default_rng(seed).normal(0, spread, frame.height)
    return frame.with_columns(pl.col("income") + noise)


@pytest.mark.parametrize("constant", [5.0, 0.1, None])
def test_a_number_that_tells_nothing_hides_nobody(constant):
    true = homes().with_columns(pl.lit(constant, dtype=pl.Float64).alias("same"))
    shown = with_noise(true, 5.0)
    alone = found(true, shown, ["income"])
    assert alone["value"] > 0.3
    assert found(true, shown, ["income", "same"]) == pytest.approx(alone)


def test_numbers_far_from_zero_are_compared_by_all_their_digits():
    true = homes()
    far = [x.with_columns(pl.col("income") + 1e9) for x in (true, with_noise(true, 5.0))]
    near = found(true, with_noise(true, 5.0), ["income"])["value"]
    assert found(*far, ["income"])["value"] == pytest.approx(near, abs=0.02)


@pytest.mark.parametrize("change", [pl.col("income") + 1000, pl.col("income") * 1.1])
def test_a_change_that_all_have_hides_no_household(change):
    true = homes()
    assert found(true, true.with_columns(change), ["income"])["value"] == 1


def test_who_knows_whole_households_finds_no_fewer_than_who_looks_for_one_member():
    true = homes()
    blank = pl.when(pl.int_range(pl.len()) % 2 == 0).then("income")
    assert found(true, true.with_columns(blank), ["income"])["value"] > 0.6


def test_households_that_a_weaker_attack_is_sure_of_are_claims():
    rng = np.random.default_rng(4)
    home = np.repeat(np.arange(1500), 2)
    income = rng.normal(3000, 300, 3000)
    income[:10] += np.repeat(np.arange(1, 6), 2) * 20_000
    true = pl.DataFrame({"home": home, "sex": rng.choice(["f", "m"], 3000), "income": income})
    hidden = pl.when(pl.Series(rng.random(3000) >= 0.15)).then("sex")
    shown = with_noise(true, 1500.0).with_columns(hidden)
    assert found(true, shown, [])["claims"] == 0
    assert found(true, shown, ["income"])["claims_right"] >= 2
