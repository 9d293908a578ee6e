"""Gini coefficient and quintile share ratio."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sdckit.arrays import Floats
from sdckit.estimate.indicator import Indicator, Piece


@dataclass(frozen=True)
class Gini(Indicator):
    r"""Gini coefficient in percent.

    .. math:: G = 100\left[\frac{2\sum_i w_i x_i \sum_{j\le i} w_j - \sum_i w_i^2 x_i}
              {\sum w_i \sum w_i x_i} - 1\right], \quad x_1 \le x_2 \le …

    0: all have the same. 100: one has all. Above 100 is possible when some values are negative. Ties do not
    matter: this is Σ_{i<j} w_i w_j |x_i − x_j| / (Σw Σwx).
    """

    called: ClassVar[str] = "gini"
    unit: ClassVar[str] = "percent"

    def point(self, piece: Piece) -> Floats:
        """[r] The coefficients."""
        ranks = 2 * piece.mass
        ranks -= piece.w
        ranks *= piece.w
        return np.asarray(100 * (np.einsum("ij,j->i", ranks, piece.x) / (piece.total * piece.amount) - 1))

    def influence(self, piece: Piece) -> Floats:
        """100·[Σ_j w_j|x_i − x_j| / (Σw Σwx) − G/Σw − G x_i/Σwx], G as a share."""
        w, x = piece.w[0], piece.x
        total, amount = piece.total[0], piece.amount[0]
        share = self.point(piece)[0] / 100
        held = np.cumsum(w * x)
        distances = x * (2 * piece.mass[0] - w - total) + amount - (2 * held - w * x)
        return np.asarray(100 * (distances / (total * amount) - share / total - share * x / amount))


@dataclass(frozen=True)
class ShareRatio(Indicator):
    """S80/S20: what the richest fifth has, as a multiple of what the poorest fifth has.

    Σ_{x > q(upper)} wx / Σ_{x ≤ q(lower)} wx with the quantiles of the domain itself.
    """

    lower: float = 0.2
    upper: float = 0.8
    unit: ClassVar[str] = "ratio"
    rests_on_quantile: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """How a row of results calls it."""
        return f"s{100 * self.upper:g}s{100 * self.lower:g}"

    def point(self, piece: Piece) -> Floats:
        """[r] The ratios."""
        rich, poor = self._amounts(piece)
        return rich / poor

    def _amounts(self, piece: Piece) -> tuple[Floats, Floats]:
        """[r] each: Σwx above the upper and up to the lower quantile, ties of the quantile included."""
        held = np.cumsum(piece.w * piece.x, axis=1)
        last = [
            np.searchsorted(piece.x, piece.quantile(p), side="right") - 1 for p in (self.upper, self.lower)
        ]
        upto = [np.take_along_axis(held, place[:, None], axis=1)[:, 0] for place in last]
        return held[:, -1] - upto[0], upto[1]

    def influence(self, piece: Piece) -> Floats:
        """(A_i − R·B_i)/B; the densities at the quantiles cancel."""
        rich, poor = self._amounts(piece)
        x, ratio = piece.x, rich[0] / poor[0]
        high, low = piece.quantile(self.upper)[0], piece.quantile(self.lower)[0]
        top = x * (x > high) + high * ((x <= high) - self._share(piece, high))
        bottom = x * (x <= low) - low * ((x <= low) - self._share(piece, low))
        return np.asarray((top - ratio * bottom) / poor[0])

    @staticmethod
    def _share(piece: Piece, limit: float) -> float:
        return float(piece.w[0, piece.x <= limit].sum() / piece.total[0])
