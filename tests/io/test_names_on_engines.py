"""Names that an engine outside memory would mistake are refused before it reads; in memory they are read."""

import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import SdcError

PLAIN = pl.DataFrame({"id": [1, 2, 3], "Age": [1, 2, 3]})


@pytest.mark.parametrize("name", ["age", "__sdckit_x", "__SDCKIT_Y"])
@pytest.mark.parametrize("kind", ["parquet", "csv", "folder"])
def test_names_that_an_engine_mistakes_are_refused(tmp_path, name, kind):
    """DuckDB would call a second `age` age_1, and write it so; draws add columns of our prefix."""
    pytest.importorskip("duckdb")
    frame = PLAIN.with_columns(pl.col("id").alias(name))
    path = tmp_path / f"a.{kind}"
    if kind == "folder":
        path.mkdir()
        frame.write_parquet(path / "part-1.parquet")
        frame.write_parquet(path / "part-2.parquet")
    else:
        getattr(frame, f"write_{kind}")(path)
    with pytest.raises(SdcError, match=f"Column names .*{name}"):
        sdc.read(path, engine="duckdb")
    assert name in sdc.read(path).columns


@pytest.mark.parametrize("several", [False, True])
def test_a_column_without_a_name_is_refused(tmp_path, several):
    """DuckDB would call it C1, and write it so."""
    pytest.importorskip("duckdb")
    frame = PLAIN.with_columns(pl.col("id").alias(""))
    frame.write_parquet(tmp_path / "part-1.parquet")
    with pytest.raises(SdcError, match=r"Columns must have a name on duckdb.*column 3 of 3"):
        sdc.read(tmp_path if several else tmp_path / "part-1.parquet", engine="duckdb")
    assert "" in sdc.read(tmp_path).columns
