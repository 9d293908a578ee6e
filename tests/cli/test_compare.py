import json
import re

import polars as pl
import pytest
import typer

import sdckit as sdc
from cli.codes import RAN
from sdckit.choose.assess import assess
from sdckit.choose.plan import Plan
from sdckit.cli import _show
from sdckit.cli._plan import assessed
from sdckit.cli._show import number


def test_table_names_the_recommended_scenario(run, plan):
    result = run("compare", plan)
    assert result.exit_code == 3, result.output  # with the ids of the original
    row = next(line for line in result.stdout.splitlines() if "★ loses least" in line)
    assert "age5" in row
    assert "age20_income" in result.stdout
    assert "untouched" in result.stdout
    assert "Scenario 2/2" in result.stderr


def test_json(run, plan):
    result = run("compare", plan, "--json")
    document = json.loads(result.stdout)
    assert document["best"] == "age5"
    assert document["seed"] == 7
    assert document["utility"] == {"il1s": 1.0, "missing_values": 1.0}
    assert [s["name"] for s in document["scenarios"]] == ["age5", "age20_income"]
    assert document["scenarios"][1]["loss_values"]["il1s"] > 0


def test_options_come_before_the_plan(run, plan):
    result = run(
        "compare", plan, "--risk", "frequencies,k_anonymity=3", "--utility", "il1s", "--seed", 2, "--json"
    )
    document = json.loads(result.stdout)
    assert document["risk"] == {"frequencies": 1.0, "k_anonymity": 3.0}
    assert document["utility"] == {"il1s": 1.0}
    assert document["seed"] == 2


def test_nothing_acceptable_is_exit_code_3(run, plan):
    result = run("compare", plan, "--max-risk", 0)
    assert result.exit_code == 3
    assert "No scenario is acceptable" in result.stdout
    assert result.stdout.count("risk too high") == 2


@pytest.mark.parametrize(("given", "code"), [("100 %", 3), ("0%", 3), ("101 %", 1), ("'0,5'", 1)])
def test_max_risk_of_the_plan_in_percent(run, plan, given, code):
    plan.write_text(plan.read_text().replace("assess: {", f"assess: {{max_risk: {given}, "))
    assert run("compare", plan).exit_code == code


def test_an_accepted_probability_above_1(run, plan):
    result = run("compare", plan, "--max-risk", 1.5)
    assert result.exit_code == 1
    assert "0 to 1" in result.stderr


def test_measures_given_twice_are_joined(run, plan):
    words = (
        "--utility",
        "il1s=2",
        "--utility",
        "missing_values",
        "--extra",
        "entropy",
        "--extra",
        "il1",
        "--json",
    )
    document = json.loads(run("compare", plan, *words).stdout)
    assert document["utility"] == {"il1s": 2.0, "missing_values": 1.0}
    assert set(document["scenarios"][0]["extra"]) == {"entropy", "il1"}


def test_the_table_explains_its_columns(run, plan):
    text = run("compare", plan).stdout
    assert "● on the front: no other scenario" in text
    assert "loss: not the mean of the columns as shown" in text
    assert "not the mean" not in run("compare", plan, "--utility", "il1s").stdout


def test_a_narrow_screen_breaks_no_number(run, plan, monkeypatch):
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "dumb"), ("COLUMNS", "80")):
        monkeypatch.setenv(name, value)
    also = "records_changed,contingency_tables,frequencies,entropy_loss.share,correlation_loss"
    result = run("compare", plan, "--extra", also, "--json")
    shown = re.sub(r"\x1b\[[0-9;]*m", "", run("compare", plan, "--extra", also).stdout)
    assert max(map(len, shown.splitlines())) <= 80
    assert "…  " not in shown
    heads = " ".join(shown.split())
    for name in also.split(","):
        assert name in heads
    row = json.loads(result.stdout)["scenarios"][1]
    for value in (row["risk"], row["loss"], *row["extra"].values()):
        assert number(value) in heads


