"""What narwhals lacks, for DuckDB."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import polars as pl

from sdckit.engine import _polars
from sdckit.engine._polars import plain

BATCH = 500_000  # records in memory at a time, unless one stratum has more


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


def sample_rows(native: Any, rows: int) -> Any:
    """Some rows drawn at random, all where there are no more; not the same ones each time."""
    return native.query("sdckit_rows", f"select * from sdckit_rows using sample reservoir({rows} rows)")


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


def quoted(name: str) -> str:
    """A column name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'
