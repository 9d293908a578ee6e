"""A file in the categories of another that was recoded: ages in the bands that were released.

A protection that makes values coarser says so in `Effects.recodes`, with an object that does the same to a
column of another file. Here are those that several protections can use, and the function that applies them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sdckit._support.messages import join_names
from sdckit.data.effects import Recoding
from sdckit.data.microdata import Microdata
from sdckit.errors import OptionError, SdcError
from sdckit.methods.registry import find

POSITIVE = math.ulp(0.0)  # what is below this smallest number is zero or negative

Interval = tuple[float, str]  # where it begins, and its name; it ends where the next begins


def apply_same_recoding(
    data: Microdata, released: Microdata, columns: Sequence[str]
) -> tuple[Microdata, tuple[str, ...]]:
    """The data with `columns` recoded as in the released file, and a note on which were.

    Who knows that somebody is 37 looks for them among those of 35–39 once ages are released in bands. Numbers
    are cut where those of the released file were, whatever the range of the data. A column stays unchanged
    where its recodings cannot be carried out on the data: these are in the categories already, say.
    """
    alike, names = in_categories_of(released, data, columns)
    note = (f"Compared in the categories of the protected file: {join_names(names)}.",)
    return alike, note if names else ()


def in_categories_of(
    released: Microdata, data: Microdata, columns: Sequence[str]
) -> tuple[Microdata, list[str]]:
    """The data with `columns` recoded as in the released file, and the names of those that were."""
    steps = recodings(data, released)
    done = []
    for column in columns:
        if column not in steps or column not in released.columns:
            continue
        try:
            data = _recoded(data, column, steps[column])
        except SdcError:
            continue
        done.append(column)
    return data, done


def _recoded(data: Microdata, column: str, steps: tuple[Recoding, ...]) -> Microdata:
    """The data with one column recoded; the last result is kept, as several measures and intruders ask."""
    key = ("recoded", column)
    if key in data.cache and _are_same(data.cache[key][0], steps):
        kept: Microdata = data.cache[key][1]
        return kept
    alike = data
    for recoding in steps:
        alike = recoding.apply(alike, column)
    data.cache[key] = (steps, alike)
    return alike


def _are_same(first: tuple[Recoding, ...], second: tuple[Recoding, ...]) -> bool:
    """Whether recodings do the same, as far as they can be compared: those of plug-ins may hold arrays."""
    try:
        return first == second
    except (TypeError, ValueError):
        return False


def recodings(original: Microdata, protected: Microdata) -> dict[str, tuple[Recoding, ...]]:
    """By column, the recodings of the protected file that the original has not gone through."""
    found: dict[str, tuple[Recoding, ...]] = {}
    for entry in protected.steps_since(original):
        for column, its in entry.effects.recodes.items():
            found[column] = (*found.get(column, ()), *its)
    return found


@dataclass(frozen=True)
class SameCall:
    """The same protection with the same options; `option` is the one that names the column."""

    method: str
    option: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def apply(self, data: Microdata, column: str) -> Microdata:
        """The data with this column recoded; in memory where the method needs it there."""
        spec = find(self.method)
        ready = data if data.engine in spec.engines else data.collect()
        done: Microdata = spec.call(ready, **{**self.options, self.option: column})
        return done


@dataclass(frozen=True)
class Intervals:
    """Numbers cut where those of the released file were, and on the same grid outside, where there is one.

    breaks, labels: as the log of `recode` has them. width, log: its options.
    """

    breaks: tuple[float, ...]
    labels: tuple[str, ...]
    width: float | None = None
    log: bool = False

    def apply(self, data: Microdata, column: str) -> Microdata:
        """The data with this column in the released intervals, others under names that are not released."""
        found = self._intervals(data, column)
        options = {"breaks": [begin for begin, _ in found[1:]], "labels": [name for _, name in found]}
        done: Microdata = find("recode").call(data, variable=column, **options)
        return done

    def _intervals(self, data: Microdata, column: str) -> list[Interval]:
        """The released intervals, and around them others for what lies outside, under names of their own."""
        named, breaks, names = _above_zero(self.log, self.breaks, self.labels)
        first = POSITIVE if self.log else -math.inf
        if len(breaks) < len(names):  # open at both ends: nothing lies outside
            found = list(zip([first, *breaks], names, strict=True))
        else:
            below, above = self._outside(data, column, breaks)
            found = [
                *((begin, _unlike(name, self.labels)) for begin, name in below),
                *zip(breaks, names, strict=False),
                *((begin, _unlike(name, self.labels)) for begin, name in above),
            ]
            found[0] = (first, found[0][1])
        if self.log:
            found.insert(0, (-math.inf, _unlike("≤0", names) if named is None else named))
        return found

    def _outside(
        self, data: Microdata, column: str, breaks: Sequence[float]
    ) -> tuple[list[Interval], list[Interval]]:
        """The intervals below and above those released: the same grid goes on, where there is one."""
        own: list[Interval] = []
        if self.width is not None:
            try:
                wide = find("recode").call(data, variable=column, width=self.width, log=self.log)
            except OptionError:  # too many intervals: a number far off
                pass
            else:
                figures = {"breaks": (), "labels": (), **wide.log[-1].figures}
                _, begins, names = _above_zero(self.log, figures["breaks"], figures["labels"])
                own = list(zip(begins, names, strict=False))
        if not breaks:  # no positive number was released
            return own or [(0.0, ">0")], []
        low, high = breaks[0], breaks[-1]
        below = [(begin, name) for begin, name in own if begin < low]
        above = [(begin, name) for begin, name in own if begin >= high]
        return below or [(-math.inf, f"<{low:g}")], above or [(high, f"≥{high:g}")]


def _above_zero(
    log: bool, breaks: Sequence[float], names: Sequence[str]
) -> tuple[str | None, Sequence[float], Sequence[str]]:
    """What recode with log called zero and below, None if there was nothing, and the other intervals."""
    if log and breaks and breaks[0] == 0:
        return names[0], breaks[1:], names[1:]
    return None, breaks, names


def _unlike(name: str, taken: Sequence[str]) -> str:
    """A name that is not released: users may call the forties "10–19"."""
    while name in taken:
        name += " (other)"
    return name
