"""Columns of pandas whose type Polars has not: remembered when they come in, made again when they go out."""

from dataclasses import dataclass
from typing import Any

import polars as pl


@dataclass(frozen=True, slots=True)
class Categories:
    """A pandas categorical: its categories in order, whether the order has a meaning, and those used."""

    values: tuple[Any, ...]
    ordered: bool
    used: frozenset[Any]


def special_columns(frame: Any) -> dict[str, "str | Categories"]:
    """Columns of a pandas frame with a missing value of their own (Int64, boolean, string), or categories."""
    from pandas import NA, ArrowDtype, CategoricalDtype

    found: dict[str, str | Categories] = {}
    for name, (_, column) in zip(map(str, frame.columns), frame.items(), strict=True):
        dtype = column.dtype
        if isinstance(dtype, CategoricalDtype):
            if all(isinstance(value, str | int | float) for value in dtype.categories.tolist()):
                used = frozenset(column.cat.remove_unused_categories().cat.categories.tolist())
                found[name] = Categories(tuple(dtype.categories.tolist()), bool(dtype.ordered), used)
        elif getattr(dtype, "na_value", None) is NA:
            found[name] = "arrow" if isinstance(dtype, ArrowDtype) else "pandas"
    return found


def made_again(column: pl.Series, how: "str | Categories") -> Any:
    """The column in the special type of the kind its values now have; None where there is none."""
    if isinstance(how, Categories):
        return _categorical(column, how)
    if how == "arrow":
        return column.to_pandas(use_pyarrow_extension_array=True)
    import pandas

    if column.dtype.is_integer() or column.dtype.is_float():
        return pandas.array(column.to_list(), dtype=str(column.dtype))
    name = {pl.Boolean: "boolean", pl.String: "string"}.get(column.dtype.base_type())
    return None if name is None else pandas.array(column.to_list(), dtype=name)


def _categorical(column: pl.Series, how: Categories) -> Any:
    """The categories that came in, but for those that records had and no record has any more."""
    import pandas

    now = set(column.unique().drop_nulls().to_list())
    if not now <= set(how.values):  # other values than categories: recoded, averaged
        return None
    kept = [value for value in how.values if value in now or value not in how.used]
    places = {value: place for place, value in enumerate(kept) if value in now}
    plain = column.cast(pl.String) if isinstance(column.dtype, pl.Enum | pl.Categorical) else column
    codes = plain.replace_strict(list(places), list(places.values()), default=None, return_dtype=pl.Int64)
    return pandas.Categorical.from_codes(codes.fill_null(-1).to_numpy(), categories=kept, ordered=how.ordered)
