"""Global recoding of a number into intervals, or of a date into years, quarters, months or ages."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import narwhals as nw
import polars as pl
from pydantic import BeforeValidator, Field

from sdckit.data.microdata import Microdata
from sdckit.data.values import instead_of_numbers
from sdckit.engine import frames, tables
from sdckit.engine.dates import is_date
from sdckit.engine.recode import intervals
from sdckit.errors import ColumnError, OptionError
from sdckit.methods.options import Column, OneOf, Option, Requires
from sdckit.methods.recoding import Intervals
from sdckit.methods.registry import protection
from sdckit.protect._categories import recoded
from sdckit.protect._dates import DatePart, iso_text, to_part

MAX_INTERVALS = 10_000  # more are a slip of the pen
EXACT = 1e15  # every floating-point number far above this is whole, and none is a count


@protection(
    "Recode a number or a date",
    family="Coarser values",
    engines="all",
    reference="Hundepool et al. (2012), ch. 3",
    rules=(
        OneOf(("breaks", "width", "groups", "to"), required=True),
        OneOf(("breaks", "log")),
        OneOf(("to", "log")),
        OneOf(("to", "labels")),
        Requires("at", "to", (DatePart.AGE,)),
    ),
)
def recode(
    data: Microdata,
    *,
    variable: Annotated[Column, Option("Variable", "The number or the date to recode.")],
    breaks: Annotated[
        list[float],
        Field(min_length=1),
        Option("Cut points", "Where intervals begin; the outer ones are open.", basic=True, absent="none"),
    ]
    | None = None,
    width: Annotated[
        float,
        Field(gt=0),
        Option(
            "Width", "Width of the intervals; with log the factor between them.", basic=True, absent="none"
        ),
    ]
    | None = None,
    groups: Annotated[
        int,
        Field(ge=2, le=MAX_INTERVALS),
        Option(
            "Number of intervals", "Intervals with about as many records each.", basic=True, absent="none"
        ),
    ]
    | None = None,
    log: Annotated[
        bool, Option("Logarithmic", "Cut evenly on the logarithmic scale, for skewed amounts.")
    ] = False,
    labels: Annotated[
        list[str], Option("Names", "Names of the intervals, lowest first.", absent="made from the limits")
    ]
    | None = None,
    to: Annotated[
        DatePart,
        Option(
            "Dates become",
            "What a date becomes.",
            basic=True,
            absent="intervals of numbers",
            choices={
                "year": "the year, as a number",
                "quarter": "year and quarter, 2001-Q3",
                "month": "year and month, 2001-07",
                "age": "completed years on the day `at`",
            },
        ),
    ]
    | None = None,
    at: Annotated[
        str,
        BeforeValidator(iso_text),
        Option(
            "Age on", "The day on which dates become ages, 2026-01-01, or a column of dates.", absent="none"
        ),
    ]
    | None = None,
) -> Microdata:
    """Replace a number by the interval it lies in, or a date by its year, quarter or month, or by an age.

    - `breaks` are cut points, [18, 65] gives "<18", "18–64" and "65+".
    - `width=5` cuts at every multiple of five.
    - `groups=5` cuts at the quintiles, for about as many records in each of five intervals (quantiles are
      linear between order statistics). Many equal values may leave fewer intervals.
    - `log=True` cuts evenly on the logarithmic scale, for skewed amounts: with `width=10` at powers of ten,
      each interval ten times as wide as the one before; with `groups=5` into five intervals, roughly even
      between the smallest positive number and the largest, with cuts of one digit, such as 300, so that they
      do not tell these. Zero and negative numbers are one interval, "≤0".

    Intervals contain their lower end. Where all numbers are whole, however they are stored, so are the names:
    "20–24"; otherwise "[0.5, 1)". `labels` names them, lowest first. The log has the names and the breaks, of
    which the first and the last are outer ends where these are not open; 0 ends "≤0".

    - `to="year"`, `"quarter"` or `"month"`, for dates: 2001 (a number, which can be recoded further),
      "2001-Q3", "2001-07", in the order of time. Times of day go.
    - `to="age"`, for dates of birth: the completed years on the day `at`, given as "2026-01-01" or as the
      name of another column of dates, such as that of the interview. The age takes the place of the date. A
      date after this day is an error. Who was born on 29 February has the birthday on 1 March where there is
      no such day.

    A recoded number is a category: a variable in the numeric role loses this role (the log says so) and
    becomes no key by itself; whoever thinks that intruders know the interval gives it the role, before or
    after. Keys and sensitive columns stay what they are. Missing stays missing; no value is lost. Weights are
    not used.
    Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"age": [3, 18, 64, 65, None]}), keys="age")
    >>> sdc.protect.recode(data, variable="age", breaks=[18, 65]).frame["age"].to_list()
    ['<18', '18–64', '18–64', '65+', None]
    >>> sdc.protect.recode(data, variable="age", groups=2).frame["age"].to_list()
    ['<41', '<41', '41+', '41+', None]
    >>> from datetime import date
    >>> born = sdc.read(pl.DataFrame({"birth": [date(2001, 7, 31), date(1999, 1, 1), None]}), keys="birth")
    >>> sdc.protect.recode(born, variable="birth", to="quarter").frame["birth"].to_list()
    ['2001-Q3', '1999-Q1', None]
    >>> sdc.protect.recode(born, variable="birth", to="age", at="2026-07-30").frame["birth"].to_list()
    [24, 27, None]
    """
    if to is not None:
        return to_part(data, variable, to, at)
    if log and width is not None and width <= 1:
        raise OptionError(
            "log goes with a width above 1, the factor from one cut to the next, or with groups.",
            given=f"width={width:g}",
        )
    kind = frames.schema(data.frame)[variable]
    if not kind.is_numeric():
        raise ColumnError(
            f"recode needs numbers; {variable!r} does not hold numbers.",
            given=instead_of_numbers(data.frame, variable, kind),
            hint="To make dates coarser, say to: year, quarter, month or age."
            if is_date(kind)
            else "To merge categories, use group.",
        )
    moments = tables.moments(data.table, [variable], None)
    low, high = moments.min[variable], moments.max[variable]
    if low is None or high is None:
        return data.with_frame(data.frame, variable=variable, categories=0)
    whole = kind.is_integer() or _only_whole(data, variable, low, high)
    if breaks is not None:
        cut = Cut.at(sorted(set(breaks)), whole=whole)
    elif log:
        cut = logarithmic(data, variable, width, groups, whole=whole, nonpositive=low <= 0)
    elif groups is not None:
        cut = equal_counts(data, variable, groups, low, high, whole=whole)
    else:
        cut = Cut.within(multiples(low, high, width or 1.0), whole=whole)
    names = labels or cut.names
    if len(names) != len(cut.names) or len(set(names)) != len(names):
        raise OptionError("labels must name every interval once.", given=len(names), allowed=len(cut.names))
    outer = [min([low, *cut.cuts]) - 1, *cut.cuts, max([high, *cut.cuts]) + 1]
    table = intervals(data.table, variable, outer, names, right=False)
    frame = table.to_native()
    if data.engine == "polars":
        frame = frames.gather(table).with_columns(pl.col(variable).cast(pl.Enum(names)))
    did = {"variable": variable, "categories": len(names), "values_changed": moments.n[variable]}
    same = Intervals(tuple(float(c) for c in cut.breaks), tuple(names), width, log)
    did |= {"breaks": list(same.breaks), "labels": list(same.labels)}
    alone = breaks is not None and (labels is not None or kind.is_integer())
    return recoded(data, frame, {variable: same}, record_by_record=alone, **did)


def _only_whole(data: Microdata, variable: str, low: float, high: float) -> bool:
    """Whether all numbers are whole, however they are stored: Stata's and R's ages are doubles."""
    if max(abs(low), abs(high)) > EXACT:
        return False
    broken = (nw.col(variable).cast(nw.Float64) % 1 != 0).any().alias("broken")
    return not frames.gather(data.table.select(broken))["broken"][0]


@dataclass(frozen=True, slots=True)
class Cut:
    """Inner cut points in ascending order, the names of the intervals, one more, and the breaks to log.

    The breaks are the cut points and the outer ends that are not open. A first break of 0 on the logarithmic
    scale ends the interval of zero and negative numbers.
    """

    cuts: Sequence[float]
    names: Sequence[str]
    breaks: Sequence[float]

    @classmethod
    def at(cls, cuts: Sequence[float], *, whole: bool) -> "Cut":
        """Cut points with open intervals at both ends."""
        return cls(cuts, interval_names(cuts, whole=whole, open_ends=True), cuts)

    @classmethod
    def within(cls, ends: Sequence[float], *, whole: bool) -> "Cut":
        """Intervals that all have two ends."""
        finite = [min(end, sys.float_info.max) for end in ends]
        return cls(ends[1:-1], interval_names(ends, whole=whole, open_ends=False), finite)

    @classmethod
    def nowhere(cls, low: float, high: float, *, whole: bool) -> "Cut":
        """A single interval."""
        end = high + 1 if whole else min(math.nextafter(high, math.inf), sys.float_info.max)
        return cls([], [f"{low:g}–{high:g}" if high > low else f"{low:g}"], [low, end])


def multiples(low: float, high: float, width: float) -> list[float]:
    """Cut points at multiples of `width` that cover low to high."""
    _refuse_many(high / width - low / width)
    first, last = math.floor(low / width), math.floor(high / width) + 1
    return [i * width for i in range(first, last + 1)]


def equal_counts(data: Microdata, variable: str, groups: int, low: float, high: float, *, whole: bool) -> Cut:
    """Cut points at the quantiles i/groups, each once, none at the lowest value, where nothing lies below."""
    found = tables.quantiles(data.table, variable, [i / groups for i in range(1, groups)])
    # 7.000000000000001 is 7 with the error of the interpolation; rounded up it would be 8
    exact = [float(f"{q:.12g}") for q in found if q is not None]
    cuts = sorted({math.ceil(q) if whole else q for q in exact if q > low})
    if cuts:
        return Cut.at(cuts, whole=whole)
    return Cut.nowhere(low, high, whole=whole)


def logarithmic(
    data: Microdata,
    variable: str,
    factor: float | None,
    groups: int | None,
    *,
    whole: bool,
    nonpositive: bool,
) -> Cut:
    """Cut points at powers of the factor, or evenly on the log scale between the positive numbers' ends."""
    x = nw.col(variable)
    positive = tables.moments(data.table.filter(x > 0), [variable], None)
    low, high = positive.min[variable], positive.max[variable]
    if low is None or high is None:
        return Cut([], ["≤0"], [0.0])
    if groups is not None:
        ratio = min(high / low, sys.float_info.max)  # above the smallest numbers it may overflow
        steps = [low * ratio ** (i / groups) for i in range(1, groups)]
        inner = sorted({float(f"{c:.1g}") for c in steps})  # exact ones tell the ends they lie between
        inner = [c for c in inner if low < c <= high]
        cut = Cut.at(inner, whole=whole) if inner else Cut.nowhere(low, high, whole=whole)
    else:
        base = factor or 10.0
        first, last = _power(low, base), _power(high, base) + 1
        _refuse_many(last - first)
        powers = [_raised(base, i) for i in range(first, last + 1)]
        cut = Cut.within(powers, whole=whole)
    if nonpositive:
        return Cut([low, *cut.cuts], ["≤0", *cut.names], [0.0, *cut.breaks])
    return cut


