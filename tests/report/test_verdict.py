"""The summary: verdict, intruders and criteria in words, for both audiences."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.report.measures import _change
from sdckit.report.summarize import summarize

N = 200


@pytest.fixture(scope="module")
def data() -> sdc.Microdata:
    frame = pl.DataFrame(
        {
            "sex": ["f", "m"] * (N // 2),
            "town": [f"T{i % 5}" for i in range(N)],
            "income": [float(i * i % 997) for i in range(N)],
            "remark": [f"seen on day {i}" for i in range(N)],
        }
    )
    return sdc.read(frame, keys=["sex", "town"], numeric="income")


def told(x, audience="internal"):
    found = summarize(x, audience)["verdict"]
    return found, {a["question"]: a["answer"] for a in found["answers"]}


JUDGED = ["reidentification_risk", "revealing_columns", "il1s"]


def test_what_is_not_met_comes_first_with_what_would_mend_it(data):
    protected = sdc.protect.microaggregate(data, k=3)
    done = sdc.assess(data, protected, measures=JUDGED, max_risk=0.01)
    found, said = told(done)
    assert found["status"] == "bad"
    assert found["headline"] == done.verdict.headline
    statuses = [c["status"] for c in found["criteria"]]
    assert statuses == sorted(statuses, key=["not met", "not judged", "met"].index)
    for criterion in found["criteria"]:
        assert criterion["why"]
        assert bool(criterion["mends"]) == (criterion["status"] != "met")
    assert said["Can it be released?"].startswith("No: see the criteria that are not met")
    assert "remark" in str(found["criteria"])
    public, said = told(done, "public")
    assert public["headline"] == "The protected file must not be released: not every criterion is met."
    assert [c["name"] for c in public["criteria"]] == [c["name"] for c in found["criteria"]]
    assert not any(c["why"] or c["mends"] or c["in_plan"] or c["value"] for c in public["criteria"])
    assert "remark" not in str(public)


def test_a_yes_is_a_yes_where_all_was_judged(data):
    clean = data.without(("remark", "income")).with_roles(numeric=())
    released = sdc.protect.shuffle_order(clean, rng=1)
    done = sdc.assess(clean, released, max_risk=0.1)
    for audience in ("internal", "public"):
        found, said = told(done, audience)
        assert found["status"] == "good"
        assert "can be released: all" in found["headline"]
        assert said["Can it be released?"] == "Yes: every criterion below is judged and met."


def test_the_public_is_not_told_of_how_few_persons_an_intruder_may_be_sure(data):
    clean = data.without(("remark", "income")).with_roles(numeric=())
    released = sdc.protect.shuffle_order(clean, rng=1)
    done = sdc.assess(clean, released, max_risk=0.1, accept={"claims": 2})
    assert "accepts 2 right claims" in told(done)[0]["headline"]
    assert "accepts <5 right claims" in told(done, "public")[0]["headline"]


def test_intruders_are_shown_with_what_they_know_and_find(data):
    intruders = {
        "neighbour": {"knows": ["keys"]},
        "bank": {"knows": ["keys", {"income": "5%"}], "max_risk": 0.5},
    }
    done = sdc.assess(data, data, measures=["reidentification_risk"], max_risk=0.1, intruders=intruders)
    found, _ = told(done)
    first, second = found["intruders"]
    assert first["name"] == "neighbour"
    assert first["knows"] == "Knows the keys, and that the person is in the file."
    assert (first["finds"], first["persons"], first["accepted"]) == (
        "5\N{NO-BREAK SPACE}%",
        "10",
        "10\N{NO-BREAK SPACE}%",
    )
    assert not first["above"]
    assert second["above"]
    assert second["accepted"] == "50\N{NO-BREAK SPACE}%"
    assert 0 < float(second["right"]) < N
    assert "Risk that remains" not in found["tiles"]  # one number would be that of the one on the axis
    public, _ = told(done, "public")
    assert [i["finds"] for i in public["intruders"]] == [
        "6\N{NO-BREAK SPACE}%",
        public["intruders"][1]["finds"],
    ]
    assert {i["persons"] + i["claims"] + i["right"] for i in public["intruders"]} == {""}
    assert [i["name"] for i in public["intruders"]] == ["neighbour", "intruder 2"]


def test_the_names_that_people_gave_their_intruders_are_not_for_the_public(data):
    who = sdc.Intruder("the boss, who pays 93200")
    done = sdc.assess(data, data, measures=["reidentification_risk"], max_risk=0.1, intruders=who)
    assert "93200" in str(told(done)[0])
    public, _ = told(done, "public")
    assert "93200" not in str(public)
    names = {criterion["name"] for criterion in public["criteria"]}
    assert {"re-identification by intruder 1", "claims of intruder 1"} <= names


def test_copies_in_a_synthetic_file_are_told(data):
    clean = data.without(("remark",))
    copied = clean.with_frame(
        clean.frame.with_columns(income=pl.col("income").sort()).head(100).vstack(clean.frame.tail(100))
    )
    names = ["individual_risk", "frequencies", "k_anonymity", "closest_record"]
    found, _ = told(sdc.assess(clean, copied, measures=names, linked=False, max_risk=1.0))
    assert found["tiles"]["Risk that remains"][0]["label"] == "Synthetic records close to an original"
    copies = next(c for c in found["criteria"] if "copies" in c["name"])
    assert copies["status"] == "not met"
    assert "are copies of original ones" in copies["why"]


@pytest.mark.parametrize("audience", ["internal", "public"])
def test_whom_an_intruder_finds_of_new_records_is_what_the_criterion_is_about(audience):
    """Records of few columns come back by chance: what is told is how many more than of others."""
    rng = np.random.default_rng(1)
    rows = pl.DataFrame({"area": rng.integers(0, 8, 900), "age": rng.integers(18, 60, 900)})
    data, unseen = sdc.read(rows[:600], keys=["area", "age"]), rows[600:]
    made = sdc.synthesize(data, m=1, seed=1)[0]
    options = {"reidentification_risk": {"holdout": unseen}}
    done = sdc.assess(data, made, measures=["reidentification_risk"], max_risk=0.05, **options)
    back = done.after["reidentification_risk"]
    assert back.value > 0.05
    found, _ = told(done, audience)
    criterion = next(c for c in done.verdict if c.intruder)
    assert criterion.value < back.value / 2
    row = found["intruders"][0]
    assert float(row["finds"].split("\N{NO-BREAK SPACE}")[0]) == pytest.approx(100 * criterion.value, abs=1)
    assert row["above"] == (not criterion.met)
    assert row["claims"] == row["right"] == ""
    assert row["beyond"]


def test_ids_of_a_synthetic_file_may_be_the_same_numbers(data):
    numbered = data.with_frame(data.frame.with_columns(number=pl.int_range(pl.len()))).with_roles(id="number")
    done = [sdc.assess(numbered, numbered, measures="frequencies", linked=linked) for linked in (None, False)]
    assert ["ids in number" in " ".join(x.warnings) for x in done] == [True, False]


def test_the_keys_of_the_file_are_named(data):
    done = sdc.assess(data, data, measures="frequencies")
    assert summarize(done)["risk"][0]["intro"].endswith("who knows the keys of a person: sex, town.")


def test_no_percentage_of_nearly_nothing():
    spec = sdc.registry.find("individual_risk")
    assert _change(spec, 7.7e-9, 0.00187) == {"change": "from near 0", "improved": False}
    assert _change(spec, 0.0, 0.5) == {"change": "from 0", "improved": False}
    assert _change(spec, 0.02, 0.01) == {"change": "−50\N{NO-BREAK SPACE}%", "improved": True}


def test_no_map_clears_a_file_with_direct_identifiers(data):
    named = sdc.read(data.frame, keys=["sex", "town"], numeric="income", direct="remark", keep_direct=True)
    found = sdc.compare(named, {"k3": [{"microaggregate": {"k": 3}}]}, utility="il1s", max_risk=1.0)
    for audience in ("internal", "public"):
        shown, said = told(found, audience)
        assert shown["status"] == "bad"
        assert shown["criteria"][0]["name"] == "direct identifiers"
        assert said["Can it be released?"].startswith("No: ")
        assert audience == "internal" or "remark" not in str(shown)


@pytest.mark.parametrize("audience", ["internal", "public"])
def test_the_column_that_lost_most_is_named(data, audience):
    """Also to the public, where it is found in the rounded shares that are shown."""
    some = pl.int_range(pl.len())
    frame = data.frame.with_columns(
        pl.when(some >= 40).then(pl.col("sex")).alias("sex"),
        pl.when(some >= 120).then(pl.col("town")).alias("town"),
    )
    protected = data.with_frame(frame)
    _, answers = told(sdc.assess(data, protected, measures=JUDGED, max_risk=0.01), audience)
    said = answers["What is lost?"].replace("\N{NO-BREAK SPACE}", " ")
    assert "Blanks rose most in “town”: from 0 % to 60 % of the records." in said


def test_removed_columns_are_lost_by_name_and_for_the_public_by_number(data):
    protected = sdc.protect.drop(data, variables=["town", "income"])
    done = sdc.assess(data, protected, measures=JUDGED, max_risk=0.01)
    assert told(done)[1]["What is lost?"].startswith("2 columns are removed: town, income. ")
    public, said = told(done, "public")
    assert said["What is lost?"].startswith("2 columns are removed. ")
    assert "income" not in str(public)
    assert "removed" not in told(sdc.assess(data, data, measures=JUDGED))[1]["What is lost?"]
