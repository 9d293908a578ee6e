"""Several files that are one table: folders, patterns such as data/*.parquet, partitioned folders."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from sdckit._support.messages import join_names
from sdckit.errors import FileError
from sdckit.io.delimited import Layout, layout_of
from sdckit.io.folder_notes import NO_VALUE, FolderNotes
from sdckit.io.formats import DELIMITED, STREAMED, ending_of, readable
from sdckit.io.parquet import schema_of
from sdckit.io.table_options import FOUND_OUT, TableOptions
from sdckit.io.united import united

WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")
PATTERN = re.compile(r"[*?\[]")
LAKES = {"_delta_log": "delta", "metadata": "iceberg"}


@dataclass(frozen=True, slots=True)
class Dataset:
    """The files of one table, all of one kind and with the same columns.

    base: the folder from which on names of folders are values of columns. types: the type of each column of
    the files that all their values fit. differing: columns that have other types in some files.
    partitions: columns that stand in names of folders, with their types. untyped: columns that have no type
    in a file, for it has no value of them.
    """

    base: Path
    files: tuple[Path, ...]
    types: Mapping[str, pl.DataType] = field(default_factory=dict)
    differing: tuple[str, ...] = ()
    partitions: Mapping[str, pl.DataType] = field(default_factory=dict)
    layout: Layout | None = None
    untyped: Mapping[Path, frozenset[str]] = field(default_factory=dict)

    def values(self, file: Path) -> dict[str, str | None]:
        """What the names of its folders say of all records of a file."""
        return {name: value for name, value, _ in _folders(self.base, file)}

    def raw_names(self) -> dict[str, str]:
        """The columns in names of folders, and how these write them."""
        parts = self.files[0].relative_to(self.base).parent.parts
        return {unquote(raw): raw for raw in (part.partition("=")[0] for part in parts if "=" in part)}

    def raw_values(self) -> Iterator[tuple[str, str | None, str]]:
        """Each column in names of folders with its values, and these as the names have them."""
        for file in self.files:
            yield from _folders(self.base, file)


def is_dataset(path: Path) -> bool:
    """Whether a path means several files: a folder, or a pattern where no file has that very name."""
    return path.is_dir() or (not path.exists() and PATTERN.search(str(path)) is not None)


def lake_of(path: Path) -> str:
    """The kind of table whose files cannot be read one by one, delta or iceberg; empty for any other."""
    if not path.is_dir():
        return ""
    return next((kind for name, kind in LAKES.items() if _is_lake(path / name, kind)), "")


def _is_lake(folder: Path, kind: str) -> bool:
    return folder.is_dir() and (kind == "delta" or any(folder.glob("*.metadata.json")))


def find_dataset(path: Path, options: TableOptions = FOUND_OUT) -> Dataset:
    """The files that a folder or a pattern means, compared with each other before any is read."""
    base, files = _files(path)
    for file in files:
        readable(file)
    ending = ".csv" if ending_of(files[0]) in DELIMITED else ".parquet"
    options.require_for(ending, f"several {ending} files")
    partitions = _partitions(base, files)
    if ending == ".csv":
        if partitions:
            raise FileError(
                "Folders named after values of a column are read with .parquet files in them.",
                given=path,
            )
        return Dataset(base, files, layout=_same_layout(files, options))
    schemas = {file: _schema(file) for file in files}
    types, differing = _compared(schemas, base)
    twice = [name for name in partitions if name.lower() in {column.lower() for column in types}]
    if twice:
        raise FileError(
            f"Column {twice[0]!r} stands in the files and in the names of their folders.",
            given=path,
            hint="Rename the folders, or leave the column out of the files.",
        )
    untyped = {
        file: frozenset(name for name in differing if schema[name] == pl.Null)
        for file, schema in schemas.items()
    }
    return Dataset(base, files, types, differing, partitions, untyped=untyped)


def _schema(file: Path) -> pl.Schema:
    """Columns and types of one file of several; a broken one is named."""
    try:
        return schema_of(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise FileError(
            "A file of the table cannot be read.", given=file, hint=f"It may be broken ({reason})."
        ) from error


def header_of_dataset(path: Path, options: TableOptions = FOUND_OUT) -> tuple[str, ...]:
    """The names of the columns, from the first file and the names of folders."""
    base, files = _files(path)
    if ending_of(files[0]) in DELIMITED:
        return layout_of(files[0], options).columns
    return (*_schema(files[0]), *_partitions(base, files))


def files_of(path: Path) -> tuple[Path, ...]:
    """The files that a folder or a pattern means, not looked into."""
    return _files(path)[1]


def _files(path: Path) -> tuple[Path, tuple[Path, ...]]:
    """The folder where a pattern begins, and the files below it in the order of their names."""
    if path.is_dir():
        base, found = path.resolve(), _inside(path.resolve())
    else:
        parts = path.absolute().parts
        first = next(i for i, part in enumerate(parts) if PATTERN.search(part))
        base = Path(*parts[:first])
        named = list(base.glob(str(Path(*parts[first:]))))
        found = [file for one in named for file in (_inside(one) if one.is_dir() else [one])]
        found = [file for file in found if not _hidden(file.relative_to(base))]
        if not found:
            raise FileError("No file has a name of this pattern.", given=path)
    files = tuple(sorted({file for file in found if ending_of(file) in STREAMED}))
    if not files:
        raise FileError(
            "There is no file in this folder that can be read.", given=path, allowed=join_names(STREAMED)
        )
    kinds = {ending_of(file) in DELIMITED for file in files}
    if len(kinds) > 1:
        raise FileError(
            "There are text files and .parquet files in this folder.",
            given=path,
            hint="Say which, for instance folder/*.parquet.",
        )
    return base, files


def _inside(folder: Path) -> list[Path]:
    """All files of a folder and its folders, but for what programs hide in them."""
    if (folder / "_temporary").exists():
        raise FileError("The folder is being written by Spark, or was not finished.", given=folder)
    found = [f for f in folder.rglob("*") if not _hidden(f.relative_to(folder))]
    lost = [f for f in found if f.is_symlink() and not f.is_file()]
    if lost:
        raise FileError(
            "A link in the folder leads to another folder or nowhere, so that records would be left out.",
            given=lost[0],
            hint="Mend or remove it, or say which files by a pattern, for instance folder/*/*.parquet.",
        )
    return [f for f in found if f.is_file()]


def _hidden(path: Path) -> bool:
    """Names with _ or . before them are notes of programs: _SUCCESS, ._SUCCESS.crc."""
    return any(part.startswith((".", "_")) and "=" not in part for part in path.parts)


def _folders(base: Path, file: Path) -> Iterator[tuple[str, str | None, str]]:
    for part in file.relative_to(base).parent.parts:
        name, equals, value = part.partition("=")
        if equals:
            yield unquote(name), None if value == NO_VALUE else unquote(value), value


def _partitions(base: Path, files: Sequence[Path]) -> dict[str, pl.DataType]:
    """The columns in names of folders: of the types that sdckit wrote down, else whole numbers or texts."""
    found: dict[str, set[str | None]] = {}
    names: set[tuple[str, ...]] = set()
    for file in files:
        of_file = list(_folders(base, file))
        names.add(tuple(name for name, _, _ in of_file))
        for name, value, _ in of_file:
            found.setdefault(name, set()).add(value)
    if len(names) > 1:
        raise FileError(
            "Names of folders must have the same columns for all files.",
            given=" and ".join("/".join(one) or "none" for one in sorted(names)[:2]),
        )
    above = {part.partition("=")[0] for part in base.parts if "=" in part} & set(found)
    if above or len(found) != len(next(iter(names))):
        raise FileError("A column is named twice in the folders above a file.", given=files[0])
    stated = FolderNotes.read(base).partitions
    return {name: stated.get(name, _guessed(values)) for name, values in found.items()}


def _guessed(values: set[str | None]) -> pl.DataType:
    known = [value for value in values if value is not None]
    whole = bool(known) and all(WHOLE.fullmatch(value) for value in known)
    return pl.Int64() if whole else pl.String()


def _same_layout(files: Sequence[Path], options: TableOptions) -> Layout:
    first = layout_of(files[0], options)
    for file in files[1:]:
        other = layout_of(file, options)
        if other.columns != first.columns:
            _refuse_columns(files[0], first.columns, file, other.columns)
        if other != first:
            raise FileError(
                "Text files that are one table must have the same separator and encoding.",
                given=f"{files[0].name}: {first.separator!r}, {first.encoding}; "
                f"{file.name}: {other.separator!r}, {other.encoding}",
            )
    return first


def _compared(
    schemas: Mapping[Path, Mapping[str, pl.DataType]], base: Path
) -> tuple[dict[str, pl.DataType], tuple[str, ...]]:
    """The types that all values of all files fit, and the columns whose types are not all the same."""
    (first, expected), *others = schemas.items()
    types, differing = dict(expected), dict[str, None]()
    for file, schema in others:
        if set(schema) != set(expected):
            _refuse_columns(_from(base, first), expected, _from(base, file), schema)
        for name, kind in schema.items():
            if kind == types[name]:
                continue
            both = united(types[name], kind)
            if both is None:
                raise FileError(
                    f"Column {name!r} has different types in the files of one table.",
                    given=f"{expected[name]} in {_from(base, first)}, {kind} in {_from(base, file)}",
                    hint="Write it with one type: values of one would be changed to fit the other.",
                )
            types[name] = both
            differing[name] = None
    return types, tuple(differing)


def _from(base: Path, file: Path) -> Path:
    return file.relative_to(base)


def _refuse_columns(
    first: Path,
    expected: Sequence[str] | Mapping[str, object],
    file: Path,
    found: Sequence[str] | Mapping[str, object],
) -> None:
    absent = [name for name in expected if name not in found]
    extra = [name for name in found if name not in expected]
    told = [f"without {join_names(absent)}"] * bool(absent) + [f"with {join_names(extra)}"] * bool(extra)
    raise FileError(
        "The files of one table must have the same columns.",
        given=f"{file} differs from {first}: {' and '.join(told) or 'another order'}",
    )
