"""compare: points, front, best, failures, parallel runs."""

import json
import math

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.choose.parallel import _held
from sdckit.choose.quantity import Quantity
from sdckit.choose.risk_utility_map import Point, front, hypervolume
from sdckit.errors import ColumnError, OptionError, UnknownMethodError
from sdckit.methods import registry
from sdckit.methods.registry import protection, utility
from sdckit.methods.spec import Compares


@pytest.fixture(scope="module")
def small():
    return sdc.demo.survey(n=400, seed=2).with_roles(keys=["sex", "urban", "age"], numeric=["expenditure"])


SCENARIOS = {
    "nothing": [],
    "age5": [{"recode": {"variable": "age", "width": 5}}, {"microaggregate": {"k": 3}}],
    "age20": [{"recode": {"variable": "age", "width": 20}}, {"microaggregate": {"k": 10}}],
    "wasteful": [{"recode": {"variable": "age", "width": 20}}, {"microaggregate": {"k": 60}}],
}


def test_front_and_best(small):
    done = sdc.compare(small, SCENARIOS, max_risk=0.01)
    points = {row["scenario"]: row for row in done.points.to_dicts()}
    assert points["nothing"]["loss"] == 0
    assert done.front["scenario"].to_list() == ["age20", "age5", "nothing"]
    ceiling = points["age5"]["risk"]
    best = sdc.compare(small, SCENARIOS, max_risk=ceiling).best
    assert best.name == "age5"
    assert "age5 loses least" in sdc.compare(small, SCENARIOS, max_risk=ceiling).reason
    assert done.original.risk == pytest.approx(points["nothing"]["risk"])


def test_no_scenario_is_acceptable(small):
    done = sdc.compare(small, {"nothing": []}, max_risk=0)
    assert done.best is None
    assert "No scenario is acceptable" in done.reason
    with pytest.raises(OptionError, match=r"no acceptable scenario"):
        done.protect()


def test_nothing_could_be_measured(small):
    done = sdc.compare(small, {"broken": [{"microaggregate": {"k": 401}}]}, max_risk=0)
    assert done.reason == "No scenario could be measured."


def test_no_file_is_held_afterwards(small):
    sdc.compare(small, SCENARIOS)
    assert not _held

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sdc.compare(small, SCENARIOS, progress=stop)
    assert not _held


def test_parallel_equals_serial(small):
    serial, parallel = (sdc.compare(small, SCENARIOS, jobs=j).points.drop("seconds") for j in (1, 2))
    assert serial.equals(parallel)


def test_a_failing_scenario_is_reported_and_the_rest_kept(small):
    plan = {**SCENARIOS, "broken": [{"microaggregate": {"k": 399}}, {"microaggregate": {"k": 401}}]}
    done = sdc.compare(small, plan)
    row = done.points.filter(scenario="broken").row(0, named=True)
    assert "k is larger than the number of records" in row["error"]
    assert math.isnan(row["risk"])
    assert done.best is not None
    assert not row["on_front"]


def test_several_measures_are_normalised_and_weighted(small):
    done = sdc.compare(small, SCENARIOS, utility={"il1s": 1, "missing_values": 3})
    row = done.points.filter(scenario="age5").row(0, named=True)
    il1s = row["loss_il1s"]
    assert row["loss"] == pytest.approx(0.25 * il1s / (1 + il1s) + 0.75 * row["loss_missing_values"])
    assert Quantity.named("k_anonymity").normalised(0.25) == 0.25
    assert Quantity.named("il1s").normalised(math.inf) == 1


LOSING = {
    "drop": [{"drop": {"variables": ["expenditure"]}}],
    "recode": [{"recode": {"variable": "expenditure", "breaks": [500.0, 1000.0]}}],
    "micro": [{"microaggregate": {"k": 3}}],
}


@pytest.fixture(scope="module")
def two(small):
    return small.with_roles(numeric=["expenditure", "income"])


def test_a_loss_that_leaves_out_a_variable_is_not_compared(two):
    done = sdc.compare(two, LOSING, extra_measures=["moments", "missing_values"])
    assert done.best.name == "micro"
    for name in ("drop", "recode"):
        row = done.points.filter(scenario=name).row(0, named=True)
        assert row["error"] == (
            "Information loss IL1s says nothing of expenditure, which this scenario drops or recodes; "
            "choose another utility such as table_loss, or protect it otherwise"
        )
        assert math.isnan(row["loss"])
        assert math.isnan(row["loss_il1s"])
        assert math.isnan(row["loss_moments"])
        assert "Change of moments and quantiles says nothing of expenditure" in row["left_out"]
        assert not row["on_front"]
    assert done.points.filter(scenario="recode")["loss_missing_values"].item() == 0
    assert [p.name for p in done.with_axes(utility="moments").results if p.ok] == ["micro"]


