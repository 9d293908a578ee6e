"""Sequential trees: every synthetic value is that of a donor, drawn from the leaf its record reaches."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Bools, Codes, Floats, Ints
from sdckit.kernels.synthesis.grow import FEATURE, PARENT, START, STOP, grow_tree
from sdckit.kernels.synthesis.leaves import find_leaves, spread_donors
from sdckit.models.column_codes import REST, ColumnCodes, Predictor

MOST_LEVELS = 1_024  # of a predictor whose levels a split may send left or right one by one
MAX_CODE = float(np.iinfo(np.uint16).max)
ROUNDS = 8  # of the power iteration that orders more levels than that


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree with its donors. columns: rows of the table of codes that it asks for.

    donors: rows of the original in the order of the leaves, within leaves by value. ordered: for columns of
    very many levels, by its place among `columns`, the place of each level in the order of the target.
    begins: whether a leaf begins with this donor, and a last True behind the last one. block: among so many
    donors a value is drawn at least.
    """

    nodes: Codes
    bits: Ints
    donors: Codes
    columns: Codes
    ordered: dict[int, Predictor]
    begins: Bools
    block: int

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return int((self.nodes[:, FEATURE] < 0).sum())

    def reach(self, codes: Predictor) -> Codes:
        """The leaf of each synthetic record; codes (q, k)."""
        if not self.ordered:
            return find_leaves(codes, self.columns, self.nodes, self.bits)
        asked = codes[self.columns]
        for place, order in self.ordered.items():
            asked[place] = order[asked[place]]
        return find_leaves(asked, np.arange(len(asked), dtype=np.int32), self.nodes, self.bits)

    def climb(self, at: Codes, up: int) -> Codes:
        """The ancestors so many levels up, the root at most."""
        for _ in range(up):
            at = np.maximum(self.nodes[at, PARENT], 0)
        return at

    def spread(self, at: Codes, u: Floats) -> Ints:
        """Places of donors that these random numbers choose in nodes, evenly over the values of each."""
        return spread_donors(at, self.nodes, u, np.int64(self.block))

    def pick(self, at: Codes, u: Floats) -> Ints:
        """Places of the donors that these random numbers choose in nodes."""
        start = self.nodes[:, START].take(at)
        many = (self.nodes[:, STOP] - self.nodes[:, START]).take(at)
        return np.asarray(start + (u * many).astype(np.int64))


@dataclass(frozen=True, slots=True)
class VariableTrees:
    """How one variable is drawn: classes from one tree, numbers among the REST of them from another."""

    classes: Tree | None
    numbers: Tree | None
    target: ColumnCodes

    @property
    def leaves(self) -> int:
        """How many leaves the trees have."""
        return sum(tree.leaves for tree in (self.classes, self.numbers) if tree is not None)


@dataclass(slots=True)
class Drawn:
    """The donors of k records, and where a number came from: its place among donors and the node, else −1."""

    donors: Codes
    places: Ints
    nodes: Codes
    class_nodes: Codes

    def put(self, chosen: Ints, other: "Drawn") -> None:
        """Replace some records."""
        for mine, theirs in zip(self._arrays(), other._arrays(), strict=True):
            mine[chosen] = theirs

    def some(self, chosen: Ints) -> "Drawn":
        """These records only."""
        return Drawn(*(array[chosen] for array in self._arrays()))

    def _arrays(self) -> tuple[npt.NDArray[Any], ...]:
        return self.donors, self.places, self.nodes, self.class_nodes


@dataclass(frozen=True, slots=True)
class Table:
    """What trees are grown on. codes (q, n) and levels (q,) of all columns; unit: leaves count these."""

    codes: Predictor
    levels: Codes
    unit: Codes


def fit_variable(
    table: Table,
    columns: Codes,
    target: ColumnCodes,
    rows: Codes,
    leaf: int,
    gain: float,
    use: Bools | None = None,
) -> VariableTrees:
    """The trees of one variable. columns: its predictors; rows (n,): the original's row of each target.

    use: records that take part, all where it is not given.
    """
    taking = np.arange(len(rows)) if use is None else np.flatnonzero(use)
    status = target.classes[rows[taking]]
    if not target.is_number:
        return VariableTrees(_tree(table, columns, taking, status, rows, leaf, gain), None, target)
    rest = status == REST
    first = None if rest.all() else _tree(table, columns, taking, status, rows, leaf, gain)
    second = None
    if rest.any():
        taking = taking[rest]
        second = _tree(table, columns, taking, target.ranks[rows[taking]], rows, leaf, gain, target.values)
    return VariableTrees(first, second, target)


