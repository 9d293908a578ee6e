"""Columns whose values name records: a donor's value of such a column would be that of a person."""

from collections.abc import Collection, Mapping, Sequence

import narwhals as nw
import polars as pl

from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.data.naming import FEWEST
from sdckit.engine import frames
from sdckit.engine.tables import OURS, Table
from sdckit.errors import ColumnError, OptionError
from sdckit.models.column_codes import SEVERAL
from sdckit.protect._synthesis_facts import ColumnFacts
from sdckit.protect._synthesis_order import Scope

DIGITS = 6  # of whole numbers from which on they may number persons, and are no ages or years
COUNT = f"{OURS}count"
CONSECUTIVE = 2.0  # records number on where the range is at most so many times as long as there are values


def refuse_names(
    data: Microdata,
    scope: Scope,
    facts: Mapping[str, ColumnFacts],
    numbers: Collection[str],
    *,
    smooth: bool,
) -> None:
    """Refuse to draw columns that (nearly) name records, before anything is learned from them.

    Texts that fewer than five records share, in at least half of the records; categories of long whole
    numbers, and times to the second that are drawn as they are, of which at least half of the known values
    differ; and whole numbers without a role that number the records.
    """
    apart = {data.roles.cluster} if scope.full else set()  # clusters of a new file are numbered anew
    asked = [c for c in scope.targets if c not in apart]
    named = [c for c in asked if _names(data, facts[c], is_number=c in numbers, smooth=smooth)]
    if named:
        them = "it" if len(named) == 1 else "them"
        raise ColumnError(
            "synthesize does not draw columns whose values (nearly) name records: every value drawn would be "
            "that of a person.",
            given=join_names(named),
            allowed="columns whose values several records share, or numbers that lie between others",
            hint=f"Drop {them} first, give {them} the role direct or id, or recode {them} into categories.",
        )


def refuse_rare_spikes(
    facts: Mapping[str, ColumnFacts], spikes: Mapping[str, Sequence[float]], leaf: int
) -> None:
    """Refuse spikes that few records have: a spike is released as it is, the largest value of all, too."""
    fewest = max(leaf, SEVERAL)
    for name, values in spikes.items():
        counts = facts[name].counts_of(values) if name in facts else []
        if any(0 < count < fewest for count in counts):
            raise OptionError(
                f"Spikes of {name!r} are values that fewer than {fewest} records have: they would come out.",
                given=f"{sum(0 < c < fewest for c in counts):,} such values",
                allowed=f"values that at least {SEVERAL}, and at least `leaf`, records have, such as 0",
            )


def _names(data: Microdata, column: ColumnFacts, *, is_number: bool, smooth: bool) -> bool:
    drawn_as_it_is = not is_number or not smooth
    if column.kind in (pl.String, pl.Categorical, pl.Enum, pl.Binary):
        return column.named_by_values or _names_families(column)
    if isinstance(column.kind, pl.Datetime):
        return drawn_as_it_is and column.to_the_second and column.named_by_values
    if not column.kind.is_integer():
        return False
    if data.roles.of(column.name):
        return not is_number and _long(column) and column.named_by_values
    return _numbers_records(column)


def _names_families(column: ColumnFacts) -> bool:
    """Whether at least half of the records have a value that few others share."""
    return column.different >= FEWEST and 2 * column.shared_by_few >= column.known


def _long(column: ColumnFacts) -> bool:
    return column.known > 0 and column.smallest_size >= 10 ** (DIGITS - 1)


def _numbers_records(column: ColumnFacts) -> bool:
    """Whether whole numbers look like ids: all differ, and are long and of one length, or consecutive."""
    if not column.named_by_values or column.different < column.known:
        return False
    least, largest = int(column.least), int(column.largest)
    if least >= 0 and largest - least + 1 <= CONSECUTIVE * column.known:
        return True
    return _long(column) and len(str(least)) == len(str(largest))


def rare_texts(data: Microdata, targets: Sequence[str], made: Table, leaf: int) -> dict[str, int]:
    """By column of text how many released values fewer than `leaf` records of the original have."""
    kinds, found = frames.schema(data.frame), {}
    for name in targets:
        if not (kinds[name] in (nw.String, nw.Categorical) or isinstance(kinds[name], nw.Enum)):
            continue
        values = data.table.select(nw.col(name).cast(nw.String).alias(OURS)).filter(~nw.col(OURS).is_null())
        counts = values.group_by(OURS).agg(nw.len().cast(nw.Int64).alias(COUNT))
        rare = counts.filter(nw.col(COUNT) < leaf)
        drawn = made.select(nw.col(name).cast(nw.String).alias(OURS)).join(rare, on=OURS, how="inner")
        count = frames.height(drawn.to_native())
        if count:
            found[name] = count
    return found
