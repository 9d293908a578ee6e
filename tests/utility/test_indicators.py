"""indicators: laeken's results, the seed's example, domains, several sets, what users may ask for."""

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from conftest import oracle_cases
from sdckit.methods.registry import find

LAEKEN = {"gini": "gini", "arpr": "poverty_rate", "qsr": "s80s20", "rmpg": "poverty_gap"}
ROLES = {"numeric": "eqIncome", "strata": "db040"}


def eusilc(oracles, case) -> sdc.Microdata:
    frame = oracles.frame("eusilc")
    dataset = case["dataset"] if isinstance(case["dataset"], dict) else {}
    if "protected_columns_csv" in dataset:
        changed = oracles.frame(dataset["protected_columns_csv"])
        frame = frame.with_columns(changed[c] for c in changed.columns if c in frame.columns)
    weight = case["inputs"].get("weight")
    return sdc.read(frame, **ROLES, **({"weight": weight} if weight else {}))


def by_domain(result: sdc.Result, indicator: str, column: str = "estimate_original") -> dict[str, float]:
    part = result.parts.filter(pl.col("indicator") == indicator)
    return dict(zip(part["domain"], part[column], strict=True))


@pytest.mark.parametrize("case", oracle_cases("07", lambda c: "arpt" in c["expected"]))
def test_indicators_of_laeken(case, oracles):
    data, expected = eusilc(oracles, case), case["expected"]
    result = sdc.utility.indicators(
        data,
        data,
        indicators=[*LAEKEN, "arpt", "mean", {"quantile": [{"p": float(p)} for p in expected["quantiles"]]}],
        by=case["inputs"]["breakdown"],
    )
    for theirs, ours in LAEKEN.items():
        found = by_domain(result, ours)
        assert found.pop("all records") == pytest.approx(expected[theirs]["value"], rel=1e-10)
        assert found == pytest.approx(expected[theirs]["by"], rel=1e-10)
    assert by_domain(result, "poverty_threshold")["all records"] == pytest.approx(expected["arpt"], rel=1e-12)
    assert by_domain(result, "mean")["all records"] == pytest.approx(expected["weighted_mean"], rel=1e-12)
    for p, q in expected["quantiles"].items():
        name = "median" if p == "0.5" else f"quantile {float(p):g}"
        assert by_domain(result, name)["all records"] == pytest.approx(q, rel=1e-12)


@pytest.mark.parametrize("case", oracle_cases("07", lambda c: c["id"] == "gini_seed_typo"))
def test_the_ginis_of_seed_000_are_unweighted(case, oracles):
    data = eusilc(oracles, case)
    found = by_domain(sdc.utility.indicators(data, data, indicators="gini", by="db040"), "gini")
    assert found.pop("all records") == pytest.approx(case["expected"]["value"], rel=1e-10)
    assert found == pytest.approx(case["expected"]["by"], rel=1e-10)


@pytest.mark.parametrize("case", oracle_cases("07", lambda c: c["id"].startswith("gini_reldiff")))
def test_relative_differences_of_the_gini(case, oracles):
    original = eusilc(oracles, {**case, "dataset": "eusilc"})
    result = sdc.utility.indicators(original, eusilc(oracles, case), indicators="gini", by="db040")
    found = by_domain(result, "gini", "relative_difference")
    found.pop("all records")
    assert found == pytest.approx(case["expected"]["relative_difference_percent"], rel=1e-8)


@pytest.mark.parametrize("case", oracle_cases("07", lambda c: c["id"].startswith("bootstrap")))
def test_bootstrap_variances_of_laeken_within_monte_carlo_error(case, oracles):
    """Both sides drew R sets, so ln(sd ratio) has an error of √(1/(2R) + 1/(2·200)).

    Ten comparisons a case at 4 standard errors: one false alarm in 1,600 cases. Tails of the replicate
    distribution are not normal, which the factor 1.5 allows for.
    """
    data, expected = eusilc(oracles, case), case["expected"]
    draws = 600
    result = sdc.utility.indicators(
        data,
        data,
        indicators="gini" if "gini" in case["id"] else "arpr",
        by="db040",
        variance="calibrated" if "calibrated" in case["id"] else "bootstrap",
        replicates=draws,
    )
    found = by_domain(result, result.parts["indicator"][0], "variance_original")
    theirs = {**expected["var_by"], "all records": expected["var"]}
    error = 1.5 * math.sqrt(1 / (2 * draws) + 1 / (2 * 200))
    for domain, variance in theirs.items():
        assert abs(math.log(found[domain] / variance)) / 2 < 4 * error, domain


