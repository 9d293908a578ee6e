"""Households as combinations of their members' keys: distinct ones, and how likely one becomes another."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.kernels.permanents import permanents
from sdckit.models.category_channel import CategoryChannel
from sdckit.models.key_pairs import KeyPairs

_BATCH = 2_000_000  # numbers of a batch of matrices
_PER_BLOCK = 1_000  # pairs that take as long as entering a block
_LARGEST_MATRIX = 1000  # values of a key
_Codes = npt.NDArray[np.signedinteger]


class Side(NamedTuple):
    """Distinct households of one file, all of the same size."""

    members: Ints  # [cells, k] member cells, sorted unless the order of members is released
    together: Ints  # [cells] cell of the household variables
    number: Floats  # [cells] households

    def some(self, cells: Ints) -> "Side":
        """These cells."""
        return Side(self.members[cells], self.together[cells], self.number[cells])


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Households that may stand for one another: of the same size, and alike in the keys that are exact."""

    true: Side
    shown: Side
    households: Ints  # [h] numbers of the households
    true_cell: Ints  # [h]
    shown_cell: Ints  # [h]; −1 for a household that was not released
    by_place: bool
    chances: "Chances"

    @property
    def pairs(self) -> int:
        """Size of the matrix of likelihoods."""
        return len(self.true.number) * len(self.shown.number)

    def likelihood(self, true: Ints, shown: Ints) -> Floats:
        """L [true cells, shown cells] for these cells of the block."""
        out = np.zeros((len(true), len(shown)))
        step = max(_BATCH // max(len(shown) * self.true.members.shape[1], 1), 1)
        for low in range(0, len(true), step):
            rows = true[low : low + step]
            together = self.chances.together(self.true.together[rows], self.shown.together[shown])
            here, there = np.flatnonzero(together.any(axis=1)), np.flatnonzero(together.any(axis=0))
            if len(here) and len(there):
                place = np.ix_(here, there)
                matched = self._matched(
                    self.true.members[rows[here]], self.shown.members[shown[there]], together[place]
                )
                out[low + here[:, None], there[None, :]] = matched * together[place]
        return out

    def likelihood_of_pairs(self, true: Ints, shown: Ints) -> Floats:
        """L of pairs of cells, one by one."""
        out = np.empty(len(true))
        size = self.true.members.shape[1]
        step = max(_BATCH // (size * size), 1)
        for low in range(0, len(true), step):
            mine, theirs = true[low : low + step], shown[low : low + step]
            matrices = self.chances.personal_pairs(self.true.members[mine], self.shown.members[theirs])
            matched = (
                np.diagonal(matrices, axis1=1, axis2=2).prod(axis=1)
                if self.by_place
                else permanents(matrices)
            )
            out[low : low + step] = matched * self.chances.together_pairs(
                self.true.together[mine], self.shown.together[theirs]
            )
        return out

    def _matched(self, true: Ints, shown: Ints, together: Floats) -> Floats:
        """Likelihood of the members of households [h, k] and [g, k], where what they share is possible."""
        size = true.shape[1]
        mine, my_place = _numbers(true, len(self.chances.personal_true))
        theirs, their_place = _numbers(shown, len(self.chances.personal_shown))
        one = self.chances.personal(mine, theirs)
        if self.by_place or size == 1:
            product = np.ones((len(true), len(shown)))
            for member in range(size):
                product *= one[my_place[:, member, None], their_place[None, :, member]]
            return product
        possible = together > 0
        if one.min() == 0:  # every released member must be possible for some member
            reached = np.asarray((one[my_place] > 0).any(axis=1))
            for member in range(size):
                possible &= reached[:, their_place[:, member]]
        out = np.zeros((len(true), len(shown)))
        first, second = np.nonzero(possible)
        step = max(_BATCH // size**2, 1)
        for low in range(0, len(first), step):
            left, right = first[low : low + step], second[low : low + step]
            out[left, right] = permanents(one[my_place[left][:, :, None], their_place[right][:, None, :]])
        return out


def _numbers(cells: Ints, size: int) -> tuple[Ints, Ints]:
    """The cells that occur, and which of them each one is; cells are below `size`."""
    occurs = np.zeros(size, bool)
    occurs[cells] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[cells]


@dataclass(frozen=True, slots=True, eq=False)
class Chances:
    """Likelihoods between cells of single members, and of the variables that a household shares."""

    personal_channels: tuple["Chance", ...]
    personal_true: Ints  # [cells, personal keys] codes
    personal_shown: _Codes
    shared_channels: tuple["Chance", ...]
    shared_true: Ints  # [cells, household keys]
    shared_shown: _Codes

    def personal(self, true: Ints, shown: Ints) -> Floats:
        """Of members: [true, shown]."""
        mine, theirs = self.personal_true[true], self.personal_shown[shown]
        return _product(self.personal_channels, mine[:, None], theirs[None, :])

    def together(self, true: Ints, shown: Ints) -> Floats:
        """Of what all members have in common: [true, shown]."""
        mine, theirs = self.shared_true[true], self.shared_shown[shown]
        return _product(self.shared_channels, mine[:, None], theirs[None, :])

    def personal_pairs(self, true: Ints, shown: Ints) -> Floats:
        """Of members [n, k] of pairs of households: matrices [n, k, k]."""
        mine, theirs = self.personal_true[true], self.personal_shown[shown]
        return _product(self.personal_channels, mine[:, :, None], theirs[:, None, :])

    def together_pairs(self, true: Ints, shown: Ints) -> Floats:
        """Of what households of pairs have in common [n]."""
        return _product(self.shared_channels, self.shared_true[true], self.shared_shown[shown])


Chance = Callable[[Ints, _Codes], Floats]  # m(y | x) for codes


def chance_of(channel: CategoryChannel) -> Chance:
    """The likelihood of a channel, from its matrix where that is small."""
    if channel.size > _LARGEST_MATRIX:
        return channel.likelihood
    matrix = channel.matrix()
    return lambda x, y: matrix[x, y]  # −1 is the last row, and the last column


def _product(chances: tuple[Chance, ...], true: Ints, shown: _Codes) -> Floats:
    """Product over keys, which are the last axis; other axes are broadcast."""
    result = np.ones(np.broadcast_shapes(true.shape[:-1], shown.shape[:-1]))
    for v, chance in enumerate(chances):
        result *= chance(true[..., v], shown[..., v])
    return result


@dataclass(frozen=True, slots=True, eq=False)
class Households:
    """Households of the persons, in the order of their labels; members in the order of the file."""

    labels: Ints  # [H]
    start: Ints  # [H] first row of the household in the arrays below
    size: Ints  # [H]
    released: Bools  # [H]
    x: _Codes  # [rows, q]
    y: _Codes
    shared: list[int]  # household variables
    personal: list[int]

    @classmethod
    def of(cls, pairs: KeyPairs, household: Ints) -> "Households":
        """Collect members; of a household that was released in part, only members with a record count."""
        labels, number = np.unique(household, return_inverse=True)
        in_file = pairs.in_file
        released = np.bincount(number[in_file], minlength=len(labels)) > 0
        rows = np.flatnonzero(in_file | ~released[number])
        rows = rows[np.argsort(number[rows], kind="stable")]
        size = np.bincount(number[rows], minlength=len(labels))
        start = np.cumsum(size) - size
        x, y = pairs.x[rows], pairs.y[rows]
        shared = [v for v in range(x.shape[1]) if _is_shared(x[:, v], y[:, v], start, size, released)]
        personal = [v for v in range(x.shape[1]) if v not in shared]
        return cls(labels, start, size, released, x, y, shared, personal)

    def shown_together(self) -> _Codes:
        """Released values of the household variables: what any member shows."""
        return np.maximum.reduceat(self.y[:, self.shared], self.start, axis=0)

    def person_rows(self, households: Ints) -> Ints:
        """Rows of the members of these households, all of the same size: [h, k]."""
        return np.asarray(self.start[households][:, None] + np.arange(self.size[households[0]])[None, :])


def _is_shared(x: _Codes, y: _Codes, start: Ints, size: Ints, released: Bools) -> bool:
    """Whether all members have the same true value, and all released values that are shown agree."""
    if (x != np.repeat(x[start], size)).any():
        return False
    largest = np.repeat(np.maximum.reduceat(y, start), size)
    return not ((y >= 0) & (y != largest) & np.repeat(released, size)).any()


class SizeClass(NamedTuple):
    """All households of one size, sorted by block."""

    households: Ints  # [h]
    true: Side
    shown: Side
    true_cell: Ints  # [h]
    shown_cell: Ints  # [h]; −1 if not released
    bounds: Ints  # where blocks begin and end among the households
    true_cells: Ints  # [blocks] how many there are
    shown_cells: Ints  # [blocks]
    by_place: bool
    chances: Chances

    @property
    def alike(self) -> Bools:
        """Which blocks have one true and at most one released combination."""
        return np.asarray((self.true_cells == 1) & (self.shown_cells <= 1))

    @property
    def effort(self) -> int:
        """Pairs of households to be compared; entering a block counts as some more."""
        pairs = _PER_BLOCK + self.true_cells * self.shown_cells
        return int(pairs[~self.alike].sum())

    def block(self, number: int) -> Block:
        """One of the blocks."""
        rows = slice(self.bounds[number], self.bounds[number + 1])
        true_cells, true = np.unique(self.true_cell[rows], return_inverse=True)
        shown_rows = self.shown_cell[rows]
        kept = shown_rows >= 0
        shown_cells, place = np.unique(shown_rows[kept], return_inverse=True)
        shown = np.full(len(shown_rows), -1)
        shown[kept] = place
        return Block(
            self.true.some(true_cells),
            self.shown.some(shown_cells),
            self.households[rows],
            true,
            shown,
            self.by_place,
            self.chances,
        )


class MemberCells(NamedTuple):
    """Cells of members and of household variables, and combinations of those of their keys that are exact."""

    true: Ints  # [rows] cell of each member's personal keys
    shown: Ints  # [rows]
    exact: Ints  # [rows]
    together: Ints  # [H]
    shown_together: Ints  # [H]
    together_exact: Ints  # [H]


def member_cells(
    homes: Households, personal: tuple[CategoryChannel, ...], shared: tuple[CategoryChannel, ...]
) -> tuple[MemberCells, Chances]:
    """Number the cells of members and of what they have in common."""
    x, y = homes.x[:, homes.personal], homes.y[:, homes.personal]
    own_x, own_y = homes.x[homes.start][:, homes.shared], homes.shown_together()
    true, true_codes, shown, shown_codes, exact = _numbered(x, y, personal)
    common, common_codes, seen, seen_codes, common_exact = _numbered(own_x, own_y, shared)
    cells = MemberCells(true, shown, exact, common, seen, common_exact)
    personal_chances, shared_chances = tuple(map(chance_of, personal)), tuple(map(chance_of, shared))
    return cells, Chances(personal_chances, true_codes, shown_codes, shared_chances, common_codes, seen_codes)


def _numbered(
    x: _Codes, y: _Codes, channels: tuple[CategoryChannel, ...]
) -> tuple[Ints, Ints, Ints, _Codes, Ints]:
    """Cells of true and of released codes, each with their codes, and combinations of exact keys."""
    nothing = np.zeros(len(x), np.int64)  # a column even where there are no keys
    images = np.column_stack([nothing, *(c.images(x[:, v]) for v, c in enumerate(channels))])
    exact = [0, *(v + 1 for v, channel in enumerate(channels) if channel.exact)]
    true_first, true = _distinct_rows(images)
    shown_first, shown = _distinct_rows(np.column_stack([nothing, y]))
    return true, x[true_first].astype(np.int64), shown, y[shown_first], _distinct_rows(images[:, exact])[1]


def _distinct_rows(rows: Ints) -> tuple[Ints, Ints]:
    """A row for each distinct one, and the number of each."""
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, place.reshape(-1)


def _size_class(
    homes: Households, chances: Chances, cells: MemberCells, households: Ints, by_place: bool
) -> SizeClass:
    rows = homes.person_rows(households)
    exact = _arranged(cells.exact[rows], by_place)
    _, block = _distinct_rows(np.column_stack([cells.together_exact[households], exact]))
    order = np.argsort(block, kind="stable")
    households, rows, released = households[order], rows[order], homes.released[households[order]]
    true, true_cell = _side(_arranged(cells.true[rows], by_place), cells.together[households])
    shown, place = _side(
        _arranged(cells.shown[rows[released]], by_place), cells.shown_together[households[released]]
    )
    shown_cell = np.full(len(households), -1)
    shown_cell[released] = place
    block = block[order]
    bounds = np.append(np.flatnonzero(np.diff(block, prepend=-1)), len(households))
    true_cells = _cells_by_block(true_cell, block, len(bounds) - 1)
    shown_cells = _cells_by_block(place, block[released], len(bounds) - 1)
    return SizeClass(
        households, true, shown, true_cell, shown_cell, bounds, true_cells, shown_cells, by_place, chances
    )


def _cells_by_block(cell: Ints, block: Ints, blocks: int) -> Ints:
    """How many cells a block has; each lies in one block."""
    home = np.full(cell.max(initial=-1) + 1, -1)
    home[cell] = block
    return np.bincount(home[home >= 0], minlength=blocks)


def _arranged(members: Ints, by_place: bool) -> Ints:
    """Members in the order of the file, or in one that does not hang on it."""
    return members if by_place else np.sort(members, axis=1)


def _side(members: Ints, together: Ints) -> tuple[Side, Ints]:
    first, place = _distinct_rows(np.column_stack([together, members]))
    number = np.bincount(place, minlength=len(first)).astype(np.float64)
    return Side(members[first], together[first], number), place


def size_classes(homes: Households, cells: MemberCells, chances: Chances, by_place: bool) -> list[SizeClass]:
    """Households by size, with distinct cells and blocks."""
    return [
        _size_class(homes, chances, cells, np.flatnonzero(homes.size == size), by_place)
        for size in np.unique(homes.size).tolist()
    ]
