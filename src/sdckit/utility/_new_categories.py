"""A note on recoded variables: what measures of change make of categories with new names."""

from collections.abc import Sequence

from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.methods.recoding import new_steps


def new_categories(original: Microdata, protected: Microdata, columns: Sequence[str]) -> tuple[str, ...]:
    """Says which variables have other categories than the original, if any: their values count as changed.

    Told by the log of the protected file, or by numbers that became text.
    """
    first, second = frames.schema(original.frame), frames.schema(protected.frame)
    told = {column for _, changed in new_steps(original, protected) for column in changed}
    names = [
        c
        for c in columns
        if c in first and c in second and (c in told or first[c].is_numeric() != second[c].is_numeric())
    ]
    if not names:
        return ()
    have = "has" if len(names) == 1 else "have"
    return (
        f"{join_names(names)} {have} other categories than in the original (recoded): every value or cell "
        "under "
        "a new name counts as changed, however near it is.",
    )
