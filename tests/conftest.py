"""Fixtures every test may use."""

import importlib
import importlib.util
import json
import os
import random
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
from hypothesis import settings

import sdckit as sdc
from sdckit.data import microdata
from sdckit.methods import preparing

settings.register_profile("no deadline", deadline=None)  # machines are shared, and the first call compiles
settings.load_profile("no deadline")

SHARED = Path(os.environ.get("SDCKIT_ORACLES", Path(__file__).parents[2] / "shared"))
HAS_ORACLES = (SHARED / "oracles").is_dir()
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # optimising code takes longer than our small data
SLOW = ("fuzz/", "studies/", "report/", "cli/test_demo.py", "test_interrupt.py", "spark")


draws = random.Random()
for module in (
    microdata,
    preparing,
):  # secret elsewhere; here the same in every run of a test
    module.randbits = draws.getrandbits


@pytest.hookimpl(tryfirst=True)  # before its fixtures are made
def pytest_runtest_setup(item: pytest.Item) -> None:
    draws.seed(item.nodeid.partition("@")[0])


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist asks for groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is slow, and leave out what needs results on third-party files where these are not.

    Whole programs, reports, searches for odd data and Spark are slow: -m "not slow" leaves them out. Tests
    that share what a module made once go to one process, so that it is made once.
    """
    for item in items:
        if any(part in item.nodeid for part in SLOW):
            item.add_marker(pytest.mark.slow)
        if shares_a_fixture(item) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.split("::")[0]))
    if not HAS_ORACLES:
        absent = [item for item in items if "oracles" in getattr(item, "fixturenames", ())]
        if absent:
            config.hook.pytest_deselected(items=absent)
            items[:] = [item for item in items if "oracles" not in getattr(item, "fixturenames", ())]


def shares_a_fixture(item: pytest.Item) -> bool:
    """Whether a test uses a fixture that is made once for its module."""
    info = getattr(item, "_fixtureinfo", None)
    return info is not None and any(f[-1].scope == "module" for f in info.name2fixturedefs.values())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for the extra tests, instead of a skip for each."""
    if not HAS_ORACLES:
        text = f"no folder {SHARED / 'oracles'} (SDCKIT_ORACLES): tests on third-party files are left out"
        terminalreporter.write_line(text)


def study(name: str) -> ModuleType:
    """A program of studies/ as a module."""
    path = Path(__file__).parents[1] / "studies" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"study_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Oracles:
    """Stored results of other programs, read on demand."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "oracles"
        self.data_folder = folder / "data"

    def cases(self, topic: str) -> list[dict]:
        return json.loads(next(self.folder.glob(f"{topic}_*.json")).read_text())

    def path(self, name: str) -> Path:
        if name.startswith("files/"):
            return self.folder / name
        return next(p for p in self.data_folder.iterdir() if p.name.split(".")[0] == name)

    def data(self, case_dataset: dict, **roles) -> sdc.Microdata:
        name = case_dataset.get("modified_csv") or case_dataset["name"]
        return sdc.read(self.path(name), **roles)

    def frame(self, name: str) -> pl.DataFrame:
        return sdc.read(self.path(name)).frame


@pytest.fixture(scope="session")
def oracles() -> Oracles:
    """Results on third-party files, an extra: tests that ask for it are left out where there are none."""
    return Oracles(SHARED)


@pytest.fixture(scope="session")
def survey() -> sdc.Microdata:
    return sdc.demo.survey(n=600, seed=1)


@pytest.fixture(scope="session")
def duckdb_connection():
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    connection = duckdb.connect()
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def spark_session():
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is none")
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers need the packages of this environment
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.default.parallelism", "2")
        .config("spark.driver.extraJavaOptions", QUICK_JAVA)
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def oracle_cases(topic: str, keep=lambda case: True) -> list:
    """Cases for parametrize; one placeholder where the results are absent, whose test is left out."""
    found = list((SHARED / "oracles").glob(f"{topic}_*.json"))
    if not HAS_ORACLES:
        return [pytest.param(None, id="absent")]
    return [pytest.param(c, id=c["id"]) for c in json.loads(found[0].read_text()) if keep(c)]


@pytest.fixture(scope="module")
def checked_charts():
    """Charts checked against their schema, which takes too long where reports are written."""

    def checked(chart):
        return chart.to_dict()

    with pytest.MonkeyPatch.context() as patch:
        for name in ("sdckit._support.static_svg", "sdckit.charts", "sdckit.report.scenario_panels"):
            patch.setattr(importlib.import_module(name), "plain", checked)
        patch.setattr(sdc.charts, "unchecked", nullcontext)
        yield
