"""How count_cells grows with the number of records, on each engine installed here.

    python -m benchmarks.engines [--spark]

Prints seconds (best of three), the growth exponent from the size before, and for Polars the peak extra memory
of the first run in a fresh process (later runs reuse memory the allocator has kept, and would show none).
"""

import argparse
import os
import sys
import threading
import time
from math import log
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl

from sdckit.engine import frames, random, tables

SIZES = (10_000, 100_000, 1_000_000)
LEVELS = {"region": 9, "sex": 2, "age": 90, "education": 7, "occupation": 40}


def survey(n: int) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    keys = {name: rng.integers(0, levels, n) for name, levels in LEVELS.items()}
    return pl.DataFrame({**keys, "w": rng.uniform(1, 100, n), "id": np.arange(n)})


class PeakMemory:
    """Resident memory above the start, sampled every millisecond (Linux; elsewhere 0)."""

    def __enter__(self) -> "PeakMemory":
        self.start = self.top = resident()
        self.running = True
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self) -> None:
        while self.running:
            self.top = max(self.top, resident())
            time.sleep(0.001)

    def __exit__(self, *error: object) -> None:
        self.running = False
        self.thread.join()

    @property
    def extra_mb(self) -> float:
        return (self.top - self.start) / 2**20


def resident() -> int:
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def engines(with_spark: bool):
    yield "polars", lambda frame: frame
    try:
        import duckdb
    except ImportError:
        print("duckdb is not installed")
    else:
        connection = duckdb.connect()
        yield "duckdb", lambda frame: connection.from_arrow(frame.to_arrow())
    if with_spark:
        from pyspark.sql import SparkSession

        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield "spark", lambda frame: session.createDataFrame(frame.to_arrow()).cache()


def best(work, times: int = 3) -> float:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


JOBS = {
    "count_cells": lambda table: tables.count_cells(table, list(LEVELS), "w"),
    "moments": lambda table: tables.moments(table, ["age", "w"], "w"),
    "uniform": lambda table: tables.moments(
        random.uniform(table, id="id", seed=1, step=1, name="u").select("u"), ["u"], None
    ),
}


def first_run_memory(name: str, n: int) -> float:
    JOBS[name](frames.lazy(survey(100)))  # imports and thread pools are not what we measure
    table = frames.lazy(survey(n))
    with PeakMemory() as peak:
        JOBS[name](table)
    return peak.extra_mb


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spark", action="store_true", help="also on Spark (needs pyspark and Java)")
    for engine, put in engines(parser.parse_args().spark):
        for name, job in JOBS.items():
            before = None
            for n in SIZES:
                table = frames.lazy(put(survey(n)))
                job(table)
                seconds = best(lambda job=job, table=table: job(table))
                growth = "" if before is None else f"  growth n^{log(seconds / before) / log(10):.2f}"
                memory = ""
                if engine == "polars":
                    with get_context("spawn").Pool(1) as fresh:
                        memory = f"  peak +{fresh.apply(first_run_memory, (name, n)):.0f} MB"
                print(f"{engine:7} {name:12} {n:>9,}  {seconds:7.3f} s{growth}{memory}", flush=True)
                before = seconds


if __name__ == "__main__":
    main()
