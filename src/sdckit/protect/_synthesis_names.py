"""Columns whose values name records: a donor's value of such a column would be that of a person."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools
from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.data.naming import FEWEST, names_most
from sdckit.errors import ColumnError, OptionError
from sdckit.models.column_codes import SEVERAL, ColumnCodes
from sdckit.protect._synthesis_draft import Draft
from sdckit.protect._synthesis_order import Scope

DIGITS = 6  # of whole numbers from which on they may number persons, and are no ages or years
FAMILY = 5  # records that share a text at least, so that it names neither a person nor a family
CONSECUTIVE = 2.0  # records number on where the range is at most so many times as long as there are values


def refuse_names(data: Microdata, scope: Scope, coding: Mapping[str, ColumnCodes], *, smooth: bool) -> None:
    """Refuse to draw columns that (nearly) name records, before anything is learned from them.

    Texts that fewer than five records share, in at least half of the records; categories of long whole
    numbers, and times to the second that are drawn as they are, of which at least half of the known values
    differ; and whole numbers without a role that number the records.
    """
    apart = {data.roles.cluster} if scope.full else set()  # clusters of a new file are numbered anew
    named = [c for c in scope.targets if c not in apart and _names(data, c, coding[c], smooth=smooth)]
    if named:
        them = "it" if len(named) == 1 else "them"
        raise ColumnError(
            "synthesize does not draw columns whose values (nearly) name records: every value drawn would be "
            "that of a person.",
            given=join_names(named),
            allowed="columns whose values several records share, or numbers that lie between others",
            hint=f"Drop {them} first, give {them} the role direct or id, or recode {them} into categories.",
        )


def refuse_rare_spikes(data: Microdata, spikes: Mapping[str, Sequence[float]], leaf: int) -> None:
    """Refuse spikes that few records have: a spike is released as it is, the largest value of all, too."""
    fewest = max(leaf, SEVERAL)
    for name, values in spikes.items():
        column = data.frame[name].to_physical() if name in data.columns else pl.Series([], dtype=pl.Float64)
        counts = [int((column == value).sum()) for value in values]
        if any(0 < count < fewest for count in counts):
            raise OptionError(
                f"Spikes of {name!r} are values that fewer than {fewest} records have: they would come out.",
                given=f"{sum(0 < c < fewest for c in counts):,} such values",
                allowed=f"values that at least {SEVERAL}, and at least `leaf`, records have, such as 0",
            )


def _names(data: Microdata, name: str, coding: ColumnCodes, *, smooth: bool) -> bool:
    column = data.frame[name]
    drawn_as_it_is = not coding.is_number or not smooth
    if column.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Binary):
        return names_most(column) or _names_families(column)
    if isinstance(column.dtype, pl.Datetime):
        return drawn_as_it_is and _to_the_second(column) and names_most(column)
    if not column.dtype.is_integer():
        return False
    if data.roles.of(name):
        return not coding.is_number and _long(column) and names_most(column)
    return _numbers_records(column)


def _names_families(column: pl.Series) -> bool:
    """Whether at least half of the records have a value that few others share."""
    known = column.drop_nulls()
    return known.n_unique() >= FEWEST and 2 * int(_few_share(known, FAMILY).sum()) >= len(known)


def _few_share(column: pl.Series, few: int) -> pl.Series:
    """Whether fewer than so many records have the value of a record."""
    return column.to_frame("value").select(pl.len().over("value") < few).to_series()


def _rare(column: pl.Series, few: int) -> Bools:
    """Which records have a known value that fewer than so many have."""
    return np.asarray((_few_share(column, few) & column.is_not_null()).to_numpy(), dtype=bool)


def _to_the_second(column: pl.Series) -> bool:
    """Whether times of day are known, and not to the minute only."""
    return bool((column.dt.truncate("1m") != column).any())


def _long(column: pl.Series) -> bool:
    known = column.drop_nulls().cast(pl.Float64).abs()
    return len(known) > 0 and float(known.min()) >= 10 ** (DIGITS - 1)  # type: ignore[arg-type]


def _numbers_records(column: pl.Series) -> bool:
    """Whether whole numbers look like ids: all differ, and are long and of one length, or consecutive."""
    known = column.drop_nulls()
    if not names_most(known) or known.n_unique() < len(known):
        return False
    least, largest = int(known.min()), int(known.max())  # type: ignore[arg-type]
    if least >= 0 and largest - least + 1 <= CONSECUTIVE * len(known):
        return True
    return _long(known) and len(str(least)) == len(str(largest))


def rare_texts(data: Microdata, targets: Sequence[str], draft: Draft, leaf: int) -> dict[str, int]:
    """By column of text how many drawn values fewer than `leaf` records of the original have."""
    found = {}
    for name in targets:
        column = data.frame[name]
        if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
            continue
        rare = data.column_fact(f"shared by fewer than {leaf}", name, lambda c: _rare(c, leaf))
        count = int(np.count_nonzero(rare.take(draft.donors[name])))
        if count:
            found[name] = count
    return found
