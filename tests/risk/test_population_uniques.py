"""Population uniques against stored results, brute force and a population that is known."""

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import poisson

import sdckit as sdc
from conftest import oracle_cases
from sdckit.errors import OptionError


def formula_of(case) -> list[list[str]]:
    terms = case["inputs"]["formula"].removeprefix("~").split("+")
    return [term.strip().split(":") for term in terms if ":" in term]


@pytest.mark.parametrize("case", oracle_cases("03b", lambda c: "modrisk" in c["id"]))
def test_stored_results(oracles, case):
    """The literature's formulas; sdcMicro leaves out the division by π and often gives NaN."""
    inputs, expected = case["inputs"], case["expected"]
    data = oracles.data(case["dataset"], keys=inputs["variables"], weight=inputs["weight"])
    result = sdc.risk.population_uniques(data, formula=formula_of(case))
    assert math.isfinite(result.value)
    if case["params"]["method"] in ("CE", "weightedLLM", "IPF"):
        return  # IPF stores no figures; the other two fit λ in a way of sdcMicro's own: see the next test
    assert result.figures["sample_uniques"] == expected["n_sample_unique"]
    assert result.figures["tau1"] == pytest.approx(expected["tau1_literature"], rel=1e-6)
    assert result.figures["tau2"] == pytest.approx(expected["tau2_literature"], rel=1e-6)


@pytest.mark.parametrize("case", oracle_cases("03b", lambda c: "cells_csv" in c["expected"]))
def test_formulas_on_the_stored_means(oracles, case):
    from sdckit.risk.population_uniques import _mean_reciprocal

    cells = oracles.frame(case["expected"]["cells_csv"]).filter(pl.col("counts") == 1)
    v = cells["lam"].to_numpy() * (1 / cells["sp"].to_numpy() - 1)
    assert np.exp(-v).sum() == pytest.approx(case["expected"]["tau1_literature"], rel=1e-9)
    assert _mean_reciprocal(v).sum() == pytest.approx(case["expected"]["tau2_literature"], rel=1e-9)


def test_formulas_are_those_of_the_poisson_model():
    # given f = 1, F − 1 is Poisson with mean λ(1−π)
    from sdckit.risk.population_uniques import _mean_reciprocal

    v = np.array([0.0, 1e-14, 1e-6, 0.3, 2.0, 40.0])
    more = np.arange(400)
    brute = [(poisson.pmf(more, x) / (1 + more)).sum() for x in v]
    np.testing.assert_allclose(_mean_reciprocal(v), brute, rtol=1e-9)


