from pathlib import Path

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sdckit.io as sdc
from sdckit.choose.plan import Plan
from sdckit.errors import ColumnError, DataError, EngineError, FileError, OptionError, RoleError, SdcWarning
from sdckit.io.formats import READABLE
from sdckit.io.read import with_roles

TABLE = {"name": ["Ann", "Bo", "Cy"], "sex": ["f", "m", None], "w": [1.0, 2.0, 3.0], "x": [1, None, 3]}
KINDS = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_that_went_in_comes_out_and_is_not_changed(kind):
    frame, copy = KINDS[kind](TABLE), KINDS[kind](TABLE)
    data = sdc.read(frame, keys="sex", weight="w", numeric="x", direct="name")
    assert type(data.native()) is type(frame)
    assert data.columns == ("sex", "w", "x")
    assert data.frame["x"].to_list() == [1, None, 3]
    assert data.frame["sex"].to_list() == ["f", "m", None]
    assert frame.equals(copy)


def test_lazy_frame_and_relation():
    assert sdc.read(pl.LazyFrame(TABLE), keys="sex").frame.equals(pl.DataFrame(TABLE))
    relation = duckdb.sql("select 1 as a, 'x' as b")
    data = sdc.read(relation, keys="b", direct="a")
    assert data.engine == "duckdb"
    assert data.columns == ("b",)
    assert relation.columns == ["a", "b"]


def test_direct_identifiers_are_dropped_unless_kept(tmp_path):
    path = tmp_path / "a.csv"
    pl.DataFrame(TABLE).write_csv(path)
    dropped = sdc.read(path, keys="sex", direct="name")
    assert dropped.columns == ("sex", "w", "x")
    assert dropped.roles.direct == ()
    kept = sdc.read(path, keys="sex", direct=["name"], keep_direct=True)
    assert kept.columns == tuple(TABLE)
    assert kept.roles.direct == ("name",)


def test_missing_file_and_folder_and_ending(tmp_path):
    with pytest.raises(FileError, match=r"does not exist\. Given: .*nothing\.csv"):
        sdc.read(tmp_path / "nothing.csv")
    with pytest.raises(FileError, match="no file in this folder that can be read"):
        sdc.read(str(tmp_path))
    (tmp_path / "a.doc").write_text("x")
    with pytest.raises(
        FileError, match=r"ending in '\.doc' cannot be read.*\.csv, \.csv\.gz, \.parquet, \.sav"
    ):
        sdc.read(tmp_path / "a.doc")
    (tmp_path / "plain").write_text("x")
    with pytest.raises(FileError, match="ending in ''"):
        sdc.read(tmp_path / "plain")


@pytest.mark.parametrize("ending", READABLE)
def test_empty_and_broken_files(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"")
    with pytest.raises(FileError, match=r"The file is empty\. Given: "):
        sdc.read(path)
    for garbage in (b"\x00garbage\xff" * 300, b"PAR1" + b"\x00" * 64 + b"PAR1"):
        path.write_bytes(garbage)
        with pytest.raises(FileError, match=r"cannot be read as|not readable text") as error:
            sdc.read(path)
        assert str(path) in str(error.value)


