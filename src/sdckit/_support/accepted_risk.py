"""accepted_risk: the highest risk that is accepted."""

from math import isfinite

from sdckit._support.written_share import written_share
from sdckit.errors import OptionError


def accepted_risk(given: object, name: str) -> float | None:
    """A highest accepted risk: a number, or a text with a percent sign; `name` is for the message.

    >>> accepted_risk("5 %", ""), accepted_risk(0.05, ""), accepted_risk("3", "")
    (0.05, 0.05, 3.0)
    """
    if given is None:
        return None
    number = written_share(given)
    if not isfinite(number):
        raise OptionError(
            f"{name} is not valid.", given=repr(given), allowed="a number such as 0.05 for 5 %, or 5%"
        )
    return number
