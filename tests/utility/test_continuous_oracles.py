"""The continuous utility measures against stored results of other programs."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from conftest import oracle_cases
from sdckit.utility.eigenvalues import changes

ALL = oracle_cases("06", lambda c: "IL1_sdcMicro" in c["expected"])
WHOLE = oracle_cases("06", lambda c: "IL_correl" in c["expected"])
EXACT = {"rel": 1e-9}


def both(oracles, case) -> tuple[sdc.Microdata, sdc.Microdata]:
    names = case["inputs"]["variables"]
    data = sdc.read(oracles.frame(case["dataset"]["name"]).select(names), numeric=names)
    stored = oracles.frame(case["dataset"]["perturbed_csv"]).select(pl.col(names).cast(pl.Float64))
    return data, data.with_frame(stored)


@pytest.mark.parametrize("case", ALL)
def test_stored_il1(oracles, case):
    result = sdc.utility.il1(*both(oracles, case))
    expected = case["expected"]
    assert result.value == pytest.approx(expected["IL1_relative_mean_seed_scale"], **EXACT)
    assert result.figures["percent_sum"] == pytest.approx(expected["IL1_sdcMicro"], **EXACT)
    if "mean_variation" in expected:
        assert result.figures["complete_pairs"] == pytest.approx(expected["mean_variation"], **EXACT)


@pytest.mark.parametrize("case", ALL)
def test_stored_il1_in_standard_deviations(oracles, case):
    value = sdc.utility.il1(*both(oracles, case), scale="sd").value
    assert value == pytest.approx(np.sqrt(2) * case["expected"]["IL1s_seed_formula"], **EXACT)


@pytest.mark.parametrize("case", ALL)
def test_stored_eigenvalues(oracles, case):
    value = sdc.utility.eigenvalues(*both(oracles, case), missing="pairwise").value
    assert value == pytest.approx(case["expected"]["eigen"], **EXACT)


@pytest.mark.parametrize("case", WHOLE)
def test_complete_and_pairwise_agree_without_missing_values(oracles, case):
    value = sdc.utility.eigenvalues(*both(oracles, case)).value
    assert value == pytest.approx(case["expected"]["eigen"], **EXACT)


@pytest.mark.parametrize("case", WHOLE)
def test_stored_robust_eigenvalues_from_the_stored_covariances(oracles, case):
    expected = case["expected"]
    stored = (np.array(expected[f"robeigen_mcd_cov_{side}"]) for side in "xy")
    assert changes(*stored)["change"].sum() == pytest.approx(expected["robeigen_recomputed"], **EXACT)


@pytest.mark.parametrize("case", WHOLE)
def test_stored_correlation_loss(oracles, case):
    value = sdc.utility.correlation_loss(*both(oracles, case)).value
    assert value == pytest.approx(case["expected"]["IL_correl"], **EXACT)


@pytest.mark.parametrize("case", WHOLE)
def test_stored_matrix_discrepancy(oracles, case):
    result, expected = sdc.utility.matrix_discrepancy(*both(oracles, case)), case["expected"]
    assert result.value == result.figures["mae_r"] == pytest.approx(expected["cor_diff_MAE"], **EXACT)
    assert result.figures["mse_v"] == pytest.approx(expected["cov_diff_MSE"], **EXACT)
    assert result.figures["mvar_x"] == pytest.approx(expected["mean_variation"], **EXACT)


@pytest.mark.parametrize("case", WHOLE)
def test_stored_means_and_correlations(oracles, case):
    result, expected = sdc.utility.moments(*both(oracles, case)), case["expected"]
    for row in result.parts.iter_rows(named=True):
        for side, name in (("x", "mean_original"), ("y", "mean_protected")):
            assert row[name] == pytest.approx(expected[f"mean_{side}"][row["variable"]], **EXACT)
    names = case["inputs"]["variables"]
    for row in result.tables["correlation"].iter_rows(named=True):
        i, j = names.index(row["variable"]), names.index(row["with"])
        assert row["original"] == pytest.approx(expected["cor_x"][i][j], **EXACT)
        assert row["protected"] == pytest.approx(expected["cor_y"][i][j], **EXACT)


@pytest.mark.parametrize("case", ALL)
def test_stored_variable_loss(oracles, case):
    result, expected = sdc.utility.variable_loss(*both(oracles, case)), case["expected"]
    assert result.value == pytest.approx(expected["IL_variables"], **EXACT)
    found = dict(result.parts.select("variable", "loss").iter_rows())
    assert found == pytest.approx(expected["IL_variables_individual"], **EXACT)


@pytest.mark.parametrize("case", oracle_cases("06", lambda c: c["id"] == "IL_variables_mixed"))
def test_stored_variable_loss_of_mixed_variables(oracles, case):
    x, y = (oracles.frame(case["dataset"][f"{side}_csv"]) for side in "xy")
    data = sdc.read(x, keys=["cat", "ord"], numeric="num")
    result = sdc.utility.variable_loss(data, data.with_frame(y), ordinal=case["inputs"]["ordinal"])
    assert result.value == pytest.approx(case["expected"]["IL_variables"], **EXACT)
    found = dict(result.parts.select("variable", "loss").iter_rows())
    assert found == pytest.approx(case["expected"]["individual"], **EXACT)


@pytest.mark.parametrize(
    "case", oracle_cases("07", lambda c: c["id"] in ("eusilc_db040", "protectedB_db040"))
)
def test_stored_weighted_quantiles(oracles, case):
    expected = case["expected"]["quantiles"]
    income, weight = case["inputs"]["income"], case["inputs"]["weight"]
    frame = oracles.frame(case["dataset"]["name"])
    if "protected_columns_csv" in case["dataset"]:
        frame = frame.with_columns(oracles.frame(case["dataset"]["protected_columns_csv"])[income])
    data = sdc.read(frame, numeric=income, weight=weight)
    probabilities = [float(p) for p in expected]
    table = sdc.utility.moments(data, data, probabilities=probabilities).tables["quantiles"]
    assert table["original"].to_list() == pytest.approx(list(expected.values()), **EXACT)
