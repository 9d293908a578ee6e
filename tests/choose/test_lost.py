"""Measures name the variables of which they say nothing, because the protected file no longer has them."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind, Spec

NUMBERS = (
    "correlation_loss", "distribution_distance", "ecdf_distance", "eigenvalues", "il1", "il1s",
    "matrix_discrepancy", "moments", "probabilistic_loss",
)  # fmt: skip
ROLES = (
    "cluster_overlap", "gower_distance", "missing_values", "propensity", "records_changed", "table_pmse",
    "variable_loss",
)  # fmt: skip
CATEGORIES = ("contingency_loss", "contingency_tables", "entropy", "entropy_loss")
COUNTED = ("table_loss",)  # what is lost is part of the value: see its own tests
TOLD = ("indicators", "prediction_quality", "regression")  # estimate what they are told, or refuse


@pytest.fixture(scope="module")
def data() -> sdc.Microdata:
    return sdc.demo.survey(n=300, seed=1).with_roles(
        keys=["sex", "urban", "education"], numeric=["income", "expenditure", "age"]
    )


def utilities() -> list[Spec]:
    return specs(Kind.UTILITY)


def test_every_utility_is_in_one_of_the_lists() -> None:
    assert sorted(s.name for s in utilities()) == sorted((*NUMBERS, *ROLES, *CATEGORIES, *COUNTED, *TOLD))


@pytest.mark.parametrize("name", [*NUMBERS, *ROLES])
def test_a_dropped_number_is_lost(data: sdc.Microdata, name: str) -> None:
    protected = sdc.protect.drop(data, variables=["income"])
    assert getattr(sdc.utility, name)(data, protected).lost == ("income",)
    assert getattr(sdc.utility, name)(data, data).lost == ()


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_made_a_class_is_lost(data: sdc.Microdata, name: str) -> None:
    protected = sdc.protect.recode(data, variable="income", breaks=[1000.0, 2000.0])
    assert protected.frame["income"].dtype.is_numeric() is False
    assert getattr(sdc.utility, name)(data, protected).lost == ("income",)


@pytest.mark.parametrize("name", CATEGORIES)
def test_a_dropped_key_is_lost_and_a_dropped_number_is_none_of_theirs(data: sdc.Microdata, name: str) -> None:
    measure = getattr(sdc.utility, name)
    assert measure(data, sdc.protect.drop(data, variables=["sex"])).lost == ("sex",)
    assert measure(data, sdc.protect.drop(data, variables=["income"])).lost == ()


@pytest.mark.parametrize("name", ["correlation_loss", "eigenvalues", "matrix_discrepancy"])
def test_a_number_that_no_longer_varies_is_lost_to_correlations(data: sdc.Microdata, name: str) -> None:
    flat = data.with_frame(data.frame.with_columns(income=pl.lit(1.0)))
    assert getattr(sdc.utility, name)(data, flat).lost == ("income",)
    assert getattr(sdc.utility, name)(flat, data).lost == ()


def test_a_number_blanked_everywhere_is_lost(data: sdc.Microdata) -> None:
    blank = data.with_frame(data.frame.with_columns(income=pl.lit(None, dtype=pl.Float64)))
    assert sdc.utility.moments(data, blank).lost == ("income",)
    assert sdc.utility.moments(blank, data).lost == ()


def test_a_column_that_never_was_numeric_is_not_lost(data: sdc.Microdata) -> None:
    named = data.with_roles(keys=["urban"], numeric=["income"])
    assert sdc.utility.il1s(named, named, variables=["income", "sex"]).lost == ()


@pytest.mark.parametrize("name", NUMBERS)
def test_the_only_number_is_lost(data: sdc.Microdata, name: str) -> None:
    alone = data.with_roles(numeric=["income"])
    classes = sdc.protect.recode(alone, variable="income", breaks=[1000, 5000])
    assert getattr(sdc.utility, name)(alone, classes).lost == ("income",)


@pytest.mark.parametrize("name", ROLES)
def test_everything_is_lost(name: str) -> None:
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    original = sdc.read(frame, keys="a")
    assert getattr(sdc.utility, name)(original, sdc.read(frame.select("b"))).lost == ("a",)


def test_notes_of_every_set_are_kept(data: sdc.Microdata) -> None:
    less = sdc.protect.drop(data, variables=["income"])
    found = sdc.utility.il1s(data, [data, less])
    assert any("income" in note for note in found.notes)


def test_a_scenario_that_one_loss_says_nothing_of_keeps_its_place_under_another(data: sdc.Microdata) -> None:
    ways = {"without": [{"drop": {"variables": "income"}}], "noisy": [{"add_noise": {"sd": 0.1}}]}
    found = sdc.compare(
        data, ways, risk="k_anonymity", utility="il1s", extra_measures="entropy_loss.share", seed=1
    )
    without, _ = found.results
    assert "says nothing of income" in without.error
    assert (np.isnan(without.loss), np.isfinite(without.risk)) == (True, True)
    seen = found.with_axes(utility="entropy_loss.share")
    assert [(p.error, p.ok) for p in seen.results] == [("", True)] * 2
    back, _ = seen.with_axes(utility="il1s").results
    assert "says nothing of income" in back.error
