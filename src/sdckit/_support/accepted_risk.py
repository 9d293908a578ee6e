"""accepted_risk: a share as people write it."""

from math import isfinite, nan

from sdckit.errors import OptionError


def accepted_risk(given: object, name: str) -> float | None:
    """A highest accepted risk: a number, or a text with a percent sign; `name` is for the message.

    >>> accepted_risk("5 %", ""), accepted_risk(0.05, ""), accepted_risk("3", "")
    (0.05, 0.05, 3.0)
    """
    if given is None:
        return None
    text = str(given).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = nan
    if isinstance(given, bool) or not isfinite(number):
        raise OptionError(
            f"{name} is not valid.", given=repr(given), allowed="a number such as 0.05 for 5 %, or 5%"
        )
    return number / 100 if text.endswith("%") else number
