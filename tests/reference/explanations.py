"""Why known differences differ: R's figures from its own rule, or a proof that sdckit's are no worse.

Each function yields comparisons that must agree for its explanation to hold.
"""

import math

import numpy as np
import polars as pl
from scipy.stats import chi2, norm, t

import sdckit as sdc
from reference.cases import Case, frame, numbers
from reference.comparison import Comparisons, fingerprint, not_above, same
from reference.models import Floats, log_determinant, standardised_numbers
from reference.protections import shuffling
from reference.risks import diversities
from reference.surveys import GROUPS, design, estimated, replicated
from reference.synthetic import fitted, propensity
from sdckit.models.mcd import consistency, mcd

DIVERGED = 0.25  # the pMSE where every score is 0 or 1
STOPPED = 0.01513556  # the pMSE of R's glm after 12 steps, before it diverges
LOCAL_OPTIMUM = 0.002  # how far above the best known log determinant sdckit's search ends


def fractional_counts(case: Case) -> Comparisons:
    """sdcMicro: no branch for 1 < f < 2, where the risk becomes 0; the form for large f where 2 < f < 3."""
    p = case.parameters
    data = sdc.read(frame(case.inputs[0]), keys=p["keys"], weight=p["weight"])
    parts = sdc.risk.individual_risk(data, missing_weight=float(p["alpha"])).parts
    f, chance = parts["sample_count"].to_numpy(), parts["sample_count"] / parts["population_count"]
    q = chance.to_numpy()
    odds = q / (1 - q)
    rules = [f == 1, f == 2, f > 2]
    risks = [-odds * np.log(q), odds + odds**2 * np.log(q), q / (f - (1 - q))]
    yield same(
        "rk by R's rule", fingerprint(np.select(rules, risks, 0.0)), case.expected["rk"], case.relative
    )
    yield same("risk 0 in R", case.expected["rk"]["min"], 0.0, 0.0)
    yield not_above("no risk is 0", 0.0, parts["risk"].min(), -1e-12)


def every_missing_value_a_category(case: Case) -> Comparisons:
    """sdcMicro: as if every missing sensitive value were a category that nobody else has."""
    sensitive = pl.col(case.parameters["sensitive"])
    apart = pl.coalesce(sensitive, 1_000 + pl.int_range(pl.len()))
    return diversities(case, frame(case.inputs[0]).with_columns(apart))


def other_correlations_kept(case: Case) -> Comparisons:
    """sdckit keeps correlations of normal scores, better than sdcMicro does, which keeps those of ranks."""
    yield from (found for found in shuffling(case) if found.figure == "scores_moved")


def one_search_and_its_factor(case: Case) -> Comparisons:
    """The best of 100 searches, without the small-sample factor, gives sdckit's figure, not sdcMicro's."""
    value = sdc.utility.eigenvalues(*numbers(case), robust=True).value
    yield same("by_hand", value, case.expected["by_hand"], case.relative)


def glm_diverged(case: Case) -> Comparisons:
    """R says itself that its glm did not converge: all scores are 0 or 1."""
    ours = next(found.ours for found in propensity(case) if found.figure == "pMSE")
    yield same("converged in R", float(case.expected["converged"]), 0.0, 0.0)
    yield same("pMSE where all scores are 0 or 1", DIVERGED, case.expected["pMSE"], 1e-9)
    yield same("pMSE of R before it diverges", ours, STOPPED, 1e-6)


def original_errors_and_normal_quantiles(case: Case) -> Comparisons:
    """synthpop: normal quantiles, and for the synthetic file the original's error times √(1 + k/n)."""
    found, expected = fitted(case), case.expected
    n, k = (frame(name).height for name in case.inputs)
    z = norm.ppf(0.975)
    for name, factor in (("default", 1.0), ("population", math.sqrt(1 + k / n))):
        first, second = z * found["original_se"], z * factor * found["original_se"]
        low = np.maximum(found["original"] - first, found["synthetic"] - second)
        high = np.minimum(found["original"] + first, found["synthetic"] + second)
        overlap = ((high - low) / (2 * first) + (high - low) / (2 * second)) / 2
        yield same(f"overlap_{name} by R's rule", overlap, expected[f"overlap_{name}"], 1e-5)


