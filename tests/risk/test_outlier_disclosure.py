"""Outlier disclosure against its plain twin, sdcMicro's dRiskRMD and by hand."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from conftest import oracle_cases
from naive_linkage import naive_outliers
from sdckit.risk.outlier_disclosure import Needs, at_risk, outlier_disclosure, standardised


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(-3, 3).map(float)] * 4), min_size=2, max_size=40),
    st.sampled_from([0.5, 5.0, 20.0]),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from(list(Needs)),
)
def test_same_as_the_plain_twin(records, width, neighbour, needs):
    both = np.array(records)
    z, other = both[:, :2], both[:, 2:]
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    found = at_risk(z, other, covariance, width, neighbour, needs)
    rule = any if needs is Needs.ANY else all
    expected = naive_outliers(
        z.tolist(), other.tolist(), np.linalg.inv(covariance).tolist(), width, neighbour, rule
    )
    assert found[0] == pytest.approx(np.array([r for r, _, _ in expected]))
    # strict ends: where a difference equals the width but for rounding either answer is right
    gap = np.abs(np.abs(other - z) - width * found[0][:, None]).min(axis=1) > 1e-9
    assert [i for i, sure in zip(found[1], gap, strict=True) if sure] == [
        e[1] for e, sure in zip(expected, gap, strict=True) if sure
    ]
    assert [i for i, sure in zip(found[3], gap, strict=True) if sure] == [
        e[2] for e, sure in zip(expected, gap, strict=True) if sure
    ]


@pytest.mark.parametrize("case", oracle_cases("03b", lambda c: "dRiskRMD" in c["expected"]))
def test_stored_risks_given_the_stored_covariance(case, oracles):
    names = case["inputs"]["variables"]
    x = oracles.frame(case["dataset"]["name"]).select(names).to_numpy().astype(float)
    y = oracles.frame(case["dataset"]["perturbed_csv"]).select(names).to_numpy().astype(float)
    covariance = np.array(case["expected"]["mcd_cov_of_scaled_original"])
    for k, stored in case["expected"]["dRiskRMD"].items():
        r, inside, _, risky = at_risk(
            standardised(x), standardised(y), covariance, float(k), case["params"]["RMD_k2"], Needs.ANY
        )
        assert inside.sum() == stored["n_index1"]
        assert risky.sum() == stored["n_index2"]
        assert inside.mean() == pytest.approx(stored["risk1"])
        assert risky.mean() == pytest.approx(stored["risk2"])
        assert r[inside].sum() == pytest.approx(stored["sum_riskvec1"])
        assert inside.sum() * r[inside].sum() / len(r) == pytest.approx(stored["wrisk1"])
        assert risky.sum() * r[risky].sum() / len(r) == pytest.approx(stored["wrisk2"])


@pytest.mark.parametrize("case", oracle_cases("03b", lambda c: c["id"].startswith("CASCrefmicrodata_add")))
def test_with_our_own_mcd_the_shares_are_close_to_the_stored_ones(case, oracles):
    data = oracles.data(case["dataset"], numeric=case["inputs"]["variables"])
    other = data.with_frame(oracles.frame(case["dataset"]["perturbed_csv"]))
    stored = case["expected"]["dRiskRMD"]["0.5"]
    result = outlier_disclosure(data, other, width=0.5)
    assert result.value == pytest.approx(stored["risk2"], abs=0.03)
    assert result.figures["inside"] == pytest.approx(stored["risk1"], abs=0.03)


def firms(n: int = 200) -> sdc.Microdata:
    rng = np.random.default_rng(1)
    x = rng.normal(100, 10, (n, 2))
    x[0] = 500, 500
    return sdc.read(pl.DataFrame(x, schema=["sales", "staff"]), numeric=["sales", "staff"])


def test_an_outlier_stays_at_risk_where_the_same_noise_hides_the_others():
    data = firms()
    rng = np.random.default_rng(2)
    other = data.with_frame(data.frame.with_columns(pl.all() + pl.Series(rng.choice([-20.0, 20.0], 200))))
    result = outlier_disclosure(data, other, width=1, inside="all")
    assert result.parts["at_risk"][0]
    assert result.parts["robust_distance"][0] > 20
    assert result.value < 0.1
    assert result.figures["outliers_at_risk"] > result.value


def test_records_with_close_neighbours_hide_each_other():
    data = firms()
    assert outlier_disclosure(data, sdc.protect.microaggregate(data, k=3), width=10).value == 0
    assert outlier_disclosure(data, data).figures["inside"] == 1


def test_missing_numbers_leave_the_record_out():
    data = firms()
    holed = data.frame.with_columns(
        pl.when(pl.int_range(pl.len()) < 5).then(None).otherwise("staff").alias("staff")
    )
    result = outlier_disclosure(data, data.with_frame(holed))
    assert result.parts["inside"].null_count() == 5
    assert result.parts["record"].to_list() == list(range(200))
    assert result.figures["inside"] == 1
    assert "5 records with a missing number left out." in result.notes


def test_half_zeros_fall_back_to_the_plain_covariance_with_a_note():
    data = firms()
    zeros = data.with_frame(
        data.frame.with_columns(
            staff=pl.when(pl.int_range(pl.len()) < 150).then(0.0).otherwise(pl.col("staff"))
        )
    )
    result = outlier_disclosure(zeros, zeros)
    assert math.isfinite(result.value)
    assert any("singular" in note for note in result.notes)


def test_variables_that_do_not_vary_are_left_out():
    data = firms()
    flat = data.with_frame(data.frame.with_columns(staff=pl.lit(7.0)))
    assert "Does not vary, left out: staff." in outlier_disclosure(data, flat).notes
    nothing = outlier_disclosure(
        data, data.with_frame(data.frame.with_columns(pl.lit(1.0).alias(c) for c in data.columns))
    )
    assert math.isnan(nothing.value)
    assert nothing.notes
