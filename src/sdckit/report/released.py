"""The original in the categories that are released, for pictures of both files."""

from sdckit.data.microdata import Microdata
from sdckit.methods.recoding import in_categories_of


def in_released_categories(original: Microdata, protected: Microdata) -> tuple[Microdata, list[str]]:
    """The original with its keys recoded as the protected file's were, and which keys that are.

    Only pictures use it: a measure says how much was lost from the unchanged original.
    """
    keys = [k for k in original.roles.keys if k in protected.columns]
    return in_categories_of(protected, original, keys)
