"""Work stratum by stratum, on the engine that holds the data."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals as nw
import polars as pl

from sdckit.engine import frames
from sdckit.engine.tables import native_module

Kernel = Callable[[pl.DataFrame], pl.DataFrame]


def map_strata(frame: Any, by: Sequence[str], function: Kernel, schema: Mapping[str, Any]) -> Any:
    """What `function` makes of each stratum, put together on the same engine (Polars: a DataFrame).

    A stratum is a combination of `by` that occurs, NULL being a value; with no `by` the file is one stratum.
    The function gets all columns and returns the columns of `schema` (names and Polars types). DuckDB and
    Spark hold a few strata in memory at a time and give the rows of a stratum in no set order. On Spark the
    function runs in other processes: it must not change anything outside itself.
    """
    table = frame if isinstance(frame, nw.LazyFrame) else frames.lazy(frame)
    return native_module(table).map_strata(table.to_native(), list(by), function, pl.Schema(schema))
