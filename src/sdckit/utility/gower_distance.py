"""Gower distance between a record and its counterpart in the protected file."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import polars as pl

from sdckit import charts
from sdckit._support.messages import require_known
from sdckit.data.common_columns import is_amount, lost_columns, role_variables
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import PROTECTED, match_records
from sdckit.data.result import Result
from sdckit.data.values import as_text
from sdckit.engine import frames, tables
from sdckit.methods.options import ComparedColumns
from sdckit.methods.registry import utility
from sdckit.methods.spec import Compares
from sdckit.utility._new_categories import new_categories
from sdckit.utility._ordinal import Ordinal, ranks
from sdckit.utility.records_changed import differs


@utility(
    "Gower distance to the original",
    family="Whole distributions",
    bounds=(0, 1),
    unit="mean distance of a value from its original, 0 to 1",
    compares=Compares.RECORDS,
    engines="all",
    reference="Gower (1971)",
    main="variables",
    chart=charts.PartsBars("distance", "mean distance from the original, 0 to 1", counts="share"),
    interpretation=(
        "0: no value changed. 1: every value is as far from its original as the data allow. Numbers are "
        "measured in their range, so one outlier makes all other changes small. Not informative after "
        "swapping or synthesis."
    ),
)
def gower_distance(
    original: Microdata,
    protected: Microdata,
    *,
    variables: ComparedColumns = (),
    ordinal: Ordinal = (),
) -> Result:
    r"""Mean Gower distance between records and their counterparts, for variables of any scale.

    .. math:: \frac{1}{pn}\sum_j\sum_i d_j(x_{ij}, y_{ij})

    Numeric: d = |x−y|/range, the range of both files together, so that d stays within 0 and 1. Nominal: 0 if
    equal, else 1. Ordinal: difference of ranks over (levels − 1). Numeric are columns in the numeric role and
    columns with fractions that are not keys; ordinal are Enum columns and those in `ordinal`, a list of
    columns whose values sort in their order, or a mapping from a column to its levels in order; all others
    are nominal. `variables`: keys, numeric and sensitive columns by default.

    Weights: records count with the original's weight. Missing: 0 if missing in both files, 1 if in one.
    A variable recoded between numbers and text is nominal, and so 1 where present; a value outside the
    levels counts 1. Files are compared record by record. Reference: Gower (1971).
    Departures: Gower leaves out pairs with a missing value; a suppressed value counts as lost here.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"a": ["x", "y"], "v": [0.0, 10.0]}), keys="a", numeric="v")
    >>> other = data.with_frame(pl.DataFrame({"a": ["x", None], "v": [5.0, 10.0]}))
    >>> sdc.utility.gower_distance(data, other).parts.rows()
    [('a', 'nominal', 0.5), ('v', 'numeric', 0.25)]
    """
    chosen = tuple(variables) or role_variables(original, protected)
    lost = lost_columns(original, protected, variables or role_variables(original))
    if not chosen:
        return Result(math.nan, notes=("No variable to compare.",), lost=lost)
    require_known(ordinal, chosen, "ordinal names a variable that is not compared.")
    both = match_records(original, protected, chosen)
    types = frames.schema(original.frame), frames.schema(protected.frame)
    kinds = {c: _kind(c, original, types, ordinal) for c in chosen}
    notes = new_categories(original, protected, chosen)
    weight = original.roles.weight
    loss = _by_record(both, {c: k for c, k in kinds.items() if k != "ordinal"}, original, protected)
    for c in (c for c in chosen if kinds[c] == "ordinal"):
        table = tables.contingency(both, [c, c + PROTECTED], weight, drop_missing=False)
        loss[c] = _ordinal(table, c, ordinal[c] if isinstance(ordinal, Mapping) and c in ordinal else None)
    rows = [(c, kinds[c], loss[c]) for c in chosen]
    parts = pl.DataFrame(rows, schema=["variable", "kind", "distance"], orient="row")
    return Result(math.fsum(loss.values()) / len(chosen), {}, parts, notes, lost=lost)


def _kind(column: str, data: Microdata, types: tuple[Any, Any], ordinal: Any) -> str:
    first, second = (t[column] for t in types)
    if first.is_numeric() != second.is_numeric():
        return "nominal"
    if column in ordinal or isinstance(first, nw.Enum):
        return "ordinal"
    return "numeric" if is_amount(data, column) else "nominal"


def _by_record(
    both: nw.LazyFrame[Any], kinds: dict[str, str], original: Microdata, protected: Microdata
) -> dict[str, float]:
    """Weighted mean distance of the numeric and nominal variables, in one pass on the engine."""
    if not kinds:
        return {}
    types = frames.schema(original.frame), frames.schema(protected.frame)
    numeric = [c for c, kind in kinds.items() if kind == "numeric"]
    ranges = _half_ranges(original, protected, numeric)
    distances = []
    for i, (c, kind) in enumerate(kinds.items()):
        distance = differs(c, types).cast(nw.Float64)
        if kind == "numeric":
            x, y = (nw.col(name).cast(nw.Float64) / 2 for name in (c, c + PROTECTED))
            moved = (x - y).abs() / (ranges[c] or 1.0)
            distance = nw.when(x.is_null() | y.is_null()).then(distance).otherwise(moved)
        distances.append(distance.alias(f"{tables.OURS}{i}_"))
    weight = original.roles.weight
    w = nw.lit(1.0) if weight is None else nw.col(weight).cast(nw.Float64)
    staged = both.with_columns(*distances, w.alias(f"{tables.OURS}weight"))
    mass = nw.col(f"{tables.OURS}weight")
    sums = [(nw.col(f"{tables.OURS}{i}_") * mass).sum() for i in range(len(kinds))]
    row = frames.gather(staged.select(mass.sum(), *sums)).row(0)
    return {c: float(total) / float(row[0]) for c, total in zip(kinds, row[1:], strict=True)}


def _half_ranges(original: Microdata, protected: Microdata, numeric: Sequence[str]) -> dict[str, float]:
    """Half the range over both files, so that the widest range there can be does not overflow."""
    found = [tables.moments(data.table, numeric, None) for data in (original, protected)]
    ranges = {}
    for c in numeric:
        low = [m.min[c] for m in found if m.min[c] is not None]
        high = [m.max[c] for m in found if m.max[c] is not None]
        ranges[c] = max(high) / 2 - min(low) / 2 if low else 0.0  # type: ignore[type-var, operator]
    return ranges


def _ordinal(table: pl.DataFrame, column: str, given: Sequence[Any] | None) -> float:
    """Weighted mean distance of ranks, from the table of original by protected values."""
    x, y = table[column], table[column + PROTECTED]
    rank = ranks(x, y, given)
    total = 0.0
    for a, b, count in zip(x, y, table[tables.COUNT], strict=True):
        if a is None or b is None:
            total += count * (a is not b)
        else:
            far = abs(rank[as_text(a)] - rank.get(as_text(b), math.inf)) / max(len(rank) - 1, 1)
            total += count * min(far, 1.0)
    return total / float(table[tables.COUNT].sum())
