"""Inference from the own record: who is found with near certainty has told the values that stand there."""

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats
from sdckit.data.values import as_numbers
from sdckit.risk._known_values import LinkedFiles
from sdckit.risk._nearest_guess import Guessed
from sdckit.risk._outcome import Outcome


def guess_from_own_category(
    files: LinkedFiles, outcome: Outcome, truth: pl.Series, released: pl.Series, sure: float
) -> Guessed:
    """A category, where the own record shows the true one. Both columns as text."""
    both = pl.concat([truth, released]).rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
    true, shown = both[: len(truth)], both[len(truth) :]
    counts = np.bincount(true[true > 0], minlength=int(both.max(initial=0)) + 1) / max(
        int((true > 0).sum()), 1
    )
    right = (shown[np.maximum(files.own, 0)] == true) & (files.own >= 0)
    return _guessed(outcome, true > 0, right, counts[true], float(counts.max(initial=0.0)), sure)


def guess_from_own_number(
    files: LinkedFiles, outcome: Outcome, truth: pl.Series, released: pl.Series, within: float, sure: float
) -> Guessed:
    """A number, where the own record shows one that is near the true one."""
    true, shown = as_numbers(truth), as_numbers(released)
    margin = within * np.abs(true)
    right = (np.abs(shown[np.maximum(files.own, 0)] - true) <= margin) & (files.own >= 0)
    ordered = np.sort(true[np.isfinite(true)])
    share = np.searchsorted(ordered, true + margin, "right") - np.searchsorted(ordered, true - margin)
    common = share / max(len(ordered), 1)
    known = np.isfinite(true)
    return _guessed(outcome, known, right, common, float(common[known].max(initial=0.0)), sure)


def _guessed(
    outcome: Outcome, known: Bools, right: Bools, common: Floats, baseline: float, sure: float
) -> Guessed:
    """Counts over the persons attacked, for all with a known value.

    The chance of the true value is at least that of the own record where this shows it.
    """
    attacked = outcome.persons
    told = known & right & (common < sure)
    inferred = told[attacked] & (outcome.posterior >= sure - 1e-9)
    persons, asked = int(known.sum()), int(known[attacked].sum())
    scale = persons / max(asked, 1)
    number = round(float(inferred.sum()) * scale)
    guessed = (
        float((outcome.found * right[attacked])[known[attacked]].mean()) if known[attacked].any() else 0.0
    )
    return Guessed(persons, number, number, guessed, baseline, asked if asked < persons else 0)
