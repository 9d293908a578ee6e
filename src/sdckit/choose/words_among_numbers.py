"""The few words in a column of text that else holds numbers: "refused" among incomes."""

import polars as pl

NUMBERS = 20  # different numbers at least, so that they are no codes
WORDS = 5  # different words at most
NUMBER = r"^-?(0|[1-9]\d{0,14})([.,]\d+)?$"  # 0110 is a code


def words_among_numbers(column: pl.Series) -> frozenset[str]:
    """The texts of a column that are no numbers, where they are few and the numbers are many; else none.

    >>> sorted(words_among_numbers(pl.Series([*(f"{i},50" for i in range(30)), "refused", "n/a"])))
    ['n/a', 'refused']
    >>> words_among_numbers(pl.Series(["low", "12", "high"]))
    frozenset()
    """
    if column.dtype != pl.String:
        return frozenset()
    values = column.drop_nulls().unique()
    words = values.filter(~values.str.strip_chars().str.contains(NUMBER))
    few = 0 < len(words) <= WORDS and len(values) - len(words) >= NUMBERS
    return frozenset(words.to_list()) if few else frozenset()
