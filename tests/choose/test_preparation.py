"""Preparation in a plan: the same on the command line and in the library, and said in plain sight."""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import sdckit as sdc
from sdckit.choose.preparation import Preparation, preparations_of
from sdckit.cli import app
from sdckit.errors import OptionError, SdcError

N = 400
PLAN = """
data:
  file: survey.csv
  separator: ;
  decimal: ","
  prepare:
  - declare_missing: {codes: [99], variables: [answer]}
  - keep_records: {where: age >= 18 and answer is not missing}
  - merge_file: {file: homes.csv, by: hid}
  - combine: {variables: [area, sex], name: stratum}
  - set_type: {variables: [answer], type: category}
  - drop_empty
  keys: [area, sex]
  sensitive: [answer]
  strata: [stratum]
  direct: [name]
scenarios:
  a: [{drop: {variables: [hid, age, income, size]}}, shuffle_order]
assess: {max_risk: 0.05}
seed: 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    homes = pl.DataFrame({"hid": range(200), "size": [1, 2, 3, 4] * 50})
    homes.write_csv(tmp_path / "homes.csv")
    frame = pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(N)],
            "hid": rng.integers(0, 200, N),
            "area": rng.choice(["north", "south"], N),
            "sex": rng.choice(["f", "m"], N),
            "age": rng.integers(0, 90, N),
            "answer": rng.choice([1, 2, 99], N),
            "income": rng.integers(0, 9000, N) + 0.5,
            "note": pl.Series([None] * N, dtype=pl.String),
        }
    )
    frame.write_csv(tmp_path / "survey.csv", separator=";", decimal_comma=True)
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    return tmp_path


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.output


def criterion(verdict, name="preparation of the original"):
    return next(c for c in verdict if c.name == name)


def test_a_plan_reads_prepares_and_then_gives_roles(folder: Path):
    data = sdc.Plan.load(folder / "plan.yaml").read()
    raw = sdc.read(folder / "survey.csv", separator=";", decimal=",")
    expected = raw.frame.filter((pl.col("age") >= 18) & (pl.col("answer") != 99))
    assert data.height == expected.height
    assert data.frame["income"].to_list() == expected["income"].to_list()
    assert "name" not in data.columns
    assert data.dropped == ("name",)
    assert "note" not in data.columns
    homes = dict(pl.read_csv(folder / "homes.csv").rows())
    assert data.frame["size"].to_list() == [homes[h] for h in expected["hid"]]
    assert data.frame["answer"].to_list() == [str(v) for v in expected["answer"]]
    assert data.roles.strata == ("stratum",)
    assert [e.method for e in data.prepared] == [
        "declare_missing",
        "keep_records",
        "merge_file",
        "combine",
        "set_type",
        "drop_empty",
    ]


def test_plan_and_text_go_round(folder: Path):
    plan = sdc.Plan.load(folder / "plan.yaml")
    again = sdc.Plan.parse(plan.to_yaml(), folder)
    assert again.data == plan.data
    assert again.read().frame.equals(plan.read().frame)


def test_command_line_and_library_make_the_same_bytes(folder: Path):
    _, said = run("protect", folder / "plan.yaml", "--out", folder / "out.csv")
    assert (folder / "out.csv").exists(), said
    plan = sdc.Plan.load(folder / "plan.yaml")
    protected = plan.find("a").protect(plan.read(), seed=plan.seed)
    sdc.write(protected, folder / "same.csv")
    first, second = (sha256((folder / f).read_bytes()).hexdigest() for f in ("out.csv", "same.csv"))
    assert first == second
    _code, said = run(
        "assess", folder / "survey.csv", folder / "out.csv", "--plan", folder / "plan.yaml", "--json"
    )
    told = json.loads(said[said.index("{") :])
    assert [e["method"] for e in told["prepared"]][:2] == ["declare_missing", "keep_records"]
    assert told["records"] == plan.read().height


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{keep_records: {where: 'age >'}}", "must be a list"),
        ("[{keep_record: {first: 3}}]", "Preparation 1: There is no preparation 'keep_record'"),
        ("[{keep_records: {wher: 3}}]", "Preparation 1: keep_records has no option 'wher'"),
        ("[{suppress: {k: 3}}]", "There is no preparation 'suppress'"),
        ("[{keep_records: 3}]", "Preparation 1 is not valid"),
        ("[7]", "Preparation 1 is not valid"),
    ],
)
def test_what_is_wrong_is_said_when_the_plan_is_read(entry: str, said: str):
    with pytest.raises(SdcError, match=said):
        sdc.Plan.parse(f"data: {{file: a.csv, prepare: {entry}}}")


def test_what_the_file_does_not_allow_is_said_with_its_place(folder: Path):
    plan = sdc.Plan.parse(
        "data: {file: survey.csv, prepare: [drop_empty, {set_missing: {variables: [x], where: 'age > 1'}}]}",
        folder,
    )
    with pytest.raises(SdcError, match=r"Preparation 2 \(set_missing\): There is no column 'x'"):
        plan.read()


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("separator: ab", "separator is one character"),
        ("header: perhaps", "true or false"),
        ("decimal: x", "decimal is the mark"),
    ],
)
def test_reading_options_are_checked_when_the_plan_is_read(entry: str, said: str):
    with pytest.raises(OptionError, match=said):
        sdc.Plan.parse(f"data: {{file: a.csv, {entry}}}")
    assert sdc.Plan.parse("data: {file: a.csv, header: no, sheet: 2}").data["header"] is False


def test_a_demo_is_prepared_under_its_own_roles():
    plan = sdc.Plan.parse("data: {demo: {survey: 300}, prepare: [{keep_records: {where: age >= 30}}]}")
    data = plan.read()
    assert data.frame["age"].min() >= 30
    assert data.roles == sdc.demo.survey(n=300, seed=1).roles


# --- the verdict and the reports


def people(**columns) -> sdc.Microdata:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "area": rng.choice(["n", "s"], 1200),
            "sex": rng.choice(["f", "m"], 1200),
            "answer": rng.choice(["y", "n"], 1200),
        }
    )
    return sdc.Microdata.of(frame.with_columns(**columns))


def judged(data: sdc.Microdata, **options):
    data = data.with_roles(keys=["area", "sex"], sensitive=["answer"])
    return sdc.assess(
        data,
        sdc.protect.shuffle_order(data, rng=1),
        measures=["reidentification_risk", "attribute_inference", "revealing_columns"],
        max_risk=0.01,
        **options,
    )


def test_a_preparation_that_changes_no_value_is_said_and_met():
    done = judged(sdc.prepare.keep_records(people(), first=1000)).verdict
    found = criterion(done)
    assert found.met
    assert "about the file after preparation (“Keep a part of the records”)" in found.why
    assert ", made from the prepared file, can be released" in done.headline
    plain = judged(people()).verdict
    assert "prepared" not in plain.headline
    assert not [c for c in plain if c.name == found.name]


@pytest.mark.parametrize(
    "step",
    [
        Preparation("set_missing", variables=["area"], where="area == 'n' and sex == 'f' and answer == 'y'"),
        Preparation("declare_missing", variables=["area"], codes=["n"]),
        Preparation("replace_values", variables=["area"], values={"n": "s"}),
    ],
)
def test_values_changed_in_preparation_are_not_judged_until_accepted(step: Preparation):
    data = step.prepare(people())
    verdict = judged(data, accept={"missing_keys": True}).verdict
    found = criterion(verdict)
    assert found.status == "not judged"
    count = data.prepared[0].figures["values_changed"]["area"]
    assert f"{count:,} of area" in found.why
    assert not verdict.releasable
    accepted = judged(data, accept={"missing_keys": True, "prepared": ["area"]}).verdict
    assert criterion(accepted).met


def test_changes_of_columns_that_are_not_released_or_have_no_role_do_not_matter():
    data = sdc.prepare.replace_values(people(extra=pl.lit("a")), variables="extra", values={"a": "b"})
    assert criterion(judged(data).verdict).met


def test_changed_values_do_not_hide_in_a_combined_column():
    data = sdc.prepare.replace_values(people(), variables="area", values={"n": "s"})
    data = sdc.prepare.combine(data, variables=["area", "sex"], name="both")
    data = data.with_roles(keys=["both"], sensitive=["answer"])
    released = sdc.protect.drop(data, variables=["area", "sex"])
    found = criterion(sdc.assess(data, released, measures=[], max_risk=0.5).verdict)
    assert found.status == "not judged"
    assert "of both" in found.why


def test_reports_say_so_in_plain_sight(tmp_path: Path):
    data = sdc.prepare.replace_values(
        people(extra=pl.lit("<b>secret")), variables="extra", values={"<b>secret": "x"}
    )
    done = judged(sdc.prepare.keep_records(data, where="sex == 'f' or sex == 'm'", together=None))
    internal = sdc.report(done, tmp_path / "internal.html").read_text(encoding="utf-8")
    public = sdc.report(done, tmp_path / "public.html", audience="public").read_text(encoding="utf-8")
    for text in (internal, public):
        assert "Prepared before" in text
        assert "as prepared" in text
        assert "Keep a part of the records" in text
    assert "sex == " in internal
    assert "the rule holds for them" in internal
    assert "sex == " not in public
    assert "secret" not in public
    assert "<b>secret" not in internal
    again = sdc.load_results(sdc.save_results(done, tmp_path / "r.json"))
    assert "Prepared before" in sdc.report(again, tmp_path / "again.html").read_text(encoding="utf-8")


def test_the_scenario_file_of_a_report_prepares_as_well(tmp_path: Path, folder: Path):
    plan = sdc.Plan.load(folder / "plan.yaml")
    data = plan.read()
    done = sdc.assess(data, plan.find("a").protect(data, seed=3), measures=[], max_risk=0.05)
    content = json.loads(
        (sdc.report(done, tmp_path / "a.html").with_suffix(".json")).read_text(encoding="utf-8")
    )
    again = sdc.Plan.parse(content["scenario_file"], folder)
    steps = preparations_of(again.data["prepare"])
    assert [s.method for s in steps] == [e.method for e in data.prepared]
    assert str(folder) not in content["scenario_file"]
    assert steps[1].options["where"] == "age >= 18 and answer is not missing"


@pytest.mark.parametrize("role", ["weight", "household"])
def test_changes_of_what_risks_rest_on_are_asked_for_though_it_is_not_released(role: str):
    data = people(number=pl.int_range(1200) // 2 + 1)
    data = sdc.prepare.replace_values(data, variables="number", values={1: 5000, 2: 7000})
    data = data.with_roles(keys=["area", "sex"], sensitive=["answer"], **{role: "number"})
    released = sdc.protect.drop(data, variables=["number"])
    found = criterion(sdc.assess(data, released, measures=[], max_risk=0.5).verdict)
    assert found.status == "not judged"
    assert "4 of number" in found.why
    accepted = sdc.assess(data, released, measures=[], max_risk=0.5, accept={"prepared": ["number"]})
    assert criterion(accepted.verdict).met
