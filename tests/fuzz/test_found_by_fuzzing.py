"""What the fuzz tests found once, small enough to read."""

import math

import polars as pl
import pytest

import sdckit as sdc
from sdckit.io.formats import WRITABLE

HUGE = [1e308, -1e308, 1.7e308, 5.0, 0.0, 5e-324]


def numbers(values, dtype=pl.Float64, **more) -> sdc.Microdata:
    frame = pl.DataFrame(
        {"k": ["a", "b", "a", "b", "a", "b"][: len(values)], "x": pl.Series(values, dtype=dtype)}
    )
    return sdc.read(frame.with_columns(**more), keys="k", numeric="x")


def test_a_column_without_a_name_can_have_any_role():
    frame = pl.DataFrame(
        {"": [1.0, 2.0, 3.0], "k": ["a", None, "b"], "x": [1.0, 2.0, 4.0], "y": [1.0, 0.0, 3.0]}
    )
    data = sdc.read(frame, weight="", keys="k", numeric=["x", "y"])
    assert data.roles.as_dict()["weight"] == ""
    assert sdc.utility.moments(data, data).value == 0
    assert 0 < sdc.risk.individual_risk(data, missing="nothing").value <= 1
    assert sdc.utility.gower_distance(data, data).value == 0
    by_id = sdc.read(frame.with_columns(pl.Series("", [1, 2, 3])), id="", numeric=["x"])
    assert sdc.utility.il1s(by_id, by_id.with_frame(by_id.frame.reverse())).value == 0


@pytest.mark.parametrize("name", ["*", "^x.*$"])
def test_names_that_are_patterns_are_refused(name):
    frame = pl.DataFrame({name: [1.0], "x": [2.0]})
    for given in (frame, frame.to_pandas()):
        with pytest.raises(sdc.SdcError, match="pattern"):
            sdc.read(given)


def test_names_like_those_of_the_protected_file():
    data = sdc.read(pl.DataFrame({"": ["a", "b"], "__protected": ["c", "d"]}), keys=["", "__protected"])
    assert sdc.utility.missing_values(data, data).value == 0


def test_ids_that_are_all_missing():
    data = sdc.read(pl.DataFrame({"i": pl.Series([None, None], dtype=pl.String), "x": [1, 2]}), id="i")
    assert sdc.protect.new_ids(data).frame["i"].null_count() == 2


def test_the_last_column_is_not_dropped():
    with pytest.raises(sdc.SdcError, match="No column would be left"):
        sdc.read(pl.DataFrame({"name": ["Ann"]}), direct="name")


def test_numbers_that_are_all_gone_are_no_perfect_match():
    data = numbers([1.0, 2.0, 4.0])
    gone = data.with_frame(data.frame.with_columns(x=pl.lit(None, dtype=pl.Float64)))
    result = sdc.utility.il1s(data, gone)
    assert math.isnan(result.value)
    assert "No pair of values to compare." in result.notes


def test_numbers_near_the_largest():
    data = numbers(HUGE)
    for protected in (
        sdc.protect.add_noise(numbers([1e308]), rng=1),
        sdc.protect.recode(data, variable="x", width=2.5, log=True),
        sdc.protect.microaggregate(numbers([x / 4 for x in HUGE]), k=2, method="pca"),
        sdc.protect.recode(data, variable="x", groups=3),
        sdc.protect.recode(data, variable="x", groups=3, log=True),
    ):
        assert protected.frame["x"].null_count() == 0
    assert 0 <= sdc.risk.interval_disclosure(data, data).value <= 1
    with pytest.raises(sdc.SdcError, match="too many intervals"):
        sdc.protect.recode(data, variable="x", width=0.001)
    with pytest.raises(sdc.SdcError, match="too large for a regression"):
        sdc.utility.regression(data, data, formula="x ~ k")
    assert math.isfinite(
        sdc.utility.probabilistic_loss(numbers([0.0, 0, 1, 1, 1e9]), numbers([0.0, 0, 1, 1, 2])).value
    )


