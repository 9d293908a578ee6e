"""Records that go to one folder for each value of a column, as they come."""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import polars as pl

from sdckit.io.folder_notes import folder_name
from sdckit.io.parquet import COMPRESSION

HELD = 1_000_000  # records in memory, of all values together
FULL = 100_000  # records of one value that are written at once
OPEN = 200  # files at the same time


class PartitionWriter:
    """Writes batches of records to `column=value/part-0.parquet`; further files where many are open."""

    def __init__(self, folder: Path, column: str) -> None:
        self._folder, self._column = folder, column
        self._held: dict[Any, list[pl.DataFrame]] = {}
        self._records: dict[Any, int] = {}
        self._files: dict[Any, Any] = {}
        self._parts: dict[Any, int] = {}
        self._schema: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with ExitStack() as stack:
            stack.callback(self._close)
            if kind is None:
                for value in list(self._held):
                    self._flush(value)

    def _close(self) -> None:
        while self._files:
            self._files.popitem()[1].close()

    def write(self, records: pl.DataFrame) -> None:
        """Take records, and write those of values of which there are many."""
        for (value,), part in records.partition_by(self._column, as_dict=True, include_key=False).items():
            self._held.setdefault(value, []).append(part)
            self._records[value] = self._records.get(value, 0) + part.height
            if self._records[value] >= FULL:
                self._flush(value)
        while sum(self._records.values()) > HELD:
            self._flush(max(self._records, key=lambda value: self._records[value]))

    def _flush(self, value: Any) -> None:
        table = pl.concat(self._held.pop(value)).to_arrow()
        self._records.pop(value)
        self._schema = self._schema or table.schema
        self._file(value).write_table(table.cast(self._schema))

    def _file(self, value: Any) -> Any:
        from pyarrow.parquet import ParquetWriter

        if value not in self._files:
            if len(self._files) >= OPEN:
                self._files.pop(next(iter(self._files))).close()
            folder = self._folder / folder_name(self._column, value)
            folder.mkdir(exist_ok=True)
            number = self._parts[value] = self._parts.get(value, -1) + 1
            path = folder / f"part-{number}.parquet"
            self._files[value] = ParquetWriter(path, self._schema, compression=COMPRESSION)
        return self._files[value]
