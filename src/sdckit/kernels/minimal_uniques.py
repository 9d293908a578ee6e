"""Minimal sample uniques: the smallest sets of keys on which a record is alone in the file."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import jit
from sdckit.kernels.hashing import Layout, bit_layout, pack, pack_words

Ints = npt.NDArray[np.int64]
Cells = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

# Odd, near 2⁶⁴/φ: multiplying by it spreads neighbouring codes over the table (Knuth, TAOCP 3, 6.4)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class _Unique:
    """Who was found unique on which sets of keys, one bit a candidate; sets without anybody take no room."""

    def __init__(self, candidates: int) -> None:
        self.bytes = (candidates + 7) // 8
        self.bits: dict[int, npt.NDArray[np.uint8]] = {}

    def add(self, cells: Cells, subset: int) -> None:
        if len(cells):
            self.bits.setdefault(subset, np.zeros(self.bytes, dtype=np.uint8))
            _set_bits(self.bits[subset], cells)

    def minimal(self, cells: Cells, subset: int) -> Cells:
        """Those of the cells that are not unique on any set with one key less.

        Nobody is on the parent. On the others every cell left in the parent was asked, as their own parents
        are parts of it.
        """
        rest = subset & (subset - 1)
        while rest and len(cells):
            key = rest & -rest
            bits = self.bits.get(subset ^ key)
            if bits is not None:
                cells = _without(cells, bits)
            rest ^= key
        return cells


class _Wild:
    """The incomplete cells, sorted by what they miss, to ask which others they match."""

    def __init__(self, codes: npt.NDArray[np.int32], packed: Ints, layout: Layout) -> None:
        self.packed, self.word, self.field = packed, layout.word, layout.field
        incomplete = np.flatnonzero((codes < 0).any(axis=1))
        present = codes[incomplete] >= 0
        _, first, pattern = np.unique(pack(np.where(present, 0, -1)), return_index=True, return_inverse=True)
        self.cells = incomplete[np.argsort(pattern, kind="stable")].astype(np.int32)
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(pattern, minlength=len(first)))])
        self.present = (present[first].astype(np.int64) << np.arange(codes.shape[1])).sum(axis=1)

    def match(self, cells: Cells, subset: int) -> Flags:
        """Which of the cells, alone among those complete on the subset, an incomplete one matches."""
        shared = self.present & subset
        if (shared == 0).any():
            return np.ones(len(cells), dtype=bool)
        asked = np.flatnonzero(shared != subset)
        asked = asked[np.argsort(shared[asked], kind="stable")]  # patterns that share the same keys together
        return _match(
            self.packed, cells, self.word, self.field, shared[asked], self.starts[asked],
            self.starts[asked + 1], self.cells,
        )  # fmt: skip


def minimal_uniques(
    codes: npt.NDArray[np.int32], candidate: Flags, max_size: int, *, wildcard: bool = False
) -> Iterator[tuple[list[int], Ints]]:
    """All minimal sample uniques of at most max_size keys, exactly: sets of keys with their cells.

    codes [c, q] are distinct key combinations, -1 for missing; q is at most 62. candidate [c] says which
    hold one record only and may be unique; all others are somebody a candidate may be mistaken for.

    A candidate is unique on a set of keys when no other cell has the same values there, and minimally so
    when it is on no smaller part of the set. A set with a key the candidate misses is not considered. Others
    who miss a key of the set match no one or, with `wildcard`, whoever has their values on the rest.

    Sets of keys are the integers 1 … 2^q-1, read as bits. In this order every set comes after its parts and
    after its parent, the set without its lowest bit, whose groups of equal cells are split by that key. Cells
    alone in a group leave: they are unique on every larger set too. Groups without a candidate leave as well.
    Sets with highest key h never look at the keys above: cells equal up to h are first made one. Keys with
    many values are put on top, so that mostly the upper half of the sets is work.

    Time: a split of what is left of the cells for each set. Memory: O(c · q), and a bit for each candidate
    and set on which somebody is unique (at most 2^q).
    """
    q = codes.shape[1]
    cells = np.argsort(~candidate, kind="stable")  # candidates first, so that their numbers are short
    keys = np.argsort(codes.max(axis=0, initial=-1), kind="stable")
    codes = codes[cells][:, keys]
    layout = bit_layout(codes)
    packed = pack_words(codes, layout)
    candidates = int(candidate.sum())
    columns = np.ascontiguousarray(codes.T)
    wild = _Wild(codes, packed, layout) if wildcard and (codes < 0).any() else None
    unique = _Unique(candidates)
    for top in range(q):
        members = _merge(packed, layout.mask(np.arange(q) <= top), candidates)
        if (members >= 0).any():
            for subset, found in _search(columns, members, top, max_size, unique, wild):
                yield [int(key) for bit, key in enumerate(keys) if subset >> bit & 1], cells[found]


def _search(
    columns: npt.NDArray[np.int32],
    members: Cells,
    top: int,
    max_size: int,
    unique: _Unique,
    wild: _Wild | None,
) -> Iterator[tuple[int, Cells]]:
    """Visit the sets of keys whose highest is `top`."""
    groups = {0: (members, np.array([0, len(members)], dtype=np.int32))}  # by number of keys: of the parent
    subset = 1 << top
    while subset < 2 << top:
        low = subset & -subset
        size = subset.bit_count()
        last = low == 1 or size == max_size
        alone, kept, limits = _split(columns[low.bit_length() - 1], *groups[size - 1], last)
        found = unique.minimal(alone, subset)
        if wild is not None and len(found):
            matched = wild.match(found, subset)
            again, found = found[matched], found[~matched]
            # not unique yet, but a further key may tell the incomplete record apart: keep as a group of one
            kept, limits = np.concatenate([kept, again]), _extend(limits, len(again))
            alone = np.setdiff1d(alone, again, assume_unique=True)
        if size < max_size:
            unique.add(alone, subset)
        if len(found):
            yield subset, found
        groups[size] = (kept, limits)
        # the sets below this one are the next low - 1 integers
        subset += low if last or not len(kept) else 1


def _extend(starts: Cells, ones: int) -> Cells:
    """Group limits with some groups of one at the end."""
    return np.concatenate([starts, starts[-1] + np.arange(1, ones + 1, dtype=np.int32)])


@jit
def _split(
    column: npt.NDArray[np.int32], members: Cells, starts: Cells, last: bool
) -> tuple[Cells, Cells, Cells]:
    """Split every group by a key: candidates then alone, members of the new groups, limits of these.

    Members are cells, candidates as they are and others as ~cell. Group g is members[starts[g]:starts[g+1]].
    Who misses the key leaves. With `last` no new groups are made.
    """
    alone = np.empty(len(members), np.int32)
    kept = np.empty(0 if last else len(members), np.int32)
    limits = np.zeros(1 if last else len(members) // 2 + len(starts) + 1, np.int32)
    n_alone, n_kept, n_groups = 0, 0, 0
    values = column.max() + 1
    count, hopeful, place = np.zeros(values, np.int32), np.zeros(values, np.int32), np.empty(values, np.int32)
    seen, code = np.empty(values, np.int32), np.empty(len(members), np.int32)
    for g in range(len(starts) - 1):
        different = 0
        for t in range(starts[g], starts[g + 1]):
            member = members[t]
            value = column[member if member >= 0 else ~member]
            code[t] = value
            if value >= 0:
                if count[value] == 0:
                    seen[different] = value
                    different += 1
                count[value] += 1
                hopeful[value] += member >= 0
        for d in range(different):
            value = seen[d]
            place[value] = -1
            if count[value] > 1 and hopeful[value] > 0 and not last:
                place[value] = n_kept
                n_kept += count[value]
                n_groups += 1
                limits[n_groups] = n_kept
        for t in range(starts[g], starts[g + 1]):
            value = code[t]
            if value >= 0:
                if count[value] == 1 and members[t] >= 0:
                    alone[n_alone] = members[t]
                    n_alone += 1
                elif place[value] >= 0:
                    kept[place[value]] = members[t]
                    place[value] += 1
        for d in range(different):
            count[seen[d]] = 0
            hopeful[seen[d]] = 0
    return alone[:n_alone], kept[:n_kept], limits[: n_groups + 1]


@jit
def _set_bits(bits: npt.NDArray[np.uint8], cells: Cells) -> None:
    """Set the bits of these cells."""
    for cell in cells:
        bits[cell >> 3] |= np.uint8(1 << (cell & 7))


@jit
def _without(cells: Cells, bits: npt.NDArray[np.uint8]) -> Cells:
    """The cells whose bit is not set."""
    kept = np.empty(len(cells), np.int32)
    n = 0
    for cell in cells:
        kept[n] = cell
        n += 1 - (bits[cell >> 3] >> (cell & 7) & 1)
    return kept[:n]


@jit
def _merge(packed: Ints, mask: Ints, candidates: int) -> Cells:
    """One member for all cells equal under the mask; a candidate with an equal is none."""
    n = packed.shape[1]
    table = _empty_table(n)
    number = np.empty(len(table), np.int32)
    members = np.empty(n, np.int32)
    size = 0
    for cell in range(n):
        slot = _slot(table, packed, mask, cell)
        if table[slot] < 0:
            table[slot] = cell
            number[slot] = size
            members[size] = cell if cell < candidates else ~cell
            size += 1
        elif members[number[slot]] >= 0:
            members[number[slot]] = ~members[number[slot]]
    return members[:size]


@jit
def _match(
    packed: Ints,
    cells: Cells,
    word: Ints,
    field: Ints,
    shared: Ints,
    starts: Ints,
    stops: Ints,
    wild: Cells,
) -> Flags:
    """Which cells have the values of an incomplete one on the keys both have, as bits in `shared`.

    Pattern p of missing keys holds wild[starts[p]:stops[p]]; patterns are sorted by shared.
    """
    left = np.arange(len(cells))  # who is not matched yet
    p = 0
    while p < len(shared):
        mask = np.zeros(packed.shape[0], np.int64)
        for key in range(len(word)):
            if shared[p] >> key & 1:
                mask[word[key]] |= field[key]
        first = p
        while p < len(shared) and shared[p] == shared[first]:
            p += 1
        table = _empty_table((stops[first:p] - starts[first:p]).sum())
        for pattern in range(first, p):
            for t in range(starts[pattern], stops[pattern]):
                table[_slot(table, packed, mask, wild[t])] = wild[t]
        n = 0
        for i in left:
            left[n] = i
            n += table[_slot(table, packed, mask, cells[i])] < 0
        left = left[:n]
    matched = np.ones(len(cells), np.bool_)
    matched[left] = False
    return matched


@jit
def _empty_table(n: int) -> Cells:
    """A hash table for n cells, at least half of it free; its length is a power of two."""
    bits = 2
    while 1 << bits < 2 * n:
        bits += 1
    return np.full(1 << bits, -1, np.int32)


@jit
def _slot(table: Cells, packed: Ints, mask: Ints, cell: int) -> np.uint64:
    """Where the table has a cell equal to this one under the mask, or the free slot where it would go."""
    mixed = np.uint64(0)
    for w in range(len(mask)):
        mixed = (mixed ^ np.uint64(packed[w, cell] & mask[w])) * _SPREAD
        mixed ^= mixed >> np.uint64(32)  # the low bits, taken below, must depend on all
    last = np.uint64(len(table) - 1)
    slot = (mixed * _SPREAD >> np.uint64(32)) & last
    while table[slot] >= 0:
        same = True
        for w in range(len(mask)):
            same &= (packed[w, table[slot]] ^ packed[w, cell]) & mask[w] == 0
        if same:
            break
        slot = (slot + np.uint64(1)) & last
    return slot
