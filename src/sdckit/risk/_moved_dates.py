"""Dates as an intruder uses them: as numbers of days, and as days between two dates that moved together."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit._support.messages import join_names
from sdckit.data.values import as_numbers, is_date
from sdckit.risk._known_values import KnownKeys, LinkedFiles, Numbers, coded

MOST = 0.5  # share of the pairs from which on dates are taken to have moved, and intervals to have stayed
SAME = 1e-6  # days: a tenth of a second
USUAL = (0.05, 0.95)  # nine of ten records lie between these quantiles
FARTHEST = 100.0  # usual ranges from the middle: beyond, exponentials overflow


def intervals(files: LinkedFiles, numbers: Numbers) -> tuple[Floats, Floats, str] | None:
    """What a shift of dates leaves: the days between dates that moved together, and times of day; and a note.

    A shift by the same number of days hides when, but not how long after: of dates that moved together one
    stays and the others become the days between. It hides no time of day either: times that stayed follow as
    further columns. None where neither stayed. Where the one date is missing, so are the days.
    """
    kinds, names = files.original.frame.schema, numbers.names
    dates = [j for j, name in enumerate(names) if is_date(kinds[name])]
    if not dates:
        return None
    true, released = (np.column_stack([c.values for c in f]) for f in (numbers.true, numbers.released))
    linked = files.own >= 0
    x, y = true[linked], released[files.own[linked]]
    moved = [j for j in dates if _share(np.abs(y[:, j] - x[:, j]) > SAME, x[:, j] + y[:, j]) > MOST]
    timed = [j for j in moved if _times_stayed(x[:, j], y[:, j])]
    times = [_time_of_day(values[:, timed]) for values in (true, released)]
    together = []
    if moved:
        first = max(moved, key=lambda j: int(np.isfinite(x[:, j] + y[:, j]).sum()))
        for j in moved:
            change = (y[:, j] - y[:, first]) - (x[:, j] - x[:, first])
            if j != first and _share(np.abs(change) <= SAME, change) > MOST:
                for values in (true, released):
                    values[:, j] = np.round((values[:, j] - values[:, first]) / SAME) * SAME
                together.append(names[j])
        together = [names[first], *together] if together else []
    if not together and not timed:
        return None
    notes = []
    if together:
        notes.append(
            f"{join_names(together)} moved together: the days between them stand in the file and were used."
        )
    if timed:
        notes.append(f"Times of day in {join_names([names[j] for j in timed])} did not move and were used.")
    return np.hstack([true, times[0]]), np.hstack([released, times[1]]), " ".join(notes)


def parts_of_moved_dates(files: LinkedFiles, known: Sequence[str]) -> tuple[str, ...]:
    """Dates that moved together with others an intruder knows, and then became years, months or ages.

    The rough days between them and the others are in the file, too, and no attack is made with those.
    """
    before, now = files.original.frame.schema, files.protected.frame.schema
    dates = [c for c in known if c in now and is_date(before[c])]
    found: dict[str, None] = {}
    for entry in files.protected.steps_since(files.original):
        together = [c for c in dates if c in entry.effects.randomises]
        if len(together) > 1:
            found |= dict.fromkeys(c for c in together if not is_date(now[c]))
    return tuple(found)


def _time_of_day(days: Floats) -> Floats:
    """The time of day as a part of a day, to a tenth of a second: 0 follows 1."""
    return np.asarray(np.round((days % 1.0) / SAME) * SAME % 1.0)


def _times_stayed(true: Floats, released: Floats) -> bool:
    """Whether records have times of day that differ from each other and mostly are what they were."""
    before, now = _time_of_day(true), _time_of_day(released)
    there = np.isfinite(before + now)
    if not there.any() or np.ptp(before[there]) <= SAME:
        return False
    away = np.abs(before - now)
    return _share(np.minimum(away, 1 - away) <= 1.5 * SAME, away) > MOST


def _share(holds: Bools, known: Floats) -> float:
    there = np.isfinite(known)
    return float(holds[there].mean()) if there.any() else 0.0


def household_intervals(files: LinkedFiles, keys: KnownKeys, names: Sequence[str], homes: Ints) -> KnownKeys:
    """The keys with moved dates as days after the earliest one of the same household.

    Where all members were moved by the same number of days, these are in the file as they were.
    """
    of_records = np.full(files.protected.height, -1, dtype=np.int64)
    of_records[files.own[files.own >= 0]] = homes[files.own >= 0]
    for name in names:
        after = [
            _after_first(frame[name], homes_of)
            for frame, homes_of in ((files.original.frame, homes), (files.protected.frame, of_records))
        ]
        x, y, size, _ = coded(after[0], after[1], after[0])
        j = keys.names.index(name)
        true, released = keys.true.copy(), keys.released.copy()
        true[:, j], released[:, j] = x, y
        sizes, images = list(keys.sizes), list(keys.images)
        sizes[j], images[j] = size, None
        keys = replace(keys, true=true, released=released, sizes=tuple(sizes), images=tuple(images))
    return keys


def _after_first(column: pl.Series, homes: Ints) -> pl.Series:
    table = pl.DataFrame({"home": homes, "day": pl.Series(as_numbers(column)).fill_nan(None)})
    after = (pl.col("day") - pl.col("day").min().over("home")).round(3)
    return table.select(after.cast(pl.String)).to_series()


def has_no_useful_zero(column: pl.Series) -> bool:
    """Whether nine in ten of the numbers differ by less than they are away from 0, or lie on both its sides.

    A tenth of a year is more than all years differ by, and a tenth of a score near 0 is nothing.
    """
    known = as_numbers(column)
    known = known[np.isfinite(known)]
    if not known.size:
        return False
    low, high = np.quantile(known, USUAL)
    return bool(low < 0 < high or high - low < min(abs(low), abs(high)))


def on_relative_scale(first: pl.Series, second: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Two columns of dates, or numbers, as ones whose relative error is a part of the range of nine in ten.

    Dates have no 0, so that a tenth of a date means nothing. exp(day/range) has the relative error 0.1 where
    the day is wrong by about a tenth of the range.
    """
    days = [as_numbers(column) for column in (first, second)]
    known = days[0][np.isfinite(days[0])]
    low, high = np.quantile(known, USUAL) if known.size else (0.0, 1.0)
    usual = float(high - low) or 1.0
    scaled = [np.exp(np.clip((d - low) / usual, -FARTHEST, FARTHEST)) for d in days]
    one, two = (pl.Series(c.name, s).fill_nan(None) for c, s in zip((first, second), scaled, strict=True))
    return one, two