@pytest.mark.parametrize("case", oracle_cases("07", lambda c: c["id"] == "gpg_ses"))
def test_pay_gap_of_laeken(case, oracles):
    frame = oracles.frame(case["dataset"]["csv"])
    data = sdc.read(frame, numeric="earningsHour", weight="weights")
    gap = {"group": "sex", "reference": "male"}
    wanted = {"pay_gap": [gap, {**gap, "statistic": "median"}]}
    result = sdc.utility.indicators(data, data, indicators=wanted, by="education")
    found = by_domain(result, "pay_gap")
    assert found.pop("all records") == pytest.approx(case["expected"]["value"], rel=1e-10)
    assert found == pytest.approx(case["expected"]["by"], rel=1e-10)
    median = by_domain(result, "pay_gap median")["all records"]
    assert median == pytest.approx(case["expected"]["value_median"], rel=1e-10)


def small(**changes) -> sdc.Microdata:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "id": range(200),
            "income": rng.lognormal(9, 1, 200),
            "g": rng.choice(["a", "b"], 200),
            "h": rng.integers(0, 4, 200),
            "w": rng.uniform(1, 3, 200),
        }
    )
    data = sdc.read(frame, id="id", numeric="income", weight="w", strata="h")
    return data.with_frame(frame.with_columns(**changes)) if changes else data


def test_all_that_a_row_says():
    data = small()
    row = sdc.utility.indicators(data, small(income=pl.col("income") * 1.02), indicators="mean").parts.row(
        0, named=True
    )
    assert row["relative_difference"] == pytest.approx(2)
    assert row["relative_difference_variance"] == pytest.approx(100 * (1.02**2 - 1))
    gap = row["estimate_protected"] - row["estimate_original"]
    spread = row["variance_protected"] - row["variance_original"]
    assert row["mse"] == pytest.approx(gap**2 + spread)
    assert row["contained"]
    common = row["high_original"] - row["low_protected"]
    lengths = [row[f"high_{f}"] - row[f"low_{f}"] for f in ("original", "protected")]
    assert row["overlap"] == pytest.approx(common * (1 / lengths[0] + 1 / lengths[1]) / 2)
    assert row["verdict"] in ("practically the same", "within sampling error")


@pytest.mark.parametrize("variance", ["taylor", "bootstrap", "rescaled", "calibrated", "jackknife"])
def test_every_variance_gives_about_the_same_and_does_not_depend_on_the_order(variance):
    data, other = small(), small(income=pl.col("income") + 50)
    result = sdc.utility.indicators(data, other, indicators="mean", variance=variance, replicates=400)
    turned = [d.with_frame(d.frame.sample(fraction=1, shuffle=True, seed=9)) for d in (data, other)]
    again = sdc.utility.indicators(*turned, indicators="mean", variance=variance, replicates=400)
    assert again.value == pytest.approx(result.value, rel=1e-9)
    taylor = sdc.utility.indicators(data, other, indicators="mean").parts["variance_original"][0]
    assert result.parts["variance_original"][0] == pytest.approx(taylor, rel=0.35)


def test_the_jackknife_of_a_quantile_is_refused():
    data = small()
    gap = {"pay_gap": {"group": "g", "reference": "a", "statistic": "median"}}
    for rough in ("median", "s80s20", "poverty_rate", "fgt1", gap):
        with pytest.raises(sdc.SdcError, match=r"rests on a quantile or .*variance='taylor'"):
            sdc.utility.indicators(data, data, indicators=["mean", rough], variance="jackknife")


