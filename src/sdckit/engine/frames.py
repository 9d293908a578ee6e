"""Data frames of any kind in, one of three engines inside, the same kind out."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from math import inf
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.messages import join_names, require_unique
from sdckit.engine.duckdb_session import duckdb_errors, same_connection
from sdckit.engine.pandas_columns import Categories, made_again
from sdckit.engine.spark_session import spark_errors
from sdckit.errors import ColumnError, DataError, EngineError

ENGINES = ("polars", "duckdb", "spark")
OUTSIDE = ("duckdb", "pyspark", "pyspark[connect]")  # kinds of tables that stay outside memory
# Columns we add. The prefix keeps them apart from users' columns, also where case is folded.
OURS = "__sdckit_"
COLUMNS = 200  # asked about in one query


def accept(frame: Any, changed: Collection[str] | None = None) -> tuple[Any, str]:
    """The frame as the engine keeps it, and the kind of frame it was.

    pandas and PyArrow tables become Polars; DuckDB relations and Spark data frames stay where they are.
    What the caller later writes into the frame does not get in. On every engine NaN becomes NULL and −0.0
    becomes 0.0, so that there is one kind of missing value and one zero: measures see no other, and readers
    of a written file would. changed: outside memory only these columns may have NaN or −0.0.
    """
    try:
        table = nw.from_native(frame)
    except TypeError as error:
        raise DataError(
            "This is not a data frame we know.",
            given=type(frame).__name__,
            allowed="Polars, pandas, PyArrow, DuckDB relation, Spark, or a path with sdckit.read",
        ) from error
    kind = table.implementation.value
    if kind in OUTSIDE:
        return _without_nan(frame, changed), kind
    polars = _to_polars(frame, kind)
    _refuse_patterns(polars.columns)
    floats = [c for c, t in polars.schema.items() if t.is_float()]
    if not floats or not polars.height:
        return polars, kind
    odd = polars.select(_is_odd(pl.col(c)).alias(c) for c in floats).row(0)
    found = [c for c, is_odd in zip(floats, odd, strict=True) if is_odd]
    plain = pl.when(pl.col(found) == 0).then(0.0).otherwise(pl.col(found).fill_nan(None)).name.keep()
    return polars.with_columns(plain) if found else polars, kind


def _is_odd(values: pl.Expr) -> pl.Expr:
    """Whether there are other missing values than NULL, or another zero than 0.0."""
    below_zero = 1 / values.filter(values == 0) == -inf
    return values.is_nan().any() | below_zero.any()


def _without_nan(frame: Any, changed: Collection[str] | None) -> Any:
    """A relation or Spark frame with NULL for NaN and 0.0 for −0.0 (lazy), its column names fit for SQL."""
    types = schema(frame)
    _refuse_patterns(list(types))
    refuse_names(list(types), engine_of(frame))
    floats = [c for c, kind in types.items() if kind.is_float() and (changed is None or c in changed)]
    if not floats:
        return frame
    return nw.to_native(lazy(frame).with_columns(_number(nw.col(c)).cast(types[c]) for c in floats))


def _number(values: nw.Expr) -> nw.Expr:
    """The values that are numbers, −0.0 as 0.0.

    Not by asking which are NaN: DuckDB answers from the least and largest value that a Parquet file states of
    a column, which leave NaN out, and says that none is.
    """
    return nw.when(values.is_finite() | (values == inf) | (values == -inf)).then(values + 0.0)


def _refuse_patterns(names: Sequence[str]) -> None:
    patterns = [name for name in names if name == "*" or (name.startswith("^") and name.endswith("$"))]
    if patterns:
        raise ColumnError(
            "A column name cannot be * or begin with ^ and end with $: Polars reads it as a pattern.",
            given=join_names(patterns),
            hint="Rename the column.",
        )


def refuse_names(names: Sequence[str], engine: str) -> None:
    """Refuse column names that an engine outside memory, or what we do there, would mistake for others."""
    folded = [name.lower() for name in names]
    alike = [name for name in names if folded.count(name.lower()) > 1]
    if alike:
        raise EngineError(
            f"Column names must differ by more than upper and lower case on {engine}.",
            given=join_names(alike),
            hint="Rename them, or read the data into memory.",
        )
    if "" in names:
        raise EngineError(
            f"Columns must have a name on {engine}.",
            given=f"column {list(names).index('') + 1} of {len(names)} without one",
            hint="Give it one, or read the data into memory.",
        )
    ours = [name for name in names if name.lower().startswith(OURS)]
    if ours:
        raise ColumnError(
            f"Column names cannot begin with {OURS} on {engine}: columns we add do.",
            given=join_names(ours),
            hint="Rename them.",
        )
    odd = [name for name in names if engine == "spark" and ("." in name or "`" in name)]
    if odd:
        raise EngineError(
            "Column names cannot hold a dot or a backtick on spark.",
            given=join_names(odd),
            hint="Rename them, or read the data into memory.",
        )


def _to_polars(frame: Any, kind: str) -> pl.DataFrame:
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame.clone()  # shares the values, not later changes
    if kind == "pandas":
        names = [str(c) for c in frame.columns]
        require_unique(names)
        return _from_pandas(frame.reset_index(drop=True).set_axis(names, axis=1))
    if kind == "pyarrow":
        return pl.DataFrame(pl.from_arrow(frame))
    raise DataError(
        "This kind of data frame is not supported.", given=kind, allowed="Polars, pandas, PyArrow"
    )


def _from_pandas(frame: Any) -> pl.DataFrame:
    refused = (ValueError, TypeError, NotImplementedError)  # Arrow's errors are kinds of these
    try:
        return pl.from_pandas(frame, nan_to_null=True)
    except refused as error:
        for name in frame.columns:
            try:
                pl.from_pandas(frame[[name]], nan_to_null=True)
            except refused:
                kinds = sorted({type(v).__name__ for v in frame[name].dropna()})
                raise ColumnError(
                    f"Column {name!r} has values of several types or of a type we do not know.",
                    given=join_names(kinds),
                    hint=f"Make it one type, for instance frame[{name!r}].astype('string').",
                ) from error
        raise


def give_back(frame: Any, kind: str, special: Mapping[str, str | Categories]) -> Any:
    """The frame as the kind that went in; pandas columns of a special type have one again."""
    if kind == "pandas":
        found = frame.to_pandas()
        for column, how in special.items():
            again = made_again(frame[column], how) if column in frame.columns else None
            if again is not None:
                found[column] = again
        return found
    if kind == "pyarrow":
        return frame.to_arrow()
    return frame


def is_kept(frame: Any) -> bool:
    """Whether this is a table as `accept` gives it back: in Polars, or on an engine outside memory."""
    if isinstance(frame, pl.DataFrame):
        return True
    table = nw.from_native(frame, pass_through=True)
    return table is not frame and table.implementation.value in OUTSIDE


def engine_of(frame: Any) -> str:
    """The engine that holds this frame."""
    if isinstance(frame, pl.DataFrame | pl.LazyFrame):
        return "polars"
    return "duckdb" if nw.from_native(frame).implementation.value == "duckdb" else "spark"


def can_join(one: Any, other: Any) -> bool:
    """Whether two frames of one engine can be joined: DuckDB cannot join relations of two connections."""
    return engine_of(one) != "duckdb" or same_connection(one, other)


def lazy(frame: Any) -> nw.LazyFrame[Any]:
    """The frame as a narwhals LazyFrame."""
    table: nw.LazyFrame[Any] = nw.from_native(frame).lazy()
    return table


def collect(frame: Any) -> pl.DataFrame:
    """The frame in memory."""
    return frame if isinstance(frame, pl.DataFrame) else gather(lazy(frame))


def gather(table: nw.LazyFrame[Any]) -> pl.DataFrame:
    """The rows of a lazy table in memory, as Polars."""
    with duckdb_errors() if table.implementation.is_duckdb() else nullcontext():
        rows: pl.DataFrame = table.collect(backend="polars").to_native()
    return rows


def engine_errors(engine: str) -> AbstractContextManager[None]:
    """A block in which errors of an engine become errors of ours."""
    return {"duckdb": duckdb_errors, "spark": spark_errors}.get(engine, nullcontext)()


def columns(frame: Any) -> tuple[str, ...]:
    """Column names in order."""
    return tuple(frame.columns) if isinstance(frame, pl.DataFrame) else tuple(lazy(frame).collect_schema())


def schema(frame: Any) -> nw.Schema:
    """Column types in narwhals' terms."""
    if isinstance(frame, pl.DataFrame):
        return _schema_of(tuple(frame.columns), tuple(frame.dtypes))
    return lazy(frame).collect_schema()


