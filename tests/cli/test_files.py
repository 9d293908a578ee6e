"""What is read is never written over, and nothing else is replaced without being asked for."""

from pathlib import Path

import pytest

import sdckit as sdc
from sdckit.cli import _files


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


def test_the_numbers_beside_a_report_are_guarded_too(run, plan):
    (plan.with_name("map.json")).write_text("{}")
    before = contents(plan.parent)
    result = run("compare", plan, "--report", plan.with_name("map.html"))
    assert_refused(result, plan.parent, before, "map.json exists already; add --force to replace it")
    assert run("compare", plan, "--report", plan.with_name("map.html"), "--force").exit_code == 0


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
    (tmp_path / "scenarios.yaml").write_text("# Written by sdckit demo. …")
    result = run("demo", "--out", tmp_path, "--n", 200)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "original.csv").read_text() != "mine"


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
