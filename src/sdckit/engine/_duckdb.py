"""What narwhals lacks, for DuckDB."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.engine import _polars
from sdckit.engine._polars import plain
from sdckit.engine.duckdb_session import connection, quoted, rows_in_order, same_connection, with_function
from sdckit.engine.duckdb_stages import kept_on_disk
from sdckit.kernels.keyed_numbers import DIGITS, LOW, PRIME, ROUNDS, UNIT, normal_of

BATCH = 500_000  # records in memory at a time, unless one stratum has more
BUCKETS = 1000  # into which records are put that are to come into memory some at a time


def join_null_safe(native: Any, cells: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> Any:
    """Left join in which NULL equals NULL."""
    sdckit_cells = plain(cells.select(*keys, *columns)).to_arrow()  # noqa: F841 (DuckDB finds it by name)
    on = " and ".join(f"l.{quoted(k)} is not distinct from r.{quoted(k)}" for k in keys) or "true"
    wanted = "".join(f", r.{quoted(c)}" for c in columns)
    return native.query(
        "sdckit_left", f"select l.*{wanted} from sdckit_left l left join sdckit_cells r on {on}"
    )


def string_code(native: Any, column: str, name: str) -> Any:
    """A column `name` with the first 60 bits of the MD5 of the text."""
    code = f"('0x' || substr(md5({quoted(column)}::varchar), 1, 15))::bigint"
    return native.project(f"*, {code} as {quoted(name)}")


def with_keyed_numbers(native: Any, column: str, keys: Ints, name: str, *, normal: bool) -> Any:
    """A column `name` of uniform or normal numbers, functions of the whole numbers in a column and of keys.

    In SQL, as narwhals takes every remainder twice (for the sign, and our numbers are never negative). Each
    round is a query of its own: an expression that uses another would be written out again and again.
    """
    id, x, y = quoted(column), "__sdckit_x", "__sdckit_y"
    size = f"(case when {id} < 0 then -1 - {id} else {id} end)"
    parts = {
        "__sdckit_a": f"{size} % {PRIME}",
        "__sdckit_b": f"({size} // {PRIME}) % {PRIME}",
        "__sdckit_c": f"{size} // {PRIME} // {PRIME} + (case when {id} < 0 then 4 else 0 end)",
    }
    query = f"select *, {', '.join(f'{part} as {code}' for code, part in parts.items())} from sdckit_rows"
    query = f"select *, __sdckit_a as {x}, __sdckit_a as {y} from ({query})"
    number = 0
    for part, rounds in zip((None, "__sdckit_b", "__sdckit_c"), ROUNDS, strict=True):
        if part is not None:
            sums = [f"({word} + {part}) % {PRIME} as {word}" for word in (x, y)]
            query = f"select * replace ({', '.join(sums)}) from ({query})"
        for _ in range(rounds):
            sums = [f"({word} + {keys[j, number]})" for j, word in enumerate((x, y))]
            cubes = [f"({t} * {t} % {PRIME}) * {t} % {PRIME}" for t in sums]
            query = f"select * replace ({cubes[0]} as {x}, {cubes[1]} as {y}) from ({query})"
            number += 1
    drawn = f"(({x} * {DIGITS} + {y} // {LOW})::double + 0.5::double) * {UNIT!r}::double"
    gone = ", ".join([*parts, x, y])
    found = native.query(
        "sdckit_rows", f"select * exclude ({gone}), {drawn} as {quoted(name)} from ({query})"
    )
    found = _normal(found, name) if normal else found
    # True of every row. Without a filter DuckDB moves parts of aggregates below joins, and writes all rounds
    # into each other for that: minutes instead of milliseconds.
    return found.filter(f"{quoted(name)} is null or {quoted(name)} > -1e300")


def _normal(native: Any, name: str) -> Any:
    """The standard normal quantiles of a column of numbers in (0, 1)."""
    query = _Query("select * from sdckit_rows")
    drawn = normal_of(_Sql(quoted(name)), query)
    gone = ", ".join(query.names)
    return native.query(
        "sdckit_rows",
        f"select * exclude ({gone}) replace ({drawn.text} as {quoted(name)}) from ({query.text})",
    )


class _Sql:
    """A number in SQL, every operation in brackets, so that their order is the one written."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __add__(self, other: Any) -> "_Sql":
        return _Sql(f"({self.text} + {_sql(other)})")

    def __sub__(self, other: Any) -> "_Sql":
        return _Sql(f"({self.text} - {_sql(other)})")

    def __rsub__(self, other: Any) -> "_Sql":
        return _Sql(f"({_sql(other)} - {self.text})")

    def __mul__(self, other: Any) -> "_Sql":
        return _Sql(f"({self.text} * {_sql(other)})")

    def __truediv__(self, other: Any) -> "_Sql":
        return _Sql(f"({self.text} / {_sql(other)})")

    def __neg__(self) -> "_Sql":
        return _Sql(f"(-{self.text})")

    def __lt__(self, other: Any) -> "_Sql":
        return _Sql(f"({self.text} < {_sql(other)})")

    def __le__(self, other: Any) -> "_Sql":
        return _Sql(f"({self.text} <= {_sql(other)})")


def _sql(value: Any) -> str:
    """A number or expression as SQL; cast from text, because decimal literals are rounded otherwise."""
    return value.text if isinstance(value, _Sql) else f"cast('{value!r}' as double)"


