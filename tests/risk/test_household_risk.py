"""Household risk against stored results, by hand and against a plain product."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from conftest import oracle_cases
from sdckit.errors import RoleError
from sdckit.risk.individual_risk import cell_risk


@pytest.mark.parametrize("case", oracle_cases("02", lambda c: c["inputs"]["household_id"]))
def test_stored_household_risks(oracles, case):
    inputs, expected = case["inputs"], case["expected"]
    data = oracles.data(
        case["dataset"],
        keys=inputs["key_vars"],
        weight=inputs["weight"],
        household=inputs["household_id"],
    )
    result = sdc.risk.household_risk(data)
    if "brute_force_fk" in expected:  # sdcMicro miscounts records missing in all keys: from the stored counts
        f = np.array(expected["brute_force_fk"], dtype=float)
        risks = cell_risk(f, f * data.weights())  # all weights are 100
        homes = data.frame[inputs["household_id"]].to_numpy()
        by_home = [1 - np.prod(1 - risks[homes == home]) for home in homes]
        np.testing.assert_allclose(result.parts["household_risk"], by_home, rtol=1e-9)
        return
    assert result.value == pytest.approx(expected["hier_risk"], rel=1e-9)
    assert result.figures["expected_reidentifications"] == pytest.approx(
        expected["hier_expected_reident"], rel=1e-9
    )
    stored = oracles.frame(expected["per_record_csv"])
    np.testing.assert_allclose(result.parts["household_risk"], stored["hier_risk"], rtol=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.integers(1, 4), st.sampled_from(["a", "b", "c", None]), st.sampled_from([1.0, 2.5, 40.0])
        ),
        min_size=1,
        max_size=25,
    )
)
def test_agrees_with_a_plain_product(rows):
    frame = pl.DataFrame(
        rows, schema=["key", "home", "w"], orient="row", schema_overrides={"home": pl.String}
    )
    data = sdc.read(frame, keys="key", household="home", weight="w")
    result = sdc.risk.household_risk(data)
    risks = sdc.risk.individual_risk(data).parts["risk"].to_list()
    homes = [home if home is not None else i for i, (_, home, _) in enumerate(rows)]
    for i, home in enumerate(homes):
        members = [j for j, other in enumerate(homes) if other == home]
        product = 1 - math.prod(1 - risks[j] for j in members)
        assert result.parts["household_risk"][i] == pytest.approx(product, rel=1e-9)
        assert result.parts["household_size"][i] == len(members)
    by_home = {home: result.parts["household_risk"][i] for i, home in enumerate(homes)}
    assert result.figures["households"] == len(by_home)
    assert result.figures["expected_households"] == pytest.approx(sum(by_home.values()))
    assert result.tables["household_sizes"]["households"].sum() == len(by_home)
    assert result.value >= sdc.risk.individual_risk(data).value - 1e-12


def test_small_risks_keep_their_digits():
    n = 1000
    frame = pl.DataFrame({"key": [1] * n, "home": [1] * n, "w": [1e12] * n})
    result = sdc.risk.household_risk(sdc.read(frame, keys="key", household="home", weight="w"))
    single = result.parts["individual_risk"][0]
    assert single < 1e-14  # 1 − r is 1 in floating point
    assert result.value == pytest.approx(n * single, rel=1e-9)


def test_risk_one_and_missing_households():
    frame = pl.DataFrame({"key": [1, 2, 2, 3], "home": [1, 1, None, None]})
    result = sdc.risk.household_risk(sdc.read(frame, keys="key", household="home"))
    assert result.parts["household_risk"].to_list() == [1.0, 1.0, 0.5, 1.0]
    assert result.figures["households"] == 3
    assert "2 records have no household number" in result.notes[0]


def test_table_by_household_size():
    frame = pl.DataFrame({"key": [1, 1, 2], "home": [1, 1, 2]})
    table = sdc.risk.household_risk(sdc.read(frame, keys="key", household="home")).tables["household_sizes"]
    assert table.rows() == [(1, 1, 1, 1.0, 1.0), (2, 1, 2, 0.5, 0.75)]


def test_needs_households():
    with pytest.raises(RoleError, match="needs the role 'household'"):
        sdc.risk.household_risk(sdc.read(pl.DataFrame({"a": [1]}), keys="a"))


@pytest.mark.parametrize("name", ["individual_risk", "household_risk", "household_size"])
def test_an_id_named_like_a_column_of_ours(name):
    frame = pl.DataFrame({name: list("xyz"), "age": [1, 1, 2], "home": [1, 1, 2]})
    data = sdc.read(frame, id=name, keys="age", household="home")
    parts = sdc.risk.household_risk(data).parts
    assert parts["record"].to_list() == list("xyz")
    assert parts["household_size"].to_list() == [2, 2, 1]
