"""unmeasured: what stands in a protected file that no risk looks at, and that may name its records."""

import narwhals as nw

from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.engine import frames

DIFFERENT = 0.5  # as many different values as half of the records: the column (nearly) names them
FEWEST = 20  # different values at least: in a handful of records every column has few values in common
IDS = (Role.ID, Role.HOUSEHOLD)


def unmeasured(original: Microdata, protected: Microdata, *, same_people: bool = True) -> tuple[str, ...]:
    """Warnings, in words with the way out: columns of the protected file that may name its records.

    - Columns without a role that have at least half as many different values as there are records (free
      text, exact dates, record numbers): no measure of risk looks at them.
    - Ids that are those of the original, unless the records are not of the `same_people`: then equal numbers
      say nothing.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": ["f", "m"] * 20, "number": range(40)}), keys="sex")
    >>> unmeasured(data, data)[0].split(":")[0]
    'No risk looks at number'
    """
    ids = _same_ids(original, protected) if same_people else ""
    return tuple(text for text in (_without_role(protected), ids) if text)


def _without_role(data: Microdata) -> str:
    names = data.cached("different values", lambda: _different(data))
    if not names:
        return ""
    have, them = ("it has no role and", "it") if len(names) == 1 else ("they have no role and", "them")
    return (
        f"No risk looks at {join_names(names)}: {have} values that differ from record to record, and so may "
        f"name them. Drop {them}, declare {them} a direct identifier (direct=), or give {them} another role."
    )


def _different(data: Microdata) -> list[str]:
    """The columns without a role in which (nearly) all values differ."""
    kinds = frames.schema(data.frame)
    free = [c for c in data.columns if not data.roles.of(c) and not kinds[c].is_nested()]
    if not free:
        return []
    counts = frames.gather(data.table.select(*(nw.col(c).n_unique() for c in free))).row(0)
    enough = max(FEWEST, DIFFERENT * data.height)
    return [c for c, n in zip(free, counts, strict=True) if n >= enough]


def _same_ids(original: Microdata, protected: Microdata) -> str:
    if original.engine != "polars" or protected.engine != "polars":
        return ""
    names = dict.fromkeys(c for role in IDS for c in original.roles.columns(role))
    same = [c for c in names if c in protected.columns and _share_values(original, protected, c)]
    if not same:
        return ""
    return (
        f"The ids in {join_names(same)} are those of the original file: whoever has them there finds the "
        "records again. Make new_ids the last step of the file to release, or drop them."
    )


def _share_values(original: Microdata, protected: Microdata, column: str) -> bool:
    """Whether the protected file's values are all among the original's: those of new_ids hardly are."""
    first, second = original.frame[column], protected.frame[column].drop_nulls()
    return (
        first.dtype == second.dtype and len(second) > 0 and bool(second.is_in(first.unique().implode()).all())
    )
