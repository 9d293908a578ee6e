"""Sampling in stages and strata with a single primary sampling unit."""

import math
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_estimates as naive
import sdckit as sdc
from sdckit.estimate.sampling import SamplingOptions, design_of
from sdckit.estimate.stage import SinglePsu

# Three of ten villages; in each two or three of its households; y by hand below.
TWO_STAGES = pl.DataFrame(
    {
        "village": [1, 1, 2, 2, 2, 3, 3],
        "home": [1, 2, 1, 2, 3, 1, 2],
        "villages": [10] * 7,
        "homes": [4, 4, 6, 6, 6, 2, 2],
        "y": [3.0, 5.0, 1.0, 2.0, 6.0, 4.0, 10.0],
    }
).with_columns(w=pl.lit(10 / 3) * pl.col("homes") / pl.len().over("village"))
# Lehtonen & Pahkinen's Province'91 as on Lumley's page about strata with a single PSU, with R's results there
PROVINCE = pl.DataFrame(
    {
        "stratum": [2, 1, 1, 1, 1, 1, 1, 1],
        "commune": [1, 10, 4, 7, 32, 26, 18, 13],
        "w": [1.0, 1.004, 1.893, 2.173, 2.971, 4.762, 6.335, 13.730],
        "unemployed": [4123.0, 1623, 760, 767, 568, 331, 187, 129],
        "communes": [1, *[31] * 7],
    }
)


def villages(frame=TWO_STAGES):
    return sdc.read(frame, cluster="village", weight="w", numeric="y")


def variance(data, indicator="total", row=0, **options):
    return sdc.utility.indicators(data, data, indicators=indicator, **options).parts["variance_original"][row]


def test_a_total_in_two_stages_by_hand():
    """Village totals 4/2·8 = 16, 6/3·9 = 18, 2/2·14 = 14, so that s² = 4; s² within: 2, 7, 18.

    V = N²(1 − n/N)s²/n + N/n Σ M²(1 − m/M)s²/m (Särndal, Swensson & Wretman 1992, result 4.3.1):
    100·0.7·4/3 + 10/3·(16·0.5·2/2 + 36·0.5·7/3 + 0).
    """
    expected = 100 * 0.7 * 4 / 3 + 10 / 3 * (16 * 0.5 * 2 / 2 + 36 * 0.5 * 7 / 3)
    data = villages()
    assert variance(data, fpc=["villages", "homes"]) == pytest.approx(expected)
    assert variance(data, fpc=["villages", "homes"], units="home") == pytest.approx(expected)
    assert variance(data, fpc="villages") == pytest.approx(100 * 0.7 * 4 / 3)


def test_shares_and_numbers_say_the_same_at_every_stage():
    shares = TWO_STAGES.with_columns(villages=pl.lit(0.3), homes=pl.len().over("village") / pl.col("homes"))
    both = {"fpc": ["villages", "homes"]}
    assert variance(villages(shares), **both) == pytest.approx(variance(villages(), **both))


def test_one_column_means_complete_villages_and_that_is_said():
    notes = sdc.utility.indicators(villages(), villages(), indicators="mean", fpc="villages").notes
    assert any("observed completely" in note for note in notes)
    both = sdc.utility.indicators(villages(), villages(), indicators="mean", fpc=["villages", "homes"])
    assert not both.notes


def test_persons_of_a_household_are_one_unit():
    twice = pl.concat([TWO_STAGES, TWO_STAGES])
    options = {"fpc": ["villages", "homes"], "units": "home"}
    assert variance(villages(twice), **options) == pytest.approx(4 * variance(villages(), **options))


records = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.sampled_from([0.0, 1.0, -2.0, 5.0])
    ),
    min_size=1,
    max_size=25,
)


@given(
    records, st.sampled_from(["adjust", "average", "certainty", "remove"]), st.booleans(), st.integers(0, 99)
)
@settings(max_examples=120, deadline=None)
def test_stages_and_rules_are_those_of_the_plain_twin(rows, rule, in_domains, seed):
    h, c, s, u = (list(part) for part in zip(*rows, strict=True))
    rng = np.random.default_rng(seed)
    first = {a: float(rng.choice([0.2, 0.5, 1.0])) for a in set(h)}
    second = {(a, b): float(rng.choice([0.3, 0.6, 1.0])) for a, b in zip(h, c, strict=True)}
    frame = pl.DataFrame(
        {"h": h, "c": c, "s": s, "f": [first[a] for a in h], "g": [second[k] for k in zip(h, c, strict=True)]}
    )
    options = SamplingOptions(("f", "g"), ("s",), SinglePsu(rule), in_domains)
    inside = rng.random(len(h)) < 0.7
    found = design_of(sdc.read(frame, strata="h", cluster="c"), options)[0].variance(np.array(u), inside)
    expected = naive.staged_variance(u, h, [c, s], [first, second], rule, inside, in_domains)
    assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_a_covariance_has_the_variances_on_its_diagonal():
    design, _ = design_of(villages(), SamplingOptions(("villages", "homes")))
    scores = np.column_stack([TWO_STAGES["y"], TWO_STAGES["w"], TWO_STAGES["y"] - TWO_STAGES["w"]])
    found = design.covariance(scores)
    assert np.diag(found) == pytest.approx([design.variance(column) for column in scores.T])
    assert found[2, 2] == pytest.approx(found[0, 0] + found[1, 1] - 2 * found[0, 1])


