"""The figures of one attack on a sensitive column, and of the strongest of several."""

from collections.abc import Sequence
from math import isnan, nan, sqrt

import polars as pl

from sdckit.models.attribute_inference import AttributeInference
from sdckit.risk._nearest_guess import Guessed
from sdckit.risk._unlinked_inference import SCHEMA


def most_of(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """The attack that infers most. `upper` is that of any, as one that asked a sample may infer more.

    It is nan where one of them could not be judged: what that one infers is not known.
    """
    judged = [row for row in rows if not isnan(row["share"])]
    uppers = [row["upper"] for row in rows]
    upper = nan if any(map(isnan, uppers)) else max(uppers)
    return max(judged, key=lambda row: row["share"], default=nothing()) | {"upper": upper}


def of_chances(found: AttributeInference, sure: float, scale: float) -> dict[str, float]:
    """What is inferred of all persons; `scale` where only a part of them was attacked."""
    if not found.persons:
        return nothing()
    guessed = (found.largest_chance >= sure - 1e-9) & (found.right > 0) & (found.true_share < sure)
    inferred = float(found.count @ (found.is_inferred(sure) | guessed))
    return {
        "persons": found.persons * scale,
        "guess_right": found.guess_right,
        "baseline": found.baseline,
        "inferred": inferred * scale,
        "by_own_record": found.inferred_by_own_record(sure) * scale,
        "share": inferred / found.persons,
        "upper": _upper(inferred / found.persons, found.persons, found.persons * scale),
    }


def of_guesses(found: Guessed) -> dict[str, float]:
    if not found.persons:
        return nothing()
    return {
        "persons": float(found.persons),
        "guess_right": found.right,
        "baseline": found.baseline,
        "inferred": float(found.inferred),
        "by_own_record": float(found.by_own_record),
        "share": found.inferred / found.persons,
        "upper": _upper(found.inferred / found.persons, found.sampled, found.persons),
    }


def _upper(value: float, sampled: float, persons: float) -> float:
    """The share that is hardly exceeded, where it was found on a sample (0: on all persons)."""
    if not 0 < sampled < persons:
        return value
    error = sqrt(value * (1 - value) / sampled * (1 - sampled / persons))
    return min(value + 2 * error + 3 / sampled, 1.0)


def nothing() -> dict[str, float]:
    return dict.fromkeys([name for name, kind in SCHEMA.items() if kind == pl.Float64], nan)
