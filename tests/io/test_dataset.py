"""Several files as one table: the same on every engine, or an error that names the file that differs."""

import json
from datetime import date

import polars as pl
import pytest

import sdckit.io as sdc
from engine_frames import ENGINES
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.errors import EngineError, FileError
from sdckit.io.dataset import find_dataset
from sdckit.io.united import united


@pytest.fixture(params=ENGINES)
def engine(request):
    if request.param == "spark":
        request.getfixturevalue("spark_session")
    return request.param


def rows(data):
    """All records, sorted: engines have no order."""
    return sorted(data.collect().frame.select(sorted(data.columns)).rows(), key=repr)


def put(folder, name, **columns):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(columns).write_parquet(path)
    return path


def test_a_pattern_and_a_folder_are_one_table(tmp_path, engine):
    put(tmp_path, "d/a.parquet", x=[1, None], t=["a", "b"])
    put(tmp_path, "d/b.parquet", t=["ü"], x=[3])  # another order of columns
    put(tmp_path, "d/deep/c.parquet", x=[4], t=[None])
    (tmp_path / "d" / "_SUCCESS").touch()
    (tmp_path / "d" / ".part.crc").write_text("x")
    (tmp_path / "d" / "readme.txt").write_text("x")
    data = sdc.read(tmp_path / "d" / "*.parquet", keys="t", numeric="x", engine=engine)
    assert data.engine == engine
    assert data.columns == ("x", "t")
    assert rows(data) == [("a", 1), ("b", None), ("ü", 3)]
    assert rows(sdc.read(tmp_path / "d", engine=engine)) == [("a", 1), ("b", None), ("ü", 3), (None, 4)]


def test_types_are_united_where_no_value_changes(tmp_path, engine):
    put(tmp_path, "a.parquet", i=pl.Series([100], dtype=pl.Int8), f=pl.Series([7], dtype=pl.Int32), d=[None])
    put(tmp_path, "b.parquet", i=pl.Series([2**40], dtype=pl.Int64), f=[1.5], d=[date(2024, 2, 29)])
    data = sdc.read(tmp_path, engine=engine)
    assert rows(data) == sorted([(None, 7.0, 100), (date(2024, 2, 29), 1.5, 2**40)], key=repr)


def test_what_duckdb_reads_wrongly_in_silence_is_refused(tmp_path, engine):
    put(tmp_path, "a.parquet", x=[1, 2])
    put(tmp_path, "b.parquet", x=[1.5, 2.5])
    with pytest.raises(
        FileError, match=r"'x' has different types.*Given: Int64 in a\.parquet, Float64 in b\.parq"
    ):
        sdc.read(tmp_path / "*.parquet", engine=engine)
    put(tmp_path, "b.parquet", x=[3], y=["extra"])
    with pytest.raises(FileError, match=r"same columns\. Given: b\.parquet differs from a\.parquet: with y"):
        sdc.read(tmp_path / "*.parquet", engine=engine)


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (pl.Int8(), pl.Int64(), pl.Int64()),
        (pl.UInt32(), pl.Int8(), pl.Int64()),
        (pl.UInt64(), pl.Int64(), None),
        (pl.Float32(), pl.Float64(), pl.Float64()),
        (pl.Int32(), pl.Float32(), pl.Float64()),
        (pl.Int64(), pl.Float64(), None),
        (pl.String(), pl.Enum(["a"]), pl.String()),
        (pl.Enum(["a"]), pl.Enum(["b"]), pl.String()),
        (pl.Null(), pl.Date(), pl.Date()),
        (pl.Date(), pl.Datetime("us"), None),
        (pl.String(), pl.Int64(), None),
        (pl.Boolean(), pl.Int8(), None),
        (pl.Decimal(10, 2), pl.Float64(), None),
    ],
)
def test_united(one, other, both):
    assert united(one, other) == both == united(other, one)


