"""Synthetic files and categories: tables, propensity, disclosure, fits, identification, entropy."""

import math
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from reference.cases import CATEGORIES, Case, frame, names_in, synthetic_pair
from reference.comparison import Comparisons, fingerprint, same

DISCLOSURE = {
    "UiO": "unique_in_original",
    "UiS": "unique_in_synthetic",
    "repU": "replicated_uniques",
    "Dorig": "disclosive_in_original",
    "iS": "found_in_synthetic",
    "DiS": "disclosive_in_synthetic",
    "DiSCO": "disco",
    "baseCAPd": "baseline_cap",
    "CAPd": "original_cap",
    "DCAP": "cap",
    "TCAP": "tcap_found",
    "TCAP_vignette": "tcap",
}


def contingency_tables(case: Case) -> Comparisons:
    """utility.tab of synthpop."""
    expected, limit, files = case.expected, case.relative, synthetic_pair(case, [])
    variables = case.parameters["vars"]
    result = sdc.utility.contingency_tables(*files, tables=[variables], missing="category")
    row = result.parts.row(0, named=True)
    yield same("SPECKS", row["total_variation"], expected["SPECKS"], limit)
    yield same("dBhatt", row["hellinger"], expected["dBhatt"], limit)
    yield same("MabsDD", 2 * row["total_variation"], expected["MabsDD"], limit)
    yield same("VW", row["voas_williamson"], expected["VW"], limit)
    yield same("pMSE", row["pmse"], expected["pMSE"], limit)
    if len(variables) == 2:
        pairs = sdc.utility.table_pmse(*files).parts
        found = pairs.filter(pl.col("variable").is_in(variables), pl.col("with").is_in(variables))
        yield same("VW of all pairs", found["voas_williamson"][0], expected["VW"], limit)
        # S_pMSE is VW over its degrees of freedom
        freedom = found["degrees_of_freedom"][0]
        yield same("S_pMSE", found["pmse_ratio"][0], expected["VW"] / freedom, limit)


def propensity(case: Case) -> Comparisons:
    """utility.gen of synthpop with a logistic regression."""
    names = case.parameters["vars"]
    files = synthetic_pair(case, [name for name in names if name not in CATEGORIES])
    model = "interactions" if case.parameters["maxorder"] else "logistic"
    result = sdc.utility.propensity(*files, variables=names, model=model)
    yield same("pMSE", result.value, case.expected["pMSE"], case.relative)
    yield same("S_pMSE", result.figures["pmse_ratio"], case.expected["S_pMSE"], case.relative)


def disclosure(case: Case) -> Comparisons:
    """disclosure of synthpop, in percent."""
    p = case.parameters
    result = sdc.risk.attribute_disclosure(*synthetic_pair(case, []), known=p["keys"], sensitive=p["target"])
    for theirs, ours in DISCLOSURE.items():
        figure = 100 * result.figures.get(ours, math.nan)
        yield same(theirs, figure, case.expected[theirs], case.relative)


def terms(parts: pl.DataFrame) -> dict[str, int]:
    """The rows of the coefficients by R's names."""
    plain = (name.replace("[T.", "").removesuffix("]") for name in parts["term"])
    return {name.replace("Intercept", "(Intercept)"): row for row, name in enumerate(plain)}


def fitted(case: Case) -> dict[str, Any]:
    """Estimates, standard errors and overlaps of the coefficients in R's order, by R's names."""
    p = case.parameters
    text = pl.col("sex", "education").cast(pl.String)
    first, second = (frame(name).with_columns(text) for name in case.inputs)
    data = sdc.read(first)
    parts = sdc.utility.regression(
        data,
        data.with_frame(second),
        formula=p["formula"],
        family={"gaussian": "ols", "binomial": "logit"}[p["family"]],
        reference={name: first[name].min() for name in ("sex", "education") if name in p["formula"]},
    ).parts
    rows = [terms(parts)[name] for name in case.expected["terms"]]
    return {
        "original": parts["estimate_original"].to_numpy()[rows],
        "original_se": np.sqrt(parts["variance_original"].to_numpy()[rows]),
        "synthetic": parts["estimate_protected"].to_numpy()[rows],
        "synthetic_se": np.sqrt(parts["variance_protected"].to_numpy()[rows]),
        "overlap_population": parts["overlap"].to_numpy()[rows],
    }


def fits(case: Case) -> Comparisons:
    """lm, glm and compare of synthpop: coefficients on both files and the overlap of their intervals."""
    for name, value in fitted(case).items():
        yield same(name, value, case.expected[name], case.relative)


def identification_risk(case: Case) -> Comparisons:
    """Reiter & Mitra's risks by loops over all pairs of records."""
    p, expected, limit = case.parameters, case.expected, case.relative
    columns = [*CATEGORIES, pl.col("income", "expenditure").cast(pl.Float64)]
    first, second = (frame(name).select(columns) for name in case.inputs)
    near = {name: float(radius) for name, radius in dict(p["near"] or {}).items()}
    option = "relative_radius" if p["relative"] else "radius"
    data = sdc.read(first, keys=names_in(p["known"]))
    result = sdc.risk.identification_risk(
        data,
        data.with_frame(second),
        synthesised=[*names_in(p["equal"]), *near],
        shape=p["shape"],
        **({option: near} if near else {}),
    )
    for name in ("expected_match_risk", "true_match_rate", "false_match_rate", "unique_matches"):
        yield same(name, result.figures[name], expected[name], limit)
    yield same("c", fingerprint(result.parts["c"]), expected["c"], limit)
    yield same("t", fingerprint(result.parts["t"]), expected["t"], limit)


def categorical_loss(case: Case) -> Comparisons:
    """Entropy, EBIL and CTBIL by table() and log()."""
    p, expected, limit = case.parameters, case.expected, case.relative
    keys = names_in(p.get("keys") or p["variable"])
    first, second = (frame(name).select(keys) for name in case.inputs)
    data = sdc.read(first, keys=keys)
    other = data.with_frame(second)
    if "raw" in expected:
        result = sdc.utility.contingency_loss(data, other, order=p["order"], missing=p["missing"])
        yield same("raw", result.figures["raw"], expected["raw"], limit)
        yield same("normalised", result.value, expected["normalised"], limit)
        yield same("tables", result.figures["tables"], expected["tables"], 0.0)
        return
    row = sdc.utility.entropy(data, other).parts.row(0)
    yield same("before", row[1], expected["before"], limit)
    yield same("after", row[2], expected["after"], limit)
    yield same("EBIL", sdc.utility.entropy_loss(data, other).value, expected["EBIL"], limit)
