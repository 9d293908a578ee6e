"""What the informed intruder finds, beside attacks that are carried out by hand."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from engine_frames import on_engine
from sdckit import Intruder
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind

NEIGHBOUR = [Intruder("neighbour")]
JOURNALIST = [Intruder("journalist", in_file=False)]
KEYS = ["region", "sex", "age", "education"]


@pytest.fixture(scope="module")
def people() -> sdc.Microdata:
    data = sdc.demo.survey(n=800, seed=7)
    day = pl.date(2024, 1, 1) + pl.duration(days=pl.int_range(pl.len()) % 90)
    data = data.with_frame(data.frame.with_columns(interview=day))
    return data.with_roles(keys=KEYS, numeric=["income", "expenditure"], household=None)


def cells(data: sdc.Microdata) -> int:
    return data.frame.select(data.roles.keys).n_unique()


def test_unprotected_everybody_is_found_as_often_as_there_are_cells(people):
    result = sdc.risk.reidentification_risk(people, people, intruders=NEIGHBOUR)
    assert result.value == pytest.approx(cells(people) / len(people), rel=1e-12)
    assert result.figures["expected_links"] == pytest.approx(cells(people))
    assert result.figures["claims"] == result.figures["claims_right"]


@pytest.mark.parametrize("width", [None, 10, 20])
def test_with_weights_it_is_the_individual_risk_of_recoded_files(people, width):
    done = people if width is None else sdc.protect.recode(people, variable="age", width=width)
    result = sdc.risk.reidentification_risk(people, done, intruders=JOURNALIST)
    usual = sdc.risk.individual_risk(done, missing="category")
    assert result.value == pytest.approx(usual.value, rel=1e-12)
    assert result.parts["found"].to_numpy() == pytest.approx(usual.parts["risk"].to_numpy(), rel=1e-9)


def test_blanks_as_wildcards_hide_nobody(people):
    """One exact match beside blanked others: whoever takes the exact match is right."""
    frame = pl.DataFrame({"a": [1, 1, 2], "b": [1, 2, 2]})
    data = sdc.read(frame, keys=["a", "b"])
    blanked = data.with_frame(frame.with_columns(b=pl.Series([1, None, None])))
    found = sdc.risk.reidentification_risk(data, blanked, intruders=NEIGHBOUR).parts["found"].to_list()
    assert found[0] == 1.0
    every = data.with_frame(frame.with_columns(a=pl.lit(None, pl.Int64), b=pl.Series([1, 1, 1])))
    assert sdc.risk.reidentification_risk(data, every, intruders=NEIGHBOUR).value == pytest.approx(1 / 3)


def test_a_shuffled_column_tells_nothing(people):
    rng = np.random.default_rng(3)
    frame = people.frame.with_columns(pl.Series("age", rng.permutation(people.frame["age"].to_numpy())))
    alone = people.with_roles(keys=["age"])
    result = sdc.risk.reidentification_risk(alone, alone.with_frame(frame), intruders=NEIGHBOUR)
    assert result.figures["expected_links"] <= 4  # chance finds one


def test_more_randomness_is_less_risk(people):
    values = [
        sdc.risk.reidentification_risk(
            people, sdc.protect.pram(people, variables=KEYS, stay=stay, rng=1), intruders=NEIGHBOUR
        ).value
        for stay in (0.95, 0.8, 0.6, 0.3)
    ]
    assert values == sorted(values, reverse=True)
    assert values[0] > 5 * values[-1]


def test_who_knows_more_finds_more(people):
    done = sdc.protect.microaggregate(sdc.protect.recode(people, variable="age", width=20), k=5)
    both = [Intruder("keys"), Intruder("both", knows=["keys", "numeric"])]
    table = sdc.risk.reidentification_risk(people, done, intruders=both).tables["intruders"]
    keys, all_of_it = table["value"].to_list()
    assert all_of_it > 2 * keys


def test_the_most_dangerous_named_intruder_counts(people):
    both = [Intruder("keys"), Intruder("both", knows=["keys", "numeric"])]
    result = sdc.risk.reidentification_risk(people, people, intruders=both)
    assert result.value == result.tables["intruders"]["value"].max()


def test_the_order_of_rows_and_new_ids_do_not_hide_anybody(people):
    plain = sdc.protect.pram(people, variables=["region"], stay=0.7, rng=1)
    hidden = sdc.protect.shuffle_order(sdc.protect.new_ids(plain, rng=1), rng=2)
    one, two = (sdc.risk.reidentification_risk(people, x, intruders=NEIGHBOUR).value for x in (plain, hidden))
    assert one == pytest.approx(two, rel=1e-12)


def test_of_a_sample_those_in_it_count_for_who_knows_that_they_are(people):
    kept = sdc.protect.sample_records(people, share=0.5, rng=1)
    result = sdc.risk.reidentification_risk(people, kept, intruders=NEIGHBOUR)
    assert set(result.parts["person_id"]) == set(kept.frame["person_id"])
    assert result.figures["expected_links"] == pytest.approx(cells(kept), rel=0.02)
    assert result.value == pytest.approx(cells(kept) / len(kept), rel=0.02)


def test_persons_left_out_are_not_found_by_who_does_not_know_who_is_in_it(people):
    kept = sdc.protect.sample_records(people, share=0.5, rng=1)
    result = sdc.risk.reidentification_risk(people, kept, intruders=JOURNALIST)
    in_it = set(kept.frame["person_id"])
    assert all(f == 0 for i, f in result.parts.select("person_id", "found").rows() if i not in in_it)


@pytest.mark.parametrize("method", ["pram", "sample_records", "suppress"])
def test_counts_of_an_engine_give_what_the_records_give(people, method, request):
    there = on_engine("duckdb", people, request)
    intruders, options = [*NEIGHBOUR, *JOURNALIST], OPTIONS[method]
    drawn = {} if method == "suppress" else {"rng": 1}
    rows = [
        sdc.risk.reidentification_risk(
            data, getattr(sdc.protect, method)(data, **options, **drawn), intruders=intruders
        ).tables["intruders"]
        for data in (people, there)
    ]
    for here, counted in zip(*(table.to_dicts() for table in rows), strict=True):
        assert counted == pytest.approx(here, rel=1e-9)


def test_what_an_engine_cannot_count_is_no_number_there(request):
    """Ages with noise, codes drawn anew in a region, and numbers are attacked record by record.

    By counts of keys alone the first was 70 times too low, and the most dangerous intruder was left out.
    """
    draw = np.random.default_rng(1)
    frame = pl.DataFrame({"id": range(900), "age": draw.integers(0, 90, 900), "x": draw.normal(size=900)})
    homes = [f"{area}{place}" for area, place in draw.integers(1, 9, (900, 2))]
    data = sdc.read(frame.with_columns(home=pl.Series(homes)), id="id", keys=["age", "home"], numeric="x")
    there = on_engine("duckdb", data, request)
    noisy = {"age": (pl.col("age") + pl.Series(draw.integers(-3, 4, 900))).abs()}
    other = {
        "home": pl.Series(
            [code[0] + str(place) for code, place in zip(homes, draw.integers(1, 9, 900), strict=True)]
        )
    }
    for changes in (noisy, other):
        files = data, data.with_frame(data.frame.with_columns(**changes))
        stored = there, on_engine("duckdb", files[1], request)
        here, counted = (
            sdc.risk.reidentification_risk(*pair, intruders=NEIGHBOUR) for pair in (files, stored)
        )
        assert here.value > 0.05
        assert math.isnan(counted.value)
        assert any("needs the records in memory" in note for note in counted.notes)
        asked = {"measures": "reidentification_risk", "max_risk": 0.9, "intruders": NEIGHBOUR}
        said = {c.name: c.status.value for c in sdc.assess(*stored, **asked).verdict}
        assert said[f"re-identification by {NEIGHBOUR[0].name}"] == "not judged"
    with_numbers = {"a": {"knows": "keys"}, "b": {"knows": ["keys", {"x": 0.1}]}}
    assert math.isnan(sdc.risk.reidentification_risk(there, there, intruders=with_numbers).value)
    with_numbers["b"]["on_axis"] = False
    alone = {"a": {"knows": "keys"}}
    values = [sdc.risk.reidentification_risk(there, there, intruders=i).value for i in (with_numbers, alone)]
    assert values[0] == values[1] > 0


def test_a_recoding_that_no_log_tells_is_counted_on_an_engine_as_in_memory(request):
    """A file that was written and read again: each true age has one released class, which says all."""
    draw = np.random.default_rng(2)
    frame = pl.DataFrame(
        {"id": range(800), "age": draw.integers(0, 90, 800), "sex": draw.integers(0, 2, 800)}
    )
    data = sdc.read(frame, id="id", keys=["age", "sex"])
    other = frame.with_columns(
        age=pl.format("{}0s", pl.col("age") // 10), sex=pl.Series(draw.integers(0, 2, 800))
    )
    files = data, data.with_frame(other)
    here = sdc.risk.reidentification_risk(*files, intruders=NEIGHBOUR).value
    stored = [on_engine("duckdb", file, request) for file in files]
    assert sdc.risk.reidentification_risk(*stored, intruders=NEIGHBOUR).value == pytest.approx(here)
    assert 0 < here < 0.1


def test_a_note_says_who_finds_more_than_the_intruder_of_the_value():
    people = sdc.demo.survey(n=200, seed=1)
    data = sdc.read(people.frame, keys=["region", "sex"], numeric="income", weight="weight")
    result = sdc.risk.reidentification_risk(data, data)
    rows = {row["intruder"]: row["value"] for row in result.tables["intruders"].to_dicts()}
    assert result.value == rows["neighbour"] < rows["insider"]
    assert "The value is what neighbour finds; more is found by insider (" in result.notes[1]
    alone = sdc.risk.reidentification_risk(data, data, intruders={"a": {"knows": "keys"}})
    assert not any("more is found" in note for note in alone.notes)


def test_without_a_link_there_is_no_number():
    data = sdc.read(pl.DataFrame({"sex": list("fm"), "nr": [1, 2]}), keys="sex", id="nr")
    other = sdc.read(pl.DataFrame({"sex": list("fm"), "nr": [8, 9]}), keys="sex", id="nr")
    result = sdc.risk.reidentification_risk(data, other)
    assert math.isnan(result.value)
    assert "Nothing tells which record" in result.notes[0]


@pytest.mark.parametrize("values", [["f"], ["f", "f", "f"], [None, "f"]])
def test_one_record_constant_keys_and_missing_values(values):
    frame = pl.DataFrame({"sex": pl.Series(values, dtype=pl.String), "x": [1] * len(values)})
    data = sdc.read(frame, keys="sex")
    result = sdc.risk.reidentification_risk(data, data, intruders=NEIGHBOUR)
    assert result.value == pytest.approx(len(set(values)) / len(values))


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=2, max_size=9), st.randoms()
)
def test_names_of_categories_and_the_order_of_rows_do_not_matter(rows, random):
    frame = pl.DataFrame(rows, schema=["p", "q"], orient="row").with_row_index("nr")
    released = frame.with_columns(pl.Series("q", random.sample(frame["q"].to_list(), frame.height)))
    names = {"a": "zebra", "b": "ape", "c": "cow"}
    order = random.sample(range(frame.height), frame.height)

    def risk(first: pl.DataFrame, second: pl.DataFrame) -> float:
        data = sdc.read(first, keys=["p", "q"], id="nr")
        return sdc.risk.reidentification_risk(data, data.with_frame(second), intruders=NEIGHBOUR).value

    renamed = [f.with_columns(pl.col("p").replace(names)) for f in (frame, released)]
    expected = risk(frame, released)
    assert risk(*renamed) == pytest.approx(expected)
    assert risk(frame[order], released) == pytest.approx(expected)


OPTIONS = {
    "recode": {"variable": "age", "width": 10},
    "group": {"variables": ["education"], "digits": 1},
    "top_code": {"variables": ["age"], "value": 60},
    "bottom_code": {"variables": ["age"], "value": 20},
    "round_values": {"variables": ["age"], "base": 5},
    "suppress": {"k": 3},
    "suppress_risky": {"threshold": 0.05},
    "pram": {"variables": ["region", "education"], "stay": 0.7},
    "microaggregate": {"k": 4},
    "add_noise": {},
    "rank_swap": {},
    "shuffle": {},
    "swap_records": {"geography": ["region"]},
    "drop": {"variables": ["education"]},
    "sample_records": {"share": 0.6},
    "new_ids": {},
    "shuffle_order": {},
    "shift_dates": {"days": 30},
}


def exact_attack(original: sdc.Microdata, protected: sdc.Microdata, keys: list[str]) -> float:
    """Somebody who takes the records that look exactly like the person, or else anybody; counted by hand."""
    from sdckit.data.record_links import source_rows
    from sdckit.methods.recoding import apply_same_recoding

    alike, _ = apply_same_recoding(original, protected, keys)
    keys = [k for k in keys if k in protected.columns]
    rows = source_rows(original, protected)
    groups: dict[tuple, list[int]] = {}
    for place, values in enumerate(protected.frame.select(keys).cast(pl.String).rows()):
        groups.setdefault(values, []).append(int(rows[place]))
    found = 0.0
    for person, values in enumerate(alike.frame.select(keys).cast(pl.String).rows()):
        mine = groups.get(values, [])
        found += (person in mine) / len(mine) if mine else 0.0
    return found / original.height


@pytest.mark.parametrize("method", [s.name for s in specs(Kind.PROTECTION) if s.name != "synthesize"])
def test_no_protection_hides_more_than_a_simple_attack_finds(people, method):
    """The informed intruder is never much weaker than one who only looks for an exact match."""
    assert method in OPTIONS, "a new protection needs options here"
    step = sdc.Step(method, **OPTIONS[method])
    done = sdc.Scenario("s", [step]).protect(people, seed=5)
    informed = sdc.risk.reidentification_risk(people, done, intruders=NEIGHBOUR).value
    assert informed >= exact_attack(people, done, KEYS) * 0.97 - 1e-12
