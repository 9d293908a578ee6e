"""A stage of sampling: units drawn within groups, and what they say of a variance."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints


class SinglePsu(StrEnum):
    """What a stratum adds to a variance where it has a single PSU that was not taken with certainty."""

    ADJUST = "adjust"
    AVERAGE = "average"
    CERTAINTY = "certainty"
    REMOVE = "remove"
    FAIL = "fail"


@dataclass(frozen=True, eq=False)
class Stage:
    """Units drawn at random within groups: PSUs within strata, or units of a later stage within a unit.

    unit: [n] code 0, 1, … of each record's unit. group: [m] the group of each unit. fraction: [g] sampling
    fraction within each group. reached: [g] share of such groups that the stages before have drawn, 1 in the
    first stage.
    """

    unit: Ints
    group: Ints
    fraction: Floats
    reached: Floats

    @cached_property
    def sizes(self) -> Ints:
        """[g] Units in each group."""
        return np.bincount(self.group, minlength=len(self.fraction))

    @cached_property
    def single(self) -> Bools:
        """[g] Groups with one unit that was not taken with certainty: their variance is not estimable."""
        return np.asarray((self.sizes == 1) & (self.fraction < 1))

    def totals(self, scores: Floats) -> Floats:
        """[m] Sums of record scores [n] over each unit."""
        return np.asarray(np.bincount(self.unit, weights=scores, minlength=len(self.group)), dtype=np.float64)

    def deviations(
        self, scores: Floats, rule: SinglePsu, inside: Bools | None, *, in_domains: bool
    ) -> Floats:
        r"""[m] Unit totals from the mean of their group, times the root of the group's factor.

        Their squares add up to :math:`\sum_g r_g (1-f_g)\frac{m_g}{m_g-1}\sum_c (u_{gc}-\bar u_g)^2`, r being
        `reached`. `inside`: [n] the records of the domain. `in_domains`: a group where only one unit has
        records of the domain is treated as a group with one unit.
        """
        u, m = self.totals(scores), self.sizes
        centre = np.bincount(self.group, weights=u, minlength=len(m)) / m
        factor = self.reached * (1 - self.fraction) * np.where(m > 1, m / np.maximum(m - 1, 1), 1.0)
        met = m if inside is None else self._units_inside(inside)
        single = self.single | ((met == 1) & (self.fraction < 1)) if in_domains else self.single
        if rule is SinglePsu.ADJUST:
            # one unit in all has nothing to be compared with
            centre = np.where(single, u.mean() if len(u) > 1 else np.nan, centre)
        if rule is SinglePsu.AVERAGE:
            here, known = met > 0, (met > 0) & ~single
            share = here.sum() / known.sum() if known.any() else np.nan
            factor = np.where(single, 0.0, factor) * (share if (single & here).any() else 1.0)
        return np.asarray((u - centre[self.group]) * np.sqrt(factor)[self.group])

    def _units_inside(self, inside: Bools) -> Ints:
        """[g] Units with records of the domain in each group."""
        met = np.bincount(self.unit[inside], minlength=len(self.group)) > 0
        return np.bincount(self.group[met], minlength=len(self.fraction))