@lru_cache(maxsize=16)
def _schema_of(names: tuple[str, ...], kinds: tuple[pl.DataType, ...]) -> nw.Schema:
    """Types are asked for again and again, and translating those of thousands of columns takes long."""
    empty = pl.DataFrame(schema=dict(zip(names, kinds, strict=True)))
    return nw.from_native(empty, eager_only=True).schema


def height(frame: Any) -> int:
    """Number of rows."""
    if isinstance(frame, pl.DataFrame):
        return frame.height
    return int(gather(lazy(frame).select(nw.len().alias("n").cast(nw.Int64)))["n"][0])


def different_values(frame: Any, names: Sequence[str]) -> dict[str, int]:
    """How many different values each column has, missing being one.

    Column by column in memory, and elsewhere some columns at a time: planning one query of thousands of
    columns takes far longer than counting.
    """
    if isinstance(frame, pl.DataFrame):
        return {name: frame[name].n_unique() for name in names}
    found: dict[str, int] = {}
    for start in range(0, len(names), COLUMNS):
        some = names[start : start + COLUMNS]
        counts = gather(lazy(frame).select(*(nw.col(name).n_unique() for name in some))).row(0)
        found |= dict(zip(some, map(int, counts), strict=True))
    return found


def missing_values(frame: Any, names: Sequence[str]) -> dict[str, int]:
    """How many values of each column are missing, counted by the engine some columns at a time."""
    found: dict[str, int] = {}
    for start in range(0, len(names), COLUMNS):
        some = names[start : start + COLUMNS]
        missing = (nw.col(name).is_null().cast(nw.Int64).sum() for name in some)
        found |= dict(zip(some, gather(lazy(frame).select(*missing)).row(0), strict=True))
    return found


