"""A program on a cluster or through Spark Connect: what its tests compare with the same work in memory.

python spark_program.py (cluster | connect) FOLDER: reads FOLDER/in/*.parquet, writes FOLDER/out,
FOLDER/out.csv and FOLDER/found.json.
"""

import json
import sys
import warnings
from pathlib import Path

import polars as pl

import sdckit as sdc

RECORDS = 10_000
ROLES = {
    "id": "person_id",
    "keys": ["region", "sex", "age"],
    "numeric": ["income", "expenditure"],
    "weight": "weight",
    "household": "household_id",
}
ASKED = {
    "measures": ["individual_risk", "household_risk", "moments", "indicators", "regression"],
    "indicators": {"indicators": ["mean", "gini"], "variables": ["income"]},
    "regression": {"formula": "log1p(income) ~ sex + expenditure"},
}


def write_input(folder: Path) -> None:
    """A survey in four files."""
    (folder / "in").mkdir()
    whole = sdc.demo.survey(n=RECORDS, seed=1).frame.cast({pl.Enum: pl.String})
    part = RECORDS // 4
    for i in range(4):
        whole[i * part : (i + 1) * part].write_parquet(folder / "in" / f"{i}.parquet")


def work(folder: Path, out: Path, **where: str) -> dict[str, float]:
    """Protect and write the files, and assess the result; what the measures found."""
    data = sdc.read(folder / "in" / "*.parquet", **where, **ROLES)
    protected = sdc.protect.recode(data, variable="age", width=20)
    protected = sdc.protect.suppress(protected, k=3, seed=1)
    protected = sdc.protect.round_values(protected, variables=["income"], base=1000)
    protected = sdc.protect.pram(protected, variables=["sex"], rng=1)
    sdc.write(protected, out / "out", partition_by="region")
    sdc.write(protected, out / "out.csv")
    found = sdc.assess(data, protected, **ASKED)
    values = {f"before {name}": result.value for name, result in found.before.items()}
    values |= {f"after {name}": result.value for name, result in found.after.items()}
    return values | {name: result.value for name, result in found.utility.items()}


def session(mode: str):
    """A session on two workers in processes of their own, or through Spark Connect."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.config("spark.sql.shuffle.partitions", "2")
    builder = builder.config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1")
    for process in ("driver", "executor"):
        builder = builder.config(f"spark.{process}.extraJavaOptions", "-XX:TieredStopAtLevel=1")
    if mode == "connect":
        return builder.remote("local[2]").getOrCreate()
    builder = builder.config("spark.executorEnv.PYTHONPATH", ":".join(sys.path))
    return builder.master("local-cluster[2,1,1024]").getOrCreate()


def main() -> None:
    mode, folder = sys.argv[1], Path(sys.argv[2])
    warnings.simplefilter("ignore")
    spark = session(mode)
    values = work(folder, folder, engine="spark")

    def processes(batches):
        import os

        import pyarrow as pa

        for batch in batches:
            yield pa.RecordBatch.from_pydict({"id": [os.getpid()] * batch.num_rows})

    asked = spark.range(0, 40, 1, 4).mapInArrow(processes, "id long").collect()
    found = {"kind": type(spark).__module__, "workers": len({row[0] for row in asked}), "values": values}
    (folder / "found.json").write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main()
