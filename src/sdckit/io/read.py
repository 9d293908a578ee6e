"""`read`: microdata from a file or a data frame."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from warnings import warn

import narwhals as nw
import polars as pl

from sdckit._support.messages import join_names, known_options, require_flag
from sdckit.data.checks import check_names
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.data.reading import MissingCodes, stamp_of
from sdckit.data.roles import roles_of
from sdckit.engine import frames
from sdckit.engine.frames import ENGINES
from sdckit.errors import ColumnError, EngineError, OptionError, SdcWarning, preview
from sdckit.io.codebook_labels import ProposedMissing, proposed_missing, with_codebook
from sdckit.io.dataset import is_dataset
from sdckit.io.delimited import read_delimited
from sdckit.io.excel import read_excel
from sdckit.io.file_header import header_of
from sdckit.io.formats import DELIMITED, STATISTICAL, readable
from sdckit.io.on_disk import open_on_disk, zones_lost
from sdckit.io.parquet import parquet_labels, read_parquet
from sdckit.io.reading_errors import reading_errors
from sdckit.io.several import load_several
from sdckit.io.statistical import read_statistical
from sdckit.io.table_options import FRAME, TableOptions

FEWEST = 20  # records; in a handful of them any key may differ


@known_options
def read(
    source: Any,
    *,
    keys: str | Iterable[str] = (),
    numeric: str | Iterable[str] = (),
    sensitive: str | Iterable[str] = (),
    weight: str | None = None,
    strata: str | Iterable[str] = (),
    cluster: str | None = None,
    household: str | None = None,
    id: str | None = None,
    direct: str | Iterable[str] = (),
    keep_direct: bool = False,
    engine: Literal["polars", "duckdb", "spark"] = "polars",
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool = True,
    sheet: str | int | None = None,
    codebook: str | Path | None = None,
) -> Microdata:
    """Microdata from a file or any data frame, with the roles of its columns.

    **Source.** A path ending in .csv, .csv.gz, .parquet, .sav, .zsav, .dta, .sas7bdat, .xpt or .xlsx
    (capitals do not matter), or a Polars, pandas, PyArrow, DuckDB or Spark table (wrapped by
    narwhals, too). A data frame is never changed, and `Microdata.native()` returns the kind that came in.
    The index of a pandas frame is not read and not kept, for it might name persons; a warning says so
    where it is not 0, 1, …

    **id** should name records one by one; a warning says where values are repeated, and files are then
    compared record by record only if their ids agree row by row.

    **Direct identifiers** (names, addresses, numbers of persons) named in `direct` are dropped at once;
    `keep_direct=True` keeps them, for checks inside the office only.

    **Text files.** Separator `,` `;` tab or `|`, found from the header line; UTF-8, else Windows-1252
    (which contains Latin-1); `encoding="utf-16"` or another name says so where it is neither. A file that
    mixes UTF-8 with other bytes is refused with the first line that is not UTF-8. Empty, `NA`, `NaN` and
    `nan` are missing. A column gets the first type that *all* its values fit: whole number, number (with a
    decimal comma too, unless the comma separates), true/false, ISO date, ISO date and time, text. One value
    with a leading zero (`0110`) keeps the column as text, as do whole numbers too long for 64 bits: they
    are codes. Blank lines are left out; lines with too few or too many values are refused. Thousands
    separators are not understood. A column without a name, such as the row names that R writes, is called
    column_1 if it is the first, and so on. Where this finds the wrong thing, `separator=";"` (or "tab",
    "space"), `decimal=","` and `header=False`, for a file that begins with a record, say what is right.

    **SPSS, Stata, SAS.** Codes stay codes, with variable and value labels in `Microdata.labels`;
    user-missing values and empty texts are missing. Which code a user-missing value had (-8 refused, .a not
    applicable) is remembered, and `write` puts it back into a file of the same format where that is safe.
    Whole numbers with value labels or a format without decimals are Int64.

    **Excel.** The first sheet, or `sheet="2024"` by its name or number; `header=False` as for text files.
    **Parquet and Excel** files that sdckit wrote bring their labels along.

    **Codebook.** `codebook="survey.codebook.xml"` brings labels of variables and values to a file without
    any: DDI-Codebook, as `write(…, codebook=True)` and archives have it, or a .csv with the columns variable,
    label, value, value_label and, if you like, missing (yes or no). Codes are matched with the type of the
    column. A warning says which variables the file lacks, which values no record has, and which values the
    codebook marks as missing: these stay values, and are proposed for the preparation `declare_missing`.

    **Missing.** NULL everywhere; NaN becomes NULL. A column without any value is numeric if its role is.

    **Several files** that are one table: a folder, or a pattern such as `"survey/*.parquet"`, of .parquet or
    .csv files (a file with that very name comes first). All must have the same columns. Types that differ
    are united where no value changes (16 and 32 bits, categories and texts), else the file that differs is
    named. Folders named `region=1` add a column: whole numbers or text, or the type that `write` noted.
    Delta and Iceberg tables only through Spark, in a session that can read them.

    **Engine.** `"duckdb"` and `"spark"` leave .csv and .parquet files on disk, for data larger than memory
    (Spark needs an active session). A data frame stays with the engine it came with; files on DuckDB are
    read through a connection of sdckit's own, which takes a quarter of the free memory, at
    most 1.3 GB.

    >>> data = read(pl.DataFrame({"name": ["Ann", "Bo"], "sex": ["f", "m"]}), keys="sex", direct="name")
    >>> data.columns
    ('sex',)
    """
    roles = {"keys": keys, "numeric": numeric, "sensitive": sensitive, "weight": weight, "strata": strata}
    roles |= {"cluster": cluster, "household": household, "id": id, "direct": direct}
    checked = roles_of(**roles)
    require_flag("keep_direct", keep_direct)
    if engine not in ENGINES:
        raise OptionError("There is no such engine.", given=preview(engine), allowed=join_names(ENGINES))
    named = {name: getattr(checked, name) for name in roles}
    options = TableOptions(encoding, separator, decimal, header, sheet, codebook)
    if isinstance(source, str | Path):
        data = _from_file(Path(source).expanduser(), engine, options, named)
    else:
        options.require_for(FRAME, "a data frame")
        source = nw.to_native(source, pass_through=True)  # what a frame of narwhals wraps
        data = _from_frame(source, engine, named)
    _check_keys(data)
    data, notes = (data, list[str]()) if codebook is None else with_codebook(data, codebook)
    notes = [*notes, *_zones_not_kept(data)]
    for text in (*notes, *_index_not_read(source), *_repeated_ids(data), *_unlike_keys(data)):
        warn(text, SdcWarning, stacklevel=3)  # the caller of read, behind the check of its options
    for text in proposed_missing(data):
        warn(text, ProposedMissing, stacklevel=3)
    return data if keep_direct else without_direct(data)


def without_direct(data: Microdata) -> Microdata:
    """The microdata without their direct identifiers; which ones there were is known afterwards."""
    direct = data.roles.direct
    return data.without(direct, direct=True) if direct else data


def with_roles(data: Microdata, roles: dict[str, Any], *, keep_direct: bool = False) -> Microdata:
    """Microdata that were read without roles, under their roles, as `read` gives them at once."""
    checked = roles_of(**roles)
    before = data.frame  # every look at it gives another copy
    frame = _typed(before, (*checked.numeric, checked.weight))
    typed = data if frame is before else replace(data, frame=frame)
    named = typed.with_roles(**{role: getattr(checked, role) for role in roles})
    _check_keys(named)
    for text in (*_repeated_ids(named), *_unlike_keys(named)):
        warn(text, SdcWarning, stacklevel=4)
    return named if keep_direct else without_direct(named)


def _from_file(path: Path, engine: str, options: TableOptions, roles: dict[str, Any]) -> Microdata:
    several = is_dataset(path)
    ending = "one table" if several else readable(path)
    if not several:
        options.require_for(ending, f"files ending in {ending}")
    known = header_of(path, options)
    if known is not None:  # a wrong name is said before records are looked at
        check_names(roles_of(**roles), known)
    with reading_errors(path, ending):
        codes: dict[str, MissingCodes] = {}
        files: tuple[Path, ...] = ()
        if several:
            frame, labels, files = load_several(path, engine, options)
        else:
            frame, labels, codes = _load(path, ending, engine, options)
        frame = _typed(frame, (*roles["numeric"], roles["weight"]))
        on_disk = () if engine == "polars" else files or (path.resolve(),)
        stamps = {file: stamp_of(file) for file in on_disk if file.is_file()}
        data = Microdata.of(frame, labels=labels, **roles)
        where = None if several and not path.is_dir() else path.resolve()
        return data.as_read(path=where, files=files, missing_codes=codes, stamps=stamps)


def _from_frame(frame: Any, engine: str, roles: dict[str, Any]) -> Microdata:
    try:
        data = Microdata.of(frame, **roles)
    except nw.exceptions.DuplicateError as error:
        raise ColumnError(
            "Column names must differ.", given=join_names(str(error).split("\n- ")[1:])
        ) from error
    if engine not in ("polars", data.engine):
        raise EngineError(
            "A data frame stays with the engine it came with.",
            given=f"{data.engine} data, engine={engine!r}",
            allowed="engine for files only",
        )
    return data


def _zones_not_kept(data: Microdata) -> list[str]:
    """A warning where the engine does not keep the time zone of moments in the files that were read."""
    files = data.reading.files or [data.reading.path]
    if data.engine == "polars" or files[0] is None or not files[0].is_file():
        return []
    return zones_lost(data.frame, files[0], data.engine)


def _index_not_read(source: Any) -> list[str]:
    """What to know of a pandas frame whose rows have other names than 0, 1, …"""
    if not nw.dependencies.is_pandas_dataframe(source):
        return []
    index = source.index
    named = join_names(repr(name) for name in index.names if name is not None)
    if named:
        return [f"The index {named} of the data frame is not read; reset_index() makes it a column."]
    if index.equals(type(source)(index=range(len(source))).index):
        return []
    return [
        "The index of the data frame is not kept: native() has the records in the same order, numbered "
        "0, 1, … Set its index before you put its columns beside those of this frame."
    ]


def _check_keys(data: Microdata) -> None:
    names = [c for c in data.roles.keys if data.engine == "polars" and data.frame.schema[c] == pl.Object]
    if names:
        raise ColumnError(
            "A key has values that cannot be compared.",
            given=f"{join_names(names)}, of Python objects",
            allowed="text, numbers, dates, true or false",
        )


def _unlike_keys(data: Microdata) -> list[str]:
    """Keys that differ in every record: mostly record numbers, with which every record is at risk."""
    if data.engine != "polars" or data.height < FEWEST:
        return []
    names = [
        c for c in data.roles.keys if data.column_fact("different", c, pl.Series.n_unique) == data.height
    ]
    return [
        f"{name} differs in every record: not a key. Give a record number the role id or direct, and recode "
        "or leave out anything else."
        for name in names
    ]


def _repeated_ids(data: Microdata) -> list[str]:
    name = data.roles.id
    if name is None or data.is_unique(name):
        return []
    return [
        f"Values of {name!r}, given as id, are repeated or missing, so it does not name records one by one. "
        "Files are compared record by record only if their ids agree row by row. "
        "A number that persons share is their household or cluster."
    ]


def _load(
    path: Path, ending: str, engine: str, options: TableOptions
) -> tuple[Any, Labels, dict[str, MissingCodes]]:
    if engine != "polars":
        frame = open_on_disk(path, ending, engine, options)
        return frame, parquet_labels(path) if ending == ".parquet" else Labels(), {}
    if ending in DELIMITED:
        return read_delimited(path, options), Labels(), {}
    if ending in STATISTICAL:
        return read_statistical(path, ending)
    return *(read_parquet(path) if ending == ".parquet" else read_excel(path, options)), {}


def _typed(frame: Any, numbers: tuple[str | None, ...]) -> Any:
    """A file may not say what type an all-missing column has: the role decides."""
    if not isinstance(frame, pl.DataFrame):
        return _typed_outside(frame, numbers)
    empty = [c.name for c in frame.iter_columns() if c.null_count() == frame.height]
    changes = [pl.col(c).cast(pl.Float64) for c in empty if c in numbers and not frame.schema[c].is_numeric()]
    changes += [pl.col(c).cast(pl.String) for c in empty if c not in numbers and frame.schema[c] == pl.Null]
    return frame.with_columns(changes) if changes else frame


def _typed_outside(frame: Any, numbers: tuple[str | None, ...]) -> Any:
    """The same on DuckDB and Spark, where values are only counted if the type does not fit the role."""
    odd = [c for c, kind in frames.schema(frame).items() if c in numbers and not kind.is_numeric()]
    missing, height = (frames.missing_values(frame, odd), frames.height(frame)) if odd else ({}, 0)
    empty = [nw.col(c).cast(nw.Float64) for c in odd if missing[c] == height]
    return nw.to_native(frames.lazy(frame).with_columns(empty)) if empty else frame
