"""Record linkage against its plain twin, stored results and by hand."""

import math
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import sdckit as sdc
from conftest import oracle_cases
from engine_frames import ENGINES, on_engine
from naive_linkage import naive_distance, naive_linkage, scales, useful
from sdckit.risk._points import Distance, points
from sdckit.risk.record_linkage import record_linkage

NUMBER = st.one_of(st.none(), st.integers(-2, 4).map(float))
LETTER = st.one_of(st.none(), st.sampled_from("abc"))
TYPES = {"u": pl.Float64, "v": pl.Float64, "c": pl.String}


def rows(n):
    return st.lists(st.tuples(NUMBER, NUMBER, LETTER), min_size=n, max_size=n)


def frame(records):
    return pl.DataFrame(records, schema=TYPES, orient="row")


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 40).flatmap(lambda n: st.tuples(rows(n), rows(n))),
    st.sampled_from(["euclidean", "manhattan", "gower"]),
)
def test_same_as_the_plain_twin(both, distance):
    x, y = both
    kinds = ["numeric", "numeric", "nominal"] if distance == "gower" else ["numeric", "numeric"]
    names = list(TYPES)[: len(kinds)]
    columns = [([r[j] for r in x], [r[j] for r in y]) for j in range(len(kinds))]
    kept = useful(columns, kinds, distance, 2)
    data = sdc.read(frame(x).with_row_index("id"), id="id", numeric=["u", "v"])
    other = data.with_frame(frame(y).with_row_index("id"))
    result = record_linkage(data, other, variables=names, distance=distance)
    if not kept:
        assert math.isnan(result.value)
        assert result.notes
        return
    kinds, columns = [kinds[j] for j in kept], [columns[j] for j in kept]
    scale = scales(columns, kinds, distance, 2)

    def cut(record):
        return [record[j] for j in kept]

    table = [
        [naive_distance(cut(q), cut(r), kinds, scale, distance, blank_counts=False) for r in x] for q in y
    ]
    expected = naive_linkage(table)
    found = result.parts
    assert found["distance"].to_list() == pytest.approx([row[i] for i, row in enumerate(table)], abs=1e-12)
    assert found["nearer"].to_list() == [min(nearer, 10) for nearer, _, _ in expected]
    assert found["ties"].to_list() == [ties if nearer < 10 else None for nearer, ties, _ in expected]
    assert found["credit"].to_list() == pytest.approx([credit for _, _, credit in expected])
    third = [min(max(3 - nearer, 0) / ties, 1) for nearer, ties, _ in expected]
    counted = [any(v is not None for v in (*cut(q), *cut(r))) for q, r in zip(x, y, strict=True)]
    third = [share for share, there in zip(third, counted, strict=True) if there]
    assert result.figures["third"] == pytest.approx(sum(third) / len(third))


@pytest.mark.parametrize("case", oracle_cases("03b", lambda c: "nn_link_rate" in c["expected"]))
def test_stored_link_rates(case, oracles):
    names = case["inputs"]["variables"]
    data = oracles.data(case["dataset"], numeric=names)
    other = data.with_frame(oracles.frame(case["dataset"]["perturbed_csv"]))
    assert record_linkage(data, other).value == pytest.approx(case["expected"]["nn_link_rate"], rel=1e-12)


@pytest.mark.parametrize("case", oracle_cases("03b", lambda c: c["params"].get("distance") == "gower"))
def test_gower_distances_add_up_to_the_stored_assignment(case, oracles):
    names = case["inputs"]["variables"]
    rows = [i - 1 for i in case["dataset"]["rows_1based"]]
    x = oracles.frame(case["dataset"]["name"])[rows].select(names)
    y = oracles.frame(case["dataset"]["perturbed_csv"]).select(names)
    space = points([x, y], names, sdc.read(x, numeric=names), Distance.GOWER, ranges=2)
    table = np.abs(space.files[0][:, None] - space.files[1][None]).mean(axis=2)
    total = table[linear_sum_assignment(table)].sum()
    assert total == pytest.approx(case["expected"]["total_distance"], rel=1e-12)


def test_nothing_changed_links_all_but_duplicates():
    data = sdc.read(pl.DataFrame({"x": [1.0, 1.0, 2.0, 3.0]}), numeric="x")
    result = record_linkage(data, data)
    assert result.parts["credit"].to_list() == [0.5, 0.5, 1.0, 1.0]
    assert result.value == 0.75
    assert result.figures["certain"] == 0.5
    assert result.figures["second"] == 1
    assert result.figures["linked"] == 3
    assert result.figures["low"] < 0.75 < result.figures["high"]


def test_a_record_suppressed_altogether_could_be_anyones():
    data = sdc.read(pl.DataFrame({"a": list("xyzz"), "b": list("xxyy")}), keys=["a", "b"])
    other = data.with_frame(pl.DataFrame({"a": ["x", "y", None, "z"], "b": ["x", "x", None, "y"]}))
    result = record_linkage(data, other, variables=["a", "b"])
    assert result.parts["ties"].to_list() == [1, 1, 4, 2]
    assert result.value == pytest.approx((1 + 1 + 1 / 4 + 1 / 2) / 4)


def test_a_record_with_nothing_to_link_is_not_counted_and_a_blanked_one_is():
    data = sdc.read(pl.DataFrame({"x": [1.0, 5.0, 9.0, None]}), numeric="x")
    other = data.with_frame(pl.DataFrame({"x": [1.0, 5.0, None, None]}))
    result = record_linkage(data, other)
    assert result.value == pytest.approx((1 + 1 + 1 / 4) / 3)
    assert result.figures["certain"] == pytest.approx(2 / 3)
    assert "1 record has no value in either file: not counted." in result.notes
    assert result.parts.height == 4


