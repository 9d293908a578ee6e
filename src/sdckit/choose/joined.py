"""Two assessments of the same files, as one."""

from collections.abc import Mapping
from dataclasses import replace

from sdckit.choose.assessment import Assessment
from sdckit.data.result import Result
from sdckit.methods.registry import specs


def joined(first: Assessment, second: Assessment) -> Assessment:
    """Two assessments of the same files by different measures, as one, in the order of the registry."""
    order = {spec.name: i for i, spec in enumerate(specs())}

    def both(one: Mapping[str, Result], other: Mapping[str, Result]) -> dict[str, Result]:
        return dict(sorted({**one, **other}.items(), key=lambda item: order[item[0]]))

    return replace(
        first,
        before=both(first.before, second.before),
        after=both(first.after, second.after),
        utility=both(first.utility, second.utility),
        omitted=tuple(sorted((*first.omitted, *second.omitted), key=lambda o: order[o.measure])),
        seconds={**first.seconds, **second.seconds},
    )
