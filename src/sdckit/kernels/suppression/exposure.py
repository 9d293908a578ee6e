"""What an intruder who knows a person's keys still finds after suppression."""

from typing import NamedTuple

import numpy as np

from sdckit._support.arrays import Codes, Floats, Ints
from sdckit.kernels.suppression.counts import group_rows, group_sizes
from sdckit.kernels.suppression.release import Release
from sdckit.kernels.suppression.sound import hides_one_value


class Exposure(NamedTuple):
    """Counts on the released patterns, a blank being a value of its own.

    smallest_pattern: records of the rarest pattern. alone_on_shown_keys: records without any blank whose
    pattern nobody else has, so that the exact match is right. above_one_in_k: records whose chance to be
    picked is above 1/k. records_lent: records suppressed although k records shared their keys.
    hidden_value_shared: suppressed values that all records of their pattern have in common.
    """

    smallest_pattern: int
    alone_on_shown_keys: int
    above_one_in_k: int
    records_lent: int
    hidden_value_shared: int


def measure_exposure(codes: Codes, counts: Ints, release: Release, k: int) -> Exposure:
    """The exposure of cells with codes [c, q] and counts [c], released as told."""
    released = release.codes(codes)
    sizes = group_sizes(released, release.records)
    alone = (sizes == 1) & (released >= 0).all(axis=1)
    lent = (release.blank != 0) & (counts[release.cell] >= k)
    smallest = int(sizes.min(initial=np.iinfo(np.int64).max))
    # records of one pattern are equally likely, so that no chance is above one in the smallest pattern
    above = 0 if smallest >= k else int(release.records[chances(codes, release) * k > 1 + 1e-9].sum())
    return Exposure(
        smallest,
        int(release.records[alone].sum()),
        above,
        int(release.records[lent].sum()),
        int((hides_one_value(codes, release) * release.records[:, None]).sum()),
    )


def chances(codes: Codes, release: Release) -> Floats:
    """For each row of a release the chance that an intruder who knows the keys picks the right record.

    He takes a key to be blank with the share of records in which it is, whatever its value and independently,
    and weighs every record that fits. A value that was missing from the start is known to him and to nobody
    else: records that show the key do not fit, which makes the chance an upper bound.
    """
    released = release.codes(codes)
    total = release.records.sum()
    rates = ((released < 0) * release.records[:, None]).sum(axis=0) / total
    sets = (released < 0) @ (np.int64(1) << np.arange(codes.shape[1], dtype=np.int64))
    weight_here, weight_all = np.zeros(len(sets)), np.zeros(len(codes))
    for blank in np.unique(sets).tolist():
        mine = np.flatnonzero(sets == blank)
        gone = np.array([bool(blank >> j & 1) for j in range(codes.shape[1])])
        weight = float(np.prod(np.where(gone, rates, 1 - rates)))
        rows = np.concatenate([released[mine][:, ~gone], codes[:, ~gone]])
        group = group_rows(np.ascontiguousarray(rows))
        fit = np.bincount(group[: len(mine)], release.records[mine], minlength=len(rows))
        weight_all += weight * fit[group[len(mine) :]]
        weight_here[mine] = weight
    return np.asarray(weight_here / weight_all[release.cell])
