"""Individual re-identification risk from sample and population frequencies."""

from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Floats, Ints
from sdckit.charts.classes import LIMITS
from sdckit.data.key_cells import KeyCells, Missing, fewer_keys, key_cells
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.methods.options import KEYS, KeyColumns, MissingKeys, MissingKeyWeight, Option
from sdckit.methods.registry import risk
from sdckit.methods.spec import records, share
from sdckit.models.cell_risk import Method, cell_risk
from sdckit.risk.frequencies import WEIGHT_NEEDS_WILDCARD, missing_note

RiskMethod = Annotated[
    Method,
    Option(
        "Formula",
        "How the risk of cells with more than two records is computed.",
        choices={"approx": "a close approximation", "exact": "the hypergeometric function for every cell"},
    ),
]


@risk(
    "Individual re-identification risk",
    family="Categorical keys",
    bounds=(0, 1),
    unit="probability",
    needs=Role.KEYS,
    engines="all",
    flags="above_threshold",
    share=True,
    main="threshold",
    rules=(WEIGHT_NEEDS_WILDCARD,),
    renamed={"alpha": "missing_weight"},
    figures={
        "expected_reidentifications": records("Expected re-identifications"),
        "above_threshold": records("Records above the threshold"),
        "highest": share("Highest risk of a record", extreme=True),
    },
    chart=charts.risk_distribution,
    reference="Benedetti & Franconi (1998); Franconi & Polettini (2004)",
    interpretation=(
        "The mean probability that an intruder who knows the keys of a person and finds a record with these "
        "keys is right. 0.01: one in a hundred such guesses is right on average."
    ),
)
def individual_risk(
    data: Microdata,
    *,
    keys: KeyColumns = KEYS,
    method: RiskMethod = Method.APPROX,
    threshold: Annotated[
        float,
        Field(gt=0, le=1),
        Option("Threshold", "Records with a risk above it are counted and flagged.", True, "probability"),
    ] = 0.1,
    missing: MissingKeys = Missing.WILDCARD,
    missing_weight: MissingKeyWeight = 1.0,
) -> Result:
    r"""Probability that a record is re-identified by its keys, for every record.

    With p = fₖ/Fₖ (F given f negative binomial), the posterior mean of 1/Fₖ is

    .. math:: r_k = \frac{p}{f}\; {}_2F_1(1, 1; f+1; 1-p)

    which for f = 1 is p/(1−p)·ln(1/p) and for f = 2 is p/(1−p) − (p/(1−p))²·ln(1/p). `method="exact"`
    uses it for every f (this form of the hypergeometric function is stable for any p); `"approx"` takes
    p/(f−(1−p)) for f > 2. Where Fₖ ≤ fₖ, as without weights, the risk is 1/fₖ.

    value: the mean risk (global risk). figures: expected_reidentifications Σ rᵢ, above_threshold (records
    with a risk above `threshold`), highest. parts: the risk of each record and whether it is above the
    threshold. tables: `classes`, records by risk; `keys`, the expected re-identifications without each key,
    and the share of the risk it brings.

    Missing keys: records are counted by the wildcard rule unless `missing` says otherwise, see `frequencies`;
    where keys are missing, a note says what is expected when a blank is a value of its own.

    Weights: Fₖ is their sum over the cell.
    After suppression, PRAM, swapping or synthesis it describes the file and is not the risk of its persons;
    that is `reidentification_risk`.
    Reference: Benedetti & Franconi (1998).
    Departures: fractional counts (missing_weight < 1) use the exact form below f = 3; sdcMicro gives 0 there.

    >>> import polars as pl, sdckit as sdc
    >>> weights = [180, 180, 215, 76, 186, 76, 180, 215, 186, 76]
    >>> cell = [1, 1, 2, 3, 4, 3, 5, 6, 7, 7]
    >>> data = sdc.read(pl.DataFrame({"cell": cell, "w": weights}), keys="cell", weight="w")
    >>> sdc.risk.individual_risk(data).parts["risk"].round(9).to_list()
    [0.00542452, 0.00542452, 0.025096439, 0.012563425, 0.028247279, 0.012563425, 0.029010932, 0.025096439,
     0.007403834, 0.007403834]
    """
    cells = key_cells(data, keys, missing, missing_weight)
    risks = cell_risk(cells.sample, cells.population, method)
    expected = float((risks * cells.records).sum())
    notes = missing_note(cells, missing, missing_weight)
    if notes and missing is Missing.WILDCARD:
        apart = cell_risk(cells.records.astype(np.float64), cells.weights, method)
        notes += (
            f"If a blank is read as a value of its own, {float((apart * cells.records).sum()):.4g} "
            f"re-identifications are expected instead of {expected:.4g}.",
        )
    if data.roles.weight is None:
        notes += ("No weights: the file is taken for the whole population, the risk is 1/f.",)
    tables = {"classes": _classes(risks, cells.records)}
    if len(keys) > 1:
        tables["keys"] = _by_key(cells, tuple(keys), expected, method, missing, missing_weight)
    return Result(
        expected / data.height,
        {
            "expected_reidentifications": expected,
            "above_threshold": cells.count(risks > threshold),
            "highest": float(risks.max()),
        },
        cells.parts(
            sample_count=cells.sample,
            population_count=cells.population,
            risk=risks,
            above_threshold=risks > threshold,
        ),
        notes,
        tables,
    )


def _classes(risks: Floats, records: Ints) -> pl.DataFrame:
    """Records by class of risk."""
    limits = np.array(LIMITS)
    place = np.searchsorted(limits[:-1], risks, side="right") - 1  # the last class has its upper limit, too
    counts = np.bincount(place, records, len(limits) - 1)
    return pl.DataFrame({"from": limits[:-1], "to": limits[1:], "records": counts.astype(np.int64)})


def _by_key(
    cells: KeyCells,
    keys: tuple[str, ...],
    expected: float,
    method: Method,
    missing: Missing,
    missing_weight: float,
) -> pl.DataFrame:
    """What the risk would be without each key: how much of it that key brings."""
    rows = []
    for key in keys:
        fewer = fewer_keys(cells, [k for k in keys if k != key], missing, missing_weight)
        left = float((cell_risk(fewer.sample, fewer.population, method) * fewer.records).sum())
        rows.append((key, left, 1 - left / expected))
    return pl.DataFrame(rows, schema=["key", "expected_without", "reduction"], orient="row")