def test_a_certain_unit_adds_nothing_as_on_lumleys_page():
    data = sdc.read(PROVINCE, strata="stratum", cluster="commune", weight="w", numeric="unemployed")
    parts = sdc.utility.indicators(
        data, data, indicators=["mean", "total"], fpc="communes", single_psu="fail"
    ).parts
    assert parts["estimate_original"].to_list() == pytest.approx([445.18, 15077], rel=5e-5)
    assert parts["variance_original"].sqrt().to_list() == pytest.approx([132.39, 458.53], rel=5e-5)


def test_the_rules_for_a_single_unit_by_hand():
    """Units 1 and 3 of one stratum add 2·(1 + 1) = 4; unit 5 is alone, and 2 from the mean of all units."""
    frame = pl.DataFrame({"h": [1, 1, 2], "y": [1.0, 3.0, 5.0]})
    data = sdc.read(frame, strata="h", numeric="y")
    by_rule = {"adjust": 4 + 4, "average": 4 * 2, "certainty": 4, "remove": 4}
    for rule, expected in by_rule.items():
        assert variance(data, single_psu=rule) == pytest.approx(expected), rule
    with pytest.raises(sdc.SdcError, match=r"1 stratum has one sampling unit.*single_psu"):
        variance(data, single_psu="fail")
    said = {rule: sdc.utility.indicators(data, data, single_psu=rule).notes for rule in by_rule}
    assert not said["certainty"]
    assert "adds nothing" in said["remove"][0]


def test_a_single_unit_of_a_domain_by_hand():
    """In stratum 1 the domain has the total 6 in one of two units: 2·(9 + 9) = 36 about the stratum's mean.

    Uncentred 2·(6 − 3.5)² + 2·(0 − 3.5)² = 37 about the mean of all units, 14/4 = 3.5. Stratum 2, with 3 and
    5, adds 2·(1 + 1) = 4, and twice that where stratum 1 has the average.
    """
    frame = pl.DataFrame({"h": [1, 1, 2, 2], "y": [6.0, 9.0, 3.0, 5.0], "d": ["a", "b", "a", "a"]})
    data = sdc.read(frame, strata="h", numeric="y")
    here = {"by": "d", "row": 1}
    assert variance(data, **here) == pytest.approx(36 + 4)
    assert variance(data, **here, single_psu_domains=True) == pytest.approx(37 + 4)
    assert variance(data, **here, single_psu_domains=True, single_psu="average") == pytest.approx(8)
    assert variance(data, **here, single_psu="average") == pytest.approx(36 + 4)


@pytest.mark.parametrize("options", [{}, {"single_psu": "average"}, {"variance": "rescaled"}])
def test_one_unit_in_all_has_no_variance(options):
    data = sdc.read(pl.DataFrame({"c": [1, 1], "y": [1.0, 2.0]}), cluster="c", numeric="y")
    result = sdc.utility.indicators(data, data, indicators="mean", **options)
    assert math.isnan(result.value)
    assert result.notes
    assert result.parts["variance_original"].is_null().all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fpc": ["villages", "homes", "homes"]}, "more stages than there are kinds"),
        ({"fpc": ["villages", "homes"], "variance": "jackknife"}, "for linearised variances"),
        ({"units": ["home"]}, "means nothing without 'fpc'"),
        ({"single_psu": "remove", "variance": "jackknife"}, "single_psu with variance: taylor"),
        ({"single_psu_domains": True, "single_psu": "remove"}, "single_psu_domains with single_psu"),
        ({"fpc": ["villages", "y"]}, "same throughout a unit of the stage before"),
    ],
)
def test_what_cannot_be_is_refused(options, words):
    with pytest.raises(sdc.SdcError, match=words):
        sdc.utility.indicators(villages(), villages(), indicators="mean", **options)


def test_populations_that_cannot_be_are_refused():
    few = TWO_STAGES.with_columns(homes=pl.when(pl.col("village") == 2).then(2).otherwise("homes"))
    mixed = TWO_STAGES.with_columns(homes=pl.when(pl.col("village") == 2).then(0.5).otherwise("homes"))
    for frame, words in ((few, "2 in the population, 3 drawn"), (mixed, "both shares and numbers")):
        with pytest.raises(sdc.SdcError, match=words):
            variance(villages(frame), fpc=["villages", "homes"])
    alone = sdc.read(TWO_STAGES, weight="w", numeric="y")
    with pytest.raises(sdc.SdcError, match="role 'cluster'"):
        variance(alone, fpc=["villages", "homes"])
    less = villages().with_frame(TWO_STAGES.drop("homes"))
    with pytest.raises(sdc.SdcError, match="The protected file has no column 'homes'"):
        sdc.utility.indicators(villages(), less, indicators="mean", fpc=["villages", "homes"])


