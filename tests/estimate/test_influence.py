"""Linearisation: influence functions are derivatives with respect to the weights."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.estimate.catalogue import chosen
from sdckit.estimate.indicator import DomainSample, PovertyLineIndicator
from sdckit.estimate.quantiles import density
from sdckit.estimate.replicates import Method
from sdckit.estimate.table import Row, VarianceOptions, table

RNG = np.random.default_rng(3)
X = np.sort(np.round(RNG.lognormal(size=60), 2))
W = RNG.uniform(1, 4, 60)
BESIDE = RNG.integers(0, 2, 60).astype(float) + 0.0
SMOOTH = [
    "mean",
    "total",
    "gini",
    {"s80s20": {"ties": "split"}},
    {"ratio": {"denominator": "y"}},
    {"pay_gap": {"group": "s", "reference": "m"}},
    {"fgt0": {"fixed_line": 1.0}},
    {"fgt1": {"fixed_line": 1.0}},
    {"fgt2": {"fixed_line": 1.0}},
    {"fgt1": {"of": "mean"}},
    {"fgt2": {"of": "mean"}},
    {"poverty_threshold": {"of": "mean"}},
]


@pytest.mark.parametrize("wanted", SMOOTH, ids=str)
def test_influence_is_the_derivative_where_one_exists(wanted):
    indicator = chosen(wanted)[0].indicator

    def at(w):
        part = DomainSample(X, w[None, :], BESIDE)
        if isinstance(indicator, PovertyLineIndicator):
            part = DomainSample(X, w[None, :], BESIDE, indicator.line(part))
        return part

    part = at(W)
    found = indicator.influence(part)
    if isinstance(indicator, PovertyLineIndicator):
        found = found + indicator.slope(part) * indicator.line_influence(part)
    for i in range(0, 60, 7):
        step = np.zeros(60)
        step[i] = 1e-5
        slope = (indicator.point(at(W + step))[0] - indicator.point(at(W - step))[0]) / 2e-5
        assert found[i] == pytest.approx(slope, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize(
    "name", ["s80s20", "median", "poverty_threshold", "poverty_rate", "poverty_gap", "fgt1"]
)
def test_taylor_and_bootstrap_agree_where_quantiles_come_in(name):
    """Two estimators of one standard error from 4,000 records: within 15 % of each other."""
    x = np.random.default_rng(4).lognormal(size=4000)
    data = sdc.read(pl.DataFrame({"x": x}), numeric="x")
    rows = [Row(chosen(name)[0].indicator, "x", None)]
    one, two = (
        table(data, rows, VarianceOptions(m, 600))[0][0].variance for m in (Method.TAYLOR, Method.BOOTSTRAP)
    )
    assert one**0.5 == pytest.approx(two**0.5, rel=0.15)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_density_at_a_quantile_of_many_normal_records(p):
    from statistics import NormalDist

    normal = NormalDist()
    x = np.array([normal.inv_cdf((i + 0.5) / 20_000) for i in range(20_000)])
    assert density(DomainSample(x, np.ones((1, 20_000))), p) == pytest.approx(
        normal.pdf(normal.inv_cdf(p)), rel=0.02
    )


def test_heaped_and_constant_values_have_a_density_we_can_work_with():
    heaped = DomainSample(np.repeat([1.0, 2.0, 3.0], 50), np.ones((1, 150)))
    assert 0 < density(heaped, 0.5) < np.inf
    assert density(DomainSample(np.ones(9), np.ones((1, 9))), 0.5) == np.inf
