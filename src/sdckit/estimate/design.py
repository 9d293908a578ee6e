"""The survey design of a file: weights, strata, clusters and sampling fractions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit.data.microdata import Microdata
from sdckit.data.values import in_words
from sdckit.errors import ColumnError, DataError
from sdckit.kernels.hashing import pack


@dataclass(frozen=True, eq=False)
class Design:
    """How n records were drawn: the first stage, with replacement unless `fraction` says otherwise.

    weights: [n] positive. stratum: [n] codes 0, 1, …. cluster: [n] codes of the primary sampling units (PSUs)
    0, 1, …, each in one stratum; a record is its own PSU where there are no clusters.
    fraction: sampling fraction of each stratum, for the finite population correction 1 − f.
    """

    weights: Floats
    stratum: Ints
    cluster: Ints
    fraction: Floats

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
    def clusters(self) -> Ints:
        """PSUs in each stratum."""
        return np.bincount(self.stratum_of_cluster, minlength=len(self.fraction))

    @cached_property
    def single_psu_strata(self) -> int:
        """Strata with a single PSU that were not taken with certainty: their variance is not estimable."""
        return int(((self.clusters == 1) & (self.fraction < 1)).sum())

    @property
    def degrees_of_freedom(self) -> int:
        """PSUs less strata, and at least 1."""
        return max(int(self.clusters.sum()) - len(self.fraction), 1)

    def totals(self, scores: Floats) -> Floats:
        """[m] Sums of record scores [n] over each PSU."""
        m = len(self.stratum_of_cluster)
        return np.asarray(np.bincount(self.cluster, weights=scores, minlength=m), dtype=np.float64)

    def covariance(self, scores: Floats) -> Floats:
        """[k, k] Covariance of the sums of k score columns [n, k], each score with its weight already in it.

        Σ_h (1−f_h) m_h/(m_h−1) Σ_c (u_hc − ū_h)(u_hc − ū_h)ᵀ over PSU totals u. The single PSU of a
        stratum is taken from the mean of all PSUs, which overstates rather than hides its share.
        """
        away = np.column_stack([self._deviations(column) for column in scores.T])
        return np.asarray(away.T @ away)

    def variance(self, scores: Floats) -> float:
        """Variance of the sum of one score column [n]."""
        with np.errstate(over="ignore", invalid="ignore"):  # extreme numbers have no finite variance
            return float(np.sum(self._deviations(scores) ** 2))

    def _deviations(self, scores: Floats) -> Floats:
        """[m] PSU totals from the mean of their stratum, times the root of the stratum's factor."""
        u, m, home = self.totals(scores), self.clusters, self.stratum_of_cluster
        centre = np.bincount(home, weights=u, minlength=len(m)) / m
        centre = np.where(m == 1, u.mean(), centre)
        factor = (1 - self.fraction) * np.where(m > 1, m / np.maximum(m - 1, 1), 1.0)
        return np.asarray((u - centre[home]) * np.sqrt(factor)[home])


def design_of(
    data: Microdata, *, strata: Sequence[str] = (), fraction: str | None = None
) -> tuple[Design, tuple[str, ...]]:
    """The design by the roles weight, strata and cluster of the data, and what must be said about it.

    A missing stratum is a stratum of its own; a missing cluster makes the record its own PSU. PSUs are
    told apart within strata. `fraction` names a column with the sampling fraction of the record's stratum
    (up to 1), or the number of PSUs in the population (above 1).
    """
    frame, roles = data.frame, data.roles
    notes: list[str] = []
    n = frame.height
    columns = [c for c in (strata or roles.strata) if c in frame.columns]
    stratum = np.zeros(n, dtype=np.int64)
    if columns:
        stratum = _combined(np.column_stack([column_codes(frame[c]) for c in columns]))
    cluster = np.arange(n, dtype=np.int64)
    if roles.cluster is not None:
        unit = column_codes(frame[roles.cluster])
        unit = np.where(unit < 0, unit.max() + 1 + np.arange(n), unit)
        cluster = _combined(np.column_stack([stratum, unit]))
    share = np.zeros(int(stratum.max()) + 1)
    if fraction is not None:
        share = _fractions(frame[fraction], fraction, stratum, cluster, share)
    design = Design(data.weights(), stratum, cluster, share)
    if roles.household is not None and roles.cluster is None:
        notes.append(
            f"Persons count as drawn one by one; give {roles.household} the role cluster too if whole "
            "households were drawn."
        )
    if design.single_psu_strata:
        notes.append(
            f"{design.single_psu_strata:,} strata have one sampling unit; "
            "it is compared with the mean of all units."
        )
    return design, tuple(notes)


def column_codes(column: pl.Series) -> Ints:
    """Codes 0, 1, … of the values in sorted order, −1 for missing; the same in any row order."""
    plain = column if column.dtype.is_numeric() or column.dtype.is_temporal() else column.cast(pl.String)
    return np.asarray(plain.rank("dense").fill_null(0).to_numpy(), dtype=np.int64) - 1


def _combined(codes: Ints) -> Ints:
    """Codes 0, 1, … of the distinct rows of codes [n, k]."""
    packed = pack(np.asarray(codes, dtype=np.int32))
    return np.asarray(np.unique(packed, return_inverse=True)[1], dtype=np.int64)


def _fractions(column: pl.Series, name: str, stratum: Ints, cluster: Ints, share: Floats) -> Floats:
    if not column.dtype.is_numeric():
        raise ColumnError(
            f"The finite population column {name!r} does not hold numbers.", given=in_words(column.dtype)
        )
    given = column.cast(pl.Float64).to_numpy()
    if not np.isfinite(given).all() or (given <= 0).any():
        raise DataError(
            f"The finite population column {name!r} must hold positive numbers, none missing.",
            allowed="a sampling fraction up to 1, or the population number of sampling units of the stratum",
        )
    for h in range(len(share)):
        here = stratum == h
        values = np.unique(given[here])
        if len(values) > 1:
            raise DataError(
                f"The finite population column {name!r} must be the same throughout a stratum.",
                given=f"{len(values)} values in one stratum",
            )
        drawn = len(np.unique(cluster[here]))
        share[h] = values[0] if values[0] <= 1 else drawn / values[0]
        if share[h] > 1:
            raise DataError(
                f"{name!r} says that a stratum has fewer sampling units than were drawn.",
                given=f"{values[0]:g} in the population, {drawn} drawn",
            )
    return share