def test_decimals_are_numbers():
    data = numbers([1, 2, 3], pl.Decimal(10, 2), s=pl.Series(["p", "q", "p"]))
    assert sdc.risk.attribute_disclosure(data, data, known="x", sensitive="s").value == 1


@pytest.mark.parametrize(
    "column", [pl.Series([[1], [2], [2]]), pl.Series([1, 2, 2], dtype=pl.Duration("ms"))]
)
def test_lists_and_durations_are_no_categories(column):
    data = numbers([1.0, 2.0, 3.0], odd=column)
    with pytest.raises(sdc.SdcError, match=r"lists|durations"):
        sdc.protect.pram(data, variables="odd")
    with pytest.raises(sdc.SdcError, match=r"lists|durations"):
        sdc.protect.shuffle(data, predictors="odd")
    with pytest.raises(sdc.SdcError, match=r"lists|durations"):
        sdc.utility.indicators(data, data, by="odd")
    with pytest.raises(sdc.SdcError, match=r"lists|durations"):
        sdc.utility.regression(data, data, formula="x ~ odd")


@pytest.mark.parametrize("formula", ["1 ~ 1", "log(``) ~ k", "log(k) ~ x"])
def test_formulas_that_mean_nothing(formula):
    data = numbers([1.0, 2.0, 3.0, 5.0])
    with pytest.raises(sdc.SdcError, match="formula"):
        sdc.utility.regression(data, data, formula=formula)


def test_design_columns_that_are_no_numbers():
    data = numbers([1.0, 2.0, 3.0])
    with pytest.raises(sdc.SdcError, match="does not hold numbers"):
        sdc.utility.indicators(data, data, fpc="k")
    with pytest.raises(sdc.SdcError, match="must be numbers"):
        sdc.utility.indicators(data, data, variance="replicates", replicate_weights=["k"])


def test_a_linkage_of_nothing_has_no_chart():
    data = numbers([None, None, None])
    result = sdc.risk.record_linkage(data, data)
    assert math.isnan(result.value)
    with pytest.raises(sdc.SdcError, match="nothing to draw"):
        result.chart()


def test_a_jackknife_without_replicates():
    data = numbers([1.0, 2.0, 3.0], c=pl.lit("one")).with_roles(cluster="c")
    result = sdc.utility.indicators(data, data, indicators="mean", variance="jackknife")
    assert math.isnan(result.value)
    assert result.notes


@pytest.mark.parametrize("ending", WRITABLE)
def test_large_numbers_are_written_as_they_are_or_refused(tmp_path, ending):
    data = numbers([1e80, None, 1e300])
    try:
        path = sdc.write(data, tmp_path / f"x{ending}")
    except sdc.SdcError:
        assert ending == ".xpt"
        return
    assert sdc.read(path, numeric="x").frame["x"].to_list() == [1e80, None, 1e300]


def test_excel_and_empty_categories_and_names(tmp_path):
    levels = pl.Enum(["", "a"])
    data = sdc.read(pl.DataFrame({"k": pl.Series(["", "a"], dtype=levels), "x": [1, 2]}), keys="k")
    assert sdc.read(sdc.write(data, tmp_path / "x.xlsx")).frame["k"].to_list() == [None, "a"]
    with pytest.raises(sdc.SdcError, match="a name for every column"):
        sdc.write(sdc.read(pl.DataFrame({"": [1]})), tmp_path / "y.xlsx")


def test_numbers_near_the_largest_are_known_to_an_intruder_as_others_are():
    data = sdc.demo.survey(n=100, seed=1).with_roles(
        keys=["sex"], numeric=["income"], weight=None, household=None
    )
    protected = sdc.protect.add_noise(data, rng=1)
    huge = [d.with_frame(d.frame.with_columns(pl.col("income") * 2.0**1000)) for d in (data, protected)]
    expected = sdc.risk.reidentification_risk(data, protected)
    assert 0 < expected.value < 1
    assert sdc.risk.reidentification_risk(*huge).figures == pytest.approx(expected.figures, rel=1e-9)
