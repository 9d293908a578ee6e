import os
import stat
import zipfile
from datetime import date

import polars as pl
import pyreadstat
import pytest

import sdckit.io as sdc
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.errors import ColumnError, FileError, OptionError, RoleError
from sdckit.io.formats import WRITABLE

FRAME = pl.DataFrame(
    {
        "region": [1, 2, None],
        "income": [1.5, None, -3e6],
        "name": ["Zoë", None, '李, "x"'],
        "day": [date(2024, 2, 29), None, date(1950, 1, 1)],
        "size": pl.Series(["s", "l", None], dtype=pl.Enum(["s", "m", "l"])),
    }
)
LABELS = Labels({"region": "Région", "size": "Größe"}, {"region": {1: "Süd", 2: "North"}})
DATA = Microdata.of(FRAME, keys=["region", "size"], numeric="income", labels=LABELS)
# Where each format keeps the order of categories, and where value labels.
KEEPS_CATEGORIES, KEEPS_LABELS = (".parquet", ".xlsx"), (".parquet", ".xlsx", ".sav", ".zsav", ".dta")


@pytest.mark.parametrize("ending", WRITABLE)
def test_round_trip(tmp_path, ending):
    path = sdc.write(DATA, str(tmp_path / f"Out{ending.upper()}"), keep_unused=True)
    back = sdc.read(path, keys=["region", "size"], numeric="income")
    same = ["region", "income", "name", "day"]
    assert back.frame.select(same).equals(FRAME.select(same))
    assert back.frame.select(same).schema == FRAME.select(same).schema
    if ending in KEEPS_CATEGORIES:
        assert back.frame.equals(FRAME)
        assert back.frame.schema == FRAME.schema
    elif ending in KEEPS_LABELS:
        assert back.frame["size"].to_list() == [1, 3, None]
        assert back.labels.values["size"] == {1: "s", 2: "m", 3: "l"}
    else:
        assert back.frame["size"].to_list() == ["s", "l", None]
    assert back.labels.values.get("region") == (LABELS.values["region"] if ending in KEEPS_LABELS else None)
    assert back.labels.variables == ({} if ending in (".csv", ".csv.gz") else LABELS.variables)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", WRITABLE)
def test_texts_instead_of_codes(tmp_path, ending):
    labels = Labels({}, {"region": {1: "Süd"}, "size": {"l": "Large"}, "gone": {1: "x"}})
    data = Microdata.of(FRAME.with_columns(region=pl.Series([1, 2, None])), labels=labels)
    back = sdc.read(sdc.write(data, tmp_path / f"a{ending}", values="labels"))
    assert back.frame["region"].to_list() == ["Süd", "2", None]
    assert back.frame["size"].to_list() == ["s", "Large", None]
    assert back.labels.values == {}
    assert data.frame["region"].to_list() == [1, 2, None]


@pytest.mark.parametrize("ending", [e for e in WRITABLE if e != ".csv.gz"])
def test_nothing_tells_of_categories_and_labels_that_no_record_has(tmp_path, ending):
    frame = pl.DataFrame(
        {
            "key": pl.Series(["other", None, "common"], dtype=pl.Enum(["RARESECRET", "common", "other"])),
            "kind": pl.Series(["b", "RARESECRET", "a"], dtype=pl.Categorical),
            "code": [1.0, None, 2.0],
            "income": [10.5, 20.5, 30.5],
            "blank": pl.Series([None, None, None], dtype=pl.Enum(["RARESECRET"])),
        }
    ).with_columns(kind=pl.when(pl.col("kind") != "RARESECRET").then("kind"))
    values = {"code": {1: "one", 2: "two", 3: "RARESECRET"}, "gone": {1: "RARESECRET"}}
    data = Microdata.of(frame, keys="key", labels=Labels({}, values))
    for how in ("codes", "labels"):
        path = sdc.write(data, tmp_path / f"a{ending}", values=how)
        assert b"RARESECRET" not in _content(path)
    back = sdc.read(sdc.write(data, path))
    if ending in KEEPS_LABELS:
        assert back.labels.values["code"] == {1: "one", 2: "two"}
        assert b"RARESECRET" in _content(sdc.write(data, path, keep_unused=True))
    if ending in KEEPS_CATEGORIES:
        assert back.frame["key"].to_list() == ["other", None, "common"]
        assert back.frame.schema["key"] == pl.Enum(["common", "other"])
    elif ending in KEEPS_LABELS:
        assert back.frame["key"].to_list() == [3, None, 2]  # the same codes as with the whole codebook
        assert back.labels.values["key"] == {2: "common", 3: "other"}


