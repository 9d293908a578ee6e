"""What a map keeps beside its two axes: further measures, estimates, and the pictures of both."""

import json
import math

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import ColumnError, OptionError, UnknownMethodError

EXPECTED = "individual_risk.expected_reidentifications"
MINCER = {"formula": "log(income) ~ sex + education + age"}
AGE = {"recode": {"variable": "age", "width": 10}}
SCENARIOS = {
    "age": [AGE],
    "k3": [AGE, {"suppress": {"k": 3}}],
    "noise": [{"add_noise": {"variables": ["income"], "sd": 0.5}}],
}
EXTRA = ["missing_values", "entropy_loss.share", "frequencies"]
KEPT = {
    "risk": "individual_risk",
    "utility": "il1s",
    "extra_measures": EXTRA,
    "regression": MINCER,
    "indicators": ["mean", "gini"],
}


@pytest.fixture(scope="module")
def small():
    data = sdc.demo.survey(n=600, seed=3)
    return data.with_roles(keys=["sex", "urban", "age"], numeric=["income"], sensitive=())


@pytest.fixture(scope="module")
def found(small):
    return sdc.compare(small, SCENARIOS, **KEPT)


def test_further_measures_are_those_measured_alone(small, found):
    protected = sdc.Scenario("k3", SCENARIOS["k3"]).protect(small)
    point = next(p for p in found.results if p.name == "k3")
    direct = {
        "missing_values": sdc.utility.missing_values(small, protected).value,
        "frequencies": sdc.risk.frequencies(protected).value,
        "entropy_loss.share": sdc.utility.entropy_loss(small, protected).figures["share"],
    }
    assert {n: point.extra[n] for n in direct} == pytest.approx(direct, rel=1e-11)
    assert found.extra_measures == (*EXTRA, "indicators", "regression", EXPECTED)
    row = found.points.filter(scenario="k3").row(0, named=True)
    assert row["loss_missing_values"] == point.extra["missing_values"] > 0
    assert row["risk_frequencies"] == point.extra["frequencies"]
    assert row["left_out"] == ""


def test_nothing_more_is_measured_unless_asked(small):
    axes = {"risk": "individual_risk", "utility": "il1s"}
    plain = sdc.compare(small, SCENARIOS, **axes)
    assert plain.extra_measures == ()
    assert all(p.extra == {} and p.estimates == () for p in (plain.original, *plain.results))
    assert plain.estimates.height == 0
    assert "left_out" not in plain.points.columns
    told = sdc.compare(small, SCENARIOS, extra_measures=EXTRA, **axes)
    shared = [c for c in plain.points.columns if c != "seconds"]
    assert told.points.select(shared).equals(plain.points.select(shared))
    assert told.best.name == plain.best.name


def test_parallel_equals_serial_and_runs_repeat(small, found):
    for jobs in (1, 2):
        again = sdc.compare(small, SCENARIOS, jobs=jobs, **KEPT)
        assert again.points.drop("seconds").equals(found.points.drop("seconds"))
        assert again.estimates.equals(found.estimates)


def test_kept_points_carry_everything(small, found, tmp_path):
    options = {**KEPT, "cache": tmp_path}
    first = sdc.compare(small, SCENARIOS, **options)
    again = sdc.compare(small, SCENARIOS, **options)
    assert again.points.equals(first.points)  # with the seconds of the first run
    assert again.estimates.equals(found.estimates)
    files = len(list(tmp_path.iterdir()))
    sdc.compare(small, SCENARIOS, **{**options, "extra_measures": EXTRA[:1]})
    assert len(list(tmp_path.iterdir())) == 2 * files  # other measures are another comparison


@pytest.mark.parametrize("lacks", ["extra", "estimates", "left_out"])
def test_points_kept_without_these_numbers_are_measured_again(small, found, tmp_path, lacks):
    options = {**KEPT, "cache": tmp_path}
    sdc.compare(small, SCENARIOS, **options)
    for file in tmp_path.iterdir():
        kept = json.loads(file.read_text())
        del kept[lacks]
        file.write_text(json.dumps(kept))
    again = sdc.compare(small, SCENARIOS, **options)
    assert again.estimates.equals(found.estimates)
    assert all(lacks in json.loads(file.read_text()) for file in tmp_path.iterdir())


def test_estimates_are_those_of_the_measures(small, found):
    protected = sdc.Scenario("noise", SCENARIOS["noise"]).protect(small)
    parts = sdc.utility.regression(small, protected, **MINCER).parts.filter(term="sex[T.Female]")
    row = found.estimates.filter(scenario="noise", name="sex[T.Female]").row(0, named=True)
    expected = parts.row(0, named=True)
    for ours, theirs in (("estimate", "estimate_protected"), ("original_low", "low_original")):
        assert row[ours] == pytest.approx(expected[theirs], rel=1e-9)
    assert row["contained"] == expected["contained"]
    assert row["overlap"] == pytest.approx(expected["overlap_clipped"], abs=1e-12)
    risk = sdc.risk.individual_risk(protected).figures["expected_reidentifications"]
    assert row["expected_reidentifications"] == pytest.approx(risk, rel=1e-11)
    assert {"mean of income", "gini of income"} <= set(found.estimates["name"])
    mean = next(e for e in found.original.estimates if e.name == "mean of income")
    assert mean.estimate == mean.original


