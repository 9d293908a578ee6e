"""Regression on records that stay outside memory: triangles of batches, put together.

Each batch of the model matrix, with the outcome as its last column, is reduced to the triangle R of its QR
decomposition; the triangle of stacked triangles is that of all records. Unlike sums XᵀWX this loses no more
digits than the decomposition of the whole matrix would.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.engine.batches import fold_batches
from sdckit.estimate.formula import Encodings, Model, model_matrix
from sdckit.estimate.model_rows import ModelRows, Reader
from sdckit.estimate.regression import (
    FLAT,
    SETTLED,
    Family,
    Fit,
    certainty_note,
    check_numbers,
    independent,
    is_exact,
    placed,
    saturated_note,
    without_limit,
    without_rounding,
)
from sdckit.estimate.sampling import SamplingOptions
from sdckit.estimate.unit_sums import EngineDesign, UnitSums
from sdckit.kernels._threads import one_thread

CHUNK = 1_000  # rows that are decomposed at once, near the processor
HEAD = 10  # numbers in front of a triangle
BATCH = 400_000  # records of which a model matrix is made at once: reading the formula takes a while


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a file as a model sees them."""

    data: Microdata
    reader: Reader
    design: EngineDesign

    def fold(self, function: Callable[[ModelRows, Floats], Floats]) -> Iterable[Floats]:
        """What a function makes of the rows and the weights of each batch."""
        reader, design = self.reader, self.design
        columns = dict.fromkeys([*reader.model.columns, *([design.weight] if design.weight else [])])

        def work(frame: pl.DataFrame) -> Floats:
            rows = reader.rows(frame)
            with one_thread():  # for matrices of this size threads wait longer than they work
                return function(rows, design.weights(frame)[rows.kept])

        return fold_batches(self.data.table.select(*columns), work, records=BATCH)


class Sums(NamedTuple):
    """What one pass finds. triangle: [p+1, p+1] of the roots of working weights times predictors and rest."""

    records: float
    weight: float
    mean: float  # of the outcome
    around: float  # weighted squares about it
    low: float  # least outcome or mean
    high: float
    largest: float  # number in absolute terms
    deviance: float
    fitted: float  # weighted sum of the means
    squares: float  # weighted squares of what the means leave
    totals: Floats  # [p] weighted sums of the predictors
    triangle: Floats


def fit_on_engine(
    data: Microdata,
    model: Model,
    encoded: Encodings,
    *,
    family: Family,
    by_design: bool,
    sampling: SamplingOptions,
) -> tuple[Fit | None, int, tuple[str, ...]]:
    """As `fit`: the regression, the number of records used, and what must be said of the design.

    None with fewer than two complete records. A linear model takes one pass over the records, a logistic or
    Poisson model one for each step of Newton's method, the variances of a design one more.
    """
    design = EngineDesign.of(data, sampling)
    records = Records(data, Reader.of(data, model, encoded), design)
    first, names = _first(records)
    if first.records < 2:
        return None, int(first.records), ()
    check_numbers(first.largest, first.low, first.high, family)
    kept = independent(first.triangle[:, :-1])
    scale = first.records / first.weight if family is not Family.OLS and not by_design else 1.0
    linear = family is Family.OLS
    beta, last = _linear(first, kept) if linear else _generalised(records, first, kept, family, scale)
    bread = _bread(last.triangle[:, :-1])
    endless = np.zeros(len(beta), dtype=np.bool_)
    if not linear:
        endless = without_limit(bread, _bread(first.triangle[:, :-1][:, kept]) / scale)
    free = max(int(first.records) - int(kept.sum()), 1)
    sums = _unit_sums(records, kept, beta, family) if by_design else None
    if sums is not None:
        covariance, degrees = bread @ sums.variance(design.rule) @ bread, sums.degrees
        covariance[:, sums.within_one_unit(design.rule)] = np.nan  # of all coefficients, or of none
    elif family is Family.OLS:
        covariance, degrees = bread * (last.squares / free), float(free)
    else:
        covariance, degrees = bread, np.inf
    held = (first.around + first.weight * first.mean**2) * scale
    exact = is_exact(last.squares, held)
    if exact:
        beta, covariance = without_rounding(beta, covariance, bread, float(np.sum(last.triangle[:, -1] ** 2)))
    if first.records <= len(beta):
        covariance = np.full_like(bread, np.nan)
    every, spread, unlimited = placed(beta, covariance, endless, kept)
    there = [name for name, one in zip(names, kept, strict=True) if one]
    around = first.around * scale
    found = Fit(
        names, every, spread, degrees, np.array([last.fitted / last.weight]), np.array([last.weight]),
        int(first.records), 1 - last.squares / around if around > 0 else np.nan,
        (*certainty_note(there, endless), *saturated_note(first.records, len(beta))), exact, unlimited,
    )  # fmt: skip
    return found, int(first.records), () if sums is None else sums.notes(data, sampling)


