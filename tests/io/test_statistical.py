from datetime import date, datetime

import polars as pl
import pyreadstat
import pytest

import sdckit.io as sdc
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.errors import ColumnError, DataError, FileError

WRITERS = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta}


@pytest.mark.parametrize("ending", WRITERS)
def test_codes_and_labels_of_a_file_from_elsewhere(tmp_path, ending):
    path = tmp_path / f"survey{ending.upper()}"
    frame = pl.DataFrame(
        {"region": [1.0, 2.0, None], "income": [1000.0, 2000.0, 3000.0], "name": ["Zoë", "", None]}
    )
    WRITERS[ending](
        frame,
        path,
        column_labels={"region": "Région"},
        variable_value_labels={"region": {1: "North", 2: "Süd"}},
    )
    data = sdc.read(path, keys="region", numeric="income")
    assert data.frame.schema == {"region": pl.Int64, "income": pl.Float64, "name": pl.String}
    assert data.frame["region"].to_list() == [1, 2, None]
    assert data.frame["name"].to_list() == ["Zoë", None, None]
    assert data.labels.variables == {"region": "Région"}
    assert data.labels.values == {"region": {1: "North", 2: "Süd"}}
    assert all(type(code) is int for code in data.labels.values["region"])


def test_spss_user_missing_is_missing(tmp_path):
    path = tmp_path / "a.sav"
    pyreadstat.write_sav(
        pl.DataFrame({"q": [1.0, 9.0, 98.0], "t": ["a", "zz", "b"]}),
        path,
        missing_ranges={"q": [9.0, {"lo": 90.0, "hi": 99.0}], "t": ["zz"]},
        variable_value_labels={"q": {1.0: "yes", 9.0: "refused"}},
    )
    data = sdc.read(path)
    assert data.frame.to_dict(as_series=False) == {"q": [1, None, None], "t": ["a", None, "b"]}
    assert data.labels.values["q"] == {1: "yes", 9: "refused"}


def test_labelled_column_with_halves_stays_float(tmp_path):
    path = tmp_path / "a.sav"
    pyreadstat.write_sav(
        pl.DataFrame({"q": [1.5, 2.0]}), path, variable_value_labels={"q": {1.5: "half", 2.0: "full"}}
    )
    data = sdc.read(path)
    assert data.frame["q"].dtype == pl.Float64
    assert data.labels.values == {"q": {1.5: "half", 2.0: "full"}}


def test_stata_extended_missing(tmp_path):
    import pandas as pd

    path = tmp_path / "a.dta"
    pyreadstat.write_dta(
        pd.DataFrame({"q": [1, 2, "a"]}),
        path,
        missing_user_values={"q": ["a"]},
        variable_value_labels={"q": {1: "yes", "a": "refused"}},
    )
    data = sdc.read(path)
    assert data.frame["q"].to_list() == [1, 2, None]
    assert data.labels.values == {"q": {1: "yes"}}


def test_sas7bdat_goes_to_its_reader(tmp_path, monkeypatch):
    """No library writes .sas7bdat, so its reader is replaced by that of a twin in .sav."""
    twin = tmp_path / "twin.sav"
    pyreadstat.write_sav(pl.DataFrame({"x": [1.5, 2.5]}), twin)
    path = tmp_path / "a.SAS7BDAT"
    path.write_bytes(b"stand-in")
    monkeypatch.setattr(pyreadstat, "read_sas7bdat", lambda path, **o: pyreadstat.read_sav(twin, **o))
    assert sdc.read(path).frame["x"].to_list() == [1.5, 2.5]


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta"])
def test_categories_become_labelled_codes_in_their_order(tmp_path, ending):
    frame = pl.DataFrame(
        {"size": pl.Series(["small", None, "big"], dtype=pl.Enum(["small", "middle", "big"]))}
    ).with_columns(kind=pl.Series(["b", "a", None], dtype=pl.Categorical))
    data = Microdata.of(frame, labels=Labels({}, {"size": {"big": "Large!"}}))
    back = sdc.read(sdc.write(data, tmp_path / f"a{ending}"))
    assert back.frame.to_dict(as_series=False) == {"size": [1, None, 3], "kind": [2, 1, None]}
    assert back.labels.values == {
        "size": {1: "small", 3: "Large!"},
        "kind": {1: "a", 2: "b"},
    }
    whole = sdc.read(sdc.write(data, tmp_path / f"b{ending}", keep_unused=True))
    assert whole.frame.equals(back.frame)
    assert whole.labels.values["size"] == {1: "small", 2: "middle", 3: "Large!"}


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt"])
def test_types_come_back(tmp_path, ending):
    frame = pl.DataFrame(
        {
            "whole": [1, None, -3_000_000_000],
            "small": pl.Series([1, 2, None], dtype=pl.Int8),
            "real": [1.0, 2.0, None],
            "price": pl.Series(["1.50", "2.25", None]).cast(pl.Decimal(8, 2)),
            "yes": [True, False, None],
            "text": ["x", "ü" * 300, None],
            "day": [date(2024, 2, 29), None, date(1950, 1, 1)],
            "moment": [datetime(2024, 2, 29, 13, 1), None, datetime(1970, 1, 1)],
            "none": pl.Series([None] * 3, dtype=pl.Float64),
        }
    )
    back = sdc.read(sdc.write(Microdata.of(frame), tmp_path / f"a{ending}")).frame
    same = [name for name in frame.columns if name not in ("small", "price", "yes")]
    assert back.select(same).equals(frame.select(same))
    assert back["small"].to_list() == [1, 2, None]
    assert back["price"].to_list() == [1.5, 2.25, None]
    assert back["yes"].to_list() == [1, 0, None]
    assert {back.schema[name] for name in ("whole", "small", "yes")} == {pl.Int64}
    assert back.schema["real"] == pl.Float64


