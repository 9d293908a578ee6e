"""A number that follows from all values of a file, and that nobody can choose by changing some of them."""

from hashlib import sha256

import numpy as np
import polars as pl

from sdckit.data.microdata import Microdata


def content_key(*files: Microdata) -> list[int]:
    """Eight numbers to draw samples from, the same in every order of the rows and of the columns.

    Who makes a file must not know beforehand which persons will be looked at, else it is enough to protect
    these. The digest is a cryptographic one: a sum or an exclusive or of the rows could be brought to any
    value by a few dozen records of which either of two versions will do.

    >>> table = pl.DataFrame({"sex": ["f", "m"], "age": [30, 40]})
    >>> others = table[::-1].select("age", "sex"), table.with_columns(pl.col("age") + 1)
    >>> [content_key(Microdata.of(table)) == content_key(Microdata.of(other)) for other in others]
    [True, False]
    """
    digest = sha256()
    for data in files:
        digest.update(data.table_fact("digest", _digest))
    return [int(number) for number in np.frombuffer(digest.digest(), dtype="<u4")]


def _digest(table: pl.DataFrame) -> bytes:
    names = sorted(c for c, kind in table.schema.items() if not kind.is_nested() and kind != pl.Object)
    rows = table.select(_plain(table[c]) for c in names).hash_rows().sort().to_numpy()
    digest = sha256(repr((table.height, names)).encode())
    digest.update(rows.tobytes())
    return digest.digest()


def _plain(column: pl.Series) -> pl.Series:
    """Categories as texts: their codes depend on what else was read."""
    return column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column
