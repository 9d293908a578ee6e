"""A file among the options: read once, whatever it is given as, and never shown."""

import os

import polars as pl
import pytest

import sdckit as sdc
from sdckit.methods import file_option
from sdckit.methods.file_option import as_microdata
from sdckit.methods.registry import find


@pytest.fixture
def reads(monkeypatch):
    """The paths that are read, in their order; nothing is kept from other tests."""
    seen = []
    read = file_option.read
    file_option._read.cache_clear()
    monkeypatch.setattr(file_option, "read", lambda source: seen.append(source) or read(source))
    return seen


def test_a_file_is_read_once_until_it_is_written_again(tmp_path, reads, monkeypatch):
    data = sdc.read(pl.DataFrame({"age": [30, 80]}), keys="age")
    path = tmp_path / "register.csv"
    pl.DataFrame({"age": [30, 30, 80]}).write_csv(path)
    counts = [
        sdc.risk.k_map(data, population=given).parts["population_count"].to_list()
        for given in (path, str(path), path)
    ]
    monkeypatch.chdir(tmp_path)
    counts.append(sdc.risk.k_map(data, population="register.csv").parts["population_count"].to_list())
    assert counts == [[2, 1]] * 4
    assert len(reads) == 1
    pl.DataFrame({"age": [30, 80, 80]}).write_csv(path)  # of the same size
    os.utime(path, ns=(0, 0))
    assert sdc.risk.k_map(data, population=path).parts["population_count"].to_list() == [1, 2]
    assert len(reads) == 2


def test_three_scenarios_read_a_register_once(tmp_path, reads):
    data = sdc.demo.survey(n=100, seed=1)
    register = tmp_path / "register.parquet"
    sdc.demo.survey(n=300, seed=2).frame.write_parquet(register)
    for width in (5, 10, 20):
        protected = sdc.protect.recode(data, variable="age", width=width)
        told = sdc.assess(data, protected, measures=["k_map"], k_map={"population": str(register)})
        assert told.after["k_map"].value < told.before["k_map"].value
    assert len(reads) == 1


def test_tables_and_microdata_are_taken_unchanged(reads):
    data = sdc.read(pl.DataFrame({"a": [1, 2]}))
    assert as_microdata(data) is data
    assert as_microdata(pl.DataFrame({"a": [1, 2]})).height == 2
    assert len(reads) == 1


@pytest.mark.parametrize("given", ["nowhere.csv", "no\0name.csv", 3])
def test_what_cannot_be_read_is_said(given):
    data = sdc.read(pl.DataFrame({"a": [1, 2]}), keys="a")
    with pytest.raises(sdc.SdcError):
        sdc.risk.k_map(data, population=given)


def test_only_the_size_shows_and_a_form_asks_for_a_file():
    data = sdc.read(pl.DataFrame({"a": ["secret", "b"]}), keys="a")
    assert sdc.risk.k_map(data, population=data).options["population"] == "2 records"
    assert sdc.risk.closest_record(data, data, holdout=data).options["holdout"] == "2 records"
    for measure, option in (("k_map", "population"), ("closest_record", "holdout")):
        (field,) = [f for f in find(measure).form() if f.name == option]
        assert (field.kind, field.required) == ("file", measure == "k_map")
        assert field.label
        assert field.help
