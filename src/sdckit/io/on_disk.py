"""Files that stay on disk: DuckDB relations and Spark data frames."""

import glob
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from sdckit._support.messages import join_names
from sdckit.engine.frames import engine_of
from sdckit.errors import EngineError, FileError
from sdckit.io.delimited import MISSING, Layout, column_types, layout_of
from sdckit.io.encoding import UTF8
from sdckit.io.formats import STREAMED
from sdckit.io.table_options import FOUND_OUT, TableOptions

BATCH = 100_000
SQL = {
    "integer": "BIGINT",
    "float": "DOUBLE",
    "float with comma": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "datetime": "TIMESTAMP",
}
SPARK = {**SQL, "datetime": "TIMESTAMP_NTZ"}  # its TIMESTAMP has a time zone


def open_on_disk(path: Path, ending: str, engine: str, options: TableOptions = FOUND_OUT) -> Any:
    """The file as a table of this engine, not loaded; column types as the Polars reader finds them."""
    if ending not in STREAMED:
        raise EngineError(
            f"Files ending in {ending!r} cannot stay on disk.",
            given=f"engine={engine!r}",
            allowed=f"{join_names(STREAMED)}; every format with engine='polars'",
        )
    package = "pyspark" if engine == "spark" else engine
    if find_spec(package) is None:
        raise EngineError(f"{package} is not installed.", hint=f"pip install 'sdckit[{engine}]'")
    if ending == ".parquet":
        pl.read_parquet_schema(path)  # a broken file or repeated names fail here, not later
        return _duckdb_parquet(path) if engine == "duckdb" else _session().read.parquet(_spark_path(path))
    layout = layout_of(path, options)
    if layout.encoding != UTF8:
        raise FileError(f"With engine={engine!r} text files must be UTF-8.", given=path)
    texts = pl.scan_csv(
        path,
        separator=layout.separator,
        has_header=layout.header,
        skip_lines=layout.skip,
        infer_schema=False,
        null_values=list(MISSING),
        glob=False,
    )
    names = dict(zip(texts.collect_schema().names(), layout.columns, strict=True))
    types = column_types(texts.rename(names), layout)
    return (_duckdb_csv if engine == "duckdb" else _spark_csv)(path, layout, types)


def batches(frame: Any) -> Iterator[pl.DataFrame]:
    """The rows of a DuckDB relation in batches; Spark hands over all its rows at once."""
    if engine_of(frame) == "duckdb":
        # DuckDB 2 has a new name for it, DuckDB 1.1 only the old one.
        reader = getattr(frame, "to_arrow_reader", None) or frame.fetch_record_batch
        for batch in reader(BATCH):
            yield pl.DataFrame(pl.from_arrow(batch))
    else:
        yield pl.DataFrame(pl.from_arrow(frame.toArrow()))


def _duckdb_parquet(path: Path) -> Any:
    import duckdb

    return duckdb.read_parquet(glob.escape(str(path)))  # * ? [ in a path are no patterns


def _duckdb_csv(path: Path, layout: Layout, types: dict[str, str]) -> Any:
    import duckdb

    texts = duckdb.read_csv(
        glob.escape(str(path)),
        header=layout.header,
        sep=layout.separator,
        quotechar='"',
        escapechar='"',
        na_values=list(MISSING),
        columns=dict.fromkeys(layout.columns, "VARCHAR"),
        auto_detect=False,
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


def _session() -> Any:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise EngineError("There is no Spark session.", hint="Start one: SparkSession.builder.getOrCreate().")
    return session


def _spark_path(path: Path) -> str:
    # The scheme, because Spark may look in a cluster's file system; the backslashes, because * ? [ { are
    # no patterns.
    return "file:" + re.sub(r"([*?\[\]{}])", r"\\\1", str(path.resolve()))


def _spark_csv(path: Path, layout: Layout, types: dict[str, str]) -> Any:
    from pyspark.sql import functions
    from pyspark.sql.types import StringType, StructType

    session = _session()
    schema = StructType()
    for name in layout.columns:
        schema = schema.add(name, StringType())
    options = {"sep": layout.separator, "quote": '"', "escape": '"', "mode": "FAILFAST", "multiLine": True}
    texts = session.read.options(header=layout.header, **options).schema(schema).csv(_spark_path(path))
    # Spark refuses lines of the wrong length only when it parses every column.
    texts.write.format("noop").mode("overwrite").save()
    columns = []
    for name in layout.columns:
        column = functions.col("`" + name.replace("`", "``") + "`")
        column = functions.when(~column.isin(*MISSING), column)
        if types[name] == "float with comma":
            column = functions.regexp_replace(column, ",", ".")
        columns.append((column.cast(SPARK[types[name]]) if types[name] in SPARK else column).alias(name))
    return texts.select(*columns)
