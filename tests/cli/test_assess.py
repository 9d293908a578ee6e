import json
import re

import polars as pl
import pytest

from cli.codes import RAN

ROLES = (
    "--id",
    "person_id",
    "--keys",
    "region,sex,age",
    "--numeric",
    "income,wealth_index",
    "--weight",
    "weight",
)


@pytest.fixture
def protected(run, plan):
    out = plan.with_name("protected.csv")
    assert run("protect", plan, "--scenario", "age20_income", "--out", out).exit_code == 0
    return out


def test_tables(run, survey_csv, protected):
    result = run("assess", survey_csv, protected, *ROLES)
    assert result.exit_code == 3, result.output
    for word in ("individual_risk", "before", "after", "il1s", "200 records", "must not be released"):
        assert word in result.stdout
    assert "seconds" not in result.stdout
    assert "Measure 1/" in result.stderr


def test_timings_show_the_slowest_measures_first(run, survey_csv, protected):
    result = run("assess", survey_csv, protected, *ROLES, "--timings")
    assert result.exit_code in RAN, result.output
    _, _, shown = result.stdout.partition("Slowest of ")
    assert "seconds in all" in shown
    rows = re.findall(r"^ ?(\w+) +(\d+\.\d\d) +(\d+) % *$", shown, re.MULTILINE)
    times = [float(seconds) for _, seconds, _ in rows]
    assert len(times) == 10
    assert times == sorted(times, reverse=True)
    assert re.search(r"\d+ others", shown)


def test_timings_of_few_measures_have_no_others(run, survey_csv, protected):
    words = ("assess", survey_csv, protected, *ROLES, "--measures", "il1s,frequencies", "--timings")
    shown = run(*words).stdout
    assert "Slowest of 2 measures" in shown
    assert "others" not in shown


def test_json_agrees_with_the_library(run, survey_csv, protected):
    import sdckit as sdc

    document = json.loads(run("assess", survey_csv, protected, *ROLES, "--json").stdout)
    roles = {"id": "person_id", "keys": ["region", "sex", "age"], "numeric": ["income", "wealth_index"]}
    first = sdc.io.read(survey_csv, weight="weight", **roles)
    second = sdc.io.read(protected, weight="weight", **roles)
    risk = document["risk"]["individual_risk"]
    assert risk["before"]["value"] == pytest.approx(sdc.risk.individual_risk(first).value)
    assert risk["after"]["value"] == pytest.approx(sdc.risk.individual_risk(second).value)
    assert risk["after"]["value"] < risk["before"]["value"]
    assert document["utility"]["il1s"]["value"] == pytest.approx(sdc.utility.il1s(first, second).value)
    assert document["utility"]["il1s"]["better"] == "low"
    assert "person_id" not in json.dumps([document["risk"], document["utility"]])


def test_roles_and_options_from_a_plan(run, plan, protected):
    result = run("assess", plan.with_name("survey.csv"), protected, "--plan", plan, "--json")
    document = json.loads(result.stdout)
    assert document["risk"]["k_anonymity"]["after"]["options"]["k"] == 5
    assert document["risk"]["k_anonymity"]["after"]["options"]["keys"] == ["region", "sex", "age"]


def test_roles_given_come_before_the_plan(run, plan, protected):
    words = ("assess", plan.with_name("survey.csv"), protected, "--plan", plan, "--keys", "sex", "--json")
    document = json.loads(run(*words).stdout)
    assert document["risk"]["k_anonymity"]["after"]["options"]["keys"] == ["sex"]


def test_only_the_measures_named(run, survey_csv, protected):
    words = ("assess", survey_csv, protected, *ROLES, "--measures", "il1s,frequencies", "--json")
    document = json.loads(run(*words).stdout)
    assert list(document["risk"]) == ["frequencies"]
    assert list(document["utility"]) == ["il1s"]


def test_unknown_measure(run, survey_csv, protected):
    result = run("assess", survey_csv, protected, *ROLES, "--measures", "il1z")
    assert result.exit_code == 1
    assert "There is no measure 'il1z'" in result.stderr


