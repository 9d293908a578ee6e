"""Eigenvalues of the correlation matrix before and after."""

import math
from enum import StrEnum
from typing import Annotated

import numpy as np
import polars as pl

from sdckit import charts
from sdckit._support.arrays import Floats
from sdckit._support.number_text import count_of
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.engine import frames, tables
from sdckit.errors import EngineError
from sdckit.methods.options import NUMERIC, NumericColumns, Option, Requires
from sdckit.methods.registry import utility
from sdckit.utility._continuous import Source, complete, matrices, numeric_pair

SINGULAR = (
    "The MCD covariance of a file is singular: half of its records lie on a plane, or there are too few. The "
    "plain covariances of both took its place."
)
_TINY = 1e-10  # an eigenvalue below this share of p cannot be divided by


class MissingNumbers(StrEnum):
    """The records of a covariance: those without a missing number, or for each pair those with both."""

    COMPLETE = "complete"
    PAIRWISE = "pairwise"


@utility(
    "Change of eigenvalues",
    family="Numbers",
    unit="relative change, added over components",
    needs=Role.NUMERIC,
    engines="all",
    reference="Templ (2017), ch. 5; Rousseeuw & Van Driessen (1999) for the robust version",
    main="variables",
    rules=(Requires("missing", "robust", (False,)),),
    chart=charts.PartsBeforeAfter("eigenvalue", prefix="component "),
    interpretation=(
        "0: the principal components explain what they explained. The sum over components is large when "
        "small eigenvalues grow, as noise makes them: 1 in all is visible, 10 means the structure is gone."
    ),
)
def eigenvalues(
    original: Microdata,
    protected: Microdata,
    *,
    variables: NumericColumns = NUMERIC,
    robust: Annotated[
        bool, Option("Robust", "Use a covariance that outliers cannot move (MCD), which takes no weights.")
    ] = False,
    missing: Annotated[
        MissingNumbers,
        Option(
            "Missing numbers",
            "Which records a covariance is computed from.",
            choices={
                "complete": "records without a missing number",
                "pairwise": "for each pair of variables the records that have both",
            },
        ),
    ] = MissingNumbers.COMPLETE,
) -> Result:
    r"""How far the eigenvalues of the covariance of the standardised data move.

    .. math:: \sum_j \frac{|e_j-e'_j|}{e_j}

    Each file is standardised by its own means and standard deviations, so these are the eigenvalues of the
    correlation matrices, in decreasing order. With `robust` they are those of the reweighted MCD covariance
    of the standardised data, which outliers cannot move (a fixed seed: the same files give the same value);
    where half of the records of a file lie on a plane, as with many zeros, plain ones, and a note says so.

    Weights: correlations are weighted; the MCD has no weights, and a note says so. Missing values: complete
    records of each file, or with `missing="pairwise"` for each covariance the records with both numbers (as
    sdcMicro; not with `robust`). Original eigenvalues of 0 are left out with a note. Files may differ in
    length. Reference: Templ (2017).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [-1.0, -1, 1, 1], "y": [-1.0, 1, -1, 1]}), numeric=["x", "y"])
    >>> other = data.with_frame(pl.DataFrame({"x": [-1.0, -1, 1, 1], "y": [-1.0, -1, 1, 1]}))
    >>> round(sdc.utility.eigenvalues(data, other).value, 6)  # (1, 1) → (2, 0)
    2.0
    """
    pair = numeric_pair(original, protected, variables)
    found = matrices(pair)
    names, notes = found.variables, found.notes
    if not names:
        return Result(math.nan, notes=(*notes, "No variable to compare."), lost=found.lost)
    both = found.correlation
    if robust:
        _refuse_engine(original)
        both, singular = _robust(pair.original, pair.protected, names=names)
        if pair.weighted:
            notes += ("The robust covariance does not use weights.",)
        if singular:
            notes += (SINGULAR,)
    elif missing is MissingNumbers.PAIRWISE:
        both = _pairwise(pair.original, names), _pairwise(pair.protected, names)
    parts = changes(*both)
    lost = int(parts["change"].null_count())
    if lost:
        zero = count_of(lost, "eigenvalue of the original is", "eigenvalues of the original are")
        notes += (f"{zero} 0, without a relative change: left out.",)
    if lost == len(names):
        return Result(math.nan, {}, parts, notes, lost=found.lost)
    return Result(float(parts["change"].sum()), {}, parts, notes, lost=found.lost)


def changes(first: Floats, second: Floats) -> pl.DataFrame:
    """Eigenvalues of two covariance matrices in decreasing order with |e−e′|/e, null where e is 0."""
    e, e2 = (np.linalg.eigvalsh(m)[::-1] for m in (first, second))
    floor = _TINY * max(float(e[0]), 0.0)
    change = [abs(a - b) / a if a > floor else None for a, b in zip(e.tolist(), e2.tolist(), strict=True)]
    columns = {"component": range(1, len(e) + 1), "original": e, "protected": e2}
    return pl.DataFrame({**columns, "change": pl.Series(change, dtype=pl.Float64)})


def _pairwise(source: Source, names: tuple[str, ...]) -> Floats:
    """Covariances of the standardised variables, each over the records that have both."""
    table, weight = source
    spread = tables.moments(table, names, weight).variance
    matrix = np.eye(len(names))
    for i, a in enumerate(names):
        for j, b in enumerate(names[:i]):
            s = math.sqrt((spread[a] or math.nan) * (spread[b] or math.nan))
            matrix[i, j] = matrix[j, i] = tables.covariance(table, [a, b], weight)[0, 1] / s
    return matrix


def _robust(*sources: Source, names: tuple[str, ...]) -> tuple[tuple[Floats, Floats], bool]:
    """The MCD covariances of both files; the plain ones, which is said, where one has no inverse."""
    from sdckit.models.mcd import mcd_or_plain

    files = [frames.gather(complete(source, names).select(*names)).to_numpy() for source in sources]
    first, second = ((x - x.mean(axis=0)) / x.std(axis=0, ddof=1) for x in files)
    (_, before, odd), (_, after, odd_after) = mcd_or_plain(first), mcd_or_plain(second)
    if odd or odd_after:
        before, after = (np.atleast_2d(np.cov(z, rowvar=False)) for z in (first, second))
    return (before, after), odd or odd_after


def _refuse_engine(original: Microdata) -> None:
    if original.engine != "polars":
        raise EngineError(
            "eigenvalues(robust=True) needs the records in memory.",
            given=f"the {original.engine} engine",
            allowed="polars",
            hint="data.collect() brings them into memory.",
            plan_hint="Without engine under data: in the plan they are read into memory.",
        )