def test_given_replicate_weights():
    data = small()
    names = [f"r{i}" for i in range(3)]
    frame = data.frame.with_columns(pl.col("w").alias(n) * (1 + i / 10) for i, n in enumerate(names))
    data = data.with_frame(frame)
    total = {"indicators": "total", "variance": "replicates", "replicate_weights": names}
    row = sdc.utility.indicators(data, data, **total, replicate_scale=2.0).parts.row(0, named=True)
    assert row["variance_original"] == pytest.approx(2 * (0.1**2 + 0.2**2) * row["estimate_original"] ** 2)
    with pytest.raises(sdc.SdcError, match="replicate_weights"):
        sdc.utility.indicators(data, data, indicators="mean", variance="replicates")


def test_percentile_intervals_differ_from_normal_ones_and_hold_the_estimate():
    data = small()
    row = sdc.utility.indicators(
        data, data, indicators="gini", variance="bootstrap", interval="percentile"
    ).parts.row(0, named=True)
    assert row["low_original"] < row["estimate_original"] < row["high_original"]
    middle = (row["low_original"] + row["high_original"]) / 2
    assert abs(middle - row["estimate_original"]) > 1e-6


def test_finite_populations_make_variances_smaller():
    data = small(f=pl.lit(0.75))
    free, finite = (
        sdc.utility.indicators(data, data, indicators="mean", fpc=f).parts["variance_original"][0]
        for f in (None, "f")
    )
    assert finite == pytest.approx(free / 4)


def test_a_users_own_function():
    data = small()

    def spread(values, weights):
        return float(values[-1] - values[0])

    result = sdc.utility.indicators(data, data, indicators=spread, variance="bootstrap", replicates=20)
    assert result.parts["indicator"].to_list() == ["spread"]
    assert result.value == 1


def test_own_indicators_need_not_be_hashable():
    @dataclass
    class Top:
        share: float

        def __call__(self, values, weights):
            return float(np.quantile(values, self.share))

    data = small()
    both = {"high": Top(0.9), "low": Top(0.1)}
    result = sdc.utility.indicators(data, data, indicators=both, variance="bootstrap", replicates=20)
    assert result.parts["indicator"].to_list() == ["high", "low"]
    assert result.value == 1


def test_a_function_without_a_formula_has_its_variance_from_the_rescaled_bootstrap():
    data, other = small(), small(income=pl.col("income") * 1.1)
    average = {"average": lambda x, w: np.average(x, weights=w)}
    result = sdc.utility.indicators(data, other, indicators=[average, "mean"], replicates=400, seed=3)
    drawn = sdc.utility.indicators(
        data, other, indicators=average, variance="rescaled", replicates=400, seed=3
    )
    own, mean = result.parts.to_dicts()
    assert own == drawn.parts.row(0, named=True)
    assert own["estimate_original"] == pytest.approx(mean["estimate_original"])
    assert own["variance_original"] == pytest.approx(mean["variance_original"], rel=0.3)
    said = [note for note in result.notes if "there is no formula" in note]
    assert said == ["Variance of average by the rescaled bootstrap (400 replicates): there is no formula."]
    unnamed = sdc.utility.indicators(data, other, indicators=lambda x, w: float(x.max()))
    assert unnamed.parts["indicator"].to_list() == ["own function"]
    with pytest.raises(sdc.SdcError, match="must return one number"):
        sdc.utility.indicators(data, other, indicators=lambda x, w: x)


def test_an_estimate_without_an_interval_is_shown_and_not_counted():
    data = small()
    huge = small(income=pl.col("income") * 1e200)
    result = sdc.utility.indicators(
        huge, huge, indicators=["mean", {"proportion": {"category": "a", "variable": "g"}}]
    )
    mean, share = result.parts.to_dicts()
    assert mean["estimate_original"] > 1e200
    assert mean["verdict"] == "no interval"
    assert result.figures["rows"] == 1
    assert result.value == share["overlap_clipped"] == 1
    assert any("Without an interval" in note and "mean of income" in note for note in result.notes)
    alone = sdc.utility.indicators(huge, data, indicators="mean")
    assert math.isnan(alone.value)
    assert alone.parts["estimate_original"][0] == mean["estimate_original"]


def asked(category, variable="g", files=None):
    wanted = {"proportion": {"category": category, "variable": variable}}
    return sdc.utility.indicators(*(files or (small(), small())), indicators=wanted)


