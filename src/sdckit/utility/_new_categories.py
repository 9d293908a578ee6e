"""A note on recoded variables: what measures of change make of categories with new names."""

from collections.abc import Sequence

from sdckit._support.messages import join_names
from sdckit.data.common_columns import is_amount
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.methods.recoding import recodings


def new_categories(original: Microdata, protected: Microdata, columns: Sequence[str]) -> tuple[str, ...]:
    """Says which variables have other categories than the original, if any: their values count as changed.

    These are variables that a step recoded, unless they are numbers in both files and so compared by their
    difference (a top-coded income), and numbers that became text.
    """
    first, second = frames.schema(original.frame), frames.schema(protected.frame)
    recoded = recodings(original, protected)
    names = []
    for c in columns:
        if c not in first or c not in second:
            continue
        if first[c].is_numeric() and second[c].is_numeric():
            is_new = c in recoded and not is_amount(original, c)
        else:
            is_new = c in recoded or first[c].is_numeric() != second[c].is_numeric()
        if is_new:
            names.append(c)
    if not names:
        return ()
    have = "has" if len(names) == 1 else "have"
    return (
        f"{join_names(names)} {have} other categories than in the original (recoded): every value or cell "
        "under a new name counts as changed, however near it is.",
    )