def facts(frame: Any, numeric: Sequence[str], weight: str | None, keys: Sequence[str]) -> dict[str, int]:
    """The counts that decide whether the values can be worked with, in one pass."""
    if isinstance(frame, pl.DataFrame):
        return _facts_in_memory(frame, numeric, weight, keys)
    types = schema(frame)
    wanted = [nw.len().alias("n")]
    for name in numeric:
        column = nw.col(name)
        infinite = (
            ~column.is_finite() & ~column.is_null() if types[name].is_float() else column.is_null() & False
        )
        wanted.append(infinite.cast(nw.Int64).sum().alias(f"infinite_{name}"))
    wanted += [nw.col(name).count().alias(f"present_{name}") for name in keys]
    if weight is not None:
        column = nw.col(weight).cast(nw.Float64)
        wanted += [
            column.is_null().cast(nw.Int64).sum().alias("weight_missing"),
            (column == 0).cast(nw.Int64).sum().alias("weight_zero"),
            (column < 0).cast(nw.Int64).sum().alias("weight_negative"),
            (~column.is_finite()).cast(nw.Int64).sum().alias("weight_infinite"),
        ]
    row = gather(lazy(frame).select(*wanted)).row(0, named=True)
    return {name: int(value or 0) for name, value in row.items()}


def _facts_in_memory(
    frame: pl.DataFrame, numeric: Sequence[str], weight: str | None, keys: Sequence[str]
) -> dict[str, int]:
    """The same counts of a table in memory, column by column: planning a query takes longer than counting."""
    found = {"n": frame.height}
    for name in numeric:
        column = frame[name]
        found[f"infinite_{name}"] = int((~column.is_finite()).sum()) if column.dtype.is_float() else 0
    for name in keys:
        found[f"present_{name}"] = frame.height - frame[name].null_count()
    if weight is not None:
        column = frame[weight].cast(pl.Float64)
        values = column.drop_nulls().to_numpy()
        found |= {
            "weight_missing": column.null_count(),
            "weight_zero": int((values == 0).sum()),
            "weight_negative": int((values < 0).sum()),
            "weight_infinite": int((~np.isfinite(values)).sum()),
        }
    return found
