"""The survey design of a file: weights, strata, clusters and sampling fractions."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.estimate.stage import SinglePsu, Stage


@dataclass(frozen=True, eq=False)
class Design:
    """How n records were drawn: the first stage, with replacement unless `fraction` says otherwise.

    weights: [n] positive. stratum: [n] codes 0, 1, …. cluster: [n] codes of the primary sampling units (PSUs)
    0, 1, …, each in one stratum; a record is its own PSU where there are no clusters.
    fraction: sampling fraction of each stratum, for the finite population correction 1 − f.
    later: the stages after the first, each within the units of the one before; none where every PSU was
    observed completely, or where the first stage counts as drawn with replacement.
    single_psu: what a group with a single unit adds. in_domains: the same where only one unit of a group has
    records of a domain.
    """

    weights: Floats
    stratum: Ints
    cluster: Ints
    fraction: Floats
    later: tuple[Stage, ...] = ()
    single_psu: SinglePsu = SinglePsu.ADJUST
    in_domains: bool = False

    @classmethod
    def simple(cls, weights: Floats) -> "Design":
        """Unequal weights, one stratum, no clusters."""
        n = len(weights)
        return cls(weights, np.zeros(n, dtype=np.int64), np.arange(n), np.zeros(1))

    @cached_property
    def stratum_of_cluster(self) -> Ints:
        """[m] The stratum of every PSU."""
        found = np.empty(int(self.cluster.max()) + 1, dtype=np.int64)
        found[self.cluster] = self.stratum
        return found

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """All stages of sampling, PSUs within strata first."""
        first = Stage(self.cluster, self.stratum_of_cluster, self.fraction, np.ones(len(self.fraction)))
        return (first, *self.later)

    @property
    def clusters(self) -> Ints:
        """PSUs in each stratum."""
        return self.stages[0].sizes

    @property
    def degrees_of_freedom(self) -> int:
        """PSUs less strata, and at least 1."""
        return max(int(self.clusters.sum()) - len(self.fraction), 1)

    def degrees_within(self, inside: Bools) -> int:
        """PSUs less strata among those with records of a domain, and at least 1."""
        units = len(np.unique(self.cluster[inside]))
        return max(units - len(np.unique(self.stratum[inside])), 1)

    def within_one_unit(self, inside: Bools) -> bool:
        """Whether the records of a domain are all of one PSU that was not taken with certainty.

        A mean, a share or a coefficient of that PSU alone cannot be compared with another: the scores add up
        to 0 over it, which would make the variance 0.
        """
        unit = self.cluster[inside]
        if not len(unit) or (unit != unit[0]).any():
            return False
        stratum = self.stratum_of_cluster[unit[0]]
        certain = self.single_psu is SinglePsu.CERTAINTY and self.clusters[stratum] == 1
        return bool(self.fraction[stratum] < 1) and not certain

    def covariance(self, scores: Floats, inside: Bools | None = None) -> Floats:
        """[k, k] Covariance of the sums of k score columns [n, k], each score with its weight already in it.

        Σ_h (1−f_h) m_h/(m_h−1) Σ_c (u_hc − ū_h)(u_hc − ū_h)ᵀ over PSU totals u, and the same of every later
        stage within the units of the one before, times the share of units that the stages before have drawn
        (Särndal, Swensson & Wretman 1992, ch. 4).
        """
        stages = zip(*(self._deviations(column, inside) for column in scores.T), strict=True)
        matrices = [np.column_stack(stage) for stage in stages]
        return np.asarray(sum(away.T @ away for away in matrices))

    def variance(self, scores: Floats, inside: Bools | None = None) -> float:
        """Variance of the sum of one score column [n]; `inside` are the records of the domain."""
        with np.errstate(over="ignore", invalid="ignore"):  # extreme numbers have no finite variance
            return float(sum(np.sum(away**2) for away in self._deviations(scores, inside)))

    def _deviations(self, scores: Floats, inside: Bools | None) -> Iterator[Floats]:
        """For every stage the deviations whose squares add up to its variance."""
        for stage in self.stages:
            yield stage.deviations(scores, self.single_psu, inside, in_domains=self.in_domains)
