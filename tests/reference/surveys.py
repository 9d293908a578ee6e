"""Estimates of a complex sample: poverty and inequality, means and totals, regressions."""

from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from reference.cases import Case, frame, names_in
from reference.comparison import Comparisons, same
from reference.synthetic import terms

INDICATORS = {"gini": "gini", "qsr": "s80s20", "arpr": "poverty_rate", "rmpg": "poverty_gap"}
FAMILIES = {"gaussian": "ols", "quasibinomial": "logit", "quasipoisson": "poisson"}
GROUPS = 10  # of replicates: the g-th leaves out the clusters with number g modulo 10


def design(case: Case) -> dict[str, Any]:
    """The roles of the sample design."""
    p = case.parameters
    return {"weight": "weight", "strata": names_in(p.get("strata")), "cluster": p.get("cluster")}


def indicators(case: Case) -> Comparisons:
    """gini, qsr, arpr, rmpg and gpg of laeken."""
    p, expected = case.parameters, case.expected
    people = frame(case.inputs[0])
    if p["records"] == "income > 0":
        people = people.filter(pl.col("income") > 0)
    data = sdc.read(people, weight="weight", numeric=[p["variable"]])
    wanted: Any = INDICATORS.get(p.get("indicator"))
    if wanted is None:
        wanted = {"pay_gap": {name: p[name] for name in ("group", "reference", "statistic")}}
    result = sdc.utility.indicators(data, data, indicators=wanted, variables=[p["variable"]], by=[p["by"]])
    found = dict(zip(result.parts["domain"], result.parts["estimate_original"], strict=True))
    by_domain = [found.get(str(domain)) for domain in expected["domains"]]
    yield same("value", result.parts["estimate_original"][0], expected["value"], case.relative)
    yield same("by_domain", by_domain, expected["by_domain"], case.relative)


def replicated(people: pl.DataFrame) -> pl.DataFrame:
    """With the replicate weights r0, r1, …"""
    left_out = [pl.col("psu") % GROUPS == group for group in range(GROUPS)]
    more = pl.col("weight") * GROUPS / (GROUPS - 1)
    return people.with_columns(
        pl.when(~rule).then(more).otherwise(0.0).alias(f"r{group}") for group, rule in enumerate(left_out)
    )


def estimated(case: Case) -> pl.DataFrame:
    """The estimates of a case in R's order."""
    p, people = case.parameters, frame(case.inputs[0])
    options: dict[str, Any] = {"fpc": p["fpc"]} if "fpc" in p else {}
    if "replicates" in p:
        people = replicated(people)
        weights = [f"r{group}" for group in range(GROUPS)]
        options |= {"variance": "replicates", "replicate_weights": weights, "replicate_scale": p["scale"]}
    if "jackknife" in p:
        options["variance"] = "jackknife"
    if "mse" in p:
        options["mse"] = p["mse"]
    if p["indicator"] == "quantile":
        options["quantile_interval"] = "woodruff"
    wanted: Any = p["indicator"]
    if wanted == "ratio":
        wanted = {"ratio": {"denominator": p["denominator"]}}
    if wanted == "quantile":
        wanted = {"quantile": [{"p": share} for share in p["p"]]}
    data, by = sdc.read(people, **design(case)), names_in(p.get("by"))
    parts = sdc.utility.indicators(
        data, data, indicators=wanted, variables=[p["variable"]], by=by, **options
    ).parts
    if "domains" in case.expected:
        rows = {domain: row for row, domain in enumerate(parts["domain"])}
        parts = parts[[rows[domain] for domain in case.expected["domains"]]]
    return parts


def estimates(case: Case) -> Comparisons:
    """svymean, svytotal, svyratio, svyby and svyquantile of survey, with linearisation and replicates."""
    expected, parts = case.expected, estimated(case)
    yield same("estimate", parts["estimate_original"].to_list(), expected["estimate"], case.relative)
    for name in ("se", "woodruff_se"):
        if name in expected:
            yield same(name, parts["variance_original"].sqrt().to_list(), expected[name], case.relative)
    if "interval" in expected:
        interval = [parts["low_original"][0], parts["high_original"][0]]
        yield same("interval", interval, expected["interval"], case.relative)


def regressions(case: Case) -> Comparisons:
    """svyglm of survey; the lowest code is the reference category."""
    p, expected = case.parameters, case.expected
    categories = [name for name in p["factors"] if name in p["formula"]]
    people = frame(case.inputs[0]).with_columns(pl.col(categories).cast(pl.String))
    data = sdc.read(people, **design(case))
    parts = sdc.utility.regression(
        data,
        data,
        formula=p["formula"],
        family=FAMILIES[p["family"]],
        variance="design",
        reference={name: people[name].drop_nulls().min() for name in categories} or None,
    ).parts
    rows = [terms(parts)[name] for name in expected["terms"]]
    error = np.sqrt(parts["variance_original"].to_numpy()[rows])
    yield same("estimate", parts["estimate_original"].to_numpy()[rows], expected["estimate"], case.relative)
    yield same("se", error, expected["se"], case.relative)
