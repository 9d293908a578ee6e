"""Population uniques: how many people alone on their keys in the file are alone in the population too."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Bools, Floats, Ints
from sdckit._support.messages import require_known
from sdckit.data.key_cells import KeyCells, Missing, key_cells
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.errors import OptionError
from sdckit.methods.options import KEYS, KeyColumns, MissingKeys, Option, Requires
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Figure, records, share
from sdckit.risk.frequencies import missing_note

CHECKED = 5_000_000  # largest grid on which the fit is checked


class Model(StrEnum):
    """What is assumed about the population."""

    LOG_LINEAR = "loglinear"
    PITMAN = "pitman"
    HOSHINO = "hoshino"
    ZAYATZ = "zayatz"
    SNB = "snb"


class Formula(StrEnum):
    """Log-linear terms: the keys alone, or with all their pairs."""

    MAIN = "main"
    TWO_WAY = "two-way"


@dataclass(frozen=True)
class _Estimate:
    """By key cell, for those with one record: P(F = 1) and E(1/F); further figures and notes."""

    unique: Floats
    match: Floats
    figures: dict[str, float]
    notes: tuple[str, ...]


@risk(
    "Sample uniques that are population uniques",
    family="Categorical keys",
    unit="records",
    needs=Role.KEYS,
    engines="all",
    counts_records=True,
    main="model",
    rules=(Requires("formula", "model", (Model.LOG_LINEAR,)),),
    renamed={"population": "population_size"},
    figures={
        "tau1": records("Unique in the file and in the population (τ1)"),
        "tau2": records("Right links if doubles are picked at random (τ2)"),
        "sample_uniques": records("Records unique in the file"),
        "population": Figure("People in the population", "people", Better.NEITHER),
        "population_uniques": Figure("Unique people in the population", "people", counts_records=True),
        "fit_check": Figure(
            "Check of the model (within ±2: fits)", "", Better.NEITHER, (-math.inf, math.inf)
        ),
        "alpha": Figure("Pitman's α", "", Better.NEITHER, (0, 1)),
        "theta": Figure("Pitman's θ", "", Better.NEITHER, (-1, math.inf)),
        "cells": Figure("Key combinations in the population", "combinations", Better.NEITHER),
        "shape": Figure("Shape of the negative binomial", "", Better.NEITHER),
        "p": Figure("p of the negative binomial", "", Better.NEITHER, (0, 1)),
        "tau1_share": share("Share of the records (τ1)"),
        "tau2_share": share("Share of the records (τ2)"),
    },
    chart=charts.FigureBars(("sample_uniques", "tau1", "tau2"), "records"),
    reference="Skinner & Holmes (1998); Elamir & Skinner (2006); Skinner & Shlomo (2008); Hoshino (2001)",
    interpretation=(
        "The intruder knows the keys of everybody in the population and links a record that is alone in the "
        "file. The value (τ1): how many such records are of people who are alone in the whole population, so "
        "that the link is certain. τ2: how many links would be right if a double is picked at random. 10 of "
        "10,000 records: one record in a thousand."
    ),
)
def population_uniques(
    data: Microdata,
    *,
    model: Annotated[
        Model,
        Option(
            "Model of the population",
            "What is assumed about the cells of the population.",
            True,
            choices={
                "loglinear": "Poisson counts, log-linear in the keys; uses the weights",
                "pitman": "Pitman's model of cell sizes, by maximum likelihood",
                "hoshino": "Pitman's model of cell sizes, by Hoshino's moments",
                "zayatz": "Zayatz' estimator; overstates in small samples",
                "snb": "shifted negative binomial cell sizes",
            },
        ),
    ] = Model.LOG_LINEAR,
    formula: Annotated[
        Formula | list[list[str]],
        Option(
            "Log-linear terms",
            "The terms of the log-linear model, or a list of interactions such as [[region, age]].",
            choices={"main": "the keys alone", "two-way": "the keys and all their pairs"},
        ),
    ] = Formula.MAIN,
    population_size: Annotated[
        Annotated[float, Field(gt=0)] | None,
        Option(
            "Size of the population",
            "The number of people in the population, to which the weights are scaled.",
            unit="people",
            absent="the sum of the weights",
        ),
    ] = None,
    keys: KeyColumns = KEYS,
    missing: MissingKeys = Missing.WILDCARD,
) -> Result:
    r"""Expected population uniques among the records that are unique on their keys in the file.

    Over the sample uniques (fₖ = 1), with the population count Fₖ of their key combination,

    .. math:: \tau_1 = \sum_{f_k=1} P(F_k = 1 \mid f_k = 1), \qquad
       \tau_2 = \sum_{f_k=1} E(1/F_k \mid f_k = 1)

    0: every sample unique has doubles in the population; the number of sample uniques: none has.

    **loglinear** (default): Fₖ is Poisson with mean λₖ, log-linear in the keys, and a person is in the file
    with probability πₖ. Then, with vₖ = λₖ(1−πₖ), P = e^{−vₖ} and E = (1−e^{−vₖ})/vₖ. λₖ is fitted to the
    weighted counts of all cells of the keys, empty ones too (pseudo maximum likelihood), πₖ = fₖ/Fₖ is one
    over the record's weight. `formula`: "main", "two-way" (all pairs), or a list of interactions such as
    [["region", "age"]]; main effects are always in. The figure fit_check is the standardised bias of
    τ₁ of Skinner & Shlomo (2008), taking π = n/N throughout: clearly above 2, the model lacks interactions
    and τ₁ is overstated; clearly below −2, it has too many and τ₁ is understated. It is left out on very
    large grids and where keys are missing.

    **pitman**, **hoshino**, **zayatz**, **snb**: superpopulation models of the cell sizes alone, for simple
    random samples (π = n/N): Pitman's by maximum likelihood or by Hoshino's moments, Zayatz' estimator
    (overstates unless much of the population is in the file) and the shifted negative binomial. The figure
    population_uniques is their number in the whole population. Dankar et al. (2012) found Pitman's best for
    small sampling fractions.

    value: τ₁. figures: tau1, tau2, both as shares of the records, sample_uniques. parts: for each sample
    unique the probability that it is unique in the population and that a link is right; NULL for the others.

    Weights: their sum is the size N of the population, or `population_size`, to which they are then scaled.
    With neither the file is the population and τ₁ = τ₂ = the sample uniques. Missing keys: by the wildcard
    rule a record is unique if it matches no other, λ is summed over the values a missing key may have, and
    superpopulation models are fitted without incomplete records; by "nothing" an incomplete record is alone
    in the file and, in the log-linear model, in the population.
    nan, with a note, where the equations of a superpopulation model have no solution.
    After suppression, PRAM, swapping or synthesis it describes the file and is not the risk of its persons;
    that is `reidentification_risk`.
    Reference: Elamir & Skinner (2006); Hoshino (2001). Departures: sdcMicro's modRisk takes the fitted
    sample mean for λ, without dividing by π, which overstates the risk, and gives NaN as soon as a large
    cell has Σ1/w > 1; here only sample uniques enter and every sum is finite.

    >>> import sdckit as sdc
    >>> data = sdc.demo.survey(n=1000, seed=1)
    >>> result = sdc.risk.population_uniques(data, keys=["region", "sex", "age"])
    >>> 0 < result.figures["tau1"] < result.figures["tau2"] < result.figures["sample_uniques"]
    True
    """
    cells = key_cells(data, keys, missing)
    total = _size(data, cells, population_size)
    if model is Model.LOG_LINEAR:
        found = _log_linear(cells, keys, _terms(keys, formula), total, missing)
    else:
        found = _superpopulation(data, keys, model, total, missing)
    alone = cells.sample <= 1
    uniques = cells.count(alone)
    tau1, tau2 = (_sum(cells, p, alone) for p in (found.unique, found.match))
    notes = missing_note(cells, missing) + found.notes
    if total <= data.height:
        notes += (
            "The file is taken for the whole population: no weights and no `population_size` say otherwise.",
        )
    parts = cells.parts(
        population_unique=np.where(alone, found.unique, np.nan),
        correct_match=np.where(alone, found.match, np.nan),
    ).with_columns(pl.col("population_unique", "correct_match").fill_nan(None))
    if math.isnan(tau1):
        return Result(math.nan, {"sample_uniques": uniques}, parts, notes)
    figures = {
        "tau1": tau1,
        "tau2": tau2,
        "tau1_share": tau1 / data.height,
        "tau2_share": tau2 / data.height,
        "sample_uniques": uniques,
        **found.figures,
    }
    return Result(tau1, figures, parts, notes)


def _size(data: Microdata, cells: KeyCells, given: float | None) -> float:
    if given is None:
        return float(cells.weights.sum())
    if given < data.height:
        raise OptionError(
            "The population is smaller than the file.", given=f"{given:g}", allowed=f"{data.height} or more"
        )
    return given


def _sum(cells: KeyCells, chance: Floats, alone: Bools) -> float:
    return float((chance * cells.records)[alone].sum())


def _terms(keys: Sequence[str], formula: Formula | list[list[str]]) -> list[tuple[int, ...]]:
    if formula is Formula.MAIN:
        return []
    if formula is Formula.TWO_WAY:
        return list(combinations(range(len(keys)), 2))
    require_known((c for term in formula for c in term), keys, "formula may only name keys.")
    return [tuple(list(keys).index(c) for c in term) for term in formula]


def _log_linear(
    cells: KeyCells, keys: Sequence[str], terms: list[tuple[int, ...]], total: float, missing: Missing
) -> _Estimate:
    from sdckit.models.log_linear import log_linear

    codes = np.ascontiguousarray(cells.codes[:, : len(keys)])
    if missing is Missing.CATEGORY:
        codes = np.where(codes < 0, codes.max(axis=0) + 1, codes)
    scale = total / cells.weights.sum()
    fit = log_linear(codes, cells.weights * scale, terms)
    sampled = np.minimum(cells.sample / (cells.population * scale), 1.0)
    more = fit.expected(codes) * (1 - sampled)
    if missing is Missing.NOTHING:
        more = np.where(cells.incomplete, 0.0, more)
    figures = {"population": total}
    fraction = float(cells.records.sum()) / total
    if fraction < 1 and fit.size <= CHECKED and not cells.incomplete.any():
        figures["fit_check"] = _fit_check(cells.records, fit.expected(codes), fit.grid(), fraction)
    notes: tuple[str, ...] = () if fit.converged else (f"The fit has not settled after {fit.steps} rounds.",)
    if abs(figures.get("fit_check", 0.0)) > 2:
        fault = "lacks interactions, so tau1 is overstated"
        if figures["fit_check"] < 0:
            fault = "has too many interactions, so tau1 is understated"
        notes += (f"fit_check = {figures['fit_check']:.1f}: the model {fault}; see `formula`.",)
    return _Estimate(np.exp(-more), _mean_reciprocal(more), figures, notes)


def _mean_reciprocal(v: Floats) -> Floats:
    """(1−e^{−v})/v, 1 at v = 0."""
    small = v < 1e-12
    return np.where(small, 1.0, -np.expm1(-v) / np.where(small, 1.0, v))


def _fit_check(records: Ints, expected: Floats, grid: Floats, pi: float) -> float:
    """Bias of τ₁ over its standard error: Σ a(f−μ) + b[(f−μ)²−f] with variance Σ a²μ + 2b²μ², μ = πλ.

    a = λe^{−λ}(1−π), b = a(1−π)/(2π). The sum over the grid takes f = 0, occupied cells then add the change.
    """

    def slopes(mean: Floats) -> tuple[Floats, Floats]:
        a = mean * np.exp(-mean) * (1 - pi)
        return a, a * (1 - pi) / (2 * pi)

    a, b = slopes(grid)
    mu = pi * grid
    bias = float((-a * mu + b * mu**2).sum())
    variance = float((a**2 * mu + 2 * b**2 * mu**2).sum())
    a, b = slopes(expected)
    bias += float((a * records + b * (records * (records - 2 * pi * expected - 1.0))).sum())
    return bias / math.sqrt(variance) if variance > 0 else 0.0


def _superpopulation(
    data: Microdata, keys: Sequence[str], model: Model, total: float, missing: Missing
) -> _Estimate:
    from sdckit.models import superpopulation as models

    exact = key_cells(data, keys, Missing.CATEGORY)
    records = exact.records
    if missing is not Missing.CATEGORY:
        records = exact.records[~exact.incomplete]
    if missing is Missing.NOTHING:
        records = np.concatenate([records, np.ones(exact.count(exact.incomplete), np.int64)])
    sizes = models.CellSizes.of(records, total * records.sum() / data.height)
    found = getattr(models, model.value)(sizes)
    cells = key_cells(data, keys, missing)
    alone = max(sizes.having(1), 1)
    unique = np.full(len(cells.records), found.tau1 / alone)
    match = np.full(len(cells.records), found.tau2 / alone)
    figures = {"population": total, "population_uniques": found.uniques, **found.parameters}
    return _Estimate(unique, match, figures, (found.note,) if found.note else ())
