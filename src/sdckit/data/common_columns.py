"""Which variables an original and a protected file have in common."""

from collections.abc import Sequence

import narwhals as nw
import polars as pl

from sdckit.data.microdata import Microdata
from sdckit.engine import frames, tables
from sdckit.errors import OptionError

MANY = 20  # values; codes with more of them are mostly labelled or text


def role_variables(original: Microdata, *others: Microdata) -> tuple[str, ...]:
    """The keys, numeric and sensitive columns in all files; without such roles, all columns."""
    roles = original.roles
    named = dict.fromkeys((*roles.keys, *roles.numeric, *roles.sensitive)) or original.columns
    left_out = (roles.id, roles.weight, roles.household, *roles.direct)
    return tuple(c for c in named if c not in left_out and all(c in other.columns for other in others))


def categorical_variables(original: Microdata, protected: Microdata) -> tuple[str, ...]:
    """The keys and the sensitive columns that are not in the numeric role, in both files."""
    roles = original.roles
    named = dict.fromkeys((*roles.keys, *(c for c in roles.sensitive if c not in roles.numeric)))
    return tuple(c for c in named if c in protected.columns)


def common_numeric(
    original: Microdata, protected: Microdata, variables: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables that are numbers in both files, and a note on the others."""
    first, second = frames.schema(original.frame), frames.schema(protected.frame)
    good = tuple(
        c for c in variables if first[c].is_numeric() and c in protected.columns and second[c].is_numeric()
    )
    lost = [c for c in variables if c not in good]
    return good, (f"Not numeric in both files, left out: {', '.join(lost)}.",) if lost else ()


def is_continuous(column: pl.Series, data: Microdata) -> bool:
    """Whether a key or sensitive column of the original is a number, as age is, and no code, as sex is.

    Most values of a code have labels, or they are few; more than MANY without are taken for a number.
    """
    if not column.dtype.is_numeric():
        return False
    different = column.drop_nulls().n_unique()
    return different > MANY and not data.labels.name_most(column.name, different)


def is_amount(data: Microdata, column: str) -> bool:
    """Whether the differences of a column count: it is in the numeric role, or has fractions and is no key.

    The type alone does not tell: pandas stores the codes 1 to 5 as floating-point numbers where one is
    missing, and a spreadsheet has whole incomes as whole numbers.
    """
    if column in data.roles.numeric or column in data.roles.keys:
        return column in data.roles.numeric
    return column in data.cached("fractions", lambda: _fractions(data))


def _fractions(data: Microdata) -> frozenset[str]:
    """The columns without these roles that have numbers that are not whole, as an infinite one is not.

    All are asked at once: on an engine every question is a pass over the file.
    """
    roles = data.roles
    wanted: dict[str, nw.Expr] = {}
    for column, kind in frames.schema(data.frame).items():
        if kind.is_numeric() and not kind.is_integer() and column not in (*roles.numeric, *roles.keys):
            values = nw.col(column).cast(nw.Float64)
            odd = ((values != values.floor()) | ~values.is_finite()).fill_null(value=False)
            wanted[column] = odd.any().alias(f"{tables.OURS}{len(wanted)}")
    if not wanted:
        return frozenset()
    row = frames.gather(data.table.select(*wanted.values())).row(0)
    return frozenset(column for column, found in zip(wanted, row, strict=True) if found)


def measured_variables(original: Microdata, protected: Microdata) -> tuple[str, ...]:
    """Of keys, numeric and sensitive columns in both files, in memory, those that are numbers or dates."""
    return tuple(
        c
        for c in role_variables(original, protected)
        if c in original.roles.numeric
        or original.frame.schema[c].is_temporal()
        or is_continuous(original.frame[c], original)
    )


def lost_columns(
    original: Microdata, protected: Microdata, variables: Sequence[str], *, numeric: bool = False
) -> tuple[str, ...]:
    """The variables that the protected file no longer has or, where they must be, no longer as numbers.

    A measure that leaves them out says nothing of what was lost with them: see `lost` of a Result.
    """
    first, second = frames.schema(original.frame), frames.schema(protected.frame)
    usable = [c for c in dict.fromkeys(variables) if not numeric or first[c].is_numeric()]
    return tuple(c for c in usable if c not in second or (numeric and not second[c].is_numeric()))


def as_list(protected: Microdata | Sequence[Microdata], measure: str) -> list[Microdata]:
    """One protected file or several synthetic ones, always as a list."""
    sets = [protected] if isinstance(protected, Microdata) else list(protected)
    if not sets:
        raise OptionError(f"{measure} needs at least one protected file.", given="an empty list")
    return sets
