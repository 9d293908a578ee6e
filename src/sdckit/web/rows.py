"""Rows of a file, a slice at a time: what the table on the page shows is all that leaves the disk."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from sdckit.errors import FileError, OptionError, preview

MOST = 500  # rows of a slice
EXACT = 2**53  # beyond it a number with decimals cannot hold every whole number
PLACE = "row of the file, as the page counts it"  # no column has this name
ALIKE, BEGINS = "records alike, as the page counts them", "whether they begin here, for the page"


def rows(path: Path, asked: Mapping[str, str]) -> dict[str, Any]:
    """Rows `at` … `at` + `n` of a file of the session, sorted and filtered where asked for.

    beside: another file of the session whose rows stand for the same records, shown in the same order.
    classes: columns (JSON); records with the same values in all of them stand together, and are counted.
    """
    beside = path.with_name(Path(asked["beside"]).name) if asked.get("beside") else None
    for file in (path, beside):
        if file is not None and (file.suffix != ".arrow" or not file.is_file()):
            raise FileError("There is no such file in this session.", given=preview(file.name))
    at, n = _whole(asked, "at", 0), min(_whole(asked, "n", 100), MOST)
    table = pl.scan_ipc(path).with_row_index(PLACE)
    kinds = table.collect_schema()
    names = kinds.names()[1:]
    if column := asked.get("sort"):
        _require(column, names)
        table = table.sort(column, descending=asked.get("descending") == "1", nulls_last=True)
    if column := asked.get("column"):
        _require(column, names)
        text = asked.get("value", "")
        value = _text(column, kinds[column])
        table = table.filter(value.is_null() if text == "" else value.str.contains(text, literal=True))
    classes = _classes(asked.get("classes", "[]"), names)
    if classes:
        differs = [pl.col(c).ne_missing(pl.col(c).shift(1)) for c in classes]
        table = table.sort(classes, nulls_last=True).with_columns(
            pl.len().over(classes).alias(ALIKE),
            (pl.any_horizontal(differs) | (pl.int_range(pl.len()) == 0)).cast(pl.Int8).alias(BEGINS),
        )
    count = table.select(pl.len()).collect().item()
    part = table.slice(at, n).select(_texts(table)).collect()
    places = part[PLACE].cast(pl.UInt32)
    found = {"at": at, "count": count, **_plain(part.select(names)), "places": places.to_list()}
    if classes:
        found["alike"] = part[ALIKE].cast(pl.Int64).to_list()
        found["begins"] = (part[BEGINS] == "1").to_list()
    if beside is not None:  # the same records of another file, in the same order
        other = pl.scan_ipc(beside).select(pl.all().gather(places))
        found["beside"] = _plain(other.select(_texts(other)).collect())
    return found


def _texts(table: pl.LazyFrame) -> list[pl.Expr]:
    return [_text(name, kind) for name, kind in table.collect_schema().items()]


def _text(column: str, kind: pl.DataType) -> pl.Expr:
    """A column as text, with 1 for 1.0, which is how SPSS holds every whole number."""
    value = pl.col(column)
    if not kind.is_float():
        return value.cast(pl.String)
    small = pl.when(value.abs() < EXACT).then(value)
    whole = small.cast(pl.Int64)
    return pl.when(whole == small).then(whole.cast(pl.String)).otherwise(value.cast(pl.String)).alias(column)


def _plain(part: pl.DataFrame) -> dict[str, Any]:
    return {"columns": part.columns, "rows": [list(row) for row in part.rows()]}


def _classes(text: str, names: list[str]) -> list[str]:
    try:
        columns = json.loads(text)
    except ValueError:
        columns = None
    if not isinstance(columns, list) or not all(isinstance(c, str) for c in columns):
        raise OptionError("classes is a list of columns.", given=preview(text), allowed='["sex", "age"]')
    for column in columns:
        _require(column, names)
    return columns


def _require(column: str, names: list[str]) -> None:
    if column not in names:
        raise OptionError("The file has no such column.", given=preview(column))


def _whole(asked: Mapping[str, str], name: str, default: int) -> int:
    text = asked.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise OptionError(f"{name} is a whole number.", given=preview(text), allowed="0 or more")
    return int(text)
