"""Numbers and dates that stand in texts: "34", "34 years", "1990-05-03", or an ordered category."""

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit.data.values import as_numbers, is_date

NEARLY_ALL = 0.99  # of the texts must hold a number; others are missing
SOME = 200  # texts that are tried first
ONE_NUMBER = r"^\D*?([+-]?\d+(?:[.,]\d+)?)\D*$"
THOUSANDS = r",\d{3}(\D|$)"  # 1,234 may be a thousand, or one and a bit
DATES = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d %B %Y", "%d %b %Y", "%Y%m%d")


def written_numbers(column: pl.Series) -> tuple[str, Floats] | None:
    """What a column measures and its values, nan where missing; None where it is neither number nor date.

    Texts are numbers where nearly all hold exactly one, and dates where nearly all are written in the same
    way, if no two of them mean the same, as "<50" and "50+" would; other categories with an order (Enum) are
    numbered.

    >>> written_numbers(pl.Series(["34 years", "8 years", None]))
    ('number', array([34.,  8., nan]))
    >>> written_numbers(pl.Series(["1970-01-03"]))
    ('date', array([2.]))
    >>> written_numbers(pl.Series(["f", "m"])) is None
    True
    """
    kind = column.dtype
    if kind.is_numeric() or is_date(kind):
        return "date" if is_date(kind) else "number", as_numbers(column)
    if not written_out(column):
        return None
    different = column.unique().drop_nulls().sort()
    texts = different.cast(pl.String)
    found = _read(texts)
    if found is None and kind == pl.Enum:
        found = "order", different.to_physical().cast(pl.Float64)
    if found is None:
        return None
    named = pl.DataFrame({"text": texts, "number": found[1]})
    both = column.cast(pl.String).to_frame("text").join(named, on="text", how="left", maintain_order="left")
    return found[0], both["number"].fill_null(np.nan).to_numpy()


def written_out(column: pl.Series) -> bool:
    """Whether a column holds texts."""
    return column.dtype in (pl.String, pl.Categorical, pl.Enum)


def _read(texts: pl.Series) -> tuple[str, pl.Series] | None:
    """The texts as dates or numbers, null where they are none; None where too many are none."""
    for form in DATES:
        if _dates(texts.head(SOME), form) is not None and (days := _dates(texts, form)) is not None:
            return "date", days
    if texts.str.contains(THOUSANDS).any():
        return None
    numbers = texts.str.extract(ONE_NUMBER).str.replace(",", ".").cast(pl.Float64, strict=False)
    return ("number", numbers) if _nearly_all(numbers) and _all_differ(numbers) else None


def _dates(texts: pl.Series, form: str) -> pl.Series | None:
    days = texts.str.to_date(form, strict=False)
    return pl.Series(as_numbers(days)).fill_nan(None) if _nearly_all(days) and _all_differ(days) else None


def _all_differ(found: pl.Series) -> bool:
    """Whether different texts have different meanings: else the text tells more than the number in it."""
    return found.drop_nulls().n_unique() == found.count()


def _nearly_all(found: pl.Series) -> bool:
    return len(found) > 0 and found.is_not_null().sum() >= NEARLY_ALL * len(found)