def test_a_plan_in_a_folder_without_permission_is_run_without_a_cache(run, plan, monkeypatch):
    monkeypatch.setattr("sdckit.cli._plan.may_write", lambda folder: False)
    result = run("compare", plan)
    assert result.exit_code in RAN, result.output
    assert "Finished scenarios are not kept: no permission to write" in result.stderr
    assert not (plan.parent / ".sdckit").exists()


def test_max_risk_of_the_plan(run, plan):
    plan.write_text(plan.read_text().replace("assess: {", "assess: {max_risk: 0, "))
    assert "No scenario is acceptable" in run("compare", plan).stdout
    assert "★ loses least" in run("compare", plan, "--max-risk", 1).stdout


def test_a_scenario_that_fails_is_shown_with_its_reason(run, plan):
    plan.write_text(
        plan.read_text()
        .replace("seed: 7", "seed: 7")
        .replace("scenarios:", "scenarios:\n  too_much: [{microaggregate: {k: 999}}]")
    )
    result = run("compare", plan, "--json")
    document = json.loads(result.stdout)
    failed = document["scenarios"][0]
    assert failed["risk"] is None
    assert "k is larger than the number of records" in failed["error"]
    lines = run("compare", plan).stdout.splitlines()
    assert any(line.startswith("too_much failed: k is larger") for line in lines)  # below the table
    assert any(line.split()[:1] == ["too_much"] and line.split()[-1] == "failed" for line in lines)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("microaggregate", "microagregate", "Did you mean 'microaggregate'?"),
        ("width: 5", "widht: 5", "Did you mean 'width'?"),
        ("width: 5", "width: -5", "'width' of recode is not valid"),
        ("keys: [region, sex, age]", "keys: [region, sexx, age]", "Did you mean 'sex'?"),
        ("file: survey.csv", "file: absent.csv", "does not exist"),
        ("scenarios:", "scenarois:", "Did you mean 'scenarios'?"),
        ("utility: [il1s, missing_values]", "utility: [il2s]", "There is no utility 'il2s'"),
        ("utility: [il1s, missing_values]", "max_risk: low", "'max_risk' of section 'assess' is not valid"),
        ("k_anonymity: {k: 5}", "k_anonimity: {k: 5}", "Did you mean 'k_anonymity'?"),
        ("seed: 7", "seed: [", "not valid YAML"),
        ("k_anonymity: {k: 5}", "seed: 3", "Section 'assess' has no entry 'seed'"),
    ],
)
def test_mistakes_in_the_plan(run, plan, old, new, said):
    text = plan.read_text()
    assert old in text
    plan.write_text(text.replace(old, new))
    result = run("compare", plan)
    assert result.exit_code == 1
    assert said in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert len([line for line in result.stderr.splitlines() if line.startswith("Error: ")]) == 1
    assert result.stderr.splitlines()[-1].startswith("Error: ")


def test_missing_plan(run, tmp_path):
    result = run("compare", tmp_path / "absent.yaml")
    assert result.exit_code == 1
    assert "no such plan" in result.stderr


def test_shares_must_be_numbers(run, plan):
    result = run("compare", plan, "--risk", "frequencies=much")
    assert result.exit_code == 1
    assert "Shares must be numbers" in result.stderr


@pytest.mark.usefixtures("no_pictures")
def test_report_is_written(run, plan):
    out = plan.with_name("map.html")
    result = run("compare", plan, "--report", out)
    assert result.exit_code in RAN, result.output
    assert "age20_income" in out.read_text(encoding="utf-8")
    assert str(out) in result.stderr


def test_report_in_a_folder_that_is_not_there_is_refused_before_work(run, plan):
    result = run("compare", plan, "--report", plan.parent / "absent" / "map.html")
    assert result.exit_code == 1
    assert "folder to write to does not exist" in result.stderr
    assert result.stdout == ""


def test_further_measures_by_plan_and_by_option(run, plan):
    plan.write_text(plan.read_text().replace("assess: {", "assess: {extra_measures: [records_changed], "))
    document = json.loads(run("compare", plan, "--json").stdout)
    assert document["scenarios"][1]["extra"]["records_changed"] > 0
    told = run("compare", plan, "--extra", "entropy_loss.share, frequencies", "--json")
    assert set(json.loads(told.stdout)["scenarios"][0]["extra"]) == {"entropy_loss.share", "frequencies"}
    assert "records_changed" in run("compare", plan).stdout
    wrong = run("compare", plan, "--extra", "record_changed")
    assert wrong.exit_code == 1
    assert "Did you mean 'records_changed'?" in wrong.stderr


