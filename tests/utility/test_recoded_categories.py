"""After recoding, what is compared is compared in the categories of the protected file."""

import math

import polars as pl
import pytest

import sdckit as sdc
from engine_frames import on_engine

U = sdc.utility
NOTE = "Compared in the categories of the protected file: age."


@pytest.fixture(scope="module")
def people() -> sdc.Microdata:
    frame = pl.DataFrame(
        {
            "id": range(120),
            "age": [20 + i % 40 for i in range(120)],
            "sex": ["f", "m", "m"] * 40,
            "income": [float(1000 + 37 * i) for i in range(120)],
            "w": [1.0, 2.0, 3.0, 4.0] * 30,
        }
    )
    return sdc.read(frame, id="id", keys=["age", "sex"], numeric="income", weight="w")


def banded(data: sdc.Microdata) -> sdc.Microdata:
    return sdc.protect.recode(data, variable="age", width=10)


def swapped_bands(data: sdc.Microdata) -> sdc.Microdata:
    """Ages in bands, those of the first 12 records in the band of the next."""
    done = banded(data)
    age = done.frame["age"].cast(pl.String).to_list()
    moved = [age[(i + 10) % 40] if i < 12 else a for i, a in enumerate(age)]
    return done.with_frame(done.frame.with_columns(age=pl.Series(moved)))


@pytest.mark.parametrize("name", ["contingency_tables", "contingency_loss", "records_changed"])
def test_recoding_alone_moves_no_record(people, name):
    result = getattr(U, name)(people, banded(people))
    assert result.value == 0
    assert NOTE in result.notes
    assert not any("other categories" in note for note in result.notes)


def test_what_happens_besides_recoding_is_what_is_counted(people):
    protected = swapped_bands(people)
    changed = U.records_changed(people, protected)
    assert changed.parts.rows() == [("age", 12, 0.1), ("sex", 0, 0.0), ("income", 0, 0.0)]
    assert changed.figures == {"values_changed": 12, "values_recoded": 120}
    by_hand = sdc.read(banded(people).frame, id="id", keys=["age", "sex"], numeric="income", weight="w")
    for name in ("contingency_tables", "contingency_loss"):
        measure = getattr(U, name)
        found, expected = measure(people, protected), measure(by_hand, protected)
        assert 0 < found.value == pytest.approx(expected.value)
        assert dict(found.figures) == pytest.approx(dict(expected.figures))


def test_only_categories_that_change_their_name_are_recoded(people):
    merged = sdc.protect.group(people, variables="sex", map={"all": ["f"]})
    result = U.records_changed(people, merged)
    assert result.figures == {"values_changed": 0, "values_recoded": 40}
    blank = merged.with_frame(merged.frame.with_columns(sex=pl.lit(None, dtype=merged.frame["sex"].dtype)))
    assert U.records_changed(people, blank, variables="sex").value == 1


def test_rounded_numbers_are_changed_numbers(people):
    rounded = sdc.protect.round_values(people, variables="income", base=100)
    same = (people.frame["income"] == rounded.frame["income"]).sum()
    result = U.records_changed(people, rounded, variables="income")
    assert result.value == pytest.approx(1 - same / 120)
    assert same < 120
    classes = sdc.protect.recode(people, variable="income", breaks=[2000.0, 4000.0])
    assert U.records_changed(people, classes, variables="income").value == 0


def test_categories_of_a_file_from_elsewhere_count_as_changed(people):
    foreign = sdc.read(banded(people).frame, id="id", keys=["age", "sex"], numeric="income", weight="w")
    for name in ("contingency_loss", "contingency_tables", "records_changed"):
        result = getattr(U, name)(people, foreign)
        assert result.value > 0
        assert any("age has other categories than in the original" in note for note in result.notes)
        assert NOTE not in result.notes


def test_records_meet_as_before_where_the_original_has_a_log(people):
    turned = sdc.protect.shuffle_order(people.with_roles(id=None), rng=1)
    assert U.records_changed(turned, banded(turned)).value == 0


def test_the_loss_of_entropy_by_recoding_is_told_apart(people):
    plain = people.with_roles(weight=None)
    recoded = U.entropy(plain, banded(plain), variables="age")
    assert recoded.value == pytest.approx(math.log(10))
    assert recoded.figures["by_recoding"] == pytest.approx(math.log(10))
    assert recoded.notes == ("Recoding alone took 2.3 of the 3.69 nats of age.",)
    done = banded(plain)
    one = done.frame.with_columns(age=pl.lit("20–29"))
    both = U.entropy(plain, done.with_frame(one), variables="age")
    assert both.figures["loss"] == pytest.approx(math.log(40))
    assert both.figures["by_recoding"] == pytest.approx(math.log(10))
    names = {"f": "1", "m": "2"}
    renamed = plain.with_frame(plain.frame.with_columns(pl.col("sex").replace(names)))
    assert U.entropy(plain, renamed, variables="sex").value == 0


def test_on_duckdb(people, request):
    there = on_engine("duckdb", people, request)
    result = U.records_changed(there, banded(there), variables=["age", "sex"])
    assert (result.value, result.figures["values_recoded"]) == (0, 120)
    assert U.contingency_loss(there, banded(there)).value == 0
    assert U.entropy(there, banded(there)).figures["by_recoding"] > 0
