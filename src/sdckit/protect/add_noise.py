"""Noise: add random numbers to numbers, or multiply by them."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from math import sqrt
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from sdckit._support.arrays import Bools, Floats, column_pieces, scatter
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.methods.options import NUMERIC, By, OneOf, Option
from sdckit.methods.registry import protection
from sdckit.methods.where import Where
from sdckit.models.chi_square import chi_square_quantile
from sdckit.protect._households import once_per_household
from sdckit.protect._keyed_noise import NoiseRule, add_keyed_noise
from sdckit.protect._memory import require_memory
from sdckit.protect._numbers import (
    NumbersToChange,
    location_and_spread,
    matrix_of,
    number_columns,
    standardise,
    with_numbers,
)
from sdckit.protect._strata import pooled_strata

CENTRAL = 0.975  # records beyond this quantile of their robust squared distance are outliers
NOISE = 0.3  # where neither is given: the SD, for Kim's noise the variance
PLENTY = 50_000  # records, drawn at random, are enough to estimate where the bulk lies


class Noise(StrEnum):
    """What the noise looks like, and so what it keeps."""

    ADDITIVE = "additive"
    CORRELATED = "correlated"
    KIM = "kim"
    RESTRICTED = "restricted"
    OUTLIERS = "outliers"
    MULTIPLICATIVE = "multiplicative"


def _new_name(given: Mapping[str, Any]) -> str:
    """What `amount` was until version 0.2: the variance for Kim's noise, for all other the SD."""
    return "variance" if given.get("method") == Noise.KIM else "sd"


