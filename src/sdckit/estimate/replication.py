"""Replicate weights that come with the data: how they were made, and by what factors their squares count."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.errors import ColumnError, DataError, OptionError


class Replication(StrEnum):
    """How replicate weights were made."""

    JK1 = "jk1"
    JK2 = "jk2"
    JKN = "jkn"
    BRR = "brr"
    FAY = "fay"
    BOOTSTRAP = "bootstrap"
    SUCCESSIVE = "successive"


JACKKNIVES = (Replication.JK1, Replication.JK2, Replication.JKN)


@dataclass(frozen=True, slots=True)
class ReplicateOptions:
    """What a user says of the replicate weights.

    weights: their columns. kind: how they were made. scale: factor of the whole sum of squares. factors: of
    each square. rho: of Fay's method. mse: squares about the estimate (True) or about the mean of the
    replicates (False); None is the habit of each method.
    """

    weights: tuple[str, ...] = ()
    kind: Replication | None = None
    scale: float | None = None
    factors: tuple[float, ...] = ()
    rho: float | None = None
    mse: bool | None = None

    def check(self) -> None:
        """Refuse what does not go together, before any work."""
        if not self.weights:
            raise OptionError(
                "variance='replicates' needs the columns of the replicate weights in both files.",
                given="none",
                hint="Name them in replicate_weights=.",
            )
        if self.factors and len(self.factors) != len(self.weights):
            raise OptionError(
                "replicate_factors must hold one number for each of the replicate weights.",
                given=f"{len(self.factors)} factors, {len(self.weights)} replicate weights",
            )
        if self.kind is Replication.JKN and not self.factors:
            raise OptionError(
                "The stratified jackknife needs the factor of each replicate.",
                given="replicate_kind: jkn without replicate_factors",
                hint="It is (m − 1)/m, m being the sampling units of the stratum the replicate leaves one "
                "out of.",
            )
        if self.kind is Replication.FAY and self.rho is None:
            raise OptionError(
                "Fay's method needs its coefficient.", given="replicate_kind: fay without replicate_rho"
            )

    def squares(self) -> Floats:
        """[R] What the square of each replicate counts: the scale times its own factor.

        The scale is that of the kind where none is given: (R−1)/R for jk1, 1 for jk2 and jkn, 1/R for brr,
        1/(R(1−ρ)²) for fay, 1/(R−1) for a bootstrap, 4/R for successive differences. Without a kind it is
        1/R, or 1 where there are factors.
        """
        number = len(self.weights)
        scales = {
            None: 1.0 if self.factors else 1 / number,
            Replication.JK1: (number - 1) / number,
            Replication.JK2: 1.0,
            Replication.JKN: 1.0,
            Replication.BRR: 1 / number,
            Replication.FAY: 1 / (number * (1 - (self.rho or 0.0)) ** 2),
            Replication.BOOTSTRAP: 1 / max(number - 1, 1),
            Replication.SUCCESSIVE: 4 / number,
        }
        scale = scales[self.kind] if self.scale is None else self.scale
        return scale * (np.asarray(self.factors) if self.factors else np.ones(number))


def replicate_columns(data: Microdata, names: Sequence[str], *, negative: bool) -> Floats:
    """[R, n] The replicate weights of a file; `negative` ones are refused where they mean nothing."""
    lost = [c for c in names if c not in data.columns]
    if lost:
        raise OptionError(
            "variance='replicates' needs the columns of the replicate weights in both files.",
            given=join_names(lost),
            hint="Name them in replicate_weights=.",
        )
    odd = [c for c in names if not data.frame.schema[c].is_numeric()]
    if odd:
        raise ColumnError("Replicate weights must be numbers.", given=join_names(odd))
    columns = data.frame.select(pl.col(list(names)).cast(pl.Float64))
    weights = np.ascontiguousarray(columns.to_numpy().T)
    bad = ~np.isfinite(weights).all(axis=1)
    if bad.any():
        raise DataError(
            "Replicate weights must not be missing.", given=join_names(np.asarray(names)[bad].tolist())
        )
    if not negative and (weights < 0).any():
        below = (weights < 0).any(axis=1)
        raise DataError(
            "Negative replicate weights have no meaning for quantiles and regressions.",
            given=join_names(np.asarray(names)[below].tolist()),
        )
    return weights