@pytest.mark.parametrize(
    ("ending", "good", "bad"),
    [
        (".sav", ["größe", "a.b", "x" * 64], ["a b", "1a", "_a", "x" * 65, "a-b", "with", "a."]),
        (".dta", ["größe", "_a", "x" * 32], ["a b", "1a", "x" * 33, "a.b", "if", "str12", ""]),
        (".xpt", ["_a", "x" * 32], ["größe", "a b", "1a", "x" * 33, "a.b"]),
    ],
)
def test_names(tmp_path, ending, good, bad):
    path = tmp_path / f"a{ending}"
    assert sdc.read(sdc.write(sdc.read(pl.DataFrame({name: [1] for name in good})), path)).columns == tuple(
        good
    )
    path.unlink()
    frame = pl.DataFrame({name: [1] for name in [good[0], *bad]})
    with pytest.raises(ColumnError, match="does not allow these column names") as error:
        sdc.write(sdc.read(frame), path)
    assert all(repr(name) in str(error.value) for name in bad)
    assert repr(good[0]) not in str(error.value)
    assert "first, then letters" in str(error.value) or "A–Z" in str(error.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".sav", ".xpt"])
def test_names_that_differ_in_capitals_only(tmp_path, ending):
    with pytest.raises(ColumnError, match="'a', 'A'"):
        sdc.write(sdc.read(pl.DataFrame({"a": [1], "A": [2]})), tmp_path / f"a{ending}")


def test_stata_has_no_labels_for_text(tmp_path):
    data = Microdata.of(pl.DataFrame({"s": ["f", "m"]}), labels=Labels({}, {"s": {"f": "female"}}))
    with pytest.raises(FileError, match=r"whole numbers only\. Given: s\..*values='labels'"):
        sdc.write(data, tmp_path / "a.dta")
    assert sdc.read(sdc.write(data, tmp_path / "a.sav")).labels.values == {"s": {"f": "female"}}
    back = sdc.read(sdc.write(data, tmp_path / "a.dta", values="labels"))
    assert back.frame["s"].to_list() == ["female", "m"]


def test_numbers_that_would_be_rounded(tmp_path):
    for ending in (".sav", ".dta", ".xpt"):
        with pytest.raises(DataError, match=r"would round the numbers in 'n'.*Turn them into text"):
            sdc.write(sdc.read(pl.DataFrame({"n": [2**53 + 1]})), tmp_path / f"a{ending}")


def test_lists_are_refused(tmp_path):
    with pytest.raises(ColumnError, match="SPSS cannot hold column 'l'"):
        sdc.write(sdc.read(pl.DataFrame({"l": [[1]]})), tmp_path / "a.sav")


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt"])
def test_long_labels_are_cut_between_letters(tmp_path, ending):
    data = Microdata.of(pl.DataFrame({"a": [1]}), labels=Labels({"a": "xü" * 300}))
    label = sdc.read(sdc.write(data, tmp_path / f"a{ending}")).labels.variables["a"]
    assert len(label) > 50
    assert ("xü" * 300).startswith(label)


def test_labels_of_vanished_codes_do_not_stop_the_writing(tmp_path):
    """A recoding turned numbers into text and left the old labels behind."""
    data = Microdata.of(pl.DataFrame({"a": ["1; 2"]}), labels=Labels({}, {"a": {1: "x"}, "gone": {1: "y"}}))
    assert sdc.read(sdc.write(data, tmp_path / "a.sav")).labels.values == {}
