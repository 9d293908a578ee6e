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
        (["1", "2", "3", "9"], ("9",)),
        (["01", "17", "99"], ("99",)),
        (["1", "5", "8", "9"], ()),  # a scale up to 9
        (["low", "high", "99"], ("99",)),
        (["low", "high", "99", "12"], ()),  # house numbers, or whatever: 12 is no code
        (["A", "B", "-8", "n/a"], ("-8", "n/a")),
        ([True, False], ()),
        ([None, None], ()),
    ],
)
def test_by_values(values, codes):
    assert missing_codes(pl.Series("x", values * 5), Labels()) == codes


def test_a_value_of_few_records_is_not_shown():
    assert missing_codes(pl.Series([1, 2, 3, 4] * 5 + [9] * 4), Labels()) == ()


@pytest.mark.parametrize(
    ("last", "records", "codes"),
    [
        (94, 12, (99,)),
        (94, 5, ()),  # five very old persons
        (98, 12, ()),  # 99 goes on where 98 ends
    ],
)
def test_a_heap_of_nines_beyond_all_ages_is_a_code(last, records, codes):
    ages = [age for age in range(16, last + 1) for _ in range(4)]
    assert missing_codes(pl.Series("age", ages + [99] * records), Labels()) == codes
    texts = [str(age) for age in ages + [99] * records]
    assert missing_codes(pl.Series("age", texts), Labels()) == tuple(map(str, codes))


def test_a_heap_of_99_among_incomes_is_a_code():
    incomes = [0] * 30 + [17, 44, 61, 85, 120, 150, 300, 410, *range(500, 9000, 7)]
    assert missing_codes(pl.Series("income", incomes + [99] * 12), Labels()) == (99,)
    assert missing_codes(pl.Series("income", incomes + [999] * 12), Labels()) == (999,)
    assert missing_codes(pl.Series("income", incomes + [99, 100] * 12), Labels()) == ()  # round amounts recur
    years = [y for y in range(5, 21) for _ in range(3)]  # of school: nine are compulsory
    assert missing_codes(pl.Series("years", years + [9] * 40), Labels()) == ()


def test_labels_are_read():
    series = pl.Series("x", [1, 2, 3] * 5)
    assert missing_codes(series, Labels(values={"x": {1: "yes", 2: "no", 3: "Don't know"}})) == (3,)


def test_nothing_is_said_of_columns_that_identify():
    data = sdc.read(pl.DataFrame({"name": ["a", "n/a"] * 10, "answer": ["a", "n/a"] * 10}))
    found = {c.name: c.missing_codes for c in sdc.describe(data).columns}
    assert found == {"name": (), "answer": ("n/a",)}
    assert "codes for missing? n/a" in repr(sdc.describe(data))
