"""What utility measures say of their options and figures."""

import pytest

import sdckit as sdc
from sdckit.methods.registry import find
from sdckit.methods.spec import Better


def choices(measure: str, option: str) -> dict[str, str]:
    (field,) = [f for f in find(measure).form() if f.name == option]
    return dict(field.choices)


def test_missing_values_of_an_entropy_are_described_as_they_are():
    words = choices("entropy", "missing")
    assert "category of their own" in words["category"]
    assert words["whole"] == "in no category, but counted in the number of records"
    frame = sdc.demo.survey(n=50, seed=1).frame.select("sex")
    frame = frame.with_columns(sex=frame["sex"].set(frame["sex"].is_not_null() & (frame["sex"] == 1), None))
    data = sdc.read(frame, keys="sex")
    by_rule = {rule: sdc.utility.entropy(data, data, missing=rule).figures["original"] for rule in words}
    assert by_rule["whole"] < by_rule["category"]
    assert by_rule["complete"] == 0 < by_rule["whole"]


def test_a_figure_that_should_be_high_is_turned_on_the_map():
    data = sdc.demo.survey(n=300, seed=2)
    bases = {"little": 10, "much": 1e6}
    ways = {name: [{"round_values": {"variables": ["income"], "base": base}}] for name, base in bases.items()}
    for name in ("indicators.contained", "indicators.smallest_overlap"):
        found = sdc.compare(data, ways, risk="frequencies", utility=name)
        loss = dict(zip(found.points["scenario"], found.points["loss"], strict=True))
        assert loss["little"] < loss["much"], name


@pytest.mark.parametrize(
    ("measure", "high"),
    [
        ("indicators", {"contained", "smallest_overlap"}),
        ("regression", {"contained", "same_sign", "same_significance", "overlap_of_common"}),
    ],
)
def test_which_figures_should_be_high(measure, high):
    found = find(measure).figures.items()
    assert {name for name, figure in found if figure.better is Better.HIGH} == high


@pytest.mark.parametrize(
    ("measure", "options", "words"),
    [
        ("eigenvalues", {"robust": True, "missing": "pairwise"}, "missing with robust: False"),
        ("propensity", {"permutations": 5}, "permutations with model: cart"),
        ("indicators", {"margins": ["sex"]}, "margins with variance: calibrated"),
        ("indicators", {"replicate_weights": ["age"]}, "replicate_weights with variance: replicates"),
        ("indicators", {"replicate_scale": 2.0}, "replicate_scale with replicate_weights"),
    ],
)
def test_options_that_mean_nothing_are_refused_before_any_work(measure, options, words):
    with pytest.raises(sdc.SdcError, match=words):
        find(measure).validate(options)


def test_province_is_no_income():
    data = sdc.demo.survey(n=200, seed=3)
    frame = data.frame.with_columns(province=data.frame["age"] % 7, inc_total=data.frame["income"])
    some = sdc.read(frame, numeric=["province", "inc_total", "expenditure"])
    result = sdc.utility.indicators(some, some, indicators="poverty_rate")
    assert result.parts["variable"].to_list() == ["inc_total"]
