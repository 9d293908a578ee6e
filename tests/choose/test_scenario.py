"""Steps, scenarios and plans: checked when written, carried out from a seed, YAML in and out."""

import polars as pl
import pytest

import sdckit as sdc
from sdckit._support.progress import Progress
from sdckit.choose.scenario import Scenario, StepCache
from sdckit.errors import ColumnError, EngineError, FileError, OptionError, Stopped, UnknownMethodError
from sdckit.methods import registry

OTHER = "assess: {max_risk: 0.01, k_anonymity: {k: 5}}\n"
TEXT = """
data: {file: survey.csv, keys: [region, sex], numeric: [income], weight: weight}
scenarios:
  nothing: []
  k3:
  - recode: {variable: age, width: 5}
  - suppress: {k: 3, importance: {sex: high}}
  micro: [{microaggregate: {variables: [income], k: 5}}]
assess: {max_risk: 0.01, k_anonymity: {k: 5}}
seed: 7
"""


def test_a_plan_survives_the_way_through_yaml():
    plan = sdc.Plan.parse(TEXT)
    again = sdc.Plan.parse(plan.to_yaml())
    assert again.scenarios == plan.scenarios
    assert (again.data, again.assess, again.seed) == (plan.data, plan.assess, 7)
    assert [s.name for s in plan.scenarios] == ["nothing", "k3", "micro"]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            "scenarios: {a: [{supress: {k: 3}}]}",
            UnknownMethodError,
            "Scenario 'a': There is no protection 'supress'.*'suppress'",
        ),
        (
            "scenarios: {a: [{suppress: {kk: 3}}]}",
            OptionError,
            "suppress has no option 'kk'.*Did you mean 'k'|suppress has no option 'kk'",
        ),
        (
            "scenarios: {a: [{suppress: {k: 1}}]}",
            OptionError,
            "Option 'k' of suppress is not valid. Given: 1",
        ),
        (
            "scenarios: {a: [{suppress: {k: 3}, recode: {}}]}",
            OptionError,
            "step of scenario 'a' is not valid",
        ),
        ("scenarios: {a: [{suppress: [3]}]}", OptionError, "must be a mapping"),
        ("scenaros: {}", OptionError, "Unknown section 'scenaros'.*Did you mean 'scenarios'"),
        ("data: {fil: x.csv}", OptionError, "Unknown entry of data 'fil'.*Did you mean 'file'"),
        ("seed: -1", OptionError, "seed must be a whole number"),
        ("a: [", FileError, "not valid YAML"),
        ("- 1", FileError, "must hold sections"),
    ],
)
def test_mistakes_in_a_plan_are_found_when_it_is_read(text, error, message):
    with pytest.raises(error, match=message):
        sdc.Plan.parse(text)


def test_plan_files(tmp_path, survey):
    sdc.write(survey, tmp_path / "survey.csv")
    path = sdc.Plan.parse(TEXT).save(tmp_path / "plan.yaml")
    plan = sdc.Plan.load(path)
    assert plan.read().roles.keys == ("region", "sex")
    assert plan.find("micro").steps[0].method == "microaggregate"
    with pytest.raises(OptionError, match=r"no scenario 'mikro'.*Did you mean 'micro'"):
        plan.find("mikro")
    with pytest.raises(FileError, match=r"no such plan"):
        sdc.Plan.load(tmp_path / "other.yaml")
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize("given", ["{population: register.csv, k: 2}", "register.csv"])
def test_files_named_in_options_are_looked_for_beside_the_plan(tmp_path, monkeypatch, survey, given):
    folder, elsewhere = tmp_path / "plans", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    survey.frame.select("region", "sex").write_csv(folder / "register.csv")
    (folder / "plan.yaml").write_text(
        f"{TEXT}\nassess: {{measures: [k_map], k_map: {given}}}".replace(OTHER, "")
    )
    plan = sdc.Plan.load(folder / "plan.yaml")
    data = sdc.read(survey.frame, keys=["region", "sex"])
    assert sdc.assess(data, data, **plan.assess).after["k_map"].value == 0
    again = sdc.Plan.load(plan.save(folder / "again.yaml"))  # names are still those from the folder
    assert again.assess == plan.assess
    assert str(tmp_path) not in (folder / "again.yaml").read_text()
    absolute = sdc.Plan.parse(f"assess: {{k_map: {folder}/register.csv}}", elsewhere)
    assert absolute.assess == {"k_map": f"{folder}/register.csv"}


def test_the_same_seed_gives_the_same_file(survey):
    scenario = sdc.Scenario(
        "s", [sdc.Step("recode", variable="age", width=10), sdc.Step("microaggregate", k=4)]
    )
    assert scenario.protect(survey, seed=3).frame.equals(scenario.protect(survey, seed=3).frame)