def test_where_all_scenarios_lose_it_the_rest_is_compared_and_said(two):
    done = sdc.compare(two, {name: LOSING[name] for name in ("drop", "recode")})
    assert all(p.ok for p in done.results)
    said = "Information loss IL1s says nothing of expenditure, which every scenario drops or recodes."
    assert done.recommendation.endswith(said)
    assert said in done.reason
    assert "says nothing" not in sdc.compare(two, {"micro": LOSING["micro"]}).reason


def test_a_loss_of_nothing_but_lost_variables_has_a_reason(small):
    done = sdc.compare(small, LOSING)
    assert done.best.name == "micro"
    assert "Information loss IL1s says nothing of expenditure" in done.results[0].error


def test_what_was_lost_is_kept_in_the_cache(two, tmp_path):
    first, again = (sdc.compare(two, LOSING, cache=tmp_path) for _ in range(2))
    assert list(tmp_path.iterdir())
    assert [p.error for p in again.results] == [p.error for p in first.results]
    assert again.results[0].lost["il1s"] == ("expenditure",)


def test_a_search_does_not_prefer_what_loses_a_variable(two):
    space = [
        {"optional": {"drop": {"variables": ["expenditure"]}}},
        {"microaggregate": {"k": {"range": [3, 20]}}},
    ]
    done = sdc.search(two, space, trials=10)
    assert "drop" not in done.best.scenario.describe()
    assert any("says nothing of expenditure" in p.error for p in done.results)


def test_an_accepted_risk_is_on_the_axis(small):
    data = small.with_roles(keys=["sex", "urban"], sensitive=["education"])
    message = (
        r"not on the axis of risks, which is: Smallest l-diversity, as a risk from 0 to 1. Given: 3. "
        r"Allowed: 0 to 1. On this axis l_diversity = 3 is 0.333334: max_risk is 0.333334"
    )
    for call, way in ((sdc.compare, {"a": []}), (sdc.search, [{"microaggregate": {"k": {"range": [3, 5]}}}])):
        with pytest.raises(OptionError, match=message):
            call(data, way, risk="l_diversity", max_risk=3)
    with pytest.raises(OptionError, match=r"share of persons. Given: 1.5. Allowed: 0 to 1"):
        sdc.compare(small, {"a": []}, max_risk=1.5)
    with pytest.raises(OptionError, match=r"mean of several risks.*Allowed: 0 to 1"):
        sdc.compare(small, {"a": []}, risk=["individual_risk", "frequencies"], max_risk=1.5)
    with pytest.raises(OptionError, match=r"max_risk must be a number. Given: '0.1'"):
        sdc.compare(small, {"a": []}, max_risk="0.1")


def test_a_point_prints_in_one_line(small):
    done = sdc.compare(small, SCENARIOS, max_risk=1)
    assert repr(done.best) == f"Point 'nothing': risk {done.best.risk:.6g}, loss 0"
    broken = sdc.compare(small, {"broken": [{"microaggregate": {"k": 401}}]}).results[0]
    assert repr(broken).startswith("Point 'broken': risk nan, loss nan (")


def test_ties_are_all_on_the_front():
    empty = sdc.Scenario("x")
    points = [
        Point(n, empty, r, u, {}, {}, 0.0)
        for n, r, u in [("a", 1, 1), ("b", 1, 1), ("c", 1, 2), ("d", 2, 1), ("e", 0, 5)]
    ]
    assert front(points) == {"a", "b", "e"}


def test_the_best_file_is_made_again_from_the_seed(small):
    done = sdc.compare(small, SCENARIOS, max_risk=1)
    assert done.protect("age5").frame.equals(sdc.Scenario("age5", SCENARIOS["age5"]).protect(small).frame)
    assert done.assess("age5").scenario == "age5"


def test_mistakes_are_found_before_work(small):
    with pytest.raises(UnknownMethodError, match=r"no risk 'il1s'"):
        sdc.compare(small, SCENARIOS, risk="il1s")
    with pytest.raises(OptionError, match=r"at least one scenario"):
        sdc.compare(small, {})
    with pytest.raises(OptionError, match=r"names must differ. Given: a"):
        sdc.compare(small, [sdc.Scenario("a"), sdc.Scenario("a")])
    with pytest.raises(ColumnError, match=r"no column 'agee'"):
        sdc.compare(small, {"a": [{"recode": {"variable": "agee", "width": 5}}]})
    with pytest.raises(OptionError, match=r"positive shares"):
        sdc.compare(small, SCENARIOS, utility={"il1s": 0})


