"""Texts that a spreadsheet would run."""

import warnings
import zipfile

import polars as pl
import pytest

import sdckit.io as sdc
from sdckit.errors import OptionError, SdcWarning
from sdckit.io import engine_files

DANGEROUS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3+cmd",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "＝1",
    "-A1",
    "=",
    "- none",
]
HARMLESS = ["a=1", "-5", "+1,5", "-1.5e-3", "-10–-5", "-10–5", "−5", "-", "", "5", "'=1", " x", "-5 %", None]


@pytest.mark.parametrize("text", DANGEROUS)
def test_such_texts_are_told_and_can_be_escaped(tmp_path, text):
    data = sdc.read(pl.DataFrame({"a": ["x", text], "b": ["y", "z"], "n": [-5, -6]}))
    with pytest.warns(SdcWarning, match=r"^Texts in a begin as formulas do .*escape_formulas=True"):
        sdc.write(data, tmp_path / "a.csv")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Texts in")
        path = sdc.write(data, tmp_path / "b.csv", escape_formulas=True)
    found = pl.read_csv(path, infer_schema=False)
    assert found["a"].to_list() == ["x", "'" + text]
    assert found["n"].to_list() == ["-5", "-6"]


@pytest.mark.parametrize("text", HARMLESS)
def test_numbers_and_other_texts_stay(tmp_path, text):
    data = sdc.read(pl.DataFrame({"a": ["x", text], "b": ["y", "z"]}))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Texts in")
        first = sdc.write(data, tmp_path / "a.csv").read_text()
    assert sdc.write(data, tmp_path / "b.csv", escape_formulas=True).read_text() == first


def test_categories_labels_and_names_count_too(tmp_path, monkeypatch):
    monkeypatch.setattr(engine_files, "BATCH", 1)
    frame = pl.DataFrame({"=name": [1, 2], "kind": pl.Series(["@x", "y"], dtype=pl.Enum(["@x", "y"]))})
    with pytest.warns(SdcWarning, match="Texts in =name, kind begin"):
        sdc.write(sdc.read(frame), tmp_path / "a.csv")
    path = sdc.write(sdc.read(frame), tmp_path / "a.csv", escape_formulas=True)
    assert path.read_text() == "'=name,kind\n1,'@x\n2,y\n"
    frame.with_columns(pl.col("kind").cast(pl.String)).write_parquet(tmp_path / "in.parquet")
    with pytest.warns(SdcWarning, match="Texts in =name, kind begin"):
        sdc.write(sdc.read(tmp_path / "in.parquet", engine="duckdb"), tmp_path / "b.csv")


def test_cells_of_a_workbook_are_never_formulas(tmp_path):
    frame = pl.DataFrame({"=a": DANGEROUS, "b": ["{=SUM(A1)}"] * len(DANGEROUS)})
    path = sdc.write(sdc.read(frame), tmp_path / "a.xlsx")
    with zipfile.ZipFile(path) as book:
        sheets = [book.read(name) for name in book.namelist() if "worksheets/sheet" in name]
    assert sheets
    assert not any(b"<f>" in sheet or b"<f " in sheet for sheet in sheets)
    assert sdc.read(path).frame["=a"].to_list() == DANGEROUS


def test_only_text_files_have_them(tmp_path):
    with pytest.raises(OptionError, match=r"Only texts of \.csv files"):
        sdc.write(sdc.read(pl.DataFrame({"a": ["=1"]})), tmp_path / "a.xlsx", escape_formulas=True)
