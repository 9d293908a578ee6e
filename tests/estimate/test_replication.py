"""Replicate weights that come with the data: kinds, factors, centres, and regressions by them."""

import math

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.estimate.replication import ReplicateOptions, Replication

# Levy & Lemeshow's six ambulances with balanced half samples; standard errors by R's svrepdesign
HALVES = ["r1", "r2", "r3", "r4"]
AMBULANCES = pl.DataFrame(
    {
        "area": [1, 1, 2, 2, 3, 3],
        "alive": [25.0, 24, 30, 49, 80, 70],
        "arrests": [120.0, 78, 185, 228, 670, 530],
        "r1": [2, 0, 2, 0, 2, 0],
        "r2": [0, 2, 2, 0, 0, 2],
        "r3": [2, 0, 0, 2, 0, 2],
        "r4": [0, 2, 0, 2, 2, 0],
    }
)
BRR = {"variance": "replicates", "replicate_weights": HALVES, "replicate_kind": "brr"}
RNG = np.random.default_rng(3)
N, PSUS = 60, 12


def ambulances(frame=AMBULANCES):
    return sdc.read(frame, strata="area", numeric=["alive", "arrests"])


def people():
    """Twelve PSUs in three strata, with the weights of a stratified jackknife in j0, j1, …"""
    psu = np.arange(N) // 5
    stratum = psu // 4
    w = RNG.uniform(1, 3, N)
    x = RNG.normal(size=N)
    eta = 0.3 + 0.6 * x
    frame = pl.DataFrame(
        {
            "psu": psu,
            "stratum": stratum,
            "w": w,
            "x": x,
            "y": eta + RNG.normal(size=N),
            "yes": (RNG.random(N) < 1 / (1 + np.exp(-eta))).astype(float),
            "count": RNG.poisson(np.exp(eta)).astype(float),
        }
    )
    sets = {f"j{j}": np.where(stratum == j // 4, np.where(psu == j, 0.0, w * 4 / 3), w) for j in range(PSUS)}
    return frame.with_columns(**{name: pl.Series(values) for name, values in sets.items()})


PEOPLE = people()
LEFT_OUT = [f"j{j}" for j in range(PSUS)]
JKN = {
    "variance": "replicates",
    "replicate_weights": LEFT_OUT,
    "replicate_kind": "jkn",
    "replicate_factors": [0.75] * PSUS,
}


def survey(frame=PEOPLE):
    return sdc.read(frame, strata="stratum", cluster="psu", weight="w", numeric=["y"])


@pytest.mark.parametrize("mse", [True, False])
def test_half_samples_are_those_of_r(mse):
    parts = sdc.utility.indicators(
        ambulances(), ambulances(), indicators=["mean", "total"], mse=mse, **BRR
    ).parts
    errors = [3.58236421003411, 21.4941852602047, 25.3930217885851, 152.35813073151]
    assert parts["variance_original"].sqrt().to_list() == pytest.approx(errors, rel=1e-12)


def test_fays_half_samples_are_those_of_r():
    """With ρ = 0.3 a half sample keeps 0.3 and 1.7 of the weights; for totals and means R has the same."""
    kept = AMBULANCES.with_columns(pl.when(pl.col(n) > 0).then(1.7).otherwise(0.3).alias(n) for n in HALVES)
    options = {**BRR, "replicate_kind": "fay", "replicate_rho": 0.3}
    parts = sdc.utility.indicators(ambulances(kept), ambulances(kept), indicators="total", **options).parts
    assert parts["variance_original"].sqrt().to_list() == pytest.approx([21.4941852602047, 152.35813073151])


def test_what_the_squares_of_each_kind_count():
    four = ("a", "b", "c", "d")
    expected = {
        None: 1 / 4,
        Replication.JK1: 3 / 4,
        Replication.JK2: 1.0,
        Replication.BRR: 1 / 4,
        Replication.BOOTSTRAP: 1 / 3,
        Replication.SUCCESSIVE: 1.0,
    }
    for kind, scale in expected.items():
        assert ReplicateOptions(four, kind).squares().tolist() == pytest.approx([scale] * 4)
    assert ReplicateOptions(four, Replication.FAY, rho=0.5).squares()[0] == pytest.approx(1.0)
    own = ReplicateOptions(four, Replication.JKN, factors=(1.0, 2.0, 3.0, 0.0))
    assert own.squares().tolist() == [1, 2, 3, 0]
    assert ReplicateOptions(four, scale=2.0, factors=(1.0, 2.0, 3.0, 0.0)).squares().tolist() == [2, 4, 6, 0]


def test_a_centre_is_the_estimate_or_the_mean_of_the_replicates_that_count():
    """Totals 10 and 16, 13 with the factors 1, 1, 0; the estimate is 11."""
    frame = pl.DataFrame({"y": [1.0], "w": [11.0], "a": [10.0], "b": [16.0], "c": [13.5]})
    data = sdc.read(frame, weight="w", numeric="y")
    options = {
        "indicators": "total",
        "variance": "replicates",
        "replicate_weights": ["a", "b", "c"],
        "replicate_factors": [1, 1, 0],
    }
    about = {
        mse: sdc.utility.indicators(data, data, mse=mse, **options).parts["variance_original"][0]
        for mse in (True, False, None)
    }
    assert about == pytest.approx({True: 1 + 25, False: 9 + 9, None: 1 + 25})


def test_the_jackknife_by_its_weights_is_the_jackknife():
    data = survey()
    given = sdc.utility.indicators(data, data, indicators=["mean", "gini"], variables="count", **JKN).parts
    made = sdc.utility.indicators(
        data, data, indicators=["mean", "gini"], variables="count", variance="jackknife"
    ).parts
    assert given["variance_original"].to_list() == pytest.approx(made["variance_original"].to_list())


def test_degrees_of_freedom_are_those_of_few_replicates():
    """Four half samples of three strata: rank 4, so 3 degrees; twelve of a jackknife: 9, as PSUs − strata."""
    row = sdc.utility.indicators(ambulances(), ambulances(), indicators="mean", **BRR).parts.row(
        0, named=True
    )
    half = (row["high_original"] - row["low_original"]) / 2
    assert half / math.sqrt(row["variance_original"]) == pytest.approx(3.182446305)
    data = sdc.read(PEOPLE, weight="w", numeric="y")
    row = sdc.utility.indicators(data, data, indicators="mean", **JKN).parts.row(0, named=True)
    half = (row["high_original"] - row["low_original"]) / 2
    assert half / math.sqrt(row["variance_original"]) == pytest.approx(2.262157163)


@pytest.mark.parametrize(("family", "outcome"), [("ols", "y"), ("logit", "yes"), ("poisson", "count")])
@pytest.mark.parametrize("mse", [True, False])
def test_a_regression_is_fitted_under_every_set_of_weights(family, outcome, mse):
    data = survey()
    formula = f"{outcome} ~ x"
    parts = sdc.utility.regression(data, data, formula=formula, family=family, mse=mse, **JKN).parts
    each = []
    for name in LEFT_OUT:
        some = PEOPLE.with_columns(w=pl.col(name)).filter(pl.col("w") > 0)
        alone = survey(some)
        each.append(
            sdc.utility.regression(alone, alone, formula=formula, family=family).parts["estimate_original"]
        )
    drawn = np.array(each)
    centre = parts["estimate_original"].to_numpy() if mse else drawn.mean(axis=0)
    expected = 0.75 * ((drawn - centre) ** 2).sum(axis=0)
    assert parts["variance_original"].to_numpy() == pytest.approx(expected, rel=1e-5)
    linear = sdc.utility.regression(data, data, formula=formula, family=family).parts["variance_original"]
    assert expected == pytest.approx(linear.to_numpy(), rel=0.6)


def test_a_replicate_without_a_category_is_left_out_and_that_is_said():
    rare = PEOPLE.with_columns(g=pl.when(pl.col("psu") == 2).then(pl.lit("b")).otherwise(pl.lit("a")))
    data = survey(rare)
    result = sdc.utility.regression(data, data, formula="y ~ g", **JKN)
    assert any("1 of 12 replicates lack a term" in note for note in result.notes)
    assert result.value == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"variance": "replicates"}, "replicate_weights"),
        ({**BRR, "replicate_kind": "jkn"}, "needs the factor of each replicate"),
        ({**BRR, "replicate_kind": "fay"}, "needs its coefficient"),
        ({**BRR, "replicate_factors": [1, 2]}, "2 factors, 4 replicate weights"),
        ({**BRR, "replicate_rho": 0.3}, "replicate_rho with replicate_kind: fay"),
        ({**BRR, "replicate_kind": "fay", "replicate_rho": 1.0}, "replicate_rho"),
        ({**BRR, "replicate_factors": [1, 1, 1, -1]}, "replicate_factors"),
        ({"replicate_kind": "brr"}, "replicate_kind with replicate_weights"),
        ({**BRR, "replicate_kind": "half"}, "replicate_kind"),
        ({"mse": True}, "mse with variance"),
    ],
)
def test_what_does_not_go_together_is_refused_by_both(options, words):
    data = ambulances()
    with pytest.raises(sdc.SdcError, match=words):
        sdc.utility.indicators(data, data, **options)
    with pytest.raises(sdc.SdcError, match=words):
        sdc.utility.regression(data, data, formula="alive ~ arrests", **options)


def test_replicate_weights_that_are_missing_or_below_zero():
    gone = ambulances(AMBULANCES.with_columns(r2=pl.when(pl.col("r2") > 0).then("r2")))
    with pytest.raises(sdc.SdcError, match="must not be missing"):
        sdc.utility.indicators(gone, gone, indicators="mean", **BRR)
    below = ambulances(AMBULANCES.with_columns(r2=pl.col("r2") - 0.1))
    assert sdc.utility.indicators(below, below, indicators="mean", **BRR).value == 1
    for call in (
        lambda: sdc.utility.indicators(below, below, indicators="median", **BRR),
        lambda: sdc.utility.regression(below, below, formula="alive ~ arrests", **BRR),
    ):
        with pytest.raises(sdc.SdcError, match="Negative replicate weights"):
            call()
    less = ambulances().with_frame(AMBULANCES.drop("r2"))
    with pytest.raises(sdc.SdcError, match="in both files"):
        sdc.utility.regression(ambulances(), less, formula="alive ~ arrests", **BRR)
