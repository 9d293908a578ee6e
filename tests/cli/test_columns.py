import json
from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
import yaml

import sdckit as sdc
from cli.codes import RAN
from sdckit.choose.describe import describe
from sdckit.choose.plan import Plan
from sdckit.cli._starter import starter
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role

N = 60


def roles(**columns):
    found = describe(Microdata.of(pl.DataFrame(columns))).columns
    return {c.name: c.role.value if c.role else None for c in found}


def people(n=N):
    rng = np.random.default_rng(1)
    return {
        "person_id": range(n),
        "Name": [f"Person {i}" for i in range(n)],
        "date_of_birth": [date(1990, 1, 1) + timedelta(days=i) for i in range(n)],
        "remarks": [f"said {i}" for i in range(n)],
        "region": ["North", "South"] * (n // 2),
        "age": rng.integers(0, 90, n),
        "HouseholdSize": [1, 2] * (n // 2),
        "hh_id": [i // 2 for i in range(n)],
        "disease": ["none", "some"] * (n // 2),
        "income": rng.normal(1000, 100, n),
        "weight": [1.5, 2.5] * (n // 2),
        "constant": [1] * n,
        "q7": [1, 2, 3] * (n // 3),
    }


def test_suggested_roles():
    assert roles(**people()) == {
        "person_id": "id",
        "Name": "direct",
        "date_of_birth": "keys",
        "remarks": "direct",
        "region": "keys",
        "age": "keys",
        "HouseholdSize": "keys",
        "hh_id": "household",
        "disease": "sensitive",
        "income": "numeric",
        "weight": "weight",
        "constant": None,
        "q7": None,
    }


def test_roles_that_take_one_column_and_weights_that_are_none():
    found = roles(
        id=range(N),
        case_id=[f"a{i}" for i in range(N)],
        weight=[0, 1] * (N // 2),
        weight2=[1, 2] * (N // 2),
        wgt=[3.0, 4.0] * (N // 2),
        sex=["f", "m"] * (N // 2),
    )
    assert found == {
        "id": "id",
        "case_id": "direct",
        "weight": None,
        "weight2": "weight",
        "wgt": None,
        "sex": "keys",
    }


def test_where_no_name_is_known_few_values_are_keys():
    found = roles(pohlavie=["z", "m"] * (N // 2), prijem=np.arange(N) * 1.5, code=[1, 2, 3] * (N // 3))
    assert found == {"pohlavie": "keys", "prijem": "numeric", "code": "keys"}


def test_the_label_is_asked_where_the_name_says_nothing():
    frame = pl.DataFrame({"V1": [1, 2] * 30, "V2": [1, 2] * 30, "income": np.arange(60) * 1.5})
    labels = sdc.Labels({"V1": "Sex of the respondent", "V2": "Water", "income": "From age 15"})
    found = {c.name: c.role for c in describe(Microdata.of(frame, labels=labels)).columns}
    assert found == {"V1": Role.KEYS, "V2": None, "income": Role.NUMERIC}


def test_odd_columns(tmp_path):
    frame = pl.DataFrame(
        {
            "list": [[1], [2]],
            "empty": pl.Series([None, None], dtype=pl.String),
            "infinite": [float("inf"), 1.0],
            "yes": [True, False],
        }
    )
    kinds = {
        c.name: (c.kind, c.different, c.missing, c.common) for c in describe(Microdata.of(frame)).columns
    }
    assert kinds["empty"] == ("text", 0, 2, ())
    assert kinds["yes"] == ("true/false", 2, 0, ())
    assert kinds["infinite"][0] == "number"
    assert kinds["list"][1] == 0


def test_no_value_that_identifies_is_shown(run, tmp_path):
    data = people() | {
        "region": ["North"] * (N - 1) + ["Rareland"],
        "village": ["Onlyhere", *["Big"] * (N - 1)],
    }
    pl.DataFrame(data).write_csv(tmp_path / "people.csv")
    shown = run("columns", tmp_path / "people.csv")
    assert shown.exit_code == 0, shown.output
    assert "North" in shown.stdout
    assert "Big" in shown.stdout
    for word in ("Person 1", "1990", "said", "Rareland", "Onlyhere"):
        assert word not in shown.stdout
        assert word not in run("columns", tmp_path / "people.csv", "--json").stdout


def test_json(run, survey_csv):
    document = json.loads(run("columns", survey_csv, "--json").stdout)
    assert document["records"] == 200
    sex = next(c for c in document["columns"] if c["name"] == "sex")
    assert sex["role"] == "keys"
    assert sex["different"] == 2
    assert Plan.parse(document["plan"]).data["file"] == "survey.csv"


@pytest.mark.parametrize("ending", [".csv", ".sav"])
@pytest.mark.parametrize("make", [sdc.demo.survey, sdc.demo.business])
def test_the_plan_runs_as_it_is(run, tmp_path, monkeypatch, make, ending):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "plans").mkdir()
    sdc.write(make(n=300, seed=1), tmp_path / "data" / f"file{ending}")
    result = run("columns", f"data/file{ending}", "--plan", "plans/plan.yaml")
    assert result.exit_code == 0, result.output
    assert "Wrote plans/plan.yaml" in result.stderr
    done = run("compare", "plans/plan.yaml", "--json")
    assert done.exit_code in (0, 3), done.output
    assert all(s["error"] == "" for s in json.loads(done.stdout)["scenarios"])


def test_a_plan_without_keys_or_anything(run, tmp_path):
    pl.DataFrame({"x": np.arange(N) * 1.5, "y": np.arange(N) ** 1.5}).write_csv(tmp_path / "x.csv")
    assert run("columns", tmp_path / "x.csv", "--plan", tmp_path / "x.yaml").exit_code == 0
    assert run("compare", tmp_path / "x.yaml").exit_code in RAN
    pl.DataFrame({"x": [1] * N}).write_csv(tmp_path / "y.csv")
    result = run("columns", tmp_path / "y.csv")
    assert result.exit_code == 0, result.output
    assert "Without a role, so that no risk looks at them: x" in result.stdout


def test_odd_names_stay_names(run, tmp_path):
    names = ["a: b", "#c", "two\nlines", "[sex]"]
    pl.DataFrame({n: ["f", "m"] * (N // 2) for n in names}).write_parquet(tmp_path / "x.parquet")
    text = json.loads(run("columns", tmp_path / "x.parquet", "--json").stdout)["plan"]
    assert yaml.safe_load(text)["data"]["keys"] == ["[sex]"]
    assert "# Without a role, so that no risk looks at them: a: b, #c, two lines\n" in text
    assert run("columns", tmp_path / "x.parquet").exit_code == 0


def test_a_codebook_goes_into_the_plan(run, tmp_path):
    (tmp_path / "data").mkdir()
    pl.DataFrame({"v1": [1, 2, 9] * 20, "age": range(60)}).write_csv(tmp_path / "data" / "people.csv")
    book, plan = tmp_path / "data" / "book.csv", tmp_path / "plan.yaml"
    book.write_text("variable,label,value,value_label,missing\nv1,Sex,1,male,\nv1,,2,female,\nv1,,9,?,yes\n")
    told = run("columns", tmp_path / "data" / "people.csv", "--codebook", book, "--plan", plan)
    assert told.exit_code == 0, told.output
    assert "codes: [9], variables: [v1]" in told.output
    loaded = sdc.Plan.load(plan)
    assert loaded.data["codebook"] == "data/book.csv"
    assert "v1" in loaded.data["keys"]  # its label says so
    with pytest.warns(sdc.errors.SdcWarning, match="marks values as missing"):
        assert loaded.read().labels.variables == {"v1": "Sex"}
    told = run("columns", tmp_path / "data" / "people.csv", "--codebook", tmp_path / "none.xml")
    assert told.exit_code != 0
    assert "There is no such codebook." in told.output


def test_a_plan_is_never_replaced(run, survey_csv, tmp_path):
    out = tmp_path / "plan.yaml"
    out.write_text("mine")
    result = run("columns", survey_csv, "--plan", out)
    assert result.exit_code == 1
    assert "exists already, and is not replaced" in result.stderr
    assert out.read_text() == "mine"
    result = run("columns", survey_csv, "--plan", survey_csv)
    assert result.exit_code == 1
    assert "A plan is a YAML file" in result.stderr


def test_a_file_that_is_not_there(run, tmp_path):
    result = run("columns", tmp_path / "absent.csv")
    assert result.exit_code == 1
    assert "does not exist" in result.stderr


def test_decimals_and_a_column_called_as_our_own():
    data = pl.DataFrame({"price": [Decimal(i) / 7 for i in range(N)], "of records": ["a", "b"] * (N // 2)})
    price, other = describe(Microdata.of(data)).columns
    assert price.role is Role.NUMERIC
    assert set(other.common) == {"a", "b"}


def test_ages_as_text_are_not_recoded(run, tmp_path):
    classes = {**people(), "age": ["20-29", "30-39"] * (N // 2)}
    sdc.write(Microdata.of(pl.DataFrame(classes)), tmp_path / "people.csv")
    saved = tmp_path / "my plan.yaml"
    result = run("columns", tmp_path / "people.csv", "--plan", saved)
    assert result.exit_code == 0, result.output
    assert "variable: age" not in saved.read_text()
    assert f"sdckit compare '{saved}'" in result.stderr
    assert f"sdckit compare '{saved}'" in saved.read_text().splitlines()[0]
    assert run("compare", saved).exit_code in (0, 3)


def test_dates_of_birth_are_keys_and_other_dates_get_no_role():
    days = pl.date_range(pl.date(1950, 1, 1), pl.date(1950, 2, 28), eager=True)
    frame = pl.DataFrame({"birth_date": days, "interview": days, "sex": ["f", "m"] * 29 + ["f"]})
    found = {c.name: (c.role, c.reason) for c in describe(Microdata.of(frame)).columns}
    assert found["birth_date"] == (Role.KEYS, "a date that people know; recode it to the year")
    assert found["interview"][0] is None
    assert "a key if somebody may know it" in found["interview"][1]
    summary = describe(Microdata.of(frame)).columns
    plan = sdc.Plan.parse(starter(summary, {"file": "people.csv"}, "plan.yaml"))
    assert all(s.steps[0].options == {"variable": "birth_date", "to": "year"} for s in plan.scenarios)


def test_accents_and_short_names_are_understood():
    frame = pl.DataFrame({"Région": ["N", "S"] * 20, "educ_lvl": [1, 2] * 20, "ill?": ["y", "n"] * 20})
    found = {c.name: c.role for c in sdc.describe(sdc.read(frame)).columns}
    assert found == {"Région": Role.KEYS, "educ_lvl": Role.KEYS, "ill?": Role.SENSITIVE}


def test_the_plan_has_the_steps_that_every_release_needs(run, tmp_path):
    n = 60
    frame = pl.DataFrame(
        {
            "hid": [i // 2 for i in range(n)],
            "Age (years)": [i % 50 for i in range(n)],
            "income": [i * 1.5 for i in range(n)],
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    run("columns", tmp_path / "people.csv", "--plan", tmp_path / "plan.yaml")
    steps = yaml.safe_load((tmp_path / "plan.yaml").read_text())["scenarios"]["age by 5, k 3"]
    assert steps[0] == {"recode": {"variable": "Age (years)", "width": 5}}
    assert steps[-2:] == [{"new_ids": {}}, {"shuffle_order": {}}]


def test_codes_for_missing_are_pointed_out_and_the_step_works(run, tmp_path):
    frame = pl.DataFrame({"sex": ["f", "m"] * 20, "income": [100.0 * i for i in range(30)] + [-9.0] * 10})
    frame.write_csv(tmp_path / "people.csv")
    plan = tmp_path / "plan.yaml"
    assert (
        "codes: [-9], variables: [income]" in run("columns", tmp_path / "people.csv", "--plan", plan).output
    )
    text = plan.read_text()
    line = next(line for line in text.splitlines() if line.startswith("# prepare: "))
    plan.write_text(text.replace("  file: people.csv\n", f"  file: people.csv\n  {line[2:]}\n"))
    run("protect", plan, "--scenario", "k 3", "--out", tmp_path / "safe.csv")
    assert sdc.read(tmp_path / "safe.csv").frame["income"].null_count() == 10