def test_what_compare_does_not_know(small):
    with pytest.raises(
        OptionError, match=r"A comparison does not know 'linked'.*risk, utility, extra_measures"
    ):
        sdc.compare(small, SCENARIOS, linked=False)
    with pytest.raises(OptionError, match=r"original cannot be measured.*no column 'salary'"):
        sdc.compare(small, SCENARIOS, regression={"formula": "salary ~ sex"})


def test_repr_names_the_reason(small):
    assert "loses least" in repr(sdc.compare(small, {"nothing": []}))
    assert isinstance(sdc.compare(small, {"nothing": []}).points, pl.DataFrame)


def test_a_figure_can_be_an_axis(small):
    done = sdc.compare(small, SCENARIOS, utility=["entropy_loss.share", "il1s"])
    row = done.points.filter(scenario="age5").row(0, named=True)
    assert 0 < row["loss_entropy_loss.share"] < 1
    failed = sdc.compare(small, {"nothing": []}, utility="entropy_loss.share").points["loss"]
    assert failed.to_list() == [0]
    with pytest.raises(OptionError, match=r"entropy_loss has no figure 'shares'. Allowed: per_record, share"):
        sdc.compare(small, SCENARIOS, utility="entropy_loss.shares")


@pytest.fixture
def jitter():
    """A random protection that counts how often it runs."""
    calls = []

    @protection("Add noise for this test")
    def jitter(data: sdc.Microdata, *, amount: float = 1.0, rng: np.random.Generator) -> sdc.Microdata:
        """Add random numbers to expenditure."""
        calls.append(amount)
        noise = pl.Series(rng.normal(0, amount, data.height))
        return data.with_frame(data.frame.with_columns(pl.col("expenditure") + noise))

    yield calls
    registry.unregister("jitter")


def test_several_seeds_give_a_mean_and_a_spread(small, jitter):
    done = sdc.compare(small, {"noisy": ["jitter"], "plain": [{"microaggregate": {"k": 3}}]}, seeds=3, seed=5)
    noisy, plain = done.points.to_dicts()
    each = [sdc.compare(small, {"noisy": ["jitter"]}, seed=s).results[0].loss for s in (5, 6, 7)]
    assert noisy["loss"] == pytest.approx(sum(each) / 3)
    assert (noisy["loss_low"], noisy["loss_high"]) == (min(each), max(each))
    assert plain["loss_low"] == plain["loss_high"] == plain["loss"]
    with pytest.raises(OptionError, match=r"seeds must be at least 1"):
        sdc.compare(small, SCENARIOS, seeds=0)


def test_rounding_that_draws_nothing_runs_once_for_all_seeds(small):
    ways = {
        "nearest": [{"round_values": {"base": 100}}],
        "random": [{"round_values": {"base": 100, "method": "random"}}],
    }
    nearest, random = sdc.compare(small, ways, risk="individual_risk", utility="il1s", seeds=3).results
    assert nearest.runs == ()
    assert len({loss for _, loss in random.runs}) == 3


def test_finished_scenarios_are_not_run_again(small, jitter, tmp_path):
    plan = {"a": [{"jitter": {"amount": 1}}], "b": [{"jitter": {"amount": 2}}]}
    first = sdc.compare(small, plan, cache=tmp_path)
    assert jitter == [1, 2]
    again = sdc.compare(small, {**plan, "c": [{"jitter": {"amount": 3}}]}, cache=tmp_path)
    assert jitter == [1, 2, 3]
    assert again.points.head(2)["loss"].to_list() == first.points["loss"].to_list()
    sdc.compare(small, plan, cache=tmp_path, seed=1)
    assert jitter == [1, 2, 3, 1, 2]  # another seed is another run
    other = small.with_frame(small.frame.with_columns(pl.col("expenditure") + 1))
    sdc.compare(other, plan, cache=tmp_path)
    assert jitter[5:] == [1, 2]  # so are other data
    for file in tmp_path.iterdir():
        file.write_text("{")  # a broken file is as good as none
    assert sdc.compare(small, plan, cache=tmp_path).points["loss"].to_list() == first.points["loss"].to_list()


def test_an_interrupted_comparison_continues(small, jitter, tmp_path):
    plan = {f"s{i}": [{"jitter": {"amount": i + 1}}] for i in range(3)}

    def stop(name, finished, total):
        if finished == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sdc.compare(small, plan, cache=tmp_path, progress=stop)
    before = len(jitter)
    sdc.compare(small, plan, cache=tmp_path)
    assert len(jitter) - before == 1
    assert [p.suffix for p in tmp_path.iterdir()] == [".json"] * 4  # three scenarios and the original


