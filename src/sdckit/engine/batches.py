"""Records that pass through memory batch by batch, of which only sums and other small numbers are kept."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit.engine import frames
from sdckit.engine._polars import plain
from sdckit.engine.duckdb_session import duckdb_errors, quoted
from sdckit.engine.tables import Table

BATCH = 100_000  # records

Kernel = Callable[[pl.DataFrame], Floats]


def fold_batches(
    table: Table, function: Kernel, *, together: Sequence[str] = (), records: int | None = None
) -> Iterator[Floats]:
    """What `function` makes of each batch of records, one array after the other, in no set order.

    The batches have about `records` records (by default 100,000), and those with the same values of
    `together` come in one batch, so that units can be added up. On Spark the function runs in other
    processes: it must not change anything outside itself. On DuckDB it must ask the engine nothing: the
    connection is busy until the last batch.
    """
    native, size = table.to_native(), records or BATCH
    engine = frames.engine_of(native)
    if engine == "spark":
        yield from _on_spark(native, function, list(together), size)
        return
    parts = _from_duckdb(native, together, size) if engine == "duckdb" else _from_polars(table, together)
    for part in whole_groups(parts, list(together), size):
        yield function(part)


def whole_groups(parts: Iterable[pl.DataFrame], together: list[str], size: int) -> Iterator[pl.DataFrame]:
    """Frames of at least `size` rows but for the last; rows with equal `together`, in sequence, stay in one.

    NULL equals NULL.
    """
    waiting: list[pl.DataFrame] = []
    held = 0
    for part in parts:
        waiting.append(part)
        held += part.height
        if held < size:
            continue
        frame = pl.concat(waiting)
        cut = _last_group(frame, together) if together else frame.height
        if cut:
            yield frame[:cut]
            frame = frame[cut:]
        waiting, held = ([frame], frame.height) if frame.height else ([], 0)
    if held:
        yield pl.concat(waiting)


def _last_group(frame: pl.DataFrame, together: list[str]) -> int:
    """Where the last group of rows begins."""
    keys = frame.select(together)
    same = keys.select(pl.all_horizontal(pl.all().eq_missing(pl.all().last()))).to_series()
    other = np.flatnonzero(~same.to_numpy())
    return int(other[-1]) + 1 if len(other) else 0


def _from_polars(table: Table, together: Sequence[str]) -> Iterator[pl.DataFrame]:
    frame = frames.gather(table)
    yield from (frame.sort(together) if together else frame).iter_slices(BATCH)


def _from_duckdb(native: Any, together: Sequence[str], size: int) -> Iterator[pl.DataFrame]:
    ordered = native.order(", ".join(f"{quoted(c)} nulls last" for c in together)) if together else native
    with duckdb_errors():
        reader = ordered.to_arrow_reader(size)
        try:
            for batch in reader:
                yield pl.DataFrame(pl.from_arrow(batch))
        finally:
            reader.close()


def _on_spark(native: Any, function: Kernel, together: list[str], size: int) -> Iterator[Floats]:
    """Each worker sends the shapes and the numbers of its arrays."""
    import pyarrow as pa

    if together:
        native = native.repartition(*together).sortWithinPartitions(*together)

    def run(batches: Any) -> Any:
        parts = (pl.DataFrame(pl.from_arrow(batch)) for batch in batches)
        for part in whole_groups(parts, together, size):
            made = np.asarray(function(part), dtype=np.float64)
            row = {"shape": [list(made.shape)], "numbers": [made.ravel().tolist()]}
            yield pa.RecordBatch.from_pydict(row, schema=kinds)

    kinds = pa.schema([("shape", pa.list_(pa.int64())), ("numbers", pa.list_(pa.float64()))])
    found = native.mapInArrow(run, "shape array<bigint>, numbers array<double>").toArrow()
    for row in plain(pl.DataFrame(pl.from_arrow(found))).iter_rows(named=True):
        yield np.array(row["numbers"], dtype=np.float64).reshape(row["shape"])
