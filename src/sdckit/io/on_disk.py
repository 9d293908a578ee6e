"""Files that stay on disk: DuckDB relations and Spark data frames."""

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import polars as pl

from sdckit._support.messages import join_names
from sdckit.engine import frames, recode
from sdckit.engine.duckdb_session import connection, quoted
from sdckit.engine.frames import refuse_names
from sdckit.engine.spark_session import active_session, require_package
from sdckit.errors import EngineError, FileError
from sdckit.io.dataset import Dataset
from sdckit.io.delimited import MISSING, Layout, column_types, layout_of, scan_texts
from sdckit.io.encoding import UTF8
from sdckit.io.formats import DELIMITED, STREAMED, ending_of
from sdckit.io.parquet import schema_of
from sdckit.io.table_options import FOUND_OUT, TableOptions

SQL = {
    "integer": "BIGINT",
    "float": "DOUBLE",
    "float with comma": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "datetime": "TIMESTAMP",
}
SPARK = {**SQL, "datetime": "TIMESTAMP_NTZ"}  # its TIMESTAMP has a time zone
UTC = ("UTC", "Etc/UTC")
# The types that columns in names of folders, and columns that two types were united for, can have.
DUCKDB_TYPES: Mapping[pl.DataType, str] = {
    pl.Int8(): "TINYINT",
    pl.Int16(): "SMALLINT",
    pl.Int32(): "INTEGER",
    pl.Int64(): "BIGINT",
    pl.UInt8(): "UTINYINT",
    pl.UInt16(): "USMALLINT",
    pl.UInt32(): "UINTEGER",
    pl.UInt64(): "UBIGINT",
    pl.Float64(): "DOUBLE",
    pl.String(): "VARCHAR",
    pl.Boolean(): "BOOLEAN",
    pl.Date(): "DATE",
}
SPARK_TYPES: Mapping[pl.DataType, str] = {
    **{kind: name.lower() for kind, name in DUCKDB_TYPES.items() if not name.startswith("U")},
    pl.UInt8(): "smallint",
    pl.UInt16(): "int",
    pl.UInt32(): "bigint",
    pl.UInt64(): "decimal(20,0)",
    pl.String(): "string",
}


def open_on_disk(path: Path, ending: str, engine: str, options: TableOptions = FOUND_OUT) -> Any:
    """The file as a table of this engine, not loaded; column types as the Polars reader finds them."""
    if ending not in STREAMED:
        raise EngineError(
            f"Files ending in {ending!r} cannot stay on disk.",
            given=f"engine={engine!r}",
            allowed=f"{join_names(STREAMED)}; every format with engine='polars'",
        )
    require_package(engine)
    if ending in DELIMITED:
        return _delimited([path], layout_of(path, options), engine)
    # A broken file or names that an engine mistakes fail here, not later: DuckDB would rename a second `age`.
    refuse_names(list(schema_of(path)), engine)
    if engine == "duckdb":
        return _read_parquet([path], hive_partitioning=False)
    return active_session().read.parquet(_spark_path(path))


def open_dataset(dataset: Dataset, engine: str) -> Any:
    """Several files as one table of this engine."""
    require_package(engine)
    refuse_names([*dataset.types, *dataset.partitions], engine)
    if dataset.layout is not None:
        return _delimited(dataset.files, dataset.layout, engine)
    return _duckdb_dataset(dataset) if engine == "duckdb" else _spark_dataset(dataset)


def open_lake(path: Path, kind: str, engine: str) -> Any:
    """A Delta or Iceberg table through Spark's own reader, where the session has one."""
    if engine != "spark":
        raise EngineError(
            f"This is a table of {kind.capitalize()}: files of older versions lie in the same folder.",
            given=path,
            allowed="engine='spark', with a session that can read such tables",
        )
    require_package(engine)
    return active_session().read.format(kind).load(_spark_path(path))


def zones_lost(frame: Any, file: Path, engine: str) -> list[str]:
    """A warning where a file has moments of a time zone, which engines outside memory do not keep."""
    zoned = [n for n, kind in frames.schema(frame).items() if getattr(kind, "time_zone", None) is not None]
    if not zoned or ending_of(file) != ".parquet":
        return []
    kinds = schema_of(file)
    names = [n for n in zoned if getattr(kinds.get(n), "time_zone", None) not in (None, *UTC)]
    if not names:
        return []
    zone = "UTC" if engine == "duckdb" else "the time zone of the session"
    return [
        f"Moments are in {zone} on {engine}, and so are days and months made of them: {join_names(names)}. "
        "In memory they keep the time zone of the file."
    ]


def _delimited(paths: Sequence[Path], layout: Layout, engine: str) -> Any:
    if layout.encoding != UTF8:
        raise FileError(f"With engine={engine!r} text files must be UTF-8.", given=paths[0])
    refuse_names(list(layout.columns), engine)
    types = column_types(scan_texts(paths, layout), layout)
    return (_duckdb_csv if engine == "duckdb" else _spark_csv)(paths, layout, types)


def _read_parquet(paths: Sequence[Path], **options: Any) -> Any:
    # A list, in which * ? [ are patterns all the same.
    return connection().read_parquet([_literal(path) for path in paths], **options)


