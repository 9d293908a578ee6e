"""What narwhals lacks, for DuckDB."""

from collections.abc import Sequence
from typing import Any

import polars as pl


def join_null_safe(native: Any, cells: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> Any:
    """Left join in which NULL equals NULL."""
    sdckit_cells = plain(cells.select(*keys, *columns)).to_arrow()  # noqa: F841 (DuckDB finds it by name)
    on = " and ".join(f"l.{quoted(k)} is not distinct from r.{quoted(k)}" for k in keys) or "true"
    wanted = "".join(f", r.{quoted(c)}" for c in columns)
    return native.query(
        "sdckit_left", f"select l.*{wanted} from sdckit_left l left join sdckit_cells r on {on}"
    )


def quoted(name: str) -> str:
    """A column name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Categories as text: an Enum would arrive as a type of its own."""
    return frame.cast({pl.Enum: pl.String, pl.Categorical: pl.String})
