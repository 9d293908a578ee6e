"""Sums, differences, products and ratios of two numbers that stayed though both numbers moved."""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from sdckit._support.arrays import Bools, Floats
from sdckit._support.messages import join_names
from sdckit.risk._known_values import LinkedFiles, Numbers

CLEARLY = 0.05  # share of the persons of whom a combination stayed, beyond chance
LOOKED_AT = 2_000  # persons
COLUMNS = 12  # numbers that are taken in pairs
MOST = 4  # combinations that are used
WIDER = 8.0  # classes are so much wider than rounding, so that most that stayed are in the same one
DEPENDENT = 0.1  # smallest eigenvalue of the correlations of factors, up to which they depend on each other
FINEST = 1e-9  # of the largest number, or of a ratio


class _Scale(NamedTuple):
    """Two numbers that are added or subtracted, as they are or as logarithms."""

    signs: tuple[tuple[float, str], ...]
    logarithms: bool

    def of(self, values: Floats) -> Floats:
        """The numbers on this scale; nan where they have none."""
        if not self.logarithms:
            return values
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.log(values)
        return np.where(np.isfinite(found), found, np.nan)

    def slack(self, released: Floats, unit: float) -> Floats:
        """How far rounding to a unit moves a released number on this scale."""
        if not self.logarithms:
            return np.full(released.shape, unit / 2 + FINEST * float(np.nanmax(np.abs(released), initial=0)))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(FINEST + unit / 2 / np.abs(released))


SCALES = (_Scale(((-1.0, "−"), (1.0, "+")), False), _Scale(((-1.0, "÷"), (1.0, "×")), True))


class _Kept(NamedTuple):
    share: float
    label: str
    true: Floats
    released: Floats


def kept_combinations(files: LinkedFiles, numbers: Numbers) -> tuple[Floats, Floats, str] | None:
    """The numbers of persons and records, with combinations that stayed as further columns; and a note.

    One factor for all numbers of a person hides each, but not their ratios; one amount hides no difference.
    Only numbers that are known exactly are used. None where no combination stayed.
    """
    exact = [v for v, error in enumerate(numbers.errors) if not error][:COLUMNS]
    linked = np.flatnonzero(files.own >= 0)
    if len(exact) < 2 or not len(linked):
        return None
    some = files.draws().permutation(linked)[:LOOKED_AT]
    pairs = {v: (numbers.true[v].values, numbers.released[v].values) for v in exact}
    moved = {v: _moved(x[some], y[files.own[some]]) for v, (x, y) in pairs.items()}
    exact = [v for v in exact if moved[v].mean() > CLEARLY]
    found: list[_Kept] = []
    for a, b in combinations(exact, 2):
        names = numbers.names[a], numbers.names[b]
        for scale in SCALES:
            units = [_unit(pairs[v][1][files.own[some]]) for v in (a, b)]
            (xa, xb), (ya, yb) = ([scale.of(pairs[v][side]) for v in (a, b)] for side in (0, 1))
            slack = scale.slack(pairs[a][1], units[0]) + scale.slack(pairs[b][1], units[1])
            for sign, word in scale.signs:
                true, released = xa + sign * xb, ya + sign * yb
                both = moved[a] & moved[b]
                share = _stayed(true[some], released[files.own[some]], slack[files.own[some]], both)
                if share > CLEARLY:
                    width = WIDER * float(np.quantile(slack[np.isfinite(slack)], 0.9))
                    classes = [np.round(values / width) * width for values in (true, released)]
                    found.append(_Kept(share, f"{names[0]} {word} {names[1]}", *classes))
    if not found:
        return None
    best = sorted(found, key=lambda one: -one.share)[:MOST]
    whole = [np.column_stack([c.values for c in side]) for side in (numbers.true, numbers.released)]
    note = f"Stayed though the numbers moved, and were used: {join_names(one.label for one in best)}."
    true = np.column_stack([whole[0], *(one.true for one in best)])
    return true, np.column_stack([whole[1], *(one.released for one in best)]), note


def on_logarithms(files: LinkedFiles, numbers: Numbers) -> tuple[Floats, Floats, str] | None:
    """The numbers that are known exactly as logarithms, where their factors depend on each other; and a note.

    The attack that looks at the changes of all numbers together sees there what is linear.
    """
    exact = [v for v, error in enumerate(numbers.errors) if not error][:COLUMNS]
    if len(exact) < 2:
        return None
    linked = np.flatnonzero(files.own >= 0)
    some = files.draws().permutation(linked)[:LOOKED_AT]
    scale = SCALES[1]
    logs = {v: (scale.of(numbers.true[v].values), scale.of(numbers.released[v].values)) for v in exact}
    factors = np.array([y[files.own[some]] - x[some] for x, y in logs.values()])
    factors = factors[:, np.isfinite(factors).all(axis=0)]
    if factors.shape[1] < max(len(some) / 2, 2) or (factors.std(axis=1) <= FINEST).any():
        return None
    if np.linalg.eigvalsh(np.corrcoef(factors)).min() > DEPENDENT:
        return None
    whole = [np.column_stack([c.values for c in side]) for side in (numbers.true, numbers.released)]
    for v, columns in logs.items():
        for side, values in zip(whole, columns, strict=True):
            side[:, v] = values
    names = join_names(numbers.names[v] for v in exact)
    return whole[0], whole[1], f"The factors of {names} depend on each other, so that logarithms were used."


def _moved(x: Floats, y: Floats) -> Bools:
    """Which numbers are others than before."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(y - x) > FINEST * np.maximum(np.abs(x), np.abs(y)))


def _stayed(true: Floats, released: Floats, slack: Floats, moved: Bools) -> float:
    """The share of persons whose combination stayed, less the share that would among others' records."""
    with np.errstate(invalid="ignore"):
        kept = float(((np.abs(released - true) <= slack) & moved).mean())
        others = float(((np.abs(np.roll(released, 1) - true) <= slack) & moved).mean())
    return kept - others


def _unit(values: Floats) -> float:
    """The unit, 1 at most, of which most released numbers are multiples; 0 where there is none."""
    known = values[np.isfinite(values)]
    for digits in range(5):
        units = known * 10.0**digits
        if known.size and (np.abs(units - np.round(units)) <= 1e-3).mean() > 0.5:
            return float(10.0**-digits)
    return 0.0
