"""Variables of two files as classes that both share: categories, and numbers cut at quantiles."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.data.common_columns import is_amount, is_continuous
from sdckit.data.microdata import Microdata
from sdckit.data.values import in_one_column

MOST_CATEGORIES = 200


def shared_classes(
    original: Microdata, protected: Microdata, names: Sequence[str], groups: int
) -> tuple[dict[str, tuple[Ints, int]], list[str], list[str]]:
    """For each variable the class of every record, first those of the original, and how many there are.

    Missing is the last class. Numbers (in the numeric role, numbers with fractions that are not keys, dates,
    other numbers with more than 20 values, most without a label) are cut by `quantile_classes` of the
    original's values. Of more than 200 categories the 199 most frequent stay and the others are one. Then
    the variables that are coded differently in the files, which are left out, and notes.
    """
    found: dict[str, tuple[Ints, int]] = {}
    lost, notes = [], []
    for name in names:
        both = in_one_column([original.frame[name], protected.frame[name]])
        if both is None:
            lost.append(name)
            notes.append(f"{name} is coded differently in the two files and left out.")
            continue
        there = both.is_not_null().to_numpy()
        if _is_number(both, original):
            number = (both.to_physical() if both.dtype.is_temporal() else both).cast(pl.Float64)
            values = number.fill_null(0.0).to_numpy()
            first = there.copy()
            first[original.height :] = False
            codes = quantile_classes(values[first if first.any() else there], values, groups)
        else:
            codes = both.rank("dense").fill_null(0).to_numpy().astype(np.int64) - 1
            size = int(codes.max(initial=-1)) + 1
            if size > MOST_CATEGORIES:
                codes = _most_frequent(codes, there, size)
                notes.append(
                    f"{name} has {size:,} categories: all but the {MOST_CATEGORIES - 1} most frequent are "
                    "one."
                )
        size = int(codes[there].max(initial=-1)) + 1
        found[name] = (np.where(there, codes, size), size + int(not there.all()))
    return found, lost, notes


def quantile_classes(reference: Floats, values: Floats, groups: int) -> Ints:
    """The class of each value, about `groups` of equal size among the `reference` values.

    A value that more than one record and half a class have, as an income of 0, is a class of its own. What
    lies between two such values is cut at quantiles into as many classes as its share of the records is
    worth, at least one; equal values are never parted.

    >>> quantile_classes(np.array([0.0, 0, 0, 1, 2, 3, 4, 5]), np.array([-1, 0, 1, 3, 9.0]), 4)
    array([0, 1, 2, 3, 3])
    """
    found, counts = np.unique(reference, return_counts=True)
    spikes = found[(counts >= len(reference) / (2 * groups)) & (counts > 1)]
    cuts: list[float] = []
    for spike in spikes:
        cuts += [float(spike), float(np.nextafter(spike, np.inf))]
    rest = np.sort(reference[~np.isin(reference, spikes)])
    for part in np.split(rest, np.searchsorted(rest, spikes)):
        number = round(groups * len(part) / max(len(reference), 1))
        if number > 1:
            cuts += np.quantile(part, np.arange(1, number) / number, method="higher").tolist()
    return np.searchsorted(np.unique(cuts), values, side="right")


def _is_number(both: pl.Series, data: Microdata) -> bool:
    name = both.name
    if both.dtype.is_temporal():
        return True
    if not both.dtype.is_numeric():
        return False
    return is_amount(data, name) or is_continuous(data.frame[name], data)


def _most_frequent(codes: Ints, there: Bools, size: int) -> Ints:
    ranked = np.argsort(-np.bincount(codes[there], minlength=size), kind="stable")
    new = np.full(size, MOST_CATEGORIES - 1)
    new[ranked[: MOST_CATEGORIES - 1]] = np.arange(MOST_CATEGORIES - 1)
    return np.asarray(new[codes])
