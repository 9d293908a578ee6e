"""Records whose value differs from the original."""

from typing import Any

import narwhals as nw
import polars as pl

from sdckit import charts
from sdckit.data.common_columns import lost_columns, role_variables
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import PROTECTED, match_records
from sdckit.data.result import Result
from sdckit.data.values import text_of
from sdckit.engine import frames
from sdckit.methods.options import Columns
from sdckit.methods.registry import utility
from sdckit.methods.spec import Compares
from sdckit.utility._new_categories import new_categories


@utility(
    "Records changed",
    bounds=(0, 1),
    unit="mean share of records",
    counts_values=True,
    compares=Compares.RECORDS,
    engines="all",
    reference="Templ, Statistical Disclosure Control for Microdata (2017), ch. 5",
    chart=charts.PartsBars("share", "share of records changed", share=True, counts="share"),
    interpretation=(
        "0: every value is the original one. 0.3: a variable differs from its original in three records of "
        "ten, averaged over variables. Says how many, not how far."
    ),
)
def records_changed(original: Microdata, protected: Microdata, *, variables: Columns = ()) -> Result:
    """Share of records whose value differs, per variable.

    A value differs when it is another one, or when it is missing in one file and present in the other. A
    recoded variable differs wherever it is present. The value is the mean share over the variables
    (keys, numeric and sensitive columns by default).

    Weights: not used, records are counted. Files are compared record by record.
    Reference: Templ (2017).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": ["f", "m", None, "m"]}), keys="sex")
    >>> other = data.with_frame(pl.DataFrame({"sex": ["f", "f", "m", None]}))
    >>> sdc.utility.records_changed(data, other).parts.row(0)
    ('sex', 3, 0.75)
    """
    chosen = tuple(variables) or role_variables(original, protected)
    lost = lost_columns(original, protected, variables or role_variables(original))
    if not chosen:
        return Result(float("nan"), notes=("No variable to compare.",), lost=lost)
    both = match_records(original, protected, chosen)
    types = frames.schema(original.frame), frames.schema(protected.frame)
    sums = [differs(c, types).cast(nw.Int64).sum().alias(f"|{i}") for i, c in enumerate(chosen)]
    counts = [int(v) for v in frames.gather(both.select(*sums)).row(0)]
    shares = [c / original.height for c in counts]
    notes = new_categories(original, protected, chosen)
    parts = pl.DataFrame({"variable": chosen, "changed": counts, "share": shares})
    return Result(sum(shares) / len(shares), {"values_changed": sum(counts)}, parts, notes, lost=lost)


def differs(column: str, types: tuple[Any, Any]) -> nw.Expr:
    """True where a value is another one, or missing on one side only."""
    x, y = nw.col(column), nw.col(column + PROTECTED)
    first, second = (t[column] for t in types)
    if first != second and not (first.is_numeric() and second.is_numeric()):
        x, y = text_of(column, first), text_of(column + PROTECTED, second)
    one_missing = (x.is_null() & ~y.is_null()) | (y.is_null() & ~x.is_null())
    return one_missing | (~x.is_null() & ~y.is_null() & (x != y))
