"""Means, deviations and correlations of strata, the same to the last digit on every engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import frexp, sqrt

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit.engine import frames
from sdckit.engine.exact_sums import ExactSum, exact_sums
from sdckit.engine.joins import join_to_records
from sdckit.engine.tables import OURS, Table

TINY = 1e-12  # what is left of a variance of 1 in rounding, where others tell the variable


@dataclass(frozen=True, slots=True)
class Moments:
    """Of a stratum: mean and SD (n−1) of each variable's present values, and a root of the covariance.

    root [p, p] is lower triangular with root·rootᵀ = S, made of the correlations of the records without
    missing values and the SDs of all present values; None without `correlated`. Variables without values
    have 0.
    """

    mean: list[float]
    spread: list[float]
    root: Floats | None


def moments_of(
    table: Table, stratum: str, variables: Sequence[str], *, correlated: bool
) -> dict[int, Moments]:
    """The moments of the variables in each stratum, which is a column of whole numbers."""
    xs, ms, ds = ([f"{OURS}{part}{j}" for j in range(len(variables))] for part in ("x", "m", "d"))
    numbers = [nw.col(c).cast(nw.Float64).alias(x) for c, x in zip(variables, xs, strict=True)]
    table = table.select(nw.col(stratum).alias(stratum), *numbers)
    largest = frames.gather(table.select(*(nw.col(x).abs().max() for x in xs))).row(0)
    # powers of 2 are exact, and squares of numbers up to 1 cannot overflow
    exponents = [min(max(frexp(size or 0.0)[1], -900), 1000) for size in largest]
    table = table.with_columns(nw.col(x) * 2.0**-e for x, e in zip(xs, exponents, strict=True))
    sums = exact_sums(table, xs, [stratum])
    means = {key: [s.mean if s.n else None for s in found] for (key,), found in sums.items()}
    centres = pl.DataFrame(
        [(key, *found) for key, found in means.items()],
        schema={stratum: pl.Int64, **dict.fromkeys(ms, pl.Float64)},
        orient="row",
    )
    table = join_to_records(table, centres, [stratum], ms)
    table = table.with_columns((nw.col(x) - nw.col(m)).alias(d) for x, m, d in zip(xs, ms, ds, strict=True))
    spreads = _spreads(table, ds, stratum)
    roots = _roots(table, xs, ms, ds, stratum) if correlated else {}
    found = {}
    for key, mean in means.items():
        scale = np.ldexp(1.0, exponents)
        spread = (np.array(spreads[key]) * scale).tolist()
        root = roots[key] * np.array(spread)[:, None] if correlated else None
        found[key] = Moments(
            [float(m or 0.0) * float(s) for m, s in zip(mean, scale, strict=True)], spread, root
        )
    return found


def _spreads(table: Table, ds: Sequence[str], stratum: str) -> dict[int, list[float]]:
    squares = [f"{d}s" for d in ds]
    table = table.with_columns((nw.col(d) * nw.col(d)).alias(s) for d, s in zip(ds, squares, strict=True))
    sums = exact_sums(table, [*ds, *squares], [stratum])
    return {
        key: [
            sqrt(max(float(_co(first, first, second) / (first.n - 1)), 0.0)) if first.n > 1 else 0.0
            for first, second in zip(found[: len(ds)], found[len(ds) :], strict=True)
        ]
        for (key,), found in sums.items()
    }


def _roots(
    table: Table, xs: Sequence[str], ms: Sequence[str], ds: Sequence[str], stratum: str
) -> dict[int, Floats]:
    """A root of the correlation matrix of the records that miss no variable but those without values."""
    p = len(ds)
    has = [nw.col(m).is_null() | ~nw.col(x).is_null() for m, x in zip(ms, xs, strict=True)]
    complete = table.filter(nw.all_horizontal(*has, ignore_nulls=True))
    pairs = [(i, j) for i in range(p) for j in range(i + 1)]
    names = [f"{OURS}p{i}_{j}" for i, j in pairs]
    complete = complete.with_columns(
        (nw.col(ds[i]) * nw.col(ds[j])).alias(name) for (i, j), name in zip(pairs, names, strict=True)
    )
    sums = exact_sums(complete, [*ds, *names], [stratum])
    strata = frames.gather(table.select(stratum).unique())[stratum].to_list()
    found = {}
    for key in strata:
        matrix = np.eye(p)
        if (key,) in sums:
            first, second = sums[(key,)][:p], sums[(key,)][p:]
            products = {
                (i, j): float(_co(first[i], first[j], s)) for (i, j), s in zip(pairs, second, strict=True)
            }
            for i, j in pairs:
                size = products[i, i] * products[j, j]
                if i != j and size > 0:
                    matrix[i, j] = matrix[j, i] = products[i, j] / sqrt(size)
        found[key] = triangular_root(matrix)
    return found


def _co(first: ExactSum, second: ExactSum, product: ExactSum) -> Fraction:
    """The sum of products of two centred columns, corrected for the rounding of their centres."""
    return product.total - first.total * second.total / max(product.n, 1)


def triangular_root(matrix: Floats) -> Floats:
    """The lower triangular root of a correlation matrix by Cholesky's method, also of a singular one.

    In plain arithmetic and a fixed order: libraries of linear algebra differ in the last digits.
    """
    p = len(matrix)
    root = np.zeros((p, p))
    for j in range(p):
        left = float(matrix[j, j]) - sum(float(root[j, k]) ** 2 for k in range(j))
        if left <= TINY:
            continue
        root[j, j] = sqrt(left)
        for i in range(j + 1, p):
            rest = float(matrix[i, j]) - sum(float(root[i, k]) * float(root[j, k]) for k in range(j))
            root[i, j] = rest / float(root[j, j])
    return root