class _Query:
    """The operations of `normal_of`; what is used several times is a column of an inner query."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: list[str] = []

    def let(self, value: _Sql) -> _Sql:
        self.names.append(f"__sdckit_n{len(self.names)}")
        self.text = f"select *, {value.text} as {self.names[-1]} from ({self.text})"
        return _Sql(self.names[-1])

    def where(self, condition: _Sql, yes: Any, no: Any) -> _Sql:
        return _Sql(f"(case when {condition.text} then {_sql(yes)} else {_sql(no)} end)")

    def sqrt(self, value: _Sql) -> _Sql:
        return _Sql(f"sqrt({value.text})")


def with_computed(native: Any, column: str, function: Callable[[Ints], npt.NDArray[Any]], name: str) -> Any:
    """A column `name` with what a function makes of the whole numbers in a column; NULL for NULL.

    In our own connection the function is known to SQL, and records pass through it on their way. In another
    one they are taken into memory some at a time, and go to a temporary table.
    """
    made = function(np.zeros(1, dtype=np.int64))
    if not same_connection(native, connection().sql("select 1")):
        return _computed_in_batches(native, column, function, name, made.dtype)
    called = with_function(function, "double" if made.dtype.kind == "f" else "bigint")
    return native.project(f"*, {called}({quoted(column)}::bigint) as {quoted(name)}")


def _computed_in_batches(
    native: Any, column: str, function: Callable[[Ints], npt.NDArray[Any]], name: str, kind: Any
) -> Any:
    bucket = "__sdckit_bucket"
    parts = native.project(f"*, {quoted(column)} % {BUCKETS} as {bucket}")
    schema = parts.limit(0).pl().schema
    new = pl.Series(np.empty(0, dtype=kind)).dtype

    def computed(part: pl.DataFrame) -> pl.DataFrame:
        return _polars.with_computed(part.lazy(), column, function, name).collect()

    done = map_strata(parts, [bucket], computed, pl.Schema({**schema, name: new}))
    return done.project(f"* exclude ({bucket})")


def row_numbers(native: Any, by: Sequence[str], order: Sequence[str], name: str) -> Any:
    """A column `name` with the places 1, 2, … of the rows of each stratum in ascending order of columns."""
    strata = f"partition by {', '.join(map(quoted, by))} " if by else ""
    window = f"{strata}order by {', '.join(f'{quoted(c)} nulls last' for c in order)}"
    return native.project(f"*, row_number() over ({window}) as {quoted(name)}")


def sample_rows(native: Any, share: float) -> Any:
    """A share of the rows, drawn at random; not the same ones each time."""
    part = f"{100 * share:.12f} percent (bernoulli)"
    return native.query("sdckit_rows", f"select * from sdckit_rows using sample {part}")


def lists_of_values(native: Any, columns: Sequence[str]) -> Any:
    """One row with a list of all values of each column, from one pass; NULL for a column without any."""
    lists = (f"list({c}) filter ({c} is not null) as {c}" for c in map(quoted, columns))
    return native.aggregate(", ".join(lists))


def sorted_rows(native: Any, order: Sequence[str], columns: Sequence[str]) -> Any:
    """Some columns of the rows in ascending order of others, kept in a temporary table in this order.

    An order in a query would be dropped by the queries around it, and the old one would come back.
    """
    target = f"sdckit_{uuid4().hex}"
    names = ", ".join(map(quoted, columns))
    by = ", ".join(f"{quoted(c)} nulls last" for c in order)
    ours = same_connection(native, connection().sql("select 1"))
    with rows_in_order() if ours else nullcontext():
        native.query(
            "sdckit_rows", f"create temp table {target} as select {names} from sdckit_rows order by {by}"
        )
    return native.query("sdckit_rows", f"select * from {target}")


def worked_out(native: Any) -> Any:
    """The rows of a query in a table, where it would otherwise be run for each that asks."""
    if same_connection(native, connection().sql("select 1")):
        return kept_on_disk(native)
    target = f"sdckit_{uuid4().hex}"
    native.query("sdckit_rows", f"create temp table {target} as from sdckit_rows")
    return native.query("sdckit_rows", f"select * from {target}")


def map_strata(
    native: Any,
    by: Sequence[str],
    function: Callable[[pl.DataFrame], pl.DataFrame],
    schema: pl.Schema,
) -> Any:
    """A few strata at a time; the results go to a temporary table of the connection."""
    target = f"sdckit_{uuid4().hex}"
    _write(native, pl.DataFrame(schema=schema), f"create temp table {target} as from sdckit_part")
    for batch in _batches(native, by) if by else [native]:
        part = _polars.map_strata(batch.pl().lazy(), by, function, schema)
        _write(native, part, f"insert into {target} from sdckit_part")
    return native.query("sdckit_source", f"select * from {target}")


def _write(native: Any, part: pl.DataFrame, statement: str) -> None:
    sdckit_part = plain(part).to_arrow()  # noqa: F841 (DuckDB finds it by name)
    native.query("sdckit_source", statement)


def _batches(native: Any, by: Sequence[str]) -> list[Any]:
    """The records of several strata together, so that there is not one scan per stratum."""
    names = ", ".join(quoted(name) for name in by)
    sizes = native.aggregate(f"{names}, count(*)::bigint as __sdckit_n", names).pl()
    batch = pl.col("__sdckit_n").cum_sum() // BATCH
    strata = sizes.sort(by).with_columns(batch.alias("__sdckit_batch"))
    joined = join_null_safe(native, strata, by, ["__sdckit_batch"])
    numbers = strata["__sdckit_batch"].unique().sort()
    return [joined.filter(f"__sdckit_batch = {n}").project("* exclude (__sdckit_batch)") for n in numbers]
