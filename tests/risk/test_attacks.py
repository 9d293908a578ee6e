"""Singling out, linkability and inference: copies are found, independent draws are not."""

import math

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import OptionError
from sdckit.risk._attacks import Attacked

MEASURES = ("singling_out", "linkability", "inference_attack")


def population(n: int, seed: int) -> sdc.Microdata:
    """People whose numbers are fine and whose secret depends a little on the rest."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    income = np.round(np.exp(rng.normal(7 + age / 100, 0.5, n)), 1)
    ill = np.where(rng.random(n) < 0.3, "yes", np.where(age > 60, "some", "no"))
    frame = pl.DataFrame(
        {
            "region": rng.choice(list("abcde"), n),
            "age": age,
            "income": income,
            "rent": np.round(income * rng.uniform(0.1, 0.6, n), 1),
            "ill": ill,
        }
    )
    return sdc.read(frame, keys=["region"], numeric=["age", "income", "rent"], sensitive="ill")


@pytest.fixture(scope="module")
def files() -> tuple[sdc.Microdata, sdc.Microdata, sdc.Microdata]:
    return population(400, 1), population(400, 2), population(400, 3)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_copy_is_dangerous(measure: str, files: tuple[sdc.Microdata, ...]) -> None:
    original, holdout, _ = files
    result = getattr(sdc.risk, measure)(original, original, holdout=holdout)
    low = result.figures.get("low", result.figures.get("multivariate_low"))
    assert result.value > 0.9 if measure != "singling_out" else result.value == 1
    assert low > 0.8


@pytest.mark.parametrize("measure", MEASURES)
def test_an_independent_draw_is_not(measure: str, files: tuple[sdc.Microdata, ...]) -> None:
    original, holdout, drawn = files
    result = getattr(sdc.risk, measure)(original, drawn, holdout=holdout)
    kinds = ("univariate_", "multivariate_") if measure == "singling_out" else ("",)
    for kind in kinds:
        assert result.figures[f"{kind}low"] < 0 < result.figures[f"{kind}high"]
    assert result.value < 0.15


@pytest.mark.parametrize("measure", MEASURES)
def test_half_copied_is_in_between(measure: str, files: tuple[sdc.Microdata, ...]) -> None:
    original, holdout, drawn = files
    half = original.with_frame(pl.concat([original.frame[:200], drawn.frame[:200]]))
    found = getattr(sdc.risk, measure)(original, half, holdout=holdout).value
    assert 0.3 < found < 0.75


@pytest.mark.parametrize("measure", MEASURES)
def test_row_order_does_not_matter(measure: str, files: tuple[sdc.Microdata, ...]) -> None:
    original, holdout, drawn = files
    turned = [f.with_frame(f.frame.reverse()) for f in files]
    one = getattr(sdc.risk, measure)(original, drawn, holdout=holdout)
    two = getattr(sdc.risk, measure)(turned[0], turned[2], holdout=turned[1])
    assert one.figures == pytest.approx(two.figures)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_original_is_no_control(measure: str, files: tuple[sdc.Microdata, ...]) -> None:
    original, _, drawn = files
    result = getattr(sdc.risk, measure)(original, drawn, holdout=original)
    assert math.isnan(result.value)
    assert any("must be other people" in note for note in result.notes)


# risks of Anonymeter 1.1.0 (1,000 people each; 1,000 attacks, for singling out 300) on files of this page
ANONYMETER = {
    "copy": {"univariate": 0.993, "multivariate": 0.992, "linkability": 0.996, "inference_attack": 0.996},
    "drawn": {"univariate": 0.0, "multivariate": 0.108, "linkability": 0.0, "inference_attack": 0.032},
    "half": {"univariate": 0.416, "multivariate": 0.348, "linkability": 0.496, "inference_attack": 0.528},
    "fuzzy": {"univariate": 0.0, "multivariate": 0.203, "linkability": 0.191, "inference_attack": 0.996},
}


@pytest.mark.parametrize("kind", [*ANONYMETER])
def test_as_anonymeter_within_the_errors_of_both(kind: str) -> None:
    original, holdout, drawn = (population(1000, seed) for seed in (1, 2, 3))
    frames = {
        "copy": original.frame,
        "drawn": drawn.frame,
        "half": pl.concat([original.frame[:500], drawn.frame[:500]]),
        "fuzzy": original.frame.with_columns((pl.col("income") * 1.01).round(1), pl.col("rent").round(0)),
    }
    synthetic, expected = original.with_frame(frames[kind]), ANONYMETER[kind]
    sources = {"first": ["region", "income"], "second": ["age", "rent"]}
    linked = sdc.risk.linkability(original, synthetic, holdout=holdout, **sources)
    known = ["region", "age", "income", "rent"]
    inferred = sdc.risk.inference_attack(original, synthetic, holdout=holdout, known=known)
    assert linked.value == pytest.approx(expected["linkability"], abs=0.01)  # it shrinks shares to ½ a little
    assert inferred.value == pytest.approx(expected["inference_attack"], abs=0.03)
    single = sdc.risk.singling_out(original, synthetic, holdout=holdout).figures
    for way in ("univariate", "multivariate"):  # other descriptions, drawn at random
        risk = (single[f"{way}_attack"] - single[f"{way}_control"]) / (1 - single[f"{way}_control"])
        assert max(risk, 0.0) == pytest.approx(expected[way], abs=0.1)


def test_risk_and_interval_by_hand() -> None:
    """60 of 100 against 20 of 100: (0.6 − 0.2)/0.8 = 0.5; Wilson's ends are 0.502, 0.691 and 0.133, 0.289."""
    found = Attacked(0.6, 100, 0.2, 100)
    assert found.risk == pytest.approx(0.5)
    low, high = found.ends()
    assert low == pytest.approx(
        0.5 - math.hypot((0.6 - 0.50200) / 0.8, (0.28882 - 0.2) * 0.4 / 0.64), abs=1e-4
    )
    assert high == pytest.approx(
        0.5 + math.hypot((0.69060 - 0.6) / 0.8, (0.2 - 0.13334) * 0.4 / 0.64), abs=1e-4
    )
    assert math.isnan(Attacked(1.0, 10, 1.0, 10).risk)
    assert Attacked(0.2, 10, 0.0, 10, stretch=4.0).risk == pytest.approx(0.8)


