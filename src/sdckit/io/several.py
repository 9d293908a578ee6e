"""Several files as one table, in memory or on disk."""

from pathlib import Path
from typing import Any

import polars as pl

from sdckit.data.labels import Labels
from sdckit.io.dataset import Dataset, find_dataset, lake_of
from sdckit.io.delimited import read_files
from sdckit.io.folder_notes import FolderNotes
from sdckit.io.on_disk import open_dataset, open_lake
from sdckit.io.parquet import common_labels
from sdckit.io.table_options import TableOptions


def load_several(path: Path, engine: str, options: TableOptions) -> tuple[Any, Labels, tuple[Path, ...]]:
    """The table that a folder or a pattern means, its labels, and the files it is read from."""
    lake = lake_of(path)
    if lake:
        options.require_for("", f"a table of {lake.capitalize()}")
        return open_lake(path, lake, engine), Labels(), ()
    dataset = find_dataset(path, options)
    noted = FolderNotes.read(dataset.base).labels
    labels = Labels() if dataset.layout else noted or common_labels(dataset.files)
    frame = _in_memory(dataset) if engine == "polars" else open_dataset(dataset, engine)
    return frame, labels, dataset.files


def _in_memory(dataset: Dataset) -> pl.DataFrame:
    if dataset.layout is not None:
        return read_files(dataset.files, dataset.layout)
    changed: dict[Any, Any] = {name: dataset.types[name] for name in dataset.differing}
    parts = []
    for file in dataset.files:
        frame = (
            pl.read_parquet(file, glob=False, hive_partitioning=False).select(*dataset.types).cast(changed)
        )
        of_folder = [
            _as(pl.Series(name, [value], dtype=pl.String), dataset.partitions[name])
            for name, value in dataset.values(file).items()
        ]
        parts.append(frame.with_columns(pl.lit(one).first().alias(one.name) for one in of_folder))
    return pl.concat(parts)


def _as(texts: pl.Series, kind: pl.DataType) -> pl.Series:
    if kind == pl.Boolean:
        return texts == "true"
    return texts.str.to_date("%Y-%m-%d") if kind == pl.Date else texts.cast(kind)
