"""Intervals in words back to numbers: what an analyst does with a recoded age."""

import math
import re
from collections.abc import Sequence

_NUMBER = r"[-−]?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_BETWEEN = re.compile(
    rf"^[\[(]?\s*({_NUMBER})\s*(?:–|,|;|\bto\b|(?<=\d)-)\s*({_NUMBER})\s*([\])]?)$", re.IGNORECASE
)
_BELOW = re.compile(rf"^(?:<|≤|<=|under|below)\s*({_NUMBER})$", re.IGNORECASE)
_ABOVE = re.compile(
    rf"^(?:(?:>|≥|>=|over|above)\s*({_NUMBER})|({_NUMBER})\s*(?:\+|and (?:over|more)))$", re.IGNORECASE
)
_EXACT = re.compile(rf"^({_NUMBER})$")


def midpoints(levels: Sequence[str]) -> dict[str, float] | None:
    """A number for each interval, or None where one of the texts is not an interval.

    "20–24" (whole numbers) is 22.5, as is "[20, 25)": both hold ages from 20 up to 25. An open end lies
    half the width of the interval next to it beyond its limit (half the limit where it is alone), but never
    below half of a positive limit.

    >>> midpoints(["<18", "18–64", "65+"])
    {'<18': 9.0, '18–64': 41.5, '65+': 88.5}
    >>> midpoints(["north", "south"]) is None
    True
    """
    ends: dict[str, tuple[float | None, float | None]] = {}
    for level in levels:
        found = _ends(level.strip())
        if found is None:
            return None
        ends[level] = found
    closed = [(a, b) for a, b in ends.values() if a is not None and b is not None]
    if not closed and len(ends) < 2:
        return None
    widths = {a: b - a for a, b in closed} | {b: b - a for a, b in closed}
    numbers = {}
    for level, (a, b) in ends.items():
        if a is not None and b is not None:
            numbers[level] = (a + b) / 2
        elif b is not None:
            numbers[level] = max(b - widths.get(b, abs(b)) / 2, b / 2 if b > 0 else -math.inf)
        elif a is not None:
            numbers[level] = a + widths.get(a, abs(a)) / 2
    return numbers


def _ends(text: str) -> tuple[float | None, float | None] | None:
    """Lower and upper limit; None for an open end, and for a text that is no interval."""

    def number(part: str) -> float:
        return float(part.replace("−", "-"))

    if met := _EXACT.match(text):
        return number(met[1]), number(met[1]) + (1.0 if "." not in met[1] else 0.0)
    if met := _BELOW.match(text):
        return None, number(met[1])
    if met := _ABOVE.match(text):
        return number(met[1] or met[2]), None
    if met := _BETWEEN.match(text):
        whole = not met[3] and "." not in met[1] + met[2]
        return number(met[1]), number(met[2]) + (1.0 if whole else 0.0)
    return None
