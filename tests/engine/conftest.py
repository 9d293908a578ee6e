"""The same data on every engine that is installed here, rows shuffled."""

import random

import narwhals as nw
import polars as pl
import pytest

from engine_frames import ENGINES
from sdckit.engine import frames


@pytest.fixture(params=ENGINES)
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
