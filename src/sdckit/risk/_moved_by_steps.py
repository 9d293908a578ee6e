"""Numbers that moved by multiples of a step: what is left over when they are divided by it did not move."""

import numpy as np

from sdckit._support.arrays import Bools, Floats
from sdckit._support.messages import join_names
from sdckit.models.few_changes import unit_of
from sdckit.risk._known_values import LinkedFiles, Numbers

CLEARLY = 0.05  # share of the numbers that must have moved by multiples, beyond those that would by chance
DIGITS = 4  # after the point of a step
PAIRS = 200  # of changes whose common divisors are tried as steps
LOOKED_AT = 2_000  # changes in which multiples are counted
FEWEST = 30  # changes
WHOLE = 1e-3  # by which whole numbers may be off
FINEST = 1e-6  # parts of a step that are told apart
LARGEST = 2.0**50


def remainders(files: LinkedFiles, numbers: Numbers) -> tuple[Floats, Floats, str] | None:
    """The numbers of persons and records, with their remainders as further columns; and a note.

    Noise in whole hundreds hides an income of 1,234.56, but not the 34.56: who knows the income exactly looks
    among the few records with these last digits. None where no number that is known exactly moved by steps.
    """
    linked = files.own >= 0
    true, released, told = [], [], []
    for name, before, after, error in zip(*numbers, strict=True):
        x, y = before.values, after.values
        step = 0.0 if error else step_of(x[linked], y[files.own[linked]], files.draws())
        if step:
            true.append(_left_over(x, step))
            released.append(_left_over(y, step))
            told.append(f"{name} by {step:.10g}")
    if not told:
        return None
    whole = [np.column_stack([c.values for c in side]) for side in (numbers.true, numbers.released)]
    note = f"Moved by multiples of a step, so that the remainder is known: {join_names(told)}."
    return np.column_stack([whole[0], *true]), np.column_stack([whole[1], *released]), note


def step_of(x: Floats, y: Floats, draws: np.random.Generator) -> float:
    """The step of which the changes y − x are multiples more often than by chance; 0 where there is none.

    Of several the one that tells most: the share of such changes times the digits that it leaves.

    >>> x = np.array([12.34, 77.1, 5.0] * 20)
    >>> step_of(x, x + 25 * np.arange(1, 61), np.random.default_rng(1))
    25.0
    """
    change = np.abs(y - x)
    moved = np.isfinite(change) & (change > 0)
    if moved.sum() < FEWEST:
        return 0.0
    change = draws.permutation(change[moved])[:LOOKED_AT]
    finest = unit_of(x[np.isfinite(x)])
    best, found = 0.0, 0.0
    for digits in range(DIGITS + 1):
        unit = 10.0**-digits
        units = change / unit
        whole = np.round(units[_is_whole(units)]).astype(np.int64)
        whole = whole[whole > 0]  # changes far below the unit are no multiple of it
        if len(whole) < FEWEST:
            continue
        pairs = whole[: 2 * min(PAIRS, len(whole) // 2)].reshape(2, -1)
        for divisor in np.unique(np.gcd(*pairs)):
            step = unit * float(divisor)
            share = float((whole % divisor == 0).sum()) / len(change)
            beyond = share - min(1.0, max(finest, 2 * WHOLE * unit) / step)
            tells = beyond * np.log(step / max(finest, FINEST * step))
            if beyond > CLEARLY and tells > found:
                best, found = step, tells
    return best if best and np.ptp(_left_over(x[np.isfinite(x)], best)) > 0 else 0.0


def _is_whole(units: Floats) -> Bools:
    return (np.abs(units - np.round(units)) <= WHOLE) & (units < LARGEST)


def _left_over(values: Floats, step: float) -> Floats:
    """The part of a step that is left over."""
    return np.asarray(np.round(values / step % 1.0 / FINEST) * FINEST % 1.0)
