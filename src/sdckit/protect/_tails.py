"""Cut the upper or lower tail of numbers: what top and bottom coding share."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import floor
from typing import Annotated

import narwhals as nw
import numpy as np
from pydantic import Field

from sdckit._support.arrays import Floats
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.data.values import text_of
from sdckit.engine import frames
from sdckit.methods.options import Option
from sdckit.protect._numbers import matrix_of, number_columns, with_numbers
from sdckit.protect._strata import Rows, strata

MIN_FOR_MEAN = 3  # a mean of fewer values gives them away


class Replacement(StrEnum):
    """What stands in place of the values that are cut."""

    THRESHOLD = "threshold"
    MEAN = "mean"
    MEDIAN = "median"


TailValue = Annotated[
    float, Option("Threshold", "The number beyond which values are replaced.", basic=True, absent="by share")
]
TailShare = Annotated[
    float,
    Field(gt=0, lt=1),
    Option(
        "Share of values to cut",
        "The threshold leaves at most this share of the present values beyond it.",
        basic=True,
        absent="by value",
    ),
]
TailReplacement = Annotated[
    Replacement | float,
    Option(
        "Replace by",
        "What stands in place of the values beyond the threshold: one of these, or a number.",
        choices={
            "threshold": "the threshold",
            "mean": "the mean of the values beyond it, which keeps totals",
            "median": "the median of the values beyond it",
        },
    ),
]


@dataclass(frozen=True)
class Tail:
    """What the released file has in place of the numbers beyond its thresholds, one for each stratum.

    limits: the values of the columns `by` as text, the threshold and what stands for numbers beyond it.
    """

    limits: tuple[tuple[tuple[str | None, ...], float, float], ...]
    upper: bool
    by: tuple[str, ...] = ()

    def apply(self, data: Microdata, column: str) -> Microdata:
        """The data with this column cut at the released thresholds; other strata keep their numbers."""
        number_columns(data, [column], "top coding" if self.upper else "bottom coding")
        for name in self.by:
            data.require(name)
        kinds = frames.schema(data.frame)
        whole = kinds[column].is_integer() and all(new.is_integer() for _, _, new in self.limits)
        x = value = nw.col(column)
        for stratum, threshold, new in self.limits:
            beyond = x > threshold if self.upper else x < threshold
            for name, text in zip(self.by, stratum, strict=True):
                here = nw.col(name).is_null() if text is None else text_of(name, kinds[name]) == text
                beyond &= here
            value = nw.when(beyond).then(nw.lit(int(new) if whole else new)).otherwise(value)
        table = data.table.with_columns(value.alias(column))
        return data.with_frame(frames.gather(table) if data.engine == "polars" else table.to_native())


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
    sign = 1.0 if upper else -1.0
    names = number_columns(data, variables, method)
    x = matrix_of(data, names)
    y = x.copy()
    blocks = strata(data, by)
    texts = _texts(data, by, blocks)
    tails = {}
    for j, name in enumerate(names):
        found = [_cut(sign * x[:, j], y[:, j], rows, sign, value, share, replacement) for rows in blocks]
        limits = [(text, *limit) for text, limit in zip(texts, found, strict=True) if limit is not None]
        if limits:
            tails[name] = Tail(tuple(limits), upper, tuple(by))
    given = value if isinstance(replacement, Replacement) else replacement
    kept = replacement not in (Replacement.MEAN, Replacement.MEDIAN)
    alone = value is not None and kept and float(given or 0.0).is_integer()
    effects = Effects(recodes={name: (tail,) for name, tail in tails.items()}, record_by_record=alone)
    thresholds = {} if by else {name: tail.limits[0][1] for name, tail in tails.items()}
    return with_numbers(data, names, x, y, effects=effects, thresholds=thresholds)


def value_below(x: Floats, share: float) -> float:
    """The lowest of the values that at most this share of them are above."""
    above = floor(share * len(x) + 1e-9)  # 0.29 · 100 is a little below 29 in floating point
    place = len(x) - 1 - above
    return float(np.partition(x, place)[place])


def _texts(data: Microdata, by: Sequence[str], blocks: Sequence[Rows]) -> list[tuple[str | None, ...]]:
    """The values of the columns `by` in each stratum, as text."""
    if not by:
        return [()]
    kinds = frames.schema(data.frame)
    texts = frames.gather(data.table.select(text_of(c, kinds[c]) for c in by))
    return [texts.row(int(rows[0])) for rows in blocks]


def _cut(
    x: Floats,
    y: Floats,
    rows: Rows,
    sign: float,
    value: float | None,
    share: float | None,
    replacement: Replacement | float,
) -> tuple[float, float] | None:
    """Cut the upper tail of sign·x in some rows, write into y; the threshold and what stands beyond it."""
    present = rows[~np.isnan(x[rows])]
    if not len(present):
        return None
    threshold = sign * value if value is not None else value_below(x[present], share or 0.0)
    beyond = present[x[present] > threshold]
    if not isinstance(replacement, Replacement):
        new = float(replacement)
    elif len(beyond) < MIN_FOR_MEAN or replacement is Replacement.THRESHOLD:
        new = sign * threshold
    else:
        centre = np.mean if replacement is Replacement.MEAN else np.median
        new = sign * float(centre(x[beyond]))
    y[beyond] = new
    return sign * threshold, new