def _first(records: Records) -> tuple[Sums, tuple[str, ...]]:
    """Counts, the range of the numbers and the triangle of the linear model; the names of its columns."""
    model = records.reader.model
    columns = list(model.columns)
    some = frames.gather(records.data.table.select(*columns).drop_nulls(columns).head(1))
    names = model_matrix(model, records.reader.encoded, some).names
    return merged(records.fold(_linear_batch)), names


def _linear_batch(rows: ModelRows, w: Floats) -> Floats:
    y = rows.y
    if not len(y):
        return np.zeros(0)
    low, high = float(y.min()), float(y.max())
    largest = max(abs(low), abs(high), np.abs(rows.x).max(initial=0.0))
    mass, mean, around = rows.means(w, y)
    weight = mass.sum()
    centre = mass @ mean / weight
    head = [len(y), weight, centre, mass @ (mean - centre) ** 2 + around, low, high, largest, 0.0, 0.0, 0.0]
    return _packed(head, mass @ rows.x, rows.x, mass, mean, around)


def _packed(
    head: list[float], totals: Floats, x: Floats, mass: Floats, mean: Floats, around: float
) -> Floats:
    """The numbers of a batch; the triangle is that of rows x with their weight and mean of the outcome.

    around: the squares about these means, as those of a record with nothing but an outcome.
    """
    weighted = np.column_stack([x, mean]) * np.sqrt(mass)[:, None]
    if around > 0:
        weighted = np.vstack([weighted, np.append(np.zeros(x.shape[1]), np.sqrt(around))])
    return np.concatenate([head, totals, triangle(weighted).ravel()])


def triangle(rows: Floats) -> Floats:
    """The square triangle R with RᵀR that of the rows."""
    p = rows.shape[1]
    if len(rows) > 2 * CHUNK > 4 * p:
        cut = len(rows) // CHUNK * CHUNK
        several = np.asarray(np.linalg.qr(rows[:cut].reshape(-1, CHUNK, p), mode="r"))
        rows = np.vstack([several.reshape(-1, p), rows[cut:]])
    found = np.asarray(np.linalg.qr(rows, mode="r"))
    return np.vstack([found, np.zeros((p - len(found), p))]) if len(found) < p else found


def merged(parts: Iterable[Floats]) -> Sums:
    """The sums of all batches; those without a complete record are empty."""
    total: Sums | None = None
    for part in parts:
        if not len(part):
            continue
        p = isqrt(4 * (len(part) - HEAD) + 5) // 2 - 1  # p and (p+1)² numbers follow
        arrays = part[HEAD : HEAD + p], part[HEAD + p :].reshape(p + 1, p + 1)
        one = Sums._make([*part[:HEAD].tolist(), *arrays])
        total = one if total is None else _both(total, one)
    return total or Sums._make([*[0.0] * HEAD, np.zeros(0), np.zeros((1, 1))])


def _both(a: Sums, b: Sums) -> Sums:
    weight = a.weight + b.weight
    apart = b.mean - a.mean
    return Sums(
        a.records + b.records,
        weight,
        a.mean + apart * b.weight / weight,
        a.around + b.around + apart**2 * a.weight * b.weight / weight,
        min(a.low, b.low),
        max(a.high, b.high),
        max(a.largest, b.largest),
        a.deviance + b.deviance,
        a.fitted + b.fitted,
        a.squares + b.squares,
        a.totals + b.totals,
        triangle(np.vstack([a.triangle, b.triangle])),
    )


def _solved(found: Floats) -> tuple[Floats, float]:
    """The coefficients of the last column on the others, and the squares that are left."""
    r = np.asarray(np.linalg.qr(found, mode="r"))
    return np.linalg.solve(r[:-1, :-1], r[:-1, -1]), float(r[-1, -1] ** 2)


def _bread(found: Floats) -> Floats:
    """(XᵀWX)⁻¹ from the triangle of the rows."""
    inverse = np.linalg.inv(np.asarray(np.linalg.qr(found, mode="r")))
    return np.asarray(inverse @ inverse.T)


