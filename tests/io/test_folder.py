"""Folders partitioned by a column, and files of engines: whole or not at all, whatever happens."""

import os
import signal
import stat
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import polars as pl
import pytest

import sdckit.io as sdc
from engine_frames import ENGINES, on_engine
from sdckit._support import scratch
from sdckit._support.files import atomic_folder
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.engine import duckdb_session
from sdckit.errors import ColumnError, DataError, FileError, RoleError
from sdckit.io import engine_files, partition_writer

FRAME = pl.DataFrame(
    {
        "region": ["ä/b", "x=1", None, "x=1", "100 %"],
        "code": [1, 2, 1, None, 2],
        "day": [date(2024, 1, 1), date(2024, 1, 2), None, date(2024, 1, 1), date(2024, 1, 1)],
        "x": [1.5, None, 3.0, 4.0, 5.0],
    }
)
DATA = Microdata.of(FRAME, keys="region", labels=Labels({"x": "Income"}, {"code": {1: "one", 2: "two"}}))


@pytest.fixture(params=ENGINES)
def data(request, tmp_path):
    """The data read from a file by each engine."""
    if request.param == "spark":
        return on_engine("spark", DATA, request)
    FRAME.write_parquet(tmp_path / "in.parquet")
    read = sdc.read(tmp_path / "in.parquet", keys="region", engine=request.param)
    (tmp_path / "in.parquet").rename(tmp_path.parent / f"{tmp_path.name}.parquet")
    (tmp_path / "in.parquet").symlink_to(tmp_path.parent / f"{tmp_path.name}.parquet")
    return Microdata(read.frame, read.roles, DATA.labels)


def rows(data):
    return sorted(data.collect().frame.select(sorted(data.columns)).rows(), key=repr)


@pytest.mark.parametrize("column", ["region", "code", "day"])
def test_a_folder_comes_back_as_it_was(tmp_path, data, column):
    path = sdc.write(data, tmp_path / "out", partition_by=column)
    back = sdc.read(path)
    assert rows(back) == rows(DATA)
    assert back.frame.schema[column] == FRAME.schema[column]
    assert back.labels == DATA.labels
    assert rows(sdc.read(path, engine="duckdb")) == rows(DATA)
    assert sorted(p.name for p in tmp_path.iterdir()) in (["in.parquet", "out"], ["out"])
    if column == "region":
        names = {p.name for p in path.iterdir() if "=" in p.name}
        assert names >= {"region=x%3D1", "region=ä%2Fb", "region=__HIVE_DEFAULT_PARTITION__"}
    texts = sdc.read(sdc.write(data, path, partition_by=column, values="labels"))
    assert set(texts.frame["code"].to_list()) == {"one", "two", None}
    assert texts.labels.values == {}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_column_whose_name_no_folder_can_have(tmp_path, engine, request):
    """It stands there as born%3F, also where it is read and where the folder is written again."""
    odd = Microdata.of(FRAME.rename({"day": "born?"}))
    held = on_engine(engine, odd, request) if engine != "polars" else odd
    for _ in range(2):
        path = sdc.write(held, tmp_path / "out", partition_by="born?")
    assert "born%3F=2024-01-01" in {p.name for p in path.iterdir()}
    for one in ("polars", engine):
        back = sdc.read(path, engine=one)
        assert back.columns[-1] == "born?"
        assert rows(back) == rows(odd)


def test_a_folder_has_the_usual_permissions(tmp_path, data):
    (tmp_path / "plain").mkdir()
    path = sdc.write(data, tmp_path / "out", partition_by="code")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_what_cannot_be_a_folder_is_refused(tmp_path):
    with pytest.raises(ColumnError, match=r"no column 'area'"):
        sdc.write(DATA, tmp_path / "out", partition_by="area")
    with pytest.raises(ColumnError, match=r"'x' cannot give names to folders\. Given: Float64"):
        sdc.write(DATA, tmp_path / "out", partition_by="x")
    with pytest.raises(FileError, match=r"\.parquet files in them"):
        sdc.write(DATA, tmp_path / "out.csv", partition_by="code")
    for values in (["", "a"], ["a ", "b"], ["__HIVE_DEFAULT_PARTITION__", "b"]):
        odd = Microdata.of(pl.DataFrame({"k": values, "x": [1, 2]}))
        with pytest.raises(DataError, match="cannot be names of folders"):
            sdc.write(odd, tmp_path / "out", partition_by="k")
    with pytest.raises(DataError, match="upper and lower case"):
        sdc.write(
            Microdata.of(pl.DataFrame({"k": ["a", "A"], "x": [1, 2]})), tmp_path / "o", partition_by="k"
        )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.doc").touch()
    with pytest.raises(FileError, match=r"other files in it.*thesis\.doc"):
        sdc.write(DATA, tmp_path / "mine", partition_by="code")
    named = sdc.read(FRAME, direct="region", keep_direct=True)
    with pytest.raises(RoleError, match="Direct identifiers are not written"):
        sdc.write(named, tmp_path / "out", partition_by="code")
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]


