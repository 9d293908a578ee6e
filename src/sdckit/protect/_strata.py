"""Strata inside a protection step."""

from collections.abc import Sequence

import numpy as np

from sdckit._support.arrays import Ints
from sdckit.data.microdata import Microdata
from sdckit.engine.tables import OURS

Rows = Ints


def strata(data: Microdata, by: Sequence[str]) -> list[Rows]:
    """The row numbers of each stratum, NULL being one of them; one stratum of all rows without `by`."""
    if not by:
        return [np.arange(data.height)]
    numbered = data.frame.select(by).with_row_index(OURS)
    rows = numbered.group_by(list(by), maintain_order=True).agg(OURS)[OURS]
    return [np.asarray(r.to_numpy(), dtype=np.int64) for r in rows]


def pooled_strata(data: Microdata, by: Sequence[str], smallest: int) -> list[Rows]:
    """The same with strata below a size pooled into one, or into the smallest other where still too small."""
    found = strata(data, by)
    large = sorted((r for r in found if len(r) >= smallest), key=len)
    small = [r for r in found if len(r) < smallest]
    if not small:
        return found
    pool = np.concatenate(small)
    if len(pool) < smallest and large:
        pool = np.concatenate([pool, large.pop(0)])
    return [*large, pool]
