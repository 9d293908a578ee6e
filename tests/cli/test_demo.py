import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import sdckit as sdc
import sdckit.cli
from cli.codes import RAN
from sdckit.choose.plan import Plan
from sdckit.demo import survey
from sdckit.demo.scenarios import ASSESS, COLUMNS, INTRUDERS, KEYS, NUMERIC, SCENARIOS, SENSITIVE
from sdckit.io import read


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory):
    out = tmp_path_factory.mktemp("demo") / "new" / "demo"
    return out, CliRunner().invoke(sdckit.cli.app, ["demo", "--out", str(out), "--n", "200"])


def recommended(text: str) -> str:
    return next(line for line in text.splitlines() if "★" in line).split()[0]


def test_writes_all_files_and_says_so(shown):
    out, result = shown
    assert result.exit_code == 0, result.output
    names = {"report.html", "report.json", "protected.csv", "protected.sav", "scenarios.yaml", "original.csv"}
    assert {path.name for path in out.iterdir()} == names
    assert (out / "report.html").stat().st_size < 5_000_000
    for name in names:
        assert name in result.stdout.replace("\n", "")
    assert "★ recommended" in result.stdout
    said = " ".join(result.stdout.split())
    assert "cells_of_10 loses less" in said  # but there are too few persons to hide a whole household among
    assert "but family finds" in said
    assert "“cells_of_20” can be released" in said
    assert "artificial" in result.stderr
    assert "Next: open" in result.stdout


def test_the_plan_runs_again_with_the_same_choice(shown):
    out, result = shown
    again = CliRunner().invoke(sdckit.cli.app, ["compare", str(out / "scenarios.yaml"), "--json"])
    assert again.exit_code in RAN, again.output
    document = json.loads(again.stdout)
    assert len(SCENARIOS) >= 6
    assert [s["name"] for s in document["scenarios"]] == list(SCENARIOS)
    assert [s["error"] for s in document["scenarios"]] == [""] * len(SCENARIOS)
    assert document["best"] == recommended(result.stdout)
    # The ceiling divides the scenarios: some are too risky, some are not.
    risks = [s["risk"] for s in document["scenarios"]]
    assert min(risks) <= document["max_risk"] < max(risks)


def test_the_protected_file_is_the_recommended_scenario(shown, tmp_path: Path):
    out, result = shown
    best = recommended(result.stdout)
    again = tmp_path / "again.csv"
    words = ["protect", str(out / "scenarios.yaml"), "--scenario", best, "--out", str(again)]
    assert CliRunner().invoke(sdckit.cli.app, words).exit_code == 0
    made, first = pl.read_csv(again), pl.read_csv(out / "protected.csv")
    assert made.columns == first.columns  # suppression draws in secret: not every blank is the same
    assert made.height == first.height == 200
    assert made["sex"].null_count() == pytest.approx(first["sex"].null_count(), abs=10)
    assert (out / "original.csv").read_bytes() != (out / "protected.csv").read_bytes()
    assert read(out / "protected.sav").labels.values["sex"] == {1: "Male", 2: "Female"}


def test_the_recommended_file_survives_its_own_attack():
    data = survey(2000, 1)
    data = data.without(tuple(c for c in data.columns if c not in COLUMNS))
    data = data.with_roles(keys=KEYS, numeric=NUMERIC, sensitive=SENSITIVE)
    some = {name: SCENARIOS[name] for name in ("coarse_k5_groups", "cells_of_10")}
    found = sdc.compare(data, some, seed=1, intruders=INTRUDERS, **ASSESS)
    weak, strong = found.results
    assert found.best is strong
    assert found.verdict.releasable, found.verdict
    assert weak.risk > 0.5 > 5 * strong.risk  # what is often done is not enough


def test_the_plan_says_that_the_data_are_artificial(shown):
    out, _ = shown
    assert "artificial" in (out / "scenarios.yaml").read_text(encoding="utf-8").splitlines()[0]
    assert Plan.load(out / "scenarios.yaml").read().height == 200


@pytest.mark.usefixtures("no_pictures")
def test_json_with_another_seed(shown, tmp_path: Path, monkeypatch):
    first, _ = shown
    few = {name: SCENARIOS[name] for name in ("age5", "cells_of_10")}
    monkeypatch.setattr("sdckit.demo.scenarios.SCENARIOS", few)
    words = ["demo", "--out", str(tmp_path), "--n", "200", "--seed", "2", "--json"]
    document = json.loads(CliRunner().invoke(sdckit.cli.app, words).stdout)
    assert len(document["files"]) == 6
    assert document["best"] == "cells_of_10"
    assert (tmp_path / "original.csv").read_bytes() != (first / "original.csv").read_bytes()


@pytest.mark.usefixtures("no_pictures")
def test_without_an_acceptable_scenario_exit_code_3_and_no_protected_file(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("sdckit.demo.scenarios.SCENARIOS", {"age5": SCENARIOS["age5"]})
    result = CliRunner().invoke(sdckit.cli.app, ["demo", "--out", str(tmp_path), "--n", "200"])
    assert result.exit_code == 3
    assert not (tmp_path / "protected.csv").exists()
    assert (tmp_path / "report.html").exists()


def test_a_file_in_the_way_of_the_folder(run, tmp_path: Path):
    (tmp_path / "demo").write_text("")
    result = run("demo", "--out", tmp_path / "demo", "--n", 200)
    assert result.exit_code == 1
    assert "folder cannot be made" in result.stderr


def test_too_few_persons_is_wrong_usage(run):
    assert run("demo", "--n", 3).exit_code == 2
