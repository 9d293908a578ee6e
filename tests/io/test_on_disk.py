import errno
import math
import os
from datetime import date

import polars as pl
import pytest

import sdckit
import sdckit.io as sdc
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, spark_session
from sdckit.errors import EngineError, FileError, SdcError
from sdckit.io import engine_files

TEXT = (
    'nace;x;"we ird ""n""";yes;day;moment;text;none\n'
    "0110;1,5;1;true;2024-02-29;2024-02-29 10:00:00;a;\n"
    'NA;NA;;FALSE;NA;;"b;\nc";NaN\n'
    "\n"
    "2500;-2;3;;2020-01-01;2020-01-01T00:00:01;;\n"
)
LABELLED = Microdata.of(
    pl.DataFrame({"k": [1, 2, None], "t": ["ä", None, "c"], "d": [date(2024, 1, 1), None, None]}),
    labels=Labels({"k": "Key"}, {"k": {1: "one", 2: "two"}}),
)


def test_duckdb_reads_text_as_polars_does(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(TEXT)
    data = sdc.read(path, keys="nace", numeric="x", engine="duckdb")
    assert data.engine == "duckdb"
    here = sdc.read(path, keys="nace", numeric="x").frame
    assert data.collect().frame.equals(here)
    assert data.collect().frame.schema == here.schema
    assert here["x"].to_list() == [1.5, None, -2.0]
    assert here["nace"].to_list() == ["0110", None, "2500"]


def test_duckdb_refuses_ragged_and_other_encodings(tmp_path):
    path = tmp_path / "a.csv"
    for content in (b"a,b\n1,2\n3\n", b"a,b\n1,2\n3,4,5\n"):
        path.write_bytes(content)
        with pytest.raises(FileError, match=r"cannot be read as \.csv"):
            sdc.read(path, engine="duckdb")
    path.write_bytes("a,b\n1,ü\n".encode("cp1252"))
    with pytest.raises(FileError, match="must be UTF-8"):
        sdc.read(path, engine="duckdb")


def test_engine_that_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setattr(spark_session, "find_spec", lambda name: None)
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(EngineError, match=r"duckdb is not installed.*sdckit\[duckdb\]"):
        sdc.read(tmp_path / "a.csv", engine="duckdb")


@pytest.mark.parametrize("batch", [1, 100])
@pytest.mark.parametrize("ending", [".parquet", ".csv", ".csv.gz", ".sav", ".xlsx"])
def test_duckdb_writes_what_polars_writes(tmp_path, monkeypatch, ending, batch):
    monkeypatch.setattr(engine_files, "BATCH", batch)
    sdc.write(LABELLED, tmp_path / "in.parquet")
    data = sdc.read(tmp_path / "in.parquet", engine="duckdb")
    assert data.engine == "duckdb"
    assert data.labels == LABELLED.labels
    for values in ("codes", "labels"):
        there = sdc.read(sdc.write(data, tmp_path / f"there{ending}", values=values))
        here = sdc.read(sdc.write(LABELLED, tmp_path / f"here{ending}", values=values))
        assert there.frame.equals(here.frame)
        assert there.labels == here.labels


def test_duckdb_writes_no_labels_of_codes_that_no_record_has(tmp_path):
    labels = Labels({}, {"k": {1: "one", 2: "two", 3: "RARESECRET"}})
    sdc.write(Microdata.of(LABELLED.frame, labels=labels), tmp_path / "in.parquet", keep_unused=True)
    data = sdc.read(tmp_path / "in.parquet", engine="duckdb")
    assert data.labels == labels
    assert sdc.read(sdc.write(data, tmp_path / "out.parquet")).labels.values == {"k": {1: "one", 2: "two"}}


def test_batches_are_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(engine_files, "BATCH", 2048)
    sdc.write(sdc.read(pl.DataFrame({"a": range(10_000)})), tmp_path / "in.parquet")
    relation = sdc.read(tmp_path / "in.parquet", engine="duckdb").frame
    sizes = [part.height for part in engine_files.batches(relation, tmp_path)]
    assert sum(sizes) == 10_000
    assert max(sizes) <= 2048


def test_a_file_can_be_written_over_its_own_source_once_it_is_in_memory(tmp_path):
    path = sdc.write(LABELLED, tmp_path / "a.parquet")
    sdc.write(sdc.read(path, engine="duckdb").collect(), path, overwrite=True)
    assert sdc.read(path).frame.equals(LABELLED.frame)


def test_spark_without_a_session(tmp_path, monkeypatch):
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    monkeypatch.setattr(sql.SparkSession, "getActiveSession", lambda: None)
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(EngineError, match="no Spark session"):
        sdc.read(tmp_path / "a.csv", engine="spark")


@pytest.mark.xdist_group("spark")
@pytest.mark.slow
def test_spark_reads_and_writes_as_polars_does(tmp_path, spark_session):
    path = tmp_path / "a [1].csv"
    path.write_text(TEXT)
    data = sdc.read(path, keys="nace", numeric="x", engine="spark")
    assert data.engine == "spark"
    here = sdc.read(path, keys="nace", numeric="x")
    assert frames.collect(data.frame).rows() == here.frame.rows()
    sdc.write(LABELLED, tmp_path / "in.parquet")
    data = sdc.read(tmp_path / "in.parquet", engine="spark", direct="t")
    assert data.columns == ("k", "d")
    for ending in (".parquet", ".csv"):
        back = sdc.read(sdc.write(data, tmp_path / f"out{ending}"))
        assert back.frame.rows() == LABELLED.frame.drop("t").rows()
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(FileError, match=r"cannot be read as \.csv"):
        sdc.read(path, engine="spark")


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.xdist_group("spark"))])
def test_files_that_are_gone_are_an_error_of_ours(tmp_path, engine, request):
    """Files are read when they are needed: one may be removed in the meantime."""
    if engine == "spark":
        request.getfixturevalue("spark_session")
    for i in range(2):
        rows = pl.select(id=pl.int_range(i * 50, i * 50 + 50), g=pl.int_range(50) % 3, x=pl.int_range(50) / 3)
        rows.write_parquet(tmp_path / f"{i}.parquet")
    data = sdc.read(tmp_path, engine=engine, id="id", keys="g", numeric="x")
    (tmp_path / "1.parquet").unlink()
    for work in (
        lambda: sdckit.risk.individual_risk(data),
        lambda: sdckit.utility.moments(data, data),
        lambda: sdckit.utility.regression(data, data, formula="x ~ g"),
        lambda: sdc.write(data, tmp_path.parent / f"{engine}.csv"),
    ):
        with pytest.raises(SdcError):
            work()
    assert not (tmp_path.parent / f"{engine}.csv").exists()