def _literal(path: Path) -> str:
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def _duckdb_dataset(dataset: Dataset) -> Any:
    options: dict[str, Any] = {"union_by_name": True, "hive_partitioning": False}
    raw = dataset.raw_names()  # DuckDB takes a name such as born%3F as it stands, unlike the values
    if dataset.partitions:
        types = {raw[name]: DUCKDB_TYPES[kind] for name, kind in dataset.partitions.items()}
        options |= {"hive_partitioning": True, "hive_types": types, "hive_types_autocast": False}
    listed = ", ".join(_text(_literal(file)) for file in dataset.files)
    given = ", ".join(f"{name} = {_setting(value)}" for name, value in options.items())
    columns = [quoted(name) for name in dataset.types]
    columns += [f"{quoted(raw[name])} as {quoted(name)}" for name in dataset.partitions]
    for place, name in enumerate(dataset.types):
        if name in dataset.differing and dataset.types[name] in DUCKDB_TYPES:
            columns[place] = f"{quoted(name)}::{DUCKDB_TYPES[dataset.types[name]]} as {quoted(name)}"
    return connection().sql(f"select {', '.join(columns)} from read_parquet([{listed}], {given})")


def _setting(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(name)}: {kind}" for name, kind in value.items()) + "}"
    return str(value).lower()


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _duckdb_csv(paths: Sequence[Path], layout: Layout, types: dict[str, str]) -> Any:
    import duckdb

    texts = connection().read_csv(
        [_literal(path) for path in paths],
        header=layout.header,
        sep=layout.separator,
        quotechar='"',
        escapechar='"',
        na_values=list(MISSING),
        columns=dict.fromkeys(layout.columns, "VARCHAR"),
        auto_detect=False,
        hive_partitioning=False,
    )
    texts.count("*").fetchall()  # DuckDB refuses lines that are too short, but only when it reads them
    columns = []
    for name in layout.columns:
        column: Any = duckdb.ColumnExpression(name)
        if types[name] == "float with comma":
            comma, point = duckdb.ConstantExpression(","), duckdb.ConstantExpression(".")
            column = duckdb.FunctionExpression("replace", column, comma, point)
        columns.append(column.cast(SQL[types[name]]).alias(name) if types[name] in SQL else column)
    return texts.select(*columns)


def _spark_path(path: Path) -> str:
    # The scheme, because Spark may look in a cluster's file system; the backslashes, because * ? [ { are
    # no patterns.
    return "file:" + re.sub(r"([*?\[\]{}])", r"\\\1", str(path.resolve()))


def _spark_dataset(dataset: Dataset) -> Any:
    from pyspark.sql.types import StructField, StructType, _parse_datatype_string

    reader = active_session().read.option("basePath", "file:" + str(dataset.base.resolve()))
    kinds = {name: dataset.types[name] for name in dataset.differing} | dict(dataset.partitions)
    found: dict[str, Any] = {}
    for file in dataset.files:  # a type from the first file that has one
        known = {one.name: one for one in reader.parquet(_spark_path(file)).schema.fields}
        found |= {n: one for n, one in known.items() if n not in found and n not in dataset.untyped[file]}
        if found.keys() >= dataset.types.keys():
            break
    for name, kind in kinds.items():
        if kind in SPARK_TYPES:
            found[name] = StructField(name, _parse_datatype_string(SPARK_TYPES[kind]))
    names = [*dataset.types, *dataset.partitions]
    tables = []
    for absent in dict.fromkeys(dataset.untyped.values()):
        paths = [_spark_path(file) for file in dataset.files if dataset.untyped[file] == absent]
        schema = StructType([found[name] for name in names if name not in absent])
        table = _with_letters(reader.schema(schema).parquet(*paths), dataset)
        tables.append(
            _with_missing(table, {name: found[name].dataType for name in absent}).select(*map(_name, names))
        )
    return reduce(lambda one, other: one.unionByName(other), tables)


def _with_missing(frame: Any, kinds: Mapping[str, Any]) -> Any:
    """Columns without any value: Spark does not read what has no type as another type."""
    from pyspark.sql import functions

    for name, kind in kinds.items():
        frame = frame.withColumn(name, functions.lit(None).cast(kind))
    return frame


def _name(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"


def _with_letters(frame: Any, dataset: Dataset) -> Any:
    """Values in names of folders as they are meant: Spark takes each byte of %C3%A4, an ä, for a letter."""
    for name, kind in dataset.partitions.items():
        read = {(value, _spark_reads(raw)) for of, value, raw in dataset.raw_values() if of == name and value}
        wrong = {taken: meant for meant, taken in read if taken != meant}
        if kind == pl.String and wrong:
            frame = recode.values(frames.lazy(frame), name, wrong).to_native()
    return frame


def _spark_reads(raw: str) -> str:
    return re.sub("%([0-9A-Fa-f]{2})", lambda found: chr(int(found[1], 16)), raw)


def _spark_csv(paths: Sequence[Path], layout: Layout, types: dict[str, str]) -> Any:
    from pyspark.sql import functions
    from pyspark.sql.types import StringType, StructType

    schema = StructType()
    for name in layout.columns:
        schema = schema.add(name, StringType())
    options = {"sep": layout.separator, "quote": '"', "escape": '"', "mode": "FAILFAST", "multiLine": True}
    reader = active_session().read.options(header=layout.header, **options).schema(schema)
    texts = reader.csv([_spark_path(path) for path in paths])
    # Spark refuses lines of the wrong length only when it parses every column.
    texts.write.format("noop").mode("overwrite").save()
    columns = []
    for name in layout.columns:
        column = functions.col(_name(name))
        column = functions.when(~column.isin(*MISSING), column)
        if types[name] == "float with comma":
            column = functions.regexp_replace(column, ",", ".")
        columns.append((column.cast(SPARK[types[name]]) if types[name] in SPARK else column).alias(name))
    return texts.select(*columns)
