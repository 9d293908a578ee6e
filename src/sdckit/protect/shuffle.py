"""Data shuffling: numbers change hands so that their relations with other variables stay."""

from typing import Annotated

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
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


@protection(
    "Data shuffling",
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
    by: By = (),
    where: Where | None = None,
    rng: np.random.Generator,
) -> Microdata:
    r"""Give each variable's values to other records, in an order drawn from a regression on the predictors.

    Each variable and each number among the predictors becomes normal scores, z = Φ⁻¹((rank − ½)/n), ties
    sharing their mean rank; categories (text, and numbers in the keys role with at most 30 values) become
    dummies. With B from least squares and Σ the covariance of the residuals,

    .. math:: z^*_i = B^\top s_i + e_i, \qquad e_i \sim N(0, \Sigma)

    are drawn, and the record with the r-th smallest z* of a variable receives its r-th smallest value. The
    values of each variable stay exactly the same; rank correlations with the predictors and among the
    variables stay approximately, as far as they are monotone. A record's new value depends on its old one
    only through the predictors. Relations with variables that are no predictors are lost. The closer the
    predictors determine a variable, the less its values move: the log has the share explained (R²). Without
    predictors the variables keep their relations with each other alone.

    `by`: within strata, each with its own regression; strata with fewer than two records for each coefficient
    are pooled. Variables that households share are shuffled once per household, apart from the others.

    Missing values stay missing, where they are; a missing predictor is a category of its own. Weights are
    not used.
    `where`: protect only the records that a measure flags, see `sdckit.methods.where`.
    Reference: Muralidhar & Sarathy (2006), "Data shuffling", Management Science 52(5). Departure: least
    squares on normal scores in place of the rank correlation matrix, so that categories can be predictors.

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
    if data.height < ROOM * design.shape[1]:
        raise OptionError(
            "The predictors have too many categories for this file.",
            given=f"{design.shape[1]:,} coefficients",
            allowed=f"{data.height // ROOM:,} at most",
        )
    places = np.repeat(np.arange(data.height)[:, None], len(names), axis=1)
    explained = np.zeros(len(names))
    for rows in pooled_strata(data, by, ROOM * design.shape[1]):
        scores = np.column_stack([_normal_scores(data.frame[c].gather(rows)) for c in names])
        drawn, shares = _draw(scores, design[rows], rng)
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


def _design(data: Microdata, predictors: Columns) -> Floats:
    """A column of ones, normal scores of numbers, and dummies of categories and of missing values."""
    parts = [np.ones((data.height, 1))]
    data.require_categories(predictors)
    for name in dict.fromkeys(predictors):
        column = data.frame[name]
        if column.dtype.is_numeric() and (name not in data.roles.keys or column.n_unique() > MAX_CODES):
            scores = _normal_scores(column)
            missing = np.isnan(scores)
            parts.append(np.where(missing, 0.0, scores)[:, None])
            if missing.any():
                parts.append(missing.astype(np.float64)[:, None])
        else:
            # values that sort alike in any order of the records; the first category needs no dummy
            text = column.cast(pl.String)
            codes = text.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
            levels = np.unique(codes)[1:]
            if data.height < ROOM * len(levels):
                raise OptionError(f"The predictor {name!r} has too many categories.", given=len(levels) + 1)
            parts.append((codes[:, None] == levels).astype(np.float64))
    return np.hstack(parts)


def _draw(scores: Floats, design: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Fitted scores with new residuals, and the share explained of each column."""
    n, q = scores.shape
    fitted = np.zeros((n, q))
    residuals = np.full((n, q), np.nan)
    spread, explained = np.zeros(q), np.zeros(q)
    for j in range(q):
        present = ~np.isnan(scores[:, j])
        x, z = design[present], scores[present, j]
        # the pseudo-inverse leaves out what predictors repeat
        fitted[:, j] = design @ (np.linalg.pinv(x.T @ x, hermitian=True) @ (x.T @ z))
        residuals[present, j] = z - fitted[present, j]
        left, total = (residuals[present, j] ** 2).sum(), ((z - z.mean()) ** 2).sum() if len(z) else 0.0
        spread[j] = np.sqrt(left / max(len(z) - design.shape[1], 1))
        explained[j] = max(0.0, 1 - left / total) if total > 0 else 0.0
    complete = residuals[~np.isnan(residuals).any(axis=1)]
    size = np.sqrt((complete**2).sum(axis=0))
    unit = complete / np.where(size > 0, size, 1.0)
    correlation = unit.T @ unit
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    noise = rng.standard_normal((n, q)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return fitted + noise * spread, explained