@protection(
    "Noise added to numbers",
    family="Changed values",
    engines="all",
    needs=Role.NUMERIC,
    reference="Kim (1986); Ting, Fienberg & Trottini (2008); Templ & Meindl (2008); Hundepool et al. (2012), "
    "ch. 3",
    rules=(OneOf(("sd", "variance")),),
    renamed={"amount": _new_name},
)
@once_per_household()
def add_noise(
    data: Microdata,
    *,
    variables: NumbersToChange = NUMERIC,
    method: Annotated[
        Noise,
        Option(
            "Noise",
            "What the noise looks like, and so what it keeps.",
            basic=True,
            choices={
                "additive": "independent noise: covariances stay, correlations shrink",
                "correlated": "noise with the covariance of the data: correlations stay",
                "kim": "as correlated, then drawn in: means and covariances stay in expectation",
                "restricted": "as kim, and means and covariances stay exactly",
                "outliers": "additive noise, only for records far from the bulk",
                "multiplicative": "random factors round 1: zeros and signs stay",
            },
        ),
    ] = Noise.ADDITIVE,
    sd: Annotated[
        float,
        Field(gt=0, le=10),
        Option(
            "Standard deviation of the noise",
            "As a share of the variable's standard deviation; with multiplicative noise, of the factors.",
            basic=True,
            absent="0.3, or by variance",
        ),
    ]
    | None = None,
    variance: Annotated[
        float,
        Field(gt=0, le=100),
        Option(
            "Variance of the noise",
            "As a share of each variable's variance: the square of sd.",
            absent="0.3 with kim, else by sd",
        ),
    ]
    | None = None,
    by: By = (),
    where: Where | None = None,
    rng: np.random.Generator,
) -> Microdata:
    r"""Change numbers by random noise of a given standard deviation (SD) or variance.

    `sd` is the SD of the noise as a share of the variable's, `variance` its square. With x̄ the means, S the
    covariance, S_j the SDs, a = sd and α = a² the variance:

    - `additive`: y = x + ε, ε_j ~ N(0, a²S_j²) independent. Variances grow by the factor 1+a², covariances
      stay, correlations shrink by 1/(1+a²). 0.5 is noise of half an SD.
    - `correlated`: y = x + ε, ε ~ N(0, a²S). All covariances grow by 1+a²; correlations stay.
    - `kim`: y = c(x−ε) + (1−c)x̄, ε ~ N(0, αS), c = √(1/(1+α)). Means and covariances stay, in expectation.
      α = 0.25 is noise of half an SD. Where neither is given, α is 0.3 here, and a is 0.3 in all others.
    - `restricted` (random orthogonal matrix masking): as Kim's, but the noise is turned so that means and
      covariances of the records without missing values stay exactly.
    - `outliers`: additive noise, only for records far from the bulk: those whose squared distance by the MCD
      estimate (of at most 50,000 records drawn at random) is beyond the 0.975 quantile of χ². Where more than
      half of the records share a value or lie on a plane, all off it are far. The others keep their values.
    - `multiplicative`: y = x·u, u log-normal with mean 1 and SD a, independent: 0.1 changes values by about
      ten percent. Means stay in expectation, zeros and signs always.

    Means stay in expectation with every method. Numbers that households share get the same noise for all
    members; moments are those of households. Whole numbers become decimal. `by`: within strata, with their
    own means and covariance; strata of fewer records than variables + 2 are pooled. A variable without two
    different values stays unchanged.

    On DuckDB and Spark the first three methods are there, and draw the same noise for the same seed. Who
    knows the seed and a record's old id can take its noise off: keep it as secret as the original, or give
    none.
    Missing values stay missing. S is made of the correlations of the records without missing values and the
    SDs of all present values; `restricted` gives records with missing values Kim's noise, drawn in to their
    own means; distances of
    `outliers` use the variables present. Weights are not used.
    `where`: protect only the records that a measure flags, see `sdckit.methods.where`.
    Reference: Kim (1986); Ting, Fienberg & Trottini (2008); Templ & Meindl (2008). Departures: `restricted`
    draws what the orthogonal matrix does to the variables, not the n × n matrix.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 4.0, 9.0]}), numeric="x")
    >>> noisy = sdc.protect.add_noise(data, method="restricted", sd=0.5, rng=1).frame["x"]
    >>> round(noisy.mean(), 6), round(noisy.var(), 6), round(data.frame["x"].var(), 6)
    (4.0, 12.666667, 12.666667)
    """
    names = number_columns(data, variables, "add_noise")
    if sd is None:
        sd = sqrt(variance or (NOISE if method is Noise.KIM else NOISE**2))
    if method in KEYED:
        return add_keyed_noise(data, names, KEYED[method](sd), by, rng)
    require_memory(data, f"Noise of the kind {method.value!r}")
    x = matrix_of(data, names)
    y = x.copy(order="K")
    for rows in pooled_strata(data, by, len(names) + 2):
        # a variable without any value would leave no complete records
        filled = ~np.isnan(x[rows]).all(axis=0)
        if len(rows) == len(x) and filled.all():  # as the file usually is: nothing to be picked out
            y = _METHODS[method](x, sd, rng)
        elif filled.any():
            block = np.ix_(rows, filled)
            y[block] = _METHODS[method](x[block], sd, rng)
    return with_numbers(data, names, x, y, effects=Effects(randomises=tuple(names)), whole=False)


KEYED: dict[Noise, Callable[[float], NoiseRule]] = {  # which engines outside memory can draw, too
    Noise.ADDITIVE: lambda sd: NoiseRule(sd, correlated=False, drawn_in=False),
    Noise.CORRELATED: lambda sd: NoiseRule(sd, correlated=True, drawn_in=False),
    Noise.KIM: lambda sd: NoiseRule(sd, correlated=True, drawn_in=True),
}


def _additive(x: Floats, sd: float, rng: np.random.Generator) -> Floats:
    return x + sd * location_and_spread(x)[1] * rng.standard_normal(x.shape)


