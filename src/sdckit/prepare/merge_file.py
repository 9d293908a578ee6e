"""Columns from another file, such as that of the households."""

from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import BeforeValidator, WithJsonSchema

from sdckit._support.messages import join_names
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.errors import ColumnError, DataError
from sdckit.methods.file_option import as_microdata
from sdckit.methods.options import Column, Option
from sdckit.methods.preparing import Prepared
from sdckit.methods.registry import preparation

# A path, which is read when the step is carried out, or in Python any table.
FileToMerge = Annotated[
    Any,
    BeforeValidator(lambda given: str(given) if isinstance(given, str | Path) else as_microdata(given)),
    WithJsonSchema({"type": "string", "format": "file", "description": "a file, in Python also a table"}),
]


@preparation("Merge a household file", family="Columns")
def merge_file(
    data: Microdata,
    *,
    file: Annotated[FileToMerge, Option("File", "The file with one record for each household.", basic=True)],
    by: Annotated[Column, Option("By", "The number of the household, in both files.", basic=True)],
    variables: Annotated[
        list[str], Option("Variables", "The columns to take from that file.", absent="all of them")
    ] = [],  # noqa: B006 (never changed; a column of the other file is no column of these data)
) -> Prepared:
    """Add to every person the columns of the household's record in another file, by the household's number.

    Many persons have one household: the number must be there once in the household file, and every person's
    number must be in it. Households without persons are left out. Labels come along; a column that both files
    have is refused. Records keep their order and number.

    >>> import polars as pl, sdckit as sdc
    >>> persons = sdc.read(pl.DataFrame({"hid": [1, 1, 2], "age": [40, 7, 65]}))
    >>> homes = pl.DataFrame({"hid": [1, 2, 3], "region": ["N", "S", "S"]})
    >>> sdc.prepare.merge_file(persons, file=homes, by="hid").frame["region"].to_list()
    ['N', 'N', 'S']
    """
    other = as_microdata(file).collect()
    other.require(by)
    for name in variables:
        other.require(name)
    wanted = [c for c in dict.fromkeys(variables or other.columns) if c != by]
    _require_new(data, wanted)
    _require_match(data.frame[by], other.frame[by])
    right = other.frame.select(by, *wanted)
    frame = data.frame.join(right, on=by, how="left", maintain_order="left")
    labels = Labels(
        {**data.labels.variables, **{c: t for c, t in other.labels.variables.items() if c in wanted}},
        {**data.labels.values, **{c: t for c, t in other.labels.values.items() if c in wanted}},
    )
    figures = {"columns_added": wanted, "households": data.frame[by].n_unique()}
    return Prepared(frame, figures, labels=labels)


def _require_new(data: Microdata, wanted: list[str]) -> None:
    both = [c for c in wanted if c in data.columns]
    if both or not wanted:
        raise ColumnError(
            "Both files have these columns." if both else "The file has no further column.",
            given=join_names(both) or None,
            hint="Name those to take in the option variables." if both else "",
        )


def _require_match(persons: pl.Series, homes: pl.Series) -> None:
    """Refuse numbers of another type, numbers that are there twice, and persons without a household."""
    if persons.dtype != homes.dtype:
        raise ColumnError(
            f"{persons.name!r} is of another type in the two files.",
            given=f"{persons.dtype} and {homes.dtype}",
            hint="Give both the same type: set_type.",
        )
    repeated = homes.drop_nulls().is_duplicated().sum()
    if repeated:
        raise DataError(
            f"Values of {homes.name!r} are repeated in the household file: which record is meant is not "
            "known.",
            given=f"{repeated:,} records",
            allowed="one record for each household",
        )
    absent = int((~persons.is_in(homes.drop_nulls().to_list())).fill_null(value=True).sum())
    if absent:
        raise DataError(
            f"Persons have no household in the other file: their {persons.name!r} is missing or not there.",
            given=f"{absent:,} of {len(persons):,} persons",
            allowed="a household for every person",
            hint="Leave them out before: keep_records.",
        )
