"""Parquet files; labels travel as JSON in the file's metadata under the key `sdckit`."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import polars as pl

from sdckit.data.labels import Labels

KEY = "sdckit"


def read_parquet(path: Path) -> tuple[pl.DataFrame, Labels]:
    """The file and the labels in it."""
    frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
    return frame, parquet_labels(path)


def parquet_labels(path: Path) -> Labels:
    """Only the labels: for engines that leave the data on disk."""
    stored = pl.read_parquet_metadata(path).get(KEY)
    if stored is None:
        return Labels()
    content = json.loads(stored)
    return Labels(content["variables"], {name: dict(pairs) for name, pairs in content["values"].items()})


def write_parquet(frames: Iterator[pl.DataFrame], labels: Labels, path: Path) -> None:
    """Frames, one below the other, as one file with categories and labels."""
    first = next(frames)
    second = next(frames, None)
    metadata = {KEY: _text(labels)}
    if second is None:
        first.write_parquet(path, metadata=metadata)
        return
    # Only PyArrow adds to a file batch by batch; it is there if DuckDB or Spark is.
    from pyarrow.parquet import ParquetWriter

    schema = first.to_arrow().schema.with_metadata(metadata)
    with ParquetWriter(path, schema) as writer:
        for frame in chain((first, second), frames):
            writer.write_table(frame.to_arrow().cast(schema))


def _text(labels: Labels) -> str:
    # Pairs, because JSON keys are always text and codes are mostly numbers.
    values = {name: list(codes.items()) for name, codes in labels.values.items()}
    return json.dumps(
        {"variables": dict(labels.variables), "values": values}, ensure_ascii=False, default=str
    )
