"""The original in the categories that are released, for pictures of both files."""

from sdckit.data.microdata import Microdata
from sdckit.methods.recoding import apply_same_recoding, new_steps


def in_released_categories(original: Microdata, protected: Microdata) -> tuple[Microdata, list[str]]:
    """The original with its keys recoded as the protected file's were, and which keys that are.

    Only pictures use it: a measure says how much was lost from the original as it is.
    """
    keys = [k for k in original.roles.keys if k in protected.columns]
    alike, _ = apply_same_recoding(original, protected, keys)
    named = {column for _, changed in new_steps(original, alike) for column in changed}
    return alike, [k for k in keys if k in named]
