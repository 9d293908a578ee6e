"""The same microdata on each engine."""

import pytest

import sdckit as sdc

ENGINES = ["polars", "duckdb", pytest.param("spark", marks=pytest.mark.xdist_group("spark"))]


def on_engine(engine: str, data: sdc.Microdata, request: pytest.FixtureRequest) -> sdc.Microdata:
    """The data moved to an engine; skips where it is not installed."""
    if engine == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        return data.with_frame(duckdb.from_arrow(data.frame.to_arrow()))
    if engine == "spark":
        session = request.getfixturevalue("spark")
        return data.with_frame(session.createDataFrame(data.frame.to_pandas()))
    return data
