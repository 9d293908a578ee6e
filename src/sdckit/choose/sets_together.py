"""Several files released together: whether their records belong together, row by row or by an id."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit._support.messages import join_names
from sdckit.choose.criteria import Criterion, Status
from sdckit.choose.place import FILE, Place, at
from sdckit.data.microdata import Microdata
from sdckit.data.values import as_numbers, is_date, texts

SURE = 6.0  # standard errors beyond chance: every pair of files and every column is asked
MOST = 20_000  # rows that are compared, evenly over the files
CATEGORIES = 20  # the most frequent of a column; all others are one
FEWEST = 20  # rows, below which nothing can be said


def sets_together(sets: Sequence[Microdata]) -> Iterator[Criterion]:
    """Whether several files are the same records again and again: their mean tells more than each alone.

    Noise that hides everybody in one file is gone from the mean of many. Files that were drawn anew, each on
    its own, have nothing in common at the same place.
    """
    if len(sets) < 2 or any(data.engine != "polars" for data in sets):
        return
    name = "files that belong together"
    for how, frames in _side_by_side(sets):
        alike = columns_that_agree(frames)
        if alike:
            why = (
                f"Records of the {len(sets)} files belong together {how}: beyond chance they agree in "
                f"{join_names(alike, 4)}. Their mean tells more of a person than each file alone, and only "
                "that was measured."
            )
            mends = "Draw each file anew and put it into an order of its own, without common ids."
            places = at(Place.step("shuffle_order"), Place.step("synthesize"), FILE)
            yield Criterion(name, Status.NOT_JUDGED, why, mends=mends, places=places)
            return
    yield Criterion(name, Status.MET, "Records of the files have nothing in common at the same place.")


def columns_that_agree(frames: Sequence[pl.DataFrame]) -> list[str]:
    """The columns in which some two of the files, or all of them together, agree row by row beyond chance.

    Of a column each file has centred numbers z: ranks, or 1 for a category and 0 for every other. The mean
    of the product of two files has mean 0 and variance tr(S·T)/n where their rows are independent, S and T
    being the covariances of z within the files.

    >>> frame = pl.DataFrame({"x": range(40), "y": [1] * 40})
    >>> mixed = frame.sample(40, shuffle=True, seed=1)
    >>> columns_that_agree([frame, frame]), columns_that_agree([frame, mixed])
    (['x'], [])
    """
    found = []
    for column in frames[0].columns:
        z = _centred([frame[column] for frame in frames])
        if z is None:
            continue
        files, n, _ = z.shape
        product = np.einsum("aik,bik->ab", z, z, optimize=True) / n
        within = np.einsum("aik,ail->akl", z, z, optimize=True) / n
        error = np.sqrt(np.einsum("akl,blk->ab", within, within, optimize=True) / n)
        pairs = np.triu_indices(files, 1)
        of_pairs, errors = product[pairs], error[pairs]
        if not errors.all():
            of_pairs, errors = of_pairs[errors > 0], errors[errors > 0]
        if not len(errors):
            continue
        together = float(of_pairs.sum() / np.sqrt((errors**2).sum()))
        if max(together, float((of_pairs / errors).max())) > SURE:
            found.append(column)
    return found


def _side_by_side(sets: Sequence[Microdata]) -> Iterator[tuple[str, list[pl.DataFrame]]]:
    """The columns that all files have, with rows that may belong together beside each other."""
    ids = {data.roles.id for data in sets} - {None}
    shared = [c for c in sets[0].columns if all(c in data.columns for data in sets) and c not in ids]
    plain = [c for c in shared if not any(_nested(data.frame.schema[c]) for data in sets)]
    rows = min(data.height for data in sets)
    if not plain or rows < FEWEST:
        return
    yield "by their place", [_spread(data.frame.select(plain).head(rows)) for data in sets]
    if any(data.roles.id is None for data in sets):
        return
    numbered = [
        data.frame.select(texts(data.frame[str(data.roles.id)]).alias("\0id"), *plain).unique(
            "\0id", keep="first"
        )
        for data in sets
    ]
    common = numbered[0].select("\0id")
    for frame in numbered[1:]:
        common = common.join(frame.select("\0id"), on="\0id", how="semi")
    if common.height >= FEWEST:
        kept = [frame.join(common, on="\0id", how="semi").sort("\0id").drop("\0id") for frame in numbered]
        yield "by their ids", [_spread(frame) for frame in kept]


def _centred(columns: Sequence[pl.Series]) -> Floats | None:
    """Files × rows × 1 of ranks or × categories of indicators, each with mean 0; None where all are one."""
    if all(c.dtype.is_numeric() or is_date(c.dtype) for c in columns):
        values = [pl.Series(as_numbers(c)).fill_nan(None).rank("average") for c in columns]
        made = np.stack([v.fill_null(0.0).to_numpy() for v in values]).astype(np.float64)[:, :, None]
        made = made / made.shape[1]
    else:
        written = [texts(c).fill_null("\0").alias("value") for c in columns]
        often = pl.concat(written).value_counts(sort=True)["value"].head(CATEGORIES)
        made = np.stack([np.column_stack([(w == v).to_numpy() for v in often]) for w in written]).astype(
            np.float64
        )
    made -= made.mean(axis=1, keepdims=True)
    return made if made.any() else None


def _spread(frame: pl.DataFrame) -> pl.DataFrame:
    """At most so many rows, the same places of every file."""
    if frame.height <= MOST:
        return frame
    return frame[np.linspace(0, frame.height - 1, MOST).round().astype(np.int64)]


def _nested(kind: pl.DataType) -> bool:
    return kind.is_nested() or kind in (pl.Object, pl.Duration, pl.Binary)
