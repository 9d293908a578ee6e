"""Measures of a sample drawn by ids."""

import math
from dataclasses import replace

import polars as pl
import pytest

import sdckit as sdc
from engine_frames import ENGINES, on_engine
from sdckit.data import keyed_sample

OUTSIDE = [one for one in ENGINES if one != "polars"]
MEASURES = ("ecdf_distance", "propensity")
N = 4000


@pytest.fixture(scope="module")
def files():
    place = pl.int_range(N)
    rows = pl.select(id=place, x=(place * 7919 % N).cast(pl.Float64), g=(place % 5).cast(pl.String))
    data = sdc.read(rows, id="id", numeric="x", keys="g")
    moved = pl.when(pl.col("g") == "1").then(pl.col("x") * 0.5).otherwise(pl.col("x"))
    return data, data.with_frame(rows.with_columns(moved.alias("x")))


@pytest.mark.parametrize("engine", OUTSIDE)
@pytest.mark.parametrize("name", MEASURES)
def test_small_files_are_taken_whole(name, engine, files, request):
    measure = getattr(sdc.utility, name)
    moved = [on_engine(engine, data, request) for data in files]
    assert measure(*moved).value == pytest.approx(measure(*files).value, rel=1e-12)
    assert measure(*moved).notes == measure(*files).notes


@pytest.mark.parametrize("name", MEASURES)
def test_a_sample_is_announced_with_its_error(name, files, request, monkeypatch):
    monkeypatch.setattr(keyed_sample, "RECORDS", 1000)
    measure = getattr(sdc.utility, name)
    moved = [on_engine("duckdb", data, request) for data in files]
    found, again = measure(*moved), measure(*moved)
    assert found.value == again.value
    note = found.notes[0]
    assert "of 4,000 records, drawn by their ids; standard error of the value" in note
    error = float(note.split("standard error of the value ")[1].split(" ")[0])
    truth = measure(*files).value
    assert 0 < error < 0.05
    assert math.isclose(found.value, truth, abs_tol=5 * error + 0.01)


def test_the_same_persons_in_both_files(files, request, monkeypatch):
    monkeypatch.setattr(keyed_sample, "RECORDS", 500)
    seen = []

    def measure(one, other):
        seen.append((one.frame["id"].to_list(), other.frame["id"].to_list()))
        return sdc.Result(1.0)

    keyed_sample.on_keyed_sample(measure, [on_engine("duckdb", data, request) for data in files])
    assert len(seen) == 1 + keyed_sample.GROUPS
    assert all(one == other for one, other in seen)
    assert 400 < len(seen[0][0]) < 600
    assert sorted(i for one, _ in seen[1:] for i in one) == seen[0][0]


def test_without_an_id_it_is_refused(files, request, monkeypatch):
    monkeypatch.setattr(keyed_sample, "RECORDS", 500)
    moved = [on_engine("duckdb", sdc.read(data.frame, numeric="x"), request) for data in files]
    with pytest.raises(sdc.errors.EngineError, match="drawn by ids"):
        sdc.utility.ecdf_distance(*moved)


def test_a_file_with_fewer_records_draws_by_its_own_ids(files, request, monkeypatch):
    monkeypatch.setattr(keyed_sample, "RECORDS", 500)
    fewer = replace(files[1], frame=files[1].frame.filter(pl.col("id") % 3 > 0))
    seen = []

    def measure(one, other):
        seen.append((one.frame["id"].to_list(), other.frame["id"].to_list()))
        return sdc.Result(1.0)

    keyed_sample.on_keyed_sample(measure, [on_engine("duckdb", data, request) for data in (files[0], fewer)])
    assert seen[0][1] == [i for i in seen[0][0] if i % 3 > 0]


@pytest.mark.parametrize("other", ["shifted", "half", "text"])
def test_a_file_with_other_ids_draws_its_own(files, request, monkeypatch, other):
    monkeypatch.setattr(keyed_sample, "RECORDS", 500)
    ids = {
        "shifted": pl.col("id") + 10**6,
        "half": pl.col("id") + N // 2,
        "text": "p" + pl.col("id").cast(pl.String),
    }
    second = files[1].with_frame(files[1].frame.with_columns(id=ids[other]))
    sizes = []

    def measure(one, other):
        sizes.append((one.height, other.height))
        return sdc.Result(1.0)

    keyed_sample.on_keyed_sample(measure, [on_engine("duckdb", data, request) for data in (files[0], second)])
    assert all(400 < size < 600 for size in sizes[0])


def test_the_risk_of_files_with_other_ids_is_not_known(files, request):
    second = files[1].with_frame(files[1].frame.with_columns(pl.col("id") + 10**6))
    moved = [on_engine("duckdb", data, request) for data in (files[0], second)]
    found = sdc.risk.reidentification_risk(*moved)
    assert math.isnan(found.value)
    assert "Nothing tells which" in " ".join(found.notes)
