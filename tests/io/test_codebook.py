"""Codebooks: what is in the file, for people and for archives, and nothing else."""

from datetime import date
from xml.etree import ElementTree

import polars as pl
import pyreadstat
import pytest

import sdckit.io as sdc
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.errors import ColumnError
from sdckit.io.codebook import beside
from sdckit.io.formats import WRITABLE

DDI = "{ddi:codebook:2_5}"
FRAME = pl.DataFrame(
    {
        "region": [1, 2, None, 1],
        "income": [1234.5, None, 98765.25, 17.0],
        "name": ["Zoë", None, "<b>&x", "secret text"],
        "day": [date(2024, 2, 29), None, date(1950, 1, 1), date(2000, 1, 1)],
        "size": pl.Series(["s", "l", None, "s"], dtype=pl.Enum(["s", "m", "l"])),
        "w": [1.5, 2.5, 3.5, 4.5],
    }
)
LABELS = Labels(
    {"region": "Région <1>", "size": "Größe"},
    {"region": {1: "Süd & West", 2: "North", 3: "RARESECRET"}, "size": {"l": "large", "m": "RARESECRET"}},
)
DATA = Microdata.of(FRAME, keys=["region", "size"], numeric="income", weight="w", labels=LABELS)


def codebook(path):
    root = ElementTree.parse(beside(path)["xml"]).getroot()
    assert root.tag == f"{DDI}codeBook"
    return root


def categories(root, name):
    variable = root.find(f"{DDI}dataDscr/{DDI}var[@name='{name}']")
    return {
        c.findtext(f"{DDI}catValu"): (c.findtext(f"{DDI}labl"), c.get("missing"))
        for c in variable.findall(f"{DDI}catgry")
    }


@pytest.mark.parametrize("ending", WRITABLE)
def test_every_format_has_one(tmp_path, ending):
    path = sdc.write(DATA, tmp_path / f"survey{ending}", codebook=True)
    assert {p.name for p in tmp_path.iterdir()} == {path.name, "survey.codebook.html", "survey.codebook.xml"}
    root = codebook(path)
    assert [child.tag.removeprefix(DDI) for child in root] == ["stdyDscr", "fileDscr", "dataDscr"]
    assert root.findtext(f"{DDI}fileDscr/{DDI}fileTxt/{DDI}fileName") == path.name
    assert root.findtext(f"{DDI}fileDscr/{DDI}fileTxt/{DDI}dimensns/{DDI}caseQnty") == "4"
    variables = root.findall(f"{DDI}dataDscr/{DDI}var")
    assert [v.get("name") for v in variables] == FRAME.columns
    assert len({v.get("ID") for v in variables}) == len(variables)
    assert [v.get("name") for v in variables if v.get("wgt")] == ["w"]
    assert variables[0].findtext(f"{DDI}labl") == "Région <1>"
    assert categories(root, "region") == {"1": ("Süd & West", None), "2": ("North", None)}
    coded = ending in (".sav", ".zsav", ".dta")
    assert categories(root, "size") == (
        {"1": ("s", None), "3": ("large", None)} if coded else {"s": (None, None), "l": ("large", None)}
    )
    order = ["labl", "invalrng", "catgry", "varFormat"]  # as the standard asks for
    for variable in variables:
        places = [order.index(child.tag.removeprefix(DDI)) for child in variable]
        assert places == sorted(places)


@pytest.mark.parametrize("values", ["codes", "labels"])
def test_it_tells_nothing_of_records(tmp_path, values):
    path = sdc.write(DATA, tmp_path / "survey.sav", codebook=True, values=values)
    for book in beside(path).values():
        text = book.read_text(encoding="utf-8")
        for secret in ("RARESECRET", "secret text", "Zoë", "98765", "1234", "1950", "2024", "17.0", "&x"):
            assert secret not in text
    shown = codebook(path)
    expected = {"1": ("Süd & West", None), "2": ("North", None)}
    if values == "labels":
        expected = {"Süd & West": (None, None), "North": (None, None)}
    assert categories(shown, "region") == expected


