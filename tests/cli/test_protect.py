import json

import sdckit.choose.scenario
from sdckit.io import read


def test_writes_the_file_and_prints_the_log(run, plan):
    out = plan.with_name("protected.sav")
    result = run("protect", plan, "--scenario", "age20_income", "--out", out)
    assert result.exit_code == 0, result.output
    assert "microaggregate" in result.stdout
    assert "recode" in result.stdout
    assert str(out.name) in result.stdout
    assert "Not judged: whether this can be released." in result.stderr
    assert "sdckit compare plan.yaml judges it, with --seed 7." in result.stderr
    assert read(out).height == 200


def test_the_plan_s_seed_is_used_unless_another_is_given(run, plan, monkeypatch):
    seeds = []
    real = sdckit.choose.scenario.Scenario.protect

    def spy(self, data, seed=0, progress=None):
        seeds.append(seed)
        return real(self, data, seed, progress)

    monkeypatch.setattr(sdckit.choose.scenario.Scenario, "protect", spy)
    words = ("protect", plan, "--scenario", "age5", "--out", plan.with_name("p.csv"), "--json")
    assert json.loads(run(*words).stdout)["seed"] == 7
    assert json.loads(run(*words, "--seed", 3, "--force").stdout)["seed"] == 3
    assert seeds == [7, 3]


def test_json_has_the_log(run, plan):
    out = plan.with_name("p.csv")
    result = run("protect", plan, "--scenario", "age5", "--out", out, "--json")
    document = json.loads(result.stdout)
    assert document["steps"][0]["method"] == "recode"
    assert document["steps"][0]["options"]["width"] == 5
    assert list(document["files"].values()) == [str(out)]


def test_several_scenarios_and_none_named(run, plan):
    result = run("protect", plan, "--out", plan.with_name("p.csv"))
    assert result.exit_code == 1
    assert "choose one with --scenario" in result.stderr
    assert "age5, age20_income" in result.stderr
    assert not plan.with_name("p.csv").exists()


def test_the_only_scenario_needs_no_name(run, plan):
    text = plan.read_text()
    start, end = text.index("  age20_income"), text.index("assess:")
    plan.write_text(text[:start] + text[end:])
    assert run("protect", plan, "--out", plan.with_name("p.csv")).exit_code == 0


def test_a_plan_without_scenarios(run, plan):
    plan.write_text("data: {file: survey.csv}\n")
    result = run("protect", plan, "--out", plan.with_name("p.csv"))
    assert result.exit_code == 1
    assert "no scenarios" in result.stderr


def test_unknown_scenario_suggests_the_nearest(run, plan):
    result = run("protect", plan, "--scenario", "age6", "--out", plan.with_name("p.csv"))
    assert result.exit_code == 1
    assert "Did you mean 'age5'?" in result.stderr


def test_a_format_that_cannot_be_written_is_refused_before_work(run, plan):
    result = run("protect", plan, "--scenario", "age5", "--out", plan.with_name("p.docx"))
    assert result.exit_code == 1
    assert ".docx" in result.stderr
    assert "Step" not in result.stderr


def test_what_was_dropped_and_what_no_risk_looks_at_is_said(run, plan):
    text = plan.read_text().replace("id: person_id", "direct: [household_id]")
    plan.write_text(text.replace("width: 5}", "width: 5}\n    - drop: {variables: [urban]}"))
    words = ("protect", plan, "--scenario", "age5", "--out")
    result = run(*words, plan.with_name("p.csv"))
    assert result.exit_code == 0, result.output
    assert "Dropped: household_id, urban\n" in result.stdout
    without = next(line for line in result.stdout.splitlines() if line.startswith("Released without a role"))
    assert "person_id" in without
    assert "sex" not in without
    assert "Warning: No risk looks at person_id" in result.stderr
    document = json.loads(run(*words, plan.with_name("q.csv"), "--json").stdout)
    assert document["dropped"] == ["household_id", "urban"]
    assert "person_id" in document["without_role"]
    assert "person_id" in document["warnings"][0]


def test_ids_of_the_original_are_warned_of(run, plan):
    result = run("protect", plan, "--scenario", "age5", "--out", plan.with_name("p.csv"))
    told = [
        line
        for line in result.stderr.splitlines()
        if line.startswith("Warning: Before this file is released:")
    ]
    assert len(told) == 1
    assert "ids of the original, which new_ids renews: person_id" in told[0]
    words = ("protect", plan, "--scenario", "age5", "--out", plan.with_name("q.csv"), "--json")
    assert json.loads(run(*words).stdout)["warnings"][-1] == told[0].removeprefix("Warning: ")
    assert "new_ids" in result.stderr


def test_decimal_commas(run, plan):
    out = plan.with_name("p.csv")
    result = run("protect", plan, "--scenario", "age20_income", "--out", out, "--decimal-comma")
    assert result.exit_code == 0, result.output
    assert ";" in out.read_text().splitlines()[0]


def test_a_codebook_beside_the_file(run, plan):
    out = plan.with_name("p.sav")
    words = ("protect", plan, "--scenario", "age5", "--codebook", "--out", out)
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert "ddi:codebook:2_5" in plan.with_name("p.codebook.xml").read_text()
    assert "p.codebook.html" in result.stdout
    out.unlink()
    assert "p.codebook.html exists already; add --force to replace it." in run(*words).stderr


def test_formulas_are_escaped_on_request(run, plan):
    """No text of the survey is a formula; the file is the same with and without."""
    names = [plan.with_name("p.csv"), plan.with_name("q.csv")]
    assert run("protect", plan, "--scenario", "age5", "--out", names[0]).exit_code == 0
    assert run("protect", plan, "--scenario", "age5", "--escape-formulas", "--out", names[1]).exit_code == 0
    assert names[0].read_bytes() == names[1].read_bytes()
    result = run("protect", plan, "--scenario", "age5", "--escape-formulas", "--out", plan.with_name("p.sav"))
    assert "Only texts of .csv files are run as formulas" in result.stderr


SYNTHETIC = """
data: {file: survey.csv, id: person_id, keys: [sex, region], numeric: income}
scenarios:
  made: [{recode: {variable: age, width: 5}}, {synthesize: {leaf: 5}}]
  k3: [{suppress: {k: 3}}]
seed: 7
"""


def test_several_synthetic_files(run, plan):
    plan.write_text(SYNTHETIC, encoding="utf-8")
    out = plan.with_name("made.csv")
    result = run("protect", plan, "--scenario", "made", "--out", out, "--sets", 3, "--json")
    assert result.exit_code == 0, result.output
    assert "judges them together" in result.stderr
    files = [plan.with_name(f"made_{i}.csv") for i in (1, 2, 3)]
    assert list(json.loads(result.stdout)["files"].values()) == [str(f) for f in files]
    frames = [read(f).frame for f in files]
    assert not frames[0].equals(frames[1])
    again = run("protect", plan, "--scenario", "made", "--out", plan.with_name("one.csv"), "--seed", 9)
    assert again.exit_code == 0
    assert read(plan.with_name("one.csv")).frame.equals(frames[2]), "the third has seed 7 + 2"


def test_sets_are_of_scenarios_that_draw_values_anew(run, plan):
    plan.write_text(SYNTHETIC, encoding="utf-8")
    result = run("protect", plan, "--scenario", "k3", "--out", plan.with_name("p.csv"), "--sets", 2)
    assert result.exit_code == 1
    assert "draws no values anew" in result.stderr
    assert (
        run("protect", plan, "--scenario", "made", "--out", plan.with_name("p.csv"), "--sets", 0).exit_code
        == 2
    )
