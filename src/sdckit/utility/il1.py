"""IL1: relative change of the numbers, record by record."""

import math
from enum import StrEnum
from typing import Annotated

import polars as pl

from sdckit import charts
from sdckit._support.number_text import count_of
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.engine import tables
from sdckit.methods.options import NUMERIC, NumericColumns, Option
from sdckit.methods.registry import utility
from sdckit.methods.spec import Compares, Figure
from sdckit.utility._continuous import numeric_pair, record_sums


class Scale(StrEnum):
    """What a change is measured against: the original value itself, or the variable's standard deviation."""

    VALUE = "value"
    SD = "sd"


@utility(
    "Information loss IL1 (mean variation)",
    family="Numbers",
    unit="share of the original value, or standard deviations",
    needs=Role.NUMERIC,
    compares=Compares.RECORDS,
    engines="all",
    reference="Domingo-Ferrer & Torra (2001); Yancey, Winkler & Creecy (2002)",
    main="variables",
    figures={
        "complete_pairs": Figure("Only over values present in both files"),
        "percent_sum": Figure("Changes in percent, added over all values", "percent"),
    },
    chart=charts.PartsBars("il1", "mean change, share of the value (or standard deviations)"),
    interpretation=(
        "0: no number changed. 0.1: numbers moved by a tenth of themselves on average. Values close to 0 can "
        "make it very large: il1s or scale='sd' is steadier. After swapping it says how far values moved, "
        "and little of what analyses lose."
    ),
)
def il1(
    original: Microdata,
    protected: Microdata,
    *,
    variables: NumericColumns = NUMERIC,
    scale: Annotated[
        Scale,
        Option(
            "Relative to",
            "What a change is measured against.",
            choices={"value": "the original value", "sd": "the standard deviation of the variable"},
        ),
    ] = Scale.VALUE,
) -> Result:
    r"""Mean change of the numbers, relative to each original value.

    .. math:: IL1 = \frac{1}{pn} \sum_j \sum_i \frac{|x_{ij}-y_{ij}|}{|x_{ij}|}

    With `scale="sd"` the divisor is S_j, the standard deviation (n−1) of the original variable: √2 times
    IL1s, variable by variable. The figure `complete_pairs` divides by the pairs that could be compared
    instead of n·p (the mean variation), and `percent_sum` is sdcMicro's IL1: 100·ΣΣ|x−y|/|x|, not averaged.

    Weights: records count with their weight, Σw in place of n, and S_j is the weighted standard deviation.
    Missing values: a pair with a missing value adds nothing and stays in n·p. An original value of 0 cannot
    be divided by: its pair adds nothing and stays in n·p too, and a note counts them. With `scale="sd"` a
    variable without spread gives 0 when nothing changed and infinity when something did.
    Reference: Domingo-Ferrer & Torra (2001). Departures: the mean is ours, sdcMicro reports the sum.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 4.0]}), numeric="x")
    >>> other = data.with_frame(pl.DataFrame({"x": [1.0, 3.0, 3.0]}))
    >>> sdc.utility.il1(data, other).value  # (0 + 1/2 + 1/4) / 3
    0.25
    """
    pair = numeric_pair(original, protected, variables)
    if not pair.variables:
        return Result(math.nan, notes=pair.notes, lost=pair.lost)
    row = record_sums(original, protected, pair.variables)
    spread = dict.fromkeys(pair.variables, 1.0)
    if scale is Scale.SD:
        variance = tables.moments(pair.original[0], pair.variables, pair.original[1]).variance
        spread = {c: pair.scale[c] * math.sqrt(variance[c] or 0.0) for c in pair.variables}
    rows = []
    for i, c in enumerate(pair.variables):
        moved = row[f"moved{i}"] if scale is Scale.SD else row[f"share{i}"]
        used = row[f"pairs{i}"] if scale is Scale.SD else row[f"usable{i}"]
        total = (moved / spread[c] if spread[c] > 0 else math.inf) if moved > 0 else 0.0
        mean = total / used if used > 0 else None
        rows.append(
            (c, total / row["total"], mean, total, used, int(row[f"zero{i}"]), int(row[f"missing{i}"]))
        )
    names = ["variable", "il1", "complete_pairs", "sum", "used", "zero_originals", "missing_pairs"]
    parts = pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)
    notes = pair.notes + _notes(parts, scale)
    total, used = float(parts["sum"].sum()), float(parts["used"].sum())
    if used == 0:
        return Result(
            math.nan, {}, parts.drop("sum", "used"), (*notes, "No pair of values to compare."), lost=pair.lost
        )
    figures = {"complete_pairs": total / used}
    if scale is Scale.VALUE:
        figures["percent_sum"] = 100 * total
    value = total / float(row["total"]) / len(pair.variables)
    return Result(value, figures, parts.drop("sum", "used"), notes, lost=pair.lost)


def _notes(parts: pl.DataFrame, scale: Scale) -> tuple[str, ...]:
    notes = []
    missing, zero = int(parts["missing_pairs"].sum()), int(parts["zero_originals"].sum())
    if missing:
        notes.append(
            f"{count_of(missing, 'pair', 'pairs')} with a missing value: added as 0, and counted in n·p."
        )
    if zero and scale is Scale.VALUE:
        notes.append(
            f"{count_of(zero, 'original value is', 'original values are')} 0, by which nothing can "
            "be divided: added as 0."
        )
    flat = parts.filter(pl.col("il1").is_infinite())["variable"].to_list()
    if flat:
        notes.append(f"Changed although the original does not vary: {', '.join(flat)}.")
    return tuple(notes)