@pytest.mark.parametrize("ending", [".sav", ".dta", ".parquet", ".xlsx", ".zsav"])
def test_cut_off_files(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    sdc.write(sdc.read(pl.DataFrame({"a": range(5000), "b": ["text"] * 5000})), path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    with pytest.raises(FileError, match=f"cannot be read as {ending}"):
        sdc.read(path)


def test_duplicate_columns_of_frames_and_parquet(tmp_path):
    twice = pa.table([[1], [2]], names=["a", "a"])
    with pytest.raises(ColumnError, match=r"must differ\. Given: 'a' 2 times"):
        sdc.read(twice)
    pq.write_table(twice, tmp_path / "a.parquet")
    for engine in ("polars", "duckdb"):
        with pytest.raises(ColumnError, match="must differ"):
            sdc.read(tmp_path / "a.parquet", engine=engine)


def test_roles_are_checked():
    frame = pl.DataFrame(TABLE)
    with pytest.raises(ColumnError, match=r"names column 'sexx'.*Did you mean 'sex'"):
        sdc.read(frame, keys="sexx")
    with pytest.raises(ColumnError, match="Role 'direct' names column 'nam'"):
        sdc.read(frame, direct="nam")
    with pytest.raises(ColumnError, match="Role 'numeric' needs numbers; column 'sex'"):
        sdc.read(frame, numeric="sex")


def test_conflicting_roles_are_found_before_the_file_is_opened(tmp_path):
    with pytest.raises(RoleError, match=r"'sex' has two conflicting roles"):
        sdc.read(tmp_path / "nothing.csv", keys="sex", weight="sex")


@pytest.mark.parametrize(
    ("weights", "text"), [(["1", "NA"], "1 missing"), (["1", "0"], "1 zero"), (["-1", "inf"], "1 negative")]
)
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_weights(tmp_path, weights, text, engine):
    path = tmp_path / "a.csv"
    path.write_text("w,k\n" + "".join(f"{w},a\n" for w in weights))
    with pytest.raises(DataError, match=f"must be positive numbers. Given: {text}"):
        sdc.read(path, weight="w", keys="k", engine=engine)


def test_records_without_weight_are_left_out_as_the_hint_says(tmp_path):
    (tmp_path / "a.csv").write_text("w?,k\n1,a\n0,b\n,c\n2,d\n")
    with pytest.raises(DataError) as refused:
        sdc.read(tmp_path / "a.csv", weight="w?", keys="k")
    prepare = str(refused.value).split("in a plan by ")[1].removesuffix(".")
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        f"data:\n  file: a.csv\n  keys: [k]\n  weight: w?\n  {prepare}\nscenarios: {{none: []}}\n"
    )
    assert Plan.load(plan).read().frame["k"].to_list() == ["a", "d"]


def test_infinite_values(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,k\n1,a\ninf,b\n")
    with pytest.raises(DataError, match="'x' has infinite values"):
        sdc.read(path, numeric="x")


def test_engine_must_exist_and_fit(tmp_path):
    with pytest.raises(OptionError, match=r"no such engine.*polars, duckdb, spark"):
        sdc.read(pl.DataFrame(TABLE), engine="dask")
    with pytest.raises(EngineError, match="stays with the engine"):
        sdc.read(pl.DataFrame(TABLE), engine="duckdb")
    sdc.write(sdc.read(pl.DataFrame(TABLE)), tmp_path / "a.sav")
    for engine in ("duckdb", "spark"):
        with pytest.raises(EngineError, match=r"'\.sav' cannot stay on disk.*\.csv, \.csv\.gz, \.parquet"):
            sdc.read(tmp_path / "a.sav", engine=engine)


def test_not_a_frame():
    with pytest.raises(DataError, match="not a data frame we know"):
        sdc.read([1, 2, 3])


def test_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    Path(tmp_path / "a.csv").write_text("x\n1\n")
    assert sdc.read("~/a.csv").height == 1


def test_a_key_that_differs_in_every_record_is_warned_of(recwarn):
    frame = pl.DataFrame({"number": range(30), "sex": ["f", "m"] * 15})
    with pytest.warns(SdcWarning, match="number differs in every record: not a key"):
        sdc.read(frame, keys=["number", "sex"])
    recwarn.clear()
    sdc.read(frame, keys="sex", id="number")
    sdc.read(frame.head(10), keys=["number", "sex"])  # in so few records it tells nothing
    assert not recwarn.list


def test_keys_that_are_python_objects_are_refused():
    frame = pl.DataFrame({"a": pl.Series([object() for _ in range(30)], dtype=pl.Object), "b": range(30)})
    with pytest.raises(ColumnError, match="a, of Python objects"):
        sdc.read(frame, keys="a")


def test_other_roles_keep_what_is_known_of_the_columns():
    asked = []

    def largest(column: pl.Series) -> object:
        asked.append(column.name)
        return column.max()

    raw = sdc.read(pl.DataFrame({"name": ["x", "y"], "age": [30, 40]}))
    named = with_roles(raw, {"keys": ["age"], "direct": ["name"]})
    assert named.column_fact("largest", "age", largest) == 40
    assert with_roles(raw, {"sensitive": ["age"]}).column_fact("largest", "age", largest) == 40
    assert asked == ["age"]


def test_the_role_decides_the_type_of_a_column_without_values():
    raw = sdc.read(pl.DataFrame({"age": [30, 40], "empty": [None, None]}))
    assert with_roles(raw, {"numeric": ["empty"]}).frame.schema["empty"] == pl.Float64
    assert with_roles(raw, {"keys": ["age"]}).frame.schema["empty"] == pl.String


def test_a_package_that_cannot_be_loaded_is_not_blamed_on_the_file(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("x\n1\n")

    def broken(*_):
        raise ImportError("failed to map segment from shared object")

    monkeypatch.setitem(with_roles.__globals__, "_load", broken)
    with pytest.raises(EngineError, match=r"cannot be loaded.*failed to map segment"):
        sdc.read(path)


@pytest.mark.parametrize(
    "wrapped", [lambda frame: nw.from_native(frame), lambda frame: nw.from_native(frame.lazy())]
)
def test_frames_of_narwhals_are_read_as_what_they_wrap(wrapped):
    data = sdc.read(wrapped(pl.DataFrame({"sex": ["f", "m"]})))
    assert data.frame["sex"].to_list() == ["f", "m"]
    assert isinstance(data.native(), pl.DataFrame)
