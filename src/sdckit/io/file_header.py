"""The names of a file's columns, before its records are read."""

from pathlib import Path

from sdckit.io.dataset import header_of_dataset, is_dataset, lake_of
from sdckit.io.delimited import layout_of
from sdckit.io.formats import DELIMITED, STREAMED, readable
from sdckit.io.parquet import schema_of
from sdckit.io.reading_errors import reading_errors
from sdckit.io.table_options import FOUND_OUT, TableOptions


def header_of(path: Path, options: TableOptions = FOUND_OUT) -> tuple[str, ...] | None:
    """The names of the columns of a file, folder or pattern; None where they are known only after reading.

    What is asked for by a wrong name is then refused before hours of reading, or before Spark is started.
    """
    if is_dataset(path):
        with reading_errors(path, "one table"):
            return None if lake_of(path) else header_of_dataset(path, options)
    ending = readable(path)
    if ending not in STREAMED:
        return None
    with reading_errors(path, ending):
        return layout_of(path, options).columns if ending in DELIMITED else tuple(schema_of(path))