def test_the_cache_holds_numbers_only(small, jitter, tmp_path):
    sdc.compare(small, {"a": ["jitter"]}, cache=tmp_path)
    kept = [json.loads(p.read_text()) for p in tmp_path.iterdir()]
    numbers = {"risk", "loss", "risk_values", "loss_values", "seconds", "extra", "left_out", "estimates"}
    facts = {"warnings", "lost", "privacy", "new_records", "not_judged", "found_by"}
    assert {frozenset(k) for k in kept} == {frozenset({*numbers, *facts})}


def test_hypervolume():
    empty = sdc.Scenario("x")
    points = [
        Point(n, empty, r, u, {}, {}, 0.0) for n, r, u in [("a", 0.5, 0.0), ("b", 0.0, 0.5), ("c", 0.6, 0.6)]
    ]
    assert hypervolume(points, 1.0, 1.0) == pytest.approx(0.5 * 1 + 0.5 * 0.5)
    assert hypervolume([], 1.0, 1.0) == 0
    assert hypervolume(points, 0.0, 1.0) == 0


def test_numbers_and_types_are_checked(small):
    for wrong, text in (
        ({"jobs": 0}, "jobs must be"),
        ({"seed": -1}, "seed must be"),
        ({"max_risk": "1"}, "max_risk"),
    ):
        with pytest.raises(OptionError, match=text):
            sdc.compare(small, SCENARIOS, **wrong)
    with pytest.raises(OptionError, match=r"compare takes Microdata"):
        sdc.compare(small.frame, SCENARIOS)
    with pytest.raises(OptionError, match=r"compare takes scenarios"):
        sdc.compare(small, ["suppress"])
    assert sdc.compare(small, sdc.Scenario("one")).points["scenario"].to_list() == ["one"]


def test_a_table_among_the_options_is_part_of_what_is_kept(small, tmp_path):
    few, many = (small.frame.select("sex", "urban", "age").sample(n, seed=1) for n in (300, 300))
    many = pl.concat([small.frame.select("sex", "urban", "age")] * 9).sample(300, seed=2)
    values = [
        sdc.compare(small, {"a": []}, risk="k_map", k_map={"population": p, "k": 2}, cache=tmp_path)
        .results[0]
        .risk
        for p in (few, many)
    ]
    direct = [sdc.risk.k_map(small, population=p, k=2).value for p in (few, many)]
    assert values == direct


def test_steps_that_scenarios_share_are_done_once(small, jitter):
    plan = {f"k{k}": ["jitter", {"microaggregate": {"k": k}}] for k in (3, 5, 8)}
    done = sdc.compare(small, plan, seed=4)
    assert jitter == [1.0]
    alone = [sdc.compare(small.with_roles(), {n: s}, seed=4).results[0] for n, s in plan.items()]
    assert [(p.risk, p.loss) for p in done.results] == [(p.risk, p.loss) for p in alone]


@pytest.mark.parametrize(
    ("roles", "losses"),
    [
        ({"keys": ["sex"], "numeric": ["income"]}, ["entropy_loss.share", "il1s"]),
        ({"keys": ["sex"], "numeric": ()}, ["entropy_loss.share"]),
    ],
)
def test_without_a_utility_the_loss_sees_keys_and_numbers(roles, losses):
    data = sdc.demo.survey(n=200, seed=1).with_roles(sensitive=(), **roles)
    assert list(sdc.compare(data, {"a": []}, risk="frequencies").utility) == losses


def test_harsh_recoding_is_not_free_where_there_are_numbers():
    data = sdc.demo.survey(n=400, seed=1).with_roles(keys=["sex", "age"], numeric=["income"], sensitive=())
    ways = {f"by {w}": [{"recode": {"variable": "age", "width": w}}] for w in (5, 50)}
    assert sdc.compare(data, ways, max_risk=1.0).best.name == "by 5"


@pytest.mark.parametrize("shares", [{"il1s": "x"}, {"il1s": None}, {"il1s": math.nan}, 5, [5]])
def test_shares_are_positive_numbers_of_named_measures(small, shares):
    with pytest.raises(OptionError, match=r"utility (needs measures|names measures)"):
        sdc.compare(small, {"none": []}, utility=shares)


