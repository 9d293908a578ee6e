"""The charts of measures in a report: in labels, and few."""

import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.methods.spec import Kind
from sdckit.report.pictures import MOST, pictures
from sdckit.report.relabel import relabel

N = 200
SAME = "The same words"


def survey(direct: str | None = None) -> Microdata:
    frame = pl.DataFrame(
        {
            "a": [i % 2 for i in range(N)],
            "b": [i % 3 for i in range(N)],
            "c": [i % 5 for i in range(N)],
            "x": [float(i * 7 % 31) for i in range(N)],
            "y": [float(i * 11 % 37) for i in range(N)],
            "z": [float(i * 5 % 23) for i in range(N)],
        }
    )
    labels = Labels({"a": SAME, "b": SAME, "x": "Income 🎉"}, {"a": {0: "no", 1: "yes"}})
    return Microdata.of(
        frame, labels=labels, keys=["a", "b", "c"], numeric=[c for c in "xyz" if c != direct], direct=direct
    )


def protected(data: Microdata, few: int = 3) -> Microdata:
    """`b` changed in few records, `c` in many, numbers a little."""
    place = pl.int_range(pl.len())
    return data.with_frame(
        data.frame.with_columns(
            b=pl.when(place < few).then(7).otherwise("b"),
            c=pl.when(place < 60).then(4).otherwise("c"),
            x=pl.col("x") + place % 3,
            y=pl.col("y") - place % 2,
        )
    )


def drawn(found: dict, name: str) -> dict | None:
    return next((p["chart"] for p in found["charts"] if p["name"] == name), None)


def rows(chart: dict) -> list[dict]:
    return [row for data in chart["datasets"].values() for row in data]


@pytest.fixture(scope="module")
def done():
    data = survey()
    return sdc.assess(data, protected(data))


def test_there_are_at_most_a_dozen_and_the_rest_is_counted(done):
    found = pictures(done, Kind.UTILITY)
    assert len(found["charts"]) == MOST[Kind.UTILITY]
    assert found["all"] > len(found["charts"])
    names = [p["name"] for p in found["charts"]]
    assert {"contingency_tables", "ecdf_distance", "propensity"} <= {*names}
    order = [name for name in done.utility if name in names]
    assert names == order


def test_labels_are_shown_and_equal_ones_stay_apart():
    data = survey()
    found = pictures(sdc.assess(data, protected(data), measures="records_changed"), Kind.UTILITY)
    names = {row["name"] for row in rows(drawn(found, "records_changed"))}
    assert {SAME, f"{SAME} (2)", "c", "Income 🎉"} <= names


def test_tables_of_one_file_are_drawn_before_and_after():
    data = survey()
    changed = data.with_frame(data.frame.with_columns(c=pl.lit(4)))
    found = pictures(sdc.assess(data, changed, measures=["k_anonymity"], k_anonymity=50), Kind.RISK)
    (picture,) = found["charts"]
    assert picture["both"]
    assert {row["file"] for row in rows(picture["chart"])} == {"Original", "Protected"}
    assert "fewer than 50" in {row["name"] for row in rows(picture["chart"])}


def test_no_bars_where_nothing_changed_and_none_where_nothing_was_measured():
    data = survey()
    done = sdc.assess(data, data, measures=["records_changed", "missing_values"])
    assert pictures(done, Kind.UTILITY) == {"charts": [], "all": 0}
    empty = data.with_frame(data.frame.with_columns(pl.lit(None, pl.Float64).alias(c) for c in "xyz"))
    done = sdc.assess(empty, empty, measures=["moments", "distribution_distance"])
    assert pictures(done, Kind.UTILITY)["charts"] == []


def test_direct_identifiers_are_in_no_chart():
    data = survey(direct="z")
    done = sdc.assess(data, protected(data), measures=["moments"], moments={"variables": ["x", "y", "z"]})
    (picture,) = pictures(done, Kind.UTILITY)["charts"]
    told = {row[c] for row in rows(picture["chart"]) for c in ("row", "column") if c in row}
    assert "y" in told
    assert "z" not in told


def test_codes_and_tables_are_named_by_their_labels():
    cells = pl.DataFrame(
        {
            "table": ["a × b", "a × c"],
            "categories": [["1.0", "2"], ["0", "x"]],
            "original": 1.0,
            "protected": 2.0,
        }
    )
    result = Result(1.0, parts=pl.DataFrame({"table": ["a × b"]}), tables={"cells": cells})
    told = relabel(result, ["a", "b", "c"], {"c"}, survey().labels).tables["cells"]
    assert told["table"].to_list() == [f"{SAME} × {SAME} (2)"]
    assert told["categories"].to_list() == [["yes", "2"]]