def _content(path):
    """The bytes of a file, of what is in it where it is compressed."""
    if path.suffix != ".xlsx":
        return path.read_bytes()
    with zipfile.ZipFile(path) as book:
        return b"".join(book.read(name) for name in book.namelist())


def test_parquet_keeps_codes_of_every_kind(tmp_path):
    values = {"a": {1: "x"}, "b": {"1": "y"}, "c": {True: "z"}, "d": {0.5: "half"}}
    frame = pl.DataFrame({"a": [1], "b": ["1"], "c": [True], "d": [0.5]})
    back = sdc.read(sdc.write(Microdata.of(frame, labels=Labels({}, values)), tmp_path / "a.parquet"))
    assert back.labels.values == values
    assert [type(code) for codes in back.labels.values.values() for code in codes] == [int, str, bool, float]


def test_parquet_from_elsewhere_has_no_labels(tmp_path):
    FRAME.write_parquet(tmp_path / "a.parquet")
    assert sdc.read(tmp_path / "a.parquet").labels == Labels()


def test_one_column_with_missing_values(tmp_path):
    data = Microdata.of(pl.DataFrame({"a": ["x", None, None]}))
    assert sdc.read(sdc.write(data, tmp_path / "a.csv")).frame["a"].to_list() == ["x", None, None]


