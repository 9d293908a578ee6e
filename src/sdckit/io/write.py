"""`write`: microdata to a file, whole or not at all."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from warnings import warn

import narwhals as nw
import polars as pl

from sdckit._support.files import atomic_folder, atomic_write, flush, is_full
from sdckit._support.messages import join_names, require_flag
from sdckit._support.progress import Progress, ShowProgress
from sdckit.data.before_release import before_release, direct_identifiers
from sdckit.data.effects import merged
from sdckit.data.files_unchanged import require_unchanged
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata, require_microdata
from sdckit.data.missing_codes import codes_in_place
from sdckit.data.reading import MissingCodes
from sdckit.engine import frames
from sdckit.errors import (
    ColumnError,
    FileError,
    OptionError,
    ReleaseWarning,
    RoleError,
    SdcError,
    SdcWarning,
    preview,
)
from sdckit.io.codebook import beside, described, written_as
from sdckit.io.coding import only_dates, only_used_categories, only_used_labels, with_texts
from sdckit.io.delimited import SEPARATORS, write_delimited
from sdckit.io.engine_files import Counted, batches, engine_work
from sdckit.io.excel import write_excel
from sdckit.io.folder import writable_folder, write_folder
from sdckit.io.formats import DELIMITED, SHUT, STREAMED, writable
from sdckit.io.formulas import Formulas
from sdckit.io.parquet import write_parquet
from sdckit.io.read_back import check_whole
from sdckit.io.stamps import fix_date
from sdckit.io.statistical import write_statistical
from sdckit.io.user_missing import PROGRAMS as USER_MISSING
from sdckit.io.user_missing import fitting_codes

VALUES = ("codes", "labels")


def write(
    data: Microdata,
    path: str | Path,
    *,
    values: Literal["codes", "labels"] = "codes",
    keep_direct: bool = False,
    codebook: bool = False,
    keep_unused: bool = False,
    decimal: Literal[".", ","] = ".",
    separator: Literal[",", ";", "\t", "|"] | None = None,
    overwrite: bool = False,
    escape_formulas: bool = False,
    header: bool = True,
    partition_by: str | None = None,
    progress: ShowProgress | None = None,
) -> Path:
    """Write microdata to a file and return its path.

    The ending decides the format: .csv, .csv.gz, .parquet, .sav, .zsav, .dta, .xpt or .xlsx. The file
    appears whole or not at all: it is read back and its records are counted before it takes its place, and
    after a failure or an interruption an older file of that name is untouched. The same data give the same
    bytes on any day: where a format has a date of writing, it is 1 January 1980.

    **The file that the data were read from** is refused, also through a link, unless `overwrite=True`; data
    that are still on disk (DuckDB, Spark) cannot replace it at all. Any other file of that name is replaced.

    **Direct identifiers**, also those dropped on reading that are there again, are refused unless
    `keep_direct=True`.

    **Before a release.** One warning (`sdckit.errors.ReleaseWarning`) lists what the file itself shows to be
    in the way: that no step has protected it, ids of the original, numbers and dates that most records have
    as they were read, columns that were not read, columns without a role. It is no verdict; `assess` gives
    one.

    **Labels.** Variable and value labels are kept in .parquet, .sav, .zsav, .dta and .xlsx; .xpt keeps
    variable labels, .csv none. `values="labels"` writes the texts instead of the codes; a code without a
    label stays as it is. Labels too long for the program are cut (variables: 80 bytes in Stata, 256 in SPSS
    and SAS; values: 120 in SPSS).

    **Categories** (Enum, Categorical) stay categories in .parquet and .xlsx. In .sav, .zsav and .dta they are
    codes 1, 2, … in category order with value labels, and are read back as such. In .csv and .xpt they are
    texts.

    **What no record has** is not written: a category or value label whose records were all suppressed or
    recoded would still tell that it was there. `keep_unused=True` keeps categories and labels that no record
    has. Codes in .sav, .zsav and .dta count all categories either way, so they do not depend on it.

    **`codebook=True`** writes two more files: for `survey.sav` the page `survey.codebook.html` and
    `survey.codebook.xml` in DDI-Codebook 2.5. They have the names, labels and types of variables, categories
    and value labels, codes of missing values, and which variable is the weight; no counts, no smallest and
    largest values, no texts that are not labels or categories, no categories that nearly name every record,
    nothing that is not in the data file. They do tell that a category is there, also of a single record.

    **Missing** (NULL) is the format's own missing value: empty in .csv and .xlsx (`NA` in a .csv of one
    column), system-missing in the others. SPSS, Stata and SAS know no missing text apart from the empty one.
    Codes that told why a value is missing (-8 refused, .a not applicable) come back in a file of the program
    they were read from, with their labels, in columns that stand as they were read; after any step not in
    keys, numbers and sensitive columns, whose risks were measured with one kind of missing. A warning names
    columns where they are left out.

    **Types.** true/false is 1/0 in SPSS, Stata and SAS. Whole numbers that a format would round are refused.
    In .csv other numbers have up to 15 significant digits, and moments that are all midnights are dates.
    `decimal=","` writes a .csv with decimal commas and semicolons between the values; `separator` is what
    stands between them otherwise: a comma, a semicolon, a tab or a bar. `header=False` leaves out the first
    line with the names of the columns; `codebook=True` then says what they are.

    **Not for others**: a pickle of microdata, protected or not. It holds the log, with categories that no
    record has any more and which row was which before they were shuffled.

    **Spreadsheets** run texts of a .csv that begin with `=`, `+`, `-`, `@` or a tab as formulas, which may do
    harm. A warning names the columns with such texts; `escape_formulas=True` puts an apostrophe before each.
    Numbers are no such texts, and cells of .xlsx files are never formulas.

    **Folders.** `partition_by="region"` writes a folder of .parquet files instead, `region=1`, `region=2`, …,
    that `read` and other programs read as one table; its name ends in .parquet or in nothing. The notes in
    it (`_sdckit.json`) hold the labels and the type of the column.

    **Larger than memory.** Data on DuckDB and Spark go to .csv and .parquet without ever being all in memory,
    to other formats through memory. DuckDB may write what does not fit into memory to a folder beside the
    target that only its owner can read. Records are in no set order, unless it was drawn (`shuffle_order`),
    so that bytes may differ from day to day. `progress` is a function of what is done, pieces done and pieces
    in all; it is told how many records are written.

    >>> import tempfile, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": ["f", None], "age": [30, 41]}), keys=["sex", "age"])
    >>> coarser = sdc.protect.round_values(data, variables="age", base=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(coarser, Path(folder) / "out.csv").read_text()
    'sex,age\\nf,30\\n,40\\n'
    """
    require_microdata(data, "write")
    if values not in VALUES:
        raise OptionError("values says what to write.", given=preview(values), allowed=join_names(VALUES))
    if decimal not in (".", ","):
        raise OptionError("decimal is what stands in numbers.", given=preview(decimal), allowed="'.' or ','")
    require_flag("keep_direct", keep_direct)
    direct = direct_identifiers(data)
    if direct and not keep_direct:
        raise RoleError(
            "Direct identifiers are not written.",
            given=join_names(direct),
            hint=f"Leave them out with data.without({tuple(direct)}), or pass keep_direct=True.",
            plan_hint="Without keep_direct under data: in the plan they are dropped at reading.",
        )
    target = Path(path).expanduser()
    ending = writable(target) if partition_by is None else writable_folder(data, target, partition_by)
    require_flag("overwrite", overwrite)
    keep_original(data, target, overwrite=overwrite)
    require_flag("escape_formulas", escape_formulas)
    if decimal == "," and ending not in DELIMITED:
        raise OptionError("Only .csv files have a decimal comma.", given=target.name)
    if escape_formulas and ending not in DELIMITED:
        raise OptionError("Only texts of .csv files are run as formulas.", given=target.name)
    require_flag("header", header)
    if not header and ending not in DELIMITED:
        raise OptionError("Only .csv files can be without the names of the columns.", given=target.name)
    if ending in DELIMITED:
        _refuse_parts(data)
    between = _separator(separator, decimal, target.name, ending)
    require_flag("codebook", codebook)
    require_flag("keep_unused", keep_unused)
    tell = Progress.of(progress)
    tell("writing", 0, 2)
    how = _Written(values == "labels", keep_unused, decimal == ",", escape_formulas, between, header, tell)
    with _file_errors(ending, target):
        in_order = merged(entry.effects for entry in data.log).reorders_rows
        with engine_work(data.frame, target.resolve().parent, in_order=in_order), ExitStack() as files:
            # All are written before any takes its place, the data file last.
            if partition_by is not None:
                made = files.enter_context(atomic_folder(target))
                codes: Mapping[str, MissingCodes] = {}
                notes = write_folder(
                    data, made, partition_by, texts=how.texts, keep_unused=keep_unused, progress=tell
                )
            else:
                made = files.enter_context(atomic_write(target, ending))
                notes, codes = _write(data, made, ending, how)
            for kind, text in (_codebook(data, target, ending, how, codes) if codebook else {}).items():
                files.enter_context(atomic_write(beside(target)[kind])).write_text(text, encoding="utf-8")
            require_unchanged([data])
    for told in notes:
        warn(told, SdcWarning, stacklevel=2)
    if told := before_release(data):
        warn(told, ReleaseWarning, stacklevel=2)
    return target


@contextmanager
def _file_errors(ending: str, target: Path) -> Iterator[None]:
    """The errors of all writers, which have no class in common, as ours."""
    try:
        yield
    except (SdcError, MemoryError):
        raise
    except PermissionError:
        raise FileError(f"The file cannot be written: {SHUT}.", given=target) from None
    except (Exception, pl.exceptions.PanicException) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if is_full(error):
            raise FileError(
                "The file cannot be written: there is no room left on the disk.", given=target, hint=reason
            ) from error
        raise FileError(f"The {ending} file cannot be written.", given=target, hint=reason) from error


def keep_original(data: Microdata, target: Path, *, overwrite: bool) -> None:
    """Refuse to replace the file that was read: it may be the only copy of the original."""
    if not data.reading.is_file(target):
        return
    if data.engine != "polars":
        raise FileError(
            "The data are still read from this file or its folder, so nothing can be written there.",
            given=target,
            hint="Choose another name, or load the data first: data.collect().",
            plan_hint="Choose another name.",
        )
    if not overwrite:
        raise FileError(
            "The data were read from this file, so it is not replaced.",
            given=target,
            hint="Choose another name, or pass overwrite=True: the original is gone then.",
        )


@dataclass(frozen=True, slots=True)
class _Written:
    """How values are written."""

    texts: bool
    keep_unused: bool
    decimal_comma: bool
    escape_formulas: bool
    separator: str
    header: bool
    progress: Progress


def _refuse_parts(data: Microdata) -> None:
    """Refuse, for a text file, columns whose values have parts or are no text."""
    kinds = {n: k for n, k in frames.schema(data.frame).items() if k.is_nested() or k == nw.Binary}
    if kinds:
        raise ColumnError(
            "A .csv file cannot hold lists, structs or binary values.",
            given=join_names(f"{name}, {kind}" for name, kind in kinds.items()),
            hint="Write a .parquet file, or drop the column.",
        )


def _separator(given: Any, decimal: str, name: str, ending: str) -> str:
    """What stands between the values of a .csv: what was asked for, else what does not stand in numbers."""
    if given is None:
        return ";" if decimal == "," else ","
    if given not in SEPARATORS:
        raise OptionError(
            "separator is what stands between values.", given=preview(given), allowed="',', ';', '|' or a tab"
        )
    if ending not in DELIMITED:
        raise OptionError("Only .csv files have a separator.", given=name)
    if given == decimal:
        raise OptionError("A comma cannot stand in numbers and between them.", hint="Choose ';' or a tab.")
    return str(given)


def _codebook(
    data: Microdata, path: Path, ending: str, how: _Written, codes: Mapping[str, MissingCodes]
) -> dict[str, str]:
    coded = ending in USER_MISSING
    book = described(data, path, texts=how.texts, coded=coded, keep_unused=how.keep_unused, codes=codes)
    return written_as(book)


def _write(
    data: Microdata, path: Path, ending: str, how: _Written
) -> tuple[list[str], Mapping[str, MissingCodes]]:
    """Write one file and read it back; what the user should know of it, and the codes of missing values."""
    labels = data.labels.without_values(tuple(data.labels.values)) if how.texts else data.labels
    named = data.labels if how.texts else Labels()
    notes: list[str] = []
    codes: Mapping[str, MissingCodes] = {}
    if ending not in STREAMED and ending != ".xlsx":
        frame = with_texts(data.collect().frame, named)
        kept, lost = codes_in_place(data) if ending in USER_MISSING else ({}, {})
        codes = fitting_codes(kept, frame, ending)
        write_statistical(frame, labels, path, ending, keep_unused=how.keep_unused, codes=codes)
        homeless = [name for name in kept if name not in codes]
        notes = _lost_codes(lost | dict.fromkeys(homeless, f"a {ending} file has no place for them"))
        records = frame.height
    else:
        if not how.keep_unused:
            labels = only_used_labels(data.frame, labels)
        records, notes = _write_parts(data, labels, path, ending, how)
    fix_date(path, ending)
    flush(path)
    how.progress(f"reading back {records:,} records", 1, 2)
    check_whole(path, ending, (records, len(data.columns)), separator=how.separator, header=how.header)
    return notes, codes


def _write_parts(
    data: Microdata, labels: Labels, path: Path, ending: str, how: _Written
) -> tuple[int, list[str]]:
    """Write records in memory, or batch by batch; their number, and what the user should know."""
    whole = data.engine == "polars" or ending == ".xlsx"
    days = only_dates(data.frame) if ending in DELIMITED else []
    source = [data.collect().frame] if whole else batches(data.frame, path.parent)
    with Counted(source, how.progress) as parts:
        written = (with_texts(part, data.labels if how.texts else Labels()) for part in parts)
        if not how.keep_unused:
            written = (only_used_categories(part) for part in written)
        notes: list[str] = []
        if ending in DELIMITED:
            dated = (part.with_columns(pl.col(days).cast(pl.Date)) for part in written)
            checked = Formulas(dated, escape=how.escape_formulas)
            marks: Any = {"separator": how.separator, "decimal_comma": how.decimal_comma}
            write_delimited(checked, path, header=how.header, **marks)
            notes = _formulas(checked.columns)
        elif ending == ".parquet":
            write_parquet(written, labels, path)
        else:
            write_excel(next(written), labels, path)
        return parts.records, notes


def _lost_codes(lost: Mapping[str, str]) -> list[str]:
    """What became of codes that tell why values are missing, where they are not in the file."""
    if not lost:
        return []
    reasons = {why: [name for name in lost if lost[name] == why] for why in dict.fromkeys(lost.values())}
    parts = [f"{join_names(names)} ({why})" for why, names in reasons.items()]
    return [f"Codes that tell why values are missing are written as plain missing in {'; '.join(parts)}."]


def _formulas(names: list[str]) -> list[str]:
    if not names:
        return []
    return [
        f"Texts in {join_names(names)} begin as formulas do (=, +, -, @), and a spreadsheet that opens the "
        "file would run them. escape_formulas=True puts an apostrophe before each."
    ]
