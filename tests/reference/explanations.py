"""Why known differences differ: R's figures from its own rule, or a proof that sdckit's are no worse.

Each function yields comparisons that must agree for its explanation to hold.
"""

import math

import numpy as np
import polars as pl
from scipy.stats import norm

import sdckit as sdc
from reference.cases import Case, frame, numbers
from reference.comparison import Comparisons, fingerprint, not_above, same
from reference.risks import diversities
from reference.synthetic import fitted, propensity

DIVERGED = 0.25  # the pMSE where every score is 0 or 1
STOPPED = 0.01513556  # the pMSE of R's glm after 12 steps, before it diverges


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


def one_search(case: Case) -> Comparisons:
    """The best of 100 searches gives sdckit's figure, not sdcMicro's."""
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
        yield same(f"se_{name} by R's rule", factor * found["original_se"], expected[f"se_{name}"], 1e-5)
    yield same("mean overlap by R's rule", overlap.mean(), expected["mean_overlap_population"], 1e-5)