def test_direct_identifiers_are_never_written_by_accident(tmp_path):
    data = sdc.read(FRAME, direct="name", keep_direct=True)
    with pytest.raises(
        RoleError, match=r"Direct identifiers are not written\. Given: name\..*keep_direct=True"
    ):
        sdc.write(data, tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []
    assert "name" in sdc.read(sdc.write(data, tmp_path / "a.csv", keep_direct=True)).columns
    assert "name" not in sdc.read(sdc.write(data.without(("name",)), tmp_path / "b.csv")).columns


def test_a_bare_data_frame_is_not_written(tmp_path):
    with pytest.raises(
        OptionError, match=r"write takes Microdata\. Given: DataFrame\. Use sdckit\.read first"
    ):
        sdc.write(FRAME, tmp_path / "a.csv")


def test_refused_before_any_work(tmp_path):
    with pytest.raises(FileError, match=r"No library can write \.sas7bdat.*SAS reads \.xpt and \.sav"):
        sdc.write(DATA, tmp_path / "a.sas7bdat")
    with pytest.raises(FileError, match=r"ending in '\.txt' cannot be written.*\.csv, \.csv\.gz"):
        sdc.write(DATA, tmp_path / "a.txt")
    with pytest.raises(FileError, match=r"folder to write into does not exist\. Given: .*nowhere"):
        sdc.write(DATA, tmp_path / "nowhere" / "a.csv")
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(FileError, match="is a folder"):
        sdc.write(DATA, tmp_path / "a.csv")
    with pytest.raises(OptionError, match=r"Given: 'texts'\. Allowed: codes, labels"):
        sdc.write(DATA, tmp_path / "b.csv", values="texts")


def _half_written(error):
    """A writer that leaves half a file behind and then fails."""

    def fail(*args, **options):
        target = next(a for a in args if hasattr(a, "write_bytes") or hasattr(a, "write"))
        (target.write_bytes if hasattr(target, "write_bytes") else target.write)(b"half")
        raise error

    return fail


WRITERS = {
    ".csv": (pl.DataFrame, "write_csv"),
    ".csv.gz": (pl.DataFrame, "write_csv"),
    ".parquet": (pl.DataFrame, "write_parquet"),
    ".sav": (pyreadstat, "write_sav"),
    ".zsav": (pyreadstat, "write_sav"),
    ".dta": (pyreadstat, "write_dta"),
    ".xpt": (pyreadstat, "write_xport"),
}


@pytest.mark.parametrize("error", [RuntimeError("disk full"), KeyboardInterrupt(), MemoryError()])
@pytest.mark.parametrize("ending", WRITERS)
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, ending, error):
    path = sdc.write(DATA, tmp_path / f"a{ending}")
    before = path.read_bytes()
    monkeypatch.setattr(*WRITERS[ending], _half_written(error))
    expected = FileError if isinstance(error, RuntimeError) else type(error)
    with pytest.raises(expected, match="disk full" if expected is FileError else None):
        sdc.write(DATA, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_excel_failure_leaves_the_old_file(tmp_path, monkeypatch):
    path = sdc.write(DATA, tmp_path / "a.xlsx")
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", _raise)
    with pytest.raises(KeyboardInterrupt):
        sdc.write(DATA, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def _raise(*args):
    raise KeyboardInterrupt


def test_the_file_is_on_disk_before_it_gets_its_name(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(os, "fsync", lambda handle: seen.append((tmp_path / "a.csv").exists()))
    sdc.write(DATA, tmp_path / "a.csv")
    assert seen
    assert not any(seen)


def test_permissions_and_links_stay(tmp_path):
    real = sdc.write(DATA, tmp_path / "real.csv")
    real.chmod(0o640)
    (tmp_path / "link.csv").symlink_to(real)
    assert sdc.write(DATA.without(("name",)), tmp_path / "link.csv") == tmp_path / "link.csv"
    assert (tmp_path / "link.csv").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert "name" not in sdc.read(real).columns


def test_a_new_file_has_the_usual_permissions(tmp_path):
    plain = tmp_path / "plain"
    plain.touch()
    for ending in WRITABLE:
        made = sdc.write(DATA, tmp_path / f"a{ending}")
        assert stat.S_IMODE(made.stat().st_mode) & 0o077 == stat.S_IMODE(plain.stat().st_mode) & 0o077


def test_decimal_commas_are_read_back(tmp_path):
    frame = pl.DataFrame({"a": ["x;y", None], "b": [1.5, -2000.25], "c": [3, 4]})
    path = sdc.write(sdc.read(frame), tmp_path / "a.csv", decimal=",")
    assert path.read_text(encoding="utf-8").splitlines() == ["a;b;c", '"x;y";1,5;3', ";-2000,25;4"]
    assert sdc.read(path, numeric="b").frame["b"].to_list() == [1.5, -2000.25]


@pytest.mark.parametrize(("name", "decimal"), [("a.sav", ","), ("a.csv", ";")])
def test_decimal_commas_are_for_csv_only(tmp_path, name, decimal):
    with pytest.raises(OptionError, match="decimal"):
        sdc.write(sdc.read(pl.DataFrame({"b": [1.5]})), tmp_path / name, decimal=decimal)
    assert not list(tmp_path.iterdir())


def test_a_flag_is_true_or_false(tmp_path):
    frame = pl.DataFrame({"name": ["x"], "b": [1.5]})
    with pytest.raises(OptionError, match="keep_direct"):
        sdc.read(frame, direct="name", keep_direct="no")
    with pytest.raises(OptionError, match="keep_direct"):
        sdc.write(sdc.read(frame), tmp_path / "a.csv", keep_direct="no")


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_the_one_asked_for_and_is_read_back(tmp_path, separator):
    frame = pl.DataFrame({"name": ["a,b", "c;d", 'e"|\tf'], "x": [1.5, 2.0, None]})
    path = sdc.write(sdc.read(frame), tmp_path / "out.csv", separator=separator)
    assert path.read_text(encoding="utf-8").splitlines()[0] == f"name{separator}x"
    assert sdc.read(path).frame["name"].to_list() == frame["name"].to_list()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("out.csv", {"separator": "x"}),
        ("out.csv", {"separator": ",", "decimal": ","}),
        ("out.sav", {"separator": ";"}),
    ],
)
def test_separators_that_cannot_be_are_refused(tmp_path, name, options):
    with pytest.raises(OptionError):
        sdc.write(sdc.read(pl.DataFrame({"x": [1, 2]})), tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("values", [[[1], [2]], [{"a": 1}, {"a": 2}], [b"a", b"b"]])
def test_a_text_file_says_which_column_it_cannot_hold(tmp_path, values):
    data = sdc.read(pl.DataFrame({"age": [1, 2], "odd": values}), keys="age")
    with pytest.raises(ColumnError, match=r"cannot hold lists, structs or binary.*Given: odd, "):
        sdc.write(data, tmp_path / "out.csv")
    assert sdc.read(sdc.write(data, tmp_path / "out.parquet")).frame["odd"].to_list() == values
