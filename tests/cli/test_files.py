"""What is read is never written over, and nothing else is replaced without being asked for."""

import shutil
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sdckit as sdc
import sdckit.cli
from cli.codes import RAN
from sdckit.cli import _files
from sdckit.demo.scenarios import SCENARIOS


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def assert_refused(result, folder, before, words):
    assert result.exit_code == 1, result.output
    assert words in result.stderr
    assert result.stdout == ""
    assert not any(word in result.stderr for word in ("Step", "Measure", "Scenario "))  # before any work
    assert contents(folder) == before


@pytest.fixture
def protected(run, plan):
    out = plan.with_name("protected.csv")
    assert run("protect", plan, "--scenario", "age5", "--out", out).exit_code == 0
    return out


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_protect_never_replaces_the_data_or_the_plan(run, plan, force):
    before = contents(plan.parent)
    words = ("protect", plan, "--scenario", "age5", *force, "--out")
    result = run(*words, plan.with_name("survey.csv"))
    assert_refused(result, plan.parent, before, "reads this file, so it is not written over")


def test_links_and_roundabout_paths_lead_to_the_same_file(run, plan, monkeypatch):
    folder = plan.parent
    (folder / "hard.csv").hardlink_to(folder / "survey.csv")
    (folder / "link.csv").symlink_to("survey.csv")
    (folder / "sub").mkdir()
    before = contents(folder)
    monkeypatch.chdir(folder)
    for name in ("hard.csv", "link.csv", "sub/../survey.csv", "survey.csv"):
        result = run("protect", "plan.yaml", "--scenario", "age5", "--force", "--out", name)
        assert_refused(result, folder, before, "not written over")


@pytest.mark.parametrize("command", ["compare", "search", "report"])
@pytest.mark.parametrize("name", ["survey.csv", "plan.yaml", "new.json", "new"])
def test_reports_are_html_files_only(run, plan, command, name):
    before = contents(plan.parent)
    option = "--out" if command == "report" else "--report"
    result = run(command, plan, option, plan.with_name(name), "--force")
    assert_refused(result, plan.parent, before, "The report is an HTML file")


@pytest.mark.usefixtures("no_pictures")
def test_the_numbers_beside_a_report_are_guarded_too(run, plan):
    (plan.with_name("map.json")).write_text("{}")
    before = contents(plan.parent)
    result = run("compare", plan, "--report", plan.with_name("map.html"))
    assert_refused(result, plan.parent, before, "map.json exists already; add --force to replace it")
    assert run("compare", plan, "--report", plan.with_name("map.html"), "--force").exit_code in RAN


def test_assess_never_replaces_what_it_reads(run, plan, protected):
    # a data file may have any name: here it ends as a report does
    page = plan.with_name("page.html")
    plan.write_text(plan.read_text().replace("k_anonymity: {k: 5}", "k_map: {population: page.html}"))
    page.write_text("a register")
    before = contents(plan.parent)
    words = ("assess", plan.with_name("survey.csv"), protected, "--plan", plan, "--force", "--report")
    assert_refused(run(*words, page), plan.parent, before, "not written over")
    assert_refused(run(*words, protected), plan.parent, before, "The report is an HTML file")


def test_an_existing_file_is_replaced_only_by_force(run, plan):
    out = plan.with_name("released.csv")
    out.write_text("last year's")
    before = contents(plan.parent)
    words = ("protect", plan, "--scenario", "age5", "--out", out)
    assert_refused(
        run(*words), plan.parent, before, "released.csv exists already; add --force to replace it."
    )
    assert run(*words, "--force").exit_code == 0
    assert sdc.read(out).height == 200


