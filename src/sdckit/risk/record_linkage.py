"""Distance-based record linkage: is the nearest original a record's own?"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit._support.messages import join_names
from sdckit._support.number_text import count_of
from sdckit.charts.bars import nothing_to_draw, variable_bars
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import PROTECTED, match_records, position_note
from sdckit.data.result import Result
from sdckit.engine import frames
from sdckit.errors import RoleError
from sdckit.methods.options import NUMERIC, NumericColumns
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Compares, records, share
from sdckit.risk._engine_linkage import WHOLE, counts_among_all, sampled_pairs
from sdckit.risk._points import Distance, DistanceOption, Points, by_missing, by_record, points
from sdckit.risk._synthetic import in_all, lost_note, require_named
from sdckit.risk._uncertainty import wilson

DEPTHS = (1, 2, 3, 5, 10)


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
    engines="all",
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
        "guessing gives. This is the most an intruder can know, so a worst case. After swapping "
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
    but for numbers with more than 20 values, most of them without a label, as an age in years. Distances
    equal to nine digits are ties.

    figures: linked (expected number of right links), certain (share whose own record is the single nearest),
    second and third (share whose own is among the two or three nearest), by_chance 1/n, low and high (95 %
    interval of Wilson: what chance in the protection leaves open). tables: nearest, the same for k = 1 to 10.
    parts, per record: distance to the own original, nearer (originals nearer than it, counted to 10), rank
    and ties (none beyond rank 10), credit (probability that the intruder is right).

    Weights: not used, the intruder looks for records. Missing: a value missing in the protected file tells
    the intruder nothing and is skipped; one missing in the original only counts as far as the range of the
    variable. A record with no value in either file has nothing to be linked by and is not in the shares, and
    a note says how many there are; one that was suppressed altogether is. Records meet by id or position.
    Cost: time about n·log n, memory O(n). On DuckDB and Spark, of more than 50,000 records some 5,000, drawn
    by their ids, look for their own among all originals, which pass through memory in batches; numbers only.
    A note has the standard error.
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
    if original.engine != "polars":
        if max(original.height, protected.height) > WHOLE and there:
            return _of_sample(original, protected, there, lost, distance)
        original, protected = original.collect(), protected.collect()
    both = frames.gather(match_records(original, protected, there))
    second = both.select(pl.col(c + PROTECTED).alias(c) for c in there)
    space = points([both, second], there, original, distance, ranges=2)
    notes = (*lost_note(lost), *space.notes, *position_note(original, protected))
    if not space.variables:
        return Result(math.nan, notes=(*notes, "No variable can be compared."), lost=lost)
    own, nearer, ties = ranks(space)
    credit = _among(1, nearer, ties)
    held = ~np.all([np.isnan(x).all(axis=1) for x in space.files], axis=0)
    n = int(held.sum())
    if n < original.height:
        notes += (
            f"{count_of(original.height - n, 'record has', 'records have')} no value in either file: "
            "not counted.",
        )
    figures, shares = _figures(credit, nearer, ties, held, original.height)
    return Result(
        float(credit[held].mean()),
        figures,
        by_record(original, _records_table(space, own, nearer, ties, credit)),
        (*notes, f"{space.distance.value} distance over {join_names(space.variables)}."),
        {"nearest": shares},
        lost=lost,
    )


def _records_table(space: Points, own: Floats, nearer: Ints, ties: Ints, credit: Floats) -> pl.DataFrame:
    """What is known of each record."""
    known = pl.col("nearer") < DEPTHS[-1]
    parts = pl.DataFrame({"distance": space.size(own), "nearer": nearer, "ties": ties, "credit": credit})
    return parts.select(
        "distance",
        "nearer",
        pl.when(known).then(pl.col("nearer") + 1).alias("rank"),
        pl.when(known).then("ties").alias("ties"),
        "credit",
    )


def _figures(
    credit: Floats, nearer: Ints, ties: Ints, held: Bools, height: int
) -> tuple[dict[str, float], pl.DataFrame]:
    """The figures of a file of this height from some or all of its records, and the shares by depth."""
    n, value = int(held.sum()), float(credit[held].mean())
    low, high = wilson(value, n)
    shares = {k: float(_among(k, nearer, ties)[held].mean()) for k in DEPTHS}
    figures = {
        "linked": float(credit[held].sum()) * (height / len(credit)),
        "certain": float(((nearer == 0) & (ties == 1))[held].mean()),
        "second": shares[2],
        "third": shares[3],
        "by_chance": 1 / height,
        "low": low,
        "high": high,
    }
    return figures, pl.DataFrame({"k": list(shares), "share": list(shares.values())})


def _of_sample(
    original: Microdata,
    protected: Microdata,
    variables: Sequence[str],
    lost: tuple[str, ...],
    distance: Distance | None,
) -> Result:
    """The measure of files outside memory: some of the protected records among all originals."""
    sampled = sampled_pairs(original, protected, list(variables), distance)
    space = sampled.space
    notes = (*lost_note(lost), *space.notes)
    if not space.variables:
        return Result(math.nan, notes=(*notes, "No variable can be compared."), lost=lost)
    x, y = space.files
    own = own_sums(space)
    nearer, within = counts_among_all(original, sampled, *space.around(own), DEPTHS[-1])
    ties = within - nearer
    credit = _among(1, nearer, ties)
    held = np.asarray(~(np.isnan(x).all(axis=1) & np.isnan(y).all(axis=1)))
    n = int(held.sum())
    error = float(credit[held].std(ddof=1) / math.sqrt(n))
    note = (
        f"Measured for a sample of {n:,} of {original.height:,} protected records, drawn by their ids, among "
        f"all originals; standard error of the value {error:.2g}."
    )
    table = _records_table(space, own, nearer, ties, credit)
    figures, shares = _figures(credit, nearer, ties, held, original.height)
    return Result(
        float(credit[held].mean()),
        figures,
        table.insert_column(0, sampled.ids.alias("record")),
        (note, *notes, f"{space.distance.value} distance over {join_names(space.variables)}."),
        {"nearest": shares},
        lost=lost,
    )


def own_sums(space: Points) -> Floats:
    """The sum of each record of the second file to the record in the same row of the first."""
    from sdckit.kernels.nearest import own_distances

    x, y = space.files
    return own_distances(x, y, space.rule(blank_counts=False))


def ranks(space: Points) -> tuple[Floats, Ints, Ints]:
    """Per record: the sum to its own original, how many originals are nearer (to 10), and how many as near.

    The files of `space` are the original and the protected, row by row.
    """
    from sdckit.kernels.nearest import build, count_nearer

    x, y = space.files
    own = own_sums(space)
    low, high = space.around(own)
    nearer, within = np.zeros(len(y), dtype=np.int64), np.full(len(y), len(x))
    for rows, present in by_missing(y):
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


def _among(k: int, nearer: Ints, ties: Ints) -> Floats:
    """The probability that the own record is among the k nearest, ties in random order."""
    places = np.clip(k - nearer, 0, None)
    return np.where(places > 0, np.minimum(places / np.maximum(ties, 1), 1.0), 0.0)
