"""Record swapping of records in memory."""

from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Ints
from sdckit.data.key_cells import key_codes
from sdckit.data.microdata import Microdata
from sdckit.protect._draws import record_codes, whole_numbers
from sdckit.protect._households import Households, households
from sdckit.protect._swapped_homes import Homes, Swapping, area_numbers, figures_of, level_left, numbered


def swapped_in_memory(data: Microdata, asked: Swapping) -> tuple[pl.DataFrame, Ints, dict[str, Any]]:
    """The file with households in other areas, the row each area is from, and what the log says."""
    homes = households(data) or Households(np.arange(data.height), np.arange(data.height))
    levels, settled = _areas(data, homes, asked)
    depth, count = len(asked.geography), len(homes.first)
    risk = _risk(data, homes, asked) if asked.k is not None else np.full(count, depth)
    risky = settled & (risk < depth)
    code, alone = _codes(data, homes)
    profiles = [_profile(data, homes, columns) for columns in asked.similar]
    partner, blocks = np.full(count, -1, dtype=np.int64), 1
    for one in asked.rounds():
        free = np.flatnonzero(settled & (partner < 0))
        profile = numbered(profiles[one.profile][free][:, None])
        some = Homes(profile, levels[free], risk[free], code[free], alone[free])
        cut, most = one.in_blocks(some)
        blocks = max(blocks, most)
        found, turn = one.pairs(Homes(cut, some.levels, some.risk, some.code, some.alone))
        if not one.risky:
            wanted = max(int(asked.share * count + 1e-9) - int((partner >= 0).sum()), 0) // 2
            ends = np.sort(turn)[2 * wanted : 2 * wanted + 1]
            found[turn >= (ends[0] if len(ends) else np.inf)] = -1
        new = found >= 0
        partner[free[new]] = free[found[new]]
    swapped = partner >= 0
    source = np.where(swapped, partner, np.arange(count))
    left = level_left(levels, levels[source])
    moved = swapped[homes.number]
    rows = _fellows(homes.number, source)
    counts = {
        "households": count,
        "households_swapped": int(swapped.sum()),
        "households_risky": int(risky.sum()),
        "risky_without_partner": int((risky & (left > risk)).sum()),
        "records_moved": int(moved.sum()),
    }
    frame = data.frame.with_columns(data.frame[c].gather(rows) for c in asked.geography)
    leaving = [int((left <= level).sum()) for level in range(depth)]
    return frame, rows, figures_of(asked.geography, counts, leaving, blocks)


def _fellows(home: Ints, source: Ints) -> Ints:
    """For each record the one of the same place in the household from which its own has the area.

    Both have the same size. source: that household for each one.
    """
    order = np.argsort(home, kind="stable")
    begin = np.concatenate([[0], np.bincount(home).cumsum()[:-1]])
    place = np.empty(len(home), dtype=np.int64)
    place[order] = np.arange(len(home)) - begin[home[order]]
    return np.asarray(order[begin[source[home]] + place])


def _codes(data: Microdata, homes: Households) -> tuple[Ints, Bools]:
    """The number that tells each household apart, and whether it is that of a record."""
    code, name = record_codes(data)[homes.first], data.roles.household
    if name is None:
        return code, np.ones(len(code), dtype=bool)
    number = data.frame[name].gather(homes.first)
    has = number.is_not_null()
    code[has.to_numpy()] = whole_numbers(number.filter(has))
    return code, ~has.to_numpy()


def _areas(data: Microdata, homes: Households, asked: Swapping) -> tuple[Ints, Bools]:
    """The area of each household at each level, and which have one area that is known."""
    codes = key_codes(data.frame, asked.geography)
    at_home = codes[homes.first]
    away = (codes != at_home[homes.number]).any(axis=1)
    settled: Bools = np.asarray((at_home >= 0).all(axis=1))
    settled[homes.number[away]] = False
    return area_numbers(at_home), settled


def _risk(data: Microdata, homes: Households, asked: Swapping) -> Ints:
    """The coarsest level at which a member is one of fewer than k; the number of levels where none is."""
    cell, area = key_codes(data.frame, asked.keys), key_codes(data.frame, asked.geography)
    risk = np.full(len(homes.first), len(asked.geography), dtype=np.int64)
    for level in reversed(range(len(asked.geography))):
        group = numbered(np.column_stack([cell, area[:, : level + 1]]))
        rare = np.bincount(group)[group] < (asked.k or 0)
        risk[homes.number[rare]] = level
    return risk


def _profile(data: Microdata, homes: Households, columns: tuple[str, ...]) -> Ints:
    """A number for each household: the same where size and members' values in the columns agree."""
    size = np.bincount(homes.number)
    if not columns:
        return size
    codes = numbered(key_codes(data.frame, columns))
    if (codes[homes.first][homes.number] == codes).all():
        return numbered(np.column_stack([size, codes[homes.first]]))
    # members sorted by value: household by household the list of values so far gets a number
    order = np.lexsort((codes, homes.number))
    begin = np.concatenate([[0], size.cumsum()[:-1]])
    number = size
    for member in range(int(size.max())):
        has = np.flatnonzero(size > member)
        pairs = np.column_stack([number[has], codes[order[begin[has] + member]]])
        number = number.copy()
        number[has] = numbered(pairs) + len(size) * (member + 1)
    return number