def interval_of_the_distribution(case: Case) -> Comparisons:
    """survey, after Woodruff: an interval of F(q), its ends read off at the distribution of the variable."""
    p, people = case.parameters, frame(case.inputs[0])
    name, options = p["variable"], {"fpc": p["fpc"]} if "fpc" in p else {}
    known = people.drop_nulls(name)
    order = known.sort(name)
    height = order["weight"].cum_sum().to_numpy() / order["weight"].sum()
    wide = t.ppf(0.975, _degrees_of_freedom(known, case))
    errors = []
    for quantile in case.expected["estimate"]:
        below = people.with_columns(below=(pl.col(name) <= quantile).cast(pl.Float64))
        data = sdc.read(below, **design(case))
        parts = sdc.utility.indicators(data, data, indicators="mean", variables=["below"], **options).parts
        half = wide * math.sqrt(parts["variance_original"][0])
        ends = parts["estimate_original"][0] + np.array([-half, half])
        low, high = order[name].to_numpy()[np.searchsorted(height, ends)]
        errors.append((high - low) / (2 * wide))
    yield same("woodruff_se by R's rule", errors, case.expected["woodruff_se"], case.relative)


def squares_around_the_mean(case: Case) -> Comparisons:
    """survey with mse = FALSE: squares around the mean of the replicates, not around the full estimate."""
    p, people = case.parameters, frame(case.inputs[0])
    weights, scales = _replicates(people, float(p["scale"])) if "replicates" in p else _one_left_out(people)
    above = people[p["variable"]].to_numpy()
    below = people[p["denominator"]].to_numpy() if "denominator" in p else np.ones(people.height)
    replicates = (weights @ above) / (weights @ below)
    row = estimated(case).row(0, named=True)
    around_mean = math.sqrt(float(scales @ (replicates - replicates.mean()) ** 2))
    around_full = float(scales @ (replicates - row["estimate_original"]) ** 2)
    yield same("se by R's rule", around_mean, case.expected["se"], case.relative)
    yield same("variance by sdckit's rule", row["variance_original"], around_full, case.relative)


def small_sample_factor_before_reweighting(case: Case) -> Comparisons:
    """robustbase widens the raw covariance by its small-sample factor and so keeps other records."""
    x, expected = standardised_numbers(case), case.expected
    found = mcd(x)
    raw = found.raw_covariance * expected["raw_factors"][1]
    away = x - found.raw_location
    kept = x[np.einsum("ij,ij->i", away @ np.linalg.inv(raw), away) <= chi2.ppf(0.975, x.shape[1])]
    covariance = np.cov(kept, rowvar=False) * consistency(len(kept) / len(x), x.shape[1])
    yield same("raw", found.raw_covariance.tolist(), expected["raw"], case.relative)
    yield same("location by R's rule", kept.mean(axis=0), expected["location"], case.relative)
    yield same("reweighted by R's rule", covariance.tolist(), expected["reweighted"], case.relative)


def local_optimum(case: Case) -> Comparisons:
    """R's subset has the smaller determinant and is the better answer; sdckit's is hardly above it."""
    x = standardised_numbers(case)
    reached = log_determinant(x, mcd(x))
    yield not_above("log_det is near", reached, case.expected["log_det"], LOCAL_OPTIMUM)
    yield not_above("R's is better", case.expected["log_det"], reached, 0.0)


def _replicates(people: pl.DataFrame, scale: float) -> tuple[Floats, Floats]:
    """The weights of the ten groups (a row each) and what a square counts."""
    weights = replicated(people).select(f"r{group}" for group in range(GROUPS)).to_numpy().T
    return weights, np.full(GROUPS, scale)


def _one_left_out(people: pl.DataFrame) -> tuple[Floats, Floats]:
    """Jackknife: each cluster left out once, the others of its stratum weighing more for it."""
    stratum, cluster, weight = (people[name].to_numpy() for name in ("stratum", "psu", "weight"))
    rows, scales = [], []
    for h in np.unique(stratum):
        clusters = np.unique(cluster[stratum == h])
        m = len(clusters)
        for left_out in clusters:
            here = stratum == h
            rows.append(np.where(here, np.where(cluster == left_out, 0.0, weight * m / (m - 1)), weight))
            scales.append((m - 1) / m)
    return np.array(rows), np.array(scales)


def _degrees_of_freedom(people: pl.DataFrame, case: Case) -> int:
    """Clusters minus strata."""
    clusters = people["psu"].n_unique() if "cluster" in case.parameters else people.height
    return clusters - (people["stratum"].n_unique() if "strata" in case.parameters else 1)