@pytest.fixture
def safe(tmp_path):
    """A plan whose scenario gives a file in which nobody stands out and nothing is left to judge."""
    frame = pl.DataFrame({"sex": ["f", "m"] * 100, "region": [f"r{i // 2 % 4}" for i in range(200)]})
    frame.write_csv(tmp_path / "o.csv")
    plan = tmp_path / "plan.yaml"
    plan.write_text("data: {file: o.csv, keys: [sex, region]}\nscenarios: {new order: [shuffle_order]}\n")
    return plan


@pytest.mark.parametrize(
    ("ceiling", "code", "words"),
    [
        ("10 %", 0, "can be released: all"),
        ("100%", 0, "can be released: all"),
        (0.01, 3, "No scenario is acceptable"),
        (None, 4, "is not cleared for release: 1 criterion is not judged."),
        ("0,5", 1, ""),
        ("150%", 1, ""),
    ],
)
def test_the_exit_code_is_that_of_the_verdict(run, safe, ceiling, code, words):
    given = [] if ceiling is None else ["--max-risk", ceiling]
    result = run("compare", safe, *given)
    assert result.exit_code == code, result.output
    assert words in " ".join(result.stdout.split())
    if code in (0, 4):
        document = json.loads(run("compare", safe, *given, "--json").stdout)
        assert document["verdict"]["status"] == {0: "releasable", 4: "open"}[code]


def test_a_file_from_elsewhere_is_not_cleared_without_a_link(run, safe):
    file = safe.with_name("o.csv")
    result = run("assess", file, file, "--plan", safe, "--max-risk", 0.1, "--json")
    assert result.exit_code in (3, 4)
    assert json.loads(result.stdout)["verdict"]["status"] != "releasable"


def test_max_risk_is_a_share(run, survey_csv, protected):
    result = run("assess", survey_csv, protected, *ROLES, "--max-risk", 5)
    assert result.exit_code == 1
    assert "share of persons" in result.stderr


def test_missing_file(run, survey_csv, tmp_path):
    result = run("assess", survey_csv, tmp_path / "absent.csv", *ROLES)
    assert result.exit_code == 1
    assert "does not exist" in result.stderr
    assert "absent.csv" in result.stderr


def test_a_column_gone_and_a_number_recoded(run, survey_csv, tmp_path):
    frame = pl.read_csv(survey_csv)
    frame = frame.drop("sex").with_columns(pl.when(pl.col("income") > 0).then(pl.lit("some")).alias("income"))
    frame.write_csv(tmp_path / "p.csv")
    result = run("assess", survey_csv, tmp_path / "p.csv", *ROLES, "--json")
    assert result.exit_code in RAN, result.output
    assert "Not in the protected file: sex" in result.stderr
    after = json.loads(result.stdout)["risk"]["frequencies"]["after"]
    assert after["options"]["keys"] == ["region", "age"]


@pytest.mark.usefixtures("no_pictures")
def test_direct_identifiers_left_in_are_warned_of(run, survey_csv, tmp_path):
    frame = pl.read_csv(survey_csv).with_columns(pl.col("person_id").alias("name"))
    frame.write_csv(tmp_path / "o.csv")
    words = ("assess", tmp_path / "o.csv", tmp_path / "o.csv", *ROLES, "--direct", "name")
    out = tmp_path / "r.html"
    result = run(*words, "--max-risk", 1, "--report", out)
    assert "still has direct identifiers: name" in result.stderr
    assert result.exit_code == 3
    told = " ".join(result.stdout.split())
    assert "must not be released: " in told
    assert re.search(r"not met +direct identifiers", result.stdout)
    page = out.read_text(encoding="utf-8")
    assert "must not be released:" in page
    assert "can be released:" not in page
    shown = run(*words, "--max-risk", 1, "--measures", "reidentification_risk", "--json")
    assert shown.exit_code == 3
    first = json.loads(shown.stdout)["verdict"]["criteria"][0]
    assert (first["name"], first["status"]) == ("direct identifiers", "not met")


