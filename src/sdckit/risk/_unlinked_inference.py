"""Inference where nothing tells which record is whose: from the closest records, beside other people."""

from collections.abc import Sequence
from math import nan
from typing import Any

import polars as pl

from sdckit._support.arrays import Bools, Floats
from sdckit.data.intruder import Intruder
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.methods.recoding import apply_same_recoding
from sdckit.risk._closest_guess import closest_guesses
from sdckit.risk._held_back import held_back_problem
from sdckit.risk._synthetic import as_texts
from sdckit.risk._uncertainty import wilson

SCHEMA = {
    "intruder": pl.String,
    "sensitive": pl.String,
    "persons": pl.Float64,
    "guess_right": pl.Float64,
    "baseline": pl.Float64,
    "inferred": pl.Float64,
    "by_own_record": pl.Float64,
    "share": pl.Float64,
    "upper": pl.Float64,
}


def unlinked_inference(
    original: Microdata,
    protected: Microdata,
    holdout: Microdata | None,
    intruders: Sequence[Intruder],
    sensitive: Sequence[str],
    sure: float,
) -> Result:
    """The attack by the closest records, beside the same attack on people who were not in the original."""
    if holdout is None:
        why = "Give people who were not in the original (holdout), to compare with."
        return Result(nan, notes=(f"The records are not linked. {why}",))
    problem = held_back_problem(original, protected, holdout)
    if problem:
        return Result(nan, notes=(problem,))
    known: dict[tuple[str, ...], str] = {}  # the first of the intruders who know these keys
    for one in intruders:
        known.setdefault(tuple(k for k in one.known(original).keys if k in protected.columns), one.name)
    if not any(known):
        return Result(nan, notes=("No intruder knows a key that the file has.",))
    rows: list[dict[str, Any]] = []
    for column in sensitive:
        names = list(dict.fromkeys(k for keys in known for k in keys))
        names = [*(k for k in names if k != column), column]
        alike, _ = apply_same_recoding(original, protected, names)
        others, _ = apply_same_recoding(holdout, protected, names)
        frames = [as_texts(data.frame, names) for data in (alike, others, protected)]
        people, strangers = (frame.filter(pl.col(column).is_not_null()) for frame in frames[:2])
        if not people.height or not strangers.height:
            return Result(nan, notes=(f"Nothing can be compared: nobody has a value of {column}.",))
        most = people[column].value_counts()["count"].max()
        for keys, name in known.items():
            asked = [k for k in keys if k != column]
            (right, mine), (_, share) = (
                _sure(closest_guesses(some, frames[2], asked, column), sure) for some in (people, strangers)
            )
            more = max(mine - share, 0.0)
            at_most = mine - wilson(share, strangers.height)[0]  # `mine` is counted, not estimated
            rows.append(
                {
                    "intruder": name,
                    "sensitive": column,
                    "persons": float(people.height),
                    "guess_right": right,
                    "baseline": float(most or 0) / people.height,  # type: ignore[arg-type]
                    "inferred": mine * people.height,
                    "by_own_record": more * people.height,
                    "share": more,
                    "upper": max(at_most, more),
                }
            )
    worst = max(rows, key=lambda row: row["share"])
    figures = {name: worst[name] for name in ("guess_right", "baseline", "inferred", "by_own_record")}
    figures["upper"] = max(row["upper"] for row in rows)
    figures["among_others"] = worst["inferred"] / worst["persons"] - worst["share"]
    note = f"Compared with {holdout.height:,} people who were not in the original."
    return Result(worst["share"], figures, pl.DataFrame(rows, schema=SCHEMA), (note,))


def _sure(guesses: tuple[Bools, Floats], sure: float) -> tuple[float, float]:
    """The share of persons of whom the guess is right, and of those of whom it is also sure."""
    hit, chance = guesses
    return float(hit.mean()), float((hit & (chance >= sure)).mean())
