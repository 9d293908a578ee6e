"""Distance between the joint empirical distribution functions."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from sdckit import charts
from sdckit._support.arrays import Floats
from sdckit._support.number_text import count_of
from sdckit.data.common_columns import common_numeric, lost_columns
from sdckit.data.keyed_sample import on_keyed_sample
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.data.values import in_words
from sdckit.engine import frames
from sdckit.errors import ColumnError
from sdckit.methods.options import NUMERIC, NumericColumns
from sdckit.methods.registry import utility
from sdckit.methods.spec import Compares, Figure, share
from sdckit.utility._variables import require_named

POINTS = 200  # of a curve, at most
RECORDS_A_POINT = 10  # at least, so that a curve is made of aggregates
UNLIKE = "A sample shows larger differences than the whole files have, by chance alone about 1/√n."
UNIT = 2.0**61  # shares of weight are whole multiples of 1/UNIT: their sums are exact in any order


class Stacked(NamedTuple):
    """The records of both files, the original's first."""

    points: Floats  # (n+m, p), nan where missing
    weights: Floats
    originals: int  # n

    def complete(self, columns: list[int]) -> "Stacked":
        """The records without missing values in these columns, and those columns only."""
        points = self.points[:, columns]
        kept = np.asarray(~np.isnan(points).any(axis=1))
        return Stacked(points[kept], self.weights[kept], int(kept[: self.originals].sum()))

    @property
    def protecteds(self) -> int:
        """m, the number of records of the protected file."""
        return len(self.points) - self.originals


@utility(
    "Distance of distribution functions (DU, DUW)",
    family="Whole distributions",
    unit="share of records",
    bounds=(0.0, 1.0),
    share=True,
    main="variables",
    figures={
        "du_max": share("Largest difference (DU)"),
        "du_sq": Figure("Mean squared difference (DU)", bounds=(0, 1)),
        "duw_max": share("Largest difference, weighted (DUW)"),
        "duw_sq": Figure("Mean squared difference, weighted (DUW)", bounds=(0, 1)),
    },
    needs=Role.NUMERIC,
    section="distribution",
    engines="all",
    compares=Compares.DISTRIBUTIONS,
    reference="Woo, Reiter, Oganian & Karr (2009); Kim, Measures of Data Utility for Complex Survey Data, "
    "for the weighted DUW",
    chart=charts.ecdf_curves,
    interpretation=(
        "0: the numbers have the same joint distribution. 0.1: for some combination of limits, the share of "
        "records at or below all of them differs by ten percentage points. 1: one file lies entirely below "
        "the other. DUW is the same for shares of the weighted population."
    ),
)
def ecdf_distance(
    original: Microdata, protected: Microdata, *, variables: NumericColumns = NUMERIC
) -> Result:
    r"""Greatest and mean squared difference of the joint empirical distribution functions.

    .. math:: \hat F(t) = \frac{\sum_k w_k\, I(x_{k1} \le t_1, \dots, x_{kp} \le t_p)}{\sum_k w_k}

    At all n+m records u of the two files together, DU_max = max |F̂_X(u)−F̂_Z(u)| and
    DU_sq = mean (F̂_X(u)−F̂_Z(u))², with w = 1; DUW_max and DUW_sq are the same with the survey weights.
    0 where the distributions are equal. DU_max = 1 where one file lies entirely below the other, or short of
    1 by a record's share where, in several variables, no record of a file is above all others of that file.

    The value is DU_max. `parts` has the four figures of each variable on its own, the table `curve` the
    difference F̂_X−F̂_Z of each variable at up to 200 quantiles. Files may differ in length.

    On DuckDB and Spark: of some 50,000 records drawn by their ids; a note has the standard error.
    Computed exactly, ties included, without comparing all pairs: time grows as M log^(p−1) M for M = n+m
    records and p variables, memory as M·p.

    Weights: DU takes none; DUW takes the weight role of each file, and equals DU where neither has one.
    Missing values: records with one among the variables are left out of their file's distribution, with a
    note; in `parts` and `curve` those missing in that variable.
    Reference: Woo, Reiter, Oganian & Karr (2009); the weighted version is Kim's (Measures of Data Utility for
    Complex Survey Data). Departures: none; the tables printed there have DU_sq and DUW_max interchanged.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 3.0], "w": [2.0, 1.0, 1.0]}), numeric="x", weight="w")
    >>> moved = data.with_frame(data.frame.with_columns(x=pl.Series([1.5, 2.0, 3.0])))
    >>> result = sdc.utility.ecdf_distance(data, moved)
    >>> round(result.value, 6), result.figures["duw_max"]
    (0.333333, 0.5)
    """
    if original.engine != "polars":
        return on_keyed_sample(_of_records, [original, protected], unlike=UNLIKE, variables=variables)
    return _of_records(original, protected, variables=variables)