def test_many_values_and_few_open_files(tmp_path, monkeypatch):
    monkeypatch.setattr(partition_writer, "OPEN", 2)
    monkeypatch.setattr(partition_writer, "FULL", 3)
    monkeypatch.setattr(partition_writer, "HELD", 10)
    frame = pl.DataFrame({"k": [i % 7 for i in range(100)], "x": range(100)})
    relation = duckdb_session.connection().from_arrow(frame.to_arrow())
    monkeypatch.setattr(engine_files, "BATCH", 2048)
    for data in (sdc.read(frame), sdc.read(relation)):
        back = sdc.read(sdc.write(data, tmp_path / "out", partition_by="k"))
        assert back.frame.sort("x").select("k", "x").equals(frame)


@pytest.mark.parametrize("error", [RuntimeError("odd"), KeyboardInterrupt(), OSError(28, "No space left")])
def test_a_failure_leaves_the_old_folder_and_nothing_else(tmp_path, monkeypatch, error):
    path = sdc.write(DATA, tmp_path / "out", partition_by="region")
    before = sorted(path.rglob("*"))
    monkeypatch.setattr(partition_writer.PartitionWriter, "_flush", _failing(error))
    expected = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else FileError
    with pytest.raises(expected, match="no room left" if isinstance(error, OSError) else None):
        sdc.write(DATA, path, partition_by="region")
    assert sorted(path.rglob("*")) == before
    assert list(tmp_path.iterdir()) == [path]


def _failing(error):
    def fail(self, value):
        (self._folder / "half.parquet").write_bytes(b"half")
        raise error

    return fail


def test_what_cannot_take_the_place_leaves_what_was_there(tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").touch()
    rename = Path.rename

    def refuse(self, target):
        if self.name == "new":
            raise OSError("refused")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(OSError, match="refused"), atomic_folder(tmp_path / "out"):
        pass
    assert [p.name for p in tmp_path.rglob("*")] == ["out", "old"]


KILLED = """
import sys, time
from pathlib import Path
import duckdb, polars as pl
import sdckit.io as sdc
from sdckit.engine import duckdb_session
target = Path(sys.argv[1])
many = "select range as i, range % 7 as k, hash(range) as h from range(6000000)"
made = duckdb_session.connection().sql(many)
data = sdc.read(made)
print("writing", flush=True)
sdc.write(data, target, **({"partition_by": "k"} if sys.argv[2] == "folder" else {}))
print("done", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_killed_process_leaves_nothing_half_written(tmp_path, number, kind):
    target = tmp_path / ("out.parquet" if kind == "file" else "out")
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(target), kind], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"writing\n"
        deadline = time.monotonic() + 60
        while not any(f.is_file() and f.stat().st_size for f in tmp_path.rglob("*") if f.name != "lock"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(process.pid, number)
        assert process.wait(timeout=120) != 0
        assert b"done" not in process.stdout.read()
    assert not target.exists()
    left = list(tmp_path.iterdir())
    if number == signal.SIGKILL:
        assert all(p.name.startswith(".") and stat.S_IMODE(p.stat().st_mode) & 0o077 == 0 for p in left)
        scratch.remove_abandoned(tmp_path)
        left = list(tmp_path.iterdir())
    assert left == []


def test_abandoned_folders_are_removed_and_others_are_not(tmp_path):
    held = scratch.Scratch(tmp_path)
    assert stat.S_IMODE(held.folder.stat().st_mode) == 0o700
    left = tmp_path / f"{scratch.PREFIX}left"
    left.mkdir()
    (left / scratch.LOCK).touch()
    (left / "records").write_text("secret")
    (tmp_path / f"{scratch.PREFIX}no-lock").mkdir()  # not one of ours
    again = scratch.Scratch(tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {
        held.folder.name,
        again.folder.name,
        f"{scratch.PREFIX}no-lock",
    }
    held.remove()
    again.remove()


def test_duckdb_spills_beside_the_output_for_its_owner_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(duckdb_session, "_open", {})  # a new connection: DuckDB keeps a folder it has used
    made = duckdb_session.connection()
    assert made.execute("select current_setting('preserve_insertion_order')").fetchall() == [(False,)]
    with duckdb_session.spilling_beside(tmp_path):
        (folder,) = tmp_path.iterdir()
        where = made.execute("select current_setting('temp_directory')").fetchall()[0][0]
        assert Path(where).parent == folder
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(tmp_path.iterdir()) == []


def test_whole_numbers_of_128_bits_stay_whole(tmp_path):
    wide = duckdb_session.connection().sql("select (9007199254740993)::hugeint as n, 1 as k")
    back = sdc.read(sdc.write(sdc.read(wide), tmp_path / "a.parquet"))
    assert back.frame["n"].to_list() == [2**53 + 1]
    assert back.frame.schema["n"] == pl.Int64


def test_relations_of_the_users_own_connection_are_written_too(tmp_path, duckdb_connection):
    data = sdc.read(duckdb_connection.sql("select range as x, range % 2 as k from range(5)"))
    assert sdc.read(sdc.write(data, tmp_path / "a.parquet")).height == 5
    back = sdc.read(sdc.write(data, tmp_path / "out", partition_by="k"))
    assert rows(back) == [(k, x) for k in (0, 1) for x in range(k, 5, 2)]
