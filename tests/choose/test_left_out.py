"""After every protection assess says in plain words what it left out; nothing else is left out."""

import math
import re

import polars as pl
import pytest

import sdckit as sdc
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind

KEYS = ["sex", "age", "education"]
STEPS = {
    "add_noise": {},
    "bottom_code": {"share": 0.05},
    "drop": {"variables": ["age", "income", "health"]},
    "group": {"variables": ["education"], "map": {"low": [1, 2, 3]}},
    "microaggregate": {},
    "new_ids": {},
    "pram": {"variables": KEYS},
    "rank_swap": {},
    "recode": {"variable": "age", "breaks": [18, 40, 65]},
    "round_values": {},
    "sample_records": {"share": 0.5},
    "shift_dates": {"days": 30},
    "shuffle": {"variables": ["income"], "predictors": ["age"]},
    "shuffle_order": {},
    "suppress": {"k": 3},
    "suppress_risky": {},
    "swap_records": {"geography": ["region"]},
    "synthesize": {},
    "top_code": {"share": 0.05},
}
PAIRS = "compares each record with its counterpart, and "
REASONS = (
    PAIRS + r"the files have different lengths \([\d,]+ and [\d,]+ records\)",
    PAIRS + "the records are not the same people",
    PAIRS + "the records are synthetic: none is that of a person",
    "compares each person with the record that was made from them, where there is one, and the records are "
    "synthetic: none is that of a person",
    "compares each person with the record that was made from them, where there is one, and the records are "
    "not the same people",
    r"is about synthetic files: say so \(linked: false\), or ask for it by name",
    r"needs to be told \w+, in a plan: assess: \{\w+: \{\w+: …\}\}",
    r"The mixture needs complete numbers. Given: \d+ records with a missing or infinite number. .*",
    r"the protected file has no column left with the role \w+",
)
TYPES = re.compile(r"\b(U?Int\d+|Float\d+|String|Utf8|Enum|Categorical|Boolean|NoneType|dtype|Series)\b")


@pytest.fixture(scope="module")
def people() -> sdc.Microdata:
    data = sdc.demo.survey(n=300, seed=1)
    day = pl.date(2024, 1, 1) + pl.duration(days=pl.int_range(pl.len()) % 90)
    data = data.with_frame(data.frame.with_columns(interview=day))
    return data.with_roles(keys=KEYS, numeric=["income", "wealth_index"], sensitive=["health", "literacy"])


def test_every_protection_is_here():
    ours = {s.name for s in specs(Kind.PROTECTION) if s.function.__module__.startswith("sdckit.")}
    assert ours == set(STEPS)


@pytest.mark.parametrize("method", STEPS)
def test_reasons_are_known_and_name_no_types(people, method):
    done = sdc.Scenario("s", [{method: STEPS[method]}]).protect(people, seed=1)
    assessments = [sdc.assess(people, done), sdc.assess(people, done, linked=False)]
    for omission in (o for a in assessments for o in a.omitted):
        assert any(re.fullmatch(reason, omission.reason) for reason in REASONS), omission
    results = [r for a in assessments for r in (*a.before.values(), *a.after.values(), *a.utility.values())]
    assert results
    assert not [note for result in results for note in result.notes if TYPES.search(note)]


@pytest.mark.parametrize("method", ["recode", "group", "drop"])
def test_attribute_disclosure_is_measured_after(people, method):
    done = sdc.Scenario("s", [{method: STEPS[method]}]).protect(people, seed=1)
    assert "attribute_disclosure" in sdc.assess(people, done, measures=["attribute_disclosure"]).after


def test_a_role_that_was_dropped_is_the_reason(people):
    less = sdc.protect.drop(people, variables=KEYS)
    done = sdc.assess(people, less)
    reasons = {o.measure: o.reason for o in done.omitted}
    assert reasons["k_anonymity"] == "the protected file has no column left with the role keys"
    tables = done.utility["contingency_tables"]
    assert math.isnan(tables.value)
    assert tables.notes == ("There is no table to compare: no key is in both files.",)
    assert tables.lost == tuple(KEYS)


def test_a_column_that_was_dropped_is_the_reason(people):
    less = sdc.protect.drop(people, variables=["region"])
    done = sdc.assess(people, less, measures=["atypical_records"], by=["region"])
    assert done.omitted[0].reason == "needs region, and the protected file has no such column"


def test_an_error_in_the_protected_file_says_so(people):
    options = {"measures": ["atypical_records"], "atypical_records": {"variables": ["wealth_index"]}}
    assert not sdc.assess(people, people, **options).omitted
    holes = people.with_frame(people.frame.with_columns(wealth_index=people.frame["income"]))
    reason = sdc.assess(people, holes, **options).omitted[0].reason
    assert reason.startswith("in the protected file: The mixture needs complete numbers.")


@pytest.mark.parametrize("measure", ["record_linkage", "interval_disclosure", "outlier_disclosure"])
def test_numbers_that_were_dropped_are_left_out_of_the_measure(people, measure):
    less = sdc.protect.drop(people, variables=["income"])
    result = sdc.assess(people, less, measures=[measure]).after[measure]
    asked = sdc.assess(people, less, measures=[measure], **{measure: {"variables": ["wealth_index"]}})
    assert result.value == asked.after[measure].value
    assert "left out: income." in result.notes[0]
    nothing = sdc.protect.drop(people, variables=["income", "wealth_index"])
    assert str(sdc.assess(people, nothing, measures=[measure]).after[measure].value) == "nan"