def _of_records(original: Microdata, protected: Microdata, *, variables: Sequence[str]) -> Result:
    """The measure of files in memory."""
    if not variables:
        raise ColumnError("There is no variable to compare.", hint="Give variables=[…].")
    for column, kind in frames.schema(original.frame).items():
        if column in variables and not kind.is_numeric():
            raise ColumnError(
                f"ecdf_distance needs numbers; column {column!r} does not hold numbers.",
                given=in_words(kind),
                hint="contingency_tables compares categories.",
            )
    require_named(protected, variables)
    good, notes = common_numeric(original, protected, variables)
    gone = lost_columns(original, protected, variables, numeric=True)
    chosen = list(dict.fromkeys(good))
    if not chosen:
        return Result(math.nan, notes=(*notes, "No variable is numeric in both files."), lost=gone)
    empty = [c for c in chosen if any(d.frame[c].null_count() == d.height for d in (original, protected))]
    if empty:  # they would leave no record for the others
        notes = (*notes, f"No value present in one of the files, left out: {', '.join(empty)}.")
        chosen = [c for c in chosen if c not in empty]
        gone += tuple(c for c in empty if original.frame[c].null_count() < original.height)
    if not chosen:
        return Result(math.nan, notes=notes, lost=gone)
    both = Stacked(
        np.vstack([_matrix(original, chosen), _matrix(protected, chosen)]),
        np.concatenate([original.weights(), protected.weights()]),
        original.height,
    )
    joint = both.complete([*range(len(chosen))])
    for file, lost in (
        ("original", both.originals - joint.originals),
        ("protected", both.protecteds - joint.protecteds),
    ):
        if lost:
            notes = (
                *notes,
                f"{count_of(lost, 'record', 'records')} with a missing value left out of the {file} file.",
            )
    if not joint.originals or not joint.protecteds:
        return Result(
            math.nan, notes=(*notes, "One of the files has no record with all variables present."), lost=gone
        )
    parts, curves = [], []
    for j, name in enumerate(chosen):
        alone = both.complete([j])
        differences = _differences(alone)
        parts.append({"variable": name, **_figures(differences)})
        curves.append(_curve(name, alone.points[:, 0], differences))
    # one variable is its own joint distribution
    figures = _figures(_differences(joint) if len(chosen) > 1 else differences)
    tables = {"curve": pl.concat(curves)}
    return Result(figures["du_max"], figures, pl.DataFrame(parts), notes, tables, lost=gone)


def _matrix(data: Microdata, columns: list[str]) -> Floats:
    return np.asarray(data.frame.select(pl.col(columns).cast(pl.Float64)).to_numpy())


def _differences(both: Stacked) -> Floats:
    """F̂_X−F̂_Z at every record, unweighted (row 0) and weighted (row 1)."""
    from sdckit.kernels.dominance import dominance_sums

    n, m = both.originals, both.protecteds
    sign = np.where(np.arange(n + m) < n, 1, -1)
    # n·m times the shares 1/n and −1/m: whole numbers
    values = [np.where(sign > 0, m, -n)]
    units = [float(n * m)]
    if (both.weights != 1.0).any():
        w = both.weights
        totals = np.where(sign > 0, math.fsum(w[:n]), math.fsum(w[n:]))
        values.append(sign * np.rint(w / totals * UNIT).astype(np.int64))
        units.append(UNIT)
    sums = dominance_sums(both.points, np.array(values, dtype=np.int64))
    return np.vstack([sums[0] / units[0], sums[-1] / units[-1]])


def _figures(differences: Floats) -> dict[str, float]:
    greatest, squares = np.abs(differences).max(axis=1), (differences**2).mean(axis=1)
    return {
        "du_max": float(greatest[0]),
        "du_sq": float(squares[0]),
        "duw_max": float(greatest[1]),
        "duw_sq": float(squares[1]),
    }


def _curve(variable: str, x: Floats, differences: Floats) -> pl.DataFrame:
    """The differences at quantiles of both files together, never at the least or the greatest record."""
    points = max(1, min(POINTS, len(x) // RECORDS_A_POINT))
    at = np.unique(np.quantile(x, (np.arange(points) + 0.5) / points))
    order = np.argsort(x, kind="stable")
    # the last record at or below each point; quantiles are never below all records
    last = order[np.searchsorted(x[order], at, side="right") - 1]
    return pl.DataFrame(
        {
            "variable": [variable] * len(at),
            "value": at,
            "difference": differences[0, last],
            "weighted_difference": differences[1, last],
        }
    )
