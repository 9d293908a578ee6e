"""What a protection can do only with the records in memory."""

from collections.abc import Sequence
from typing import NamedTuple

import narwhals as nw

from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.engine.tables import OURS, Table
from sdckit.errors import EngineError

SOME = 100_000  # records that tell whether members of households differ


def require_memory(data: Microdata, what: str) -> None:
    """Refuse records outside memory for `what` is asked for."""
    if data.engine != "polars":
        raise EngineError(
            f"{what} needs the records in memory.",
            given=f"the {data.engine} engine",
            hint="data.collect() brings them there.",
            plan_hint="Without engine under data: in the plan they are read into memory.",
        )


def refuse_shared(data: Microdata, variables: tuple[str, ...]) -> None:
    """Refuse, outside memory, variables that members of households share: each household is one case."""
    home = data.roles.household
    names = [c for c in dict.fromkeys(variables) if c != home]
    if home is None or not names:
        return
    shared = shared_columns(data, names)
    if shared:
        require_memory(
            data, f"To protect {join_names(shared)}, which members of households share, once per household"
        )


def shared_columns(data: Microdata, names: Sequence[str]) -> list[str]:
    """The columns in which all present values agree within every household, some of which have several.

    Most are not shared, and then some records tell so: all households are looked at only if they do not.
    """
    home = data.roles.household or ""
    open_names = [c for c, one in _agreement(data.table.head(SOME), home, names).items() if not one.differ]
    found = _agreement(data.table, home, open_names) if open_names else {}
    return [c for c, one in found.items() if not one.differ and one.several]


class _Agreement(NamedTuple):
    """In how many households present values of a variable differ, and how many have several of them."""

    differ: int
    several: int


def _agreement(table: Table, home: str, names: Sequence[str]) -> dict[str, _Agreement]:
    ends = []
    for i, name in enumerate(names):
        x = nw.col(name)
        ends += [x.min().alias(f"{OURS}a{i}"), x.max().alias(f"{OURS}z{i}"), x.count().alias(f"{OURS}n{i}")]
    homes = table.filter(~nw.col(home).is_null()).group_by(home).agg(*ends)
    wanted = []
    for i in range(len(names)):
        low, high, count = (nw.col(f"{OURS}{end}{i}") for end in "azn")
        wanted.append((low != high).cast(nw.Int64).sum().alias(f"differ_{i}"))
        wanted.append((count > 1).cast(nw.Int64).sum().alias(f"several_{i}"))
    row = frames.gather(homes.select(*wanted)).row(0, named=True)
    return {
        name: _Agreement(int(row[f"differ_{i}"] or 0), int(row[f"several_{i}"] or 0))
        for i, name in enumerate(names)
    }