def test_a_category_that_neither_file_has_is_refused():
    with pytest.raises(sdc.SdcError, match=r"g has no category 'A'.*Allowed: a, b\. Did you mean 'a'"):
        asked("A")
    with pytest.raises(sdc.SdcError, match="h has no category '7'"):
        asked(7, "h")
    for gap, words in (
        ({"group": "g", "reference": "bb"}, "g has no category 'bb'.*Did you mean 'b'"),
        ({"group": "gg", "reference": "b"}, "no column 'gg'.*Did you mean 'g'"),
    ):
        with pytest.raises(sdc.SdcError, match=words):
            sdc.utility.indicators(small(), small(), indicators={"pay_gap": gap})
    with pytest.raises(sdc.SdcError, match="not null"):
        asked(None)
    both = small(), small(g=pl.lit("new"))
    row = asked("new", files=both).parts.row(0, named=True)  # one file has it
    assert (row["estimate_original"], row["estimate_protected"]) == (0, 1)
    mixed = sdc.utility.indicators(
        small(), small(), indicators=[{"proportion": {"category": "a"}}], variables=["income", "g"]
    )
    assert mixed.parts["variable"].to_list() == ["g"]
    assert "proportion a of income" in mixed.notes[0]


def test_categories_may_be_numbers_booleans_codes_and_labels():
    data = small(yes=pl.col("h") > 1)
    share = data.frame.select((pl.col("w") * pl.col("yes")).sum() / pl.col("w").sum()).item()
    for category in (True, "true", np.True_):
        assert asked(category, "yes", (data, data)).parts["estimate_original"][0] == pytest.approx(share)
    assert asked(2, "h").value == asked(2.0, "h").value == asked("2", "h").value == 1
    labelled = sdc.demo.survey(n=300, seed=2)
    merged = sdc.protect.group(labelled, variables="education", map={"Little": ["None", "Primary"]})
    found = [asked(c, "education", (labelled, merged)).parts.row(0, named=True) for c in ("University", 6)]
    assert found[0]["estimate_original"] == found[1]["estimate_protected"] > 0
    with pytest.raises(sdc.SdcError, match="Did you mean 'University'"):
        asked("Univercity", "education", (labelled, merged))


def test_a_label_that_reads_like_another_code_does_not_count():
    frame = pl.DataFrame({"k": [0, 0, 1, 1, 2, 2, 2, 2], "x": [1.0, 1.0, 2.0, 2.0, 4.0, 4.0, 4.0, 4.0]})
    labels = sdc.Labels({}, {"k": {0: "1", 1: "2", 2: "3"}})
    data = sdc.Microdata.of(frame, labels=labels, numeric="x")
    shares = [asked(c, "k", (data, data)).parts["estimate_original"][0] for c in (0, 1, 2, 3)]
    assert shares == [0.25, 0.25, 0.5, 0.5]  # 3 is no code, so it is the label of 2
    gap = {"pay_gap": {"group": "k", "reference": 1}}
    found = sdc.utility.indicators(data, data, indicators=gap).parts["estimate_original"][0]
    assert found == pytest.approx(1 - 3 / 2)


def test_labels_of_floating_point_codes_are_told():
    labels = sdc.Labels({}, {"k": {1: "female", 2: "male"}})
    data = sdc.Microdata.of(pl.DataFrame({"k": [1.0, 2.0, None], "y": [1.0, 2.0, 4.0]}), labels=labels)
    with pytest.raises(sdc.SdcError, match=r"Allowed: female, male\. Did you mean 'male'"):
        asked("mal", "k", (data, data))
    with pytest.raises(sdc.SdcError, match=r"Allowed: female, male\. Did you mean 'male'"):
        sdc.utility.regression(data, data, formula="y ~ k", reference={"k": "mal"})


