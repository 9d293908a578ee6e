"""The 14 covariance families of Gaussian mixtures and how many parameters each has."""

from enum import StrEnum


class Family(StrEnum):
    """What the components share: volume, shape and axes, each equal (E), varying (V) or the identity (I).

    Σ_k = λ_k D_k A_k D_k' with volume λ, shape A (|A| = 1) and axes D. EII: equal balls. VVI: ellipsoids
    along the variables. EEE: one covariance for all. VVV: every component its own.
    Reference: Banfield & Raftery (1993); Celeux & Govaert (1995).
    """

    EII = "EII"
    VII = "VII"
    EEI = "EEI"
    VEI = "VEI"
    EVI = "EVI"
    VVI = "VVI"
    EEE = "EEE"
    VEE = "VEE"
    EVE = "EVE"
    VVE = "VVE"
    EEV = "EEV"
    VEV = "VEV"
    EVV = "EVV"
    VVV = "VVV"

    @property
    def code(self) -> int:
        """The number by which the kernels know it."""
        return list(Family).index(self)

    def parameters(self, components: int, variables: int) -> int:
        """Free parameters with this many components and variables: weights, means, volumes, shapes, axes.

        >>> Family.VVV.parameters(2, 6), Family.EII.parameters(2, 6)
        (55, 14)
        """
        times = {"I": 0, "E": 1, "V": components}
        volume, shape, axes = (times[letter] for letter in self.value)
        plane = variables * (variables - 1) // 2
        return components * (variables + 1) - 1 + volume + shape * (variables - 1) + axes * plane


FAMILIES = tuple(Family)