@pytest.mark.parametrize(
    ("place", "options"),
    [("os.fsync", {}), ("pathlib.Path.replace", {}), ("os.fsync", {"partition_by": "sex"})],
)
def test_a_full_disk_under_duckdb_leaves_what_was_there(tmp_path, monkeypatch, place, options):
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    pl.DataFrame({"sex": ["f", "m"], "age": [30, 41]}).write_parquet(source / "a.parquet")
    data = sdc.read(source, engine="duckdb", keys="sex")
    name = target if options else target.with_suffix(".csv")

    def disk_full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(place, disk_full)
    with pytest.raises(SdcError, match="No space left"):
        sdc.write(data, name, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_files_that_changed_after_they_were_read_are_not_written_as_protected(tmp_path):
    pytest.importorskip("duckdb")
    people = pl.DataFrame({"id": range(40), "sex": [1, 2] * 20, "age": [30] * 39 + [99]})
    people.write_parquet(tmp_path / "a.parquet")
    data = sdc.read(tmp_path / "a.parquet", engine="duckdb", id="id", keys=["sex", "age"])
    protected = sdckit.protect.recode(data, variable="age", width=20)
    people.with_columns(sex=3).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(FileError, match="Files have changed since they were read"):
        sdc.write(protected, tmp_path / "out.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_nan_in_a_parquet_file_is_missing_on_duckdb(tmp_path):
    """DuckDB takes the bounds in the file for those of all values, and denies that any is NaN."""
    x = [1.5, math.nan, None, -0.0, math.inf, *range(2000)]
    frame = pl.DataFrame({"k": ["a"] * len(x), "x": x, "y": pl.Series(x, dtype=pl.Float32)})
    frame.write_parquet(tmp_path / "a.parquet")
    data = sdc.read(tmp_path / "a.parquet", keys="k", engine="duckdb")
    assert frames.missing_values(data.frame, ["x", "y"]) == {"x": 2, "y": 2}
    assert data.collect().frame["x"].to_list() == [1.5, None, None, 0.0, *x[4:]]
    assert data.collect().frame.schema == frame.schema


def test_a_column_without_values_is_a_number_if_its_role_is(tmp_path):
    frame = pl.DataFrame({"k": ["a", "b"], "x": pl.Series([None, None]), "t": pl.Series([None, None])})
    frame.write_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("k,x,t\na,,\nb,NA,\n")
    for name in ("a.parquet", "a.csv"):
        data = sdc.read(tmp_path / name, numeric="x", engine="duckdb")
        assert data.collect().frame["x"].dtype == pl.Float64
    with pytest.raises(SdcError, match="column 'k' does not hold numbers"):
        sdc.read(tmp_path / "a.parquet", numeric=["x", "k"], engine="duckdb")
