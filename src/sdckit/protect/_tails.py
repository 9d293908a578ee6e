"""Cut the upper or lower tail of numbers: what top and bottom coding share."""

from collections.abc import Sequence
from enum import StrEnum
from math import floor

import numpy as np

from sdckit._support.arrays import Floats
from sdckit.data.microdata import Microdata
from sdckit.errors import OptionError
from sdckit.protect._numbers import matrix_of, number_columns, with_numbers
from sdckit.protect._strata import Rows, strata

FEW = 3  # a mean of fewer values gives them away


class Replacement(StrEnum):
    """What stands in place of the values that are cut."""

    THRESHOLD = "threshold"
    MEAN = "mean"
    MEDIAN = "median"


def cut_tails(
    data: Microdata,
    variables: Sequence[str],
    *,
    method: str,
    value: float | None,
    share: float | None,
    replacement: Replacement | float,
    by: Sequence[str],
    upper: bool,
) -> Microdata:
    """Each variable's values beyond the threshold replaced, stratum by stratum."""
    if (value is None) == (share is None):
        raise OptionError(
            f"{method} needs either value or share.", given="neither" if value is None else "both"
        )
    sign = 1.0 if upper else -1.0
    names = number_columns(data, variables, method)
    x = matrix_of(data, names)
    y = x.copy()
    blocks = strata(data, by)
    highest = {}
    for j, name in enumerate(names):
        found = [_cut(sign * x[:, j], y[:, j], rows, sign, value, share, replacement) for rows in blocks]
        if not by:
            highest[name] = found[0]
    thresholds = {name: t for name, t in highest.items() if t is not None}
    return with_numbers(data, names, x, y, thresholds=thresholds)


def value_below(x: Floats, share: float) -> float:
    """The lowest of the values that at most this share of them are above."""
    above = floor(share * len(x) + 1e-9)  # 0.29 · 100 is a little below 29 in floating point
    place = len(x) - 1 - above
    return float(np.partition(x, place)[place])


def _cut(
    x: Floats,
    y: Floats,
    rows: Rows,
    sign: float,
    value: float | None,
    share: float | None,
    replacement: Replacement | float,
) -> float | None:
    """Cut the upper tail of sign·x in some rows, write into y, and return the threshold."""
    present = rows[~np.isnan(x[rows])]
    if not len(present):
        return None
    threshold = sign * value if value is not None else value_below(x[present], share or 0.0)
    beyond = present[x[present] > threshold]
    if isinstance(replacement, Replacement):
        few = len(beyond) < FEW or replacement is Replacement.THRESHOLD
        centre = np.mean if replacement is Replacement.MEAN else np.median
        y[beyond] = sign * (threshold if few else float(centre(x[beyond])))
    else:
        y[beyond] = replacement
    return sign * threshold
