"""Columns that may name the records and that no risk looks at are named before the file is released."""

from datetime import date, timedelta

import polars as pl
import pytest

import sdckit as sdc
from sdckit.choose.release_facts import unmeasured

N = 200


@pytest.fixture
def frame() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "number": range(1000, 1000 + N),
            "sex": ["f", "m"] * (N // 2),
            "income": [float(i) for i in range(N)],
            "a remark": [f"seen on day {i}" for i in range(N)],
            "born": [date(1950, 1, 1) + timedelta(days=97 * i) for i in range(N)],
            "region": [i % 5 for i in range(N)],
        }
    )


def test_text_dates_and_numbers_without_a_role(frame):
    data = sdc.read(frame, keys="sex", numeric="income")
    (text,) = unmeasured(data, data)
    assert text.startswith(
        "No risk looks at number, a remark, born: they have no role and values that differ"
    )
    assert "Drop them, declare them a direct identifier, or give them another role." in text
    less = data.without(("number", "a remark"))
    assert unmeasured(data, less)[0].startswith("No risk looks at born: it has no role")
    assert unmeasured(data, data.without(("number", "a remark", "born"))) == ()


@pytest.mark.parametrize(("different", "warned"), [(99, False), (100, True)])
def test_half_as_many_values_as_records_are_enough(frame, different, warned):
    codes = pl.Series("code", [i % different for i in range(N)])
    data = sdc.read(frame.select("sex", codes), keys="sex")
    assert bool(unmeasured(data, data)) is warned


def test_a_handful_of_records_has_no_such_column():
    data = sdc.read(pl.DataFrame({"sex": ["f", "m"] * 5, "x": range(10)}), keys="sex")
    assert unmeasured(data, data) == ()


def test_ids_of_the_original(frame):
    data = sdc.read(frame.select("number", "sex"), keys="sex", id="number")
    (text,) = unmeasured(data, data)
    assert text.startswith("The ids in number are those of the original file")
    assert "Give new random ids in a last step" in text
    assert unmeasured(data, sdc.protect.new_ids(data, rng=1)) == ()
    assert unmeasured(data, sdc.protect.shuffle_order(data, rng=1)) != ()
    assert unmeasured(data, sdc.protect.drop(data, variables=["number"])) == ()


def test_an_assessment_warns(frame):
    data = sdc.read(frame, keys="sex", numeric="income")
    done = sdc.assess(data, data, measures="k_anonymity")
    assert done.warnings == unmeasured(data, data)
    assert "  warning: No risk looks at number, a remark, born" in repr(done)


def test_lists_are_not_counted(frame):
    data = sdc.read(frame.select("sex", pl.concat_list("income").alias("many")), keys="sex")
    assert unmeasured(data, data) == ()


def test_the_verdict_counts_households_where_these_are_looked_for():
    """Ten households of two are ten targets, whatever the number of persons; the words must say so."""
    frame = pl.DataFrame({"home": [i // 2 for i in range(20)], "age": range(20), "w": [5.0] * 20})
    data = sdc.read(frame, keys="age", household="home", weight="w")
    verdict = {c.name: c.why for c in sdc.assess(data, data, max_risk=0.1).verdict}
    assert "finds 100 % of the households" in verdict["re-identification by household"]
    assert "claims 10 households" in verdict["claims of household"]
    assert "% of the persons" in verdict["re-identification by insider"]
    assert "claims 20 persons" in verdict["claims of insider"]


def test_only_numbers_that_are_numbers_still_are_said_to_mend():
    frame = pl.DataFrame(
        {"sex": [1, 2] * 20, **{c: [float(i) for i in range(40)] for c in ("pay", "rent", "tax")}}
    )
    data = sdc.read(frame, keys="sex", numeric=["pay", "rent", "tax"])
    done = sdc.protect.drop(sdc.protect.recode(data, variable="pay", width=20), variables="rent")
    verdict = {c.name: c for c in sdc.assess(data, done, max_risk=0.01).verdict}
    steps = {place.name: place.columns for place in verdict["re-identification by insider"].places}
    assert steps["microaggregate"] == ("tax",)


def test_what_was_hidden_in_too_few_records_to_ask_is_said():
    """Ten regions were blanked and the cluster tells them: below the accepted risk, and not denied."""
    psu = [i % 40 for i in range(1000)]
    region = [f"region {p % 4}" for p in psu]
    data = sdc.read(pl.DataFrame({"region": region, "psu": psu}), keys="region", cluster="psu")
    blanked = data.frame.with_columns(region=pl.when(pl.int_range(pl.len()) >= 10).then("region"))
    for protected, said in ((data.with_frame(blanked), True), (data, False)):
        criteria = sdc.assess(data, protected, max_risk=0.05, measures=["revealing_columns"]).verdict.criteria
        criterion = next(c for c in criteria if c.name == "columns that tell what was hidden")
        assert criterion.status.value == "met"
        assert ("1 % of the persons, too few to ask for, counts as told" in criterion.why) == said


def test_a_column_below_the_alarm_is_not_said_to_tell_nothing():
    """Every third age in years stands beside the classes: a gain of a third, where half is the alarm."""
    age = [20 + (i * 37 + i // 7) % 60 for i in range(900)]
    known = [a if i % 3 == 0 else None for i, a in enumerate(age)]
    data = sdc.read(pl.DataFrame({"age": age, "remark": known}), keys="age")
    protected = sdc.protect.recode(data, variable="age", width=10)
    criteria = sdc.assess(data, protected, max_risk=0.6, measures=["revealing_columns"]).verdict.criteria
    criterion = next(c for c in criteria if c.name == "columns that tell what was hidden")
    assert criterion.status.value == "met"
    assert 0.2 < criterion.value < 0.5
    assert criterion.why.startswith("No released column tells as much as 50 % of what was hidden in another")


def test_whole_records_are_those_that_each_intruder_finds():
    """The one who does not know who is in the file finds fewer, and has a ceiling of his own."""
    data = sdc.demo.survey(n=600, seed=1).with_roles(
        keys=["region", "urban", "sex", "age", "education"], weight="weight"
    )
    made = sdc.protect.synthesize(data, leaf=1, gain=0, rng=1)
    intruders = [sdc.Intruder("neighbour", in_file=False, max_risk=0.01), sdc.Intruder("colleague")]
    done = sdc.assess(data, made, measures=["reidentification_risk"], intruders=intruders, max_risk=0.9)
    rows = done.after["reidentification_risk"].tables["intruders"].rows(named=True)
    found = {row["intruder"]: row["upper"] for row in rows}
    assert found["neighbour"] < 0.01 < found["colleague"]
    for name in found:
        criterion = next(c for c in done.verdict if c.name == f"whole records found by {name}")
        assert criterion.value == found[name]
        assert criterion.met