def test_estimates_by_domain_have_names_of_their_own(small):
    done = sdc.compare(small, {"a": []}, indicators={"indicators": "mean", "by": ["urban"]})
    assert done.estimates["name"].to_list() == [
        "mean of income", "mean of income, Urban", "mean of income, Rural",
    ]  # fmt: skip


def test_several_seeds_give_the_mean_of_the_estimates(small):
    options = {"regression": MINCER, "extra_measures": "missing_values"}
    noisy = {"noise": SCENARIOS["noise"]}
    many = sdc.compare(small, noisy, seeds=3, seed=5, **options)
    each = [sdc.compare(small, noisy, seed=s, **options) for s in (5, 6, 7)]
    for column in ("estimate", "low", "high"):
        mean = np.mean([one.estimates[column].to_numpy() for one in each], axis=0)
        assert many.estimates[column].to_numpy() == pytest.approx(mean, rel=1e-12)
    assert many.results[0].extra["regression"] == pytest.approx(
        np.mean([one.results[0].extra["regression"] for one in each])
    )


def test_a_further_measure_that_fails_leaves_the_scenario_in_place(small):
    swapped = {"swapped": [{"sample_records": {"share": 0.5}}], "age": [AGE]}
    done = sdc.compare(
        small,
        swapped,
        risk="frequencies",
        utility="contingency_loss",
        extra_measures=["il1s", "records_changed"],
    )
    rows = {row["scenario"]: row for row in done.points.to_dicts()}
    assert math.isnan(rows["swapped"]["loss_il1s"])
    assert "the files have different lengths" in rows["swapped"]["left_out"]
    assert rows["swapped"]["error"] == ""
    assert rows["age"]["left_out"] == ""
    assert "swapped" in json.dumps(done.multiples().to_dict())


def test_mistakes_are_found_before_work(small):
    with pytest.raises(UnknownMethodError, match=r"Did you mean 'il1s'"):
        sdc.compare(small, SCENARIOS, extra_measures=["il1ss"])
    with pytest.raises(OptionError, match=r"has no figure 'shares'"):
        sdc.compare(small, SCENARIOS, extra_measures=["entropy_loss.shares"])
    with pytest.raises(OptionError, match=r"regression needs the option 'formula'"):
        sdc.compare(small, SCENARIOS, extra_measures="regression")
    with pytest.raises(UnknownMethodError):
        sdc.compare(small, SCENARIOS, extra_measures=["microaggregate"])


def test_another_measure_on_an_axis(found):
    view = found.with_axes(utility="missing_values", risk="frequencies")
    assert [p.loss for p in view.results] == [p.extra["missing_values"] for p in found.results]
    assert [p.risk for p in view.results] == [p.extra["frequencies"] for p in found.results]
    assert view.max_risk is None
    assert (
        view.with_axes(utility="il1s", risk="individual_risk")
        .points.drop("seconds")
        .select("risk", "loss")
        .equals(found.points.select("risk", "loss"))
    )
    turned = found.with_axes(utility="regression")
    assert [p.loss for p in turned.results] == [1 - p.extra["regression"] for p in found.results]
    with pytest.raises(OptionError, match=r"Allowed: il1s, missing_values"):
        found.with_axes(utility="propensity")
    with pytest.raises(OptionError, match=r"not measured as a risk"):
        found.chart(risk="missing_values")


def rows(chart: dict, part: object) -> list[dict]:
    """The data rows of a part of a chart."""
    if isinstance(part, list):
        return [row for one in part for row in rows(chart, one)]
    if not isinstance(part, dict):
        return []
    name = part["data"].get("name") if isinstance(part.get("data"), dict) else None
    inside = [row for key, one in part.items() if key != "datasets" for row in rows(chart, one)]
    return chart["datasets"].get(name, []) + inside


def marks(chart: dict, kind: str, part: object = None) -> list[dict]:
    """The rows of one kind, each once."""
    found = {r["about"]: r for r in rows(chart, part or chart) if r.get("kind") == kind}
    return list(found.values())