def test_a_later_step_is_checked_before_the_first_runs(survey):
    scenario = sdc.Scenario("s", [{"microaggregate": {"k": 3}}, {"recode": {"variable": "agee", "width": 5}}])
    calls = []
    with pytest.raises(ColumnError, match=r"Did you mean 'age'"):
        scenario.protect(survey, progress=lambda *a: calls.append(a))
    assert calls == []


def test_undo_is_dropping_a_step():
    scenario = sdc.Scenario("s", ["microaggregate", {"suppress": {"k": 2}}])
    assert [s.method for s in scenario.without(0).steps] == ["suppress"]
    with pytest.raises(OptionError, match=r"no such step"):
        scenario.without(2)


def test_progress_names_each_step(survey):
    seen = []
    sdc.Scenario("s", ["microaggregate"]).protect(survey, progress=lambda *a: seen.append(a))
    assert seen == [("microaggregate", 0, 1)]


@pytest.mark.parametrize("steps", ["{suppress: {k: 10}}", "suppress", "3"])
def test_steps_must_be_a_list_so_that_no_option_is_lost(steps):
    with pytest.raises(OptionError, match=r"steps of scenario 'a' must be a list"):
        sdc.Plan.parse(f"scenarios: {{a: {steps}}}")


def test_a_name_that_stands_twice_is_refused():
    with pytest.raises(FileError, match=r"'a' stands twice"):
        sdc.Plan.parse("scenarios: {a: [], a: [suppress]}")


def test_a_plan_that_is_not_text(tmp_path):
    (tmp_path / "plan.yaml").write_bytes("seed: 1  # gr\xfc\xdfe".encode("latin-1"))
    with pytest.raises(FileError, match=r"not text in UTF-8"):
        sdc.Plan.load(tmp_path / "plan.yaml")


def test_a_step_works_with_the_roles_that_earlier_steps_left():
    data = sdc.read(pl.DataFrame({"age": [20, 21, 35, 36], "x": [1.0, 3, 5, 9]}), numeric=["age", "x"])
    scenario = sdc.Scenario("s", [{"recode": {"variable": "age", "width": 10}}, {"microaggregate": {"k": 2}}])
    done = scenario.protect(data).frame
    assert done["age"].to_list() == ["20–29", "20–29", "30–39", "30–39"]
    assert done["x"].to_list() == [2, 2, 7, 7]


def test_a_seed_that_makes_no_sense(survey):
    with pytest.raises(OptionError, match=r"seed must be a whole number"):
        sdc.Scenario("s").protect(survey, seed=-1)
    with pytest.raises(OptionError, match=r"takes Microdata. Given: DataFrame"):
        sdc.Scenario("s").protect(survey.frame)


def test_a_long_step_tells_how_far_it_is(survey):
    seen = []
    sdc.Scenario("s", [{"suppress": {"k": 3}}]).protect(survey, progress=lambda *a: seen.append(a[0]))
    assert seen[0] == "suppress"
    assert any(text.startswith("suppress: ") for text in seen[1:])


AGES = {"recode": {"variable": "age", "width": 5}}
NOISE = {"add_noise": {"variables": ["income"]}}


@pytest.mark.parametrize("seeds", [(1, 1), (1, 2)])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([AGES, NOISE], [AGES, {"pram": {"variables": ["sex"]}}]),
        ([AGES, NOISE], [NOISE, AGES]),
        ([AGES, NOISE], [AGES]),
        ([NOISE], [NOISE, AGES]),
        ([AGES, NOISE, "microaggregate"], [AGES, {"add_noise": {}}, "microaggregate"]),
    ],
)
def test_a_replayed_scenario_gives_the_same_file(survey, first, second, seeds):
    data, cache = survey.with_roles(), StepCache()
    for steps, seed in zip((first, second, first), (*seeds, seeds[0]), strict=True):
        scenario = sdc.Scenario("s", steps)
        replayed, protected = scenario.protect(data, seed, cache=cache), scenario.protect(survey, seed)
        assert replayed.frame.equals(protected.frame)
        assert replayed.log == protected.log


def test_only_steps_that_differ_are_done_again(survey):
    data, cache = survey.with_roles(), StepCache(size=3)
    one = sdc.Scenario("s", [AGES, "microaggregate"]).protect(data, 1, cache=cache)
    again = sdc.Scenario("s", [AGES, "microaggregate"]).protect(data, 2, cache=cache)
    assert again is one
    three = sdc.Scenario("s", [AGES, "microaggregate", NOISE])
    assert three.protect(data, 2, cache=cache).log[:2] == one.log
    assert three.protect(data, 2, cache=cache) is not three.protect(data, 3, cache=cache)
    assert sdc.Scenario("s", [AGES, "microaggregate"]).protect(survey, 1, cache=cache) is not one


