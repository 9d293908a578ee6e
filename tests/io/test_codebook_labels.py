"""Labels from a codebook: matched with the types of the columns, the rest said and not silently dropped."""

import warnings
from datetime import date

import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.errors import OptionError, SdcWarning

HEAD = "variable,label,value,value_label,missing\n"


def people():
    return pl.DataFrame(
        {
            "sex": [1, 2, 9] * 10,
            "code": ["01", "02", "01"] * 10,
            "score": [1.0, 2.5, 9.0] * 10,
            "works": [True, False, None] * 10,
            "born": [date(1980, 1, 1), date(1990, 1, 1), None] * 10,
        }
    )


LABELS = Labels(
    {"sex": "Sex <of the person>", "score": "Score & more"},
    {
        "sex": {1: "male", 2: "female", 9: "not stated"},
        "code": {"01": "north", "02": "„süd“"},
        "score": {2.5: "two and a half", 9.0: "the best"},
        "works": {True: "at work", False: "not at work"},
    },
)


def book(folder, rows):
    path = folder / "book.csv"
    path.write_text(HEAD + rows, encoding="utf-8")
    return path


def read_quietly(source, **options):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        data = sdc.read(source, **options)
    return data, [str(w.message) for w in told if issubclass(w.category, SdcWarning)]


def test_what_write_wrote_comes_back(tmp_path):
    data = Microdata.of(people(), labels=LABELS)
    with pytest.warns(sdc.errors.ReleaseWarning):
        sdc.write(data, tmp_path / "out.csv", codebook=True)
    again, told = read_quietly(tmp_path / "out.csv", codebook=tmp_path / "out.codebook.xml")
    assert again.frame.equals(data.frame)
    assert again.labels == LABELS
    assert told == []


def test_codes_have_the_types_of_the_columns(tmp_path):
    rows = "sex,Sex,1.0,male,\nsex,,2,female,\ncode,,01,north,\ncode,,1,no such,\n"
    rows += "score,,1,one,\nworks,,true,yes,\nworks,,0,no,\n"
    data, told = read_quietly(people(), codebook=book(tmp_path, rows))
    assert data.labels.values == {
        "sex": {1: "male", 2: "female"},
        "code": {"01": "north", "1": "no such"},
        "score": {1.0: "one"},
        "works": {True: "yes", False: "no"},
    }
    assert all(type(code) is int for code in data.labels.values["sex"])
    assert data.labels.text("score", 1.0) == "one"
    assert told == ["No record has these values of the codebook: code 1."]


def test_what_is_for_no_column_is_said(tmp_path):
    rows = "sex,,.a,refused,yes\nborn,,1980-01-01,long ago,\nheight,Height,1,tall,\nsex,,3,other,\n"
    data, told = read_quietly(people(), codebook=book(tmp_path, rows))
    assert told == [
        "The codebook describes variables that the file lacks: height.",
        "Values of the codebook are not of the type of the column: sex (numbers) .a; "
        "born (dates or times) 1980-01-01.",
        "No record has these values of the codebook: sex 3.",
    ]
    assert data.labels == Labels({}, {"sex": {3: "other"}})


def test_missing_codes_are_proposed_and_never_taken(tmp_path):
    rows = "sex,,9,refused,yes\nsex,,8,never asked,yes\nscore,,9,top,yes\n"
    data, told = read_quietly(people(), codebook=book(tmp_path, rows))
    assert data.frame.equals(people())
    assert "marks values as missing: sex 9; score 9." in told[-1]
    assert "declare_missing" in told[-1]
    proposed = {c.name: c.missing_codes for c in sdc.describe(data).columns}
    assert proposed["sex"] == (9,)
    assert proposed["score"] == (9,)
    done = sdc.prepare.declare_missing(data, variables=["sex"], codes=[9])
    assert done.frame["sex"].null_count() == 10
    left = {c.name: c.missing_codes for c in sdc.describe(done).columns}
    assert left["sex"] == ()
    assert left["score"] == (9,)


def test_the_codebook_comes_before_the_labels_of_the_file(tmp_path):
    with pytest.warns(sdc.errors.ReleaseWarning):
        sdc.write(Microdata.of(people(), labels=LABELS), tmp_path / "people.parquet")
    data, _ = read_quietly(tmp_path / "people.parquet", codebook=book(tmp_path, "sex,Gender,1,man,\n"))
    assert data.labels.variables == {"sex": "Gender", "score": "Score & more"}
    assert data.labels.values["sex"] == {1: "man", 2: "female", 9: "not stated"}
    assert data.labels.values["code"] == LABELS.values["code"]


def test_labels_of_direct_identifiers_go_with_them(tmp_path):
    data, told = read_quietly(people(), direct="sex", codebook=book(tmp_path, "sex,Sex,1,male,\n"))
    assert data.labels == Labels()
    assert told == []


def test_a_file_on_disk_gets_its_labels_without_being_read(tmp_path):
    pytest.importorskip("duckdb")
    people().write_csv(tmp_path / "people.csv")
    path = book(tmp_path, "sex,Sex,1,male,\nsex,,9,refused,yes\n")
    data, told = read_quietly(tmp_path / "people.csv", engine="duckdb", codebook=path)
    assert data.engine == "duckdb"
    assert data.labels == Labels({"sex": "Sex"}, {"sex": {1: "male", 9: "refused"}})
    assert told[-1].startswith("The codebook marks values as missing: sex 9.")


@pytest.mark.parametrize("given", ["book.html", "book", 3, True, "bo\0ok.xml"])
def test_what_cannot_be_a_codebook(given):
    with pytest.raises(OptionError, match="codebook is the path of a codebook"):
        sdc.read(people(), codebook=given)
    with pytest.raises(OptionError, match="codebook is the path of a codebook"):
        sdc.Plan.parse(
            f"data: {{file: x.csv, codebook: {str(given)!r}}}"
            if given != "bo\0ok.xml"
            else "data: {codebook: x.txt}"
        )


def test_a_plan_finds_the_codebook_beside_it(tmp_path):
    people().write_csv(tmp_path / "people.csv")
    book(tmp_path, "sex,Sex,1,male,\nsex,,2,female,\nsex,,9,refused,yes\n")
    for more in ("", ", prepare: [{declare_missing: {codes: [9], variables: [sex]}}]"):
        plan = tmp_path / "plan.yaml"
        plan.write_text(
            f"data: {{file: people.csv, codebook: book.csv, keys: [sex]{more}}}", encoding="utf-8"
        )
        loaded = sdc.Plan.load(plan)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            data = loaded.read()
        # what a preparation declares is not proposed any more
        assert [str(w.message)[:45] for w in told] == (
            [] if more else ["The codebook marks values as missing: sex 9. "]
        )
        assert data.labels.variables == {"sex": "Sex"}
        assert list(data.labels.values["sex"]) == ([1, 2] if more else [1, 2, 9])
        assert "codebook: book.csv" in loaded.to_yaml()