def test_an_own_measure_without_number_and_note_has_a_reason(small):
    try:

        @utility(
            title="Empty",
            bounds=(0, 1),
            unit="share",
            compares=Compares.DISTRIBUTIONS,
            interpretation="Never.",
        )
        def no_number_here(original: sdc.Microdata, protected: sdc.Microdata) -> sdc.Result:
            """No number after protection."""
            return sdc.Result(0.0 if original is protected else math.nan)

        found = sdc.compare(small, {"a": [{"microaggregate": {"k": 3}}]}, utility="no_number_here")
        assert found.results[0].error == "no_number_here: no number came out"
    finally:
        registry.unregister("no_number_here")


def test_a_changed_file_among_the_options_is_measured_again(tmp_path):
    data = sdc.read(pl.DataFrame({"a": ["x", "y"] * 10, "b": range(20)}), keys="a", numeric="b")
    register = tmp_path / "register.csv"
    risks = []
    for people in (5, 50):
        pl.DataFrame({"a": ["x", "y"], "n": [people, people]}).write_csv(register)
        told = {"population": str(register), "count": "n", "k": 20}
        found = sdc.compare(
            data, {"none": []}, risk="k_map", utility="il1s", cache=tmp_path / "kept", k_map=told
        )
        risks.append(found.results[0].risk)
    assert risks == [1.0, 0.0]


def test_the_map_warns_of_columns_no_risk_looks_at():
    frame = pl.DataFrame({"a": ["x", "y"] * 20, "b": range(40), "note": [f"n{i}" for i in range(40)]})
    data = sdc.read(frame, keys="a", numeric="b")
    found = sdc.compare(data, {"k3": [{"microaggregate": {"k": 3}}]}, utility="il1s")
    assert [text.split(":")[0] for text in found.warnings] == ["No risk looks at note"]
    assert sdc.compare(data, {"k3": []}, utility="il1s", risk="frequencies", max_risk=0).warnings


def test_where_the_usual_losses_say_nothing_of_any_scenario_two_way_tables_are_asked():
    data = sdc.demo.survey(n=300, seed=1).with_roles(keys=["sex", "age"], numeric=["income"])
    gone = {"drop": {"variables": ["income"]}}
    ways = {f"{w} years": [{"recode": {"variable": "age", "width": w}}, gone] for w in (10, 40)}
    done = sdc.compare(data, ways)
    assert list(done.utility) == ["table_loss"]
    assert done.best.name == "10 years"
    assert list(sdc.compare(data, ways, utility="il1s").utility) == ["il1s"]  # what was asked for stays
    space = [{"recode": {"variable": "age", "width": {"range": [10, 40]}}}, gone]
    assert list(sdc.search(data, space, trials=3).utility) == ["table_loss"]


@pytest.fixture
def on_disk(tmp_path):
    """A file that stays on disk."""
    frame = sdc.demo.survey(n=200, seed=1).frame.select("person_id", "sex", "age", "income")
    frame.write_parquet(tmp_path / "people.parquet")
    return lambda **roles: sdc.read(tmp_path / "people.parquet", engine="duckdb", **roles)


def never(*_, **__):
    raise AssertionError("a scenario was carried out")


def test_an_intruder_who_needs_memory_is_refused_before_scenarios_are_carried_out(on_disk, monkeypatch):
    data = on_disk(id="person_id", keys=["sex", "age"], numeric="income")
    steps = {"five": [{"recode": {"variable": "age", "width": 5}}]}
    knows = {"insider": {"knows": ["keys", {"income": 0.1}]}, "colleague": {"knows": "keys"}}
    hidden = {**knows, "insider": {**knows["insider"], "on_axis": False}}
    assert sdc.compare(data, steps, intruders=hidden, utility="missing_values").best.name == "five"
    monkeypatch.setattr(sdc.Step, "protect", never)
    said = r"What insider finds needs the records in memory\. To compare scenarios, write on_axis: false"
    with pytest.raises(OptionError, match=said):
        sdc.compare(data, steps, intruders=knows)
    with pytest.raises(OptionError, match="no column of the original has the role id"):
        sdc.compare(on_disk(keys=["sex", "age"], numeric="income"), steps, utility="distribution_distance")


def test_new_ids_on_disk_are_refused_before_any_step_but_not_by_measures_that_need_no_link(
    on_disk, monkeypatch
):
    data = on_disk(id="person_id", keys=["sex", "age"], numeric="income")
    steps = {"five": [{"recode": {"variable": "age", "width": 5}}, "new_ids"]}
    assert sdc.compare(data, steps, risk="k_anonymity", utility="distribution_distance").best.name == "five"
    monkeypatch.setattr(sdc.Step, "protect", never)
    found = sdc.compare(data, steps, utility="missing_values").points
    assert "Compare without new_ids" in found.filter(scenario="five")["error"][0]
