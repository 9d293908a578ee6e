"""Records whose value differs from the original."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import polars as pl

from sdckit import charts
from sdckit.data.common_columns import is_amount, lost_columns, role_variables
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import PROTECTED, match_records
from sdckit.data.result import Result
from sdckit.data.values import text_of
from sdckit.engine import frames
from sdckit.methods.options import ComparedColumns
from sdckit.methods.registry import utility
from sdckit.methods.spec import Better, Compares, Figure
from sdckit.utility._variables import category_notes, recoded_alike, require_named


@utility(
    "Records changed",
    family="Categories",
    bounds=(0, 1),
    unit="mean share of records",
    counts_values=True,
    compares=Compares.RECORDS,
    engines="all",
    reference="Templ, Statistical Disclosure Control for Microdata (2017), ch. 5",
    share=True,
    main="variables",
    figures={
        "values_changed": Figure("Values changed", "values", counts_records=True),
        "values_recoded": Figure("Values recoded", "values", Better.NEITHER, counts_records=True),
    },
    chart=charts.PartsBars("share", "share of records changed", share=True, counts="share"),
    interpretation=(
        "0: every value is the original one, or the category that it was recoded to. 0.3: a variable "
        "differs from its original in three records of ten, averaged over variables. Says how many, not how "
        "far."
    ),
)
def records_changed(original: Microdata, protected: Microdata, *, variables: ComparedColumns = ()) -> Result:
    """Share of records whose value differs, per variable.

    A value differs when it is another one, or when it is missing in one file and present in the other. The
    value is the mean share over the variables (keys, numeric and sensitive columns by default).

    A variable that the steps of the protected file recoded is compared in its new categories: 37 in the band
    30–39 is not changed, 37 in another band is. `values_recoded` counts the values that have another
    category, and `entropy_loss` measures what that loses. Numbers that stay numbers are compared as such: a
    rounded income is changed. Categories of a file from elsewhere, for which no step is known, count as
    changed under a new name, and a note says so.

    Weights: not used, records are counted. Files are compared record by record.
    Reference: Templ (2017).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": ["f", "m", None, "m"]}), keys="sex")
    >>> other = data.with_frame(pl.DataFrame({"sex": ["f", "f", "m", None]}))
    >>> sdc.utility.records_changed(data, other).parts.row(0)
    ('sex', 3, 0.75)
    """
    require_named(protected, variables)
    chosen = tuple(variables) or role_variables(original, protected)
    lost = lost_columns(original, protected, variables or role_variables(original))
    if not chosen:
        return Result(float("nan"), notes=("No variable to compare.",), lost=lost)
    alike, recoded = recoded_alike(original, protected, _categories(original, protected, chosen))
    counts = _counts(alike, protected, chosen)
    figures = {
        "values_changed": sum(counts),
        "values_recoded": sum(_counts(original, alike, recoded)) if recoded else 0,
    }
    shares = [c / original.height for c in counts]
    parts = pl.DataFrame({"variable": chosen, "changed": counts, "share": shares})
    notes = category_notes(original, protected, chosen, recoded)
    return Result(sum(shares) / len(shares), figures, parts, notes, lost=lost)


def _categories(original: Microdata, protected: Microdata, columns: Sequence[str]) -> list[str]:
    """The columns but those that are amounts in both files."""
    second = frames.schema(protected.frame)
    amounts = {c for c in columns if second[c].is_numeric() and is_amount(original, c)}
    return [c for c in columns if c not in amounts]


def _counts(original: Microdata, protected: Microdata, columns: Sequence[str]) -> list[int]:
    """How many records differ, per column."""
    both = match_records(original, protected, columns)
    if original is protected:
        return [0] * len(columns)
    types = frames.schema(original.frame), frames.schema(protected.frame)
    sums = [differs(c, types).cast(nw.Int64).sum().alias(f"|{i}") for i, c in enumerate(columns)]
    return [int(v) for v in frames.gather(both.select(*sums)).row(0)]


def differs(column: str, types: tuple[Any, Any]) -> nw.Expr:
    """True where a value is another one, or missing on one side only."""
    x, y = nw.col(column), nw.col(column + PROTECTED)
    first, second = (t[column] for t in types)
    if first != second and not (first.is_numeric() and second.is_numeric()):
        x, y = text_of(column, first), text_of(column + PROTECTED, second)
    one_missing = (x.is_null() & ~y.is_null()) | (y.is_null() & ~x.is_null())
    return one_missing | (~x.is_null() & ~y.is_null() & (x != y))
