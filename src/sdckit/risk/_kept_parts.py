"""Parts of categories that stayed though the categories moved: the first letters of a code, or its block."""

from dataclasses import replace
from math import log

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Ints
from sdckit.data.values import texts
from sdckit.risk._known_values import CountedPairs, KnownKeys, LinkedFiles, coded

CLEARLY = 0.05  # share of the persons whose category moved, but not this part of it, beyond chance
LONGEST = 8  # characters at either end of a code that are taken for a part
RARE = 1e-3  # chance that all moves stay inside a block by accident
LOOKED_AT = 2_000  # persons whose category moved
ENOUGH = 0.05  # share of the persons whose category moved


def with_kept_parts(files: LinkedFiles, keys: KnownKeys, counted: CountedPairs) -> KnownKeys | None:
    """The keys with parts that stayed as further ones; None where there are none.

    A category drawn anew inside its region, or a code of which some digits were drawn anew, still tells the
    region or the other digits; how likely a category stays or moves says nothing of that. Where each true
    value has one released value, as after recoding, that says all.
    """
    if files.in_place and keys.true is keys.released:
        return None
    linked = np.flatnonzero(files.own >= 0)
    own = files.own[linked]
    extended = keys
    for j, name in enumerate(keys.names):
        x, y = keys.true[linked, j], keys.released[own, j]
        moved = (x != y) & (x >= 0) & (y >= 0)
        if keys.images[j] is not None or not counted.channels[j].moves or moved.mean() <= ENOUGH:
            continue
        blocks = blocks_of_moves(x, y, moved, keys.sizes[j])
        if blocks is not None:
            size = int(blocks.max()) + 1
            true, shown = (np.where(c < 0, -1, blocks[c]) for c in (keys.true[:, j], keys.released[:, j]))
            extended = _and_one(extended, f"the block of {name}", true, shown, size)
        columns = [texts(data.frame[name]) for data in (files.original, files.protected)]
        some = files.draws().permutation(np.flatnonzero(moved))[:LOOKED_AT]
        part = _ends(columns[0].gather(linked[some]), columns[1].gather(own[some]))
        if part is not None:
            ends = [column.str.slice(*part) for column in columns]
            end = f"the {'last' if part[0] < 0 else 'first'} characters of {name}"
            extended = _and_one(extended, end, *coded(ends[0], ends[1], ends[0])[:3])
    return None if extended is keys else extended


def _and_one(keys: KnownKeys, name: str, true: Ints, released: Ints, size: int) -> KnownKeys:
    return replace(
        keys,
        names=(*keys.names, name),
        true=np.column_stack([keys.true, true]),
        released=np.column_stack([keys.released, released]),
        sizes=(*keys.sizes, size),
        images=(*keys.images, None),
    )


def blocks_of_moves(x: Ints, y: Ints, moved: Bools, size: int) -> Ints | None:
    """Categories that move only among each other, as numbers of blocks; None where there is one block.

    A block whose moves may all have stayed inside by accident belongs to the rest: a few records of a rare
    category that did not move say nothing of others.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    there = (x >= 0) & (y >= 0)
    if not moved[there].any():
        return None
    edges = coo_array((np.ones(int(there.sum())), (x[there], y[there])), shape=(size, size))
    number, block = connected_components(edges, directed=False)
    records = np.bincount(block[x[there]], minlength=number)
    into = np.bincount(block[y[moved]], minlength=number) / max(int(moved.sum()), 1)
    leaves = moved[there].mean() * (1 - into)  # chance that a record leaves its block, if moves go anywhere
    accident = np.exp(records * np.log1p(-np.minimum(leaves, 1 - 1e-12)))
    sure = accident * number < RARE
    if sure.sum() < 2:
        return None
    return np.asarray(np.where(sure, np.cumsum(sure), 0)[block], dtype=np.int64)


def _ends(first: pl.Series, second: pl.Series) -> tuple[int, int | None] | None:
    """Where in a text the part is that stayed most often, beyond chance: from where, and how long."""
    longest = int(first.str.len_chars().max() or 0)  # type: ignore[arg-type]
    best, found = None, 0.0
    ends: list[tuple[int, int | None]] = [(0, n) for n in range(1, min(longest, LONGEST + 1))]
    ends += [(-n, None) for n in range(1, min(longest, LONGEST + 1))]
    for end in ends:
        true, shown = first.str.slice(*end), second.str.slice(*end)
        beyond = float((true == shown).mean() or 0) - float((true == shown.shift(1)).mean() or 0)  # type: ignore[arg-type]
        tells = beyond * log(max(true.n_unique(), 1))
        if beyond > CLEARLY and tells > found:
            best, found = end, tells
    return best
