"""One result for several synthetic sets of the same data."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from sdckit.data.result import Result


def mean_result(results: Sequence[Result]) -> Result:
    """Means of the numbers, the first set's parts; of one set its result."""
    first = results[0]
    if len(results) == 1:
        return first
    names = [n for n in first.figures if all(n in r.figures for r in results)]
    note = f"Mean over {len(results)} files; parts are of the first."
    lost = tuple(dict.fromkeys(c for r in results for c in r.lost))
    return replace(
        first,
        value=fmean(r.value for r in results),
        figures={n: fmean(r.figures[n] for r in results) for n in names},
        notes=(*dict.fromkeys(text for r in results for text in r.notes), note),
        lost=lost,
    )