def test_an_option_given_twice_adds_to_the_first(run, survey_csv, protected):
    words = ("assess", survey_csv, protected, "--keys", "region", "--keys", "sex,age", "--json")
    document = json.loads(run(*words, "--measures", "frequencies", "--measures", "entropy").stdout)
    assert document["risk"]["frequencies"]["after"]["options"]["keys"] == ["region", "sex", "age"]
    assert list(document["utility"]) == ["entropy"]


def test_one_file_alone(run, survey_csv):
    result = run("assess", survey_csv, *ROLES)
    assert result.exit_code == 0, result.output
    assert re.search(r"individual_risk +0\.\d+ +low", result.stdout)
    assert "before" not in result.stdout
    assert "utility" not in result.stdout
    document = json.loads(run("assess", survey_csv, *ROLES, "--json").stdout)
    risk = document["risk"]["individual_risk"]
    assert risk["after"]["value"] > 0
    assert risk["before"] is None
    alone = run("assess", survey_csv, *ROLES, "--max-risk", 0)
    assert alone.exit_code == 1
    assert "Give the protected file as well" in alone.stderr


def test_what_one_file_alone_cannot_do(run, survey_csv, tmp_path):
    result = run("assess", survey_csv, *ROLES, "--measures", "il1s")
    assert result.exit_code == 1
    assert "Give the protected file as well" in result.stderr
    result = run("assess", survey_csv, *ROLES, "--report", tmp_path / "r.html")
    assert result.exit_code == 1
    assert "A report compares two files" in result.stderr


def test_without_roles_the_way_to_give_them_comes_first(run, survey_csv, protected):
    result = run("assess", survey_csv, protected)
    first = result.stderr.splitlines()[0]
    assert "--keys" in first
    assert f"sdckit columns {survey_csv}" in first
    assert result.stdout.count("Left out") == 1


def test_what_was_left_out_for_one_reason_is_one_line(run, survey_csv, protected):
    text = " ".join(run("assess", survey_csv, protected, "--keys", "sex").stdout.split())
    assert re.search(r"Left out: [^:]*il1, il1s[^:]*: no column has the role numeric", text)


def test_nothing_that_is_not_a_number_in_json(run, tmp_path):
    pl.DataFrame({"x": [1.0, 1.0, 1.0]}).write_csv(tmp_path / "o.csv")
    pl.DataFrame({"x": [1.0, 1.0, 2.0]}).write_csv(tmp_path / "p.csv")
    result = run("assess", tmp_path / "o.csv", tmp_path / "p.csv", "--numeric", "x", "--json")
    assert "Infinity" not in result.stdout
    assert json.loads(result.stdout)["utility"]["il1s"]["value"] is None


@pytest.mark.usefixtures("no_pictures")
def test_report(run, survey_csv, protected, tmp_path):
    out = tmp_path / "report.html"
    result = run("assess", survey_csv, protected, *ROLES, "--report", out, "--audience", "public")
    assert result.exit_code in RAN, result.output
    assert "<html" in out.read_text(encoding="utf-8")
    assert json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))["audience"] == "public"
    assert f"Wrote {out} and {out.with_suffix('.json')}" in result.stderr


def test_columns_that_no_risk_looks_at_are_warned_of(run, survey_csv, protected):
    words = ("assess", survey_csv, protected, "--keys", "sex", "--measures", "frequencies")
    assert "Warning: No risk looks at person_id" in " ".join(run(*words).stdout.split())
    assert "person_id" in json.loads(run(*words, "--json").stdout)["warnings"][0]


NO_WEIGHT = "No weight: the file is taken for the whole population."