def _tree(
    table: Table,
    columns: Codes,
    taking: Ints,
    target: Codes | Floats,
    rows: Codes,
    leaf: int,
    gain: float,
    values: Floats | None = None,
) -> Tree:
    whole = len(taking) == len(rows)
    x = table.codes[columns] if whole else table.codes[np.ix_(columns, taking)]
    levels = table.levels[columns].copy()
    ordered: dict[int, Predictor] = {}
    for place in np.flatnonzero(levels > MOST_LEVELS):
        ordered[int(place)] = _ordered_levels(x[place], int(levels[place]), target)
        x[place] = ordered[int(place)][x[place]]
        levels[place] = 0
    unit = table.unit if whole or not len(table.unit) else table.unit[taking]
    nodes, bits, order = grow_tree(x, levels, target, unit, leaf, gain)
    donors = rows[taking[order]].astype(np.int32)
    begins = np.zeros(len(donors) + 1, dtype=bool)
    begins[nodes[nodes[:, FEATURE] < 0, START]] = begins[-1] = True
    by_value = np.lexsort((target[order] if values is None else values[donors], np.cumsum(begins[:-1])))
    return Tree(nodes, bits, donors[by_value], columns, ordered, begins, leaf)


def _ordered_levels(codes: Predictor, levels: int, target: Codes | Floats) -> Predictor:
    """The place of each of very many levels in the order of the target, for splits of ordered codes.

    By the mean of a number, or along the first principal direction of the shares of classes. Levels that do
    not occur stand in the middle.
    """
    count = np.bincount(codes, minlength=levels).astype(np.float64)
    seen = np.maximum(count, 1)
    if target.dtype != np.int32:
        score = np.bincount(codes, weights=target, minlength=levels) / seen
        middle = float(np.mean(target))
    else:
        share = np.bincount(target) / len(target)
        v = (np.arange(1, len(share) + 1) * 0.6180339887498949) % 1.0 - 0.5
        middle = 0.0
        for _ in range(ROUNDS):
            score = np.bincount(codes, weights=v[target], minlength=levels) / seen - share @ v
            turned = np.bincount(target, weights=score[codes], minlength=len(share))
            largest = float(np.abs(turned).max())
            if largest == 0:
                break
            v = turned / largest
    score = np.where(count > 0, score, middle)
    place = np.empty(levels, dtype=np.uint16)
    place[np.argsort(score, kind="stable")] = np.arange(levels) * min(1.0, (MAX_CODE / max(levels - 1, 1)))
    return place


def draw_donors(trees: VariableTrees, codes: Predictor, rng: np.random.Generator) -> Drawn:
    """A donor for each synthetic record, from the leaves that its codes (q, k) lead to.

    Donors are spread over the values of a leaf, so that these come as often as they should: the file then
    differs less from the original by chance, and trees need not be grown as far to be as useful.
    """
    root = np.zeros(codes.shape[1], dtype=np.int32)
    class_nodes = root if trees.classes is None else trees.classes.reach(codes)
    nodes = root if trees.numbers is None else trees.numbers.reach(codes)
    return _drawn(trees, class_nodes, nodes, rng, Tree.spread)


def draw_again(trees: VariableTrees, before: Drawn, up: int, rng: np.random.Generator) -> Drawn:
    """Other donors from the same nodes, or from those so many levels up, each drawn on its own."""
    class_nodes, nodes = before.class_nodes, before.nodes
    if trees.classes is not None:
        class_nodes = trees.classes.climb(class_nodes, up)
    if trees.numbers is not None:
        nodes = trees.numbers.climb(nodes, up)
    return _drawn(trees, class_nodes, nodes, rng, Tree.pick)


def _drawn(
    trees: VariableTrees,
    class_nodes: Codes,
    nodes: Codes,
    rng: np.random.Generator,
    choose: Callable[[Tree, Codes, Floats], Ints],
) -> Drawn:
    """Donors from these nodes: of the class, and of the number where the class is the REST."""
    k = len(class_nodes)
    donors, places, rest = np.zeros(k, dtype=np.int32), np.full(k, -1), np.arange(k)
    if trees.classes is not None:
        donors = trees.classes.donors.take(choose(trees.classes, class_nodes, rng.random(k)))
    if trees.numbers is not None:
        if trees.classes is not None:
            rest = np.flatnonzero(trees.target.classes.take(donors) == REST)
        places[rest] = chosen = choose(trees.numbers, nodes.take(rest), rng.random(len(rest)))
        donors[rest] = trees.numbers.donors.take(chosen)
    return Drawn(donors, places, nodes, class_nodes)
