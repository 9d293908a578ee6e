"""What a writer or a full disk loses is found before the old file is gone."""

import os
import subprocess
import sys

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sdckit.io as sdc
from sdckit.errors import FileError
from sdckit.io.formats import WRITABLE

module = sys.modules["sdckit.io.write"]  # the package has the function under this name
DATA = sdc.read(pl.DataFrame({"x": [0.5 + i for i in range(3000)], "t": [f"text {i}" for i in range(3000)]}))
FEW = sdc.read(DATA.frame.head(5))


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of 64 kB, where this process may mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True, check=False
    ) if hasattr(os, "geteuid") and os.geteuid() == 0 else None  # fmt: skip
    if done is None or done.returncode:
        pytest.skip("no small disk can be mounted: not root, or not allowed here")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("ending", WRITABLE)
def test_a_full_disk_leaves_the_old_file(small_disk, ending):
    path = sdc.write(FEW, small_disk / f"a{ending}")
    before = path.read_bytes()
    rows = pl.DataFrame(
        {"x": pl.int_range(9000, eager=True).hash(1), "t": pl.int_range(9000, eager=True).hash(2)}
    )
    texts = sdc.read(rows.cast(pl.String))
    for filler in range(0, 65536, 16384):  # also where hardly a byte is left
        small_disk.joinpath("filler").write_bytes(bytes(max(0, filler - len(before))))
        with pytest.raises(FileError, match=r"cannot be written|not written whole"):
            sdc.write(texts, path)
        assert {p.name for p in small_disk.iterdir()} == {path.name, "filler"}
        assert path.read_bytes() == before


@pytest.mark.parametrize("ending", WRITABLE)
@pytest.mark.parametrize("how", ["half of the bytes", "no byte", "fewer records", "fewer columns"])
def test_a_writer_that_loses_something(tmp_path, monkeypatch, ending, how):
    path = sdc.write(FEW, tmp_path / f"a{ending}")
    before = path.read_bytes()
    whole = module._write

    def lossy(data, target, *more, **options):
        if how == "fewer records":
            data = data.with_frame(data.frame.head(2999))
        if how == "fewer columns":
            data = data.without(("t",))
        whole(data, target, *more, **options)
        if "byte" in how:
            content = target.read_bytes()
            target.write_bytes(content[: len(content) // 2] if how.startswith("half") else b"")

    monkeypatch.setattr(module, "_write", lossy)
    with pytest.raises(FileError, match=r"cannot be written|not written whole"):
        sdc.write(DATA, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


TEXTS = st.one_of(st.none(), st.text("a\"',;\n\r =é", max_size=4).filter(lambda t: t.strip()))


@pytest.mark.filterwarnings("ignore:Texts in")
@given(
    st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5), st.sampled_from(WRITABLE), TEXTS, st.booleans()
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_whole_file_is_refused(tmp_path, rows, ending, name, comma):
    """Missing rows at the end, quotes and line ends in values and names."""
    first = name if ending in (".csv", ".csv.gz", ".parquet") and name else "a"
    frame = pl.DataFrame(rows, {first: pl.String, "bb": pl.String}, orient="row")
    decimal = "," if comma and ending in (".csv", ".csv.gz") else "."
    sdc.write(sdc.read(frame), tmp_path / f"a{ending}", decimal=decimal)
    sdc.write(sdc.read(frame.select("bb")), tmp_path / f"b{ending}")
