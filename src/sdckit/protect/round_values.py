"""Rounding of numbers to multiples of a base."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import floor
from typing import Annotated, Any

import narwhals as nw
import numpy as np
from pydantic import Field

from sdckit._support.arrays import Floats
from sdckit._support.number_text import count_of, number
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.engine.tables import OURS, Table
from sdckit.errors import OptionError
from sdckit.methods.options import NUMERIC, Option
from sdckit.methods.recoding import SameCall
from sdckit.methods.registry import protection
from sdckit.methods.where import Where
from sdckit.protect._draws import Draws
from sdckit.protect._engine_numbers import new_name, with_new_numbers
from sdckit.protect._households import once_per_household
from sdckit.protect._numbers import NumbersToChange, matrix_of, number_columns, with_numbers

CLOSE = 1e-9  # a quotient this near to a whole number, relatively, is that number


class Rounding(StrEnum):
    """Which multiple of the base is taken."""

    NEAREST = "nearest"
    DOWN = "down"
    RANDOM = "random"


def to_a_multiple(options: Mapping[str, Any]) -> bool:
    """Whether the same number becomes the same multiple wherever it stands."""
    return options.get("method") is not Rounding.RANDOM


@protection(
    "Rounding",
    family="Coarser values",
    engines="all",
    reference="Hundepool et al. (2012), ch. 3 and 5",
    draws_when={"method": Rounding.RANDOM},
)
@once_per_household(value_by_value=to_a_multiple)
def round_values(
    data: Microdata,
    *,
    variables: NumbersToChange = NUMERIC,
    base: Annotated[
        float, Field(gt=0), Option("Base", "Numbers become multiples of the base: 10 for tens.", basic=True)
    ] = 10.0,
    method: Annotated[
        Rounding,
        Option(
            "Rounding",
            "Which multiple of the base is taken.",
            choices={
                "nearest": "the nearest, halves upwards",
                "down": "the one below",
                "random": "the one below or above at random, unbiased",
            },
        ),
    ] = Rounding.NEAREST,
    where: Where | None = None,
    rng: np.random.Generator,
) -> Microdata:
    """Round numbers to multiples of `base`: 10 for tens, 0.5 for halves.

    - `nearest`: the nearest multiple, halves upwards. No value moves by more than base/2.
    - `down`: the multiple below (age in completed fives of years).
    - `random`: the multiple below or above, with a probability that makes the expectation the number itself:
      x = 13 and base = 10 gives 20 in three of ten cases, else 10. Means and totals stay in expectation; no
      value moves by a whole base. Multiples stay.

    Missing stays missing. Whole numbers stay whole if the base is. With `random`, a number that households
    share is rounded once per household. Weights are not used.
    `where`: protect only the records that a measure flags, see `sdckit.methods.where`.
    Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"income": [1234, 1250, 999, None]}), numeric="income")
    >>> sdc.protect.round_values(data, base=100).frame["income"].to_list()
    [1200, 1300, 1000, None]
    """
    names = number_columns(data, variables, "round_values")
    if method is Rounding.RANDOM:
        effects = Effects(randomises=tuple(names))
    else:
        same = SameCall("round_values", "variables", {"base": base, "method": method.value})
        # by another base, whether a column stays one of whole numbers depends on all its values
        alone = float(base).is_integer()
        effects = Effects(recodes=dict.fromkeys(names, (same,)), record_by_record=alone)
    draws = Draws(data, rng) if method is Rounding.RANDOM else None
    if data.engine != "polars":
        table = _with_rounded(data.table, names, base, method, draws)
        return with_new_numbers(data, names, table, effects=effects)
    x = matrix_of(data, names)
    u = None if draws is None else np.column_stack([draws.uniform(j) for j in range(len(names))])
    multiples = rounded(x, base, method, u)
    if data.roles.weight in names:
        at = names.index(data.roles.weight)
        _refuse_weights_of_zero(x[:, at], multiples[:, at], base, method)
    return with_numbers(data, names, x, multiples, effects=effects)


def _refuse_weights_of_zero(weights: Floats, multiples: Floats, base: float, method: Rounding) -> None:
    """A record whose weight became 0 would stand for nobody: say which base leaves none without."""
    lost = int((multiples <= 0).sum())
    if lost:
        most = float(weights.min()) * (2 if method is Rounding.NEAREST else 1)
        raise OptionError(
            f"Rounded to this base, {count_of(lost, 'weight', 'weights')} would be 0: "
            "a record without one stands for nobody.",
            given=f"base {number(base)}",
            allowed=f"a base of at most {number(floor(most) if most >= 1 else most)}",
        )


def rounded(x: Floats, base: float, method: Rounding, uniform: Floats | None = None) -> Floats:
    """Multiples of the base; nan stays nan. uniform: numbers in (0, 1) that decide with `random`."""
    quotient = x / base
    # 0.3 / 0.1 is a little below 3 in floating point, and 0.15 / 0.1 a little below 1.5
    double = 2 * quotient
    below = np.floor(double)
    halves = (below + (double - below >= 0.5)) / 2
    quotient = np.where(
        np.abs(quotient - halves) <= CLOSE * np.maximum(np.abs(quotient), 1), halves, quotient
    )
    if method is Rounding.NEAREST:
        times = np.floor(quotient + 0.5)
    else:
        times = np.floor(quotient)
        if uniform is not None:
            times += uniform < quotient - times
    parts = _parts(base)
    return np.asarray(times / parts if parts else times * base)


def _parts(base: float) -> float:
    """The number of bases in 1 where it is whole, because multiples of 0.1 are exact as tenths; else 0."""
    parts = float(np.round(1 / base))
    return parts if parts > 1 and abs(parts * base - 1) < CLOSE else 0.0


def _with_rounded(
    table: Table, names: Sequence[str], base: float, method: Rounding, draws: Draws | None
) -> Table:
    """The table with columns of rounded numbers, in the very steps of `rounded`: each is rounded alike."""
    q, below, halves, unit, u = (f"{OURS}{part}" for part in ("q", "below", "halves", "unit", "u"))
    one, half = nw.lit(1.0), nw.lit(0.5)
    for j, name in enumerate(names):
        # divided by a column, because some engines multiply by the inverse of a constant
        table = table.with_columns(nw.lit(base).alias(unit), nw.col(name).cast(nw.Float64).alias(q))
        table = table.with_columns((nw.col(q) / nw.col(unit)).alias(q))
        table = table.with_columns((nw.col(q) * 2.0).floor().cast(nw.Float64).alias(below))
        up = nw.when(nw.col(q) * 2.0 - nw.col(below) >= 0.5).then(one).otherwise(nw.lit(0.0))
        table = table.with_columns(((nw.col(below) + up) * 0.5).alias(halves))
        size = nw.when(nw.col(q).abs() > 1.0).then(nw.col(q).abs()).otherwise(one)
        near = (nw.col(q) - nw.col(halves)).abs() <= size * CLOSE
        table = table.with_columns(nw.when(near).then(nw.col(halves)).otherwise(nw.col(q)).alias(q))
        raised = nw.col(q) + half if method is Rounding.NEAREST else nw.col(q)
        table = table.with_columns(raised.floor().cast(nw.Float64).alias(below))
        if draws is not None:
            table = draws.with_uniform(table, j, u)
            more = nw.when(nw.col(u) < nw.col(q) - nw.col(below)).then(one).otherwise(nw.lit(0.0))
            table = table.with_columns((nw.col(below) + more).alias(below)).drop(u)
        parts = _parts(base)
        table = table.with_columns(nw.lit(parts or base).alias(unit))
        times = nw.col(below) / nw.col(unit) if parts else nw.col(below) * nw.col(unit)
        present = nw.when(~nw.col(name).is_null()).then(times)
        table = table.with_columns(present.alias(new_name(j))).drop(q, below, halves, unit)
    return table
