from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sdckit.cli
from sdckit.demo import survey
from sdckit.io import write

PLAN = """
data:
  {file: survey.csv, id: person_id, keys: [region, sex, age], numeric: [income, wealth_index], weight: weight}
scenarios:
  age5:
    - recode: {variable: age, width: 5}
  age20_income:
    - recode: {variable: age, width: 20}
    - microaggregate: {variables: [income], k: 3}
assess: {utility: [il1s, missing_values], k_anonymity: {k: 5}}
seed: 7
"""


@pytest.fixture
def run():
    """Run a command line and return its exit code, stdout and stderr."""
    return lambda *words: CliRunner().invoke(sdckit.cli.app, [str(word) for word in words])


@pytest.fixture(scope="session")
def survey_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = survey(n=200, seed=1)
    return write(data, tmp_path_factory.mktemp("survey") / "survey.csv")


@pytest.fixture
def plan(tmp_path: Path, survey_csv: Path) -> Path:
    """A plan with its data beside it."""
    (tmp_path / "survey.csv").write_bytes(survey_csv.read_bytes())
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN, encoding="utf-8")
    return path


@pytest.fixture
def no_pictures(monkeypatch):
    """Reports without the charts of measures, which take most of the time to write one.

    For tests of options, files and exit codes; tests/report and `test_all_scenarios` draw all of them.
    """
    module = import_module("sdckit.report.pictures")  # the package has a function under the name report
    monkeypatch.setattr(module, "pictures", lambda *_: {"charts": [], "all": 0})
