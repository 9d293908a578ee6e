"""Equal weights of a declared population: what they are, and that no verdict rests on them alone."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.choose.criteria import Status
from sdckit.errors import ColumnError, OptionError
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind

JUDGES = [spec.name for spec in specs(Kind.RISK) if spec.judges]
NAMES = ["region", "sex", "age", "income"]


def sample() -> sdc.Microdata:
    return sdc.Microdata.of(sdc.demo.survey(n=120, seed=3).frame.select(NAMES))


def original(population: float | None = None) -> sdc.Microdata:
    """A sample without weights of its own; the roles come after the preparation."""
    data = sample() if population is None else sdc.prepare.equal_weights(sample(), population=population)
    roles = {"keys": ["region", "sex", "age"], "numeric": "income"}
    return data.with_roles(**roles, **({} if population is None else {"weight": "weight"}))


def verdict(data: sdc.Microdata, protected: sdc.Microdata | None = None, **options):
    return sdc.assess(data, protected or data, measures=JUDGES, **{"max_risk": 0.05, **options}).verdict


def test_every_record_stands_for_as_many_people():
    done = sdc.prepare.equal_weights(sample(), population=6000)
    assert done.frame["weight"].to_list() == [50.0] * 120
    assert done.prepared[0].figures["equal_weights"] == {"weight": 6000}
    assert "6,000 people" in done.labels.variables["weight"]
    same = sdc.prepare.equal_weights(sample(), fraction=0.02, name="w")
    assert same.frame["w"].to_list() == [50.0] * 120
    assert same.frame.drop("w").equals(sample().frame)


def test_it_is_the_risk_of_a_sample_of_that_size():
    """f = 1 and F = 50: p/(1−p)·ln(1/p) with p = 1/50, by hand."""
    frame = pl.DataFrame({"x": range(4)})
    data = sdc.prepare.equal_weights(sdc.Microdata.of(frame), population=200)
    risk = sdc.risk.individual_risk(data.with_roles(keys="x", weight="weight"))
    assert risk.value == pytest.approx(1 / 49 * 3.912023005428146)
    assert sdc.risk.individual_risk(sdc.Microdata.of(frame, keys="x")).value == 1


@pytest.mark.parametrize("asked", [{"population": 119}, {"population": 119.999}])
def test_a_population_smaller_than_the_file_is_refused(asked):
    with pytest.raises(OptionError, match="The population is smaller than the file") as error:
        sdc.prepare.equal_weights(sample(), **asked)
    assert "120 or more" in str(error.value)
    assert sdc.prepare.equal_weights(sample(), population=120).frame["weight"].to_list() == [1.0] * 120


@pytest.mark.parametrize(
    "asked",
    [{}, {"population": 5000, "fraction": 0.1}, {"fraction": 1.01}, {"fraction": 0}, {"population": 1e10}],
)
def test_what_says_nothing_or_too_much_is_refused(asked):
    with pytest.raises(OptionError):
        sdc.prepare.equal_weights(sample(), **asked)


def test_a_column_is_not_replaced():
    with pytest.raises(ColumnError, match="already"):
        sdc.prepare.equal_weights(sample(), population=500, name="income")


@settings(max_examples=5, deadline=None)
@given(st.floats(120, 1e7))
def test_who_knows_that_a_person_took_part_does_not_depend_on_it(population):
    """Every criterion but that of the stranger and of the weights is the same for any population."""

    def others(found):
        return [c for c in found if not c.name.endswith("neighbour") and c.name != "weights"]

    found = verdict(original(population))
    assert others(found) == others(verdict(original(120)))
    assert not found.releasable
    insider = next(c for c in found if c.name == "re-identification by insider")
    assert insider.status is Status.NOT_MET


def test_the_verdict_says_what_was_said():
    found = {c.name: c for c in verdict(original(6000))}["weights"]
    assert found.status is Status.MET
    assert "came without weights and is said to be a sample of 6,000 people, 50 for each record" in found.why
    of_survey = sdc.demo.survey(n=120, seed=3)
    assert "said to be" not in {c.name: c for c in verdict(of_survey)}["weights"].why


STRANGER = {"stranger": {"knows": ["keys", "numeric"], "in_file": False}}


@pytest.mark.parametrize(
    ("insiders", "rests"),
    [
        ({}, True),
        ({"weak": {"knows": ["sex"]}}, True),
        ({"less exact": {"knows": ["keys", {"numeric": 0.5}]}}, True),
        ({"insider": {"knows": ["keys", "numeric"]}}, False),
        ({"more exact": {"knows": ["keys", {"numeric": 0.0}]}}, False),
    ],
)
@pytest.mark.parametrize("accepted", [{}, {"population": 100_000}])
def test_nothing_is_cleared_by_what_was_said_alone(insiders, rests, accepted):
    """Also where the same number is accepted: saying it twice makes it no truer."""
    protected = sdc.protect.add_noise(original(100_000), sd=0.5)
    found = verdict(original(100_000), protected, intruders={**STRANGER, **insiders}, accept=accepted)
    weights = {c.name: c for c in found}["weights"]
    assert weights.status is (Status.NOT_JUDGED if rests else Status.MET)
    assert ("nothing but this says what stranger finds" in weights.why) is rests


def test_weights_changed_by_another_preparation_are_asked_for():
    data = sdc.prepare.equal_weights(sample(), population=6000)
    data = sdc.prepare.replace_values(data, variables="weight", values={50: 5000})
    data = data.with_roles(keys=["region", "sex"], weight="weight")
    found = {c.name: c for c in verdict(data)}["preparation of the original"]
    assert found.status is Status.NOT_JUDGED
    assert "120 of weight" in found.why
