"""Whether the values of a column (nearly) name the records that have them."""

import polars as pl

DIFFERENT = 0.5  # as many different values as half of the records: the column (nearly) names them
FEWEST = 20  # different values at least: in a handful of records every column has few values in common


def names_most(column: pl.Series) -> bool:
    """Whether at least half of the known values of a column differ, and there are enough of them.

    >>> names_most(pl.Series([f"{i}@example.org" for i in range(30)])), names_most(pl.Series(["a", "b"] * 30))
    (True, False)
    """
    known = column.drop_nulls()
    return known.n_unique() >= max(FEWEST, DIFFERENT * len(known))
