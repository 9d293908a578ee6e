"""A cluster for real, and Spark Connect: what is not sent to the workers is not there.

One program each for all tests of this file: starting it takes longer than the work. It runs in a process of
its own, because a process has one Spark at a time.
"""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
import spark_program

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

CONNECT = ("grpc", "grpc_status", "zstandard")


@pytest.fixture(scope="module", params=["cluster", "connect"])
def ran(request, tmp_path_factory):
    """The folder that a program on Spark wrote to, and what it found."""
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("a cluster of Spark needs Java, and there is none")
    missing = [name for name in CONNECT if find_spec(name) is None]
    if request.param == "connect" and missing:
        pytest.skip(f"Spark Connect needs {', '.join(missing)}: pip install 'pyspark[connect]'")
    folder = tmp_path_factory.mktemp(request.param)
    spark_program.write_input(folder)
    paths = os.pathsep.join([str(Path(sdc.__file__).parents[1]), *filter(None, sys.path)])
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": paths}
    command = [sys.executable, spark_program.__file__, request.param, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=500, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return request.param, folder, json.loads((folder / "found.json").read_text())


@pytest.fixture(scope="module")
def here(ran, tmp_path_factory):
    """The same work in memory."""
    out = tmp_path_factory.mktemp("memory")
    return out, spark_program.work(ran[1], out)


def test_the_work_is_done_where_it_should_be(ran):
    mode, _, found = ran
    if mode == "cluster":
        assert found["workers"] >= 2
    else:
        assert "connect" in found["kind"]


def test_measures_are_those_in_memory(ran, here):
    assert ran[2]["values"] == pytest.approx(here[1], rel=1e-9)


def test_files_are_those_written_from_memory(ran, here):
    _, folder, _ = ran
    for name in ("out", "out.csv"):
        expected = sdc.read(here[0] / name).frame.sort("person_id").cast({pl.Enum: pl.String})
        assert sdc.read(folder / name).frame.select(expected.columns).sort("person_id").equals(expected)
    assert {p.name for p in folder.iterdir()} == {"in", "out", "out.csv", "found.json"}
