"""--engine of the commands, data: {engine: …} of plans, and files that may be too large for memory."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

from cli.codes import RAN
from sdckit._support import memory
from sdckit.choose import records_looked_at
from sdckit.choose.plan import Plan
from sdckit.engine import spark_session
from sdckit.io import read

ROLES = ("--keys", "region,sex,age", "--weight", "weight", "--id", "person_id", "--engine", "duckdb")


def test_protect_and_assess_on_duckdb(run, plan):
    out = plan.with_name("p.parquet")
    result = run("protect", plan, "--scenario", "age5", "--out", out, "--engine", "duckdb")
    assert result.exit_code == 0, result.output
    assert "Step 1/2: recode" in result.stderr
    assert "Step 2/2: writing" in result.stderr
    run("protect", plan, "--scenario", "age5", "--out", plan.with_name("m.parquet"))
    here, there = (read(plan.with_name(f"{name}.parquet")).frame.sort("person_id") for name in "mp")
    assert there.equals(here.select(there.columns))
    wanted = ("--measures", "individual_risk,records_changed")
    result = run("assess", plan.with_name("survey.csv"), out, *ROLES, *wanted)
    assert "individual_risk" in result.stdout
    assert "records_changed" in result.stdout
    assert "needs the records in memory" not in result.stdout


def test_a_plan_names_the_engine(run, plan):
    plan.write_text(plan.read_text().replace("{file: survey.csv,", "{file: survey.csv, engine: duckdb,"))
    result = run("compare", plan, "--risk", "individual_risk", "--utility", "missing_values")
    assert "with engine: duckdb the data are not in memory" in result.stderr
    assert "age20_income" in result.stdout
    result = run("compare", plan, "--utility", "missing_values", "--engine", "polars")
    assert "not in memory" not in result.stderr


def test_folders_in_and_out(run, plan):
    folder = plan.with_name("parts")
    folder.mkdir()
    whole = read(plan.with_name("survey.csv")).frame
    whole[:80].write_parquet(folder / "a.parquet")
    whole[80:].write_parquet(folder / "b.parquet")
    plan.write_text(plan.read_text().replace("file: survey.csv", "file: parts/*.parquet"))
    out = plan.with_name("out")
    words = ("protect", plan, "--scenario", "age5", "--out", out, "--partition-by", "sex")
    result = run(*words, "--engine", "duckdb")
    assert result.exit_code == 0, result.output
    assert {p.name for p in out.iterdir()} == {*(f"sex={s}" for s in whole["sex"].unique()), "_sdckit.json"}
    assert read(out).height == 200
    assert "exists already; add --force" in run(*words).stderr
    assert run(*words, "--force").exit_code == 0


def test_a_file_that_may_be_too_large_is_announced(run, plan, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 20_000)
    words = ("protect", plan, "--scenario", "age5", "--out", plan.with_name("p.csv"))
    result = run(*words)
    assert result.exit_code == 0
    assert "more than a third of the free memory" in result.stderr
    assert "--engine duckdb" in result.stderr
    assert "free memory" not in run(*words, "--force", "--engine", "duckdb").stderr
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    assert "free memory" not in run(*words, "--force").stderr


def test_spark_without_java(run, plan, monkeypatch):
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    from pyspark.sql import SparkSession

    monkeypatch.setattr(spark_session, "has_java", lambda: False)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    result = run("protect", plan, "--scenario", "age5", "--out", plan.with_name("p.csv"), "--engine", "spark")
    assert result.exit_code == 1
    assert "Spark needs Java, and there is none. Install Java 17, or set JAVA_HOME" in result.stderr
    monkeypatch.setattr(spark_session, "find_spec", lambda name: None)
    result = run("protect", plan, "--scenario", "age5", "--out", plan.with_name("p.csv"), "--engine", "spark")
    assert "pyspark is not installed. pip install 'sdckit[spark]'" in result.stderr


def test_free_memory(monkeypatch, tmp_path):
    found = memory.free_memory()
    assert found is None or found > 2**20
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("400\n")
    monkeypatch.setattr(memory, "CONTAINER", tmp_path)
    assert memory.free_memory() == 600
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.free_memory() != 600


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_ctrl_c_leaves_nothing_behind(tmp_path):
    n = 3_000_000
    pl.select(
        id=pl.int_range(n), age=pl.int_range(n) % 90, x=(pl.int_range(n) * 7 % 1000003).cast(pl.Float64)
    ).write_parquet(tmp_path / "in.parquet")
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "data: {file: in.parquet, engine: duckdb, id: id, keys: [age]}\n"
        "scenarios: {s: [{recode: {variable: age, width: 5}}]}\n"
    )
    before = {p.name for p in tmp_path.iterdir()}
    command = [sys.executable, "-c", "from sdckit.cli import main; main()", "protect", str(plan)]
    with subprocess.Popen([*command, "--out", str(tmp_path / "out.csv")], stderr=subprocess.PIPE) as process:
        lines = []
        for line in process.stderr:
            lines.append(line)
            if b"writing" in line:
                break
        while not any(p.stat().st_size for p in tmp_path.rglob("new.csv")):
            assert process.poll() is None, lines
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        lines += process.stderr.readlines()
        assert process.wait(timeout=120) == 130, lines
    assert lines[-1] == b"Interrupted; nothing is half-written.\n"
    assert {p.name for p in tmp_path.iterdir()} == before


def test_report_on_duckdb(run, plan, no_pictures):
    """Also what the report itself counts is counted where the records are."""
    asked = "assess: {measures: [individual_risk, indicators], indicators: {indicators: [mean], by: [sex]}}"
    plan.write_text(re.sub("assess: .*", asked, plan.read_text()))
    out = plan.with_name("r.html")
    result = run("report", plan, "--scenario", "age5", "--out", out, "--engine", "duckdb")
    assert result.exit_code == 0, result.output
    assert "mean of" in out.read_text().lower()


def test_a_file_of_the_folder_that_is_read_is_refused_before_any_step(run, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    pl.DataFrame({"id": range(20), "age": range(20)}).write_parquet(folder / "a.parquet")
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "data: {file: parts, engine: duckdb, id: id, keys: [age]}\nscenarios: {one: [{suppress: {k: 2}}]}\n"
    )
    for name in ("a.parquet", "new.parquet"):
        result = run("protect", plan, "--out", folder / name, "--force")
        assert result.exit_code == 1
        assert "The data are still read from this file" in result.stderr
        assert "Step 1" not in result.stderr
    assert [p.name for p in folder.iterdir()] == ["a.parquet"]


def test_a_name_without_an_ending_says_how_folders_are_written(run, plan):
    result = run("protect", plan, "--scenario", "age5", "--out", plan.parent / "folder")
    assert result.exit_code == 1
    assert "--partition-by" in result.stderr


def test_columns_on_duckdb(run, plan, monkeypatch):
    monkeypatch.setattr(records_looked_at, "MOST", 100)
    file, made = plan.with_name("survey.csv"), plan.with_name("made.yaml")
    result = run("columns", file, "--engine", "duckdb", "--plan", made)
    assert result.exit_code == 0, result.output
    assert "of 200 records: records and missing values are counted in the whole file" in result.stdout
    assert Plan.load(made).data["engine"] == "duckdb"
    told = json.loads(run("columns", file, "--engine", "duckdb", "--json").stdout)
    assert told["records"] == 200
    assert told["looked_at"] < 200
    compared = run("compare", made)
    assert compared.exit_code in RAN
    assert "loses least" in compared.stdout
    assert json.loads(run("columns", file, "--json").stdout)["looked_at"] == 200


@pytest.fixture
def no_spark(monkeypatch):
    """Spark must not be started: what is wrong is said before."""

    def start():
        raise AssertionError("Spark was started")

    monkeypatch.setattr(spark_session, "start_session", start)


WRONG = {  # plans that name what is not there, or cannot be
    "ROLE": ("[region,", "[regoin,"),
    "STEP": ("variable: age,", "variable: agee,"),
    "INTRUDER": ("seed: 7", "seed: 7\nintruders: {colleague: {knows: [keys, {incom: 10%}]}}"),
    "OPTION": ("k_anonymity: {k: 5}", "contingency_tables: {tables: [[regoin, sex]]}"),
    "PLACE": ("scenarios:", "search: [{recode: {variable: agee, width: {choices: [5, 10]}}}]\nscenarios:"),
    "WHERE": ("{variables: [income],", "{variables: [income], where: atypical_records,"),
    "PREPARE": ("{file: survey.csv,", "{file: survey.csv, prepare: [drop_empty],"),
}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["protect", "PLAN", "--scenario", "age5", "--out", "OUT"], "exists already; add --force"),
        (["protect", "PLAN", "--scenario", "agee5", "--out", "NEW"], "no scenario 'agee5'"),
        (["compare", "PLAN", "--save", "SAVED"], "exists already; add --force"),
        (["compare", "PLAN", "--risk", "k_anonimity"], "k_anonymity"),
        (["report", "PLAN", "--out", "PAGE"], "exists already; add --force"),
        (["report", "PLAN", "--out", "NEW.html", "--scenario", "agee5"], "no scenario 'agee5'"),
        (["assess", "FILE", "OUT", "--save", "SAVED"], "exists already; add --force"),
        (["assess", "FILE", "OUT", "--measures", "k_anonimity"], "k_anonymity"),
        (["assess", "FILE", "NEW"], "The file does not exist"),
        (["columns", "NEW"], "The file does not exist"),
        (["search", "PLAN"], "no search space"),
        (["protect", "ROLE", "--scenario", "age5", "--out", "NEW"], "Role 'keys' names column 'regoin'"),
        (["compare", "ROLE"], "Did you mean 'region'?"),
        (["compare", "STEP"], "There is no column 'agee'"),
        (["compare", "INTRUDER"], "knows a column that the data do not have: 'incom'"),
        (["compare", "OPTION"], "Options of contingency_tables: There is no column 'regoin'"),
        (["search", "PLACE"], "There is no column 'agee'"),
        (["compare", "WHERE"], "where needs the records in memory"),
        (["compare", "PREPARE"], "needs the records in memory. Given: the spark engine"),
        (["report", "STEP", "--out", "NEW.html", "--scenario", "age5"], "There is no column 'agee'"),
        (["protect", "PLAN", "--scenario", "age5", "--out", "FOLDER", "--partition-by", "sexx"], "'sexx'"),
        (["assess", "FILE", "OUT", "--keys", "regoin"], "Role 'keys' names column 'regoin'"),
        (["assess", "BROKEN", "OUT", "--keys", "regoin"], "The file cannot be read as .parquet"),
    ],
)
def test_what_is_wrong_is_said_before_spark_is_started(run, plan, no_spark, words, said):
    there = {"OUT": "out.parquet", "SAVED": "saved.json", "PAGE": "page.html"}
    for name in there.values():
        plan.with_name(name).write_text("x")
    paths = {k: plan.with_name(name) for k, name in there.items()}
    paths |= {"PLAN": plan, "FILE": plan.with_name("survey.csv"), "NEW": plan.with_name("new.parquet")}
    paths |= {"NEW.html": plan.with_name("new.html"), "FOLDER": plan.with_name("folder")}
    paths["BROKEN"] = paths["OUT"]
    for name, (before, after) in WRONG.items():
        paths[name] = plan.with_name(f"{name.lower()}.yaml")
        paths[name].write_text(plan.read_text().replace(before, after))
    result = run(*(paths.get(word, word) for word in words), "--engine", "spark")
    assert result.exit_code == 1, result.output
    assert said in result.stderr