def test_a_long_scenario_finds_its_first_steps_in_a_small_cache(survey):
    data, cache, seen = survey.with_roles(), StepCache(size=2), []
    first = [AGES, {"drop": {"variables": ["urban"]}}, {"suppress": {"k": 2, "keys": ["sex"]}}]
    sdc.Scenario("s", [*first, "new_ids"]).protect(data, 1, cache=cache)
    other = sdc.Scenario("t", [*first, NOISE])
    alone = other.protect(data, 1)
    replayed = other.protect(data, 1, lambda *told: seen.append(told[0]), cache=cache)
    assert {text.partition(":")[0] for text in seen} == {"add_noise"}
    assert replayed.frame.equals(alone.frame)
    assert replayed.log == alone.log


def test_work_stops_when_asked(survey):
    seen = []

    def stop() -> bool:
        return len(seen) == 1

    progress = Progress(lambda *told: seen.append(told), stop=stop)
    with pytest.raises(Stopped, match="Stopped on request during microaggregate"):
        sdc.Scenario("s", [AGES, "microaggregate"]).protect(survey, progress=progress)
    assert seen == [("recode", 0, 2)]


@pytest.mark.parametrize("name", [[sdc.Step("suppress", k=3)], None, "", "  ", 3])
def test_a_scenario_needs_a_name(name):
    with pytest.raises(OptionError, match=r"A scenario needs a name, and it comes first"):
        sdc.Scenario(name, [sdc.Step("suppress", k=3)])
    with pytest.raises(OptionError, match=r"A scenario needs a name, and it comes first"):
        sdc.Scenario(name)


@pytest.mark.parametrize("step", [1, None, ["suppress"], pl.DataFrame({"x": [1]})])
def test_what_is_no_step(step):
    with pytest.raises(OptionError, match=r"A step of scenario 'a' is not valid. .*Allowed: Step\("):
        sdc.Scenario("a", [step])


def test_a_tab_in_a_plan_is_named_with_its_file(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text("data:\n\tfile: survey.csv\n")
    with pytest.raises(FileError) as met:
        sdc.Plan.load(path)
    assert str(met.value) == (
        f"{path}: The plan is not valid YAML. Given: line 2, column 1: a tab. "
        "Use spaces, not tabs, at the beginning of lines."
    )
    path.write_text("data: {file: [}\n")
    with pytest.raises(FileError, match=r"plan.yaml: .*Given: line 1, column 15: expected the node content"):
        sdc.Plan.load(path)


def test_a_note_is_kept_and_changes_nothing_but_the_log():
    data = sdc.demo.survey(n=200, seed=1)
    plain = Scenario("s", [{"recode": {"variable": "age", "width": 10}}, {"pram": {"variables": ["sex"]}}])
    noted = Scenario(
        "s", [{"recode": {"variable": "age", "width": 10}, "note": "as last year"}, plain.steps[1]]
    )
    assert noted.as_list()[0] == {"recode": {"variable": "age", "width": 10}, "note": "as last year"}
    cache = StepCache()
    first, second = plain.protect(data, 3, cache=cache), noted.protect(data, 3, cache=cache)
    assert first.frame.equals(second.frame)
    assert [entry.note for entry in first.log] == ["", ""]
    assert [entry.note for entry in second.log] == ["as last year", ""]
    assert [step.cache_key(3) for step in plain.steps] == [step.cache_key(3) for step in noted.steps]
    assert [entry.note for entry in plain.protect(data, 3, cache=cache).log] == ["", ""]


@pytest.mark.parametrize("step", [{"note": "alone"}, {"recode": {"variable": "age", "width": 10}, "note": 5}])
def test_what_is_no_step_with_a_note_is_refused(step):
    with pytest.raises(OptionError):
        Scenario("s", [step])


def test_a_step_that_needs_memory_is_refused_before_any_step_is_carried_out(tmp_path):
    path = tmp_path / "people.parquet"
    pl.DataFrame({"id": range(20), "age": range(20), "income": range(20)}).write_parquet(path)
    data = sdc.read(path, engine="duckdb", id="id", keys="age", numeric="income")
    done = []

    @registry.protection("In memory")
    def in_memory(data: sdc.Microdata) -> sdc.Microdata:
        """A protection of somebody who never thought of engines."""
        return data

    try:
        steps = [{"recode": {"variable": "age", "width": 10}}, {"in_memory": {}}]
        with pytest.raises(EngineError, match=r"in_memory needs the records in memory"):
            Scenario("late", steps).protect(data, seed=1, progress=lambda *told: done.append(told))
    finally:
        registry.unregister("in_memory")
    assert done == []


def test_of_several_steps_the_one_that_fails_is_named():
    data = sdc.read(pl.DataFrame({"income": [1.0, 2.0, 3.0, 4.0]}), numeric="income")
    steps = [{"round_values": {"base": 2}}, {"microaggregate": {"k": 50}}]
    with pytest.raises(OptionError, match=r"^Microaggregation: k is larger") as raised:
        sdc.Scenario("two", steps).protect(data, seed=1)
    assert raised.value.step == 1
    with pytest.raises(OptionError, match=r"^k is larger"):
        sdc.Scenario("one", steps[1:]).protect(data, seed=1)
