"""Columns that agree row by row, against a plain count."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

from sdckit.choose import row_agreement
from sdckit.choose.row_agreement import agreement


def plain_agreement(first, second):
    """The first criterion by definition: equal texts beyond chance; None where one column is constant."""
    one, two = (["" if v is None else str(v) for v in x] for x in (first, second))
    n, a, b = len(one), Counter(one), Counter(two)
    if min(len(a), len(b)) < 2:
        return None
    chance = sum(a[v] * b[v] for v in a) / n**2
    same = sum(x == y for x, y in zip(one, two, strict=True)) / n
    return (same - chance) / (max(chance * (1 - chance), 1 / n) / n) ** 0.5 > 5


@pytest.mark.parametrize("values", [400, 2_000_000])
def test_texts_agree_as_counted(values, monkeypatch):
    monkeypatch.setattr(row_agreement, "VALUES", values)  # many chunks, or one
    rng = np.random.default_rng(2)
    first = pl.DataFrame({f"c{i}": rng.integers(0, i + 1, 80).astype(str) for i in range(12)})
    moved = {f"c{i}": first[f"c{i}"].shuffle(seed=i) for i in range(0, 12, 2)}
    second = first.with_columns(pl.Series(name, column) for name, column in moved.items())
    expected = {c: plain_agreement(first[c], second[c]) for c in first.columns}
    found = agreement(first, second)
    assert {c: None if one is None else one > 0 for c, one in found.items()} == expected
    assert set(expected.values()) == {None, False, True}


def test_numbers_of_another_type_and_other_names_for_the_same_thing():
    numbers = pl.Series(range(60))
    first = pl.DataFrame({"number": numbers, "code": numbers % 5, "scaled": numbers, "list": [[1], [2]] * 30})
    second = pl.DataFrame(
        {
            "number": numbers.cast(pl.Float64),
            "code": (numbers % 5).replace_strict({0: "e", 1: "d", 2: "c", 3: "b", 4: "a"}),
            "scaled": numbers * 3 + 0.5,
            "list": [[1], [2]] * 30,
        }
    )
    assert agreement(first, second) == pytest.approx({"number": 1, "code": 1, "scaled": 1, "list": None})


def test_missing_values_agree_with_missing_values_and_one_record_shows_nothing():
    first = pl.DataFrame({"x": [None, "a"] * 40, "n": [None, 1] * 40})
    assert agreement(first, first) == {"x": 1.0, "n": 1.0}
    assert agreement(first.head(1), first.head(1)) == {"x": None, "n": None}


@pytest.mark.parametrize("written", [False, True])
def test_of_rows_of_which_a_part_is_in_place_it_is_about_that_part(written):
    rng = np.random.default_rng(3)
    values = rng.integers(0, 9, 4_000)
    rows = np.arange(4_000)
    rows[:2_800] = rng.permutation(2_800)
    other = (8 - values[rows]).astype(str) if written else values[rows]
    first, second = pl.DataFrame({"x": values.astype(str) if written else values}), pl.DataFrame({"x": other})
    assert agreement(first, second)["x"] == pytest.approx(0.3, abs=0.03)