def test_estimates_of_a_plan_are_kept_for_every_scenario(run, plan):
    wanted = "assess: {indicators: poverty, regression: {formula: log(income) ~ sex + age}, "
    plan.write_text(plan.read_text().replace("assess: {", wanted))
    document = json.loads(run("compare", plan, "--json").stdout)
    for point in (document["original"], *document["scenarios"]):
        names = [e["name"] for e in point["estimates"]]
        assert "poverty_rate of income" in names
        assert "sex" in names  # a number here: a .csv has no labels


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        ("indicators: poverty, by: region", {("poverty_rate", "1"), ("gini", "all records")}),
        ("indicators: {indicators: poverty, by: region}", {("median", "2"), ("fgt1", "all records")}),
        (
            "indicators: [gini, {quantile: {p: 0.9}}, {proportion: {variable: sex, category: 2}}]",
            {("gini", "all records"), ("quantile 0.9", "all records"), ("proportion 2", "all records")},
        ),
    ],
)
def test_panels_and_lists_of_indicators_in_a_plan(plan, wanted, rows):
    plan.write_text(plan.read_text().replace("k_anonymity: {k: 5}", f"measures: [indicators], {wanted}"))
    done = assessed(Plan.load(plan), "age20_income", seed=None)
    parts = done.utility["indicators"].parts
    assert rows <= set(parts.select("indicator", "domain").iter_rows())
    panel = assess(
        done.original, done.protected, measures=["indicators"], **{"indicators": "poverty", "by": "region"}
    )
    assert ("poverty" in wanted) == parts.equals(panel.utility["indicators"].parts)


def test_data_on_disk_are_compared_without_keeping_results(run, plan):
    text = plan.read_text().replace("file: survey.csv", "file: survey.csv, engine: duckdb")
    text = text.replace("    - microaggregate: {variables: [income], k: 3}\n", "")
    plan.write_text(text.replace("[il1s, missing_values]", "missing_values"))
    result = run("compare", plan)
    assert result.exit_code in RAN, result.output
    assert "not kept: with engine: duckdb" in result.stderr
    assert not (plan.parent / ".sdckit").exists()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("assess: {", "assess: {1: 2, ", "entries of section 'assess' have names"),
        ("file: survey.csv", "file: survey.csv, keep_direct: perhaps", "keep_direct"),
    ],
)
def test_entries_of_a_wrong_kind(run, plan, old, new, words):
    plan.write_text(plan.read_text().replace(old, new))
    result = run("compare", plan)
    assert result.exit_code == 1
    assert words in result.stderr


def test_columns_no_risk_looks_at_are_warned_of(run, plan):
    lines = (plan.parent / "survey.csv").read_text(encoding="utf-8").splitlines()
    told = [f"{line},{'remark' if i == 0 else f'seen on day {i}'}" for i, line in enumerate(lines)]
    (plan.parent / "survey.csv").write_text("\n".join(told) + "\n", encoding="utf-8")
    assert re.search(r"Warning: No risk looks at .*remark", run("compare", plan).stdout.replace("\n", " "))
    assert "remark" in " ".join(json.loads(run("compare", plan, "--json").stdout)["warnings"])


def test_nothing_is_recommended_with_direct_identifiers_in_the_file(capsys):
    frame = pl.DataFrame({"a": ["x", "y"] * 20, "b": range(40), "name": [f"n{i}" for i in range(40)]})
    data = sdc.read(frame, keys="a", numeric="b", direct="name", keep_direct=True)
    found = sdc.compare(data, {"k3": [{"microaggregate": {"k": 3}}]}, utility="il1s")
    with pytest.raises(typer.Exit) as ended:
        _show.found(found, None, "internal", as_json=False)
    assert ended.value.exit_code == 3
    out = capsys.readouterr().out
    assert "recommended" not in out
    assert "must not be released" in out
