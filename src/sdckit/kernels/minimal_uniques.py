"""Minimal sample uniques: the smallest sets of keys on which a record is alone in the file."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Bools, Codes, Ints
from sdckit.kernels._jit import jit
from sdckit.kernels.hash_table import find_slot, table_size
from sdckit.kernels.hashing import Layout, bit_layout, pack, pack_words

Cells = npt.NDArray[np.int32]  # numbers of cells, not of categories


class _Unique:
    """Who was found unique on which sets of keys, one bit a candidate; sets without anybody take no room."""

    def __init__(self, candidates: int) -> None:
        self.bytes = (candidates + 7) // 8
        self.bits: dict[int, npt.NDArray[np.uint8]] = {}

    def add(self, cells: Cells, subset: int) -> None:
        if len(cells):
            bits = self.bits.setdefault(subset, np.zeros(self.bytes, dtype=np.uint8))
            np.bitwise_or.at(bits, cells >> 3, _bit(cells))

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
                cells = cells[bits[cells >> 3] & _bit(cells) == 0]
            rest ^= key
        return cells


def _bit(cells: Cells) -> npt.NDArray[np.uint8]:
    """The bit of each cell in its byte."""
    return np.left_shift(np.uint8(1), (cells & 7).astype(np.uint8))


class _Wild:
    """The incomplete cells, sorted by what they miss, to ask which others they match."""

    def __init__(self, codes: Codes, packed: Ints, layout: Layout) -> None:
        self.packed, self.word, self.field = packed, layout.word, layout.field
        incomplete = np.flatnonzero((codes < 0).any(axis=1))
        present = codes[incomplete] >= 0
        _, first, pattern = np.unique(pack(np.where(present, 0, -1)), return_index=True, return_inverse=True)
        self.cells = incomplete[np.argsort(pattern, kind="stable")].astype(np.int32)
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(pattern, minlength=len(first)))])
        self.table = np.empty(table_size(len(incomplete)), dtype=np.int32)
        self.mask = np.empty(packed.shape[0], dtype=np.int64)
        self.present = (present[first].astype(np.int64) << np.arange(codes.shape[1])).sum(axis=1)

    def match(self, cells: Cells, subset: int) -> Bools:
        """Which of the cells, alone among those complete on the subset, an incomplete one matches."""
        shared = self.present & subset
        if (shared == 0).any():
            return np.ones(len(cells), dtype=bool)
        asked = np.flatnonzero(shared != subset)
        asked = asked[np.argsort(shared[asked], kind="stable")]  # patterns that share the same keys together
        left = np.arange(len(cells))
        unmatched = _leave_unmatched(
            self.packed, cells, self.word, self.field, shared[asked], self.starts[asked],
            self.starts[asked + 1], self.cells, self.table, self.mask, left,
        )  # fmt: skip
        matched = np.ones(len(cells), dtype=np.bool_)
        matched[left[:unmatched]] = False
        return matched


def minimal_uniques(
    codes: Codes, candidate: Bools, max_size: int, *, wildcard: bool = False
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
    columns: Codes,
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


def _split(column: Codes, members: Cells, starts: Cells, last: bool) -> tuple[Cells, Cells, Cells]:
    """Split every group by a key: candidates then alone, members of the new groups, limits of these.

    Members are cells, candidates as they are and others as ~cell. Group g is members[starts[g]:starts[g+1]].
    Who misses the key leaves. With `last` no new groups are made.
    """
    alone, code = np.empty(len(members), np.int32), np.empty(len(members), np.int32)
    kept = np.empty(0 if last else len(members), np.int32)
    limits = np.zeros(1 if last else len(members) // 2 + len(starts) + 1, np.int32)
    counts = np.zeros((4, column.max(initial=-1) + 1), np.int32)
    n_alone, n_kept, n_groups = _split_groups(
        column, members, starts, last, alone, kept, limits, code, counts
    )
    return alone[:n_alone], kept[:n_kept], limits[: n_groups + 1]


@jit
def _split_groups(
    column: Codes,
    members: Cells,
    starts: Cells,
    last: bool,
    alone: Cells,
    kept: Cells,
    limits: Cells,
    code: Codes,
    counts: Cells,
) -> tuple[int, int, int]:
    """Fill in what `_split` returns and say how much of it; code and counts are scratch."""
    count, hopeful, place, seen = counts[0], counts[1], counts[2], counts[3]
    n_alone, n_kept, n_groups = 0, 0, 0
    for g in range(starts.shape[0] - 1):
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
    return n_alone, n_kept, n_groups


def _merge(packed: Ints, mask: Ints, candidates: int) -> Cells:
    """One member for all cells equal under the mask; a candidate with an equal is none."""
    table = np.full(table_size(packed.shape[1]), -1, dtype=np.int32)
    members, number = np.empty(packed.shape[1], dtype=np.int32), np.empty_like(table)
    return members[: _merge_equal(packed, mask, candidates, table, number, members)]


@jit
def _merge_equal(
    packed: Ints, mask: Ints, candidates: int, table: Cells, number: Cells, members: Cells
) -> int:
    size, last = 0, table.shape[0] - 1
    for cell in range(packed.shape[1]):
        slot = find_slot(table, np.uint64(last), packed, mask, cell)
        if table[slot] < 0:
            table[slot] = cell
            number[slot] = size
            members[size] = cell if cell < candidates else ~cell
            size += 1
        elif members[number[slot]] >= 0:
            members[number[slot]] = ~members[number[slot]]
    return size


@jit
def _leave_unmatched(
    packed: Ints,
    cells: Cells,
    word: Ints,
    field: Ints,
    shared: Ints,
    starts: Ints,
    stops: Ints,
    wild: Cells,
    table: Cells,
    mask: Ints,
    left: Ints,
) -> int:
    """Move to the front of left who has the values of no incomplete cell on the keys both have; how many.

    Pattern p of missing keys has wild[starts[p]:stops[p]]; the keys are bits of shared[p], by which patterns
    are sorted. table and mask are scratch.
    """
    remaining: int = cells.shape[0]
    p = 0
    while p < shared.shape[0]:
        for w in range(mask.shape[0]):
            mask[w] = 0
        for key in range(word.shape[0]):
            if shared[p] >> key & 1:
                mask[word[key]] |= field[key]
        first, size, last = p, 0, 3
        while p < shared.shape[0] and shared[p] == shared[first]:
            size += stops[p] - starts[p]
            p += 1
        while last + 1 < 2 * size:
            last = 2 * last + 1
        for slot in range(last + 1):
            table[slot] = -1
        for pattern in range(first, p):
            for t in range(starts[pattern], stops[pattern]):
                table[find_slot(table, np.uint64(last), packed, mask, np.int64(wild[t]))] = wild[t]
        n = 0
        for i in range(remaining):
            left[n] = left[i]
            n += table[find_slot(table, np.uint64(last), packed, mask, np.int64(cells[left[i]]))] < 0
        remaining = n
    return remaining
