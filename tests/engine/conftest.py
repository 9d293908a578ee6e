"""The same data on every engine that is installed here, rows shuffled."""

import importlib.util
import os
import random
import shutil
import sys

import narwhals as nw
import polars as pl
import pytest

from sdckit.engine import frames


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
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(params=frames.ENGINES)
def engine(request):
    return request.param


@pytest.fixture
def put(engine, request):
    """A function that puts a Polars frame on the engine, rows in another order."""

    def on(frame: pl.DataFrame):
        rows = list(range(frame.height))
        random.Random(len(rows)).shuffle(rows)
        shuffled = frame[rows]
        if engine == "polars":
            return frames.accept(shuffled)[0]
        arrow = shuffled.cast({pl.Enum: pl.String}).to_arrow()
        if engine == "duckdb":
            connection = request.getfixturevalue("duckdb_connection")
            return frames.accept(connection.from_arrow(arrow))[0]
        return frames.accept(request.getfixturevalue("spark_session").createDataFrame(arrow))[0]

    return on


@pytest.fixture
def lazy(put):
    def on(frame: pl.DataFrame) -> nw.LazyFrame:
        return frames.lazy(put(frame))

    return on
