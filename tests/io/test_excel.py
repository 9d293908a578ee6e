from datetime import date

import polars as pl
import pytest
import xlsxwriter

import sdckit.io as sdc
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.errors import ColumnError, DataError, FileError
from sdckit.io import excel


def book(path, *rows):
    with xlsxwriter.Workbook(path) as made:
        sheet = made.add_worksheet()
        for i, row in enumerate(rows):
            sheet.write_row(i, 0, row)
    return path


def test_sheet_from_elsewhere(tmp_path):
    path = book(
        tmp_path / "A.XLSX", ["code", "n", "x", "none"], ["0110", 1, 1.5, None], ["25", None, 2, None]
    )
    frame = sdc.read(path, numeric=["n", "x", "none"]).frame
    assert frame.to_dict(as_series=False) == {
        "code": ["0110", "25"],
        "n": [1, None],
        "x": [1.5, 2.0],
        "none": [None, None],
    }
    assert frame.schema == {"code": pl.String, "n": pl.Int64, "x": pl.Float64, "none": pl.Float64}


def test_late_value_decides_the_type(tmp_path):
    path = book(tmp_path / "a.xlsx", ["x"], *[[i] for i in range(1200)], ["text"])
    assert sdc.read(path).frame["x"].to_list()[-1] == "text"


def test_everything_comes_back(tmp_path):
    frame = pl.DataFrame(
        {
            "code": [1, 2, None],
            "text": ["=1+1", "ünï", "http://a.b"],
            "digits": ["0110", "1", None],
            "day": [date(2024, 2, 29), None, date(1950, 1, 1)],
            "yes": [True, False, None],
            "size": pl.Series(["b", None, "s"], dtype=pl.Enum(["s", "m", "b"])),
        }
    )
    labels = Labels({"code": "Région"}, {"code": {1: "North", 2: "1"}, "size": {"s": "small"}})
    back = sdc.read(sdc.write(Microdata.of(frame, labels=labels), tmp_path / "a.xlsx", keep_unused=True))
    assert back.frame.equals(frame)
    assert back.frame.schema == frame.schema
    assert back.labels == labels


def test_no_labels_no_sheet(tmp_path):
    import fastexcel

    sdc.write(sdc.read(pl.DataFrame({"a": [1]})), tmp_path / "a.xlsx")
    assert fastexcel.read_excel(tmp_path / "a.xlsx").sheet_names == ["data"]


def test_faults_of_a_sheet(tmp_path):
    with pytest.raises(ColumnError, match=r"must differ\. Given: 'a'\."):
        sdc.read(book(tmp_path / "a.xlsx", ["a", "b", "a"], [1, 2, 3]))
    with pytest.raises(FileError, match="first sheet is empty"):
        sdc.read(book(tmp_path / "b.xlsx"))
    with pytest.raises(DataError, match="no records"):
        sdc.read(book(tmp_path / "c.xlsx", ["a", "b"]))


def test_what_does_not_fit(tmp_path, monkeypatch):
    path = tmp_path / "a.xlsx"
    with pytest.raises(DataError, match="too long for Excel"):
        sdc.write(sdc.read(pl.DataFrame({"a": ["x" * 32_768]})), path)
    with pytest.raises(DataError, match="round the numbers in 'a'"):
        sdc.write(sdc.read(pl.DataFrame({"a": [10**15]})), path)
    with pytest.raises(ColumnError, match=r"capitals are ignored\. Given: a, A"):
        sdc.write(sdc.read(pl.DataFrame({"a": [1], "A": [2]})), path)
    monkeypatch.setattr(excel, "MAX_ROWS", 1)
    with pytest.raises(FileError, match=r"do not fit in an Excel sheet.*\.parquet"):
        sdc.write(sdc.read(pl.DataFrame({"a": [1, 2]})), path)