def test_true_and_false_are_numbers_where_the_format_has_no_such_type(tmp_path):
    data = sdc.read(pl.DataFrame({"yes": [True, False, None]}))
    for ending, kind in ((".sav", "numeric"), (".csv", "character")):
        root = codebook(sdc.write(data, tmp_path / f"a{ending}", codebook=True))
        assert root.find(f".//{DDI}varFormat").get("type") == kind
        assert categories(root, "yes") == (
            {"0": ("false", None), "1": ("true", None)} if ending == ".sav" else {}
        )


def test_all_categories_where_the_file_has_them(tmp_path):
    path = sdc.write(DATA, tmp_path / "survey.parquet", codebook=True, keep_unused=True)
    assert list(categories(codebook(path), "size")) == ["s", "m", "l"]
    assert list(categories(codebook(path), "region")) == ["1", "2", "3"]


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_codes_of_missing_values_are_marked(tmp_path, ending):
    codes = ["a", "b"] if ending == ".dta" else [-9, -8]
    labels = {"x": {1: "yes", codes[0]: "not applicable", codes[1]: "refused"}}
    raw = pl.DataFrame(
        {"x": pl.Series([1, *codes, None], dtype=pl.Object if ending == ".dta" else pl.Float64)}
    )
    if ending == ".dta":
        pyreadstat.write_dta(
            raw, tmp_path / "in.dta", missing_user_values={"x": codes}, variable_value_labels=labels
        )
    else:
        pyreadstat.write_sav(
            raw, tmp_path / "in.sav", missing_ranges={"x": codes}, variable_value_labels=labels
        )
    root = codebook(sdc.write(sdc.read(tmp_path / f"in{ending}"), tmp_path / f"out{ending}", codebook=True))
    first, second = (".a", ".b") if ending == ".dta" else ("-9", "-8")
    assert categories(root, "x") == {
        "1": ("yes", None), first: ("not applicable", "Y"), second: ("refused", "Y")
    }  # fmt: skip
    items = root.findall(f".//{DDI}invalrng/{DDI}item")
    assert [item.get("VALUE") for item in items] == [first, second]


def test_odd_characters_stay_text(tmp_path):
    data = Microdata.of(
        pl.DataFrame({"<script>&\x0b": [1]}), labels=Labels({"<script>&\x0b": "\x00 ]]> \"'"})
    )
    path = sdc.write(data, tmp_path / "a.parquet", codebook=True)
    assert codebook(path).find(f".//{DDI}var").get("name") == "<script>&\ufffd"
    assert "<script>" not in beside(path)["html"].read_text(encoding="utf-8")


def test_data_on_disk_have_one_too(tmp_path):
    sdc.write(DATA, tmp_path / "in.parquet")
    data = sdc.read(tmp_path / "in.parquet", engine="duckdb")
    there = codebook(sdc.write(data, tmp_path / "there.csv", codebook=True))
    here = codebook(sdc.write(sdc.read(tmp_path / "in.parquet"), tmp_path / "here.csv", codebook=True))
    assert categories(there, "region") == categories(here, "region") != {}
    assert categories(there, "size") == {
        "l": ("large", None)
    }  # DuckDB has texts for the categories of Parquet


def test_none_is_left_where_the_data_cannot_be_written(tmp_path):
    with pytest.raises(ColumnError, match="SPSS"):
        sdc.write(sdc.read(pl.DataFrame({"1": [1]})), tmp_path / "a.sav", codebook=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".sav", ".parquet", ".csv"])
def test_categories_that_name_records_are_left_out(tmp_path, ending):
    """The page may be public where the file is not."""
    frame = pl.DataFrame(
        {"who": [f"Name {i}" for i in range(60)], "area": [f"area {i % 25}" for i in range(60)]},
        schema={"who": pl.Categorical, "area": pl.Categorical},
    )
    path = sdc.write(Microdata.of(frame, keys="area"), tmp_path / f"out{ending}", codebook=True)
    for one in beside(path).values():
        text = one.read_text(encoding="utf-8")
        assert "Name 7" not in text
        assert "area 24" in text
