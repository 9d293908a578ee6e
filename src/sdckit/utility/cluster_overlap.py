"""Cluster overlap: do the files mix in every region of the data?"""

import math
from typing import Annotated, Any

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Codes, Floats
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.methods.options import ComparedColumns, Option
from sdckit.methods.registry import utility
from sdckit.methods.spec import Better, Figure
from sdckit.utility._stacked import Stack, stacked, sums

_MOST_FITTED = 20_000  # distinct records that place the centres; all records are then assigned to them


@utility(
    "Cluster overlap (Uc)",
    family="Whole distributions",
    bounds=(0, 1),
    unit="mean squared distance of a cluster's share of original records from the overall share",
    reference="Woo, Reiter, Oganian & Karr (2009)",
    chart=charts.cluster_shares,
    main="variables",
    figures={
        "clusters": Figure("Clusters", "clusters", Better.NEITHER),
        "expected_by_chance": Figure(
            "Expected of two samples of one population", better=Better.NEITHER, bounds=(0, 1)
        ),
    },
    interpretation=(
        "0: both files are present in every cluster in the same proportion. 0.25: every cluster has records "
        "of one file only (equal sizes). Two samples of one population give about what is expected by chance."
    ),
)
def cluster_overlap(
    original: Microdata,
    protected: Microdata,
    *,
    variables: ComparedColumns = (),
    groups: Annotated[
        int, Field(ge=2), Option("Clusters", "How many clusters the records of both files are put into.")
    ] = 20,
) -> Result:
    r"""How unevenly the two files spread over clusters of the stacked records.

    .. math:: U_c = \frac{1}{G}\sum_g \left(\frac{n_{gX}}{n_g} - c\right)^2

    n_gX of the n_g records in cluster g are original, c = n/(n+m). 0: every cluster has the overall share;
    the largest value is reached when no cluster has records of both files: 0.25 for files of equal length.

    Clusters come from k-means (fixed seed) on both files together: numbers standardised, categorical
    variables as indicators scaled so that a variable has variance 1 in all. `groups`: G, fewer where there
    are fewer distinct records. With more than 20,000 distinct records the centres are placed by every n-th
    of them in sorted order. All clusters count the same (Woo's cluster weights are 1).

    `variables`: keys, numeric and sensitive columns in both files by default. A key of numbers with more than
    20 values, most of them without a label, as an age in years, is a number. Missing: a category, or for
    numbers the mean and an indicator. Variables coded as numbers in one file and text in the other are
    left out.

    Weights: records count with their survey weight in clusters and shares, each file's weights scaled to add
    up to its number of records. `expected_by_chance` is the mean of c(1−c)/n_g, by numbers of records.
    Reference: Woo et al. (2009).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 11.0, 12.0]}), numeric="x")
    >>> other = data.with_frame(pl.DataFrame({"x": [1.0, 1.5, 2.0, 12.0]}))
    >>> sdc.utility.cluster_overlap(data, other, groups=2).parts["share_original"].round(6).to_list()
    [0.4, 0.666667]
    """
    stack = stacked(original, protected, variables, ordered=True)
    if not stack.variables:
        return Result(math.nan, notes=(*stack.notes, "No variable to compare."), lost=stack.lost)
    mass = stack.original + stack.protected
    labels = _clusters(_points(stack), mass, min(groups, len(mass)))
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    x, total = sums(labels, stack.original), sums(labels, mass)
    records = np.bincount(labels[stack.place])
    c = 1 - stack.share
    parts = pl.DataFrame({"weight": total, "records": records, "share_original": x / total}).sort(
        "weight", "share_original", descending=[True, False]
    )
    parts = parts.with_columns(((pl.col("share_original") - c) ** 2).alias("distance"))
    parts.insert_column(0, pl.Series("cluster", np.arange(1, len(x) + 1)))
    value = float(np.mean((x / total - c) ** 2))
    figures = {"clusters": len(x), "expected_by_chance": float(np.mean(c * (1 - c) / records))}
    notes = stack.notes
    if len(x) < groups:
        notes += (f"There are only {len(x)} clusters of distinct records.",)
    return Result(value, figures, parts, notes, lost=stack.lost)


def _points(stack: Stack) -> Any:
    """Numbers unchanged, categories as indicators divided by the root of their total variance."""
    from scipy.sparse import csr_matrix

    mass = stack.original + stack.protected
    total = mass.sum()
    columns: list[Codes] = []
    values: list[Floats] = []
    width = 0
    for v in stack.variables:
        if v.codes is not None:
            shares = sums(v.codes, mass, v.levels) / total
            columns.append(width + v.codes)
            values.append(np.full(len(mass), _inverse_root(np.sum(shares * (1 - shares)))))
            width += v.levels
            continue
        entries = [np.asarray(v.values)]
        if v.missing is not None:
            p = np.sum(mass * v.missing) / total
            entries.append(v.missing * _inverse_root(p * (1 - p)))
        for entry in entries:
            columns.append(np.full(len(mass), width, dtype=np.int32))
            values.append(entry)
            width += 1
    starts = np.arange(len(mass) + 1) * len(columns)
    flat = np.column_stack(values).ravel(), np.column_stack(columns).ravel(), starts
    return csr_matrix(flat, shape=(len(mass), width))


def _inverse_root(variance: float) -> float:
    return 1 / math.sqrt(variance) if variance > 1e-12 else 0.0


def _clusters(points: Any, mass: Floats, groups: int) -> Codes:
    if groups == 1 or points.shape[0] <= groups:
        return np.arange(points.shape[0], dtype=np.int32)
    from sdckit.kernels._threads import one_thread
    from sdckit.models.k_means import k_means, nearest_centre

    step = -(-points.shape[0] // _MOST_FITTED)
    with one_thread():  # the same sums every time, and no threads in each other's way
        return nearest_centre(points, k_means(points[::step], groups, mass[::step], starts=3))
