"""The same microdata on each engine."""

import polars as pl
import pytest

import sdckit as sdc

ENGINES = ["polars", "duckdb", pytest.param("spark", marks=pytest.mark.xdist_group("spark"))]


def on_engine(engine: str, data: sdc.Microdata, request: pytest.FixtureRequest) -> sdc.Microdata:
    """The data moved to an engine; skips where it is not installed."""
    arrow = data.frame.cast({pl.Enum: pl.String}).to_arrow()
    if engine == "duckdb":
        return data.with_frame(request.getfixturevalue("duckdb_connection").from_arrow(arrow))
    if engine == "spark":
        return data.with_frame(request.getfixturevalue("spark_session").createDataFrame(arrow))
    return data
