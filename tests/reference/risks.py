"""Counts, individual and household risk, l-diversity, SUDA, k-anonymity, population uniques."""

import numpy as np
import polars as pl

import sdckit as sdc
from reference.cases import Case, frame
from reference.comparison import Comparisons, at_most, fingerprint, same


def frequencies(case: Case) -> Comparisons:
    """freqCalc, indivRisk and measure_risk of sdcMicro: a missing key matches every category."""
    p = case.parameters
    data = sdc.read(frame(case.inputs[0]), keys=p["keys"], weight=p["weight"], household=p.get("household"))
    if "household" in p:
        return _household_risk(case, data)
    return _exact_risk(case, data) if p["method"] == "exact" else _individual_risk(case, data)


def _individual_risk(case: Case, data: sdc.Microdata) -> Comparisons:
    expected, limit = case.expected, case.relative
    parts = sdc.risk.individual_risk(data, missing_weight=float(case.parameters["alpha"])).parts
    count, risk = parts["sample_count"].to_numpy(), parts["risk"].to_numpy()
    whole = (count == 1) | (count == 2) | (count >= 3)
    yield same("fk", fingerprint(count), expected["fk"], limit)
    yield same("Fk", fingerprint(parts["population_count"]), expected["Fk"], limit)
    yield same("rk", fingerprint(risk), expected["rk"], limit)
    yield same("rk_whole", fingerprint(np.where(whole, risk, np.nan)), expected["rk_whole"], limit)
    yield same("uniques", int((count == 1).sum()), expected["uniques"], limit)
    yield same("below_3", int((count < 3).sum()), expected["below_3"], limit)


def _exact_risk(case: Case, data: sdc.Microdata) -> Comparisons:
    """In small cells only: R's series loses digits in large ones."""
    parts = sdc.risk.individual_risk(data, method="exact").parts
    small = parts["sample_count"].to_numpy() <= case.parameters["largest_fk"]
    found = fingerprint(np.where(small, parts["risk"].to_numpy(), np.nan))
    yield same("rk_small", found, case.expected["rk_small"], case.relative)


def _household_risk(case: Case, data: sdc.Microdata) -> Comparisons:
    expected, limit = case.expected, case.relative
    weight = float(case.parameters.get("alpha", 1))
    household = sdc.risk.household_risk(data, missing_weight=weight)
    one_by_one = sdc.risk.individual_risk(data, missing_weight=weight)
    number = household.figures["expected_reidentifications"]
    yield same("hier_risk", fingerprint(household.parts["household_risk"]), expected["hier_risk"], limit)
    yield same("hier_risk_ER", number, expected["hier_risk_ER"], limit)
    yield same("global_risk_ER", one_by_one.parts["risk"].sum(), expected["global_risk_ER"], limit)


def l_diversity(case: Case) -> Comparisons:
    """ldiversity of sdcMicro: a missing key is a category."""
    p, people = case.parameters, frame(case.inputs[0])
    if p["records"] != "all":
        people = people.filter(pl.col(p["sensitive"]).is_not_null())
    return diversities(case, people)


def diversities(case: Case, people: pl.DataFrame) -> Comparisons:
    """Distinct, entropy and recursive l-diversity per record."""
    p = case.parameters
    data = sdc.read(people, keys=p["keys"], sensitive=[p["sensitive"]])
    parts = sdc.risk.l_diversity(data, c=float(p["l_recurs_c"]), missing=p["missing"]).parts
    for name in ("distinct", "entropy", "recursive"):
        yield same(name, fingerprint(parts[name]), case.expected[name], case.relative)


def suda(case: Case) -> Comparisons:
    """suda2 of sdcMicro: a missing key is part of no minimal unique."""
    p, expected, limit = case.parameters, case.expected, case.relative
    result = sdc.risk.suda(
        sdc.read(frame(case.inputs[0]), keys=p["keys"]),
        missing="nothing",
        dis_fraction=float(p["DisFraction"]),
        scoring="original" if p["original_scores"] else "scaled",
    )
    percent = 100 * result.tables["contributions"]["contribution"]
    yield same("score", fingerprint(result.parts["score"]), expected["score"], limit)
    yield same("disScore", fingerprint(result.parts["dis_score"]), expected["disScore"], limit)
    yield same("contribution", percent.to_list(), expected["contribution"], limit)


def suppression(case: Case) -> Comparisons:
    """kAnon of sdcMicro by its own rule, in which a missing key matches every category."""
    keys, k, before = case.parameters["keys"], case.parameters["k"], frame(case.inputs[0])
    made = sdc.protect.suppress(sdc.read(before, keys=keys), k=k, missing="wildcard")
    left = sdc.risk.k_anonymity(made, k=k, missing="wildcard").figures["violations"]
    suppressed = sum(made.frame[key].null_count() - before[key].null_count() for key in keys)
    yield at_most("cells_blanked", suppressed, case.expected["cells_blanked"])
    yield same("left", left, case.expected["left"], 0.0)
    yield same("left in R", case.expected["left"], 0, 0.0)


def loglinear(case: Case) -> Comparisons:
    """Poisson log-linear models by glm: population uniques among the sample uniques."""
    p, expected = case.parameters, case.expected
    people = frame(case.inputs[0])
    if p["weight"] == "1 + weight / 4000":
        people = people.with_columns(weight=1 + pl.col("weight") / 4000)
    data = sdc.read(people, keys=p["keys"], weight="weight")
    figures = sdc.risk.population_uniques(data, formula=p["formula"]).figures
    yield same("uniques", figures["sample_uniques"], expected["uniques"], 0.0)
    yield same("tau1", figures["tau1"], expected["tau1"], case.relative)
    yield same("tau2", figures["tau2"], expected["tau2"], case.relative)
