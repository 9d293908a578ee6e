"""The scales on which changes of a number may be alike for small and large values."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sdckit._support.arrays import Floats


class Scale(StrEnum):
    """On which scale residuals are alike."""

    LINEAR = "linear"
    ARCSINH = "arcsinh"
    RANK = "rank"


@dataclass(frozen=True, slots=True)
class Transform:
    """T and its derivative."""

    scale: Scale
    deviation: float
    ordered: Floats  # known values, sorted; for ranks

    def value(self, v: Floats) -> Floats:
        """T(v)."""
        if self.scale is Scale.LINEAR:
            return v
        if self.scale is Scale.ARCSINH:
            return np.arcsinh(v * (1000.0 / self.deviation))
        below, up_to = (np.searchsorted(self.ordered, v, side) for side in ("left", "right"))
        return np.asarray((below + up_to) / (2.0 * self.ordered.size))

    def slope(self, v: Floats) -> Floats:
        """T'(v); of the rank over a window, as its slope at a repeated value would be infinite."""
        if self.scale is Scale.LINEAR:
            return np.ones_like(v)
        if self.scale is Scale.ARCSINH:
            factor = 1000.0 / self.deviation
            return np.asarray(factor / np.sqrt(1.0 + (v * factor) ** 2))
        half = 0.05 * self.deviation
        share = self.value(v + half) - self.value(v - half)
        return np.asarray(np.maximum(share, 0.5 / self.ordered.size) / (2.0 * half))
