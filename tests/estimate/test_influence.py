"""Linearisation: influence functions are derivatives with respect to the weights."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.estimate.catalogue import chosen
from sdckit.estimate.indicator import DomainSample, PovertyLineIndicator
from sdckit.estimate.poverty import PovertyGap
from sdckit.estimate.quantiles import density
from sdckit.estimate.replicates import Method
from sdckit.estimate.table import Row, VarianceOptions, table
from sdckit.estimate.variance import with_line

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


def draws(heap, *, size=300, repeats=400):
    """The poverty gap of many samples with a heap of incomes of 0."""
    rng = np.random.default_rng(7)
    one = np.ones(size)
    found = []
    for _ in range(repeats):
        x = np.sort(np.where(rng.random(size) < heap, 0.0, rng.lognormal(9, 0.7, size)))
        found.append(
            PovertyGap().point(with_line(DomainSample(x, one[None, :]), 0.6 * np.median(x)[None]))[0]
        )
    return np.std(found), x


@pytest.mark.parametrize("heap", [0.15, 0.3])
def test_where_the_formula_of_a_quantile_does_not_hold_it_says_so(heap):
    """At the edge of the heap the gap varies far more than linearised, within it not at all."""
    truth, x = draws(heap)
    data = sdc.read(pl.DataFrame({"income": x}), numeric="income")
    result = sdc.utility.indicators(data, data, indicators="poverty_gap")
    error = result.parts["variance_original"][0] ** 0.5
    assert not 0.5 < error / max(truth, 1e-9) < 2, "the formula holds here, so no note is due"
    assert any("share one value" in note and "poverty_gap of income" in note for note in result.notes)


@pytest.mark.parametrize(
    "wanted",
    [
        "median",
        "poverty_threshold",
        "poverty_rate",
        "fgt1",
        {"s80s20": {"lower": 0.5}},
        {"pay_gap": {"group": "sex", "reference": "m", "statistic": "median"}},
    ],
)
def test_heaps_are_noted_for_all_that_rests_on_a_quantile(wanted):
    x = np.random.default_rng(2).lognormal(9, 0.7, 600)
    frame = pl.DataFrame({"income": x, "sex": ["m", "f"] * 300})
    middle = float(np.quantile(x, 0.5))
    near = (pl.col("income") - middle).abs() < 0.2 * middle
    heap = frame.with_columns(income=pl.when(near).then(middle).otherwise("income"))
    for heaped, with_heap in ((False, frame), (True, heap)):
        data = sdc.read(with_heap, numeric="income")
        notes = sdc.utility.indicators(data, data, indicators=wanted).notes
        assert any("share one value" in note for note in notes) == heaped
        if heaped:
            drawn = sdc.utility.indicators(data, data, indicators=wanted, variance="rescaled", replicates=9)
            assert not any("share one value" in note for note in drawn.notes)


@pytest.mark.parametrize("variance", ["taylor", "rescaled"])
def test_woodruffs_interval_is_noted_at_a_heap_too(variance):
    """It stands about F(θ), here 0.71: R has the same, and it misses what lies below the heap."""
    data = sdc.read(pl.DataFrame({"rent": [0.0] * 70 + [float(i) for i in range(30)]}), numeric="rent")
    result = sdc.utility.indicators(
        data, data, indicators="median", variance=variance, quantile_interval="woodruff"
    )
    assert any("share one value" in note for note in result.notes)
