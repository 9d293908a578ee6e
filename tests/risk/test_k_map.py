"""k-map against plain counting in a register."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from naive_counts import match
from sdckit.errors import ColumnError, DataError, OptionError

ROW = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, None]))
NAMES = {"x": pl.String, "y": pl.Int64}


@settings(max_examples=80, deadline=None)
@given(
    rows=st.lists(ROW, min_size=1, max_size=12),
    people=st.lists(ROW, min_size=1, max_size=30),
    rule=st.sampled_from(list(sdc.Missing)),
)
def test_agrees_with_plain_counting(rows, people, rule):
    if all(row == (None, None) for row in rows):
        return
    data = sdc.read(pl.DataFrame(rows, schema=NAMES, orient="row"), keys=["x", "y"])
    result = sdc.risk.k_map(
        data, population=pl.DataFrame(people, schema=NAMES, orient="row"), k=3, missing=rule
    )

    def fits(row, person):
        if rule == "wildcard":
            codes = [[-1 if v is None else hash(v) % 1000 for v in r] for r in (row, person)]
            return match(*codes)
        return row == person

    counts = [
        1 if rule == "nothing" and None in row else sum(fits(row, person) for person in people)
        for row in rows
    ]
    assert result.parts["population_count"].to_list() == counts
    assert result.figures["violations"] == sum(c < 3 for c in counts)
    assert result.figures["unmatched"] == sum(c == 0 for c in counts)
    expected = sum(1 / c for c in counts if c)
    assert result.figures["expected_reidentifications"] == pytest.approx(expected)


def test_register_of_persons_counts_and_path_agree(tmp_path):
    data = sdc.read(pl.DataFrame({"age": [30, 30, 80]}), keys="age")
    register = pl.DataFrame({"age": [30] * 5 + [80] * 2})
    counts = pl.DataFrame({"people": [5, 2], "age": [30.0, 80.0]})  # another type of number is no obstacle
    counts.write_csv(tmp_path / "counts.csv")
    results = [
        sdc.risk.k_map(data, population=register),
        sdc.risk.k_map(data, population=counts, count="people"),
        sdc.risk.k_map(data, population=sdc.read(counts, weight="people")),
        sdc.risk.k_map(data, population=str(tmp_path / "counts.csv"), count="people"),
    ]
    for result in results:
        assert result.value == pytest.approx(1 / 3)
        assert result.parts["population_count"].to_list() == [5, 5, 2]
        assert result.figures["journalist_highest"] == 0.5
        assert result.figures["prosecutor_highest"] == 1
        assert result.figures["prosecutor_mean"] == pytest.approx(2 / 3)
    assert results[0].options["population"] == "7 records"


def test_notes_on_registers_that_do_not_fit():
    data = sdc.read(pl.DataFrame({"k": ["a", "a", "b"]}), keys="k")
    notes = sdc.risk.k_map(data, population=pl.DataFrame({"k": ["a", "c"]})).notes
    assert "1 record fits nobody in the population" in notes[0]
    assert "1 key combination has fewer people in the population than records" in notes[1]


def test_people_beyond_a_top_code_are_counted_together():
    frame = pl.DataFrame({"age": [30, 85, 90, 97]})
    released = sdc.protect.top_code(sdc.read(frame, keys="age"), variables="age", value=85)
    register = pl.DataFrame({"age": [30] * 4 + [85, 86, 88, 91, 99]})
    result = sdc.risk.k_map(released, population=register, k=5)
    assert result.parts["population_count"].to_list() == [4, 5, 5, 5]
    assert result.notes[0] == "Compared in the categories of the protected file: age."
    low = sdc.protect.bottom_code(sdc.read(frame, keys="age"), variables="age", value=86)
    assert sdc.risk.k_map(low, population=register).parts["population_count"].to_list() == [6, 6, 0, 0]
    tens = sdc.protect.round_values(sdc.read(frame, keys="age"), variables="age", base=10, method="down")
    assert sdc.risk.k_map(tens, population=register).parts["population_count"].to_list() == [4, 3, 2, 2]


def test_assess_leaves_it_out_unless_told():
    data = sdc.read(pl.DataFrame({"k": [1, 2]}), keys="k")
    left_out = {o.measure: o.reason for o in sdc.assess(data, data).omitted}
    assert "needs to be told population" in left_out["k_map"]
    told = sdc.assess(data, data, measures=["k_map"], k_map={"population": pl.DataFrame({"k": [1, 2]})})
    assert told.after["k_map"].value == 1


def test_refusals():
    data = sdc.read(pl.DataFrame({"k": [1, 2]}), keys="k")
    with pytest.raises(OptionError, match="k_map needs the option 'population'"):
        sdc.risk.k_map(data)
    with pytest.raises(ColumnError, match=r"The population has no column 'k'. Allowed: other"):
        sdc.risk.k_map(data, population=pl.DataFrame({"other": [1]}))
    with pytest.raises(DataError, match="Population counts must be numbers from 0 up"):
        sdc.risk.k_map(data, population=pl.DataFrame({"k": [1], "n": [-1]}), count="n")
