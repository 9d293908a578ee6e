"""What continuous integration and releases rely on."""

import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def check_release():
    spec = importlib.util.spec_from_file_location("check_release", ROOT / ".ci" / "check_release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def release(root, version="1.2.3", heading="1.2.3 (2026-01-31)", cited="1.2.3", date="2026-01-31"):
    (root / "src" / "sdckit").mkdir(parents=True)
    (root / "src" / "sdckit" / "_version.py").write_text(f'__version__ = "{version}"\n')
    (root / "CHANGELOG.md").write_text(f"# Changelog\n\n## {heading}\n\n## 1.2.2 (2025-01-01)\n")
    (root / "CITATION.cff").write_text(f'version: {cited}\ndate-released: "{date}"\n')
    return root


def test_a_release_in_which_all_agrees(check_release, tmp_path):
    assert check_release.problems("v1.2.3", release(tmp_path)) == []


@pytest.mark.parametrize(
    ("tag", "changes", "told"),
    [
        ("v1.2.4", {}, "The tag is v1.2.4"),
        ("v1.2.3", {"heading": "Unreleased"}, "The changelog begins with 'Unreleased'"),
        ("v1.2.3", {"heading": "1.2.3"}, "and a date"),
        ("v1.2.3", {"cited": "1.2.2"}, "does not name version 1.2.3"),
        ("v1.2.3", {"date": "2025-01-01"}, "does not have the date 2026-01-31"),
    ],
)
def test_a_release_that_is_refused(check_release, tmp_path, tag, changes, told):
    (problem,) = check_release.problems(tag, release(tmp_path, **changes))
    assert told in problem


def test_every_dependency_has_a_lowest_version():
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "lowest.py")], capture_output=True, text=True, check=True
    )
    bounds = dict(line.split("==") for line in done.stdout.split())
    names = {text.split(">")[0].split("[")[0] for text in PROJECT["dependencies"]}
    assert names <= set(bounds)
    assert "pandas>=" + bounds["pandas"] in PROJECT["dependencies"]


@pytest.mark.parametrize("file", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda file: file.name)
def test_github_can_read_its_files(file):
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    if file.parent.name == "workflows":
        assert {"name", True, "permissions", "jobs"} <= set(content)  # YAML takes "on" for true
        for job in content["jobs"].values():
            assert all(("run" in step) != ("uses" in step) for step in job["steps"])
    elif file.name not in ("config.yml", "dependabot.yml"):
        fields = [field for field in content["body"] if field["type"] != "markdown"]
        assert len({field["id"] for field in fields}) == len(fields)


def test_every_python_that_is_promised_is_tried():
    named = {c.rsplit(" ", 1)[1] for c in PROJECT["classifiers"] if "Python :: 3." in c}
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
    assert set(tests["jobs"]["test"]["strategy"]["matrix"]["python"]) == named


@pytest.mark.xdist_group("of its own")
def test_tests_that_share_something_run_in_one_process(request):
    """pytest-xdist 3.8 loses the groups with pytest 9.2, without a word: everything is then made twice."""
    if request.config.getoption("loadgroup", default=False):
        assert request.node.nodeid.endswith("@of its own")