def test_values_of_persons_are_not_told():
    names = small(name=pl.format("Anna Maier {}", "id"), born=pl.date(1950, 1, 1) + pl.duration(days="h"))
    for options, words in (
        ({"category": "male"}, "income has no category 'male'"),
        ({"category": "Anna Maier", "variable": "name"}, "Allowed: one of its 200 values."),
        ({"category": "male", "variable": "born"}, "Allowed: one of its 4 values."),
    ):
        with pytest.raises(sdc.SdcError) as met:
            sdc.utility.indicators(names, names, indicators=[{"proportion": options}])
        assert words in str(met.value)
        assert "values. The option 'variable' of an indicator names its column" in str(met.value)
    few = small(income=pl.lit(1234.5))
    with pytest.raises(sdc.SdcError, match="Allowed: one of its 1 values"):
        sdc.utility.indicators(few, few, indicators=[{"proportion": {"category": "male"}}])


def test_an_empty_group_of_a_pay_gap_is_said_and_no_error():
    gap = {
        "pay_gap": [{"group": "g", "reference": "a"}, {"group": "g", "reference": "a", "statistic": "median"}]
    }
    alone = small(g=pl.lit("a"))
    both = sdc.utility.indicators(alone, alone, indicators=gap)
    assert math.isnan(both.value)
    assert "Not computable in the original, left out: pay_gap of income" in both.notes[0]
    lost = sdc.utility.indicators(small(), alone, indicators=gap)
    assert lost.value == 0
    assert lost.parts["verdict"].str.starts_with("lost").all()
    zero = small(income=pl.lit(0.0))
    assert math.isnan(sdc.utility.indicators(zero, zero, indicators=gap).value)


@pytest.mark.parametrize("variance", ["taylor", "jackknife"])
def test_percentiles_need_replicates(variance):
    with pytest.raises(sdc.SdcError, match=r"'interval' of indicators.*with variance: bootstrap, rescaled"):
        sdc.utility.indicators(small(), small(), variance=variance, interval="percentile")


def test_an_option_that_is_needed_is_asked_for_in_one_sentence():
    with pytest.raises(sdc.SdcError) as met:
        sdc.utility.indicators(small(), small(), indicators={"pay_gap": {"reference": "a"}})
    assert str(met.value) == (
        'The indicator pay_gap needs the option \'group\'. Write {"pay_gap": {"group": …, "reference": …}}.'
    )


def test_a_negative_variance_of_full_synthesis_is_said():
    data = small()
    sets = [data, data, data]
    full = sdc.utility.indicators(data, sets, synthesis="full")
    assert any("negative for 2 of 2 rows" in note for note in full.notes)
    assert not any("negative" in note for note in sdc.utility.indicators(data, sets).notes)
    apart = [small(income=pl.col("income") * k) for k in (0.2, 1.0, 5.0)]
    spread = sdc.utility.indicators(data, apart, indicators="mean", synthesis="full")
    assert not any("negative" in note for note in spread.notes)


def test_what_the_protected_file_lost_counts_as_zero():
    data = small()
    less = small(g=pl.lit("a"))
    result = sdc.utility.indicators(data, less, indicators="mean", by="g")
    row = result.parts.filter(domain="b").row(0, named=True)
    assert row["overlap_clipped"] == 0
    assert row["estimate_protected"] is None
    assert row["verdict"].startswith("lost")
    assert result.value < 0.7


def test_a_variable_recoded_to_text_is_lost_and_not_an_error():
    data = small()
    text = sdc.protect.recode(data, variable="income", width=5000)
    result = sdc.utility.indicators(data, text, indicators=["mean", "gini"])
    assert result.value == 0
    assert result.parts["verdict"].to_list() == ["lost: cannot be computed from the protected file"] * 2


def test_several_sets_are_combined():
    data = small()
    sets = [small(income=pl.col("income") * k) for k in (0.98, 1.0, 1.02)]
    result = sdc.utility.indicators(data, sets, indicators="mean")
    single = [sdc.utility.indicators(data, s, indicators="mean").parts.row(0, named=True) for s in sets]
    row = result.parts.row(0, named=True)
    estimates = [r["estimate_protected"] for r in single]
    assert row["estimate_protected"] == pytest.approx(np.mean(estimates))
    within = np.mean([r["variance_protected"] for r in single])
    assert row["variance_protected"] == pytest.approx(np.var(estimates, ddof=1) / 3 + within)
    assert any("3 synthetic sets" in note for note in result.notes)
    same = sdc.utility.indicators(data, [data, data], indicators="mean")
    assert same.value == 1
    assert find("indicators").takes_sets
    assert sdc.assess(data, sets, measures=["indicators"]).utility["indicators"].value == pytest.approx(
        sdc.utility.indicators(data, sets).value
    )