def test_a_folder_without_permission_is_refused_before_work(run, plan, monkeypatch):
    def refused(**kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(_files, "TemporaryFile", refused)
    before = contents(plan.parent)
    for words in (("protect", "--scenario", "age5", "--out", "p.csv"), ("report", "--out", "r.html")):
        result = run(words[0], plan, *words[1:-1], plan.with_name(words[-1]))
        assert_refused(result, plan.parent, before, "no permission")


def test_demo_replaces_its_own_files_only(run, tmp_path):
    (tmp_path / "original.csv").write_text("mine")
    result = run("demo", "--out", tmp_path, "--n", 200)
    assert_refused(result, tmp_path, {"original.csv": b"mine"}, "original.csv exists already")


@pytest.fixture(scope="module")
def two_demos(tmp_path_factory):
    """The folder after a demo and a second one with another seed, and original.csv of the first."""
    folder = tmp_path_factory.mktemp("demos")
    words = ["demo", "--out", str(folder), "--n", "200"]
    few = {name: SCENARIOS[name] for name in ("age5", "cells_of_10")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sdckit.demo.scenarios.SCENARIOS", few)
        patch.setattr(
            import_module("sdckit.report.pictures"), "pictures", lambda *_: {"charts": [], "all": 0}
        )
        assert CliRunner().invoke(sdckit.cli.app, words).exit_code in RAN
        first = (folder / "original.csv").read_bytes()
        assert CliRunner().invoke(sdckit.cli.app, [*words, "--seed", "2"]).exit_code in RAN
    return folder, first


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize("changed", ["scenarios.yaml", "original.csv"])
def test_a_second_demo_replaces_only_what_nobody_changed(run, two_demos, tmp_path, monkeypatch, changed):
    folder, first = two_demos
    assert len(contents(folder)) == 6
    assert (folder / "original.csv").read_bytes() != first
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    # a demo without a recommended file is short, and what is there before it begins counts
    monkeypatch.setattr("sdckit.demo.scenarios.SCENARIOS", {"age5": SCENARIOS["age5"]})
    words = ("demo", "--out", tmp_path, "--n", 200)
    with (tmp_path / changed).open("a") as file:
        file.write("# mine\n")
    before = contents(tmp_path)
    assert_refused(run(*words), tmp_path, before, "exists already; add --force")
    assert run(*words, "--force").exit_code in RAN
    assert "mine" not in (tmp_path / changed).read_text()


def test_two_outputs_are_two_files(run, plan):
    (plan.parent / "lnk").symlink_to(plan.parent)
    page = plan.with_name("page.html")
    with pytest.raises(sdc.errors.FileError, match="Two outputs"):
        _files.check_outputs([page, plan.parent / "lnk" / "page.html"], [], force=True)
    before = contents(plan.parent)
    result = run("search", plan, "--report", page, "--save", plan.with_name("page.json"))
    assert_refused(result, plan.parent, before, "A plan is a YAML file")


def test_a_formula_in_a_plan_is_no_home_folder(run, plan):
    plan.write_text(plan.read_text().replace("{k: 5}", "{k: 5}, regression: {formula: ~ sex}"))
    result = run("protect", plan, "--scenario", "age5", "--out", plan.with_name("out.csv"))
    assert result.exit_code == 0, result.output


@pytest.mark.usefixtures("no_pictures")
def test_home_folders_in_options(run, plan, monkeypatch):
    home = plan.parent / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    assert run("columns", plan.with_name("survey.csv"), "--plan=~/new.yaml").exit_code == 0
    assert run("protect", plan, "--scenario", "age5", "--out=~/out.csv").exit_code == 0
    assert run("compare", plan, "--report=~/map.html").exit_code in RAN
    assert sorted(contents(home)) == ["map.html", "map.json", "new.yaml", "out.csv"]
    assert run("protect", plan, "--scenario", "age5", "--out=~nobody_of_this_name/out.csv").exit_code == 1


def test_a_data_file_that_may_not_be_read(run, plan, monkeypatch):
    real = Path.open

    def refused(self, *args, **kwargs):
        if self.name == "survey.csv":
            raise PermissionError(13, "Permission denied", str(self))
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", refused)
    result = run("compare", plan)
    assert result.exit_code == 1
    assert "cannot be read: no permission, or it is open in another program" in result.stderr
    assert "broken" not in result.stderr


def test_the_data_are_replaced_by_overwrite_alone(run, plan):
    data = plan.with_name("survey.csv")
    before = contents(plan.parent)
    result = run("protect", plan, "--scenario", "age5", "--overwrite", "--out", data)
    assert result.exit_code == 0, result.stderr
    after = contents(plan.parent)
    assert after.keys() == before.keys()
    assert after["survey.csv"] != before["survey.csv"]
    assert after["plan.yaml"] == before["plan.yaml"]
