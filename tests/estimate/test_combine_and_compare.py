"""Combining rules and interval overlaps, by hand."""

from math import exp, inf, isnan, nan
from statistics import NormalDist

import pytest

from sdckit.estimate.combine import Synthesis, combine
from sdckit.estimate.comparison import compared, overlap
from sdckit.estimate.variance import Estimate, interval

ONE, TWO, THREE = (interval(v, 4.0, inf, 0.95) for v in (10.0, 12.0, 17.0))


def test_partially_synthetic_sets():
    found = combine([ONE, TWO, THREE])
    between = (9 + 1 + 16) / 2
    assert found.value == 13
    assert found.variance == pytest.approx(between / 3 + 4)
    assert found.degrees == pytest.approx(2 * (1 + 4 / (between / 3)) ** 2)


def test_fully_synthetic_sets_and_the_correction_for_a_negative_variance():
    found = combine([ONE, TWO, THREE], synthesis=Synthesis.FULL)
    assert found.variance == pytest.approx((4 / 3) * 13 - 4)
    assert found.degrees == pytest.approx(max(2 * (1 - 4 / (4 / 3 * 13)) ** 2, 1))
    close = [ONE, interval(10.1, 4.0, inf, 0.95)]
    assert combine(close, synthesis=Synthesis.FULL, size=0.5).variance == pytest.approx(2.0)


def test_one_set_stays_as_it_is_and_a_lost_one_makes_the_whole_lost():
    assert combine([ONE]) is ONE
    assert isnan(combine([ONE, Estimate(nan, nan, nan, nan, inf)]).value)


def test_equal_sets_have_the_variance_and_degrees_of_one():
    one = interval(3.0, 2.0, 17.0, 0.95)
    assert combine([one, one, one]) == one


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((0, 10), (0, 10), 1.0),
        ((0, 10), (5, 15), 0.5),
        ((0, 10), (10, 20), 0.0),
        ((0, 10), (15, 25), -0.5),
        ((0, 10), (0, 5), 0.75),
        ((3, 3), (3, 3), 1.0),
        ((3, 3), (4, 4), -inf),
        ((3, 3), (0, 6), 0.5),
    ],
)
def test_overlap_by_hand(a, b, expected):
    ends = [Estimate(sum(e) / 2, 1.0, *map(float, e), inf) for e in (a, b)]
    assert overlap(*ends) == overlap(*ends[::-1]) == expected


def test_comparison_by_hand_and_in_words():
    found = compared(Estimate(10.0, 4.0, 6.0, 14.0, inf), Estimate(11.0, 5.0, 7.0, 15.0, inf))
    assert (found.difference, found.variance_difference, found.mse) == (10.0, 25.0, 2.0)
    assert (found.contained, found.overlap, found.verdict) == (True, 0.875, "within sampling error")
    assert compared(ONE, ONE).verdict == "unchanged"
    away = compared(ONE, interval(30.0, 40.0, inf, 0.95))
    assert (away.share, away.verdict) == (0.0, "at odds with the original; less precise than the original")
    narrow = compared(ONE, interval(10.0, 0.4, inf, 0.95))
    assert narrow.verdict.endswith("looks more precise than it is")
    lost = compared(ONE, Estimate(nan, nan, nan, nan, inf))
    assert (lost.share, lost.verdict) == (0.0, "lost: cannot be computed from the protected file")
    assert compared(interval(0.0, 1.0, inf, 0.9), interval(1.0, 1.0, inf, 0.9)).difference == inf


def test_an_interval_on_the_log_scale_by_hand():
    """Ratio 4 with standard error 1 about 4.2: a factor e^(1.96/4) each way."""
    found = interval(4.0, 1.0, inf, 0.95, centre=4.2)
    times = exp(NormalDist().inv_cdf(0.975) / 4)
    assert (found.low, found.high) == (pytest.approx(4.2 / times), pytest.approx(4.2 * times))
    assert (found.value, found.centre) == (4.0, 4.2)


def test_an_interval_holds_its_own_estimate():
    found = interval(2.0, 0.01, inf, 0.95, centre=4.0)
    assert found.low == 2.0
    assert found.high > 4.0


@pytest.mark.parametrize(("value", "variance"), [(-4.0, 1.0), (1.0, 1e4), (0.0, 1.0)])
def test_no_log_scale_for_what_is_not_positive_or_not_known(value, variance):
    assert interval(value, variance, inf, 0.95, centre=value) == interval(value, variance, inf, 0.95)


def test_combined_sets_keep_the_log_scale():
    sets = [interval(v, 1.0, inf, 0.95, centre=v + 0.2) for v in (4.0, 5.0)]
    assert combine(sets) == interval(4.5, 1.25, 25.0, 0.95, centre=4.7)
    assert combine([sets[0], ONE]).centre is None


def test_rounding_is_neither_a_variance_nor_a_difference():
    """0.3 and 0.1 + 0.2 differ in the last digit, and so may the means of a constant in two files."""
    first, second = interval(0.3, 1e-34, 5, 0.95), interval(0.1 + 0.2, 0.0, 5, 0.95)
    assert (first.variance, first.low, first.high) == (0.0, 0.3, 0.3)
    same = compared(first, second)
    assert (same.share, same.contained, same.verdict) == (1.0, True, "unchanged")
    assert compared(first, interval(0.3001, 0.0, 5, 0.95)).share == 0.0
