"""Which variables a measure looks at when it is not told."""

from collections.abc import Sequence

from sdckit.engine import frames
from sdckit.microdata import Microdata


def categorical_variables(original: Microdata, protected: Microdata) -> tuple[str, ...]:
    """The keys and the sensitive columns that are not in the numeric role, in both files."""
    roles = original.roles
    named = dict.fromkeys((*roles.keys, *(c for c in roles.sensitive if c not in roles.numeric)))
    return tuple(c for c in named if c in protected.columns)


def still_numeric(
    original: Microdata, protected: Microdata, variables: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables that are numbers in both files, and a note on the others."""
    first, second = frames.schema(original.frame), frames.schema(protected.frame)
    good = tuple(
        c for c in variables if first[c].is_numeric() and c in protected.columns and second[c].is_numeric()
    )
    lost = [c for c in variables if c not in good]
    return good, (f"Not numeric in both files, left out: {', '.join(lost)}.",) if lost else ()