def _linear(first: Sums, kept: Bools) -> tuple[Floats, Sums]:
    used = first.triangle[:, np.append(kept, True)]
    beta, squares = _solved(used)
    return beta, first._replace(triangle=used, squares=squares, fitted=float(first.totals[kept] @ beta))


def _generalised(
    records: Records, first: Sums, kept: Bools, family: Family, scale: float
) -> tuple[Floats, Sums]:
    """Newton's method, as in `models.glm.newton`; every trial of coefficients is a pass over the records."""
    from sdckit.models.glm import CLOSE, HALVINGS, STEPS

    def at(beta: Floats | None) -> Sums:
        return merged(records.fold(partial(_newton_batch, family, scale, first.mean, kept, beta)))

    beta, now, here = np.zeros(int(kept.sum())), np.inf, at(None)
    for _ in range(STEPS):
        move, _ = _solved(here.triangle)
        before = now
        for _ in range(HALVINGS):
            tried = at(beta + move)
            now = tried.deviance
            if not now > before + 1e-14 * abs(before):
                break
            move = move / 2
        else:
            break  # no step improves: rounding error is all that is left
        falling = _falls(here, tried, family)
        beta, here = beta + move, tried
        if before - now <= CLOSE * (abs(now) + 0.1) and not falling:
            break
    return beta, here


def _falls(before: Sums, now: Sums, family: Family) -> bool:
    """Whether a mean is still on its way to its limit, which the deviance no longer shows."""
    ends = [(before.low, now.low)] + [(1 - before.high, 1 - now.high)] * (family is Family.LOGIT)
    return any(FLAT < new < last * np.exp(-SETTLED) for last, new in ends)


def _newton_batch(
    family: Family, scale: float, mean: float, kept: Bools, beta: Floats | None, rows: ModelRows, w: Floats
) -> Floats:
    from sdckit.models.glm import LOGIT, POISSON

    y = rows.y
    if not len(y):
        return np.zeros(0)
    response: Any = POISSON if family is Family.POISSON else LOGIT
    x, w = rows.x[:, kept], w * scale
    eta = response.predictor((mean + y) / 2) if beta is None else rows.of_records(x @ beta)
    mu, slope = response.mean(eta)
    slope = np.maximum(slope, FLAT)
    left = (eta if beta is None else 0.0) + (y - mu) / slope
    deviance = 0.0 if beta is None else response.deviance(eta, y, w)
    head = [len(y), w.sum(), 0.0, 0.0, mu.min(), mu.max(), 0.0, deviance, w @ mu, w @ (y - mu) ** 2]
    return _packed(head, rows.sums(w) @ x, x, *rows.means(w * slope, left))


def _unit_sums(records: Records, kept: Bools, beta: Floats, family: Family) -> UnitSums:
    """Sums of the scores w(y−μ)x over the units of the design."""
    reader, design = records.reader, records.design
    columns = dict.fromkeys([*reader.model.columns, *design.columns])
    rows = fold_batches(
        records.data.table.select(*columns),
        partial(_score_rows, reader, design, kept, beta, family),
        together=design.together,
        records=BATCH,
    )
    return UnitSums.of(rows, design.codes.height, len(beta), full=True)


def _score_rows(
    reader: Reader,
    design: EngineDesign,
    kept: Bools,
    beta: Floats,
    family: Family,
    frame: pl.DataFrame,
) -> Floats:
    from sdckit.models.glm import LOGIT, POISSON

    rows = reader.rows(frame)
    x = rows.x[:, kept]
    with one_thread():
        left = np.zeros(len(rows.y))
        if len(left):
            eta = rows.of_records(x @ beta)
            response = POISSON if family is Family.POISSON else LOGIT
            mu = eta if family is Family.OLS else response.mean(eta)[0]
            left = design.weights(frame)[rows.kept] * (rows.y - mu)
        if rows.row is not None and design.cluster is None:
            return design.rows_of_lines(frame, x, rows.row, left, rows.kept)
        scores = np.zeros((frame.height, len(beta)))
        inside = np.broadcast_to(rows.kept[:, None], scores.shape)
        if rows.kept.all():  # mostly so, and no copy then
            scores = left[:, None] * rows.of_records(x)
        elif len(left):
            scores[rows.kept] = left[:, None] * rows.of_records(x)
        return design.rows(frame, scores, inside, full=True)
