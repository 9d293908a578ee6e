"""Folders of Parquet files, one for each value of a column."""

from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from sdckit._support.messages import join_names
from sdckit._support.progress import Progress
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.errors import ColumnError, DataError, FileError
from sdckit.io.coding import only_used_categories, only_used_labels, with_texts, with_texts_lazy
from sdckit.io.engine_files import Counted, batches, spark_folder
from sdckit.io.folder_notes import KINDS, FolderNotes, check_folder_values, folder_name
from sdckit.io.parquet import schema_of
from sdckit.io.partition_writer import PartitionWriter

MOST = 10_000  # folders


def writable_folder(data: Microdata, path: Path, column: str) -> str:
    """The kind of files in a folder that can be written where it is asked for: always .parquet."""
    data.require(column)
    if path.suffix.lower() not in ("", ".parquet"):
        raise FileError(
            "Folders are written with .parquet files in them.",
            given=path.name,
            allowed="a name without an ending, or with .parquet",
        )
    if path.is_file():
        raise FileError("This is a file, not a folder.", given=path)
    if not path.parent.is_dir():
        raise FileError("The folder to write into does not exist.", given=path.parent)
    strange = [f for f in path.iterdir() if not _is_ours(f, column)] if path.is_dir() else []
    if strange:
        raise FileError(
            "The folder has other files in it, which would be gone.",
            given=join_names(f.name for f in strange),
            hint="Choose another name, or empty the folder.",
        )
    if len(data.columns) == 1:
        raise DataError("The files would have no column left.", given=f"partition_by={column!r}")
    return ".parquet"


def _is_ours(file: Path, column: str) -> bool:
    """Whether it is of a folder that was written in this way before."""
    return file.name.startswith((folder_name(column, ""), "_", ".")) or file.suffix == ".parquet"


def write_folder(
    data: Microdata, folder: Path, column: str, *, texts: bool, keep_unused: bool, progress: Progress
) -> list[str]:
    """Write all records, read them back and count; what the user should know."""
    labels = data.labels.without_values(tuple(data.labels.values)) if texts else data.labels
    labels = labels if keep_unused else only_used_labels(data.frame, labels)
    named = data.labels if texts else Labels()
    frame = with_texts(data.frame, named) if data.engine == "polars" else with_texts_lazy(data.frame, named)
    kind = _kind(frame, column)
    check_folder_values(column, _values(frame, column))
    if data.engine == "spark":
        records = spark_folder(frame, folder, column)
    else:
        source = [frame] if data.engine == "polars" else batches(frame, folder)
        with Counted(source, progress) as parts, PartitionWriter(folder, column) as writer:
            for part in parts:
                writer.write(part if keep_unused else only_used_categories(part))
        records = parts.records
    progress(f"reading back {records:,} records", 1, 2)
    FolderNotes(labels, {column: kind}).write(folder)
    _check(folder, records)
    return []


def _kind(frame: Any, column: str) -> pl.DataType:
    """The type of the column, as it is noted; categories are texts in names of folders."""
    kind = frames.schema(frame)[column]
    if isinstance(kind, nw.Enum | nw.Categorical):
        return pl.String()
    found = KINDS.get(str(kind))
    if found is None:
        raise ColumnError(
            f"Column {column!r} cannot give names to folders.",
            given=str(kind),
            allowed="text, whole numbers, dates, true or false",
        )
    return found


def _values(frame: Any, column: str) -> list[Any]:
    count = frames.different_values(frame, [column])[column]
    if count > MOST:
        raise DataError(
            f"Column {column!r} has too many values for folders.", given=f"{count:,}", allowed=f"{MOST:,}"
        )
    return list(frames.gather(frames.lazy(frame).select(nw.col(column)).unique())[column].to_list())


def _check(folder: Path, records: int) -> None:
    """Refuse a folder that has not this many records, counted where the values stand."""
    found = 0
    for file in folder.rglob("*.parquet"):
        first = pl.col(next(iter(schema_of(file))))
        table = pl.scan_parquet(file, glob=False, hive_partitioning=False)
        found += table.select(first.count() + first.null_count()).collect(engine="streaming").item()
    if found != records:
        raise FileError(
            f"The folder was not written whole: {found:,} of {records:,} records were read back.",
            hint="The disk may be full, or the workers of a cluster write to disks of their own.",
        )