def test_categories_make_the_distance_gower_and_enums_are_ordered():
    size = pl.Enum(["s", "m", "l"])
    data = sdc.read(pl.DataFrame({"s": ["s", "m", "l"]}, schema={"s": size}))
    other = data.with_frame(pl.DataFrame({"s": ["m", "l", "s"]}, schema={"s": size}))
    result = record_linkage(data, other, variables="s")
    assert result.parts["distance"].to_list() == [0.5, 0.5, 1.0]
    assert "gower distance over s." in result.notes
    with pytest.raises(sdc.SdcError, match=r"Categories have no euclidean distance"):
        record_linkage(data, other, variables="s", distance="euclidean")


def test_records_meet_by_id():
    frame = pl.DataFrame({"i": [1, 2, 3], "x": [1.0, 2.0, 4.0]})
    data = sdc.read(frame, id="i", numeric="x")
    assert record_linkage(data, data.with_frame(frame[::-1])).value == 1


def test_without_numbers_there_must_be_variables():
    data = sdc.read(pl.DataFrame({"a": ["x", "y"]}), keys="a")
    with pytest.raises(sdc.SdcError, match="needs variables"):
        record_linkage(data, data)


def test_a_recoded_variable_is_left_out():
    data = sdc.read(pl.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0]}), numeric=["x", "y"])
    other = sdc.read(pl.DataFrame({"x": ["low", "high"], "y": [1.0, 2.0]}))
    result = record_linkage(data, other)
    assert result.value == 1
    assert "x is coded differently in the files and left out." in result.notes


def test_the_chart_has_a_bar_for_each_depth(survey):
    numeric = survey.roles.numeric
    other = sdc.protect.microaggregate(survey, variables=list(numeric), k=3)
    chart = record_linkage(survey, other).chart().to_dict()
    assert "by chance" in str(chart)


def test_an_id_named_like_a_column_of_ours():
    plain = sdc.read(pl.DataFrame({"who": list("xyz"), "v": [1.0, 2.0, 5.0]}), id="who", numeric="v")
    names = sdc.risk.record_linkage(plain, plain).parts.columns
    assert names[0] == "who"
    for name in names[1:]:
        data = sdc.read(plain.frame.rename({"who": name}), id=name, numeric="v")
        parts = sdc.risk.record_linkage(data, data).parts
        assert parts.columns == ["record", *names[1:]]
        assert parts["record"].to_list() == list("xyz")


def test_rare_patterns_of_missing_values_are_found_with_the_others(survey, monkeypatch):
    other = sdc.protect.add_noise(survey, rng=1)
    frame = other.frame.with_columns(
        pl.when(pl.int_range(pl.len()) % 7 == i).then(None).otherwise(pl.col(c)).alias(c)
        for i, c in enumerate(survey.roles.numeric)
    )
    other = other.with_frame(frame)
    module = sys.modules["sdckit.risk._points"]
    found = []
    for share in (0.0, 0.1, 2.0):
        monkeypatch.setattr(module, "WORTH_A_TREE", share)
        found.append(record_linkage(survey, other).parts)
    assert found[0].equals(found[1])
    assert found[0].equals(found[2])


@pytest.mark.parametrize("engine", [one for one in ENGINES if one != "polars"])
@pytest.mark.parametrize("distance", ["euclidean", "manhattan", "gower"])
def test_a_sample_among_all_originals(engine, distance, request, monkeypatch):
    """With every record in the sample the numbers are those of the whole file."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(400, 2)).round(1)
    rows = pl.DataFrame({"id": np.arange(400), "a": x[:, 0], "b": np.exp(x[:, 1])})
    rows = rows.with_columns(b=pl.when(pl.col("id") % 17 != 0).then("b"))
    data = sdc.read(rows, id="id", numeric=["a", "b"])
    y = rows.with_columns(a=pl.col("a") + pl.Series(rng.normal(0, 0.1, 400)))
    other = data.with_frame(y.with_columns(a=pl.when(pl.col("id") % 23 != 0).then("a")))
    moved = [on_engine(engine, d, request) for d in (data, other)]
    monkeypatch.setattr(sys.modules["sdckit.risk.record_linkage"], "WHOLE", 0)
    monkeypatch.setattr("sdckit.risk._engine_linkage.QUERIES", 1000)
    monkeypatch.setattr("sdckit.risk._engine_linkage.BATCH", 150)
    here, there = (sdc.risk.record_linkage(*pair, distance=distance) for pair in ((data, other), moved))
    assert there.value == pytest.approx(here.value, rel=1e-12)
    assert dict(there.figures) == pytest.approx(dict(here.figures), rel=1e-9)
    assert "of 400 of 400 protected records, drawn by their ids, among all originals" in there.notes[0]
    monkeypatch.setattr("sdckit.risk._engine_linkage.QUERIES", 200)
    found = sdc.risk.record_linkage(*moved, distance=distance)
    error = float(found.notes[0].split("standard error of the value ")[1].rstrip("."))
    assert 0 < error < 0.05
    assert found.value == pytest.approx(here.value, abs=4 * error)
    assert found.parts.height < 260


def test_categories_on_an_engine_are_refused(request, monkeypatch):
    monkeypatch.setattr(sys.modules["sdckit.risk.record_linkage"], "WHOLE", 0)
    data = sdc.read(pl.DataFrame({"id": [1, 2], "a": ["x", "y"]}), id="id", keys="a")
    moved = on_engine("duckdb", data, request)
    with pytest.raises(sdc.errors.OptionError, match="compares numbers on duckdb"):
        sdc.risk.record_linkage(moved, moved, variables=["a"])
