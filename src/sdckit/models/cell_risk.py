"""The individual risk of a key cell as a formula of its sample and population frequency."""

from enum import StrEnum

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Method(StrEnum):
    """How risks of cells with more than two records are computed."""

    APPROX = "approx"
    EXACT = "exact"


def cell_risk(sample: Floats, population: Floats, method: Method = Method.APPROX) -> Floats:
    """r for each (f, F)."""
    p = np.minimum(sample / population, 1.0)
    exact = np.ones(len(p), bool) if method is Method.EXACT else sample < 3
    risks = p / (sample - (1 - p))
    risks[exact] = exact_risk(sample[exact], p[exact])
    risks[p >= 1] = 1 / sample[p >= 1]
    return np.asarray(np.minimum(risks, 1.0))


def exact_risk(f: Floats, p: Floats) -> Floats:
    """p/f · ₂F₁(1, 1; f+1; 1−p) to machine precision, where general libraries lose it for large f.

    With I_f = ∫₀¹ u^{f−1}/(p+qu) du, q = 1−p, the risk is p·I_f. The power series in q has falling positive
    terms and is quick for q ≤ ½ or f > 50; elsewhere I_{f+1} = (1/f − p·I_f)/q is stable, as p < q.
    """
    q = 1 - p
    whole = f == np.floor(f)
    series = (q <= 0.5) | (f > 50)
    climb = ~series & whole
    risks = np.empty_like(p)
    risks[series] = p[series] / f[series] * _series(f[series], q[series])
    risks[climb] = p[climb] * _climb(f[climb], p[climb], q[climb])
    rest = ~series & ~whole
    if rest.any():  # fractional counts: f is small here and the library is sound
        from scipy.special import hyp2f1

        risks[rest] = p[rest] / f[rest] * hyp2f1(1, 1, f[rest] + 1, q[rest])
    return risks


def _series(f: Floats, q: Floats) -> Floats:
    term, total = np.ones_like(f), np.ones_like(f)
    for j in range(60):
        term = term * q * (j + 1) / (f + 1 + j)
        total = total + term
    return total


def _climb(f: Floats, p: Floats, q: Floats) -> Floats:
    integral = -np.log(p) / q
    for step in range(1, int(f.max(initial=1))):
        integral = np.where(step < f, (1 / step - p * integral) / q, integral)
    return integral
