"""Interval disclosure: does the original lie near the protected value?"""

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Bools, Floats
from sdckit._support.messages import join_names
from sdckit._support.number_text import count_of, number
from sdckit.data.common_columns import lost_columns
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import match_numbers
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.methods.options import NUMERIC, NumericColumns, Option, Requires
from sdckit.methods.registry import risk
from sdckit.methods.spec import Compares, records, share
from sdckit.risk._points import by_record
from sdckit.risk._synthetic import require_named
from sdckit.risk._uncertainty import wilson

_ROUNDING = 1e-12  # 1.1 − 1 is above 0.1 in binary: the ends are so much wider, so that they stay closed


class Method(StrEnum):
    """What the interval round a protected value is measured in.

    sd: standard deviations of the variable. rank: shares of the records in order. percent: the value itself.
    """

    SD = "sd"
    RANK = "rank"
    PERCENT = "percent"


class Spread(StrEnum):
    """Which file's standard deviation makes the width."""

    PROTECTED = "protected"
    ORIGINAL = "original"


@risk(
    "Originals inside an interval round the protected value",
    family="Numbers",
    bounds=(0, 1),
    unit="share of records",
    needs=Role.NUMERIC,
    compares=Compares.RECORDS,
    share=True,
    main="width",
    rules=(Requires("spread", "method", (Method.SD,)),),
    figures={
        "inside": records("Records with all numbers inside"),
        "any": share("Records with at least one number inside"),
        "low": share("At least (95 % interval)"),
        "high": share("At most (95 % interval)"),
    },
    chart=charts.PartsBars("inside", "share of originals inside", share=True, counts="share"),
    reference="Mateo-Sanz, Sebé & Domingo-Ferrer (2004); Domingo-Ferrer & Torra (2001)",
    interpretation=(
        "An intruder who has found a person's record takes the protected numbers for nearly true. 0: for no "
        "record are all numbers inside the interval. 0.2: for one record in five the intruder learns every "
        "number to within the width. Not informative after synthesis."
    ),
)
def interval_disclosure(
    original: Microdata,
    protected: Microdata,
    *,
    width: Annotated[
        float,
        Field(ge=0, allow_inf_nan=False),
        Option(
            "Width", "Half the interval round the protected value, in the unit that the method says.", True
        ),
    ] = 0.05,
    variables: NumericColumns = NUMERIC,
    method: Annotated[
        Method,
        Option(
            "Unit of the width",
            "What the width of the interval is measured in.",
            choices={
                "sd": "standard deviations of the variable",
                "rank": "shares of the records, up and down in order",
                "percent": "shares of the protected value itself",
            },
        ),
    ] = Method.SD,
    spread: Annotated[
        Spread,
        Option(
            "Standard deviation of",
            "The file whose standard deviation makes the width.",
            choices={"protected": "the protected file", "original": "the original"},
        ),
    ] = Spread.PROTECTED,
) -> Result:
    r"""Share of records whose original numbers all lie in an interval round the protected ones.

    .. math:: \frac1n\,\#\{i : y_{ij} - h_{ij} \le x_{ij} \le y_{ij} + h_{ij} \text{ for all } j\}

    The half-width h is, with w = `width`: `sd`, w standard deviations (n−1) of the protected variable (or of
    the original, `spread`); `percent`, w·|y|, so 0.05 is 5 percent of the protected value; with `rank` the
    interval reaches from the protected value w·n records down to w·n records up in the protected file in
    order, equal values being one place. Ends belong to the interval. 0: no record is disclosed. 1: all are.

    figures: any (share of records with at least one original inside), inside (number of records), low and
    high (95 % interval of Wilson: what chance in the protection leaves open). parts, per variable: inside,
    the share of its originals; originals, their number. tables: records, with the number of variables
    compared and inside.

    Weights: not used. Missing: n counts the records with a number in the original; those without have nothing
    to disclose, and a note says how many. A variable missing in either file is not asked for that record; a
    record whose numbers were all suppressed is in n and not disclosed. Records meet by id or position.
    Reference: Mateo-Sanz, Sebé & Domingo-Ferrer (2004). Same as sdcMicro's dRisk for `sd`.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [10.0, 20.0, 30.0, 40.0]}), numeric="x")
    >>> other = data.with_frame(pl.DataFrame({"x": [10.0, 21.0, 33.0, 50.0]}))
    >>> sdc.risk.interval_disclosure(data, other, width=0.1, method="percent").value
    0.75
    """
    require_named([protected], variables)
    lost = lost_columns(original, protected, variables, numeric=True)
    numeric, x, y, notes = match_numbers(original, protected, variables)
    if np.isnan(x).all():
        return Result(math.nan, notes=(*notes, "No number is present in both files."), lost=lost)
    asked = ~(np.isnan(x) | np.isnan(y))
    inside = np.column_stack([_inside(a, b, width, method, spread) for a, b in zip(x.T, y.T, strict=True)])
    inside &= asked
    compared, hits = asked.sum(axis=1), inside.sum(axis=1)
    disclosed = (hits == compared) & (compared > 0)
    present = ~np.isnan(x)
    n, originals = int(present.any(axis=1).sum()), present.sum(axis=0)
    notes += _missing_notes(original.height - n, int(((compared < len(numeric)) & present.any(axis=1)).sum()))
    if method is Method.SD:
        notes += _widths(numeric, [width * _sd(c) for c in (y if spread == "protected" else x).T])
    alone = [float(h / m) if m else None for h, m in zip(inside.sum(axis=0), originals, strict=True)]
    value = float(disclosed.sum() / n)
    low, high = wilson(value, n)
    return Result(
        value,
        {"any": float((hits > 0).sum() / n), "inside": int(disclosed.sum()), "low": low, "high": high},
        pl.DataFrame(
            {"variable": numeric, "inside": alone, "originals": originals},
            schema_overrides={"inside": pl.Float64},
        ),
        notes,
        {
            "records": by_record(
                original, pl.DataFrame({"compared": compared, "inside": hits, "disclosed": disclosed})
            )
        },
        lost=lost,
    )


