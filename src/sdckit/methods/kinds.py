"""What registered functions are, and what they look at."""

from enum import StrEnum


class Kind(StrEnum):
    """What a registered function is."""

    PROTECTION = "protection"
    RISK = "risk"
    UTILITY = "utility"


class Better(StrEnum):
    """The good direction of a measure."""

    LOW = "low"
    HIGH = "high"


class Compares(StrEnum):
    """What a measure looks at, and so after which protections it is informative."""

    ONE_FILE = "one file"
    RECORDS = "each record with its protected self"
    DISTRIBUTIONS = "distributions, also of files of different length"
