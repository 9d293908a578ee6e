"""Singling out: do descriptions that fit one synthetic record fit just one person of the original?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.data.common_columns import role_variables
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.methods.options import Columns, Option
from sdckit.risk._attacks import (
    REFERENCE,
    Attacked,
    Ground,
    HoldoutFile,
    MostAttacks,
    attack,
    attack_figures,
    attack_table,
    ground,
    pooled,
    spread_rows,
)
from sdckit.risk._points import distinct_order

EQUAL, AT_LEAST, AT_MOST = 0, 1, 2
TRIES = 10  # records looked at for one description that fits no other


@dataclass(frozen=True, slots=True)
class _Description:
    """Conditions on some variables: column, how to compare, and with what (nan: missing)."""

    conditions: tuple[tuple[int, int, float], ...]

    def fits(self, x: Floats) -> Bools:
        """Which records it is true of."""
        found = np.ones(len(x), dtype=np.bool_)
        for column, how, value in self.conditions:
            values = x[:, column]
            if math.isnan(value):
                found &= np.isnan(values)
            elif how == EQUAL:
                found &= values == value
            else:  # false where missing
                found &= values >= value if how == AT_LEAST else values <= value
        return found


@attack(
    "Singling out people by synthetic records",
    figures={**attack_figures("univariate"), **attack_figures("multivariate")},
    reference=f"{REFERENCE}; Cohen & Nissim (2020)",
    interpretation=(
        "An intruder describes a person by values that only one synthetic record has (“the one with this "
        "income”, “above 80, divorced, in the north”) and is right if the description fits exactly one "
        "person of the original. 0: this works no better than for a file of other people. 0.1: of the "
        "descriptions that fail there, one in ten works, because the synthesis repeats values or records it "
        "has seen. The intervals (low, high) say how sure this is."
    ),
)
def singling_out(
    original: Microdata,
    synthetic: Microdata | Sequence[Microdata],
    *,
    holdout: HoldoutFile,
    variables: Annotated[
        Columns,
        Option("Variables", "What people are described by.", absent="keys, numeric and sensitive columns"),
    ] = (),
    columns: Annotated[
        int, Field(ge=2), Option("Variables of a description", "In descriptions by several variables.")
    ] = 3,
    attacks: MostAttacks = 500,
) -> Result:
    r"""How many more descriptions of single synthetic records fit exactly one person of the original.

    .. math:: R = \frac{s - c}{1 - c}

    Univariate descriptions: a value that exactly one synthetic record has, being missing where just one is,
    and the largest and the smallest number or beyond. Multivariate ones: a random synthetic record and
    `columns` random variables, each equal to its category, or at least (above the median) or at most its
    number, where no other synthetic record fits. s is the share that fits exactly one record of the original,
    c of the `holdout`: people of the same population that were not given to the synthesis. Value: the larger
    R of the two kinds, not below 0.

    How often one record fits by chance depends on the size of a file, so that the larger of both is cut to
    the size of the smaller, evenly over its sorted records. Where that is the original, a part of those who
    could be singled out is cut off, too, and R is multiplied by original/hold-out records: best is a hold-out
    of the same size. For several synthetic sets, s and c are means.
    figures: for both kinds low and high (Wilson's 95 % intervals of s and c, combined as independent errors),
    attack (s), control (c), attacks, at most so many of each kind. parts: the same, a row per kind.

    Weights: not used. Missing: a condition on a number is not true of a missing one.
    Reference: Giomi et al. (2023), "A unified framework for quantifying privacy risk in synthetic data".
    Departures: sizes are made equal by cutting; shares are not shrunk to ½. Records and variables are drawn
    from a fixed seed.

    >>> import polars as pl, sdckit as sdc
    >>> data, others = (sdc.read(pl.DataFrame({"x": x}), numeric="x") for x in ([1, 2, 3, 4], [5, 6, 7, 8]))
    >>> result = sdc.risk.singling_out(data, data, holdout=others)
    >>> result.figures["univariate_attack"], round(result.figures["univariate_control"], 3)
    (1.0, 0.0)
    """
    field = ground(original, synthetic, holdout, variables or role_variables(original))
    if not field.space.variables:
        return Result(math.nan, notes=field.notes, lost=field.lost)
    notes = field.notes
    figures: dict[str, float] = {}
    risks = []
    tried: dict[str, Attacked] = {}
    many = min(columns, len(field.space.variables))
    for kind in ("univariate", "multivariate"):
        guesses = [
            _single(x, field.space.nominal, attacks)
            if kind == "univariate"
            else _several(x, field.space.nominal, many, attacks)
            for x in field.sets
        ]
        if kind == "multivariate" and many < 2:
            notes += ("One variable makes no descriptions by several.",)
        elif not all(guesses):
            notes += (f"No {kind} description fits one synthetic record alone: none could be tried.",)
            risks.append(0.0)
        else:
            found = pooled([_attacked(field, descriptions) for descriptions in guesses])
            tried[kind] = found
            figures |= found.figures(kind)
            risks.append(found.risk)
    known = [r for r in risks if not math.isnan(r)]
    parts = attack_table("kind", tried) if tried else None
    if not known:
        notes += ("Every description fits one other person, too: nothing is left to tell.",)
        return Result(math.nan, figures, parts, notes, lost=field.lost)
    return Result(min(max(*known, 0.0), 1.0), figures, parts, notes, lost=field.lost)


def _attacked(field: Ground, guesses: Sequence[_Description]) -> Attacked:
    """How many descriptions fit one record of the original, and one of the others, in files of one size."""
    size = min(len(field.original), len(field.holdout))
    rates = []
    for file in (field.original, field.holdout):
        people = file[spread_rows(file, size)]
        rates.append(float(np.mean([d.fits(people).sum() == 1 for d in guesses])))
    return Attacked(rates[0], len(guesses), rates[1], len(guesses), len(field.original) / size)


def _single(x: Floats, nominal: Bools, most: int) -> list[_Description]:
    """Descriptions by one variable, at most so many, spread evenly over all in their order."""
    found: list[tuple[int, int, float]] = []
    for j, category in enumerate(nominal):
        values, counts = np.unique(x[~np.isnan(x[:, j]), j], return_counts=True)
        found += [(j, EQUAL, float(v)) for v in values[counts == 1]]
        if np.isnan(x[:, j]).sum() == 1:
            found.append((j, EQUAL, math.nan))
        if not category and len(values):
            ends = ((AT_MOST, values[0], counts[0]), (AT_LEAST, values[-1], counts[-1]))
            found += [(j, how, float(v)) for how, v, count in ends if count == 1]
    chosen = np.unique(np.linspace(0, len(found) - 1, min(most, len(found))).round().astype(np.int64))
    return [_Description((found[i],)) for i in chosen]


def _several(x: Floats, nominal: Bools, many: int, most: int) -> list[_Description]:
    """Descriptions by several variables that fit one record, from random records and variables."""
    if many < 2:
        return []
    rng = np.random.default_rng(len(x))
    middle = [0.0 if np.isnan(column).all() else float(np.nanmedian(column)) for column in x.T]
    order: Ints = distinct_order(x)
    found: dict[_Description, None] = {}
    for _ in range(TRIES * most):
        record = x[order[rng.integers(len(x))]]
        chosen = np.sort(rng.choice(x.shape[1], many, replace=False))
        conditions = []
        for j in chosen.tolist():
            value = float(record[j])
            above = AT_LEAST if value >= middle[j] else AT_MOST
            conditions.append((j, EQUAL if nominal[j] or math.isnan(value) else above, value))
        description = _Description(tuple(conditions))
        if description not in found and description.fits(x).sum() == 1:
            found[description] = None
        if len(found) == most:
            break
    return list(found)
