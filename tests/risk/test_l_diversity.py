"""l-diversity against stored results and a plain twin."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from conftest import oracle_cases
from naive_sensitive import diversity, group
from sdckit.data.key_cells import key_codes
from sdckit.errors import OptionError, RoleError
from sdckit.risk import _sensitive_values as sensitive_values


@pytest.mark.parametrize("case", oracle_cases("03a", lambda c: "ldiv" in c["id"]))
def test_stored_results(oracles, case):
    inputs = case["inputs"]
    data = oracles.data(case["dataset"], keys=inputs["key_vars"], sensitive=inputs["sensitive"])
    stored = oracles.frame(case["expected"]["per_record_csv"])
    left_out, category = (
        sdc.risk.l_diversity(
            data, c=case["params"]["l_recurs_c"], missing="category", missing_sensitive=rule
        ).parts
        for rule in ("drop", "category")
    )
    several = len(inputs["sensitive"]) > 1
    for variable in inputs["sensitive"]:
        name = f" ({variable})" if several else ""
        drop, whole = left_out["distinct" + name].fill_null(0), category["distinct" + name]
        assert drop.to_list() == stored[f"own_{variable}_distinct_excluding_na"].to_list()
        assert whole.to_list() == stored[f"own_{variable}_distinct_na_as_one_value"].to_list()
        np.testing.assert_allclose(
            category["entropy" + name], stored[f"own_{variable}_entropy_na_as_one_value"], rtol=1e-12
        )
        if case["expected"]["own_check"][variable]["distinct"]:  # sdcMicro is right where nothing is missing
            recursive = stored[f"{variable}_Recursive_Ldiversity"]
            assert left_out["recursive" + name].to_list() == recursive.to_list()


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", None]),
        st.sampled_from([1, 2, 3, None]),
        st.sampled_from(["x", "y", "z", None]),
    ),
    min_size=1,
    max_size=25,
)


@settings(max_examples=120, deadline=None)
@given(
    rows=ROWS,
    rule=st.sampled_from(list(sdc.Missing)),
    c=st.sampled_from([0.5, 1.0, 2.0, 3.0]),
    together=st.booleans(),
    few=st.sampled_from([0, 64]),
    batch=st.sampled_from([3, 4_000_000]),
)
def test_agrees_with_looking_at_every_record(rows, rule, c, together, few, batch):
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.Int64, "s": pl.String}, orient="row")
    if frame.select(pl.all_horizontal(pl.col("a", "b").is_null()).all()).item():
        return
    data = sdc.read(frame, keys=["a", "b"], sensitive="s")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sensitive_values, "MAX_DENSE_VALUES", few)  # both ways of matching
        patch.setattr(sensitive_values, "MAX_ROWS", batch)
        patch.setattr(sensitive_values, "MAX_ENTRIES", batch)
        parts = sdc.risk.l_diversity(
            data, c=c, missing=rule, missing_sensitive="category" if together else "drop"
        ).parts
    codes = key_codes(frame, ["a", "b"]).tolist()
    for i in range(len(rows)):
        values = [rows[j][2] for j in group(codes, i, rule)]
        kept = values if together else [v for v in values if v is not None]
        if rule == "nothing" and -1 in codes[i]:
            kept = ["alone"]
        expected = diversity(kept, c)
        if expected is None:
            assert parts["distinct"][i] is None
        else:
            assert parts.row(i)[1:] == pytest.approx(expected)


def test_value_figures_and_several_variables():
    frame = pl.DataFrame({"k": [1, 1, 1, 2, 2], "s": list("aabcd"), "u": [1, 2, 3, 4, 4]})
    result = sdc.risk.l_diversity(sdc.read(frame, keys="k", sensitive=["s", "u"]), l=3)
    assert result.value == 1  # u in cell 2
    assert result.figures["violations"] == 5
    assert result.parts["distinct (s)"].to_list() == [2, 2, 2, 2, 2]
    assert result.parts["distinct (u)"].to_list() == [3, 3, 3, 1, 1]
    assert result.parts["distinct"].to_list() == [2, 2, 2, 1, 1]
    assert result.tables["variables"]["violations"].to_list() == [5, 2]


def test_a_wildcard_widens_the_group():
    frame = pl.DataFrame({"k": [1, 1, 2, None], "s": ["a", "a", "b", "c"]})
    data = sdc.read(frame, keys="k", sensitive="s")
    assert sdc.risk.l_diversity(data).parts["distinct"].to_list() == [2, 2, 2, 3]
    assert sdc.risk.l_diversity(data, missing="category").parts["distinct"].to_list() == [1, 1, 1, 1]


def test_all_sensitive_values_missing():
    frame = pl.DataFrame({"k": [1, 2], "s": pl.Series([None, None], dtype=pl.String)})
    result = sdc.risk.l_diversity(sdc.read(frame, keys="k", sensitive="s"))
    assert np.isnan(result.value)
    assert "No sensitive value is present in any group." in result.notes


def test_refusals():
    data = sdc.read(pl.DataFrame({"k": [1], "s": [1]}), keys="k", sensitive="s")
    with pytest.raises(OptionError, match=r"A sensitive variable cannot be a key as well. Given: k."):
        sdc.risk.l_diversity(data, sensitive="k")
    with pytest.raises(OptionError, match="needs at least one column in 'sensitive'"):
        sdc.risk.l_diversity(data, sensitive=[])
    with pytest.raises(RoleError, match="needs the role 'sensitive'"):
        sdc.risk.l_diversity(sdc.read(pl.DataFrame({"k": [1]}), keys="k"))