def _missing_notes(without: int, incomplete: int) -> tuple[str, ...]:
    """What missing numbers mean for the share."""
    notes: tuple[str, ...] = ()
    if without:
        notes += (
            f"{count_of(without, 'record has', 'records have')} no number in the original: nothing "
            "to disclose, "
            "not counted.",
        )
    if incomplete:
        notes += (
            f"{count_of(incomplete, 'record lacks', 'records lack')} some number in a file: only "
            "those in both "
            "were asked.",
        )
    return notes


def _widths(names: Sequence[str], halves: Sequence[float]) -> tuple[str, ...]:
    """The interval in the unit of each variable, which its standard deviation does not tell a reader."""
    widths = [f"{name} ± {number(half)}" for name, half in zip(names, halves, strict=True)]
    return (f"The interval is {join_names(widths)}.",)


def _inside(x: Floats, y: Floats, width: float, method: Method, spread: Spread) -> Bools:
    """Which originals of one variable lie in the interval; False where one of the two is missing."""
    with np.errstate(invalid="ignore", over="ignore"):
        slack = _ROUNDING * np.maximum(np.abs(x), np.abs(y))
        if method is Method.RANK:
            low, high = _rank_window(y, width)
        else:
            half = width * (np.abs(y) if method is Method.PERCENT else _sd(y if spread == "protected" else x))
            low, high = y - half, y + half
        return np.asarray((low - slack <= x) & (x <= high + slack))


def _sd(values: Floats) -> float:
    """The standard deviation of the values present, n−1; 0 for one value. Divided first: squares overflow."""
    present = values[~np.isnan(values)]
    if len(present) < 2:
        return 0.0
    largest = float(np.abs(present).max())
    scale = 2.0 ** min(math.frexp(largest)[1], 1023) if largest > 1e100 else 1.0
    return float(np.std(present / scale, ddof=1)) * scale


def _rank_window(y: Floats, width: float) -> tuple[Floats, Floats]:
    """For each value, the protected values so many records below and above it."""
    order = np.sort(y[~np.isnan(y)])
    if len(order) == 0:
        return y, y
    steps = math.floor(min(width, 1.0) * len(order) + 1e-9)
    first, last = (np.searchsorted(order, y, side=side) for side in ("left", "right"))
    low = order[np.clip(first - steps, 0, len(order) - 1)]
    return low, order[np.clip(last - 1 + steps, 0, len(order) - 1)]
