"""Noise drawn record by record from keyed normal numbers: the same in memory and on engines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import sqrt
from operator import add

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.engine.joins import join_to_records
from sdckit.engine.tables import OURS, Table, native_module
from sdckit.protect._draws import Draws
from sdckit.protect._engine_numbers import new_name, with_new_numbers
from sdckit.protect._exact_moments import Moments, moments_of
from sdckit.protect._numbers import matrix_of, with_numbers
from sdckit.protect._strata import pooled_numbers

_STRATUM = f"{OURS}stratum"


@dataclass(frozen=True, slots=True)
class NoiseRule:
    """y = x + ε with SD `sd` in terms of the data's, correlated as the data or not; drawn in: Kim's rule."""

    sd: float
    correlated: bool
    drawn_in: bool

    def coefficients(self, moments: Moments) -> list[list[float]]:
        """For each variable what the standard normal numbers are multiplied by, one after the other."""
        if moments.root is None:
            return [[0.0] * i + [self.sd * spread] for i, spread in enumerate(moments.spread)]
        return [[self.sd * float(c) for c in row[: i + 1]] for i, row in enumerate(moments.root)]

    @property
    def shrink(self) -> float:
        """The factor c of Kim's rule y = c(x−ε) + (1−c)x̄."""
        return sqrt(1 / (1 + self.sd**2))


def add_keyed_noise(
    data: Microdata, names: Sequence[str], rule: NoiseRule, by: Sequence[str], rng: np.random.Generator
) -> Microdata:
    """The file with noise in some variables, by strata that are pooled where too small."""
    draws = Draws(data, rng)
    strata = pooled_numbers(data, by, len(names) + 2, _STRATUM)
    table = join_to_records(data.table, strata, list(by), [_STRATUM])
    moments = moments_of(table, _STRATUM, names, correlated=rule.correlated)
    effects = Effects(randomises=tuple(names))
    if data.engine != "polars":
        table = _with_noise(table, names, rule, moments, draws)
        table = table.select(*data.columns, *(new_name(j) for j in range(len(names))))
        table = frames.lazy(native_module(table).worked_out(table.to_native()))  # or it is drawn twice
        return with_new_numbers(data, names, table, effects=effects, whole=False)
    stratum = frames.gather(table.select(_STRATUM))[_STRATUM].to_numpy()
    x = matrix_of(data, names)
    y = _noisy(x, stratum, rule, moments, [draws.normal(j) for j in range(len(names))])
    return with_numbers(data, names, x, y, effects=effects, whole=False)


def _noisy(
    x: Floats, stratum: Ints, rule: NoiseRule, moments: Mapping[int, Moments], z: Sequence[Floats]
) -> Floats:
    """The numbers in memory with noise: the very steps of `_with_noise`."""
    size = max(moments, default=0) + 1
    y = np.empty_like(x)
    for i in range(x.shape[1]):
        noise = np.zeros(len(x))
        for j in range(i + 1):
            if not rule.correlated and j < i:
                continue
            factor = np.zeros(size)
            for key, found in moments.items():
                factor[key] = rule.coefficients(found)[i][j]
            part = factor[stratum] * z[j]
            noise = part if j == 0 or not rule.correlated else noise + part
        if rule.drawn_in:
            centre = np.zeros(size)
            for key, found in moments.items():
                centre[key] = found.mean[i]
            middle = centre[stratum]
            y[:, i] = middle + rule.shrink * (x[:, i] - middle - noise)
        else:
            y[:, i] = x[:, i] + noise
    return y


def _with_noise(
    table: Table, names: Sequence[str], rule: NoiseRule, moments: Mapping[int, Moments], draws: Draws
) -> Table:
    """The table with columns of noisy numbers, in the very steps of `_noisy`: each is rounded alike."""
    p = len(names)
    pairs = [(i, j) for i in range(p) for j in range(i + 1) if rule.correlated or i == j]
    factors = {pair: f"{OURS}f{pair[0]}_{pair[1]}" for pair in pairs}
    centres = [f"{OURS}mean_{i}" for i in range(p)]
    rows = [
        (key, *(rule.coefficients(found)[i][j] for i, j in pairs), *found.mean)
        for key, found in moments.items()
    ]
    kinds = {_STRATUM: pl.Int64, **dict.fromkeys([*factors.values(), *centres], pl.Float64)}
    cells = pl.DataFrame(rows, schema=kinds, orient="row")
    table = join_to_records(table, cells, [_STRATUM], [*factors.values(), *centres])
    for j in range(p):
        table = draws.with_normal(table, j, f"{OURS}z{j}")
    columns = []
    for i, name in enumerate(names):
        parts = [nw.col(factors[k, j]) * nw.col(f"{OURS}z{j}") for k, j in pairs if k == i]
        noise = reduce(add, parts)
        x, middle = nw.col(name).cast(nw.Float64), nw.col(centres[i])
        y = middle + (x - middle - noise) * rule.shrink if rule.drawn_in else x + noise
        columns.append(y.alias(new_name(i)))
    return table.with_columns(*columns)
