"""Mean, total, proportion and ratio."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sdckit._support.arrays import Floats
from sdckit.estimate.indicator import Indicator, Piece, Source


@dataclass(frozen=True)
class Mean(Indicator):
    """Σwx / Σw."""

    called: ClassVar[str] = "mean"

    def point(self, piece: Piece) -> Floats:
        """[r] The weighted means."""
        return piece.amount / piece.total

    def influence(self, piece: Piece) -> Floats:
        """(x − mean)/Σw."""
        return np.asarray((piece.x - self.point(piece)[0]) / piece.total[0])


@dataclass(frozen=True)
class Total(Indicator):
    """Σwx."""

    called: ClassVar[str] = "total"

    def point(self, piece: Piece) -> Floats:
        """[r] The weighted totals."""
        return piece.amount

    def influence(self, piece: Piece) -> Floats:
        """The values themselves."""
        return piece.x


@dataclass(frozen=True)
class Proportion(Mean):
    """Share of the weight in one category, among records with a value."""

    category: str
    unit: ClassVar[str] = "share"

    @property
    def name(self) -> str:
        """How a row of results calls it."""
        return f"proportion {self.category}"

    def source(self, variable: str) -> Source:
        """The variable read as 1 in the category and 0 elsewhere."""
        return Source(variable, category=self.category)


@dataclass(frozen=True)
class Ratio(Indicator):
    """Σwx / Σwy with `denominator` y, over records with both."""

    denominator: str
    unit: ClassVar[str] = "ratio"

    @property
    def name(self) -> str:
        """How a row of results calls it."""
        return f"ratio to {self.denominator}"

    def source(self, variable: str) -> Source:
        """The variable and the denominator beside it."""
        return Source(variable, self.denominator)

    def point(self, piece: Piece) -> Floats:
        """[r] The ratios of weighted totals."""
        return np.asarray(piece.amount / (piece.w @ piece.beside()))

    def influence(self, piece: Piece) -> Floats:
        """(x − R·y)/Σwy."""
        below = float((piece.w @ piece.beside())[0])
        return np.asarray((piece.x - self.point(piece)[0] * piece.beside()) / below)
