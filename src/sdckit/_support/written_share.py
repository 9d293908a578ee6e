"""written_share: a share as people write it."""

from math import nan


def written_share(given: object) -> float:
    """A number, or a text with a percent sign; nan for anything else.

    >>> written_share("5 %"), written_share(0.05), written_share("3"), written_share("1.2.3%")
    (0.05, 0.05, 3.0, nan)
    """
    text = str(given).strip()
    try:
        number = nan if isinstance(given, bool) else float(text.removesuffix("%"))
    except ValueError:
        number = nan
    return number / 100 if text.endswith("%") else number