def test_assess_runs_the_usual_ones_by_itself_and_panels_by_name():
    data = sdc.demo.survey(n=400, seed=2)
    usual = sdc.assess(data, data, measures=["indicators"]).utility["indicators"]
    assert set(usual.parts["indicator"]) == {"mean", "gini"}
    poverty = sdc.assess(data, data, measures=["indicators"], indicators="poverty", by="region")
    parts = poverty.utility["indicators"].parts
    assert set(parts["variable"]) == {"income"}
    assert "Capital" in parts["domain"].to_list()  # value labels, not codes
    assert any("income" in note for note in poverty.utility["indicators"].notes)


def test_options_from_a_yaml_list_and_mistakes_in_it():
    data = small()
    result = sdc.utility.indicators(
        data,
        data,
        indicators=["gini", {"quantile": {"p": 0.9}}, {"proportion": {"category": "a", "variable": "g"}}],
    )
    assert result.parts["variable"].to_list() == ["income", "income", "g"]
    with pytest.raises(sdc.SdcError, match="Did you mean 'gini'"):
        sdc.utility.indicators(data, data, indicators=["ginni"])
    with pytest.raises(sdc.SdcError, match="no column has the role 'numeric'"):
        sdc.utility.indicators(*(sdc.read(data.frame.select("g")) for _ in "ab"))
    with pytest.raises(sdc.SdcError, match="at least one"):
        sdc.utility.indicators(data, [])
    assert find("indicators").json_schema["properties"]["indicators"]["anyOf"]


def test_the_chart_draws_both_intervals():
    data = sdc.demo.survey(n=300, seed=2)
    chart = sdc.utility.indicators(data, data, indicators="poverty", by="urban").chart().to_dict()
    assert "Original" in str(chart)
    assert "median of income" in str(chart)
    one = sdc.charts.estimate_and_risk(
        ["k3"], [0.01], [(1.0, 0.5, 1.5)], (1.1, 0.9, 1.3), title="coefficient"
    )
    assert "k3" in str(one.to_dict())


def test_a_constant_is_unchanged_whatever_the_weights_and_its_total_varies():
    weights = [1.0, 1.3, 2.7, 0.4, 1.1, 3.9, 0.7, 2.2, 1.9, 0.3, 1.7]
    frame = pl.DataFrame({"x": [0.1] * 11, "w": weights, "d": list("aaaaabbbbbb")})
    data = sdc.read(frame, numeric="x", weight="w")
    other = data.with_frame(frame.with_columns(w=pl.col("w") * 1.37 + 0.01))
    parts = sdc.utility.indicators(data, other, indicators=["mean", "gini", "s80s20", "total"], by="d").parts
    totals = parts["indicator"] == "total"
    assert set(parts.filter(~totals)["verdict"]) == {"unchanged"}
    assert set(parts.filter(~totals)["variance_protected"]) == {0.0}
    assert parts.filter(totals)["variance_protected"].min() > 0


def test_sets_of_different_sizes_count_alike_in_the_variance():
    """Sizes 6, 4 and 8 of 6 records: k/n is 1, whichever set comes first."""
    values = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0, 3.0, 6.0]
    data, *sets = (sdc.read(pl.DataFrame({"x": values[:n]}), numeric="x") for n in (6, 6, 4, 8))
    for order in (sets, sets[::-1]):
        parts = sdc.utility.indicators(data, order, indicators="mean", synthesis="sample").parts
        within = np.mean([np.var(s.frame["x"].to_numpy(), ddof=1) / s.height for s in sets])
        assert parts["variance_protected"][0] == pytest.approx(within * (1 + 1 / 3))


NEGATIVE = [-9000.0, -400.0, 100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 700.0, 800.0]


