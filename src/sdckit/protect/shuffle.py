"""Data shuffling: numbers change hands so that their relations with other variables stay."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit._support.messages import join_names
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.errors import OptionError
from sdckit.methods.options import NUMERIC, By, Columns, Option
from sdckit.methods.registry import protection
from sdckit.methods.where import Where
from sdckit.protect._households import once_per_household
from sdckit.protect._numbers import NumbersToChange, number_columns
from sdckit.protect._strata import pooled_strata

MAX_CODES = 30  # values of a key that is a category though its values are numbers
ROOM = 2  # records for each coefficient at least; with fewer the fit is so close that values hardly move
_LINEAR = np.eye(1, 21)[0]  # weights of the Hermite polynomials in a variable that stays as it is
_POINTS = 2_000  # at which a function of a normal variable is known


class Correlations(StrEnum):
    """Which correlations stay: of ranks (Spearman's), or of normal scores."""

    RANKS = "ranks"
    SCORES = "scores"


@protection(
    "Data shuffling",
    family="Exchanged values",
    needs=Role.NUMERIC,
    reference="Muralidhar & Sarathy (2006)",
)
@once_per_household
def shuffle(
    data: Microdata,
    *,
    variables: NumbersToChange = NUMERIC,
    predictors: Annotated[
        Columns,
        Option(
            "Predictors",
            "Variables with which the relations of the shuffled ones stay.",
            basic=True,
            absent="no predictors",
        ),
    ] = (),
    correlations: Annotated[
        Correlations,
        Option(
            "Correlations that stay",
            "What the order of the new values is drawn from.",
            choices={
                "ranks": "rank correlations (Spearman's)",
                "scores": "correlations of normal scores, which weigh large and small values more",
            },
        ),
    ] = Correlations.RANKS,
    by: By = (),
    where: Where | None = None,
    rng: np.random.Generator,
) -> Microdata:
    r"""Give each variable's values to other records, in an order drawn from a regression on the predictors.

    Each variable and each number among the predictors becomes normal scores, z = Φ⁻¹((rank − ½)/n), ties
    sharing their mean rank; categories (text, and numbers in the keys role with at most 30 values) become
    dummies, all with mean 0 and variance 1. With R_s the correlations of the predictors s, R_sz those with
    the variables, R_z those among the variables and B = R_s⁻¹R_sz,

    .. math:: z^*_i = B^\top s_i + e_i, \qquad e_i \sim N(0, R_z - R_{sz}^\top B)

    are drawn, and the record with the r-th smallest z* of a variable receives its r-th smallest value. The
    values of each variable stay exactly the same. `correlations`: with `ranks` the matrices are made of
    Spearman's correlations r, of two numbers as the correlation ρ of normal variables whose ranks, with the
    same ties, have the correlation r: without ties ρ = 2·sin(πr/6). With w_k and v_k the weights of the
    normalised Hermite polynomials in the ranks as functions of a normal variable it solves
    r = Σ w_k v_k ρᵏ (Mehler), and of a number and a dummy it is r/w_1; so rank correlations stay
    approximately, also of a variable that is 0 for most. With `scores` B is least squares on the scores and
    those of the scores stay, which may move rank correlations by 0.05 where a relation is not that of normal
    variables.
    A record's new value depends on its old one only through the predictors. Relations with variables that
    are no predictors are lost, and so is what is not monotone. The closer the predictors determine a
    variable, the less its values move: the log has the share explained (R²). Without predictors the
    variables keep their relations with each other alone.

    `by`: within strata, each with its own regression; strata with fewer than two records for each coefficient
    are pooled. Variables that households share are shuffled once per household, apart from the others.

    Missing values stay missing, where they are; a missing predictor is a category of its own. Weights are
    not used.
    `where`: protect only the records that a measure flags, see `sdckit.methods.where`.
    Reference: Muralidhar & Sarathy (2006), "Data shuffling", Management Science 52(5). Departure: categories
    can be predictors.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"age": range(20, 80), "pay": range(60)}), numeric="pay")
    >>> done = sdc.protect.shuffle(data, predictors="age", rng=1)
    >>> sorted(done.frame["pay"]) == list(range(60)), done.log[-1].figures["explained"]
    (True, {'pay': 1.0})
    """
    names = number_columns(data, variables, "shuffle")
    both = [c for c in names if c in predictors]
    if both:
        raise OptionError("A variable cannot predict itself.", given=join_names(both))
    design = _design(data, predictors)
    if data.height < ROOM * design.coefficients:
        raise OptionError(
            "The predictors have too many categories for this file.",
            given=f"{design.coefficients:,} coefficients",
            allowed=f"{data.height // ROOM:,} at most",
        )
    draw = _by_ranks if correlations is Correlations.RANKS else _by_scores
    places = np.repeat(np.arange(data.height)[:, None], len(names), axis=1)
    explained = np.zeros(len(names))
    for rows in pooled_strata(data, by, ROOM * design.coefficients):
        scores = np.column_stack([_normal_scores(data.frame[c].gather(rows)) for c in names])
        drawn, shares = draw(scores, design.of(rows), rng)
        explained += shares * len(rows) / data.height
        for j, name in enumerate(names):
            present = rows[~np.isnan(scores[:, j])]
            receiving = present[np.argsort(drawn[~np.isnan(scores[:, j]), j], kind="stable")]
            values = data.frame[name].gather(present)
            places[receiving, j] = present[values.arg_sort().to_numpy()]
    columns = [data.frame[name].gather(places[:, j]) for j, name in enumerate(names)]
    changed = sum(int((new != data.frame[new.name]).sum()) for new in columns)
    figures = {name: round(float(share), 4) for name, share in zip(names, explained, strict=True)}
    effects = Effects(moves_values=tuple(names))
    frame = data.frame.with_columns(columns)
    return data.with_frame(frame, effects=effects, values_changed=changed, explained=figures)


def _normal_scores(column: pl.Series) -> Floats:
    """Φ⁻¹((rank − ½)/n) of the present values; nan where missing."""
    from scipy.special import ndtri

    rank = column.rank("average").cast(pl.Float64).to_numpy()
    return np.asarray(ndtri((rank - 0.5) / max(len(column) - column.null_count(), 1)))


@dataclass(frozen=True, slots=True)
class _Design:
    """Normal scores of numbers, and dummies of categories and of missing values: [n, m]."""

    columns: Floats
    is_number: Bools

    @property
    def coefficients(self) -> int:
        """One for each column, and a constant."""
        return len(self.is_number) + 1

    def of(self, rows: Ints) -> "_Design":
        """These records."""
        return _Design(self.columns[rows], self.is_number)


def _design(data: Microdata, predictors: Columns) -> _Design:
    parts, is_number = [np.empty((data.height, 0))], []
    data.require_categories(predictors)
    for name in dict.fromkeys(predictors):
        column = data.frame[name]
        if column.dtype.is_numeric() and (name not in data.roles.keys or column.n_unique() > MAX_CODES):
            scores = _normal_scores(column)
            missing = np.isnan(scores)
            parts.append(np.where(missing, 0.0, scores)[:, None])
            is_number.append(True)
            if missing.any():
                parts.append(missing.astype(np.float64)[:, None])
                is_number.append(False)
        else:
            # values that sort alike in any order of the records; the first category needs no dummy
            text = column.cast(pl.String)
            codes = text.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
            levels = np.unique(codes)[1:]
            if data.height < ROOM * len(levels):
                raise OptionError(f"The predictor {name!r} has too many categories.", given=len(levels) + 1)
            parts.append((codes[:, None] == levels).astype(np.float64))
            is_number += [False] * len(levels)
    return _Design(np.hstack(parts), np.array(is_number, dtype=bool))


def _by_ranks(scores: Floats, design: _Design, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Drawn scores that keep rank correlations, and the share explained of each column."""
    n, q = scores.shape
    s = _standardised(design.columns)
    matrix = _normal_correlations(scores, design)
    values, vectors = np.linalg.eigh(matrix[q:, q:])
    used = values > 1e-9 * max(len(values), 1)  # what predictors repeat is left out
    inverse = (vectors[:, used] / values[used]) @ vectors[:, used].T
    coefficients = inverse @ matrix[q:, :q]
    left = matrix[:q, :q] - matrix[:q, q:] @ coefficients
    values, vectors = np.linalg.eigh(left)
    noise = rng.standard_normal((n, q)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return s @ coefficients + noise, np.clip(1 - np.diag(left), 0.0, 1.0)


def _normal_correlations(scores: Floats, design: _Design) -> Floats:
    """Of the variables and then the predictors: those of normal variables with their rank correlations.

    Pairs of records in which both are present; a missing predictor, which has a dummy, counts as the middle.
    """
    from scipy.special import ndtr

    ranks = ndtr(np.hstack([scores, design.columns])) - 0.5
    is_number = np.append(np.ones(scores.shape[1], dtype=bool), design.is_number)
    ranks[:, ~is_number] = design.columns[:, ~design.is_number]
    missing = np.isnan(ranks)
    matrix = np.zeros((len(is_number), len(is_number)))
    if not missing.any():
        matrix = _standardised(ranks).T @ _standardised(ranks) / max(len(ranks), 1)
    else:
        for i in range(len(is_number)):
            for j in range(i):
                both = _standardised(ranks[~missing[:, i] & ~missing[:, j]][:, [i, j]])
                matrix[i, j] = matrix[j, i] = both[:, 0] @ both[:, 1] / max(len(both), 1)
    shapes = np.column_stack(
        [_shape(ranks[~missing[:, j], j]) if is_number[j] else _LINEAR for j in range(len(is_number))]
    )
    columns, q = _standardised(design.columns), scores.shape[1]
    for i in range(len(is_number)):
        for j in np.flatnonzero(is_number[:i] | is_number[i]).tolist():
            matrix[i, j] = matrix[j, i] = _of_normal_variables(matrix[i, j], shapes[:, i] * shapes[:, j])
    # ties make the scores of a predictor follow its ranks more closely than a normal variable would
    follows = (columns * _standardised(ranks[:, q:])).mean(axis=0)
    tied = design.is_number & (follows > 0) & np.array([_has_ties(s) for s in columns.T], dtype=bool)
    part = np.where(tied, shapes[0, q:] / np.where(tied, follows, 1.0), 1.0)
    every = np.append(np.ones(q), part)
    matrix = np.clip(matrix * np.outer(every, every), -1.0, 1.0)
    np.fill_diagonal(matrix, 1.0)
    # pairs of their own need not fit together: the nearest matrix that is one of correlations
    values, vectors = np.linalg.eigh(matrix)
    nearest = (vectors * np.maximum(values, 0.0)) @ vectors.T
    size = np.sqrt(np.diag(nearest))
    return np.asarray(nearest / np.outer(size, size))


def _shape(ranks: Floats) -> Floats:
    """The weights of the Hermite polynomials 1, 2, … in the ranks as a function of a normal variable.

    Without ties their squares are those of (6/π)·arcsin(ρ/2), the first √(3/π). Ties make a step of the
    function, and the first weight smaller.
    """
    from scipy.special import binom, ndtri

    if not len(ranks) or ranks.max() == ranks.min():
        return np.asarray(_LINEAR)
    if not _has_ties(ranks):
        odd = np.arange(0, len(_LINEAR), 2)
        half = odd // 2
        squares = 6 / np.pi * binom(odd, half) / 4.0**half / (odd + 1) / 2.0 ** (odd + 1)
        continuous = np.zeros(len(_LINEAR))
        continuous[odd] = np.sqrt(squares) * (-1.0) ** half
        return continuous
    middle = (np.arange(_POINTS) + 0.5) / _POINTS
    z = ndtri(middle)
    function = _standardised(np.sort(ranks)[(middle * len(ranks)).astype(np.int64)][:, None])[:, 0]
    before, now, weights = np.ones(_POINTS), z, np.empty(len(_LINEAR))
    for k in range(len(_LINEAR)):
        weights[k] = function @ now / _POINTS
        before, now = now, (z * now - np.sqrt(k + 1) * before) / np.sqrt(k + 2)
    return np.asarray(weights)


def _has_ties(values: Floats) -> bool:
    return len(np.unique(values)) < len(values)


def _of_normal_variables(correlation: float, weights: Floats) -> float:
    """The correlation ρ of two normal variables at which functions of them have this one: Σ w_k ρ^k."""
    rho = np.linspace(-1, 1, 401)
    made = np.maximum.accumulate(np.polynomial.polynomial.polyval(rho, np.append(0.0, weights)))
    return float(np.interp(correlation, made, rho))


def _standardised(columns: Floats) -> Floats:
    """With mean 0 and variance 1 (divisor n); a column of one value becomes 0."""
    if not len(columns):
        return columns
    centred = columns - columns.mean(axis=0)
    size = np.sqrt((centred**2).mean(axis=0))
    return np.asarray(centred / np.where(size > 1e-12, size, 1.0))


def _by_scores(scores: Floats, design: _Design, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Fitted scores with new residuals, and the share explained of each column."""
    n, q = scores.shape
    predictors = np.hstack([np.ones((n, 1)), design.columns])
    fitted = np.zeros((n, q))
    residuals = np.full((n, q), np.nan)
    spread, explained = np.zeros(q), np.zeros(q)
    for j in range(q):
        present = ~np.isnan(scores[:, j])
        x, z = predictors[present], scores[present, j]
        # the pseudo-inverse leaves out what predictors repeat
        fitted[:, j] = predictors @ (np.linalg.pinv(x.T @ x, hermitian=True) @ (x.T @ z))
        residuals[present, j] = z - fitted[present, j]
        left, total = (residuals[present, j] ** 2).sum(), ((z - z.mean()) ** 2).sum() if len(z) else 0.0
        spread[j] = np.sqrt(left / max(len(z) - predictors.shape[1], 1))
        explained[j] = max(0.0, 1 - left / total) if total > 0 else 0.0
    complete = residuals[~np.isnan(residuals).any(axis=1)]
    size = np.sqrt((complete**2).sum(axis=0))
    unit = complete / np.where(size > 0, size, 1.0)
    correlation = unit.T @ unit
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    noise = rng.standard_normal((n, q)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return fitted + noise * spread, explained
