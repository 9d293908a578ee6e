"""A file in the categories of another that was recoded: ages in the bands that were released."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sdckit._support.messages import join_names
from sdckit.data.microdata import LogEntry, Microdata
from sdckit.errors import OptionError, SdcError
from sdckit.methods.registry import find

RECODINGS = {"recode": "variable", "group": "variables"}  # and the option that names their columns
POSITIVE = math.ulp(0.0)  # what is below this smallest number is zero or negative

Interval = tuple[float, str]  # where it begins, and its name; it ends where the next begins


def apply_same_recoding(
    data: Microdata, released: Microdata, columns: Sequence[str]
) -> tuple[Microdata, tuple[str, ...]]:
    """The data with `columns` recoded by the steps of the released file's log, and a note on which were.

    Who knows that somebody is 37 looks for them among those of 35–39 once ages are released in bands. Numbers
    are cut where those of the released file were, whatever the range of the data. A column stays as it is
    where its steps cannot be carried out on the data: these are in the categories already, say.
    """
    done = data
    names = []
    steps = new_steps(data, released)
    for column in columns:
        own = [entry for entry, changed in steps if column in changed]
        again = _again(done, own, column) if own and column in released.columns else None
        if again is not None:
            done = again
            names.append(column)
    return done, (f"Compared in the categories of the protected file: {join_names(names)}.",) if names else ()


def new_steps(original: Microdata, protected: Microdata) -> list[tuple[LogEntry, tuple[str, ...]]]:
    """The recodings of the protected file that the original has not gone through, with their columns."""
    steps = []
    for entry in protected.steps_since(original):
        if entry.method in RECODINGS:
            named = entry.options[RECODINGS[entry.method]]
            steps.append((entry, (named,) if isinstance(named, str) else tuple(named)))
    return steps


def _again(data: Microdata, steps: Sequence[LogEntry], column: str) -> Microdata | None:
    """One column recoded once more by the same steps."""
    for entry in steps:
        options: dict[str, Any] = {**entry.options, RECODINGS[entry.method]: column}
        try:
            if entry.method == "recode":
                found = _intervals(data, options, entry.figures)
                options = {
                    "variable": column,
                    "breaks": [begin for begin, _ in found[1:]],
                    "labels": [name for _, name in found],
                }
            data = find(entry.method).call(data, **options)
        except SdcError:
            return None
    return data


def _intervals(data: Microdata, options: Mapping[str, Any], figures: Mapping[str, Any]) -> list[Interval]:
    """The released intervals, and around them others for what lies outside, under names of their own."""
    if "breaks" not in figures:
        raise OptionError("recode found no numbers, so it cut nowhere.")
    named, breaks, names = _above_zero(options, figures)
    first = POSITIVE if options["log"] else -math.inf
    if len(breaks) < len(names):  # open at both ends: nothing lies outside
        found = list(zip([first, *breaks], names, strict=True))
    else:
        below, above = _outside(data, options, breaks)
        taken = figures["labels"]
        found = [
            *((begin, _unlike(name, taken)) for begin, name in below),
            *zip(breaks, names, strict=False),
            *((begin, _unlike(name, taken)) for begin, name in above),
        ]
        found[0] = (first, found[0][1])
    if options["log"]:
        found.insert(0, (-math.inf, _unlike("≤0", names) if named is None else named))
    return found


def _above_zero(
    options: Mapping[str, Any], figures: Mapping[str, Any]
) -> tuple[str | None, Sequence[float], Sequence[str]]:
    """What recode with log called zero and below, None if there was nothing, and the other intervals."""
    breaks, names = figures["breaks"], figures["labels"]
    if options["log"] and breaks and breaks[0] == 0:
        return names[0], breaks[1:], names[1:]
    return None, breaks, names


def _outside(
    data: Microdata, options: Mapping[str, Any], breaks: Sequence[float]
) -> tuple[list[Interval], list[Interval]]:
    """The intervals below and above those released: the same grid goes on, where there is one."""
    own: list[Interval] = []
    if options["width"] is not None:
        try:
            wide = find("recode").call(data, **{**options, "labels": None})
        except OptionError:  # too many intervals: a number far off
            pass
        else:
            _, begins, names = _above_zero(options, {"breaks": [], "labels": [], **wide.log[-1].figures})
            own = list(zip(begins, names, strict=False))
    if not breaks:  # no positive number was released
        return own or [(0.0, ">0")], []
    low, high = breaks[0], breaks[-1]
    below = [(begin, name) for begin, name in own if begin < low]
    above = [(begin, name) for begin, name in own if begin >= high]
    return below or [(-math.inf, f"<{low:g}")], above or [(high, f"≥{high:g}")]


def _unlike(name: str, taken: Sequence[str]) -> str:
    """A name that is not released: users may call the forties "10–19"."""
    while name in taken:
        name += " (other)"
    return name
