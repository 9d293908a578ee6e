"""Frequencies, k-anonymity and individual risk against stored results and by hand."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from conftest import oracle_cases
from naive_counts import wildcard_counts_of_records
from sdckit.data.key_cells import key_codes
from sdckit.errors import OptionError, RoleError
from sdckit.models.cell_risk import Method, cell_risk


@pytest.mark.parametrize("case", oracle_cases("02"))
def test_stored_frequencies_and_risks(oracles, case):
    inputs, expected, alpha = case["inputs"], case["expected"], case["params"]["alpha"]
    data = oracles.data(case["dataset"], keys=inputs["key_vars"], weight=inputs["weight"])
    counts = sdc.risk.frequencies(data, missing_weight=alpha).parts
    violations = sdc.risk.k_anonymity(data, missing_weight=alpha).figures
    if "brute_force_fk" in expected:  # the definition; sdcMicro leaves out records missing in all keys
        assert counts["sample_count"].to_list() == expected["brute_force_fk"]
        return
    for k in (2, 3, 5):
        assert violations[f"violations_{k}"] == expected[f"n{k}_violations"]
    assert counts["sample_count"].sum() == pytest.approx(expected["sum_fk"], rel=1e-12)
    assert counts["population_count"].sum() == pytest.approx(expected["sum_Fk"], rel=1e-12)
    if 0 < alpha < 1:
        return  # sdcMicro gives risk 0 for 1 < f < 2
    risk = sdc.risk.individual_risk(data, missing_weight=alpha)
    assert risk.value == pytest.approx(expected["global_risk"], rel=1e-9)
    assert risk.figures["expected_reidentifications"] == pytest.approx(expected["expected_reident"], rel=1e-9)
    stored = expected.get("per_record") or oracles.frame(expected["per_record_csv"]).to_dict(as_series=False)
    np.testing.assert_allclose(risk.parts["risk"], stored["risk"], rtol=1e-9)
    np.testing.assert_allclose(risk.parts["sample_count"], stored["fk"], rtol=1e-12)


def test_worked_example_of_ten_records():
    weights = [180, 180, 215, 76, 186, 76, 180, 215, 186, 76]
    keys = [1, 1, 2, 3, 4, 3, 5, 6, 7, 7]
    data = sdc.read(pl.DataFrame({"k": keys, "w": weights}), keys="k", weight="w")
    counts = sdc.risk.frequencies(data).parts
    assert counts["sample_count"].to_list() == [2, 2, 1, 2, 1, 2, 1, 1, 2, 2]
    assert counts["population_count"].to_list() == [360, 360, 215, 152, 186, 152, 180, 215, 262, 262]


def test_exact_risk_is_the_posterior_mean_of_one_over_population():
    # f = 3: sum over the negative binomial distribution of F, by brute force
    f, p = 3, 0.3
    sizes = np.arange(f, 4000)
    from scipy.stats import nbinom

    chance = nbinom.pmf(sizes - f, f, p)
    assert cell_risk(np.array([3.0]), np.array([10.0]), Method.EXACT)[0] == pytest.approx(
        (chance / sizes).sum()
    )


@given(f=st.integers(1, 10_000), ratio=st.floats(1e-9, 1))
def test_exact_risk_is_finite_and_between_the_population_and_the_sample(f, ratio):
    population = f / ratio
    risk = cell_risk(np.array([float(f)]), np.array([population]), Method.EXACT)[0]
    assert np.isfinite(risk)
    assert risk <= 1 / f + 1e-12
    assert risk >= f / population / f * (1 - 1e-9)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, 3, None])),
        min_size=1,
        max_size=25,
    ),
    rule=st.sampled_from(list(sdc.Missing)),
)
def test_missing_rules_agree_with_plain_counting(rows, rule):
    if all(a is None and b is None for a, b in rows):
        return
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.Int64}, orient="row").with_columns(
        w=1.0 + pl.int_range(pl.len()) % 3
    )
    data = sdc.read(frame, keys=["a", "b"], weight="w")
    parts = sdc.risk.frequencies(data, missing=rule).parts
    codes, weights = key_codes(frame, ["a", "b"]).tolist(), frame["w"].to_list()
    if rule is sdc.Missing.WILDCARD:
        sample, population = wildcard_counts_of_records(codes, weights, 1.0)
    else:
        alike = [
            [
                j
                for j in range(len(rows))
                if j == i or (codes[j] == codes[i] and (rule == "category" or -1 not in codes[i]))
            ]
            for i in range(len(rows))
        ]
        sample = [len(js) for js in alike]
        population = [sum(weights[j] for j in js) for js in alike]
    np.testing.assert_allclose(parts["sample_count"], sample)
    np.testing.assert_allclose(parts["population_count"], population)


def test_subsets_of_keys():
    frame = pl.DataFrame({"a": [1, 1, 1, 2], "b": [1, 1, 2, 2]})
    data = sdc.read(frame, keys=["a", "b"])
    result = sdc.risk.k_anonymity(data, k=2, subsets=2)
    assert result.figures["violations"] == 2  # (1,2) and (2,2) are alone on both keys
    assert result.tables["subsets"].to_dicts() == [
        {"keys": "a", "violations": 1},
        {"keys": "b", "violations": 0},
        {"keys": "a, b", "violations": 2},
    ]
    assert sdc.risk.k_anonymity(data, k=2, subsets=[["b"]]).figures["violations"] == 0


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(*[st.sampled_from(["x", "y", None])] * 3), min_size=2, max_size=30).map(
        lambda rows: [("x", "y", "x"), *rows]
    ),
    subsets=st.sampled_from([None, 2]),
    alpha=st.sampled_from([1.0, 0.5]),
)
def test_what_the_wildcard_rule_hides_is_said(rows, subsets, alpha):
    frame = pl.DataFrame(rows, schema=dict.fromkeys("abc", pl.String), orient="row")
    data = sdc.read(frame, keys=list("abc"))
    found = sdc.risk.k_anonymity(data, subsets=subsets, missing_weight=alpha)
    strict = sdc.risk.k_anonymity(data, subsets=subsets, missing="category")
    assert "violations_if_blank_is_a_value" not in strict.figures
    if not any(None in row for row in rows):
        assert "violations_if_blank_is_a_value" not in found.figures
        assert not found.notes
        return
    rare = found.figures["violations_if_blank_is_a_value"]
    assert rare == strict.figures["violations"]
    said = [note for note in found.notes if "if a blank is read as a value of its own" in note]
    assert [note.split()[0] for note in said] == ([f"{rare:,}"] if rare else [])


def test_individual_risk_says_what_blanks_as_values_would_give():
    data = sdc.read(pl.DataFrame({"a": ["x", "y", None, None]}), keys="a")
    assert sdc.risk.individual_risk(data).notes[1] == (
        "If a blank is read as a value of its own, 3 re-identifications are expected instead of 1.167."
    )
    assert len(sdc.risk.individual_risk(data, missing="category").notes) == 2


def test_odd_column_types_can_be_keys():
    frame = pl.DataFrame(
        {
            "flag": [True, True, None],
            "day": [None, None, None],
            "records": pl.Series(["x", "x", "y"], dtype=pl.Categorical),
            "count": pl.Series(["x", "x", "y"], dtype=pl.Enum(["y", "x"])),
        }
    ).with_columns(pl.col("day").cast(pl.Date))
    data = sdc.read(frame, keys=frame.columns)
    assert sdc.risk.frequencies(data).parts["sample_count"].to_list() == [2, 2, 1]


def test_refusals():
    data = sdc.read(pl.DataFrame({"a": [1, 2]}), keys="a")
    with pytest.raises(
        OptionError, match=r"k is larger than the number of records. Given: 3. Allowed: 2 to 2"
    ):
        sdc.risk.k_anonymity(data)
    with pytest.raises(
        OptionError, match=r"Option 'k' of k_anonymity is not valid. Given: 1. Allowed: 2 or more."
    ):
        sdc.risk.k_anonymity(data, k=1)
    with pytest.raises(RoleError, match=r"needs the role 'keys'"):
        sdc.risk.frequencies(sdc.read(pl.DataFrame({"a": [1]})))
    with pytest.raises(OptionError, match=r"no option 'treshold'.*Did you mean 'threshold'"):
        sdc.risk.individual_risk(data, treshold=0.1)


def test_keys_named_like_columns_of_ours_on_duckdb():
    duckdb = pytest.importorskip("duckdb")
    frame = pl.DataFrame({"records": [1, 1, 2], "risk": ["x", "x", "y"], "risk (key)": [7, 7, 7]})
    data = sdc.read(duckdb.from_arrow(frame.to_arrow()), keys=["records", "risk", "risk (key)"])
    parts = sdc.risk.individual_risk(data).parts.sort("records")
    assert parts["records (key)"].to_list() == [2, 1]
    assert parts["risk (key) (key)"].to_list() == ["y", "x"]
    assert parts["risk (key)"].to_list() == [7, 7]
    assert parts["records"].to_list() == [1, 2]
    assert parts["risk"].to_list() == [1.0, 0.5]


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.5, 1.0])
def test_unique_records_are_those_below_2_in_k_anonymity_and_in_the_table_of_sizes(alpha):
    rng = np.random.default_rng(3)
    codes = rng.choice(np.array(["a", "b", "c", None]), size=(60, 3), p=[0.5, 0.3, 0.1, 0.1])
    data = sdc.read(pl.DataFrame(codes.tolist(), schema=["x", "y", "z"], orient="row"), keys=["x", "y", "z"])
    found = sdc.risk.frequencies(data, missing_weight=alpha)
    below = sdc.risk.k_anonymity(data, k=2, missing_weight=alpha)
    assert found.value == below.value > 0
    assert found.figures["unique_records"] == below.figures["violations_2"]
    counts = found.parts["sample_count"].to_numpy()
    assert (0 < alpha < 1) == bool(((counts > 1) & (counts < 2)).any())  # the case that could differ
    sizes = found.tables["sizes"]
    assert sizes.row(0) == (1.0, 2.0, found.figures["unique_records"])
    assert sizes["records"].to_list() == [
        int(((counts >= low) & (counts < high)).sum()) for low, high, _ in sizes.rows()
    ]
    assert sizes["records"].sum() == 60


def test_the_last_class_of_risk_ends_at_one_and_holds_it():
    data = sdc.read(pl.DataFrame({"a": ["x", "y", "y"], "w": [1.0, 4.0, 4.0]}), keys="a", weight="w")
    classes = sdc.risk.individual_risk(data).tables["classes"]
    assert classes["to"].to_list()[-1] == 1.0
    assert classes["records"].sum() == 3
    assert classes["records"].to_list()[-1] == 1


def test_notes_count_in_singular_and_plural():
    frame = pl.DataFrame({"a": ["x", None, "y"], "b": [None, None, "z"]})
    one, two = (sdc.risk.k_anonymity(sdc.read(frame, keys=key), k=2).notes[0] for key in "ab")
    assert one.startswith("1 record has a missing key")
    assert two.startswith("2 records have a missing key")


@pytest.mark.parametrize(("rows", "allowed"), [(1, "none: k is at least 2"), (3, "2 to 3")])
def test_too_large_a_k_says_what_is_possible(rows, allowed):
    data = sdc.read(pl.DataFrame({"a": ["x"] * rows, "v": [1.0] * rows}), keys="a", numeric="v")
    for method in (sdc.risk.k_anonymity, sdc.protect.microaggregate, sdc.protect.suppress):
        with pytest.raises(OptionError, match=f"Allowed: {allowed}"):
            method(data, k=5)
