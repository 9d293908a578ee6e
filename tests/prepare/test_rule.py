"""Rules about records: what they mean, what NULL means, and that nothing else is ever run."""

from datetime import date, datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.errors import ColumnError, OptionError, SdcError
from sdckit.prepare._rule import records_where

DATA = sdc.Microdata.of(
    pl.DataFrame(
        {
            "age": [17, 40, None, 65],
            "region": ["N", "S", None, "N"],
            "urban": [True, False, None, True],
            "income": [0.0, 900.5, 100.0, None],
            "born": [date(2007, 1, 1), date(1984, 5, 1), None, date(1959, 1, 1)],
            "seen": [datetime(2024, 1, 1, 12), None, datetime(2024, 1, 2), datetime(2024, 1, 3)],
            "kind": pl.Series(["a", "b", "a", None], dtype=pl.Enum(["a", "b"])),
            "income (net)": [1, 2, 3, 4],
        }
    )
)


@pytest.mark.parametrize(
    ("rule", "rows"),
    [
        ("age >= 18", [1, 3]),
        ("not age >= 18", [0]),
        ("18 <= age < 65", [1]),
        ("age >= 18 and region == 'N'", [3]),
        ('age < 18 or region == "S"', [0, 1]),
        ("region in ['N', 'X']", [0, 3]),
        ("region not in ['N']", [1]),
        ("age in [17, 65.0]", [0, 3]),
        ("age is missing", [2]),
        ("age is not missing and region != 'S'", [0, 3]),
        ("urban", [0, 3]),
        ("not urban", [1]),
        ("urban == true", [0, 3]),
        ("urban == False", [1]),
        ("income / 10 > age", [1]),
        ("income + 2 * age - 34 == 0", [0]),
        ("-age < -20", [1, 3]),
        ("income == age", []),
        ("born < '1980-01-01'", [3]),
        ("born in ['1984-05-01']", [1]),
        ("seen >= '2024-01-01T13:00'", [2, 3]),
        ("kind == 'a'", [0, 2]),
        ("`income (net)` > 2", [2, 3]),
        ("region == '`age`' or age == 40", [1]),
        ("(age == 17\n or age == 40)", [0, 1]),
    ],
)
def test_rules_mean_what_they_say(rule, rows):
    assert [i for i, held in enumerate(records_where(DATA, rule)) if held] == rows


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("age = 18", "Equal is =="),
        ("age >", "cannot be read"),
        ("", "cannot be read"),
        ("1 == 1", "about columns"),
        ("age", "compare it with something"),
        ("age == '17'", "cannot be compared"),
        ("region == 1", "cannot be compared"),
        ("region > 'N'", "no order"),
        ("region + 1 > 2", "nothing can be computed"),
        ("age > 1 & age < 5", "write and, or"),
        ("age is None", "is stands before missing"),
        ("age in region", "in stands before a list"),
        ("age in [income]", "values, not columns"),
        ("age in []", "in stands before a list"),
        ("born < '1.1.1980'", "a day is written"),
        ("age ** 2 > 9", "not part of rules"),
        ("abs(age) > 9", "not part of rules"),
        ("age.real > 9", "not part of rules"),
        ("__import__('os').system('true') == 0", "not part of rules"),
        ("(lambda: age)() == 1", "not part of rules"),
        ("[x for x in [1]] == 1", "not part of rules"),
        ("age[0] == 1", "not part of rules"),
        ("age == 1e300", "values are numbers"),
        ("age == " + "9" * 400, "values are numbers"),
        ("age == 1j", "values are numbers"),
        ("age == b'x'", "values are numbers"),
        ("f'{age}' == 'x'", "not part of rules"),
        ("(age := 3) == 3", "not part of rules"),
        ("-" * 3000 + "age == 1", "rule"),
        ("not " * 1000 + "urban", "rule"),
        ("(" * 300 + "urban" + ")" * 300, "rule"),
        (" or ".join(["urban"] * 500), "at most 200 parts"),
        ("age == 1 or " * 1000 + "urban", "too long"),
    ],
)
def test_everything_else_is_refused_in_our_words(rule, said):
    with pytest.raises(SdcError, match="(?i)" + said.replace("(", r"\(")):
        records_where(DATA, rule)


def test_unknown_columns_are_named():
    with pytest.raises(ColumnError, match=r"'agee', which is no column.*Did you mean 'age'"):
        records_where(DATA, "agee > 1")
    with pytest.raises(ColumnError, match="Text stands in quotes"):
        records_where(DATA, "region == Q")


@given(st.text(alphabet="ageregionurban ()[]'\"`<>=!+-*/,.0123456789notandorin\n&|~:{}", max_size=60))
def test_any_text_is_a_rule_or_refused(text):
    try:
        held = records_where(DATA, text)
    except SdcError:
        return
    assert len(held) == 4


def test_a_rule_is_about_records():
    with pytest.raises(OptionError):
        records_where(DATA, "true")
