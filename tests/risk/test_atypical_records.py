"""Atypical records: stored contaminated files, strata that cannot be tested, missing values."""

import math

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from conftest import oracle_cases
from sdckit.errors import DataError, OptionError
from sdckit.models.mixture_families import Family
from sdckit.risk.atypical_records import atypical_records


@pytest.mark.parametrize("case", oracle_cases("09", lambda c: c["id"].startswith("sim_")))
def test_stored_contamination_is_found(oracles, case):
    table = np.genfromtxt(oracles.path(case["dataset"]["csv"]), delimiter=",", skip_header=1)
    names = case["inputs"]["variables"]
    data = sdc.read(pl.DataFrame(table[:, :6], names), numeric=names)
    result = atypical_records(data)
    found, bad = result.parts["atypical"].to_numpy(), table[:, 6] == 0
    assert result.figures["tested"] == len(table)
    assert result.value == pytest.approx(found.mean())
    assert found[~bad].mean() <= 0.06
    if bad.any():
        assert found[bad].mean() >= 0.85
        assert not result.parts["kept"].to_numpy()[bad].any()


def strata(seed=0):
    """Strata a (two groups, some records moved), b (constant), c (collinear), none (three records)."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(100, 2)) * [1, 50] + np.where(np.arange(100)[:, None] < 40, 0, [9, 450])
    a[:5] += [30, -900]
    line = rng.normal(size=(40, 1))
    rows = [a, np.ones((30, 2)), np.hstack([line, 3 * line]), rng.normal(size=(3, 2))]
    frame = pl.DataFrame(np.vstack(rows), ["x, y", "<b>"])
    names = ["a"] * 100 + ["b"] * 30 + ["c"] * 40 + [None] * 3
    return sdc.read(frame.with_columns(stratum=pl.Series(names)), numeric=["x, y", "<b>"])


def test_strata_that_cannot_be_tested_get_a_note():
    result = atypical_records(strata(), by="stratum", families=(Family.EII, Family.EEE, Family.VVV))
    table = result.tables["strata"]
    assert table["stratum"].to_list() == ["a", "b", "c", "missing"]
    assert table["why"].to_list()[1::2] == ["no variable varies", "too few records"]
    assert len(result.notes) >= 2
    parts = result.parts
    assert parts["atypical"][:5].all()
    assert parts["atypical"][5:100].mean() < 0.1
    assert parts["p_value"][100:130].is_null().all()
    assert parts["p_value"][170:].is_null().all()
    assert result.figures["untested"] == 33 + (40 if table["why"][2] else 0)
    assert table["collinear"].to_list() == [False, None, True, None]
    assert any("sum of others" in note for note in result.notes)
    full = atypical_records(strata(), by="stratum", families=(Family.EEE, Family.VVV))
    assert full.tables["strata"]["why"][2] == "constant or collinear"


def test_the_driver_is_the_variable_that_stands_out():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(120, 3))
    x[3, 1] = 40
    x[7, 2] = -40
    data = sdc.read(pl.DataFrame(x, ["p", "q", "r"]), numeric=["p", "q", "r"])
    parts = atypical_records(data).parts
    assert parts["driver"][3] == "q"
    assert parts["driver"][7] == "r"
    assert parts["distance"].arg_max() in (3, 7)


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_outliers_up_to_the_trimmed_share_are_all_found(share):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(200, 3))
    bad = rng.choice(200, int(200 * share), replace=False)
    x[bad] = rng.normal(size=(len(bad), 3)) * 300
    data = sdc.read(pl.DataFrame(x, ["p", "q", "r"]), numeric=["p", "q", "r"])
    found = atypical_records(data, components=1).parts["atypical"].to_numpy()
    assert found[bad].mean() > 0.95
    assert np.delete(found, bad).mean() < 0.1


def test_missing_numbers_are_refused_or_left_out():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(60, 2)), ["p", "q"])
    frame = frame.with_columns(pl.when(pl.int_range(60) < 4).then(None).otherwise(pl.col("q")).alias("q"))
    data = sdc.read(frame, numeric=["p", "q"])
    with pytest.raises(DataError, match="complete numbers"):
        atypical_records(data)
    result = atypical_records(data, complete=True)
    assert result.figures["untested"] == 4
    assert result.parts["atypical"][:4].is_null().all()
    assert "4 records" in result.notes[0]


def test_a_code_collapses_strata():
    data = sdc.demo.business(600, seed=3)
    result = atypical_records(data, by="size_class", code="nace", smallest=80, families=("EEE", "VVV"))
    assert result.tables["levels"]["records"].sum() == 600
    assert set(result.tables["strata"]["family"].drop_nulls()) <= {"EEE", "VVV"}
    assert 0 < result.value < 0.4
    assert result.chart() is not None


def test_nothing_to_test_is_nan_with_a_note():
    data = sdc.read(pl.DataFrame({"p": [1.0, 2.0, 3.0]}), numeric="p")
    result = atypical_records(data)
    assert math.isnan(result.value)
    assert result.notes
    with pytest.raises(OptionError):
        atypical_records(data, trim=0.5)
    with pytest.raises(OptionError):
        atypical_records(data, families=())
    text = sdc.read(pl.DataFrame({"p": ["a", "b"], "q": [1.0, 2.0]}), numeric="q")
    with pytest.raises(DataError, match="found by numbers"):
        atypical_records(text, variables=["p"])


def test_values_that_run_together_stay_different_strata():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"p": rng.normal(size=80), "a": ["x, y"] * 40 + ["x"] * 40})
    frame = frame.with_columns(b=pl.Series(["z"] * 40 + ["y, z"] * 40))
    result = atypical_records(sdc.read(frame, numeric="p"), by=["a", "b"])
    assert result.figures["strata"] == 2
