"""What the public could work out by subtracting one picture from another."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_subtraction
import sdckit as sdc
from sdckit.choose.assess import assess
from sdckit.data.microdata import Microdata
from sdckit.report import report
from sdckit.report.disclosure import FEW
from sdckit.report.histograms import histograms
from sdckit.report.mosaic_tables import mosaics
from sdckit.report.subtraction import few_by_subtraction, small_difference

CELL = st.sampled_from([0, 0, 0, 1, 2, 3, 6, 20])


@settings(max_examples=400, deadline=None)
@given(st.integers(1, 6).flatmap(lambda n: st.lists(st.lists(CELL, min_size=n, max_size=n), min_size=2)))
def test_agrees_with_all_unions_one_by_one(rows):
    counts = np.array(rows)
    for axis in (0, 1):  # nothing below 5 is shown: the first takes it
        small = counts.sum(axis=1 - axis) < FEW
        small[0] = True
        first = counts.compress(small, axis=axis).sum(axis=axis, keepdims=True)
        counts = np.concatenate([first, counts.compress(~small, axis=axis)], axis=axis)
    if min(counts.sum(axis=0).min(), counts.sum(axis=1).min()) >= FEW:
        expected = naive_subtraction.few_by_subtraction(counts.tolist(), FEW)
        assert few_by_subtraction(counts) == few_by_subtraction(counts.T) == expected


def nested(small: int) -> Microdata:
    """Age in fives and in tens; so many are aged 5 to 9, which go with others in the picture by fives."""
    fives = ["0"] * 40 + ["5"] * small + ["10"] * 40 + ["15"] * 40 + ["20"] * 40 + ["25"] * 3
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"fives": fives}).with_columns(
        (pl.col("fives").cast(pl.Int64) // 10 * 10).cast(pl.String).alias("tens"),
        sex=pl.Series(rng.choice(["f", "m"], len(fives))),
        town=pl.Series(rng.choice(["u", "v"], len(fives))),
    )
    return Microdata.of(frame, keys=["fives", "sex", "tens", "town"])


def test_age_in_tens_does_not_stand_beside_age_in_fives():
    data = nested(2)
    by_five = {"names": ["fives", "sex"], "first": ["0", "10", "15", "20", "other"], "second": ["f", "m"]}
    by_ten = {"names": ["tens", "town"], "first": ["0", "10", "20"], "second": ["u", "v"]}
    towns = {"names": ["town", "sex"], "first": ["u", "v"], "second": ["f", "m"]}
    assert small_difference([data], by_ten, [by_five])  # 42 below 10 less 40 below 5
    assert not small_difference([data], {**by_ten, "names": ["sex", "town"], "first": ["f", "m"]}, [towns])
    found = mosaics(data, data, public=True)
    shown = [name for chart in found["charts"] for name in chart["names"]]
    assert len({"fives", "tens"} & {*shown}) == 1
    assert found["withheld"]
    both = mosaics(nested(30), nested(30), public=False)["charts"]
    assert {"fives", "tens"} <= {name for chart in both for name in chart["names"]}


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_the_same_number_in_another_unit_has_no_histogram_of_its_own(engine):
    rng = np.random.default_rng(3)
    income = rng.lognormal(8, 1, 400).round()
    frame = pl.DataFrame({"month": income, "year": 12 * income + 500, "other": rng.normal(size=400)})
    source = frame if engine == "polars" else pytest.importorskip("duckdb").from_arrow(frame.to_arrow())
    data = sdc.read(source, numeric=["month", "year", "other"])
    found = histograms(data, data, public=True)
    assert [c["name"] for c in found["charts"]] == ["month", "other"]
    assert found["withheld"] == ["year"]
    assert len(histograms(data, data, public=False)["charts"]) == 3


def test_a_few_missing_numbers_withhold_nothing():
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({"x": rng.normal(size=500), "y": rng.normal(size=500)})
    frame = frame.with_columns(pl.when(pl.int_range(500) > 2).then("x").alias("x"))
    data = Microdata.of(frame, numeric=["x", "y"])
    assert histograms(data, data, public=True)["withheld"] == []


def test_the_report_says_what_is_withheld(tmp_path):
    data = nested(2)
    done = assess(data, data, measures=["k_anonymity"])
    for audience, said in (("public", True), ("internal", False)):
        page = report(done, tmp_path / "x.html", audience=audience).read_text("utf-8")
        assert ("Withheld, because its difference from another picture" in page) == said