def _kim(x: Floats, sd: float, rng: np.random.Generator, about: Floats | None = None) -> Floats:
    mean = location_and_spread(x)[0] if about is None else about
    # c(x−ε) + (1−c)x̄ in a form that leaves constant columns alone
    return mean + sqrt(1 / (1 + sd**2)) * (x - mean - sd * _like(x, rng))


def _restricted(x: Floats, sd: float, rng: np.random.Generator) -> Floats:
    complete = ~np.isnan(x).any(axis=1)
    if complete.sum() < x.shape[1] + 2:  # with fewer there is little room to turn
        return _kim(x, sd, rng)
    # drawn in to their own means, or those of all records would move: the complete ones keep theirs
    y = _kim(x, sd, rng, location_and_spread(x[~complete])[0])
    y[complete] = _turn(x[complete], sd, rng)
    return y


def _outliers(x: Floats, sd: float, rng: np.random.Generator) -> Floats:
    return np.where(_far(x, rng)[:, None], _additive(x, sd, rng), x)


def _multiplicative(x: Floats, sd: float, rng: np.random.Generator) -> Floats:
    variance = np.log1p(sd**2)
    return np.asarray(x * np.exp(sqrt(variance) * rng.standard_normal(x.shape) - variance / 2))


_METHODS: dict[Noise, Callable[[Floats, float, np.random.Generator], Floats]] = {
    Noise.RESTRICTED: _restricted,
    Noise.OUTLIERS: _outliers,
    Noise.MULTIPLICATIVE: _multiplicative,
}


def _like(x: Floats, rng: np.random.Generator) -> Floats:
    """Normal noise of mean 0 with the covariance of x."""
    spread = location_and_spread(x)[1]
    missing = np.isnan(x).any(axis=1)
    z = standardise(x[~missing] if missing.any() else x)
    correlation = scatter(z.T) / max(len(z) - 1, 1)
    np.fill_diagonal(correlation, 1.0)  # also where few complete records leave a column without spread
    size, direction = np.linalg.eigh(correlation)
    root = spread[:, None] * direction * np.sqrt(np.maximum(size, 0.0))
    draws = rng.standard_normal(x.shape).T
    return np.hstack([root @ piece for piece in column_pieces(draws)]).T


def _turn(x: Floats, sd: float, rng: np.random.Generator) -> Floats:
    """Complete records turned at random in the space of records: the same means and covariance.

    The columns of x are x̄ + U·(r × p matrix) with U orthonormal and orthogonal to the vector of ones. U is
    replaced by the orthonormal matrix nearest to U + sd·noise, the noise orthogonal to the ones too.
    """
    mean, spread = location_and_spread(x)
    u, size, direction = np.linalg.svd(standardise(x), full_matrices=False)
    rank = int((size > size[0] * max(x.shape) * np.finfo(float).eps).sum())
    if not rank:
        return x
    noise = rng.standard_normal((len(x), rank)) / sqrt(len(x) - 1)
    q, triangle = np.linalg.qr(u[:, :rank] + sd * (noise - noise.mean(axis=0)))
    left, _, right = np.linalg.svd(triangle)
    turned = q @ (left @ right) * size[:rank] @ direction[:rank]
    return np.asarray(mean + spread * turned)


def _far(x: Floats, rng: np.random.Generator) -> Bools:
    """Records far from the bulk in the variables they have."""
    from sdckit.models.mcd import mcd

    z = standardise(x)[:, location_and_spread(x)[1] > 0]
    if not z.size:
        return np.zeros(len(x), dtype=bool)
    present = ~np.isnan(z)
    sample = np.flatnonzero(present.all(axis=1))
    if len(sample) > PLENTY:
        sample = rng.choice(sample, PLENTY, replace=False)
    limits = np.append(
        0.0, chi_square_quantile(CENTRAL, np.arange(1, z.shape[1] + 1))
    )  # by the number of variables
    squares = mcd(np.ascontiguousarray(z[sample])).squared_distances(z)
    return np.asarray(squares > limits[present.sum(axis=1)])
