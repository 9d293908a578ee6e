"""Rounding of numbers to multiples of a base."""

from enum import StrEnum
from typing import Annotated

import numpy as np
from pydantic import Field

from sdckit._support.arrays import Floats
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.methods.options import NUMERIC, Option
from sdckit.methods.recoding import SameCall
from sdckit.methods.registry import protection
from sdckit.methods.where import Where
from sdckit.protect._households import once_per_household
from sdckit.protect._numbers import NumbersToChange, matrix_of, number_columns, with_numbers

CLOSE = 1e-9  # a quotient this near to a whole number, relatively, is that number


class Rounding(StrEnum):
    """Which multiple of the base is taken."""

    NEAREST = "nearest"
    DOWN = "down"
    RANDOM = "random"


@protection(
    "Rounding",
    family="Coarser values",
    reference="Hundepool et al. (2012), ch. 3 and 5",
    draws_when={"method": Rounding.RANDOM},
)
@once_per_household
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
    x = matrix_of(data, names)
    if method is Rounding.RANDOM:
        effects = Effects(randomises=tuple(names))
    else:
        same = SameCall("round_values", "variables", {"base": base, "method": method.value})
        # by another base, whether a column stays one of whole numbers depends on all its values
        alone = float(base).is_integer()
        effects = Effects(recodes=dict.fromkeys(names, (same,)), record_by_record=alone)
    return with_numbers(data, names, x, rounded(x, base, method, rng), effects=effects)


def rounded(x: Floats, base: float, method: Rounding, rng: np.random.Generator) -> Floats:
    """Multiples of the base; nan stays nan."""
    quotient = x / base
    # 0.3 / 0.1 is a little below 3 in floating point, and 0.15 / 0.1 a little below 1.5
    halves = np.round(2 * quotient) / 2
    quotient = np.where(
        np.abs(quotient - halves) <= CLOSE * np.maximum(np.abs(quotient), 1), halves, quotient
    )
    if method is Rounding.NEAREST:
        times = np.floor(quotient + 0.5)
    elif method is Rounding.DOWN:
        times = np.floor(quotient)
    else:
        times = np.floor(quotient)
        times += rng.random(x.shape) < quotient - times
    parts = np.round(1 / base)
    # multiples of 0.1 are exact as tenths
    exact = parts > 1 and abs(parts * base - 1) < CLOSE
    return np.asarray(times / parts if exact else times * base)
