"""Propensity scores: R's results, what must not matter, and what must."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from conftest import oracle_cases
from sdckit.utility.propensity import propensity

MODELS = ["logistic", "interactions", "cart"]


def people(n=200, seed=1, **change) -> sdc.Microdata:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(["a", "b", "c", None], n).tolist(),
            "age": rng.integers(18, 90, n),
            "income": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(9, 1, n)),
            "w": rng.integers(1, 4, n).astype(float),
        }
    ).with_columns(**change)
    return sdc.read(frame, keys=["sex", "region"], numeric=["age", "income"])


@pytest.mark.parametrize(
    "case", oracle_cases("06", lambda c: c["id"].startswith("ps_") and "interactions" not in c["id"])
)
def test_stored_results_of_r(case, oracles):
    files, inputs = case["dataset"], case["inputs"]
    roles = {"numeric": inputs.get("variables") or inputs["numeric"], "keys": inputs.get("categorical", ())}
    x, y = (sdc.read(oracles.path(f), **roles) for f in (files["x_csv"] or files["name"], files["y_csv"]))
    result, expected = propensity(x, y), case["expected"]
    assert result.value == pytest.approx(expected["UP"], rel=1e-6)
    assert result.figures["coefficients"] == expected["n_params"]
    assert result.figures["pmse_ratio"] == pytest.approx(expected["pMSE_ratio"], rel=1e-6)
    null = expected["pMSE_null_expectation"]
    spread = null * math.sqrt(2 / (expected["n_params"] - 1))
    assert result.figures["standardised"] == pytest.approx((expected["UP"] - null) / spread, rel=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_the_same_file_twice_gives_nothing(model):
    result = propensity(people(), people(), model=model)
    assert result.value == pytest.approx(0, abs=1e-20)
    assert result.figures["auc"] == pytest.approx(0.5)


@pytest.mark.parametrize("model", MODELS)
def test_files_with_nothing_in_common_give_the_maximum(model):
    data = people()
    other = data.with_frame(data.frame.with_columns(sex=pl.lit("x"), age=pl.col("age") + 1000))
    result = propensity(data, other, model=model)
    assert result.value == pytest.approx(0.25, abs=1e-6)
    assert result.figures["auc"] == pytest.approx(1)
    smaller = other.with_frame(other.frame.head(50))  # c = 1/5
    assert propensity(data, smaller, model=model).value == pytest.approx(0.16, abs=1e-6)


def test_separation_is_noted():
    data = people()
    other = data.with_frame(data.frame.with_columns(age=pl.col("age") + 1000))
    assert "can only be of one file" in " ".join(propensity(data, other).notes)


def test_one_variable_by_hand():
    data = sdc.read(pl.DataFrame({"a": ["x", "x", "x", "y"]}), keys="a")
    other = data.with_frame(pl.DataFrame({"a": ["x", "y"]}))  # c = 1/3; p̂ = ¼ for x (4), ½ for y (2)
    result = propensity(data, other)
    assert result.value == pytest.approx((4 * (1 / 4 - 1 / 3) ** 2 + 2 * (1 / 2 - 1 / 3) ** 2) / 6)
    assert result.figures["pmse_ratio"] == pytest.approx(result.value / ((2 / 3) ** 2 * (1 / 3) / 6))
    assert result.figures["auc"] == pytest.approx((4 * 0 + 3 * 0.5 + 3 * 1 + 1 * 0.5) / 8)
    assert result.parts.rows() == [("a", "categorical", pytest.approx(result.value))]


@pytest.mark.parametrize("model", ["logistic", "interactions"])
def test_swapping_the_files_changes_nothing(model):
    x, y = people(seed=1), people(seed=2)
    assert propensity(y, x, model=model).value == pytest.approx(propensity(x, y, model=model).value, rel=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_every_record_twice_changes_nothing(model):
    x, y = people(seed=1), people(seed=2)
    xx, yy = (d.with_frame(pl.concat([d.frame, d.frame])) for d in (x, y))
    assert propensity(xx, yy, model=model).value == pytest.approx(
        propensity(x, y, model=model).value, rel=1e-9
    )


@pytest.mark.parametrize("model", MODELS)
def test_whole_weights_are_repeated_records(model):
    frames = [people(seed=s).frame.sort("w", descending=True).head(150) for s in (1, 2)]
    frames = [f.with_columns(w=pl.Series([2.0] * 60 + [1.0] * 90)) for f in frames]  # the same totals
    roles = {"keys": ["sex", "region"], "numeric": ["age", "income"]}
    weighted = [sdc.read(f, weight="w", **roles) for f in frames]
    repeated = [
        sdc.read(f.select(pl.all().repeat_by(pl.col("w").cast(pl.Int64)).explode()), **roles) for f in frames
    ]
    found = propensity(*weighted, model=model)
    assert found.value == pytest.approx(propensity(*repeated, model=model).value, rel=1e-9)
    assert found.value != pytest.approx(
        propensity(*[sdc.read(f, **roles) for f in frames], model=model).value
    )


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(MODELS))
def test_row_order_and_units_do_not_matter(seed, model):
    rng = np.random.default_rng(seed)
    x, y = people(30, seed), people(40, seed + 1)
    options = {"model": model, **({"permutations": 2} if model == "cart" else {})}
    expected = propensity(x, y, **options)
    moved = [
        d.with_frame(d.frame[rng.permutation(d.height).tolist()].with_columns(pl.col("income") * 100 + 7))
        for d in (x, y)
    ]
    found = propensity(*moved, **options)
    assert found.value == pytest.approx(expected.value, rel=1e-6, abs=1e-12)
    c = 40 / 70
    assert 0 <= found.value <= c * (1 - c) + 1e-12


def test_a_change_only_the_interaction_sees():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 400)
    data = sdc.read(pl.DataFrame({"a": a, "b": a}), keys=["a", "b"])
    other = data.with_frame(pl.DataFrame({"a": a, "b": 1 - a}))
    values = {m: propensity(data, other, model=m).value for m in MODELS}
    assert values["logistic"] < 0.01
    assert values["interactions"] == pytest.approx(0.25, abs=1e-6)


def test_interactions_of_two_keys_give_the_shares_of_the_cells():
    rng = np.random.default_rng(7)
    x, y = (pl.DataFrame({"a": rng.integers(0, 3, 400), "b": rng.integers(0, 4, 400)}) for _ in range(2))
    cells = (
        pl.concat([x.with_columns(t=0), y.with_columns(t=1)])
        .group_by("a", "b")
        .agg(pl.col("t").mean(), pl.len())
    )
    data = sdc.read(x, keys=["a", "b"])
    found = propensity(data, data.with_frame(y), model="interactions")
    assert found.figures["coefficients"] == 12
    assert found.value == pytest.approx(((cells["t"] - 0.5) ** 2 * cells["len"]).sum() / 800)


def test_the_yardsticks_are_near_1_for_two_samples():
    ratios = {m: [] for m in ("logistic", "cart")}
    for seed in range(0, 40, 2):
        for m, found in ratios.items():
            found.append(propensity(people(150, seed), people(150, seed + 1), model=m).figures["pmse_ratio"])
    assert np.mean(ratios["cart"]) == pytest.approx(1, abs=0.15)
    assert np.mean(ratios["logistic"]) == pytest.approx(2, abs=0.5)  # 1/(1−c) for independent samples


def test_a_tree_sees_relations_that_are_lost():
    """Every column as it was, but shuffled by itself: nothing shows in any variable alone."""
    data = people(400, 1)
    alone = data.with_frame(
        data.frame.with_columns(data.frame["income"].shuffle(seed=1), data.frame["age"].shuffle(seed=2))
    )
    tied = data.with_frame(data.frame.with_columns(age=pl.col("income").rank("ordinal")))
    assert propensity(data, alone).value == pytest.approx(0, abs=1e-9)  # main effects are blind to it
    lost = propensity(
        tied, tied.with_frame(tied.frame.with_columns(tied.frame["age"].shuffle(seed=3))), model="cart"
    )
    assert lost.value > 0.05
    assert lost.figures["pmse_ratio"] > 2
    assert propensity(data, data, model="cart").value == 0


def test_a_perfect_synthesis_is_not_0_and_its_ratio_about_a_half():
    """Records drawn again from the same file: 1 − c of what two samples give."""
    data = people(600, 3)
    found = [
        propensity(data, data.with_frame(data.frame.sample(600, with_replacement=True, seed=s)), model="cart")
        for s in range(4)
    ]
    assert min(r.value for r in found) > 0
    assert np.mean([r.figures["pmse_ratio"] for r in found]) == pytest.approx(0.5, abs=0.15)


def test_missing_values_show():
    data = people()
    lost = data.with_frame(data.frame.with_columns(income=pl.when(pl.col("age") > 50).then("income")))
    assert propensity(data, lost, variables="income").value > 0.01
    gone = data.with_frame(data.frame.with_columns(region=pl.lit(None, dtype=pl.String)))
    assert propensity(data, gone, variables="region").value > 0.1


def test_recoded_variables_are_left_out_and_named():
    data = people()
    recoded = data.frame.with_columns(age=pl.col("age").cast(pl.String))
    other = sdc.read(recoded, keys=["sex", "region"], numeric="income")
    result = propensity(data, other)
    assert result.value == pytest.approx(0, abs=1e-20)
    assert "age is coded differently in the two files and left out." in result.notes
    assert math.isnan(propensity(data, other, variables="age").value)


def test_many_values_are_numeric_or_joined():
    n = 1000
    frame = pl.DataFrame({"zip": range(n), "street": [f"s{i}" for i in range(n)]})
    data = sdc.read(frame, keys=["zip", "street"])
    result = propensity(data, data)
    assert result.parts["kind"].to_list() == ["numeric", "categorical"]
    assert result.figures["coefficients"] == 201
    assert any("taken as numeric" in note for note in result.notes)
    assert any("199 most frequent" in note for note in result.notes)


def test_a_key_in_years_is_a_number_to_a_tree_and_categories_to_a_regression():
    data = sdc.read(pl.DataFrame({"age": np.random.default_rng(1).integers(0, 90, 2000)}), keys="age")
    fives = data.with_frame(data.frame.with_columns(pl.col("age") // 5 * 5 + 2))
    tree, line = (propensity(data, fives, model=m) for m in ("cart", "logistic"))
    assert (tree.parts["kind"][0], line.parts["kind"][0]) == ("numeric", "categorical")
    assert min(tree.figures["pmse_ratio"], line.figures["pmse_ratio"]) > 10
    for labelled, kind in ((1, "numeric"), (90, "categorical")):  # codes are most of their values labelled
        labels = sdc.Labels({}, {"age": {a: f"code {a}" for a in range(labelled)}})
        coded = sdc.Microdata.of(data.frame, labels=labels, keys="age")
        assert propensity(coded, fives, model="cart").parts["kind"][0] == kind


def test_too_many_coefficients_are_refused_with_a_way_out():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({c: rng.integers(0, 90, 500) for c in "abc"})
    data = sdc.read(frame, keys=list("abc"))
    with pytest.raises(sdc.SdcError, match=r"too many coefficients.*fewer variables.*cart"):
        propensity(data, data, model="interactions")


def test_scores_are_shares_of_each_file():
    scores = propensity(people(seed=1), people(300, seed=2)).tables["scores"]
    assert scores.select("original", "protected").sum().row(0) == pytest.approx((1, 1))
    assert scores["from"].is_sorted()


def test_weights_of_one_file_may_add_up_to_anything():
    x, y = (sdc.read(people(seed=s).frame, keys="sex", numeric="age", weight="w") for s in (1, 2))
    scaled = y.with_frame(y.frame.with_columns(pl.col("w") * 50))
    assert propensity(x, scaled).value == pytest.approx(propensity(x, y).value, rel=1e-9)


def test_with_weights_the_yardstick_counts_effective_records():
    frames = [people(seed=s).frame for s in (1, 2)]
    x, y = (sdc.read(f, keys="sex", numeric="age", weight="w") for f in frames)
    found = propensity(x, y)
    w = np.concatenate([f["w"].to_numpy() / f["w"].sum() for f in frames])  # files of the same length
    effective = w.sum() ** 2 / (w**2).sum()
    assert effective < 390
    assert found.figures["pmse_ratio"] == pytest.approx(found.value / (2 * 0.125 / effective))


def test_an_infinite_number_outside_the_numeric_role_is_refused():
    data = sdc.read(pl.DataFrame({"v": [1.0, math.inf]}))
    with pytest.raises(sdc.SdcError, match="infinite"):
        propensity(data, data)
