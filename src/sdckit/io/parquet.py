"""Parquet files; labels travel as JSON in the file's metadata under the key `sdckit`."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from sdckit.data.labels import Labels

KEY = "sdckit"
COMPRESSION = "zstd"


def read_parquet(path: Path) -> tuple[pl.DataFrame, Labels]:
    """The file and the labels in it."""
    frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
    return frame, parquet_labels(path)


def schema_of(path: Path) -> pl.Schema:
    """Columns and types of one file, whatever signs are in its name."""
    return pl.scan_parquet(path, glob=False, hive_partitioning=False).collect_schema()


def parquet_labels(path: Path) -> Labels:
    """Only the labels: for engines that leave the data on disk."""
    stored = pl.read_parquet_metadata(path).get(KEY)
    return Labels() if stored is None else labels_of_text(stored)


def common_labels(paths: Iterable[Path]) -> Labels:
    """The labels of several files, but for those on which files disagree."""
    variables: dict[str, set[str]] = {}
    values: dict[tuple[str, Any], set[str]] = {}
    for path in paths:
        labels = parquet_labels(path)
        for name, text in labels.variables.items():
            variables.setdefault(name, set()).add(text)
        for name, texts in labels.values.items():
            for code, text in texts.items():
                values.setdefault((name, code), set()).add(text)
    agreed: dict[str, dict[Any, str]] = {}
    for (name, code), found in values.items():
        if len(found) == 1:
            agreed.setdefault(name, {})[code] = next(iter(found))
    return Labels({name: next(iter(texts)) for name, texts in variables.items() if len(texts) == 1}, agreed)


def write_parquet(frames: Iterator[pl.DataFrame], labels: Labels, path: Path) -> None:
    """Frames, one below the other, as one file with categories and labels."""
    first = next(frames)
    second = next(frames, None)
    metadata = {KEY: metadata_text(labels)}
    if second is None:
        first.write_parquet(path, metadata=metadata)
        return
    # Only PyArrow adds to a file batch by batch; it is there if DuckDB or Spark is.
    from pyarrow.parquet import ParquetWriter

    schema = first.to_arrow().schema.with_metadata(metadata)
    with ParquetWriter(path, schema, compression=COMPRESSION) as writer:
        for frame in chain((first, second), frames):
            writer.write_table(frame.to_arrow().cast(schema))


def metadata_text(labels: Labels) -> str:
    """The labels as they travel with a file."""
    # Pairs, because JSON keys are always text and codes are mostly numbers.
    values = {name: list(codes.items()) for name, codes in labels.values.items()}
    return json.dumps(
        {"variables": dict(labels.variables), "values": values}, ensure_ascii=False, default=str
    )


def labels_of_text(text: str) -> Labels:
    """The labels that `metadata_text` made a text of."""
    content = json.loads(text)
    return Labels(content["variables"], {name: dict(pairs) for name, pairs in content["values"].items()})
