"""Global recoding of a number into intervals."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Annotated

import polars as pl
from pydantic import Field

from sdckit.engine import frames, tables
from sdckit.engine.recode import intervals
from sdckit.errors import ColumnError, OptionError
from sdckit.microdata import Microdata
from sdckit.registry import Column, protection


@protection("Recode a number into intervals", engines="all", reference="Hundepool et al. (2012), ch. 3")
def recode(
    data: Microdata,
    *,
    variable: Column,
    breaks: Annotated[list[float], Field(min_length=1)] | None = None,
    width: Annotated[float, Field(gt=0)] | None = None,
    labels: list[str] | None = None,
) -> Microdata:
    """Replace a number by the interval it lies in.

    `breaks` are cut points, [18, 65] gives "<18", "18–64" and "65+"; `width=5` cuts at every multiple of
    five. Intervals contain their lower end. `labels` names them, lowest first. A recoded number is a
    category: a variable in the numeric role becomes a key. Missing stays missing; no value is lost.
    Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"age": [3, 18, 64, 65, None]}), keys="age")
    >>> sdc.protect.recode(data, variable="age", breaks=[18, 65]).frame["age"].to_list()
    ['<18', '18–64', '18–64', '65+', None]
    """
    if (breaks is None) == (width is None):
        raise OptionError("recode needs either breaks or width.", given="both" if breaks else "neither")
    kind = frames.schema(data.frame)[variable]
    if not kind.is_numeric():
        raise ColumnError(
            f"recode needs numbers; {variable!r} does not hold numbers.",
            given=str(kind),
            hint="To merge categories, use group.",
        )
    moments = tables.moments(data.table, [variable], None)
    low, high = moments.min[variable], moments.max[variable]
    if low is None or high is None:
        return data.with_frame(data.frame, variable=variable, categories=0)
    cuts = sorted(set(breaks)) if breaks is not None else multiples(low, high, width or 1.0)
    names = labels or interval_names(cuts, whole=kind.is_integer(), open_ends=breaks is not None)
    expected = len(cuts) + 1 if breaks is not None else len(cuts) - 1
    if len(names) != expected or len(set(names)) != len(names):
        raise OptionError("labels must name every interval once.", given=len(names), allowed=expected)
    ends = cuts if breaks is not None else cuts[1:-1]
    outer = [min([low, *ends]) - 1, *ends, max([high, *ends]) + 1]
    table = intervals(data.table, variable, outer, names, right=False)
    frame = table.to_native()
    if data.engine == "polars":
        frame = frames.gather(table).with_columns(pl.col(variable).cast(pl.Enum(names)))
    roles = data.roles
    if variable in roles.numeric:
        keys = (*roles.keys, variable)
        roles = replace(roles, numeric=tuple(c for c in roles.numeric if c != variable), keys=keys)
    ready = replace(data, roles=roles, labels=data.labels.without_values((variable,)))
    return ready.with_frame(frame, variable=variable, categories=len(names))


def multiples(low: float, high: float, width: float) -> list[float]:
    """Cut points at multiples of `width` that cover low to high."""
    first, last = math.floor(low / width), math.floor(high / width) + 1
    if last - first > 10_000:
        raise OptionError("width gives too many intervals.", given=last - first, allowed="10,000 at most")
    return [i * width for i in range(first, last + 1)]


def interval_names(cuts: Sequence[float], *, whole: bool, open_ends: bool) -> list[str]:
    """Names like "20–24" for whole numbers and "[0.5, 1)" for others, with open ends where asked."""
    integer = whole and all(float(c).is_integer() for c in cuts)

    def between(a: float, b: float) -> str:
        if not integer:
            return f"[{a:g}, {b:g})"
        return f"{a:.0f}–{b - 1:.0f}" if b - a > 1 else f"{a:.0f}"

    inner = [between(a, b) for a, b in pairwise(cuts)]
    if not open_ends:
        return inner
    return [f"<{cuts[0]:g}", *inner, f"{cuts[-1]:g}+" if integer else f"≥{cuts[-1]:g}"]
