"""Distance to the closest record against its plain twin and by hand."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from naive_linkage import naive_distance, naive_two_nearest, same, scales, useful
from sdckit.methods.registry import find
from sdckit.risk.closest_record import closest_record

NUMBER = st.one_of(st.none(), st.integers(-2, 4).map(float))
LETTER = st.one_of(st.none(), st.sampled_from("abc"))
RECORDS = st.lists(st.tuples(NUMBER, NUMBER, LETTER), min_size=1, max_size=40)
TYPES = {"u": pl.Float64, "v": pl.Float64, "c": pl.String}
KINDS = ["numeric", "numeric", "nominal"]


def frame(records):
    return pl.DataFrame(records, schema=TYPES, orient="row")


@settings(max_examples=120, deadline=None)
@given(RECORDS, RECORDS)
def test_same_as_the_plain_twin(x, s):
    columns = [([r[j] for r in x], [r[j] for r in s]) for j in range(3)]
    kept = useful(columns, KINDS, "gower", 1)
    data = sdc.read(frame(x), numeric=["u", "v"])
    result = closest_record(data, data.with_frame(frame(s)), variables=list(TYPES), distance="gower")
    if not kept:
        assert math.isnan(result.value)
        return
    kinds = [KINDS[j] for j in kept]
    scale = scales([columns[j] for j in kept], kinds, "gower", 1)

    def distances(queries):
        cut = [[r[j] for j in kept] for r in x]
        return [
            [naive_distance([q[j] for j in kept], r, kinds, scale, "gower", blank_counts=True) for r in cut]
            for q in queries
        ]

    near = naive_two_nearest(distances(s), own=False)
    assert result.parts["distance"].to_list() == pytest.approx([a for a, _ in near], abs=1e-12)
    assert result.figures["copies"] == pytest.approx(sum(a == 0 for a, _ in near) / len(s))
    if len(x) == 1:
        assert math.isnan(result.value)
        return
    ratios = [1.0 if b == 0 else a / b for a, b in near]
    assert result.parts["ratio"].to_list() == pytest.approx(ratios)
    reference = sorted(a for a, _ in naive_two_nearest(distances(x), own=True))
    q = reference[math.ceil(0.05 * len(x)) - 1]
    assert result.value == pytest.approx(sum(a < q or same(a, q) for a, _ in near) / len(s))
    expected = sum(a < q or same(a, q) for a in reference) / len(x)
    assert result.figures["reference_share"] == pytest.approx(expected)


def people(n: int, seed: int) -> sdc.Microdata:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n).astype(float)
    columns = {
        "age": age,
        "income": np.exp(rng.normal(9, 0.5, n)) * age,
        "region": rng.choice(list("abcd"), n),
    }
    return sdc.read(pl.DataFrame(columns), keys="region", numeric=["age", "income"])


def test_copies_are_the_worst_and_new_people_are_no_closer_than_real_ones():
    data, fresh, kept_out = people(400, 1), people(400, 2), people(400, 3)
    copied = closest_record(data, data, holdout=kept_out)
    assert copied.value == 1
    assert copied.figures["copies"] == 1
    assert copied.figures["closer_to_original"] == 1
    good = closest_record(data, fresh, holdout=kept_out)
    assert good.figures["low"] <= good.figures["reference_share"] <= good.figures["high"]
    assert good.figures["closer_low"] < good.figures["closer_expected"] == 0.5 < good.figures["closer_high"]
    assert good.figures["copies"] == 0
    assert closest_record(data, fresh).value < 0.15


def test_an_original_with_everybody_a_year_older_is_no_fresh_sample():
    data = sdc.demo.survey(n=400, seed=1)
    assert "age" in data.roles.keys
    older = data.with_frame(data.frame.with_columns(pl.col("age") + 1))
    result = closest_record(data, older)
    assert result.value > 0.9
    assert "age has many values, most of them without a label: taken for a number." in result.notes
    assert any("nearer to the original than other people are" in note for note in result.notes)
    fresh = closest_record(data, sdc.demo.survey(n=400, seed=2))
    assert not any("nearer to the original" in note for note in fresh.notes)
    ages = {age: f"{age} years" for age in range(100)}  # labels of most values: codes of a category
    labels = sdc.Labels(data.labels.variables, {**data.labels.values, "age": ages})
    coded = closest_record(replace(data, labels=labels), older)
    assert coded.figures["median_distance"] > 0.05 > 0.01 > result.figures["median_distance"]
    few = data.with_frame(data.frame.with_columns(pl.col("age") % 20))
    for other in (coded, closest_record(few, few)):
        assert not any("taken for a number" in note for note in other.notes)


def test_half_copies_show_in_every_figure():
    data, fresh = people(300, 1), people(300, 2)
    half = data.with_frame(pl.concat([data.frame[:150], fresh.frame[:150]]))
    result = closest_record(data, half)
    assert result.figures["copies"] == 0.5
    assert 0.5 <= result.value < 0.65
    assert 0.4 < result.figures["excess"] < 0.6
    assert result.figures["median_distance"] < result.figures["reference_median_distance"]


def test_several_sets_are_averaged():
    data, fresh = people(100, 1), people(100, 2)
    each = [closest_record(data, s) for s in (data, fresh)]
    both = closest_record(data, [data, fresh])
    assert both.value == pytest.approx((each[0].value + each[1].value) / 2)
    assert both.figures["copies"] == 0.5
    assert both.parts["set"].unique().sort().to_list() == [1, 2]


def test_a_sample_of_records_is_looked_at_and_copies_are_counted_over_all():
    data, fresh = people(500, 1), people(500, 2)
    half = data.with_frame(pl.concat([data.frame[:250], fresh.frame[:250]]))
    result = closest_record(data, half, records=100)
    assert result.parts.height == 100
    assert result.figures["copies"] == 0.5
    assert result.value == pytest.approx(closest_record(data, half).value, abs=0.15)
    assert any("100 records of a file" in note for note in result.notes)
    again = closest_record(
        data, half.with_frame(half.frame.sample(fraction=1, shuffle=True, seed=1)), records=100
    )
    assert again.value == result.value


def test_more_than_32_columns_with_missing_values():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 40))
    x[rng.random(x.shape) < 0.1] = np.nan
    data = sdc.read(pl.DataFrame(x, schema=[f"x {i}" for i in range(40)], nan_to_null=True))
    result = closest_record(data, data.with_frame(data.frame[:50]))
    assert result.value == 1
    assert result.figures["copies"] == 1


def test_one_original_needs_a_holdout():
    data, fresh = people(1, 1), people(20, 2)
    alone = closest_record(data, fresh, variables=["age"], distance="gower")
    assert math.isnan(alone.value)
    assert alone.notes
    two = people(2, 4)
    assert closest_record(two, fresh, holdout=people(20, 3)).value <= 1


def test_duplicates_among_the_originals_raise_what_is_expected():
    data = sdc.read(pl.DataFrame({"a": list("xxyyz")}), keys="a")
    result = closest_record(data, data.with_frame(pl.DataFrame({"a": list("xyzw")})))
    assert result.figures["threshold"] == 0
    assert result.value == result.figures["copies"] == 0.75
    assert result.figures["reference_share"] == result.figures["reference_copies"] == 0.8
    assert result.figures["excess"] == 0


def test_a_form_can_be_made_without_the_holdout():
    assert find("closest_record").json_schema["properties"]["holdout"]["anyOf"][0]["format"] == "file"


def test_parts_carry_the_id_of_the_record():
    data = sdc.read(pl.DataFrame({"who": list("abc"), "x": [0.0, 1.0, 9.0]}), id="who", numeric="x")
    other = data.with_frame(pl.DataFrame({"who": list("qpr"), "x": [8.0, 1.0, 5.0]}))
    parts = closest_record(data, other).parts
    assert dict(parts.select("who", "distance").iter_rows())["p"] == 0
    assert closest_record(data, [other, other]).parts["who"].to_list() == list("qprqpr")
    rows = closest_record(data, [other, other.with_roles(id=None)], variables="x").parts
    assert rows["record"].to_list() == [0, 1, 2, 0, 1, 2]
    taken = data.with_frame(data.frame.with_columns(distance=pl.col("who"))).with_roles(id="distance")
    assert closest_record(taken, taken, variables="x").parts["record"].to_list() == list("abc")


def test_a_holdout_may_be_any_table_or_file(tmp_path):
    data = sdc.demo.survey(n=120, seed=1)
    held = sdc.demo.survey(n=60, seed=2)
    wanted = closest_record(data, data, variables=["age", "income"], holdout=held)
    sdc.write(held, tmp_path / "held.parquet")
    for given_as in (held.frame, held.frame.to_pandas(), tmp_path / "held.parquet"):
        result = closest_record(data, data, variables=["age", "income"], holdout=given_as)
        assert (result.value, result.figures) == (wanted.value, wanted.figures)
    with pytest.raises(sdc.SdcError, match=r"not a data frame"):
        closest_record(data, data, holdout=3)
