"""Which households change places: by profile, area and risk, and by what their numbers draw."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.engine.random import round_keys
from sdckit.kernels.keyed_numbers import keyed_uniform
from sdckit.protect import _blocks

_TURN, _PARTNER, _BLOCK = range(3)  # what a household draws in a round
_DRAWS = 3


@dataclass(frozen=True, slots=True)
class Swapping:
    """What is asked for. k: households with a member who is one of fewer are swapped first."""

    geography: tuple[str, ...]
    similar: tuple[tuple[str, ...], ...]
    share: float
    keys: tuple[str, ...]
    k: int | None
    seed: int

    def rounds(self) -> list["Round"]:
        """First the risky ones, profile after profile, then all, up to the share."""
        found = []
        for risky in (True, False):
            if self.share > 0 if not risky else self.k is not None:
                first = 0 if risky else len(self.similar)
                found += [
                    Round(self.seed, first + place, place, risky=risky) for place in range(len(self.similar))
                ]
        return found


@dataclass(frozen=True, slots=True)
class Homes:
    """Households without a partner, in any order.

    profile: a number, the same for those that may change places. levels [n, depth]: the numbers of their
    areas, coarsest first, in an order that depends on nothing else. risk: the coarsest level at which they
    are risky, `depth` where at none. code, alone: the number that tells them apart, of a household or of a
    record that is one of its own.
    """

    profile: Ints
    levels: Ints
    risk: Ints
    code: Ints
    alone: Bools


@dataclass(frozen=True, slots=True)
class Round:
    """A round in which households find partners. number: keys the draws. profile: the place of its list."""

    seed: int
    number: int
    profile: int
    risky: bool

    def pairs(self, homes: Homes) -> tuple[Ints, Floats]:
        """The partner of each household, −1 for none, and the number in whose order the pair was made."""
        from sdckit.kernels.swapping import pair_households

        depth = homes.levels.shape[1]
        order = np.lexsort((homes.alone, homes.code, *homes.levels.T[::-1], homes.profile))
        profile, levels, risk = homes.profile[order], homes.levels[order], homes.risk[order]
        code, alone = homes.code[order], homes.alone[order]
        start, stop = _runs(profile, levels)
        turn = self._drawn(code, alone, _TURN)
        queue = np.flatnonzero(risk < depth) if self.risky else np.arange(len(order))
        level = risk if self.risky else np.full(len(order), depth - 1)
        queue = queue[np.lexsort((alone[queue], code[queue], turn[queue], level[queue]))]
        drawn = self._drawn(code[queue], alone[queue], _PARTNER)
        found = np.full(len(order), -1, dtype=np.int64)
        turns = pair_households(queue, level[queue], start, stop, drawn, found)
        partner = np.full(len(order), -1, dtype=np.int64)
        has = found >= 0
        partner[order[has]] = order[found[has]]
        made = np.full(len(order), np.inf)
        made[order[has]] = turn[queue[turns[has]]]
        return partner, made

    def block_steps(self) -> tuple[int, int]:
        """The steps in which households, and records that are households of their own, draw their block."""
        return self._step(_BLOCK, alone=False), self._step(_BLOCK, alone=True)

    def in_blocks(self, homes: Homes) -> tuple[Ints, int]:
        """The profiles of households in memory, large ones cut, and into how many blocks one was at most."""
        sizes = np.bincount(homes.profile)
        blocks = np.array([blocks_of(int(n)) for n in sizes], dtype=np.int64)
        if not len(blocks) or blocks.max() == 1:
            return homes.profile, 1
        drawn = self._drawn(homes.code, homes.alone, _BLOCK)
        block = np.floor(drawn * blocks[homes.profile]).astype(np.int64)
        return numbered(np.column_stack([homes.profile, block])), int(blocks.max())

    def _drawn(self, code: Ints, alone: Bools, what: int) -> Floats:
        found = np.empty(len(code))
        for one in (False, True):
            here = alone == one
            found[here] = keyed_uniform(code[here], round_keys(self.seed, self._step(what, alone=one)))
        return found

    def _step(self, what: int, *, alone: bool) -> int:
        return 2 * (_DRAWS * self.number + what) + int(alone)


def blocks_of(n: int) -> int:
    """Into how many blocks, by draws, n households of one profile are cut."""
    return 1 if n <= _blocks.LARGEST else ceil(n / (_blocks.FILLED * _blocks.LARGEST))


def area_numbers(codes: npt.NDArray[Any]) -> Ints:
    """The numbers of areas at each level from the codes of the columns; the order is that of the codes."""
    return np.column_stack([numbered(codes[:, : level + 1]) for level in range(codes.shape[1])])


def level_left(levels: Ints, others: Ints) -> Ints:
    """The coarsest level at which areas differ from others; `depth` where at none."""
    differ = levels != others
    return np.asarray(np.where(differ.any(axis=1), differ.argmax(axis=1), levels.shape[1]))


def figures_of(
    geography: Sequence[str], counts: dict[str, int], left: Sequence[int], blocks: int
) -> dict[str, Any]:
    """What the log says. left: of how many swapped households each level of areas is another one."""
    found: dict[str, Any] = {**counts, "households_leaving": dict(zip(geography, left, strict=True))}
    return found | ({"blocks_of_a_profile": blocks} if blocks > 1 else {})


def numbered(codes: npt.NDArray[Any]) -> Ints:
    """A number for each row, the same for equal rows, in their order."""
    number: Ints = codes[:, 0].astype(np.int64) - codes[:, 0].min(initial=0)
    for column in codes.T[1:]:
        values = column.astype(np.int64) - column.min(initial=0)
        joined = number * (int(values.max(initial=0)) + 1) + values
        number = pl.Series(joined).rank("dense").cast(pl.Int64).to_numpy() - 1
    return number


def _runs(profile: Ints, levels: Ints) -> tuple[Ints, Ints]:
    """The ends of the profile and of the areas of households that are sorted by them."""
    starts, stops = [], []
    new = np.zeros(len(profile), dtype=bool)
    new[:1] = True
    for values in (profile, *levels.T):
        new[1:] |= values[1:] != values[:-1]
        heads = np.flatnonzero(new)
        run = new.cumsum() - 1
        starts.append(heads[run])
        stops.append(np.append(heads[1:], len(profile))[run])
    return np.array(starts), np.array(stops)
