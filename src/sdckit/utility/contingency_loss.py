"""CTBIL: contingency-table-based information loss."""

from itertools import combinations
from typing import Annotated

import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit.data.common_columns import lost_columns
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.methods.options import KEYS, Columns, MissingValues, Option
from sdckit.methods.registry import utility
from sdckit.methods.spec import Better, Figure
from sdckit.utility._variables import category_notes, recoded_alike, require_named
from sdckit.utility.contingency_tables import MissingCells, paired_tables


@utility(
    "Contingency-table information loss (CTBIL)",
    family="Categories",
    bounds=(0, 1),
    unit="share of the largest possible change",
    needs=Role.KEYS,
    engines="all",
    reference="Domingo-Ferrer & Torra (2001)",
    share=True,
    main="order",
    figures={
        "raw": Figure(
            "Changes added over all cells, weighted where there are weights",
            "records or people",
            counts_records=True,
        ),
        "tables": Figure("Tables compared", "tables", Better.NEITHER),
    },
    chart=charts.PartsBars("change", "change of all cells added up", counts="number"),
    interpretation=(
        "0: all tables up to this order are the same. 1: they share no record. 0.1: at least one record in "
        "ten, counted with its weight, is in another cell, averaged over the tables."
    ),
)
def contingency_loss(
    original: Microdata,
    protected: Microdata,
    *,
    variables: Annotated[
        Columns, Option("Variables", "The variables whose tables are compared.", basic=True)
    ] = KEYS,
    order: Annotated[
        int,
        Field(ge=1),
        Option("Largest table", "Tables of one up to this many variables are compared.", unit="variables"),
    ] = 2,
    missing: MissingCells = MissingValues.DROP,
) -> Result:
    r"""Change of the tables of one variable, of two and so on, added up.

    .. math:: CTBIL = \sum_{T}\sum_{c\in T} |T_x(c) - T_y(c)|

    over all subsets of 1…K variables. The value is normalised by what it would be if no table shared a
    record, 2·n·(number of tables) for files of n records; the figure `raw` is the sum itself.

    Weights: counts are sums of weights. Missing values: dropped from the tables they are in, or a category
    of their own. Recoded variables are compared in the categories of the protected file: merging categories
    moves no record, and `entropy_loss` measures what it loses. A variable that the protected file no longer
    has is left out and named in `lost`. Files may differ in length. Cost: one pass per table, Σ C(p, j)
    tables for j ≤ order.
    Reference: Domingo-Ferrer & Torra (2001).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}), keys=["a", "b"])
    >>> other = data.with_frame(pl.DataFrame({"a": [1, 1, 1, 2], "b": [1, 2, 1, 2]}))
    >>> result = sdc.utility.contingency_loss(data, other)
    >>> result.figures["raw"], round(result.value, 6)
    (4.0, 0.166667)
    """
    require_named(protected, variables)
    names = [c for c in variables if c in protected.columns]
    lost = lost_columns(original, protected, variables)
    wanted = [s for size in range(1, min(order, len(names)) + 1) for s in combinations(names, size)]
    if not wanted:
        return Result(float("nan"), notes=("No variable to compare.",), lost=lost)
    alike, recoded = recoded_alike(original, protected, names)
    rows = []
    for table, both in zip(wanted, paired_tables(alike, protected, wanted, missing), strict=True):
        change = float((both["original"] - both["protected"]).abs().sum())
        rows.append((" × ".join(table), len(table), change))
    parts = pl.DataFrame(rows, schema=["table", "order", "change"], orient="row")
    largest = len(wanted) * (original.weight_total() + protected.weight_total())
    raw = float(parts["change"].sum())
    notes = category_notes(original, protected, names, recoded)
    return Result(raw / largest, {"raw": raw, "tables": len(wanted)}, parts, notes, lost=lost)