def known_population() -> tuple[pl.DataFrame, list[str]]:
    rng = np.random.default_rng(3)
    n = 60_000
    a = rng.choice(20, n, p=np.arange(1, 21) / 210)
    b = (a // 3 + rng.integers(0, 6, n)) % 12
    c = (b // 2 + rng.geometric(0.4, n)) % 9
    d = rng.choice(5, n, p=[0.6, 0.2, 0.1, 0.07, 0.03])
    keys = ["a", "b", "c", "d"]
    return pl.DataFrame(dict(zip(keys, (a, b, c, d), strict=True))), keys


def test_a_population_that_is_known():
    people, keys = known_population()
    everybody = people.with_columns(F=pl.len().over(keys))
    sample = everybody.sample(6000, seed=1).with_columns(f=pl.len().over(keys), w=pl.lit(10.0))
    alone = sample.filter(pl.col("f") == 1)["F"]
    data = sdc.read(sample.select(*keys, "w"), keys=keys, weight="w")
    right = sdc.risk.population_uniques(data, formula=[["a", "b"], ["b", "c"]])
    assert right.figures["sample_uniques"] == len(alone)
    assert right.value == pytest.approx((alone == 1).sum(), rel=0.15)
    assert right.figures["tau2"] == pytest.approx((1 / alone).sum(), rel=0.1)
    assert abs(right.figures["fit_check"]) < 4
    poor = sdc.risk.population_uniques(data)  # independent keys: too smooth
    assert poor.figures["fit_check"] > 20
    assert poor.value > 1.5 * (alone == 1).sum()
    assert "lacks interactions" in poor.notes[-1]
    full = sdc.risk.population_uniques(data, formula=[keys])
    assert full.figures["fit_check"] < -10
    assert full.value < 0.5 * (alone == 1).sum()


def test_fit_check_is_the_sum_over_all_cells():
    frame = pl.DataFrame({"a": [0, 0, 0, 1, 1, 2], "b": [0, 0, 1, 0, 1, 1]})
    pi = 6 / 24
    result = sdc.risk.population_uniques(sdc.read(frame, keys=["a", "b"]), population_size=24)
    bias = variance = 0.0
    for a in range(3):
        for b in range(2):
            f = frame.filter(a=a, b=b).height
            lam = 24 * (frame["a"] == a).mean() * (frame["b"] == b).mean()
            slope = lam * math.exp(-lam) * (1 - pi)
            curve = slope * (1 - pi) / (2 * pi)
            mu = pi * lam
            bias += slope * (f - mu) + curve * ((f - mu) ** 2 - f)
            variance += slope**2 * mu + 2 * curve**2 * mu**2
    assert result.figures["fit_check"] == pytest.approx(bias / math.sqrt(variance))


@pytest.mark.parametrize("model", ["loglinear", "pitman", "hoshino", "zayatz", "snb"])
def test_a_file_that_is_the_population(model):
    data = sdc.read(pl.DataFrame({"k": [1, 2, 2, 3, 4, 4, 4]}), keys="k")
    result = sdc.risk.population_uniques(data, model=model)
    assert result.value == result.figures["tau2"] == 2
    assert result.parts["population_unique"].to_list() == [1.0, None, None, 1.0, None, None, None]
    assert "taken for the whole population" in result.notes[-1]


def test_population_and_weights_say_the_same():
    frame = pl.DataFrame({"a": [1, 1, 2, 2, 3], "b": [1, 2, 1, 1, 2], "w": [4.0] * 5})
    weighted = sdc.risk.population_uniques(sdc.read(frame, keys=["a", "b"], weight="w"))
    told = sdc.risk.population_uniques(sdc.read(frame, keys=["a", "b"]), population_size=20)
    scaled = sdc.risk.population_uniques(sdc.read(frame, keys=["a", "b"], weight="w"), population_size=200)
    assert weighted.figures == pytest.approx(told.figures)
    assert scaled.value < weighted.value


def test_missing_keys():
    frame = pl.DataFrame({"a": [1, 1, 2, 3, None], "b": [1, 1, 1, 2, 2]})
    data = sdc.read(frame, keys=["a", "b"])
    # by the wildcard rule (3, 2) and (missing, 2) match; (2, 1) is alone, λ = 20·¼·⅗ and v = λ·¾
    wildcard = sdc.risk.population_uniques(data, population_size=20)
    assert wildcard.parts["population_unique"].to_list() == [
        None,
        None,
        pytest.approx(math.exp(-2.25)),
        None,
        None,
    ]
    category = sdc.risk.population_uniques(data, population_size=20, missing="category")
    assert category.figures["sample_uniques"] == 3
    nothing = sdc.risk.population_uniques(data, population_size=20, missing="nothing")
    assert nothing.parts["population_unique"][4] == 1
    # a record whose missing key may be anything has the doubles of all those values
    alone = sdc.read(pl.DataFrame({"a": [1, 1, 2, None], "b": [1, 1, 1, 2]}), keys=["a", "b"])
    parts = sdc.risk.population_uniques(alone, population_size=16).parts
    assert parts["population_unique"][3] == pytest.approx(math.exp(-16 / 4 * 3 / 4))


def test_no_solution_gives_nan_with_a_note():
    data = sdc.read(pl.DataFrame({"k": [1, 2, 3, 3, 3]}), keys="k")
    result = sdc.risk.population_uniques(data, model="hoshino", population_size=100)
    assert math.isnan(result.value)
    assert "no solution" in result.notes[0]


def test_refusals():
    data = sdc.read(pl.DataFrame({"a": [1, 2], "b": [1, 2]}), keys=["a", "b"])
    with pytest.raises(OptionError, match=r"smaller than the file. Given: 1. Allowed: 2 or more"):
        sdc.risk.population_uniques(data, population_size=1)
    with pytest.raises(OptionError, match=r"formula may only name keys. Given: c. Allowed: a, b"):
        sdc.risk.population_uniques(data, formula=[["a", "c"]])
