"""What to look at before a file is released, known from the file itself and what it was read from."""

import narwhals as nw

from sdckit._support.messages import join_names
from sdckit.data.effects import merged
from sdckit.data.microdata import Microdata
from sdckit.data.unchanged import released_ids, same_ids, unchanged_dates, unchanged_numbers
from sdckit.engine import frames


def direct_identifiers(data: Microdata) -> list[str]:
    """Columns that name persons: those with the role, and those dropped on reading that are there again."""
    again = [c for c in data.dropped if c in data.columns]
    return list(dict.fromkeys((*data.roles.direct, *again)))


def before_release(data: Microdata) -> str:
    """One sentence that lists what stands in the way of a release; empty where nothing does.

    It is no verdict: `assess` asks many more questions. Of data outside memory, and of a table that was put
    in by hand, less is known.

    >>> import polars as pl
    >>> before_release(Microdata.of(pl.DataFrame({"id": [1, 2], "sex": ["f", "m"]}), id="id", keys="sex"))
    'Before this file is released: no step has protected it; ids of the original, which new_ids renews: id.'
    """
    original = _original(data)
    parts = []
    if not data.log and (original is None or data.frame.equals(original.frame)):
        parts.append("no step has protected it")
    if names := direct_identifiers(data):
        parts.append(f"direct identifiers: {join_names(names)}")
    if names := _ids(data, original):
        parts.append(f"ids of the original, which new_ids renews: {join_names(names)}")
    if names := _numbers(data, original):
        parts.append(f"numbers as in the original: {join_names(names)}")
    if names := _dates(data, original):
        parts.append(f"dates as in the original: {join_names(names)}")
    if names := _not_compared(data, original):
        parts.append(
            f"not compared with the original, for the records are not in memory: {join_names(names)}"
        )
    if original is not None and (names := [c for c in data.columns if c not in original.columns]):
        parts.append(f"not in what was read, so that nothing is known of them: {join_names(names)}")
    if names := _not_looked_at(data):
        parts.append(f"no role, so that no risk looks at them: {join_names(names)}")
    return f"Before this file is released: {'; '.join(parts)}." if parts else ""


def _not_looked_at(data: Microdata) -> list[str]:
    """Columns without a role; a number in classes had one, and intruders are asked about it."""
    numbers = {c for entry in data.log for c in entry.figures.get("no_longer_numeric", ())}
    named = {*direct_identifiers(data), *numbers}
    return [c for c in data.columns if not data.roles.of(c) and c not in named]


def _original(data: Microdata) -> Microdata | None:
    """The data as they were read, under the roles of today; None where they are not in memory."""
    frame = data.reading.frame
    if frame is None or data.engine != "polars":
        return None
    new = tuple(c for c in data.columns if c not in frame.columns)
    return Microdata(frame, data.roles.without(new), origin=data.origin)


def _ids(data: Microdata, original: Microdata | None) -> list[str]:
    """Columns that number records as the original does, or may do so where that cannot be looked at."""
    if original is not None:
        return list(same_ids(original, data) or ())
    renamed = merged(entry.effects for entry in data.log).renames_ids
    return [] if renamed else released_ids(data, data)


def _numbers(data: Microdata, original: Microdata | None) -> list[str]:
    """Numbers that most records have as they were read."""
    if original is None:
        return [] if data.log else list(data.roles.numeric)
    there = [c for c in data.roles.numeric if c in original.columns]
    return unchanged_numbers(original, data, there) or []


def _not_compared(data: Microdata, original: Microdata | None) -> list[str]:
    """Numbers and dates of which nobody looked whether they stand there as they were read."""
    if data.engine == "polars" or original is not None:
        return []
    numbers = data.roles.numeric if data.log else ()  # without a step they are as they were read
    kinds = frames.schema(data.frame)
    return [c for c in data.columns if c in numbers or isinstance(kinds[c], nw.Date | nw.Datetime)]


def _dates(data: Microdata, original: Microdata | None) -> list[str]:
    """Dates that most records have as they were read."""
    return [] if original is None else unchanged_dates(original, data)