def test_folders_named_after_values_add_a_column(tmp_path, engine):
    put(tmp_path, "region=1/sex=f/a.parquet", x=[1])
    put(tmp_path, "region=10/sex=ä%2Fb/a.parquet", x=[2])
    put(tmp_path, "region=10/sex=%C3%A4/b.parquet", x=[3])  # as DuckDB writes an ä
    put(tmp_path, "region=__HIVE_DEFAULT_PARTITION__/sex=0110/a.parquet", x=[4])
    data = sdc.read(tmp_path, keys=["region", "sex"], engine=engine)
    assert data.columns == ("x", "region", "sex")
    assert data.collect().frame.schema["region"] == pl.Int64
    found = sorted((x, region, sex) for region, sex, x in rows(data))
    assert found == [(1, 1, "f"), (2, 10, "ä/b"), (3, 10, "ä"), (4, None, "0110")]
    one = sdc.read(tmp_path / "region=10" / "sex=%C3%A4" / "b.parquet", engine=engine)
    assert one.columns == ("x",)  # one file is one file
    codes = put(tmp_path / "codes", "region=01/a.parquet", x=[1])
    put(tmp_path / "codes", "region=2/a.parquet", x=[1])
    assert {r for r, _ in rows(sdc.read(codes.parents[1], engine=engine))} == {"01", "2"}


def test_folders_that_contradict_each_other_are_refused(tmp_path):
    put(tmp_path, "a=1/x.parquet", x=[1])
    put(tmp_path, "b=1/x.parquet", x=[1])
    with pytest.raises(FileError, match=r"same columns for all files\. Given: a and b"):
        sdc.read(tmp_path, engine="duckdb")
    put(tmp_path / "twice", "x=1/x.parquet", x=[1])
    with pytest.raises(FileError, match="'x' stands in the files and in the names of their folders"):
        sdc.read(tmp_path / "twice", engine="duckdb")
    put(tmp_path, "above/k=1/data/k=2/x.parquet", x=[1])
    with pytest.raises(FileError, match="named twice in the folders"):
        sdc.read(tmp_path / "above" / "k=1" / "data")


def test_missing_empty_and_unfinished_folders(tmp_path, engine):
    with pytest.raises(FileError, match="does not exist"):
        sdc.read(tmp_path / "nowhere", engine=engine)
    with pytest.raises(FileError, match="No file has a name of this pattern"):
        sdc.read(tmp_path / "*.parquet", engine=engine)
    with pytest.raises(FileError, match=r"no file in this folder.*\.csv, \.csv\.gz, \.parquet"):
        sdc.read(tmp_path, engine=engine)
    put(tmp_path, "a.parquet", x=[1])
    (tmp_path / "b.csv").write_text("x\n1\n")
    with pytest.raises(FileError, match=r"text files and \.parquet files"):
        sdc.read(tmp_path, engine=engine)
    (tmp_path / "b.csv").unlink()
    (tmp_path / "b.parquet").touch()
    with pytest.raises(FileError, match=r"file is empty\. Given: .*b\.parquet"):
        sdc.read(tmp_path, engine=engine)
    (tmp_path / "b.parquet").unlink()
    (tmp_path / "b.parquet").symlink_to(tmp_path / "gone.parquet")
    with pytest.raises(FileError, match=r"records would be left out\. Given: .*b\.parquet"):
        sdc.read(tmp_path, engine=engine)
    (tmp_path / "b.parquet").unlink()
    put(tmp_path.with_name(f"{tmp_path.name} elsewhere"), "c.parquet", x=[2])
    (tmp_path / "deep").symlink_to(tmp_path.with_name(f"{tmp_path.name} elsewhere"))
    with pytest.raises(FileError, match=r"records would be left out\. Given: .*deep"):
        sdc.read(tmp_path, engine=engine)
    assert rows(sdc.read(tmp_path / "*/*.parquet", engine=engine)) == [(2,)]
    (tmp_path / "deep").unlink()
    (tmp_path / "_temporary").mkdir()
    with pytest.raises(FileError, match="not finished"):
        sdc.read(tmp_path, engine=engine)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_tables_with_older_versions_in_their_folder_are_not_read_file_by_file(tmp_path, engine):
    put(tmp_path, "a.parquet", x=[1])
    (tmp_path / "_delta_log").mkdir()
    with pytest.raises(EngineError, match=r"table of Delta.*older versions.*engine='spark'"):
        sdc.read(tmp_path, engine=engine)


