"""One rule for columns the protected file no longer has: left out and named, or refused where asked for."""

import math

import pytest

import sdckit as sdc
from sdckit.errors import ColumnError


@pytest.fixture(scope="module")
def survey():
    return sdc.demo.survey(n=80, seed=1).with_roles(
        keys=["sex", "region"], numeric=["income", "expenditure"], sensitive=["health"]
    )


OF_NUMBERS = ["record_linkage", "interval_disclosure", "outlier_disclosure"]


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_numbers(survey, name):
    measure = getattr(sdc.risk, name)
    less = sdc.protect.drop(survey, variables=["income"])
    result = measure(survey, less)
    assert result.lost == ("income",)
    assert result.value == measure(survey, less, variables="expenditure").value
    assert any("left out: income" in note for note in result.notes)
    none = measure(survey, sdc.protect.drop(survey, variables=["income", "expenditure"]))
    assert math.isnan(none.value)
    assert none.notes
    assert none.lost == ("income", "expenditure")
    with pytest.raises(ColumnError, match=r"The protected file has no column 'income'."):
        measure(survey, less, variables=["income", "expenditure"])


def test_closest_record(survey):
    less = sdc.protect.drop(survey, variables=["sex"])
    result = sdc.risk.closest_record(survey, less)
    assert result.lost == ("sex",)
    assert "Not in the protected file, left out: sex." in result.notes
    with pytest.raises(ColumnError, match="has no column 'sex'"):
        sdc.risk.closest_record(survey, less, variables=["sex", "income"])


def test_attribute_disclosure(survey):
    less = sdc.protect.drop(survey, variables=["sex"])
    assert sdc.risk.attribute_disclosure(survey, less).lost == ("sex",)
    keyless = sdc.risk.attribute_disclosure(survey, sdc.protect.drop(survey, variables=["sex", "region"]))
    assert math.isnan(keyless.value)
    assert keyless.notes[-1] == "No key is left in the protected file."
    with pytest.raises(ColumnError, match="has no column 'health'"):
        sdc.risk.attribute_disclosure(
            survey, sdc.protect.drop(survey, variables=["health"]), sensitive="health"
        )


def test_what_an_intruder_knows_may_be_gone_from_the_file(survey):
    """Naming it says what the intruder knows, not what the file has: it helps nobody."""
    less = sdc.protect.drop(survey, variables=["sex"])
    for known in (survey.roles.keys, ["sex", "region"]):
        assert sdc.risk.attribute_disclosure(survey, less, known=known).lost == ("sex",)
        assert sdc.risk.identification_risk(survey, less, known=known, synthesised="health").lost == ("sex",)
    with pytest.raises(ColumnError, match="has no column 'sex'"):
        sdc.risk.identification_risk(survey, less, synthesised="sex")