def test_negative_values_are_said_and_sums_below_zero_give_no_ratio():
    data = sdc.read(pl.DataFrame({"income": NEGATIVE}), numeric="income")
    wanted = ["mean", "gini", "s80s20", "poverty_gap", "fgt1", "poverty_rate"]
    result = sdc.utility.indicators(data, data, indicators=wanted)
    assert result.parts["indicator"].to_list() == ["mean", "poverty_gap", "fgt1", "poverty_rate"]
    said = next(note for note in result.notes if "negative" in note)
    assert "gini, s80s20, poverty_gap, fgt1 can" in said
    assert "Not computable in the original, left out: gini of income" in " ".join(result.notes)
    fine = sdc.read(pl.DataFrame({"income": [abs(x) for x in NEGATIVE]}), numeric="income")
    assert not any("negative" in note for note in sdc.utility.indicators(fine, fine, indicators=wanted).notes)


def test_a_ratio_that_only_the_protected_file_lacks_is_lost():
    data = sdc.read(pl.DataFrame({"income": [abs(x) for x in NEGATIVE]}), numeric="income")
    other = data.with_frame(pl.DataFrame({"income": NEGATIVE}))
    result = sdc.utility.indicators(data, other, indicators="s80s20")
    assert result.value == 0
    assert result.parts["verdict"][0].startswith("lost")


def test_gaps_below_a_line_of_zero_or_less_are_not_defined():
    debts = sdc.read(pl.DataFrame({"balance": [-50.0, -20.0, -10.0, -5.0, 30.0]}), numeric="balance")
    result = sdc.utility.indicators(debts, debts, indicators=["poverty_gap", "fgt1", "poverty_rate"])
    assert result.parts["indicator"].to_list() == ["poverty_rate"]


@pytest.mark.parametrize(("n", "p"), [(2, 0.5), (15, 0.94), (15, 0.97), (15, 0.999)])
def test_a_quantile_that_is_the_largest_value_has_no_interval(n, p):
    """All x ≤ θ would make every score 0, and the error of the largest of n values with them."""
    data = sdc.read(pl.DataFrame({"x": [float(i * i) for i in range(n)]}), numeric="x")
    result = sdc.utility.indicators(data, data, indicators={"quantile": {"p": p}})
    row = result.parts.row(0, named=True)
    assert (row["estimate_original"], row["variance_original"]) == ((n - 1) ** 2, None)
    assert row["verdict"] == "no interval"
    assert "Without an interval" in " ".join(result.notes)


def test_a_quantile_within_the_heap_of_top_codes_does_not_vary():
    """60 different values and 40 at 100: the share of the heap is off by 10 % at most, 0.9 is far inside."""
    data = sdc.read(pl.DataFrame({"x": [*map(float, range(60)), *[100.0] * 40]}), numeric="x")
    result = sdc.utility.indicators(data, data, indicators={"quantile": {"p": 0.9}})
    assert result.parts["variance_original"][0] == 0
    assert "share one value" in " ".join(result.notes)


def test_poverty_where_all_of_a_domain_have_the_same_does_not_vary():
    """Children without income are poor wherever the line is; with 90 none is. The line is 0.6·50 = 30."""
    adults = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]
    for child, rate in ((0.0, 100.0), (90.0, 0.0)):
        frame = pl.DataFrame(
            {"x": [*adults, *adults, child, child], "age": [*["adult"] * 18, "child", "child"]}
        )
        data = sdc.read(frame, numeric="x")
        for options in ({}, {"fixed_line": 30.0}):
            wanted = dict.fromkeys(("poverty_rate", "fgt0"), options)
            parts = sdc.utility.indicators(data, data, indicators=wanted, by="age").parts
            mine = parts.filter(pl.col("domain") == "child")
            assert mine["estimate_original"].to_list() == [rate, rate / 100]
            assert mine["variance_original"].to_list() == [0.0, 0.0]
    frame = pl.DataFrame({"x": [*adults, *adults, 12.0, 12.0], "age": [*["adult"] * 18, "child", "child"]})
    data = sdc.read(frame, numeric="x")
    parts = sdc.utility.indicators(
        data, data, indicators=["poverty_threshold", "poverty_gap"], by="age"
    ).parts
    line, gap = (
        parts.filter(indicator=name, domain=domain).row(0, named=True)
        for name, domain in (("poverty_threshold", "all records"), ("poverty_gap", "child"))
    )
    z = line["estimate_original"]
    assert gap["estimate_original"] == pytest.approx(100 * (z - 12) / z)
    assert gap["variance_original"] == pytest.approx((100 * 12 / z**2) ** 2 * line["variance_original"])


