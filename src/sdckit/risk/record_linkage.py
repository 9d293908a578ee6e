"""Distance-based record linkage: is the nearest original a record's own?"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit._support.messages import join_names
from sdckit.charts.bars import nothing_to_draw, variable_bars
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import PROTECTED, match_records, position_note
from sdckit.data.result import Result
from sdckit.engine import frames
from sdckit.errors import RoleError
from sdckit.methods.options import NUMERIC, NumericColumns
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Compares, records, share
from sdckit.risk._points import DistanceOption, Points, by_record, points
from sdckit.risk._synthetic import in_all, lost_note, require_named
from sdckit.risk._uncertainty import wilson

DEPTHS = (1, 2, 3, 5, 10)
WORTH_A_TREE = 0.005  # share of the records that lack the same values


def chart(result: Result) -> Any:
    """Bars: how often the own record is among the nearest, and by chance."""
    if "nearest" not in result.tables:
        raise nothing_to_draw(result)
    table = result.tables["nearest"]
    labels = ["the nearest", *(f"among the {k} nearest" for k in table["k"][1:]), "the nearest by chance"]
    shares = [*table["share"], result.figures["by_chance"]]
    return variable_bars(labels, shares, axis="share of records", share=True)


@risk(
    "Records linked to their original",
    family="Numbers",
    bounds=(0, 1),
    unit="share of records",
    compares=Compares.RECORDS,
    share=True,
    main="variables",
    figures={
        "linked": records("Records linked correctly"),
        "certain": share("Certain links (nearest and alone)"),
        "second": share("Own record among the nearest two"),
        "third": share("Own record among the nearest three"),
        "by_chance": share("Right by guessing", better=Better.NEITHER),
        "low": share("At least (95 % interval)"),
        "high": share("At most (95 % interval)"),
    },
    chart=chart,
    reference="Pagliuca & Seri (1999); Domingo-Ferrer & Torra (2001)",
    interpretation=(
        "An intruder who holds the original values of everyone in the file links each protected record to "
        "the nearest original. 0: never right. 0.3: right for three records in ten; compare with what "
        "guessing gives (by_chance). This is the most an intruder can know, so a worst case. After swapping "
        "it shows values that were not moved far, after synthesis it says nothing."
    ),
)
def record_linkage(
    original: Microdata,
    protected: Microdata,
    *,
    variables: NumericColumns = NUMERIC,
    distance: DistanceOption = None,
) -> Result:
    r"""Share of protected records whose nearest original record is their own.

    .. math:: \frac1n \sum_i \frac{[\,d(y_i, x_i) = \min_l d(y_i, x_l)\,]}{\#\{l: d(y_i, x_l) = d(y_i, x_i)\}}

    Where t originals are equally near (also as duplicates), the own one counts 1/t, as an intruder who picks
    one of them is right so often. 0: the nearest is always another's. 1: every record is linked.

    `variables`: the numeric columns by default; categories may be among them. `distance`: `euclidean` (the
    default where all are numeric) or `manhattan`, in standard deviations (n−1) of the original, or `gower`
    (the default with categories): the mean over variables of |x−y|/range, the range of both files together,
    and of 0 or 1 for categories; levels of an Enum are ordered. Keys and sensitive columns are categories,
    but for numbers with more than 20 values and no value labels, as an age in years. Distances equal to nine
    digits are ties.

    figures: linked (expected number of right links), certain (share whose own record is the single nearest),
    second and third (share whose own is among the two or three nearest), by_chance 1/n, low and high (95 %
    interval of Wilson: what chance in the protection leaves open). tables: nearest, the same for k = 1 to 10.
    parts, per record: distance to the own original, nearer (originals nearer than it, counted to 10), rank
    and ties (none beyond rank 10), credit (probability that the intruder is right).

    Weights: not used, the intruder looks for records. Missing: a value missing in the protected file tells
    the intruder nothing and is skipped; one missing in the original only counts as far as the range of the
    variable. A record with no value in either file has nothing to be linked by and is not in the shares, and
    a note says how many there are; one that was suppressed altogether is. Records meet by id or position.
    Cost: time about n·log n, memory O(n).
    Reference: Pagliuca & Seri (1999). Departures: sdcMicro's recordLinkage assigns records one to one with
    the smallest total distance, in raw units; that takes n² memory and n³ time.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 3.0, 9.0]}), numeric="x")
    >>> other = data.with_frame(pl.DataFrame({"x": [1.1, 2.9, 2.5, 8.0]}))
    >>> sdc.risk.record_linkage(data, other).parts["credit"].to_list()
    [1.0, 0.0, 0.5, 1.0]
    """
    if not variables:
        raise RoleError(
            "record_linkage needs variables, and no column has the role 'numeric'.",
            hint="Give the role, or name columns in the option variables.",
        )
    require_named([protected], variables)
    there, lost = in_all([protected], variables)
    both = frames.gather(match_records(original, protected, there))
    second = both.select(pl.col(c + PROTECTED).alias(c) for c in there)
    space = points([both, second], there, original, distance, ranges=2)
    notes = (*lost_note(lost), *space.notes, *position_note(original, protected))
    if not space.variables:
        return Result(math.nan, notes=(*notes, "No variable can be compared."), lost=lost)
    own, nearer, ties = ranks(space)
    credit = _among(1, nearer, ties)
    held = ~np.all([np.isnan(x).all(axis=1) for x in space.files], axis=0)
    n, value = int(held.sum()), float(credit[held].mean())
    if n < original.height:
        notes += (f"{original.height - n:,} records have no value in either file and are not counted.",)
    low, high = wilson(value, n)
    shares = {k: float(_among(k, nearer, ties)[held].mean()) for k in DEPTHS}
    known = pl.col("nearer") < DEPTHS[-1]
    parts = pl.DataFrame({"distance": space.size(own), "nearer": nearer, "ties": ties, "credit": credit})
    parts = parts.select(
        "distance",
        "nearer",
        pl.when(known).then(pl.col("nearer") + 1).alias("rank"),
        pl.when(known).then("ties").alias("ties"),
        "credit",
    )
    return Result(
        value,
        {
            "linked": float(credit[held].sum()),
            "certain": float(((nearer == 0) & (ties == 1))[held].mean()),
            "second": shares[2],
            "third": shares[3],
            "by_chance": 1 / original.height,
            "low": low,
            "high": high,
        },
        by_record(original, parts),
        (*notes, f"{space.distance.value} distance over {join_names(space.variables)}."),
        {"nearest": pl.DataFrame({"k": list(shares), "share": list(shares.values())})},
        lost=lost,
    )


def ranks(space: Points) -> tuple[Floats, Ints, Ints]:
    """Per record: the sum to its own original, how many originals are nearer (to 10), and how many as near.

    The files of `space` are the original and the protected, row by row.
    """
    from sdckit.kernels.nearest import build, count_nearer, own_distances

    x, y = space.files
    own = own_distances(x, y, space.rule(blank_counts=False))
    low, high = space.around(own)
    nearer, within = np.zeros(len(y), dtype=np.int64), np.full(len(y), len(x))
    for rows, present in _by_missing(y):
        if not present.any():  # nothing is known: all originals are as near
            continue
        part = space.part(present, rows)
        tree, queries = part.tree(0, blank_counts=False), part.files[1]
        order = build(queries, tree.rule).record  # neighbours one after the other find the same nodes cached
        places = rows[order]
        nearer[places], within[places] = count_nearer(
            tree, queries[order], low[places], high[places], DEPTHS[-1]
        )
    return own, nearer, within - nearer


def _by_missing(y: Floats) -> Iterator[tuple[Ints, Bools]]:
    """Rows that lack the same values, with the columns they have; rare patterns together, with all columns.

    What a query lacks adds nothing to its distances, so a tree split by it does not lead to the nearest.
    """
    patterns, of_row, sizes = np.unique(np.isnan(y), axis=0, return_inverse=True, return_counts=True)
    frequent = sizes >= WORTH_A_TREE * len(y)
    for k in np.flatnonzero(frequent):
        yield np.flatnonzero(of_row.reshape(-1) == k), ~patterns[k]
    rest = np.flatnonzero(~frequent[of_row.reshape(-1)])
    if len(rest):
        yield rest, np.ones(y.shape[1], dtype=np.bool_)


def _among(k: int, nearer: Ints, ties: Ints) -> Floats:
    """The probability that the own record is among the k nearest, ties in random order."""
    places = np.clip(k - nearer, 0, None)
    return np.where(places > 0, np.minimum(places / np.maximum(ties, 1), 1.0), 0.0)
