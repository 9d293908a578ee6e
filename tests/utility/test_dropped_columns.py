"""A column that the protected file no longer has: left out and named, refused where the user named it."""

import math

import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import ColumnError
from sdckit.methods.options import RoleColumns
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind

TOLD = ("indicators", "prediction_quality", "regression", "table_loss")  # what is lost counts as lost
MEASURES = [s for s in specs(Kind.UTILITY) if s.name not in TOLD]
KEYS, NUMBERS = ["sex", "urban"], ["income", "expenditure", "age", "wealth_index"]
CATEGORICAL = ("contingency_loss", "contingency_tables", "entropy", "entropy_loss")


@pytest.fixture(scope="module")
def data() -> sdc.Microdata:
    return sdc.demo.survey(n=200, seed=1).with_roles(keys=KEYS, numeric=NUMBERS, sensitive=())


def named(spec, column):
    return {"tables": [[column]]} if spec.name == "contingency_tables" else {"variables": [column]}


@pytest.mark.parametrize("spec", MEASURES, ids=lambda s: s.name)
def test_a_named_column_is_refused(data, spec):
    column = "sex" if spec.name in CATEGORICAL else "income"
    less = sdc.protect.drop(data, variables=[column])
    assert not math.isnan(spec.call(data, less).value)
    with pytest.raises(ColumnError, match=f"The protected file has no column '{column}'"):
        spec.call(data, less, **named(spec, column))


@pytest.mark.parametrize("spec", MEASURES, ids=lambda s: s.name)
def test_nothing_left_is_no_number_with_a_reason(data, spec):
    wide = data.with_roles(keys=KEYS, numeric=NUMBERS)
    result = spec.call(wide, sdc.protect.drop(wide, variables=[*KEYS, *NUMBERS]))
    assert math.isnan(result.value)
    assert result.notes
    wanted = set(KEYS) if spec.name in CATEGORICAL else set(NUMBERS)
    assert wanted <= set(result.lost)


def test_columns_of_a_role_stay_marked_when_they_are_looked_up(data):
    spec = next(s for s in MEASURES if s.name == "il1s")
    found = spec.resolve(data, spec.validate({}))["variables"]
    assert isinstance(found, RoleColumns)
    assert list(found) == NUMBERS
    chosen = spec.resolve(data, spec.validate({"variables": NUMBERS}))["variables"]
    assert not isinstance(chosen, RoleColumns)


@pytest.mark.parametrize("spec", [s for s in MEASURES if s.name not in CATEGORICAL], ids=lambda s: s.name)
def test_a_number_that_is_all_blank_is_lost_or_counts(data, spec):
    blank = data.with_frame(data.frame.with_columns(income=pl.lit(None, dtype=pl.Int64)))
    result = spec.call(data, blank)
    assert result.value > 0.01 or "income" in result.lost
