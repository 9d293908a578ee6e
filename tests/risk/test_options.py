"""Options of risk measures: which go together, and names they had before."""

import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import OptionError
from sdckit.methods.registry import find


@pytest.mark.parametrize(
    ("measure", "options", "message"),
    [
        ("frequencies", {"missing_weight": 0.5, "missing": "category"}, "'missing_weight' of frequencies"),
        ("k_anonymity", {"missing_weight": 0.5, "missing": "nothing"}, "means nothing without 'missing'"),
        ("individual_risk", {"missing_weight": 0.5, "missing": "category"}, "Allowed: missing_weight with"),
        ("household_risk", {"missing_weight": 0, "missing": "category"}, "Given: missing: category"),
        ("population_uniques", {"model": "pitman", "formula": "two-way"}, "'formula' of population_uniques"),
        ("interval_disclosure", {"method": "rank", "spread": "original"}, "Given: method: rank"),
        ("atypical_records", {"smallest": 50}, "means nothing without 'code'"),
    ],
)
def test_options_that_mean_nothing_together_are_refused_before_any_data(measure, options, message):
    with pytest.raises(OptionError, match=message):
        find(measure).validate(options)


def test_the_same_options_alone_are_accepted():
    assert find("frequencies").validate({"missing_weight": 0.5})["missing"] is sdc.Missing.WILDCARD
    find("population_uniques").validate({"formula": "two-way"})
    find("interval_disclosure").validate({"spread": "original"})
    find("atypical_records").validate({"smallest": 50, "code": "nace"})


@pytest.mark.parametrize(
    ("measure", "old", "new", "value"),
    [
        ("frequencies", "alpha", "missing_weight", 0.5),
        ("k_anonymity", "alpha", "missing_weight", 0.5),
        ("individual_risk", "alpha", "missing_weight", 0.5),
        ("population_uniques", "population", "population_size", 100),
    ],
)
def test_earlier_names_are_still_accepted(measure, old, new, value):
    data = sdc.read(pl.DataFrame({"a": ["x", "y", None, "x", "y"]}), keys="a")
    run = getattr(sdc.risk, measure)
    with pytest.warns(DeprecationWarning, match=f"'{old}' of {measure} is now called '{new}'"):
        before = run(data, **{old: value})
    after = run(data, **{new: value})
    assert (before.value, before.figures, before.options) == (after.value, after.figures, after.options)
    assert new in after.options
