"""Inference where nothing tells which record is whose: from the closest records, beside other people."""

from collections.abc import Sequence
from math import nan
from typing import Any

import polars as pl

from sdckit.data.intruder import Intruder
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.methods.recoding import apply_same_recoding
from sdckit.risk._closest_guess import closest_guesses
from sdckit.risk._held_back import held_back_problem
from sdckit.risk._synthetic import as_texts

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
    intruder: Intruder,
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
    keys = [k for k in intruder.known(original).keys if k in protected.columns and k in holdout.columns]
    rows: list[dict[str, Any]] = []
    for column in sensitive:
        names = [k for k in keys if k != column]
        alike, _ = apply_same_recoding(original, protected, [*names, column])
        others, _ = apply_same_recoding(holdout, protected, [*names, column])
        frames = [as_texts(data.frame, [*names, column]) for data in (alike, others, protected)]
        shares = []
        for people in frames[:2]:
            known = people.filter(pl.col(column).is_not_null())
            hit, chance = closest_guesses(known, frames[2], names, column)
            shares.append((float(hit.mean()), float((hit & (chance >= sure)).mean()), known.height))
        (right, mine, persons), (_, others_share, _) = shares
        most = frames[0][column].drop_nulls().value_counts()["count"].max()
        rows.append(
            {
                "intruder": intruder.name,
                "sensitive": column,
                "persons": float(persons),
                "guess_right": right,
                "baseline": float(most or 0) / max(persons, 1),  # type: ignore[arg-type]
                "inferred": mine * persons,
                "by_own_record": max(mine - others_share, 0.0) * persons,
                "share": max(mine - others_share, 0.0),
                "upper": max(mine - others_share, 0.0),
            }
        )
    worst = max(rows, key=lambda row: row["share"])
    figures = {name: worst[name] for name in ("guess_right", "baseline", "inferred", "by_own_record")}
    figures["among_others"] = worst["inferred"] / max(worst["persons"], 1.0) - worst["share"]
    note = f"Compared with {holdout.height:,} people who were not in the original."
    return Result(worst["share"], figures, pl.DataFrame(rows, schema=SCHEMA), (note,))