def test_text_files_get_types_that_fit_all(tmp_path, engine):
    (tmp_path / "a.csv").write_text("x,t\n1,01\n2,\n")
    (tmp_path / "b.csv").write_text("x,t\n2.5,7\n")
    data = sdc.read(tmp_path / "*.csv", numeric="x", engine=engine)
    assert rows(data) == sorted([("01", 1.0), (None, 2.0), ("7", 2.5)], key=repr)
    (tmp_path / "c.csv").write_text("x,u\n2.5,7\n")
    with pytest.raises(FileError, match=r"c\.csv differs from .*a\.csv: without t and with u"):
        sdc.read(tmp_path / "*.csv", engine=engine)
    (tmp_path / "c.csv").write_text("x;t\n2.5;7\n")
    with pytest.raises(FileError, match="same separator"):
        sdc.read(tmp_path / "*.csv", engine=engine)


def test_labels_on_which_files_agree(tmp_path):
    for name, codes in {"a": {1: "one", 2: "two"}, "b": {1: "one", 2: "zwei"}}.items():
        labels = Labels({"k": "Key"}, {"k": codes})
        sdc.write(Microdata.of(pl.DataFrame({"k": [1, 2]}), labels=labels), tmp_path / f"{name}.parquet")
    for engine in ("polars", "duckdb"):
        assert sdc.read(tmp_path, engine=engine).labels == Labels({"k": "Key"}, {"k": {1: "one"}})


def test_a_file_with_signs_of_a_pattern_in_its_name_is_that_file(tmp_path):
    put(tmp_path, "a[1].parquet", x=[1])
    put(tmp_path, "a1.parquet", x=[2])
    for engine in ("polars", "duckdb"):
        assert rows(sdc.read(tmp_path / "a[1].parquet", engine=engine)) == [(1,)]
    put(tmp_path, "it's [odd]/a*.parquet", x=[3])
    assert rows(sdc.read(tmp_path / "it's [odd]", engine="duckdb")) == [(3,)]


def test_what_was_read_is_not_written_over(tmp_path):
    put(tmp_path, "d/a.parquet", x=[1, 2])
    data = sdc.read(tmp_path / "d" / "*.parquet", engine="duckdb")
    for path in (tmp_path / "d" / "a.parquet",):
        with pytest.raises(FileError, match="still read from this file"):
            sdc.write(data, path, overwrite=True)
    whole = sdc.read(tmp_path / "d")
    with pytest.raises(FileError, match="were read from this file"):
        sdc.write(whole, tmp_path / "d" / "new.parquet")  # would be read as a part of it the next time
    with pytest.raises(FileError, match="were read from this file"):
        sdc.write(whole.with_frame(whole.frame.with_columns(k=pl.lit(1))), tmp_path / "d", partition_by="k")
    assert json.dumps(sorted(p.name for p in (tmp_path / "d").iterdir())) == '["a.parquet"]'


def test_find_dataset_keeps_the_order_of_names(tmp_path):
    for name in ("b", "a", "c"):
        put(tmp_path, f"{name}.parquet", x=[name])
    assert [file.stem for file in find_dataset(tmp_path).files] == ["a", "b", "c"]


def test_a_broken_file_is_named(tmp_path, engine):
    put(tmp_path, "a.parquet", x=[1])
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:60])
    with pytest.raises(FileError, match=r"A file of the table cannot be read\. Given: .*b\.parquet"):
        sdc.read(tmp_path, engine=engine)