def test_interval_covers_nothing_in_most_independent_draws() -> None:
    hits = 0
    for seed in range(20):
        original, holdout, drawn = (population(150, 100 + 3 * seed + i) for i in range(3))
        result = sdc.risk.inference_attack(original, drawn, holdout=holdout)
        hits += result.figures["low"] <= 0 <= result.figures["high"]
    assert hits >= 17


def test_singling_out_by_hand() -> None:
    """Five guesses: of the synthetic x, 1 and 9 occur once and are the ends; of g, b occurs once."""
    read = lambda x, g: sdc.read(pl.DataFrame({"x": x, "g": g}), numeric="x", keys="g")  # noqa: E731
    original = read([1, 4, 4, 8, 12], list("aaabb"))
    holdout = read([0, 2, 3, 9, 30], list("bcccc"))
    synthetic = read([1, 5, 5, 5, 9], list("aaaab"))
    figures = sdc.risk.singling_out(original, synthetic, holdout=holdout).figures
    assert figures["univariate_attacks"] == 5
    # x = 1 yes, x = 9 no, x ≤ 1 yes, x ≥ 9 yes (12), g = b no
    assert figures["univariate_attack"] == pytest.approx(3 / 5)
    # x = 1 no, x = 9 yes, x ≤ 1 yes (0), x ≥ 9 no (two), g = b yes
    assert figures["univariate_control"] == pytest.approx(3 / 5)


def test_a_smaller_holdout_is_allowed_for(files: tuple[sdc.Microdata, ...]) -> None:
    original, holdout, _ = files
    small = holdout.with_frame(holdout.frame[:100])
    result = sdc.risk.singling_out(original, original, holdout=small)
    assert result.value > 0.8
    assert result.figures["univariate_attack"] < 0.4  # a quarter of the original is attacked


def test_linkability_by_hand() -> None:
    """Ties at their expectation: one of two nearest records on each side, both the same two: ½."""
    original = sdc.read(pl.DataFrame({"a": ["x", "y"], "b": ["x", "y"]}))
    holdout = pl.DataFrame({"a": ["x", "x"], "b": ["y", "y"]})
    synthetic = original.with_frame(pl.DataFrame({"a": ["x", "x", "y"], "b": ["x", "x", "y"]}))
    figures = sdc.risk.linkability(original, synthetic, holdout=holdout, first="a", second="b").figures
    assert figures["attack"] == pytest.approx((1 / 2 + 1) / 2)  # 2/(2·2) for x, 1 for y
    assert figures["control"] == 0
    assert figures["attacks"] == 2


def test_inference_by_hand() -> None:
    data = sdc.read(pl.DataFrame({"k": [1, 2], "s": [100.0, 200.0]}), numeric=["k", "s"], sensitive="s")
    synthetic = data.with_frame(pl.DataFrame({"k": [1, 1, 2], "s": [104.0, 106.0, 300.0]}))
    others = pl.DataFrame({"k": [1, 2], "s": [105.0, 290.0]})
    result = sdc.risk.inference_attack(data, synthetic, holdout=others, within=0.05)
    assert result.figures["attack"] == pytest.approx(
        0.25
    )  # 104 is within 5 % of 100, 106 not; 300 is not 200
    assert result.figures["control"] == pytest.approx(1.0)
    assert math.isnan(result.value)
    assert result.figures["baseline"] == pytest.approx((1 / 3 + 0) / 2)


def test_several_sets_are_averaged(files: tuple[sdc.Microdata, ...]) -> None:
    original, holdout, drawn = files
    for measure in MEASURES:
        attack = "univariate_attack" if measure == "singling_out" else "attack"
        function = getattr(sdc.risk, measure)
        one, two = (function(original, x, holdout=holdout).figures[attack] for x in (original, drawn))
        both = function(original, [original, drawn], holdout=holdout).figures[attack]
        assert both == pytest.approx((one + two) / 2)


def test_refusals(files: tuple[sdc.Microdata, ...]) -> None:
    original, holdout, drawn = files
    with pytest.raises(OptionError, match="both sources, or of none"):
        sdc.risk.linkability(original, drawn, holdout=holdout, first=["age"])
    with pytest.raises(OptionError, match="in both sources"):
        sdc.risk.linkability(original, drawn, holdout=holdout, first=["age"], second=["age"])
    with pytest.raises(sdc.errors.ColumnError, match="hold-out has no column"):
        sdc.risk.singling_out(original, drawn, holdout=holdout.frame.drop("age"))
