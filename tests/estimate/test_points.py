"""Every indicator against its definition, with ties, zeros and unequal weights, overall and by domain."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_estimates as naive
import sdckit as sdc
from sdckit.estimate.catalogue import CATALOGUE, chosen
from sdckit.estimate.indicator import DomainSample, PovertyLineIndicator
from sdckit.estimate.poverty import FosterGreerThorbecke
from sdckit.estimate.table import Row, VarianceOptions, domains_of, table

values = st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.5, 7.0, 20.0])
files = st.lists(st.tuples(values, st.sampled_from([0.5, 1.0, 2.0, 3.0])), min_size=1, max_size=25)


def sample(x, w, line=None) -> DomainSample:
    order = np.argsort(x, kind="stable")
    lines = None if line is None else np.full(len(w), line)
    return DomainSample(np.asarray(x)[order], np.asarray(w)[:, order], None, lines)


def value(name, x, w) -> float:
    indicator = chosen(name)[0].indicator
    whole = sample(x, np.array([w]))
    if isinstance(indicator, PovertyLineIndicator):
        whole = sample(x, np.array([w]), indicator.line(whole)[0])
    with np.errstate(all="ignore"):
        return float(indicator.point(whole)[0])


@given(files)
@settings(max_examples=60, deadline=None)
def test_indicators_follow_their_definitions(records):
    x, w = (list(c) for c in zip(*records, strict=True))
    line = 0.6 * naive.weighted_quantile(x, w, 0.5)
    same = {"nan_ok": True, "rel": 1e-9, "abs": 1e-9}
    assert value("mean", x, w) == pytest.approx(naive.mean(x, w), **same)
    assert value("median", x, w) == naive.weighted_quantile(x, w, 0.5)
    assert value("poverty_threshold", x, w) == pytest.approx(line)
    if sum(x) > 0:
        assert value("gini", x, w) == pytest.approx(naive.gini(x, w), **same)
    found = value("s80s20", x, w)
    if np.isfinite(found):
        assert found == pytest.approx(naive.s80s20(x, w), **same)
    split = value({"s80s20": {"ties": "split"}}, x, w)
    if np.isfinite(split) and naive.lorenz(x, w, 0.2) > 1e-9:
        assert split == pytest.approx(naive.split_s80s20(x, w), **same)
    if line > 0:
        assert value("poverty_rate", x, w) == pytest.approx(100 * naive.fgt(x, w, line, 0), **same)
        assert value("poverty_gap", x, w) == pytest.approx(naive.poverty_gap(x, w, line), **same)
        for alpha in (0, 1, 2):
            assert value(f"fgt{alpha}", x, w) == pytest.approx(naive.fgt(x, w, line, alpha), **same)


@given(files, st.floats(0.01, 0.99))
@settings(max_examples=60, deadline=None)
def test_quantiles_of_many_sets_of_weights_at_once(records, p):
    x, w = (list(c) for c in zip(*records, strict=True))
    sets = [w, [1.0] * len(w), w[::-1]]
    found = chosen({"quantile": {"p": p}})[0].indicator.point(sample(x, np.array(sets)))
    order = np.argsort(x, kind="stable")
    again = [naive.weighted_quantile(np.array(x)[order], np.array(s)[order], p) for s in sets]
    assert found.tolist() == again


def test_the_median_of_one_to_four_is_three_as_in_laeken_and_the_average_by_option():
    x = [1.0, 2.0, 3.0, 4.0]
    assert value("median", x, [1.0] * 4) == 3
    mid = chosen({"quantile": {"p": 0.5, "average": True}})[0].indicator
    assert mid.point(sample(x, np.ones((1, 4))))[0] == 2.5
    assert mid.point(sample([1.0, 2.0, 3.0], np.ones((1, 3))))[0] == 2


def test_gini_by_hand():
    assert value("gini", [0.0, 0.0, 0.0, 8.0], [1.0] * 4) == pytest.approx(75)
    assert value("gini", [5.0, 5.0], [1.0, 9.0]) == pytest.approx(0)


def test_the_share_ratio_of_ten_by_hand():
    """1…10: up to q(0.2) = 3 are 6, above q(0.8) = 9 is 10; split, a fifth is exactly 1 + 2 and 9 + 10."""
    x, ones = [float(i) for i in range(1, 11)], [1.0] * 10
    assert value("s80s20", x, ones) == pytest.approx(10 / 6)
    assert value({"s80s20": {"ties": "split"}}, x, ones) == pytest.approx(19 / 3)


def test_rounding_moves_the_share_ratio_less_where_ties_are_split():
    x = np.random.default_rng(2).lognormal(8, 0.7, size=20_000)
    moved = {}
    for ties in ("whole", "split"):
        exact, rounded = (
            value({"s80s20": {"ties": ties}}, y, np.ones(len(x))) for y in (x, np.round(x, -2) + 0.5)
        )
        moved[ties] = abs(rounded / exact - 1)
    assert moved["split"] < 0.005 < 0.02 < moved["whole"]


@given(files, st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_the_share_ratio_without_the_record_that_steps_over(records, copies):
    """No ties: the split ratio. Every record several times, with less weight: less steps over."""
    x = [v + i / 100 for i, (v, _) in enumerate(records)]
    w = [b for _, b in records]
    indicator = chosen("s80s20")[0].indicator
    split = value({"s80s20": {"ties": "split"}}, x, w)
    with np.errstate(all="ignore"):
        centre = float(indicator.centre(sample(x, np.array([w])))[0])
        many = sample(x * copies, np.array([w * copies]) / copies)
        more = float(indicator.centre(many)[0])
    if np.isfinite(split) and abs(split) < 1e6:
        assert centre == pytest.approx(split)
        assert min(value("s80s20", x, w), split) - 1e-9 <= more <= split + 1e-9


def test_domains_have_the_poverty_line_of_the_whole_file():
    frame = pl.DataFrame({"x": [1.0, 2.0, 10.0, 10.0, 12.0, 3.0], "g": ["a", "a", "b", "b", "b", None]})
    data = sdc.read(frame, numeric="x")
    rows = [Row(FosterGreerThorbecke(), "x", d) for d in [None, *sorted(domains_of(data, ("g",)))]]
    found = [e.value for e in table(data, rows, VarianceOptions(by=("g",)))[0]]
    assert found == [0.5, 1.0, 0.0]  # the line is 0.6·10; the record without a region counts in the total


def test_ratio_proportion_and_pay_gap():
    frame = pl.DataFrame({"x": [4.0, 6.0, 5.0, None], "y": [1.0, 2.0, None, 3.0], "s": ["m", "f", "m", "f"]})
    data = sdc.read(frame, numeric=["x", "y"])
    wanted = [
        {"ratio": {"denominator": "y"}},
        {"proportion": {"category": "f"}},
        {"pay_gap": {"group": "s", "reference": "m"}},
        {"pay_gap": {"group": "s", "reference": "m", "statistic": "median"}},
    ]
    columns = ["x", "s", "x", "x"]
    rows = [Row(chosen(w)[0].indicator, c, None) for w, c in zip(wanted, columns, strict=True)]
    found = [e.value for e in table(data, rows, VarianceOptions())[0]]
    assert found == pytest.approx([10 / 3, 0.5, 1 - 6 / 4.5, 1 - 6 / 5])


def test_names_options_and_panels():
    assert [one.indicator.name for one in chosen("poverty")][:3] == ["mean", "median", "gini"]
    assert chosen("arpr")[0].indicator.name == "poverty_rate"
    assert chosen({"mean": {"variable": "rent"}})[0].variable == "rent"
    assert chosen({"range": lambda x, w: x[-1] - x[0]})[0].indicator.name == "range"
    for name in ("proportion", "ratio", "pay_gap"):
        with pytest.raises(sdc.SdcError, match="needs the option"):
            chosen(name)
    assert all(chosen(name) for name in CATALOGUE if name not in ("proportion", "ratio", "pay_gap"))
    with pytest.raises(sdc.SdcError, match="Did you mean 'gini'"):
        chosen("ginni")
    with pytest.raises(sdc.SdcError, match=r"has no option 'q'.*p"):
        chosen({"quantile": {"q": 0.5}})
    with pytest.raises(sdc.SdcError, match="out of range"):
        chosen({"quantile": {"p": 1.5}})
    with pytest.raises(sdc.SdcError, match=r"not valid.*median, mean"):
        chosen({"poverty_rate": {"of": "mode"}})
    with pytest.raises(sdc.SdcError, match=r"not valid.*float"):
        chosen({"quantile": {"p": "half"}})
    with pytest.raises(sdc.SdcError, match="name, a function"):
        chosen(3)
