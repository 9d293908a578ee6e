"""New numbers in columns of a table on any engine, counted and typed as in memory."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.engine.tables import OURS, Table


def new_name(place: int) -> str:
    """The column with the new numbers of the variable at this place."""
    return f"{OURS}new_{place}"


def with_new_numbers(
    data: Microdata,
    names: Sequence[str],
    table: Table,
    *,
    effects: Effects | None = None,
    whole: bool = True,
    **did: Any,
) -> Microdata:
    """The file with the columns `new_name(0)`, … of the table in place of the variables, as `with_numbers`.

    One pass counts what changed and whether columns of whole numbers stay so.
    """
    schema = frames.schema(data.frame)
    wanted, any_changed = [], []
    for j, name in enumerate(names):
        new, old = nw.col(new_name(j)), nw.col(name).cast(nw.Float64)
        changed = (~old.is_null()) & (new.is_null() | (new != old))
        any_changed.append(changed)
        wanted.append(changed.cast(nw.Int64).sum().alias(f"changed_{j}"))
        wanted.append((new != new.floor()).cast(nw.Int64).sum().alias(f"broken_{j}"))
        wanted += [new.min().alias(f"low_{j}"), new.max().alias(f"high_{j}")]
    touched = nw.any_horizontal(*any_changed, ignore_nulls=True)
    counts = table.select(*wanted, touched.cast(nw.Int64).sum().alias("touched"))
    row = frames.gather(counts).row(0, named=True)
    columns = []
    for j, name in enumerate(names):
        kind, new = schema[name], nw.col(new_name(j))
        stays = whole and kind.is_integer() and not row[f"broken_{j}"]
        if stays and _fits(kind, row[f"low_{j}"], row[f"high_{j}"]):
            new = new.cast(kind)
        columns.append(new.alias(name))
    done = table.with_columns(*columns).select(*data.columns)
    return data.with_frame(
        native_of(data, done),
        effects=effects,
        changed=tuple(names),
        values_changed=sum(int(row[f"changed_{j}"] or 0) for j in range(len(names))),
        records_touched=int(row["touched"] or 0),
        **did,
    )


def native_of(data: Microdata, table: Table) -> Any:
    """The table as these data keep theirs."""
    return frames.gather(table) if data.engine == "polars" else table.to_native()


def _fits(kind: nw.dtypes.DType, low: float | None, high: float | None) -> bool:
    """Whether numbers from low to high can be of an integer type."""
    name = type(kind).__name__
    bits = int(name.lstrip("UInt")) - (not name.startswith("U"))
    least = 0.0 if name.startswith("U") else -(2.0**bits)
    return low is None or high is None or (least <= low and high < 2.0**bits)
