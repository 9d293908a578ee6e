"""The records of DuckDB and Spark on their way to files: in batches, or written by Spark itself."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Self

import polars as pl

from sdckit._support.progress import Progress
from sdckit.engine import duckdb_session, frames
from sdckit.engine.duckdb_session import quoted
from sdckit.errors import FileError

BATCH = 100_000


class Counted:
    """Frames on their way to a file, with the number of records so far."""

    def __init__(self, parts: Iterable[pl.DataFrame], progress: Progress) -> None:
        self._parts, self._progress, self.records = parts, progress, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """End the reading, also where not all was read."""
        close = getattr(self._parts, "close", None)
        if close is not None:
            close()

    def __iter__(self) -> Iterator[pl.DataFrame]:
        for part in self._parts:
            self.records += part.height
            yield part
            self._progress(f"writing, {self.records:,} records", 0, 2)


@contextmanager
def engine_work(frame: Any, folder: Path, *, in_order: bool) -> Iterator[None]:
    """What an engine needs while it writes into a folder: room beside it; order only where it was drawn."""
    if frames.engine_of(frame) != "duckdb":
        yield
        return
    ordered = duckdb_session.rows_in_order() if in_order else nullcontext()
    with duckdb_session.spilling_beside(folder), ordered, duckdb_session.duckdb_errors():
        yield


def batches(frame: Any, folder: Path) -> Iterator[pl.DataFrame]:
    """The rows in batches. Spark writes them into this folder first, so that never all are in memory."""
    if frames.engine_of(frame) == "duckdb":
        # Not DuckDB's own writer, COPY: with DuckDB 2.0 it may hang for ever after Ctrl-C.
        reader = _narrowed(frame).to_arrow_reader(BATCH)
        yield pl.DataFrame(
            pl.from_arrow(reader.schema.empty_table())
        )  # the columns, where there is no record
        try:
            for batch in reader:
                yield pl.DataFrame(pl.from_arrow(batch))
        finally:  # the connection does nothing else before
            reader.close()
    else:
        yield from _spark_batches(frame, folder / "records")


def _narrowed(frame: Any) -> Any:
    """Whole numbers of 128 bits, as sums of whole numbers are, in 64: others would get decimals."""
    wide = [
        n for n, kind in zip(frame.columns, frame.types, strict=True) if str(kind) in ("HUGEINT", "UHUGEINT")
    ]
    changes = ", ".join(f"{quoted(name)}::bigint as {quoted(name)}" for name in wide)
    return frame.project(f"* replace ({changes})") if wide else frame


def spark_folder(frame: Any, folder: Path, column: str) -> int:
    """Have Spark write a folder for each value of a column; the number of records written."""
    wrote = _spark_write(frame, folder, column)
    for note in [*folder.rglob(".*.crc"), folder / "_SUCCESS"]:
        note.unlink(missing_ok=True)
    return wrote


def _spark_write(frame: Any, folder: Path, column: str | None = None) -> int:
    """Have Spark write Parquet files; the number of records it has seen, counted on the way."""
    from pyspark.sql import Observation, functions

    counted = Observation()
    table = frame.observe(counted, functions.count(functions.lit(1)).alias("records"))
    writer = table.write.mode("append")
    (writer.partitionBy(column) if column else writer).parquet(f"file:{folder}")
    return int(counted.get["records"])


def _spark_batches(frame: Any, folder: Path) -> Iterator[pl.DataFrame]:
    from pyarrow.parquet import ParquetFile
    from pyspark.sql.pandas.types import to_arrow_schema

    wrote, found = _spark_write(frame, folder), 0
    expected = pl.DataFrame(pl.from_arrow(to_arrow_schema(frame.schema).empty_table())).schema
    yield pl.DataFrame(schema=expected)  # the columns, where there is no record
    for file in sorted(folder.glob("*.parquet")):
        for batch in ParquetFile(file).iter_batches(BATCH):
            found += batch.num_rows
            yield _typed(pl.DataFrame(pl.from_arrow(batch)), expected)
    if found != wrote:
        raise FileError(
            f"Spark wrote {wrote:,} records, and {found:,} of them are here.",
            given=folder.parent.parent,
            hint="All its workers must write to the same disk: choose a folder that all of them share.",
        )


def _typed(frame: pl.DataFrame, expected: pl.Schema) -> pl.DataFrame:
    """Moments as Spark has them: its files hold them without their time zone, which is UTC."""
    zones = {n: k.time_zone for n, k in expected.items() if isinstance(k, pl.Datetime) and k.time_zone}
    naive = [n for n in zones if getattr(frame.schema[n], "time_zone", None) is None]
    return frame.with_columns(pl.col(naive).dt.replace_time_zone("UTC")).cast(expected)
