"""The summary: a yes is qualified where something was not judged, and synthetic files are judged as such."""

import polars as pl
import pytest

import sdckit as sdc
from sdckit.report import summarize
from sdckit.report.measures import _change

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


def answers(x, audience="internal"):
    told = summarize(x, audience)["verdict"]
    return told, {a["question"]: a["answer"] for a in told["answers"]}


def test_a_yes_is_qualified_by_columns_that_no_risk_looks_at(data):
    protected = sdc.protect.microaggregate(data, k=3)
    done = sdc.assess(data, protected, measures=["individual_risk", "il1s"], max_risk=1.0)
    told, said = answers(done)
    assert told["status"] == "open"
    assert told["headline"].endswith("is within the accepted 100\N{NO-BREAK SPACE}%, but not all was judged")
    assert said["Can it be released?"] == "Yes. But first see to what was not protected."
    assert "No risk looks at remark" in said["What was not protected?"]
    told, said = answers(done, "public")
    assert said["Can it be released?"] == "Yes. But not everything in the file was judged."
    assert "remark" not in str(told)


def test_a_yes_is_a_yes_where_all_was_judged(data):
    protected = sdc.protect.microaggregate(data.without(("remark",)), k=3)
    done = sdc.assess(data, protected, measures=["individual_risk", "il1s"], max_risk=1.0)
    told, said = answers(done)
    assert told["status"] == "good"
    assert said["Can it be released?"] == "Yes."


def test_copied_records_of_a_synthetic_file_come_first(data):
    clean = data.without(("remark",))
    copied = clean.with_frame(
        clean.frame.with_columns(income=pl.col("income").sort()).head(100).vstack(clean.frame.tail(100))
    )
    names = ["individual_risk", "frequencies", "k_anonymity", "closest_record"]
    told, said = answers(sdc.assess(clean, copied, measures=names, linked=False, max_risk=1.0))
    first = told["tiles"]["Risk that remains"][0]
    assert first["label"] == "Synthetic records close to an original"
    assert "of real people; copies: " in first["note"]
    assert "are copies." in said["Are original records in it?"]
    assert "repeats records it was made from" in said["What was not protected?"]
    assert told["status"] == "open"


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
    assert found.identifiers_left == ("remark",)
    assert found.reason.startswith("Not for release, with direct identifiers in the file: remark. k3 loses")
    told, said = answers(found)
    assert told["status"] == "bad"
    assert said["Can it be released?"] == "No. It still has the direct identifiers remark: drop them."
    told, said = answers(found, "public")
    assert told["status"] == "bad"
    assert said["Can it be released?"] == "No. It still has direct identifiers: drop them."
    assert "remark" not in str(told)


def test_a_ceiling_that_could_not_be_checked_was_set(data):
    _, said = answers(sdc.assess(data, data, measures="frequencies", max_risk=0.1))
    assert said["Under which ceiling?"].startswith("Accepted: 10\N{NO-BREAK SPACE}% (")
    assert "could not be measured" in said["Under which ceiling?"]
