"""regression: R's results, and what becomes of recoded, suppressed and missing values."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from conftest import oracle_cases
from sdckit.errors import DataError

LEVELS = {"rb090": ["male", "female"]}


def mincer(oracles, name, case) -> sdc.Microdata:
    frame = oracles.frame(name).with_columns(
        pl.col("pl030").cast(pl.String), pl.col("rb090").cast(pl.Enum(LEVELS["rb090"]))
    )
    roles = {r: c for r, c in case["inputs"].items() if c is not None}
    return sdc.read(frame, **roles)


@pytest.mark.parametrize("case", oracle_cases("10"))
def test_regressions_of_r(case, oracles):
    files = [mincer(oracles, case["dataset"][k], case) for k in ("x_csv", "y_csv")]
    kind = "model" if case["params"]["type"] in ("ols", "wls") else "design"
    result = sdc.utility.regression(*files, formula=case["params"]["formula"], variance=kind)
    parts, expected = result.parts, case["expected"]
    for file in ("original", "protected"):
        close = {"rel": 1e-9}
        assert parts[f"estimate_{file}"].to_list() == pytest.approx(
            [*expected[f"coef_{file}"].values()], **close
        )
        errors = parts[f"variance_{file}"].sqrt().to_list()
        assert errors == pytest.approx([*expected[f"se_{file}"].values()], **close)
        for ours, theirs in (("low", "lower"), ("high", "upper")):
            assert parts[f"{ours}_{file}"].to_list() == pytest.approx(expected[f"ci_{file}"][theirs], **close)
    assert parts["overlap"].to_list() == pytest.approx([*expected["ci_overlap"].values()], rel=1e-8)
    assert parts["contained"].to_list() == [*expected["protected_estimate_inside_original_ci"].values()]
    assert result.value == pytest.approx(np.clip([*expected["ci_overlap"].values()], 0, 1).mean())
    assert parts["term"].to_list()[:2] == ["Intercept", "rb090[T.female]"]
    if expected["r2_original"] is not None:
        assert result.figures["r_squared_original"] == pytest.approx(expected["r2_original"])


def wages(n=400, **changes) -> sdc.Microdata:
    rng = np.random.default_rng(2)
    age = rng.integers(18, 65, n)
    sex = rng.choice(["f", "m"], n)
    frame = pl.DataFrame(
        {
            "wage": np.exp(1 + 0.04 * age - 0.3 * (sex == "f") + rng.normal(0, 0.4, n)),
            "age": age,
            "sex": sex,
            "town": rng.choice(["a", "b", "c"], n),
            "works": rng.random(n) < 0.6,
            "children": rng.poisson(1.2, n),
            "w": rng.uniform(1, 3, n),
            "psu": rng.integers(0, 40, n),
        }
    )
    data = sdc.read(frame, keys=["age", "sex", "town"], numeric="wage", weight="w", cluster="psu")
    return data.with_frame(frame.with_columns(**changes)) if changes else data


def test_the_design_is_used_where_there_is_one():
    data = wages()
    bare = data.with_roles(weight=None, cluster=None)
    formula = "log(wage) ~ sex + age"
    auto, design, model = (
        sdc.utility.regression(data, data, formula=formula, variance=v).parts["variance_original"].to_list()
        for v in ("auto", "design", "model")
    )
    assert auto == design != model
    plain = [sdc.utility.regression(bare, bare, formula=formula, variance=v) for v in ("auto", "model")]
    assert plain[0].parts.equals(plain[1].parts)


def test_recoding_into_intervals_is_handled():
    data = wages()
    recoded = sdc.protect.recode(data, variable="age", width=5)
    result = sdc.utility.regression(data, recoded, formula="log(wage) ~ sex + age")
    assert result.figures["terms_lost"] == 0
    assert result.value > 0.8
    assert any("midpoints" in note for note in result.notes)


def test_categories_that_were_merged_are_listed_and_count_as_lost():
    data = wages()
    merged = wages(town=pl.col("town").replace({"b": "bc", "c": "bc"}))
    result = sdc.utility.regression(data, merged, formula="log(wage) ~ town + age")
    assert result.parts.filter(pl.col("verdict").str.starts_with("lost"))["term"].to_list() == [
        "town[T.b]",
        "town[T.c]",
    ]
    assert result.value == pytest.approx(result.figures["overlap_of_common"] / 2)
    assert any("only: town[T.bc]" in note for note in result.notes)
    assert any("original only, counted as 0: town[T.b], town[T.c]" in note for note in result.notes)


def test_suppressed_values_are_left_out_and_counted():
    data = wages()
    hole = wages(sex=pl.when(pl.int_range(pl.len()) % 4 == 0).then(None).otherwise(pl.col("sex")))
    result = sdc.utility.regression(data, hole, formula="log(wage) ~ sex")
    assert result.figures["records_original"] == 400
    assert result.figures["records_protected"] == 300
    assert any("100 of 400 protected records are left out" in note for note in result.notes)


@pytest.mark.parametrize(
    ("family", "formula"),
    [("logit", "works ~ sex + age"), ("poisson", "children ~ sex + age"), ("logit", "sex ~ age")],
)
def test_other_families(family, formula):
    data = wages()
    noise = wages(age=pl.col("age") + pl.Series(np.random.default_rng(0).integers(-3, 4, 400)))
    assert sdc.utility.regression(data, data, formula=formula, family=family).value == pytest.approx(1)
    moved = sdc.utility.regression(data, noise, formula=formula, family=family)
    assert 0.5 < moved.value < 1


def test_sign_and_significance():
    data = wages()
    turned = wages(sex=pl.col("sex").replace({"f": "m", "m": "f"}))
    result = sdc.utility.regression(data, turned, formula="log(wage) ~ sex")
    row = result.parts.filter(term="sex[T.m]").row(0, named=True)
    assert not row["same_sign"]
    assert row["same_significance"]
    assert row["verdict"] == "at odds with the original"
    assert result.figures["same_sign"] == 0.5


def test_several_sets_are_combined_and_the_chart_is_drawn():
    data = wages()
    rng = np.random.default_rng(3)
    sets = [wages(wage=pl.col("wage") * pl.Series(rng.lognormal(0, 0.1, 400))) for _ in range(3)]
    result = sdc.utility.regression(data, sets, formula="log(wage) ~ sex + age")
    single = [sdc.utility.regression(data, s, formula="log(wage) ~ sex + age").parts for s in sets]
    mean = np.mean([s["estimate_protected"].to_numpy() for s in single], axis=0)
    assert result.parts["estimate_protected"].to_list() == pytest.approx(mean.tolist())
    assert "standard errors" in str(result.chart().to_dict())
    full = sdc.utility.regression(data, sets, formula="log(wage) ~ sex + age", synthesis="full")
    assert full.parts["variance_protected"].to_list() != result.parts["variance_protected"].to_list()
    same = sdc.utility.regression(data, [data, data], formula="log(wage) ~ sex + age", synthesis="full")
    assert any("negative for 3 of 3 coefficients" in note for note in same.notes)


def test_the_reference_can_be_chosen():
    data = wages()
    option = sdc.utility.regression(data, data, formula="wage ~ town + age", reference={"town": "b"})
    assert option.parts["term"].to_list() == ["Intercept", "town[T.a]", "town[T.c]", "age"]
    for written in ('C(town, Treatment("b"))', "C(town, contr.treatment(base='b'))"):
        inside = sdc.utility.regression(data, data, formula=f"wage ~ {written} + age")
        assert inside.parts["term"].to_list()[:3] == ["Intercept", "C(town)[T.a]", "C(town)[T.c]"]
        assert inside.parts["estimate_original"].to_list() == pytest.approx(
            option.parts["estimate_original"].to_list()
        )
    plain = sdc.utility.regression(data, data, formula="wage ~ town + age")
    by_term = dict(plain.parts.select("term", "estimate_original").iter_rows())
    other = dict(option.parts.select("term", "estimate_original").iter_rows())
    assert other["town[T.a]"] == pytest.approx(-by_term["town[T.b]"])
    turned = sdc.utility.regression(
        data, data, formula="works ~ age", family="logit", reference={"works": True}
    )
    usual = sdc.utility.regression(data, data, formula="works ~ age", family="logit")
    assert turned.parts["estimate_original"][1] == pytest.approx(-usual.parts["estimate_original"][1])


def test_a_reference_that_is_lost_misspelt_or_of_a_number():
    data = wages()
    merged = wages(town=pl.col("town").replace({"b": "bc", "c": "bc"}))
    result = sdc.utility.regression(data, merged, formula="wage ~ town + age", reference={"town": "b"})
    assert any("reference of town is a: not all files have b" in note for note in result.notes)
    for reference, words in (
        ({"town": "bb"}, r"no category 'bb' of town.*Allowed: a, b, c\. Did you mean 'b'"),
        ({"toun": "b"}, "'toun', which is not in the formula.*Did you mean 'town'"),
        ({"age": 30}, r"age holds numbers.*Write C\(age\)"),
    ):
        with pytest.raises(sdc.SdcError, match=words):
            sdc.utility.regression(data, data, formula="wage ~ town + age", reference=reference)


def test_a_lost_column_loses_everything():
    data = wages()
    result = sdc.utility.regression(data, data.without(("town",)), formula="wage ~ town")
    assert result.value == 0
    assert result.figures["records_protected"] == 0


def test_required_and_wrong_options():
    data = wages()
    with pytest.raises(sdc.SdcError, match="needs the option 'formula'"):
        sdc.utility.regression(data, data)
    with pytest.raises(sdc.SdcError, match=r"ols.*logit.*poisson"):
        sdc.utility.regression(data, data, formula="wage ~ age", family="probit")


def test_categories_left_beside_merged_ones_are_the_same_terms():
    data = sdc.demo.survey(n=800, seed=2)
    merged = sdc.protect.group(data, variables="education", map={"Little": ["None", "Primary"]})
    result = sdc.utility.regression(data, merged, formula="log(income) ~ sex + education")
    parts = {row["term"]: row for row in result.parts.to_dicts()}
    assert parts["education[T.University]"]["estimate_protected"] is not None
    assert parts["education[T.Primary]"]["estimate_protected"] is None
    assert "education[T.6]" not in parts


def test_one_complete_record_is_too_few_and_the_message_says_so():
    data = sdc.read(pl.DataFrame({"y": [5.0], "x": [1.0]}), numeric=["y", "x"])
    with pytest.raises(sdc.SdcError, match=r"fewer than two complete records"):
        sdc.utility.regression(data, data, formula="y ~ x")


def test_a_text_outcome_says_which_category_is_one():
    frame = pl.DataFrame({"poor": ["yes", "no", "no", "yes", "no", "yes"], "age": [20, 30, 40, 50, 60, 70]})
    data = sdc.read(frame)
    plain = sdc.utility.regression(data, data, formula="poor ~ age", family="logit")
    assert any(
        note.startswith("poor counts as 1 where it is yes and as 0 where it is no") for note in plain.notes
    )
    turned = sdc.utility.regression(
        data, data, formula="poor ~ age", family="logit", reference={"poor": "yes"}
    )
    assert any(note.startswith("poor counts as 1 where it is no ") for note in turned.notes)
    slopes = [one.parts["estimate_original"][1] for one in (plain, turned)]
    assert slopes[0] == pytest.approx(-slopes[1])
    truth = sdc.read(frame.with_columns(pl.col("poor") == "yes"))
    named = sdc.utility.regression(truth, truth, formula="poor ~ age", family="logit")
    assert not any("counts as" in note for note in named.notes)
    assert named.parts["estimate_original"][1] == pytest.approx(slopes[0])


@pytest.mark.parametrize("family", ["ols", "poisson"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_an_exact_model_is_unchanged_and_rounding_is_no_coefficient(family, weight):
    """A constant outcome: the slope is 0 in both files, not two different roundings of it."""
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"y": np.full(500, 7), "x": rng.integers(0, 99, 500), "w": rng.uniform(1, 9, 500)})
    data = sdc.read(frame, weight=weight)
    other = data.with_frame(frame.with_columns(pl.col("x").shuffle(seed=1)))
    result = sdc.utility.regression(data, other, formula="y ~ x", family=family)
    assert result.value == 1.0
    assert result.parts["estimate_original"][1] == result.parts["estimate_protected"][1] == 0.0
    assert set(result.parts["verdict"]) == {"unchanged"}


def test_an_exact_line_with_other_predictors_is_known_exactly():
    x = np.arange(50.0)
    data = sdc.read(pl.DataFrame({"y": 3 + 2 * x, "x": x, "z": np.sin(x)}))
    parts = sdc.utility.regression(data, data, formula="y ~ x + z").parts
    assert parts["estimate_original"].to_list() == pytest.approx([3, 2, 0])
    assert parts["estimate_original"][2] == 0.0
    assert parts["variance_original"].to_list() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("weight", [None, "w"])
def test_as_many_coefficients_as_records_have_no_interval(weight):
    data = sdc.read(pl.DataFrame({"y": [1.0, 4.0], "x": [0.0, 1.0], "w": [1.0, 2.0]}), weight=weight)
    result = sdc.utility.regression(data, data, formula="y ~ x")
    assert np.isnan(result.value)
    assert any("No more records than coefficients" in note for note in result.notes)
    assert result.parts["estimate_original"].to_list() == pytest.approx([1, 3])
    assert result.parts["variance_original"].to_list() == [None, None]


def test_a_refused_outcome_shows_no_value_of_a_person():
    data = sdc.read(pl.DataFrame({"income": [-5520.25, 12.0, 174140.5], "age": [20, 30, 40]}))
    for family in ("logit", "poisson"):
        with pytest.raises(DataError) as refused:
            sdc.utility.regression(data, data, formula="income ~ age", family=family)
        assert "5520" not in str(refused.value)
        assert "174140" not in str(refused.value)


def test_a_category_whose_last_event_was_protected_away_counts_as_zero():
    """Original: 2 of 10 in each; protected: none in c, whose coefficient has no interval there."""
    frame = pl.DataFrame({"y": [1, 1, *[0] * 8] * 3, "g": ["a"] * 10 + ["b"] * 10 + ["c"] * 10})
    data = sdc.read(frame)
    other = data.with_frame(frame.with_columns(y=pl.when(pl.col("g") == "c").then(0).otherwise("y")))
    result = sdc.utility.regression(data, other, formula="y ~ g", family="logit")
    last = result.parts.row(2, named=True)
    assert (last["term"], last["overlap_clipped"], last["overlap"]) == ("g[T.c]", 0.0, None)
    assert last["verdict"] == "lost: without an interval in the protected file"
    assert not last["same_significance"]
    assert result.value == pytest.approx(2 / 3)
    turned = sdc.utility.regression(other, data, formula="y ~ g", family="logit")
    assert turned.parts["verdict"].to_list()[2] == "no interval"
    assert turned.value == pytest.approx(1)