def test_an_own_function_of_several_stages_leaves_the_finite_population_out():
    data = villages()

    def average(values, weights):
        return float(values @ weights / weights.sum())

    result = sdc.utility.indicators(data, data, indicators=average, fpc=["villages", "homes"], replicates=20)
    assert any("too large" in note for note in result.notes)
    free = sdc.utility.indicators(data, data, indicators=average, replicates=20)
    assert result.parts["variance_original"].to_list() == free.parts["variance_original"].to_list()


def test_a_regression_on_nothing_has_the_variance_of_the_mean():
    data = villages()
    for options in ({"fpc": ["villages", "homes"]}, {"fpc": "villages"}, {}):
        parts = sdc.utility.regression(data, data, formula="y ~ 1", **options).parts
        assert parts["variance_original"][0] == pytest.approx(variance(data, "mean", **options))
    with pytest.raises(sdc.SdcError, match="fpc with variance: auto, design"):
        sdc.utility.regression(data, data, formula="y ~ 1", variance="model", fpc="villages")


def test_the_variance_of_two_stages_is_unbiased_over_all_samples():
    """Two of three villages and two of the three homes in each: 27 samples, all equally likely."""
    population = {"a": [1.0, 4.0, 7.0], "b": [2.0, 2.0, 11.0], "c": [5.0, 6.0, 13.0]}
    totals, variances, first_alone = [], [], []
    for pair in combinations(population, 2):
        for chosen in product(*(list(combinations(population[v], 2)) for v in pair)):
            rows = [(v, y) for v, homes in zip(pair, chosen, strict=True) for y in homes]
            frame = pl.DataFrame(rows, schema=["village", "y"], orient="row")
            data = villages(frame.with_columns(w=pl.lit(9 / 4), villages=3, homes=3))
            result = sdc.utility.indicators(data, data, indicators="total", fpc=["villages", "homes"])
            totals.append(result.parts["estimate_original"][0])
            variances.append(result.parts["variance_original"][0])
            first_alone.append(variance(data, fpc="villages"))
    assert len(totals) == 27
    assert np.mean(totals) == pytest.approx(51)
    assert np.mean(variances) == pytest.approx(np.var(totals))
    assert np.mean(first_alone) < 0.9 * np.var(totals)


ISLAND = pl.DataFrame(
    {
        "h": [1, 1, 1, 1, 2, 2, 3, 3],
        "c": [1, 1, 2, 2, 3, 4, 5, 5],
        "region": ["a", "b", "a", "a", "a", "a", "isle", "isle"],
        "y": [6.0, 9.0, 3.0, 5.0, 7.0, 2.0, 4.0, 1.0],
        "w": [0.1, 0.3, 0.7, 0.2, 0.9, 1.1, 0.6, 0.7],
        "f": [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0],
    }
)


@pytest.mark.parametrize(
    "options",
    [{}, {"single_psu": "remove"}, {"single_psu_domains": True}, {"variance": "rescaled"},
     {"quantile_interval": "woodruff"}],
)  # fmt: skip
def test_a_domain_of_one_unit_has_no_interval_but_that_of_its_total(options):
    """The scores of a mean add up to 0 over the domain: what rounding leaves of it is no variance."""
    data = sdc.read(ISLAND, strata="h", cluster="c", weight="w", numeric="y")
    other = data.with_frame(ISLAND.with_columns(pl.col("y") + pl.col("c") / 10))
    asked = ["mean", "median", "gini", "poverty_rate"] if "variance" not in options else ["mean"]
    result = sdc.utility.indicators(data, other, indicators=[*asked, "total"], by="region", **options)
    alone = result.parts.filter(pl.col("domain").is_in(["b", "isle"]))
    totals = alone["indicator"] == "total"
    for name in ("variance_original", "variance_protected", "low_original", "overlap"):
        assert alone.filter(~totals)[name].is_null().all(), name
    assert alone.filter(totals)["variance_original"].is_not_null().all()
    assert set(alone.filter(~totals)["verdict"]) == {"no interval"}
    assert any("records of one sampling unit only" in note and "b, isle" in note for note in result.notes)
    elsewhere = result.parts.filter(pl.col("domain") == "a")
    assert elsewhere["variance_original"].is_not_null().all()


def test_a_unit_that_was_taken_with_certainty_has_a_variance_of_its_own():
    data = sdc.read(ISLAND, strata="h", cluster="c", weight="w", numeric="y")
    for options in ({"fpc": "f"}, {"single_psu": "certainty"}):
        parts = sdc.utility.indicators(data, data, indicators="mean", by="region", **options).parts
        assert parts.filter(domain="isle")["variance_original"].to_list() == [0.0], options
        assert parts.filter(domain="b")["variance_original"].to_list() == [None], options


def test_a_regression_on_the_records_of_one_unit_has_no_intervals():
    frame = ISLAND.with_columns(pl.when(pl.col("c") == 5).then("y").alias("y"))
    data = sdc.read(pl.concat([frame, frame.with_columns(pl.col("y") + 1)]), strata="h", cluster="c")
    result = sdc.utility.regression(data, data, formula="y ~ w")
    assert math.isnan(result.value)
    assert "No coefficient has an interval." in result.notes
