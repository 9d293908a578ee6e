"""Blanked values that other columns of the file still tell."""

from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from sdckit._support.arrays import Codes
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import is_sortable
from sdckit.data.roles import Role

if TYPE_CHECKING:  # which brings the compiler along
    from sdckit.kernels.inferable import Blanks

SURE = 0.9  # of what chance leaves to be known, the share that a column must tell
SOME = 100_000  # records, about, that are looked at before all
NAMES = (Role.STRATA, Role.CLUSTER, Role.HOUSEHOLD)  # their numbers are names: neighbours mean nothing

FIGURES = {  # what a suppression logs, in words
    "cells_suppressed": "Values suppressed",
    "by_key": "Values suppressed by key",
    "records_touched": "Records with a suppressed value",
    "records_lent": "Records suppressed to protect others",
    "smallest_pattern": "Records of the rarest combination",
    "alone_on_shown_keys": "Records alone on their keys, none suppressed",
    "above_one_in_k": "Records with a chance above 1 in k",
    "hidden_value_shared": "Suppressed values that a whole combination shares",
    "cells_for_diversity": "Values suppressed for diversity",
    "linked_suppressed": "Values suppressed in linked columns",
    "above_before": "Records above the threshold before",
    "above_after": "Records above the threshold after",
    "values_inferable": "Suppressed values that other columns tell",
    "inferred_from": "Columns that tell suppressed values",
}


def inferable(before: Microdata, after: Any, blanked: Mapping[str, int]) -> dict[str, Any]:
    """What a suppression logs of the values it blanked that other columns tell; `blanked` counts them by key.

    A value is told by a column if all records that have the same value there and still show the key show
    one and the same, the blanked one: the stratum tells the region, a member that of the household, a weight
    the stratum. One such record is enough. Where there is none and the column has an order, the nearest
    values below and above must agree: an income tells its class. Small groups agree by chance, so a column
    counts only if guesses from it, also about records that are shown, are right nine times in ten beyond
    chance, and this by more than two standard deviations.

    Every column is looked at as it is after the step, one at a time, but for the id (see `new_ids`) and
    direct identifiers: what two columns tell together is not seen. values_inferable: blanked values that some
    column tells. inferred_from: for each key the columns that tell it, and how many of its blanked values.
    Outside memory nothing is looked at, and the log says so.
    """
    from sdckit.kernels.inferable import Blanks, Groups, guess_from

    if before.engine != "polars":
        return {"inference_examined": False}
    keys = {
        key: Blanks.of(_codes(before.frame[key]), after[key].is_null().to_numpy())
        for key, count in blanked.items()
        if count
    }
    anyhow = {key: np.zeros(len(blanks.rows), dtype=bool) for key, blanks in keys.items()}
    inferred_from: dict[str, dict[str, int]] = {key: {} for key in keys}
    names = {c for role in NAMES for c in before.roles.columns(role)}
    unseen = {before.roles.id, *before.roles.direct}
    for column, kind in after.schema.items() if keys else ():
        if column in unseen or not is_sortable(kind):
            continue
        ordered = (kind.is_numeric() or kind.is_temporal()) and column not in names
        open_ = [k for k, blanks in keys.items() if k != column and _may_tell(after[column], blanks)]
        if not open_:
            continue
        codes = keys[column].shown if column in keys else _codes(after[column])
        groups = Groups.of(codes, ordered=ordered)
        for key in open_:
            guess = guess_from(groups, keys[key])
            beyond = guess.right - guess.chance
            sure = beyond >= SURE * (guess.tests - guess.chance) and beyond > 2 * sqrt(guess.variance)
            if sure and guess.told.any():
                anyhow[key] |= guess.told
                inferred_from[key][column] = int(guess.told.sum())
    return {
        "values_inferable": sum(int(values.sum()) for values in anyhow.values()),
        "inferred_from": {key: _most_first(columns) for key, columns in inferred_from.items() if columns},
    }


def _may_tell(column: pl.Series, blanks: "Blanks") -> bool:
    """Whether a column may tell some blanked value.

    It tells none where two values of the key are shown beside each, and of large files some records nearly
    always say so, which takes far less time than to look at all.
    """
    if len(column) <= 10 * SOME:
        return True
    rows = np.arange(0, len(column), len(column) // SOME)
    some = pl.DataFrame([column.gather(rows).alias("beside"), pl.Series("shown", blanks.shown[rows])])
    pairs = some.filter(pl.col("shown") >= 0).unique().group_by("beside").len().filter(pl.col("len") > 1)
    hidden = column.gather(blanks.rows).drop_nulls().unique().alias("beside").to_frame()
    return not hidden.join(pairs, on="beside", how="anti").is_empty()


def _most_first(columns: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(columns.items(), key=lambda pair: -pair[1]))


def _codes(column: pl.Series) -> Codes:
    """Values as codes in their order, at times with gaps; missing is −1."""
    from sdckit.kernels.dense_ranks import dense_ranks

    kind = column.dtype
    if kind.is_decimal() or kind.is_float():
        numbers = column.cast(pl.Float64).fill_null(np.nan).to_numpy()
        return dense_ranks(numbers)
    if kind == pl.Boolean:
        whole = column.cast(pl.UInt8)
    else:
        whole = (column.cast(pl.Categorical) if kind == pl.String else column).to_physical()
    low, high = (cast("int", end or 0) for end in (whole.min(), whole.max()))
    if max(high, -low, high - low) > 4 * len(column) + 2**16:
        whole, low = whole.rank("dense"), 1  # only then: sorting takes longer than all the rest
    return (whole.cast(pl.Int64) - low).cast(pl.Int32).fill_null(-1).to_numpy(writable=True)
