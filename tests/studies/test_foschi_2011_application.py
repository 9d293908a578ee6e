"""The application of Foschi (2011) in small: tables of the right form, the planted enterprises known."""

import re
import sys

import numpy as np
import polars as pl
import pytest

import conftest
import sdckit as sdc


@pytest.fixture(scope="module")
def study():
    return conftest.study("foschi_2011_application")


@pytest.fixture(scope="module")
def found(study):
    return study.apply(sdc.demo.business(n=600, seed=2))


def test_the_enterprises_moved_are_those_of_the_demo_data(study, monkeypatch):
    moved = sdc.demo.business(n=2_000, seed=3).frame
    way = study.planted(2_000, 3)
    monkeypatch.setattr(sys.modules["sdckit.demo.business"], "_disturb", lambda accounts, _: accounts)
    untouched = sdc.demo.business(n=2_000, seed=3).frame
    differs = np.zeros(2_000, dtype=bool)
    for column in study.VARIABLES:
        differs |= (moved[column] != untouched[column]).to_numpy()
    assert (differs == (way >= 0)).all()
    assert 0.02 < differs.mean() < 0.04
    assert set(way.tolist()) == {-1, 0, 1, 2, 3}
    staff = (moved["staff_costs"] > untouched["staff_costs"]).to_numpy()
    assert set(way[staff].tolist()) <= {1, 2}
    assert (moved["earnings"] != untouched["earnings"]).to_numpy()[way == 3].all()


def test_every_enterprise_is_in_one_stratum(study, found):
    assert found.records.height == found.strata["records"].sum() == found.levels["records"].sum() == 600
    counts = found.records.group_by("nace", "size_class").len()
    joined = found.records.join(counts, on=["nace", "size_class"])
    assert (joined["original"] == joined["len"]).all()
    assert found.share == pytest.approx(found.records["atypical"].sum() / 600)


def test_quantiles_stand_beside_the_papers(study):
    text = study.quantiles({10: 1, 50: 5}, 0, ours=pl.Series(range(101)))
    assert text.splitlines()[2:] == ["| ours | 10 | 50 |", "| paper | 1 | 5 |"]


def test_groups_are_counted(study):
    records = pl.DataFrame({"size_class": [1, 1, 1, 2], "atypical": [True, False, False, True]})
    lines = study.by_group(records, pl.col("size_class"), "class").splitlines()
    assert lines[2:] == ["| 1 | 3 | 1 | 33.3 % |", "| 2 | 1 | 1 | 100.0 % |"]


def test_the_smallest_strata_by_hand(study):
    codes = ["a"] * 1 + ["b"] * 2 + ["c"] * 3 + ["d"] * 10
    records = pl.DataFrame({"nace": codes, "size_class": 1}).with_columns(
        original=pl.len().over("nace"), atypical=pl.col("nace").is_in(["b", "d"])
    )
    # sizes 1, 2, 3 and 10: the 70 % quantile is 3.7, below which are two of the twelve atypical ones
    assert study.first_strata(records) == pytest.approx(2 / 12)


def test_logarithms_keep_the_records(study):
    data = sdc.demo.business(n=300, seed=1)
    logs = study.on_log_scale(data).frame
    assert np.exp(logs["turnover"].to_numpy()) == pytest.approx(data.frame["turnover"].to_numpy())
    shares = (data.frame["earnings"] / data.frame["turnover"]).to_numpy()
    assert logs["earnings"].to_numpy() == pytest.approx(shares)


def test_the_page_shows_all_tables(study, found):
    text = study.page(found, study.planted(600, 2), "the other settings", 2)
    for table in range(2, 7):
        assert f"## Table {table}" in text
    assert "the other settings" in text
    assert "| paper | 0.117 | 0.142 |" in text
    assert not re.search(r"\bnan\b|\{", text)


def test_the_papers_table_3_adds_up(study):
    assert sum(n for n, _ in study.TABLE_3) == 76
    assert sum(m for _, m in study.TABLE_3) == study.RECORDS
