"""pram: the stored matrices, margins kept in expectation, missing stays, nothing invented."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from conftest import oracle_cases
from naive_pram import invariant
from sdckit.errors import ColumnError, OptionError
from sdckit.protect.pram import invariant_matrix, spread_evenly


def file(values, **more):
    return sdc.read(pl.DataFrame({"c": values, **more}), keys="c", weight="w" if "w" in more else None)


def counts(data, column="c"):
    return dict(data.frame.group_by(column).len().iter_rows())


@pytest.mark.parametrize("case", oracle_cases("05", lambda c: c["id"].startswith("pram_")))
def test_stored_matrices(oracles, case):
    p, stay = np.array(case["inputs"]["p"]), np.array(case["inputs"]["pds"])
    alpha = case["params"]["alpha"]
    r = invariant_matrix(p, spread_evenly(stay))
    mixed = alpha * r + (1 - alpha) * np.eye(len(p))
    assert mixed == pytest.approx(np.array(case["expected"]["Rs"]), abs=1e-13)
    assert p @ mixed == pytest.approx(p, abs=1e-15)


@pytest.mark.parametrize("case", oracle_cases("05", lambda c: c["id"].startswith("pram_")))
def test_the_whole_step_draws_from_the_stored_matrix(oracles, case):
    variable, levels = case["inputs"]["variable"], case["inputs"]["levels"]
    data = oracles.data({"name": case["dataset"]}, keys=variable)
    stay = dict(zip(levels, case["inputs"]["pds"], strict=True))
    done = sdc.protect.pram(data, variables=variable, stay=stay, share=case["params"]["alpha"], rng=1)
    logged = done.log[-1].figures["matrix"][variable]
    ours = [[logged[i][j] for j in levels] for i in levels]
    assert np.array(ours) == pytest.approx(np.array(case["expected"]["Rs"]), abs=1e-6)
    assert done.frame[variable].null_count() == case["expected"]["n_missing_after"]


@settings(max_examples=60, deadline=None)
@given(k=st.integers(1, 5), seed=st.integers(0, 999), zeros=st.booleans())
def test_the_matrix_is_a_transition_matrix_that_keeps_the_margins(k, seed, zeros):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k))
    if zeros and k > 2:
        p[0], p[1] = 0.0, p[0] + p[1]
    first = rng.dirichlet(np.ones(k), size=k)
    r = invariant_matrix(p, first)
    assert r == pytest.approx(np.array(invariant(p, first)))
    assert (r >= 0).all()
    assert r[p > 0].sum(axis=1) == pytest.approx(np.ones((p > 0).sum()))
    assert p @ r == pytest.approx(p)
    assert not r[p > 0][:, p == 0].any()


@pytest.mark.parametrize("stay", [0.5, {"a": 0.9, "b": 0.3, "c": 0.6}])
def test_margins_stay_in_expectation(stay):
    # The mean of 50 draws is within 4.5 standard errors: wrong about once in 8,000 runs by chance. What can
    # be told is a share of records: 50 draws of 1,600 tell as much as 400 of 200.
    values = ["a"] * 960 + ["b"] * 480 + ["c"] * 160
    data, runs = file(values), 50
    rng = np.random.default_rng(7)
    drawn = [counts(sdc.protect.pram(data, variables="c", stay=stay, rng=rng)) for _ in range(runs)]
    for category, before in counts(data).items():
        found = np.array([d.get(category, 0) for d in drawn])
        assert abs(found.mean() - before) < 4.5 * found.std(ddof=1) / np.sqrt(runs)
        assert found.std() > 1, "nothing was drawn"


def test_weighted_margins_stay_in_expectation_where_asked():
    values = ["a"] * 800 + ["b"] * 800
    data, runs = file(values, w=[9.0] * 800 + [1.0] * 800), 50
    rng = np.random.default_rng(3)
    mass = {True: [], False: []}
    for weighted, found in mass.items():
        for _ in range(runs):
            done = sdc.protect.pram(data, variables="c", stay=0.5, weighted=weighted, rng=rng)
            found.append(done.weights()[(done.frame["c"] == "a").to_numpy()].sum())
    error = np.std(mass[True]) / np.sqrt(runs)
    assert abs(np.mean(mass[True]) - 7200) < 4.5 * error
    assert abs(np.mean(mass[False]) - 7200) > 20 * error, "unweighted PRAM would do as well"


def test_within_strata_every_stratum_keeps_its_categories_and_margins():
    values = ["a", "b"] * 800 + ["c", "d"] * 800 + ["e"] * 5
    data = file(values, s=["x"] * 1600 + ["y"] * 1600 + ["z"] * 5)
    rng = np.random.default_rng(1)
    done = [sdc.protect.pram(data, variables="c", stay=0.6, by="s", rng=rng).frame for _ in range(25)]
    for frame in done:
        assert set(frame.filter(pl.col("s") == "x")["c"]) <= {"a", "b"}
        assert set(frame.filter(pl.col("s") == "y")["c"]) <= {"c", "d"}
        assert set(frame.filter(pl.col("s") == "z")["c"]) == {"e"}
    found = np.array([(f["c"] == "a").sum() for f in done])
    assert abs(found.mean() - 800) < 4.5 * found.std(ddof=1) / 5


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.none() | st.sampled_from(["a", "b", "c"]), min_size=1, max_size=30).filter(any),
    stay=st.floats(0, 1),
    invariant=st.booleans(),
    seed=st.integers(0, 99),
)
def test_missing_stays_missing_and_no_category_is_invented(values, stay, invariant, seed):
    data = file(pl.Series(values, dtype=pl.String))
    done = sdc.protect.pram(data, variables="c", stay=stay, invariant=invariant, rng=seed)
    again = sdc.protect.pram(data, variables="c", stay=stay, invariant=invariant, rng=seed)
    out = done.frame["c"].to_list()
    assert [v is None for v in out] == [v is None for v in values]
    assert set(out) <= set(values)
    assert done.frame.equals(again.frame)
    if stay == 1:
        assert out == values


def test_a_given_matrix_is_used_as_it_is():
    data = file(["a", "b", "c"] * 1000)
    swap = {"a": {"b": 1.0}, "b": {"a": 1}}
    assert (
        sdc.protect.pram(data, variables="c", matrix=swap, rng=1).frame["c"].to_list()
        == ["b", "a", "c"] * 1000
    )
    half = sdc.protect.pram(data, variables="c", matrix=swap, share=0.5, rng=1)
    assert half.log[-1].figures["share_changed"]["c"] == pytest.approx(1 / 3, abs=0.05)
    kept = sdc.protect.pram(data, variables="c", matrix={"a": {"a": 0.5, "b": 0.5}}, invariant=True, rng=1)
    assert kept.log[-1].figures["matrix"]["c"]["b"]["a"] > 0, "what a gives to b, b must give back"


@pytest.mark.parametrize("kind", [pl.Int8, pl.Float64, pl.Enum(["3", "1", "2"]), pl.Categorical, pl.Boolean])
def test_types_and_labels_stay(kind):
    values = pl.Series(["1", "2", None, "3"] * 20)
    if kind == pl.Boolean:
        values = values == "1"
    elif kind in (pl.Int8, pl.Float64):
        values = values.cast(pl.Int8).cast(kind)
    labels = sdc.Labels({}, {"c": {1: "one", 2: "two"}}) if kind in (pl.Int8, pl.Float64) else sdc.Labels()
    data = sdc.Microdata.of(pl.DataFrame({"c": values.cast(kind)}), labels=labels, keys="c")
    stay = {"one": 0.5, "2": 0.5, "3": 0.5} if labels.values else 0.5
    done = sdc.protect.pram(data, variables="c", stay=stay, rng=1)
    assert done.frame.schema == data.frame.schema
    assert done.labels == labels
    assert done.log[-1].figures["share_changed"]["c"] > 0.2


def test_several_variables_are_drawn_independently():
    frame = pl.DataFrame({"a": ["x", "y"] * 2000, "b": ["x", "y"] * 2000})
    data = sdc.read(frame, keys=["a", "b"])
    done = sdc.protect.pram(data, variables=["a", "b"], stay=0.7, rng=1).frame
    a, b = (done["a"] != frame["a"]).to_numpy(), (done["b"] != frame["b"]).to_numpy()
    assert abs(np.corrcoef(a, b)[0, 1]) < 4.5 / np.sqrt(4000)


def test_a_scenario_replays_to_the_byte(survey):
    step = {"pram": {"variables": ["literacy", "toilet"], "stay": 0.7, "by": ["urban"]}}
    first, second = (sdc.Scenario("p", [step]).protect(survey, seed=4) for _ in range(2))
    assert first.frame.equals(second.frame)
    assert not first.frame.equals(sdc.Scenario("p", [step]).protect(survey, seed=5).frame)


def test_mistakes():
    data = file(["a", "b", "b"])
    with pytest.raises(OptionError, match=r"'c' has no category 'bb'. Allowed: a, b. Did you mean 'b'"):
        sdc.protect.pram(data, variables="c", stay={"a": 0.5, "bb": 0.5})
    with pytest.raises(OptionError, match=r"stay needs a probability for every category of 'c'. Add 'b'"):
        sdc.protect.pram(data, variables="c", stay={"a": 0.5})
    with pytest.raises(OptionError, match=r"probabilities of 'a' must add up to 1. Given: 0.9"):
        sdc.protect.pram(data, variables="c", matrix={"a": {"a": 0.5, "b": 0.4}})
    with pytest.raises(OptionError, match=r"'c' has no category 'new'"):
        sdc.protect.pram(data, variables="c", matrix={"a": {"new": 1}})
    with pytest.raises(OptionError, match=r"takes either 'stay' or 'matrix'"):
        sdc.protect.pram(data, variables="c", stay=0.5, matrix={"a": {"b": 1}})
    with pytest.raises(OptionError, match=r"Option 'stay.*' of pram is not valid"):
        sdc.protect.pram(data, variables="c", stay=1.2)
    with pytest.raises(OptionError, match=r"for one variable"):
        sdc.protect.pram(file(["a"], d=["a"]), variables=["c", "d"], stay={"a": 1})
    many = sdc.read(pl.DataFrame({"x": np.arange(2000)}))
    with pytest.raises(ColumnError, match=r"'x' has too many values. Given: 2000. Allowed: 1,000 at most"):
        sdc.protect.pram(many, variables="x")
