"""Individual re-identification risk from sample and population frequencies."""

from enum import StrEnum
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field

from sdckit.cells import key_cells
from sdckit.microdata import Microdata
from sdckit.missing import Missing
from sdckit.registry import KEYS, Columns, Role, risk
from sdckit.result import Result
from sdckit.risk.frequencies import missing_note

Floats = npt.NDArray[np.float64]


class Method(StrEnum):
    """How risks of cells with more than two records are computed."""

    APPROX = "approx"
    EXACT = "exact"


@risk(
    "Individual re-identification risk",
    bounds=(0, 1),
    unit="probability",
    needs=Role.KEYS,
    engines="all",
    reference="Benedetti & Franconi (1998); Franconi & Polettini (2004)",
    reading="The mean probability that an intruder who knows the keys of a person and finds a record with "
    "these keys is right. 0.01: one in a hundred such guesses is right on average.",
)
def individual_risk(
    data: Microdata,
    *,
    keys: Columns = KEYS,
    method: Method = Method.APPROX,
    threshold: Annotated[float, Field(gt=0, le=1)] = 0.1,
    missing: Missing = Missing.WILDCARD,
    alpha: Annotated[float, Field(ge=0, le=1)] = 1.0,
) -> Result:
    r"""Probability that a record is re-identified by its keys, for every record.

    With p = fₖ/Fₖ (F given f negative binomial), the posterior mean of 1/Fₖ is

    .. math:: r_k = \frac{p}{f}\; {}_2F_1(1, 1; f+1; 1-p)

    which for f = 1 is p/(1−p)·ln(1/p) and for f = 2 is p/(1−p) − (p/(1−p))²·ln(1/p). `method="exact"`
    uses it for every f (this form of the hypergeometric function is stable for any p); `"approx"` takes
    p/(f−(1−p)) for f > 2. Where Fₖ ≤ fₖ, as without weights, the risk is 1/fₖ.

    value: the mean risk (global risk). figures: expected_reidentifications Σ rᵢ, above_threshold (records
    with a risk above `threshold`), highest. parts: the risk of each record.

    Weights: Fₖ is their sum over the cell. Missing keys: see `frequencies`.
    Reference: Benedetti & Franconi (1998).
    Departures: fractional counts (alpha < 1) use the exact form below f = 3; sdcMicro gives 0 there.

    >>> import polars as pl, sdckit as sdc
    >>> weights = [180, 180, 215, 76, 186, 76, 180, 215, 186, 76]
    >>> cell = [1, 1, 2, 3, 4, 3, 5, 6, 7, 7]
    >>> data = sdc.read(pl.DataFrame({"cell": cell, "w": weights}), keys="cell", weight="w")
    >>> sdc.risk.individual_risk(data).parts["risk"].round(9).to_list()
    [0.00542452, 0.00542452, 0.025096439, 0.012563425, 0.028247279, 0.012563425, 0.029010932, 0.025096439,
     0.007403834, 0.007403834]
    """
    cells = key_cells(data, keys, missing, alpha)
    risks = cell_risk(cells.sample, cells.population, method)
    expected = float((risks * cells.records).sum())
    notes = missing_note(cells, missing, alpha)
    if data.roles.weight is None:
        notes += ("No weights: the file is taken for the whole population, the risk is 1/f.",)
    return Result(
        expected / data.height,
        {
            "expected_reidentifications": expected,
            "above_threshold": cells.count(risks > threshold),
            "highest": float(risks.max()),
        },
        cells.parts(sample_count=cells.sample, population_count=cells.population, risk=risks),
        notes,
    )


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
