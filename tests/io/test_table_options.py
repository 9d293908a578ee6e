"""Options of reading: what is said of a file's layout is done, and what no file can have is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import OptionError, SdcError
from sdckit.io.preview import preview_file

File = Callable[[str], Path]


@pytest.fixture
def csv(tmp_path: Path) -> File:
    def write(text: str) -> Path:
        path = tmp_path / "a.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def book(tmp_path: Path) -> Path:
    import xlsxwriter

    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as made:
        pl.DataFrame({"x": [1, 2]}).write_excel(made, "first")
        pl.DataFrame({"y": ["a", "b", "c"]}).write_excel(made, "second")
    return path


def test_separator_that_is_said_wins_over_the_one_found(csv: File) -> None:
    path = csv("a;b,c;d\n1;2,5;3\n")
    assert sdc.read(path).columns == ("a", "b,c", "d")
    assert sdc.read(path, separator=",").columns == ("a;b", "c;d")
    for word, mark in {"tab": "\t", "space": " ", "#": "#"}.items():
        assert sdc.read(csv(f"a{mark}b\n1{mark}2\n"), separator=word).frame.rows() == [(1, 2)]


def test_decimal_mark(csv: File) -> None:
    path = csv("x;y\n1,5;1.5\n2,5;2.5\n")
    assert sdc.read(path).frame.rows() == [(1.5, 1.5), (2.5, 2.5)]
    assert sdc.read(path, decimal=",").frame.rows() == [(1.5, "1.5"), (2.5, "2.5")]
    assert sdc.read(path, decimal=".").frame.rows() == [("1,5", 1.5), ("2,5", 2.5)]
    assert sdc.read(csv('x,y\n"1,5",2\n'), decimal=",").frame.rows() == [(1.5, 2)]


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_without_header_the_first_line_is_a_record(csv: File, engine: Any) -> None:
    data = sdc.read(csv("1,a\n2,b\n"), header=False, engine=engine).collect()
    assert data.frame.rows() == [(1, "a"), (2, "b")]
    assert data.columns == ("column_1", "column_2")


def test_without_header_blank_lines_are_left_out_and_short_ones_refused(csv: File) -> None:
    assert sdc.read(csv("\n\n1,\n\n3,4\n\n"), header=False).frame.rows() == [(1, None), (3, 4)]
    with pytest.raises(SdcError, match="Line 2 has 1 values, the first line has 2"):
        sdc.read(csv("1,2\n3\n"), header=False)


def test_sheet_by_name_or_number(book: Path) -> None:
    assert sdc.read(book).columns == ("x",)
    assert sdc.read(book, sheet="second").frame.rows() == sdc.read(book, sheet=2).frame.rows()
    assert sdc.read(book, sheet=2).columns == ("y",)
    assert sdc.read(book, sheet=2, header=False).frame.rows() == [("y",), ("a",), ("b",), ("c",)]


def test_labels_are_those_of_the_first_sheet_only(tmp_path: Path) -> None:
    data = sdc.Microdata.of(pl.DataFrame({"x": [1, 2]}), labels=sdc.Labels({"x": "A label"}))
    path = sdc.write(data, tmp_path / "b.xlsx")
    assert sdc.read(path).labels.variables == {"x": "A label"}
    assert sdc.read(path, sheet=2).labels.variables == {}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"separator": "ab"}, "separator is one character"),
        ({"separator": "1"}, "separator is one character"),
        ({"separator": ""}, "separator is one character"),
        ({"separator": 5}, "separator is one character"),
        ({"decimal": ";"}, "decimal is the mark"),
        ({"header": "no"}, "'header' is true or false"),
        ({"sheet": 1}, "sheet is for workbooks, not for files ending in .csv"),
        ({"sheet": 0}, "sheet is the name of a sheet"),
        ({"sheet": True}, "sheet is the name of a sheet"),
    ],
)
def test_wrong_options_are_refused(csv: File, options: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        sdc.read(csv("a,b\n1,2\n"), **options)


def test_options_for_other_files_are_refused(book: Path) -> None:
    with pytest.raises(OptionError, match="separator is for text files, not for files ending in"):
        sdc.read(book, separator=";")
    with pytest.raises(OptionError, match="header is for text files and workbooks, not for a data frame"):
        sdc.read(pl.DataFrame({"x": [1]}), header=False)
    with pytest.raises(OptionError, match=r"no such sheet.*'first', 'second', or 1 to 2"):
        sdc.read(book, sheet="third")
    with pytest.raises(OptionError, match="no such sheet"):
        sdc.read(book, sheet=3)


def test_preview_has_the_first_rows_and_what_was_found(csv: File, book: Path) -> None:
    path = csv("x;y\n" + "".join(f"{i};{i},5\n" for i in range(100)))
    found = preview_file(path, rows=3)
    no_labels = {"label": "", "values": {}}
    assert found["columns"] == [
        {"name": "x", "kind": "whole number", **no_labels},
        {"name": "y", "kind": "number", **no_labels},
    ]
    assert found["rows"] == [["0", "0.5"], ["1", "1.5"], ["2", "2.5"]]
    assert found["found"] == {"encoding": "utf-8", "separator": ";"}
    assert found["sheets"] == []
    other = csv("a;b,c\n1;2,5\n")
    assert preview_file(other, separator=",")["rows"] == [["1;2", "5"]]
    path = csv("x;y\n1;2\n")
    assert preview_file(path, header=False, rows=1)["rows"] == [["x", "y"]]
    assert preview_file(book, sheet=2, rows=2) == {
        "columns": [{"name": "y", "kind": "text", **no_labels}],
        "rows": [["a"], ["b"]],
        "sheets": ["first", "second"],
        "found": {"sheet": "second"},
        "notes": [],
    }


def test_preview_refuses_what_read_refuses(csv: File, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="separator is one character"):
        preview_file(csv("a,b\n1,2\n"), separator="xx")
    with pytest.raises(SdcError, match="does not exist"):
        preview_file(tmp_path / "none.csv")
    (tmp_path / "broken.xlsx").write_bytes(b"no workbook")
    with pytest.raises(SdcError, match="cannot be read as"):
        preview_file(tmp_path / "broken.xlsx")
