import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import ColumnError, FileError
from sdckit.io import delimited
from sdckit.io.file_header import header_of


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_wrong_role_is_said_before_records_are_read(tmp_path, monkeypatch, engine):
    if engine == "duckdb":
        pytest.importorskip("duckdb", reason="duckdb is not installed")
    monkeypatch.setattr(delimited, "_fitting", lambda *_: pytest.fail("records were read"))
    (tmp_path / "people.csv").write_text("sex;age\nf;30\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.csv").write_text("sex;age\nf;30\n")
    for name in ("people.csv", "parts"):
        with pytest.raises(ColumnError, match="Did you mean 'age'"):
            sdc.read(tmp_path / name, keys=["sex", "ago"], engine=engine)


def test_names_of_columns(tmp_path):
    pl.DataFrame({"é b": [1], "c": ["x"]}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "n" / "sex=1").mkdir(parents=True)
    (tmp_path / "n" / "sex=1" / "a.parquet").write_bytes((tmp_path / "a.parquet").read_bytes())
    assert header_of(tmp_path / "a.parquet") == ("é b", "c")
    assert header_of(tmp_path / "*.parquet") == ("é b", "c")
    assert header_of(tmp_path / "n") == ("é b", "c", "sex")
    (tmp_path / "a.sav").write_bytes(b"x")
    assert header_of(tmp_path / "a.sav") is None
    (tmp_path / "a.parquet").write_bytes(b"x")
    with pytest.raises(FileError, match=r"cannot be read as \.parquet"):
        header_of(tmp_path / "a.parquet")
