"""A note on recoded variables: what measures of change make of categories with new names."""

from collections.abc import Sequence

from sdckit.engine import frames
from sdckit.errors import listing
from sdckit.microdata import Microdata
from sdckit.recoded import RECODINGS


def new_categories(original: Microdata, protected: Microdata, columns: Sequence[str]) -> tuple[str, ...]:
    """Says which variables have other categories than the original, if any: their values count as changed.

    Told by the log of the protected file, or by numbers that became text.
    """
    first, second = frames.schema(original.frame), frames.schema(protected.frame)
    shared = len(original.log) if protected.log[: len(original.log)] == original.log else 0
    told = set()
    for entry in protected.log[shared:]:
        named = entry.options.get(RECODINGS.get(entry.method, ""), ())
        told |= {named} if isinstance(named, str) else {*named}
    names = [
        c
        for c in columns
        if c in first and c in second and (c in told or first[c].is_numeric() != second[c].is_numeric())
    ]
    if not names:
        return ()
    have = "has" if len(names) == 1 else "have"
    return (
        f"{listing(names)} {have} other categories than in the original (recoded): every value or cell under "
        "a new name counts as changed, however near it is.",
    )
