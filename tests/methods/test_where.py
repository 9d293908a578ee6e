"""Protecting only flagged records: in place, others untouched, checked early, the same from YAML."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import sdckit as sdc
from sdckit.errors import ColumnError, DataError, EngineError, OptionError, UnknownMethodError, preview
from sdckit.methods import registry
from sdckit.methods.registry import find, protection, risk, specs
from sdckit.methods.spec import Kind
from sdckit.methods.where import Chosen, Where, protect_some

OPTIONS = {
    "add_noise": {},
    "bottom_code": {"share": 0.3},
    "top_code": {"share": 0.3},
    "microaggregate": {"k": 3},
    "pram": {"variables": ["sex"], "stay": 0.2},
    "rank_swap": {"rank_distance": 0.5},
    "round_values": {"base": 100},
    "shuffle": {},
    "synthesize": {"variables": ["age", "income"]},
}
TAKERS = [s.name for s in specs(Kind.PROTECTION) if "where" in s.parameters]
RISKY = {"individual_risk": {"threshold": 0.001}}


@pytest.fixture
def marks():
    """A measure that flags the records with a mark."""

    @risk("Marked records", interpretation="Share of marked records.", reference="none", flags="marked")
    def marked(data: sdc.Microdata, *, column: str = "mark") -> sdc.Result:
        """The share of marked records."""
        flag = data.frame[column].cast(pl.Boolean).alias("marked")
        return sdc.Result(float(flag.fill_null(value=False).mean()), parts=pl.DataFrame([data.ids(), flag]))

    yield marked
    registry.unregister("marked")


def test_every_protection_that_takes_where_is_tried_here():
    assert set(OPTIONS) == set(TAKERS)


@pytest.mark.parametrize("name", TAKERS)
def test_flagged_records_change_and_others_stay_as_they_are(name):
    data = sdc.demo.survey(n=400, seed=2).with_roles(household=None)
    flag = sdc.risk.individual_risk(data, threshold=0.001).parts["above_threshold"]
    assert 10 < flag.sum() < 390
    call = getattr(sdc.protect, name)
    drawn = {"rng": 1} if find(name).is_random else {}
    done = call(data, **OPTIONS[name], where=RISKY, **drawn)
    assert done.columns == data.columns
    assert not done.frame.filter(flag).equals(data.frame.filter(flag))
    for column in data.columns:
        before, after = (d.frame[column].filter(~flag) for d in (data, done))
        assert after.cast(before.dtype).equals(before), column
    assert done.log[-1].figures["records_chosen"] == flag.sum()
    assert done.log[-1].options["where"] == RISKY
    if not find(name).gets_where:  # donors of a synthesis are all records
        alone = call(data.with_frame(data.frame.filter(flag)), **OPTIONS[name], **drawn)
        chosen = done.frame.filter(flag)
        assert all(chosen[c].cast(alone.frame[c].dtype).equals(alone.frame[c]) for c in data.columns)
    again = call(data, **OPTIONS[name], where=sdc.risk.individual_risk(data, threshold=0.001), **drawn)
    assert again.frame.equals(done.frame)
    without = call(data, **OPTIONS[name], **drawn)
    assert "where" not in without.log[-1].options
    assert not without.frame.equals(done.frame)


@settings(max_examples=40, deadline=None)
@given(
    marks_and_numbers=st.lists(
        st.tuples(st.sampled_from([True, False, None]), st.none() | st.integers(-(2**53), 2**53)),
        min_size=1,
        max_size=30,
    )
)
def test_put_back_as_the_plain_twin(marks_and_numbers):
    chosen = np.array([bool(m) for m, _ in marks_and_numbers])
    frame = pl.DataFrame({"x": pl.Series([v for _, v in marks_and_numbers], dtype=pl.Int64)})
    data = sdc.read(frame, numeric="x")

    def halves(part):
        return part.with_frame(part.frame.with_columns(pl.col("x") / 2), records=part.height)

    done = protect_some(data, Chosen(chosen, 0), halves)
    expected = [v if v is None or not m else v / 2 for m, v in marks_and_numbers]
    assert done.frame["x"].to_list() == expected
    assert done.log[-1].figures["records_chosen"] == chosen.sum()


def test_a_scenario_with_where_survives_yaml_and_is_replayed():
    step = sdc.Step("add_noise", variables=["income"], where=RISKY)
    plan = sdc.Plan.parse(
        "scenarios: {a: [{add_noise: {variables: [income], where: {individual_risk: {threshold: 0.001}}}}]}"
    )
    assert plan.scenarios[0].steps == (step,)
    assert sdc.Plan.parse(plan.to_yaml()).scenarios == plan.scenarios
    data = sdc.demo.survey(n=300, seed=1)
    first, again, other = (plan.scenarios[0].protect(data, seed=s) for s in (1, 1, 2))
    assert first.frame.equals(again.frame)
    assert not first.frame.equals(other.frame)
    measured = sdc.risk.individual_risk(data, threshold=0.001)
    from_result = sdc.Step("add_noise", variables=["income"], where=measured)
    json.dumps(from_result.options)
    assert sdc.Scenario("r", [from_result]).protect(data, seed=1).frame.equals(first.frame)
    kept = sdc.Step("add_noise", where="individual_risk")
    assert kept.options == {"where": "individual_risk"}


def test_where_is_measured_on_what_the_step_gets(marks):
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "mark": [1, 0, 0, 1]})
    data = sdc.read(frame, numeric="x")

    @protection("Take marks away")
    def unmark(data: sdc.Microdata, *, where: Where | None = None) -> sdc.Microdata:
        """All marks become 0."""
        return data.with_frame(data.frame.with_columns(mark=pl.lit(0, pl.Int64)))

    try:
        steps = [{"unmark": {"where": "marked"}}, {"round_values": {"base": 10, "where": "marked"}}]
        done = sdc.Scenario("s", steps).protect(data)
    finally:
        registry.unregister("unmark")
    assert done.frame["mark"].to_list() == [0, 0, 0, 0]
    assert done.frame["x"].to_list() == [1.0, 2.0, 3.0, 4.0]
    assert [e.figures["records_chosen"] for e in done.log] == [2, 0]


def test_members_of_a_household_are_chosen_together(marks):
    frame = pl.DataFrame(
        {"home": [1, 1, 2, 2, None, None], "x": [10.0, 10, 20, 20, 31, 42], "mark": [1, 0, 0, 0, 1, 0]}
    )
    data = sdc.read(frame, numeric="x", household="home")
    done = sdc.protect.round_values(data, base=100, where=marks(data))
    assert done.frame["x"].to_list() == [0, 0, 20, 20, 0, 42]
    assert done.log[-1].figures["records_chosen"] == 3


def test_what_is_wrong_is_said_before_any_work(survey):
    with pytest.raises(
        OptionError, match=r"frequencies flags no records.*Allowed: atypical_records, individual_risk\."
    ):
        sdc.Step("add_noise", where="frequencies")
    with pytest.raises(UnknownMethodError, match=r"Did you mean 'atypical_records'"):
        sdc.Step("add_noise", where="atypical_record")
    with pytest.raises(OptionError, match=r"Option 'threshold' of individual_risk is not valid"):
        sdc.Step("add_noise", where={"individual_risk": {"threshold": 2}})
    two = {"individual_risk": {}, "atypical_records": {}}
    for wrong in ({}, {"individual_risk": 3}, two, 5, 2.5, True, ["individual_risk"], pl.Series([True])):
        with pytest.raises(OptionError) as refused:
            sdc.Step("add_noise", where=wrong)
        assert str(refused.value) == (
            f"Option 'where' of add_noise is not valid. Given: {preview(wrong)}. Allowed: "
            "a measure that flags records (atypical_records, individual_risk), {measure: {option: value}}, "
            "or in Python the result of one."
        )
    with pytest.raises(OptionError, match=r"individual_risk has no option '3'"):
        sdc.Step("add_noise", where={"individual_risk": {3: 4}})
    with pytest.raises(UnknownMethodError, match=r"no measure 7.*Allowed: atypical_records, individual_risk"):
        sdc.Step("add_noise", where={7: None})
    with pytest.raises(OptionError, match=r"suppress has no option 'where'"):
        sdc.Step("suppress", where="individual_risk")
    unknown = sdc.Scenario("s", [sdc.Step("add_noise", where={"individual_risk": {"keys": ["sx"]}})])
    with pytest.raises(ColumnError, match=r"no column 'sx'"):
        unknown.check(survey)
    with pytest.raises(DataError, match=r"not about these records"):
        sdc.protect.add_noise(survey, where=sdc.risk.individual_risk(sdc.demo.survey(n=50)))


def test_a_measure_that_judges_no_record_is_not_taken_for_none_flagged():
    data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 3.0]}), numeric="x")
    with pytest.raises(DataError, match=r"atypical_records can judge no record.*too few records"):
        sdc.protect.add_noise(data, where="atypical_records", rng=1)


def test_a_result_that_does_not_say_which_records_are_flagged_is_refused(survey):
    measured = sdc.risk.individual_risk(survey)
    other = replace(measured, parts=measured.parts.rename({"above_threshold": "above"}))
    numbers = replace(measured, parts=measured.parts.cast({"above_threshold": pl.Int8}))
    for wrong in (other, numbers):
        with pytest.raises(DataError, match=r"do not say which records.*Allowed: a column 'above_threshold'"):
            sdc.protect.add_noise(survey, where=wrong, rng=1)


def test_records_that_could_not_be_judged_are_counted_and_warned_of(marks):
    frame = pl.DataFrame(
        {"x": [11.0, 22, 33, 44, 55], "mark": [1, 0, None, None, None], "home": [1, 2, 1, 3, 3]}
    )
    data = sdc.read(frame, numeric="x")
    done = sdc.protect.round_values(data, base=10, where="marked")
    assert done.frame["x"].to_list() == [10, 22, 33, 44, 55]
    figures = done.log[-1].figures
    assert (figures["records_chosen"], figures["records_not_judged"]) == (1, 3)
    (text,) = done.warnings
    assert text.startswith(
        "3 records were not protected, because the measure that chooses records (marked) could not judge"
    )
    assert "or protect all records" in text
    again = sdc.protect.round_values(data, base=10, where=marks(data))
    assert (again.log[-1].figures, again.warnings) == (figures, done.warnings)
    together = sdc.protect.round_values(data.with_roles(household="home"), base=10, where="marked")
    assert together.frame["x"].to_list() == [10, 22, 30, 44, 55]  # the third is protected with the first
    assert together.log[-1].figures["records_not_judged"] == 2
    none = data.with_frame(frame.with_columns(mark=pl.Series([0, 0, 0, None, 0])))
    left = sdc.protect.round_values(none, base=10, where="marked")
    assert left.log[-1].figures == {"records_chosen": 0, "records_not_judged": 1}
    assert "1 record was not protected" in left.warnings[0]
    all_judged = data.with_frame(frame.with_columns(mark=pl.lit(1)))
    figures = sdc.protect.round_values(all_judged, base=10, where="marked").log[-1].figures
    assert "records_not_judged" not in figures


def test_errors_of_the_protection_name_the_chosen_records(marks):
    data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 3.0], "mark": [1, 0, 0]}), numeric="x")
    with pytest.raises(sdc.SdcError, match=r"Among the 1 record that where chose"):
        sdc.protect.microaggregate(data, k=3, where="marked")


def test_a_column_that_cannot_hold_both_is_refused(marks):
    @protection("Words for numbers")
    def in_words(data: sdc.Microdata, *, where: Where | None = None) -> sdc.Microdata:
        """Numbers as text."""
        return data.with_frame(data.frame.with_columns(pl.col("mark").cast(pl.String)))

    @protection("Some only")
    def fewer(data: sdc.Microdata, *, where: Where | None = None) -> sdc.Microdata:
        """The first record."""
        return data.with_frame(data.frame.head(1))

    frame = pl.DataFrame({"y": [1, 2**60 + 1, 3], "mark": [1, 0, 1]})
    data = sdc.read(frame, numeric="y")
    try:
        with pytest.raises(DataError, match=r"'mark' cannot hold both.*String for some records, Int64"):
            in_words(data, where="marked")
        with pytest.raises(OptionError, match=r"adds or removes records"):
            fewer(data, where="marked")
    finally:
        registry.unregister("in_words")
        registry.unregister("fewer")
    with pytest.raises(DataError, match=r"'y' cannot hold both"):  # 2**60 + 1 has no decimal form
        sdc.protect.add_noise(data, where="marked", rng=1)


def test_a_file_out_of_memory_is_refused_before_any_step():
    duckdb = pytest.importorskip("duckdb")
    data = sdc.read(duckdb.sql("select 1.0 as x"), numeric="x")
    steps = [{"round_values": {"base": 10}}, {"round_values": {"base": 10, "where": "atypical_records"}}]
    with pytest.raises(EngineError, match=r"^where needs the records in memory"):
        sdc.Scenario("some", steps).protect(data)


def test_keys_that_the_chosen_records_lack_do_no_harm(marks):
    frame = pl.DataFrame({"x": [11.0, 22.0, 33.0], "k": [None, None, "a"], "mark": [1, 1, 0]})
    data = sdc.read(frame, numeric="x", keys="k")
    done = sdc.protect.round_values(data, base=10, where="marked")
    assert done.frame["x"].to_list() == [10, 20, 33]
    assert done.roles == data.roles


def test_compare_and_search_know_where():
    data = sdc.demo.survey(n=200, seed=1)
    steps = [{"add_noise": {"sd": 0.2, "where": RISKY}}]
    found = sdc.compare(data, {"all": [{"add_noise": {"sd": 0.2}}], "risky": steps}, utility="il1s")
    values = {p.name: p.loss for p in found.results}
    assert values["risky"] < values["all"]
    space = [
        {
            "add_noise": {
                "sd": {"range": [0.1, 0.5]},
                "where": {"individual_risk": RISKY["individual_risk"]},
            }
        }
    ]
    best = sdc.search(data, space, trials=4, seed=1, utility="il1s")
    assert any("where" in step for p in best.results for s in p.scenario.as_list() for step in s.values())


def test_the_command_line_explains_where():
    from sdckit.cli import app

    text = CliRunner().invoke(app, ["methods", "add_noise"]).stdout
    assert "measure" in text
    assert "flagged by a measure" in " ".join(text.split())
    schema = json.loads(CliRunner().invoke(app, ["methods", "add_noise", "--json"]).stdout)["options"]
    assert schema["properties"]["where"]["anyOf"][0]["format"] == "measure"
    assert "atypical" in CliRunner().invoke(app, ["methods", "atypical_records"]).stdout
