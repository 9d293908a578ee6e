"""Which values are taken for codes of a missing answer, and which are not."""

import polars as pl
import pytest

import sdckit as sdc
from sdckit.choose.missing_codes import missing_codes
from sdckit.data.labels import Labels


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([1, 2, 3, 4, 9], (9,)),
        ([1, 2, 3, 4, 8, 9], (8, 9)),
        ([1, 5, 8, 9], ()),  # a scale up to 9
        ([20, 94, 99], ()),  # an old person
        ([20, 45, 97, 98, 99], (97, 98, 99)),
        ([0, 1], ()),
        ([0, 9], ()),  # nothing to compare with
        ([0.5, 12.25, -9.0, -8.0], (-9, -8)),
        ([-9, -8], ()),  # nothing else
        ([-20, 3, -9], ()),  # a balance
        ([3, -1], (-1,)),
        ([float("nan"), float("inf"), 3.0, -9.0], (-9,)),
        (["yes", "no", " N/A "], (" N/A ",)),
        (["no", "none", "unknown"], ()),
        (["low", "-9", "Refused"], ("-9", "Refused")),
        ([True, False], ()),
        ([None, None], ()),
    ],
)
def test_by_values(values, codes):
    assert missing_codes(pl.Series("x", values * 5), Labels()) == codes


def test_a_value_of_few_records_is_not_shown():
    assert missing_codes(pl.Series([1, 2, 3, 4] * 5 + [9] * 4), Labels()) == ()


def test_labels_are_read():
    series = pl.Series("x", [1, 2, 3] * 5)
    assert missing_codes(series, Labels(values={"x": {1: "yes", 2: "no", 3: "Don't know"}})) == (3,)


def test_nothing_is_said_of_columns_that_identify():
    data = sdc.read(pl.DataFrame({"name": ["a", "n/a"] * 10, "answer": ["a", "n/a"] * 10}))
    found = {c.name: c.missing_codes for c in sdc.describe(data).columns}
    assert found == {"name": (), "answer": ("n/a",)}
    assert "codes for missing? n/a" in repr(sdc.describe(data))
