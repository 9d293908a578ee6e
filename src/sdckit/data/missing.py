"""What a missing key value means when records are counted."""

from enum import StrEnum


class Missing(StrEnum):
    """The three rules, the same in every measure that counts.

    wildcard: a missing value matches any value, both ways (an intruder cannot rule the record out).
    category: missing is a category of its own.
    nothing: a record with a missing key matches only itself (most cautious).
    """

    WILDCARD = "wildcard"
    CATEGORY = "category"
    NOTHING = "nothing"
