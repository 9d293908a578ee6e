"""What must be said of values that an indicator, or the formula of its variance, is not made for."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from sdckit._support.messages import join_names
from sdckit.estimate.indicator import DomainSample, Indicator, PovertyLineIndicator
from sdckit.estimate.variance import with_line


class Measured(NamedTuple):
    """An indicator with the records it is of, and those of all domains."""

    indicator: Indicator
    variable: str
    sample: DomainSample
    whole: DomainSample
    by_formula: bool  # whether its interval supposes values that spread, as linearised and Woodruff's do


def cautions(measured: Iterable[Measured]) -> tuple[str, ...]:
    """Notes on negative values, and on quantiles where many records share one value."""
    negative: dict[str, dict[str, None]] = {}
    heaped: dict[str, None] = {}
    for one in measured:
        if not len(one.sample.x):
            continue
        if one.indicator.for_amounts and one.whole.x[0] < 0:
            negative.setdefault(one.variable, {})[one.indicator.name] = None
        if one.by_formula and _on_heap(one):
            heaped[f"{one.indicator.name} of {one.variable}"] = None
    notes = tuple(
        f"{variable} has negative values, which count as they are: {join_names(names)} can leave the usual "
        "range and hang on a few records."
        for variable, names in negative.items()
    )
    if heaped:
        notes += (
            "Many records share one value where a quantile lies, so that intervals by formula can be far too "
            f"long or too short (variance: rescaled needs no formula): {join_names(heaped, 6)}.",
        )
    return notes


@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def _on_heap(one: Measured) -> bool:
    sample = one.sample
    if isinstance(one.indicator, PovertyLineIndicator):
        sample = with_line(sample, one.indicator.line(one.whole))
    return one.indicator.on_heap(sample, one.whole) and bool(np.isfinite(one.indicator.point(sample)[0]))