def test_a_forgotten_weight_is_said_once(run, survey_csv, protected):
    words = ("assess", survey_csv, protected, "--keys", "region,sex,age")
    assert run(*words).stderr.count(NO_WEIGHT) == 1
    assert run(*words[:2], *words[3:]).stderr.count(NO_WEIGHT) == 1
    assert run(*words, "--measures", "individual_risk").stderr.count(NO_WEIGHT) == 1
    assert NO_WEIGHT not in run(*words, "--weight", "weight", "--measures", "individual_risk").stderr
    assert NO_WEIGHT not in run(*words, "--measures", "missing_values").stderr


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize("words", [("compare",), ("report", "--force", "--out"), ("search", "--trials", 2)])
def test_a_forgotten_weight_in_a_plan(run, plan, words):
    text = plan.read_text(encoding="utf-8") + "search: [{recode: {variable: age, width: {choices: [5, 20]}}}]"
    plan.write_text(text, encoding="utf-8")
    out = [plan.with_name("report.html")] * (words[0] == "report")
    assert NO_WEIGHT not in run(words[0], plan, *words[1:], *out).stderr
    plan.write_text(text.replace(", weight: weight", ""), encoding="utf-8")
    assert run(words[0], plan, *words[1:], *out).stderr.count(NO_WEIGHT) == 1


def test_a_record_number_is_no_key(run, survey_csv):
    words = ("assess", survey_csv, "--keys", "sex,person_id", "--measures", "individual_risk")
    assert "Warning: person_id differs in every record: not a key." in run(*words).stderr


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize(
    ("risk", "ceiling"),
    [("k_anonymity", 0.05), ("k_anonymity.violations", 20), ("[individual_risk, suda]", 0.0001)],
)
def test_the_accepted_risk_of_another_axis_is_not_one_of_reidentification(
    run, plan, protected, risk, ceiling
):
    assess = f"assess: {{risk: {risk}, max_risk: {ceiling}, measures: [reidentification_risk], "
    plan.write_text(plan.read_text().replace("assess: {", assess))
    words = ("assess", plan.with_name("survey.csv"), protected, "--plan", plan)
    result = run(*words, "--json")
    assert result.exit_code in RAN, result.output
    assert json.loads(result.stdout)["max_risk"] is None
    assert "max_risk is not checked here" in result.stderr
    out = plan.with_name("report.html")
    told = run("report", plan, "--scenario", "age5", "--out", out)
    assert told.exit_code == 0, told.output
    assert "max_risk is not checked here" in told.stderr
    assert "no accepted risk was set" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("risk", ["reidentification_risk", "[reidentification_risk]"])
def test_the_accepted_risk_of_the_plan_holds_for_reidentification(run, plan, protected, risk):
    plan.write_text(plan.read_text().replace("assess: {", f"assess: {{risk: {risk}, max_risk: 0, "))
    words = ("assess", plan.with_name("survey.csv"), protected, "--plan", plan)
    result = run(*words, "--measures", "reidentification_risk", "--json")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["max_risk"] == 0


def test_the_intruders_of_a_plan_attack_two_files(run, survey_csv, protected, tmp_path):
    plan = tmp_path / "office.yaml"
    plan.write_text("intruders: {landlord: {knows: [region, sex]}}\nassess: {max_risk: 50%}\n")
    measures = "reidentification_risk,attribute_inference,revealing_columns"
    shown = run("assess", survey_csv, protected, *ROLES, "--plan", plan, "--measures", measures).stdout
    assert "re-identification by landlord" in shown
    assert "insider" not in shown


def test_several_synthetic_files_are_judged_together(run, survey_csv, tmp_path):
    frame = pl.read_csv(survey_csv).drop("person_id")
    names = [tmp_path / f"made_{i}.csv" for i in (1, 2)]
    for i, path in enumerate(names):
        frame.sample(fraction=1, with_replacement=True, seed=i).write_csv(path)
    plan = tmp_path / "judge.yaml"
    plan.write_text(
        "data: {keys: [region, sex, age], numeric: [income], weight: weight}\n"
        "assess: {linked: false, indicators: {indicators: [mean], synthesis: sample}}\n"
    )
    asked = ("--plan", plan, "--measures", "indicators", "--json")
    result = run("assess", survey_csv, *names, *asked)
    assert result.exit_code in RAN, result.output
    assert "2 synthetic sets combined by the rules for samples" in result.stdout
    assert "files that belong together" in result.stdout
