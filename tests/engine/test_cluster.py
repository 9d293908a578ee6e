"""A cluster for real, two workers in processes of their own: what is not sent to them is not there.

One program for all tests of this file: starting it takes longer than the work. It runs in a process of its
own, because a process has one Spark at a time.
"""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import sdckit as sdc

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

PROGRAM = """
import json, sys, warnings
from pathlib import Path
import sdckit as sdc
from pyspark.sql import SparkSession

warnings.simplefilter("ignore")
folder = Path(sys.argv[1])
session = (
    SparkSession.builder.master("local-cluster[2,1,1024]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.executorEnv.PYTHONPATH", ":".join(sys.path))
    .getOrCreate()
)
roles = json.loads(sys.argv[2])
data = sdc.read(folder / "in" / "*.parquet", engine="spark", **roles)
protected = sdc.protect.recode(data, variable="age", width=20)
sdc.write(protected, folder / "out", partition_by="sex")
sdc.write(protected, folder / "out.csv")
found = {name: getattr(sdc.risk, name)(protected).value for name in ("individual_risk", "household_risk")}
found["moments"] = dict(sdc.utility.moments(data, protected, probabilities=[0.5]).figures)


def processes(batches):
    import os

    for batch in batches:
        yield batch.set_column(0, "id", [[os.getpid()] * batch.num_rows])


asked = session.range(0, 40, 1, 4).mapInArrow(processes, "id long").collect()
found["workers"] = len({row[0] for row in asked})
print(json.dumps(found))
session.stop()
"""
ROLES = {
    "id": "person_id",
    "keys": ["region", "sex", "age"],
    "numeric": ["income", "expenditure"],
    "weight": "weight",
    "household": "household_id",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The folder that a program on a cluster wrote to, and what it found."""
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("a cluster of Spark needs Java, and there is none")
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "in").mkdir()
    whole = sdc.demo.survey(n=2000, seed=1).frame.cast({"sex": str, "region": str})
    for i in range(4):
        whole[i * 500 : (i + 1) * 500].write_parquet(folder / "in" / f"{i}.parquet")
    paths = os.pathsep.join([str(Path(sdc.__file__).parents[1]), *filter(None, sys.path)])
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": paths}
    command = [sys.executable, "-c", PROGRAM, str(folder), json.dumps(ROLES)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder, json.loads(done.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="module")
def here(cluster):
    data = sdc.read(cluster[0] / "in" / "*.parquet", **ROLES)
    return data, sdc.protect.recode(data, variable="age", width=20)


def test_the_work_is_done_by_several_processes(cluster):
    assert cluster[1]["workers"] >= 2


def test_measures_are_those_in_memory(cluster, here):
    found = cluster[1]
    data, protected = here
    for name in ("individual_risk", "household_risk"):
        assert found[name] == pytest.approx(getattr(sdc.risk, name)(protected).value, rel=1e-9)
    expected = dict(sdc.utility.moments(data, protected, probabilities=[0.5]).figures)
    assert found["moments"] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_files_are_those_written_from_memory(cluster, here, tmp_path):
    _, protected = here
    folder, _ = cluster
    for name, options in {"out": {"partition_by": "sex"}, "out.csv": {}}.items():
        expected = sdc.read(sdc.write(protected, tmp_path / name, **options)).frame.sort("person_id")
        assert sdc.read(folder / name).frame.select(expected.columns).sort("person_id").equals(expected)
    assert {p.name for p in folder.iterdir()} == {"in", "out", "out.csv"}
