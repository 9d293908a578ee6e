"""prediction_quality: relative change of the mean prediction."""

import math

import numpy as np
import polars as pl
import pytest

import sdckit as sdc

FRAME = pl.DataFrame(
    {"y": [1.0, 3.0, 2.0, 7.0], "x": [1.0, 2.0, 3.0, 4.0], "w": [1.0, 2.0, 3.0, 4.0], "b": [0, 1, 0, 1]}
)


def test_a_linear_model_with_an_intercept_predicts_the_weighted_mean():
    data = sdc.read(FRAME, numeric="y", weight="w")
    other = data.with_frame(FRAME.with_columns(y=pl.Series([2.0, 3.0, 2.0, 9.0])))
    result = sdc.utility.prediction_quality(data, other, formula="y ~ x")
    means = [np.average(d.frame["y"], weights=d.frame["w"]) for d in (data, other)]
    assert result.value == pytest.approx(abs(means[0] - means[1]) / means[0])
    assert (result.figures["mean_original"], result.figures["mean_protected"]) == pytest.approx(means)


def test_without_an_intercept_the_model_itself_matters():
    data = sdc.read(FRAME, numeric="y")
    other = data.with_frame(FRAME.with_columns(x=pl.Series([4.0, 3.0, 2.0, 1.0])))
    assert sdc.utility.prediction_quality(data, other, formula="y ~ x").value == pytest.approx(0, abs=1e-12)
    assert sdc.utility.prediction_quality(data, other, formula="y ~ x - 1").value > 0.1


def test_a_logit_and_several_sets():
    data = sdc.read(FRAME, numeric="y")
    other = data.with_frame(FRAME.with_columns(b=pl.Series([0, 0, 0, 1])))
    result = sdc.utility.prediction_quality(data, [data, other], formula="b ~ 1", family="logit")
    assert result.value == pytest.approx((0.5 - 0.375) / 0.5)


def test_a_mean_of_zero_has_no_relative_change():
    data = sdc.read(FRAME.with_columns(y=pl.Series([-1.0, 1.0, -1.0, 1.0])), numeric="y")
    result = sdc.utility.prediction_quality(data, data, formula="y ~ 1")
    assert math.isnan(result.value) or result.value == 0
    assert math.isfinite(result.value) or "is 0" in result.notes[-1]


def test_nothing_left_to_fit():
    data = sdc.read(FRAME, numeric="y")
    empty = data.with_frame(FRAME.with_columns(x=pl.lit(None, dtype=pl.Float64)))
    result = sdc.utility.prediction_quality(data, empty, formula="y ~ x")
    assert math.isnan(result.value)
    assert "fewer than two complete records" in result.notes[-1]
    with pytest.raises(sdc.SdcError, match="fewer than two complete records"):
        sdc.utility.prediction_quality(empty, data, formula="y ~ x")
