"""What DuckDB cannot do is said in words of ours."""

import sys

import duckdb
import polars as pl
import pytest

import sdckit as sdc
from sdckit.engine import duckdb_session
from sdckit.engine.duckdb_session import duckdb_errors
from sdckit.errors import EngineError, FileError

FULL = 'Failed to commit: Could not write file "x.wal": No space left on device'


@pytest.mark.parametrize(
    ("raised", "ours", "said"),
    [
        (duckdb.OutOfMemoryException("could not allocate"), EngineError, "too little memory"),
        (duckdb.TransactionException(FULL), EngineError, "no room on disk"),
        (duckdb.IOException(FULL), EngineError, "TMPDIR"),
        (duckdb.IOException("No such file"), FileError, "must stay as they are"),
        (duckdb.ConnectionException("already closed"), EngineError, "already closed"),
    ],
)
def test_every_error_of_duckdb_becomes_one_of_ours(raised, ours, said):
    with pytest.raises(ours, match=said), duckdb_errors():
        raise raised


def test_a_folder_for_temporary_files_that_is_not_there_is_refused(tmp_path, monkeypatch):
    """Python would put the records on another disk without a word."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    monkeypatch.setattr(duckdb_session, "_open", {})
    with pytest.raises(FileError, match="TMPDIR names no folder"):
        duckdb_session.connection()


@pytest.mark.parametrize("kind", [RuntimeError, OSError, ValueError])
def test_ctrl_c_while_duckdb_reads_is_no_broken_file(kind, tmp_path, monkeypatch):
    """Of which class the error is depends on how rows are fetched: by DuckDB or through Arrow."""
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "a.parquet")

    def interrupted(*_, **__):
        raise kind("Query interrupted")

    monkeypatch.setattr(sys.modules["sdckit.io.read"], "open_on_disk", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sdc.read(tmp_path / "a.parquet", engine="duckdb")
    with pytest.raises(KeyboardInterrupt), duckdb_errors():
        interrupted()
