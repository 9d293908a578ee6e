"""A file in the categories of another: what the release recoded is recoded for the search too."""

import polars as pl
import pytest

import sdckit as sdc
from engine_frames import on_engine
from sdckit.recoded import recoded_alike

BANDS = [18, 40, 65]
NOTE = "Compared in the categories of the protected file: age."


@pytest.fixture(scope="module")
def people() -> sdc.Microdata:
    frame = sdc.demo.survey(n=400, seed=3).frame.select("sex", "age", "education", "health", "income")
    return sdc.read(frame, keys=["sex", "age", "education"], sensitive="health", numeric="income")


def banded(data: sdc.Microdata) -> sdc.Microdata:
    return sdc.protect.recode(data, variable="age", breaks=BANDS)


def test_attribute_disclosure_looks_in_the_band_that_was_released(people):
    released = banded(people)
    result = sdc.risk.attribute_disclosure(people, released)
    by_hand = sdc.risk.attribute_disclosure(banded(people), released)
    assert result.figures == pytest.approx(by_hand.figures)
    assert result.value > 0
    assert result.notes[0] == NOTE
    assert NOTE not in by_hand.notes


def test_a_recoded_target_is_learnt_in_its_new_categories(people):
    released = sdc.protect.recode(people, variable="health", breaks=[3], labels=["good", "poor"])
    result = sdc.risk.attribute_disclosure(people, released)
    health = people.frame["health"]
    good, poor, missing = (health < 3).sum(), (health >= 3).sum(), health.null_count()
    assert result.figures["baseline_cap"] == pytest.approx((good**2 + poor**2 + missing**2) / 400**2)


def test_identification_risk_and_k_map_do_the_same(people):
    released = banded(people)
    found = sdc.risk.identification_risk(people, released, synthesised="health")
    by_hand = sdc.risk.identification_risk(banded(people), released, synthesised="health")
    assert found.figures == pytest.approx(by_hand.figures)
    assert NOTE in found.notes
    result = sdc.risk.k_map(released, population=people)
    assert result.figures == pytest.approx(sdc.risk.k_map(released, population=banded(people)).figures)
    assert result.figures["unmatched"] == 0
    assert result.notes[0] == NOTE
    assert NOTE not in sdc.risk.k_map(people, population=people).notes


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_register_on_any_engine(people, engine, request):
    there = on_engine(engine, people, request)
    result = sdc.risk.k_map(banded(there), population=there)
    assert (result.figures["unmatched"], result.notes[0]) == (0, NOTE)


@pytest.mark.parametrize(
    "steps",
    [
        [("recode", {"variable": "age", "width": 10})],
        [("recode", {"variable": "age", "groups": 4})],
        [("recode", {"variable": "age", "groups": 4, "labels": ["a", "b", "c", "d"]})],
        [("recode", {"variable": "age", "groups": 3, "log": True})],
        [("sample_records", {"share": 0.5}), ("recode", {"variable": "age", "groups": 4})],
        [("group", {"variables": ["education"], "map": {"low": [1, 2, 3]}})],
        [
            ("recode", {"variable": "age", "width": 10}),
            ("group", {"variables": ["age", "education"], "digits": 1}),
        ],
        [("recode", {"variable": "age", "breaks": BANDS}), ("suppress", {"k": 3})],
        [("recode", {"variable": "age", "breaks": BANDS}), ("pram", {"variables": ["age"]})],
    ],
    ids=str,
)
def test_every_way_to_recode_is_followed(people, steps):
    released = sdc.Scenario("s", [{m: o} for m, o in steps if o is not None]).protect(people, seed=1)
    columns = ("sex", "age", "education")
    alike, notes = recoded_alike(people, released, columns)
    changed = [c for c in columns if any(c in str(o) for m, o in steps if m in ("recode", "group"))]
    assert notes == (f"Compared in the categories of the protected file: {', '.join(changed)}.",)
    assert alike.frame["sex"].equals(people.frame["sex"])
    for column in changed:
        assert set(released.frame[column].drop_nulls()) <= set(alike.frame[column].drop_nulls())
    if "sample_records" not in str(steps):
        both = zip(alike.frame["age"].to_list(), released.frame["age"].to_list(), strict=True)
        assert "pram" in str(steps) or all(b in (None, a) for a, b in both)


def test_what_is_recoded_already_stays(people):
    released = sdc.protect.suppress(banded(people), k=3)
    for done in (banded(people), sdc.read(banded(people).frame, keys=["sex", "age"])):
        alike, notes = recoded_alike(done, released, ["sex", "age"])
        assert alike is done
        assert notes == ()


def test_cuts_that_nothing_tells_are_not_guessed(people):
    options = {"variable": "age", "groups": 2, "log": True, "labels": ["≤0", "younger", "older"]}
    released = sdc.protect.recode(people, **options)
    assert recoded_alike(people, released, ["age"]) == (people, ())
    with pytest.raises(sdc.SdcError, match=r"'age' holds numbers in the original and text in the other file"):
        sdc.risk.attribute_disclosure(people, released)


def test_names_that_came_out_otherwise_are_not_taken_for_the_same(people):
    decimal = people.with_frame(people.frame.with_columns(pl.col("age") + 0.5))
    released = banded(decimal)  # "[18, 40)" where whole numbers give "18–39"
    assert recoded_alike(people, released, ["age"])[1] == ()


def test_a_file_from_elsewhere_is_refused_in_plain_words(people):
    other = sdc.read(banded(people).frame, keys=["sex", "age", "education"], sensitive="health")
    with pytest.raises(sdc.SdcError) as caught:
        sdc.risk.attribute_disclosure(people, other)
    assert str(caught.value) == (
        "Column 'age' holds numbers in the original and text in the other file, so no value is found again. "
        "Recode the original in the same way and compare that, or leave 'age' out."
    )
    assert sdc.risk.attribute_disclosure(banded(people), other).value > 0


def test_what_was_dropped_helps_nobody(people):
    less = sdc.protect.drop(people, variables=["age"])
    result = sdc.risk.attribute_disclosure(people, less)
    assert result.notes[0] == "Not in the protected file, left out: age."
    asked = sdc.risk.attribute_disclosure(people, less, known=["sex", "education"])
    assert result.figures == pytest.approx(asked.figures)
    found = sdc.risk.identification_risk(people, less, synthesised="health")
    assert found.notes[0] == "Not in the protected file, left out: age."
    with pytest.raises(sdc.SdcError, match=r"a target to learn. Not in the protected file, left out: health"):
        sdc.risk.attribute_disclosure(people, sdc.protect.drop(people, variables=["health"]))