def test_what_is_lost_has_neither_a_variance_nor_a_mean_difference():
    data = sdc.read(pl.DataFrame({"income": [abs(x) for x in NEGATIVE]}), numeric="income")
    result = sdc.utility.indicators(data, sdc.read(pl.DataFrame({"income": NEGATIVE})), indicators="s80s20")
    assert result.parts["variance_original"][0] > 0
    assert result.parts["variance_protected"][0] is None
    assert "mean_difference_percent" not in result.figures


def test_variances_known_to_be_wrong_are_said_to_be():
    frame = pl.DataFrame(
        {
            "income": [float(i * i % 101) for i in range(48)],
            "stratum": [i // 12 for i in range(48)],
            "psu": [i // 3 for i in range(48)],
            **{f"r{j}": [1.0 + (i // 3 == j) for i in range(48)] for j in range(4)},
        }
    )
    data = sdc.read(frame, numeric="income", strata="stratum", cluster="psu")

    def notes(**options):
        return " ".join(sdc.utility.indicators(data, data, indicators=["mean", "median"], **options).notes)

    few = "Strata have as few as 4 sampling units."
    assert few in notes(variance="bootstrap", replicates=20)
    assert few not in notes(variance="rescaled", replicates=20)
    assert few not in notes(variance="taylor")
    given = {"variance": "replicates", "replicate_weights": [f"r{j}" for j in range(4)]}
    wrong = "Replicate weights of a jackknife give wrong variances"
    assert f"{wrong} for what rests on a quantile or a line of the sample: median." in notes(
        **given, replicate_kind="jk1"
    )
    assert wrong not in notes(**given, replicate_kind="bootstrap")


def test_domains_of_one_unit_are_named_by_their_labels():
    frame = pl.DataFrame({"g": [1, 1, 2, 2, 2, 2], "unit": [1, 1, 2, 3, 2, 3], "x": [1.0, 2, 3, 4, 5, 6]})
    labels = sdc.Labels({}, {"g": {1: "island", 2: "mainland"}})
    data = sdc.Microdata.of(frame, labels=labels, numeric="x", cluster="unit")
    result = sdc.utility.indicators(data, data, indicators="mean", by="g")
    assert any("a variance: island." in note for note in result.notes)


def test_a_synthesis_of_a_sample_has_the_error_of_the_sample():
    """Taken for as large as the original, its intervals held the truth in 84 of 100 samples."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"g": rng.choice(["a", "b"], 400), "x": rng.normal(size=400)})
    data = sdc.read(frame, keys="g", numeric="x")
    part = sdc.protect.sample_records(data, share=0.25, rng=1)
    sets = [sdc.protect.synthesize(part, rng=seed) for seed in range(5)]
    for measure, how in ((sdc.utility.indicators, "mean"), (sdc.utility.regression, "x ~ g")):
        option = {"indicators" if how == "mean" else "formula": how}
        found = [measure(one, sets, **option).parts["variance_protected"][0] for one in (data, part)]
        assert found[0] == found[1]
    notes = sdc.utility.indicators(data, sets, indicators="mean").notes
    assert "multiplied by 1.2." in notes[0]


def test_equal_weights_of_a_synthesis_do_not_hide_the_design_effect():
    rng = np.random.default_rng(1)
    weights = rng.choice([1.0, 9.0], 400)
    frame = pl.DataFrame({"g": rng.choice(["a", "b"], 400), "x": rng.normal(size=400), "w": weights})
    data = sdc.read(frame, keys="g", numeric="x", weight="w")
    sets = [sdc.protect.synthesize(data, weights="equal", rng=seed) for seed in range(5)]
    effect = 400 * (weights**2).sum() / weights.sum() ** 2
    notes = sdc.utility.indicators(data, sets, indicators="mean").notes
    assert f"multiplied by {effect + 0.2:.3g}." in notes[0]
