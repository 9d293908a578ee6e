"""Disclosure risk and information loss of numbers."""

from importlib import import_module

import numpy as np
import polars as pl

import sdckit as sdc
from reference.cases import Case, frame, names_in, numbers
from reference.comparison import Comparisons, same

outliers = import_module("sdckit.risk.outlier_disclosure")  # the function has the name of its module


def interval_disclosure(case: Case) -> Comparisons:
    """dRisk of sdcMicro: intervals in standard deviations of the protected variable."""
    result = sdc.risk.interval_disclosure(*numbers(case), width=float(case.parameters["k"]))
    yield same("dRisk", result.value, case.expected["dRisk"], case.relative)


def outlier_disclosure(case: Case) -> Comparisons:
    """dRiskRMD of sdcMicro, with the robust covariance that R found and with sdckit's own."""
    p, expected, limit = case.parameters, case.expected, case.relative
    data, other = numbers(case)
    x, y = (outliers.standardised(d.frame.to_numpy()) for d in (data, other))
    covariance = np.array(expected["covMcd"])
    distance, inside, _, risky = outliers.at_risk(x, y, covariance, p["k"], p["k2"], outliers.Needs.ANY)
    yield same("risk1", inside.mean(), expected["risk1"], limit)
    yield same("risk2", risky.mean(), expected["risk2"], limit)
    yield same("wrisk1", inside.sum() * distance[inside].sum() / len(x), expected["wrisk1"], limit)
    yield same("wrisk2", risky.sum() * distance[risky].sum() / len(x), expected["wrisk2"], limit)
    result = sdc.risk.outlier_disclosure(data, other, width=float(p["k"]), neighbour=float(p["k2"]))
    yield same("risk1 with sdckit's covariance", result.figures["inside"], expected["risk1"], limit)
    yield same("risk2 with sdckit's covariance", result.value, expected["risk2"], limit)


def numeric_loss(case: Case) -> Comparisons:
    """dUtility, IL_correl and IL_variables of sdcMicro; six matrices by hand."""
    data, other = numbers(case)
    expected, limit, utility = case.expected, case.relative, sdc.utility
    match case.id.split("_")[0]:
        case "IL1":
            found = {"IL1": utility.il1(data, other).figures["percent_sum"]}
        case "IL1s":
            mean = utility.il1s(data, other).value
            found = {"IL1s": mean * data.height * len(case.parameters["variables"]), "IL1old": mean}
        case "eigen":
            found = {"eigen": utility.eigenvalues(data, other).value}
        case "robeigen":
            found = dict.fromkeys(
                ("by_hand", "robeigen"), utility.eigenvalues(data, other, robust=True).value
            )
        case "correl":
            found = {"IL_correl": utility.correlation_loss(data, other).value}
        case "variables":
            found = {"IL_variables": utility.variable_loss(data, other).value}
        case _:
            components = case.parameters["components"]
            found = dict(utility.matrix_discrepancy(data, other, components=components).figures)
    for name, value in expected.items():
        yield same(name, found[name], value, limit)


def ecdf(case: Case) -> Comparisons:
    """Joint distribution functions at all records of both files, by loops in R."""
    names = names_in(case.parameters["variables"])
    first, second = (frame(name).select(pl.col(names).cast(pl.Float64)) for name in case.inputs)
    rule = 1 + (37 * pl.int_range(1, pl.len() + 1)) % 91 / 10
    data = sdc.read(first.with_columns(w=rule), numeric=names, weight="w")
    other = second.head(case.parameters["protected_records"]).with_columns(w=rule)
    figures = sdc.utility.ecdf_distance(data, data.with_frame(other)).figures
    for name, value in case.expected.items():
        yield same(name, figures[name], value, case.relative)
