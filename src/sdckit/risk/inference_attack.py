"""Inference attack: does the nearest synthetic record tell a secret of the people in the file?"""

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Floats
from sdckit.data.common_columns import role_variables
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.methods.options import SENSITIVE, Columns, Option, SensitiveColumns
from sdckit.methods.spec import Better, share
from sdckit.risk._attacks import (
    Attacked,
    Ground,
    HoldoutFile,
    MostAttacks,
    attack,
    attack_figures,
    ground,
    nearest,
    pooled,
    spread_rows,
)
from sdckit.risk._points import SAME


@attack(
    "Inference of a secret from the nearest synthetic record",
    figures={
        **attack_figures(""),
        "baseline": share("Guesses right from a random synthetic record", better=Better.NEITHER),
    },
    interpretation=(
        "An intruder knows some values of a person and takes the secret of the nearest synthetic record for "
        "theirs. 0: this works no better for the people in the file than for others, of whom the file can "
        "only tell what holds for everybody. 0.1: of the guesses that fail for others, one in ten is right "
        "for them. The interval (low, high) says how sure this is."
    ),
)
def inference_attack(
    original: Microdata,
    synthetic: Microdata | Sequence[Microdata],
    *,
    holdout: HoldoutFile,
    sensitive: SensitiveColumns = SENSITIVE,
    known: Annotated[
        Columns,
        Option("Known to the intruder", "What the intruder knows.", True, absent="all other variables"),
    ] = (),
    within: Annotated[
        float,
        Field(ge=0),
        Option("Near enough", "A number counts as guessed if it is off by at most this share.", unit="share"),
    ] = 0.05,
    attacks: MostAttacks = 1_000,
) -> Result:
    r"""How much better the nearest synthetic record tells a secret of people in the file than of others.

    .. math:: R = \frac{s - c}{1 - c}, \qquad
       s = \frac1N \sum_i \frac{\#\{l \in A_i : y_l \approx y_i\}}{|A_i|}

    A are the synthetic records nearest to person i by the `known` variables (Gower's distance; several where
    distances tie, of which the intruder takes one at random). A guess y is right where it is the category of
    the person, or a number off by at most `within` times the true one. s is the share of guesses to be right
    for people of the original, c for those in `holdout`, who are of the same population but were not given
    to the synthesis. Value: R of the `sensitive` column where it is largest, not below 0.

    `known`: by default all keys, numeric and sensitive columns but the secret. At most `attacks` people of
    each file are attacked, spread evenly over the sorted file. For several synthetic sets, s and c are means.
    figures: low and high (Wilson's 95 % intervals of s and c, combined as independent errors), attack (s),
    control (c), attacks, baseline (right by a random synthetic record), all of that column. parts: the same
    for every column.

    Weights: not used. Missing: a missing secret is a category of its own; a known value missing in one of two
    records is as far as can be, in both it is equal.
    Reference: Giomi et al. (2023), "A unified framework for quantifying privacy risk in synthetic data".
    Departures: ties are taken at their expectation instead of at random; shares are not shrunk to ½.

    >>> import polars as pl, sdckit as sdc
    >>> frame = pl.DataFrame({"age": [20, 30, 40, 50], "ill": ["no", "yes", "no", "yes"]})
    >>> data = sdc.read(frame, numeric="age", sensitive="ill")
    >>> others = pl.DataFrame({"age": [21, 31, 41, 51], "ill": ["yes", "no", "yes", "no"]})
    >>> result = sdc.risk.inference_attack(data, data, holdout=others)
    >>> result.value, result.figures["control"]
    (1.0, 0.0)
    """
    columns = list(dict.fromkeys([*(known or role_variables(original)), *sensitive]))
    field = ground(original, synthetic, holdout, columns)
    rows: dict[str, dict[str, float]] = {}
    notes = field.notes
    for secret in sensitive:
        aids = [c for c in (known or columns) if c != secret and c in field.space.variables]
        if secret not in field.space.variables or not aids:
            notes += (f"{secret} was not attacked: it, or all that is known, is not in the files.",)
            continue
        numbers = range(len(field.sets))
        done = [_attacked(field, number, aids, secret, within, attacks) for number in numbers]
        found, base = pooled([one for one, _ in done]), float(np.mean([chance for _, chance in done]))
        rows[secret] = {"risk": found.risk, **found.figures(), "baseline": base}
    if not rows:
        return Result(math.nan, notes=(*notes, "No secret could be attacked."), lost=field.lost)
    parts = pl.DataFrame([{"variable": name, **row} for name, row in rows.items()])
    risks = {name: -1.0 if math.isnan(row["risk"]) else row["risk"] for name, row in rows.items()}
    worst = max(risks, key=risks.__getitem__)
    figures = {name: value for name, value in rows[worst].items() if name != "risk"}
    value = rows[worst]["risk"]
    notes += (f"The numbers are those of {worst}.",)
    if math.isnan(value):
        notes += ("Every guess is right for other people, too: nothing is left to tell.",)
    return Result(value if math.isnan(value) else max(value, 0.0), figures, parts, notes, lost=field.lost)


def _attacked(
    field: Ground, number: int, known: Sequence[str], secret: str, within: float, attacks: int
) -> tuple[Attacked, float]:
    """The attack by one synthetic set, and how often a random record of it would be right."""
    aids, records, values = field.places(known), field.sets[number], field.values(secret)
    nominal = bool(field.space.nominal[field.places([secret])[0]])
    told, margin = values[2 + number], 0.0 if nominal else within
    rates, chance = [], 0.0
    for file, truth in zip((field.original, field.holdout), values, strict=False):
        rows = spread_rows(file, attacks)
        near = nearest(file[np.ix_(rows, aids)], records[:, aids], field.space.nominal[aids])
        right = [_right(told[which], true, margin) for which, true in zip(near, truth[rows], strict=True)]
        if file is field.original:
            chance = float(np.mean([_right(told, true, margin) for true in truth[rows]]))
        rates.append((float(np.mean(right)), len(rows)))
    (success, count), (control, others) = rates
    return Attacked(success, count, control, others), chance


def _right(guesses: Floats, true: float, margin: float) -> float:
    """The share of guesses that are right: equal, or off by at most a share of the true number."""
    if math.isnan(true):
        return float(np.isnan(guesses).mean())
    return float((np.abs(guesses - true) <= margin * abs(true) * (1 + SAME)).mean())