def _power(x: float, base: float) -> int:
    """The largest i with baseⁱ ≤ x; logarithms alone are off by one at some powers."""
    guess = round(math.log(x, base))
    return guess if _raised(base, guess) <= x else guess - 1


def _raised(base: float, power: int) -> float:
    try:
        return base**power
    except OverflowError:
        return math.inf


def _refuse_many(found: float) -> None:
    if not found < MAX_INTERVALS:  # also where the numbers are too large to count
        raise OptionError("width gives too many intervals.", given=f"{found:.0f}", allowed="10,000 at most")


def interval_names(cuts: Sequence[float], *, whole: bool, open_ends: bool) -> list[str]:
    """Names like "20–24" for whole numbers and "[0.5, 1)" for others, with open ends where asked."""
    integer = whole and all(float(c).is_integer() for c in cuts)
    digits = next((d for d in range(6, 17) if len({f"{c:.{d}g}" for c in cuts}) == len(cuts)), 17)

    def text(c: float) -> str:
        return f"{c:.0f}" if integer else f"{c:.{digits}g}"

    def between(a: float, b: float) -> str:
        if not integer:
            return f"[{text(a)}, {text(b)})"
        return f"{a:.0f}–{b - 1:.0f}" if b - a > 1 else f"{a:.0f}"

    inner = [between(a, b) for a, b in pairwise(cuts)]
    if not open_ends:
        return inner
    return [f"<{text(cuts[0])}", *inner, f"{text(cuts[-1])}+" if integer else f"≥{text(cuts[-1])}"]
