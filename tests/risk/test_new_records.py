"""Re-identification in files of new records: whole records that come back and can be nobody else's."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.people import persons

KEYS = ["region", "sex", "age", "education"]
ALL = [*KEYS, "income", "savings", "health"]


def microdata(frame: pl.DataFrame) -> sdc.Microdata:
    roles = {"weight": "weight"} if "weight" in frame.columns else {}
    return sdc.read(frame, keys=KEYS, numeric=["income", "savings"], sensitive="health", **roles)


@pytest.fixture(scope="module")
def data() -> sdc.Microdata:
    weight = np.random.default_rng(1).integers(20, 60, 500).astype(float)
    return microdata(persons(500, seed=1).select(ALL).with_columns(weight=weight))


@pytest.fixture(scope="module")
def others() -> sdc.Microdata:
    weight = np.random.default_rng(2).integers(20, 60, 500).astype(float)
    return microdata(persons(500, seed=2).select(ALL).with_columns(weight=weight))


def values(data, protected, **options):
    table = sdc.risk.reidentification_risk(data, protected, **options).tables["intruders"]
    return dict(zip(table["intruder"], table["value"], strict=True))


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [{"recode": {"variable": "age", "width": 10}}],
        [{"top_code": {"variables": ["income"], "share": 0.05}}],
        [{"drop": {"variables": ["savings"]}}],
        [{"recode": {"variable": "age", "width": 20}}, {"drop": {"variables": ["region", "income"]}}],
    ],
    ids=["as it is", "recode", "top_code", "drop", "recode and drop"],
)
def test_a_copy_has_the_risk_of_the_linked_copy(data, steps):
    """Neighbours by their weights, insiders with errors and registers with exact numbers alike."""
    copy = sdc.Scenario("copy", steps).protect(data, seed=1)
    linked, content = values(data, copy), values(data, copy, linked=False)
    assert content == pytest.approx(linked, abs=0.004)
    assert content["neighbour"] == pytest.approx(linked["neighbour"], abs=1e-12)


def test_persons_who_are_alike_share_their_records():
    frame = pl.DataFrame({"a": [1, 1, 2, 2, 3], "b": list("xxyyz"), "c": [5, 5, 5, 6, 7]})
    data = sdc.read(frame, keys=["a", "b"], sensitive="c")
    found = sdc.risk.reidentification_risk(data, data, linked=False)
    assert found.value == pytest.approx(0.6)  # cells of 2, 2 and 1
    assert found.value == sdc.risk.reidentification_risk(data, data).value
    assert found.figures["come_back"] == 1


def test_a_synthetic_file_has_far_less_and_no_more_than_other_people(data, others):
    made = sdc.protect.synthesize(data, rng=1)
    found = sdc.risk.reidentification_risk(data, made, holdout=others.frame)
    real = values(data, others, linked=False)
    mine = values(data, made)
    assert values(data, data)["register"] == 1
    assert mine["register"] < 0.15
    assert mine["register"] < real["register"] + 0.05
    assert found.figures["come_back"] < found.figures["among_others"] + 0.06
    assert "no link" in found.notes[0]


def changed(data, **columns):
    return microdata(data.frame.with_columns(**columns))


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("bootstrap", 0.6),
        ("noise", 0.6),
        ("junk column", 0.9),
        ("renamed", 0.9),
        ("copies", 0.9),
        ("fifth", 0.2),
    ],
)
def test_passing_off_is_not_rated_safe(data, others, name, least):
    rng = np.random.default_rng(3)
    frame = data.frame
    factor = {c: pl.col(c) * pl.Series(np.exp(rng.normal(0, 0.12, 500))) for c in ("income", "savings")}
    files = {
        "bootstrap": frame.sample(fraction=1, with_replacement=True, seed=1),
        "noise": frame.with_columns(**factor),
        "junk column": frame.with_columns(pl.col("sex").shuffle(seed=1)),
        "renamed": frame.with_columns(pl.col("region") % 8 + 1),
        "copies": pl.concat([frame, frame, frame, others.frame]),
        "fifth": pl.concat([frame.head(100), others.frame.tail(400)]),
    }
    assert values(data, microdata(files[name]), linked=False)["register"] >= least


def test_whole_households_that_come_back_are_found(data):
    """Members in large cells are hidden one by one; together they come back."""
    rng = np.random.default_rng(4)
    frame = pl.DataFrame(
        {
            "home": np.repeat(np.arange(100), 3),
            "sex": rng.choice(["f", "m"], 300),
            "age": rng.integers(0, 5, 300),
        }
    ).with_columns(income=pl.Series(rng.normal(3000, 800, 300)))
    roles = {"keys": ["sex", "age"], "numeric": "income", "household": "home"}
    file = sdc.read(frame, **roles)
    shown = values(file, sdc.read(frame, **roles), linked=False)
    hidden = values(file, sdc.read(frame.drop("home"), keys=["sex", "age"], numeric="income"), linked=False)
    assert shown["household"] == 1
    assert hidden["household"] < 0.4


def test_files_of_the_same_people_without_a_link_stay_undefined(data):
    mixed = sdc.read(
        data.frame.sample(fraction=1, shuffle=True, seed=1), keys=KEYS, numeric=["income", "savings"]
    )
    found = sdc.risk.reidentification_risk(data, mixed)
    assert np.isnan(found.value)


def test_a_holdout_of_the_same_people_is_refused(data):
    made = sdc.protect.synthesize(data, rng=1)
    assert np.isnan(sdc.risk.reidentification_risk(data, made, holdout=data.frame).value)


def test_files_without_a_common_column_have_no_value(data):
    other = sdc.read(pl.DataFrame({"x": [1, 2, 3]}), keys="x")
    assert np.isnan(sdc.risk.reidentification_risk(data, other, linked=False).value)


def test_the_order_of_rows_changes_nothing(data):
    made = sdc.protect.synthesize(data, rng=2)
    turned = microdata(made.frame.reverse())
    assert values(data, turned, linked=False) == pytest.approx(values(data, made, linked=False), abs=0.01)


def test_large_files_are_sampled():
    frame = persons(5_400, seed=5).select("region", "sex", "age", "health")
    data = sdc.read(frame, keys=["region", "sex", "age"], sensitive="health")
    found = sdc.risk.reidentification_risk(data, data, linked=False, targets=300)
    linked = sdc.risk.reidentification_risk(data, data)
    assert found.value == pytest.approx(linked.value, abs=4 * found.figures["standard_error"] + 0.01)


def test_files_of_numbers_alone_are_attacked_too():
    """Nobody knows a key: two numbers moved by next to nothing, in another order, three persons of four."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"x": rng.normal(size=2_000), "y": rng.normal(size=2_000)})
    data = sdc.read(frame, numeric=["x", "y"])
    moved = data.with_frame(frame.with_columns(pl.all() + 1e-6)[rng.permutation(2_000)[:1_500]])
    found = sdc.risk.reidentification_risk(data, moved, linked=False)
    assert found.figures["come_back"] > 0.5  # all but those whose neighbours are very near
    assert found.value > 0.05  # numbers are known to within 10 %