def test_small_maps_one_a_utility(found):
    chart = found.multiples().to_dict()
    assert len(chart["concat"]) == 5  # il1s, missing values, entropy, indicators, regression
    for panel in chart["concat"]:
        for kind in ("original", "no release", "best"):
            assert len(marks(chart, kind, panel)) == 1, kind
    risks = [[m["risk"] for m in marks(chart, "original", p)] for p in chart["concat"]]
    assert risks == [[found.original.risk]] * 5
    one = found.multiples("missing_values").to_dict()
    losses = {m["loss"] for kind in ("best", "front", "scenario") for m in marks(one, kind)}
    assert losses == {p.extra["missing_values"] for p in found.results}
    combined = sdc.compare(found.data, SCENARIOS, utility=["il1s", "missing_values"])
    assert len(combined.multiples().to_dict()["concat"]) == 3  # the mean and its two parts
    with pytest.raises(OptionError, match="no utility"):
        found.multiples([])


def test_the_recommended_scenario_is_that_of_the_map(small, found):
    for chart in (found.chart(), found.chart(utility="missing_values")):
        (best,) = {m["about"].partition(":")[0] for m in marks(chart.to_dict(), "best")}
        assert best == found.best.name


def test_the_estimate_chart_shows_every_scenario_and_the_original(found):
    chart = found.estimate_chart("sex[T.Female]").to_dict()
    text = json.dumps(chart)
    assert "Expected re-identifications" in text
    assert "Coefficient of sex: Female" in text
    drawn = {m["about"].partition(":")[0] for k in ("scenario", "best", "original") for m in marks(chart, k)}
    assert drawn == {*SCENARIOS, "Original"}
    with pytest.raises(OptionError, match=r"Did you mean 'gini of income'"):
        found.estimate_chart("gini of incom")
    with pytest.raises(OptionError, match=r"name indicators or regression when comparing"):
        sdc.compare(found.data, {"a": []}).estimate_chart("gini of income")


def test_expected_reidentifications_are_those_of_the_risk_that_counts_them(small):
    done = sdc.compare(small, {"age": [AGE]}, indicators="mean")
    protected = sdc.Scenario("age", [AGE]).protect(small)
    figures = sdc.risk.reidentification_risk(small, protected).figures
    assert done.extra_measures == ("indicators", "reidentification_risk.expected_reidentifications")
    expected = pytest.approx(figures["expected_reidentifications"], rel=1e-11)
    assert done.estimates["expected_reidentifications"].to_list() == [expected]
    text = json.dumps(done.estimate_chart("mean of income").to_dict())
    assert "Expected re-identifications" in text


def test_without_such_a_risk_the_estimate_chart_has_the_risk_of_the_map(small):
    done = sdc.compare(small, SCENARIOS, risk="frequencies", indicators="mean")
    assert done.estimates["expected_reidentifications"].null_count() == 3
    text = json.dumps(done.estimate_chart("mean of income").to_dict())
    assert "Expected re-identifications" not in text


def test_a_coefficient_with_another_reference_is_not_drawn(small):
    merged = {"group": {"variables": ["education"], "map": {"Some": ["None", "Primary"]}}}
    done = sdc.compare(small, {"merged": [merged], "same": []}, regression=MINCER)
    text = json.dumps(done.estimate_chart("education[T.University]").to_dict(), ensure_ascii=False)
    assert "cannot be compared there: merged" in text
    assert "same: risk" in text
    assert "cannot be compared" not in json.dumps(done.estimate_chart("sex[T.Female]").to_dict())


def test_mosaics_side_by_side(found):
    one = found.mosaics("sex", scenarios=["k3"]).to_dict()
    assert {"Male", "Female", "missing"} <= {m["category"] for m in tiles(one)}
    assert len({m["left"] for m in tiles(one)}) == 2  # the original and k3
    two = found.mosaics(["urban", "sex"]).to_dict()
    assert len(two["concat"]) == 4
    with pytest.raises(OptionError, match=r"no such scenario"):
        found.mosaics("sex", scenarios=["k4"])
    with pytest.raises(ColumnError, match=r"Did you mean 'sex'"):
        found.mosaics("sexx")


def tiles(chart: dict) -> list[dict]:
    return [row for row in rows(chart, chart) if "category" in row]


def test_mosaics_of_many_scenarios_show_the_front(small):
    many = {f"w{w}": [{"recode": {"variable": "age", "width": w}}] for w in range(2, 16)}
    done = sdc.compare(small, many, utility="entropy_loss.share")
    names = set(done.only_front().points["scenario"])
    assert len(names) < 14
    assert len({m["left"] for m in tiles(done.mosaics("sex").to_dict())}) == len(names) + 1


def test_a_search_keeps_them_too(small, tmp_path):
    space = [{"recode": {"variable": "age", "width": {"choices": [2, 10, 20]}}}]
    options = {"extra_measures": "missing_values", "regression": MINCER, "trials": 3, "cache": tmp_path}
    options["risk"] = "individual_risk"
    done = sdc.search(small, space, **options)
    assert set(done.estimates["name"]) >= {"sex[T.Female]"}
    assert done.extra_measures == ("missing_values", "regression", EXPECTED)
    assert sdc.search(small, space, **options).estimates.equals(done.estimates)
    assert isinstance(done.points["loss_missing_values"], pl.Series)
