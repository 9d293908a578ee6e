"""Figures and options of measures in plain words."""

import re
from collections.abc import Mapping
from typing import Any

from sdckit._support.number_text import number, percent
from sdckit.methods.spec import Spec

# by name, or by measure and name where measures mean different things by it
FIGURES: Mapping[str, str] = {
    "above_threshold": "Records above the threshold",
    "any": "Records with at least one number inside",
    "attribute_disclosure.cap": "Right guesses from the synthetic file (CAP)",
    "attribute_disclosure.cap_found": "Right guesses where the keys occur in it",
    "attribute_disclosure.original_cap": "Right guesses from the original itself",
    "attribute_disclosure.baseline_cap": "Right guesses without any file",
    "attribute_disclosure.disco": "Disclosed and right (DiSCO)",
    "attribute_disclosure.tcap": "Right where the synthetic file leaves one value (TCAP)",
    "attribute_disclosure.replicated_uniques": "Unique records that came back unique",
    "auc": "Chance to tell a protected from an original record (AUC; 0.5: pure guessing)",
    "by_chance": "Right by guessing",
    "cells_born": "Cells that were empty before",
    "cells_died": "Cells that are empty now",
    "certain": "Certain links (nearest and alone)",
    "closer_expected": "Closer to the original, expected",
    "closer_high": "Closer to the original, at most",
    "closer_low": "Closer to the original, at least",
    "closer_to_original": "Closer to the original than to the records kept back",
    "coefficients": "Coefficients of the model",
    "complete_pairs": "Only over values present in both files",
    "contained": "Estimates inside the original interval",
    "contingency_loss.raw": "Changes added over all cells",
    "copies": "Copies of an original record",
    "cramer_von_mises": "Cramér–von Mises distance",
    "cramers_v_change": "Change of Cramér's V (strength of association)",
    "distribution_distance.wasserstein": "Wasserstein distance (standard deviations)",
    "du_max": "Largest difference (DU)",
    "du_sq": "Mean squared difference (DU)",
    "duw_max": "Largest difference, weighted (DUW)",
    "duw_sq": "Mean squared difference, weighted (DUW)",
    "entropy.loss": "Lost",
    "entropy.original": "In the original",
    "entropy.protected": "In the protected file",
    "entropy_loss.share": "Share of the entropy that is lost",
    "excess": "Too close, beyond what real people are",
    "expected_by_chance": "Expected of two samples of one population",
    "fit_check": "Check of the model (within ±2: fits)",
    "hellinger": "Hellinger distance (0 the same, 1 nothing in common)",
    "high": "At most (95 % interval)",
    "highest": "Highest risk of a record",
    "highest_dis": "Highest DIS score: probability that a unique match is right",
    "identification_risk.between_sets": "Standard deviation between the sets",
    "interval_disclosure.inside": "Records with all numbers inside",
    "kolmogorov_smirnov": "Largest difference (Kolmogorov–Smirnov)",
    "mean_difference_percent": "Mean difference in percent",
    "leaves": "Leaves of the tree",
    "linked": "Records linked correctly",
    "lost": "Overlap that is lost",
    "low": "At least (95 % interval)",
    "match_probability": "Probability that a unique match is right",
    "minimal_uniques": "Minimal sets of keys that single a record out",
    "not_robust": "Strata tested without outlier-resistant estimates",
    "outlier_disclosure.inside": "Records inside the interval, whatever their neighbours",
    "outlier_disclosure.outliers": "Records that are outliers",
    "outlier_disclosure.weighted_at_risk": "Records at risk, counted by how far out they lie",
    "outlier_disclosure.weighted_inside": "Records inside, counted by how far out they lie",
    "outliers_at_risk": "Outliers at risk",
    "overlap_of_common": "Overlap over the coefficients of both files",
    "per_record": "Uncertainty of one value (0.69: as uncertain as a coin)",
    "percent_sum": "Changes in percent, added over all values",
    "pmse_ratio": "Value as a multiple of what a perfect synthesis gives",
    "population_uniques.population": "Population (sum of the weights)",
    "population_uniques.population_uniques": "Unique people in the population",
    "records_original": "Records used, original",
    "records_protected": "Records used, protected",
    "reference_copies": "Copies among the originals themselves",
    "reference_share": "The same of real people among each other",
    "rows": "Estimates compared",
    "sample_uniques": "Records unique in the file",
    "second": "Own record among the nearest two",
    "share_protected": "Protected records among all",
    "smallest_entropy": "Smallest entropy l (1: only one value)",
    "smallest_recursive": "Smallest recursive l",
    "standardised": "Standard deviations from what a perfect synthesis gives",
    "sum_dis": "DIS scores, added",
    "tau1": "Unique in the file and in the population (τ1)",
    "tau1_share": "Share of the records (τ1)",
    "tau2": "Right links if doubles are picked at random (τ2)",
    "tau2_share": "Share of the records (τ2)",
    "third": "Own record among the nearest three",
    "unmatched": "Records that fit nobody",
    "ut": "Mean change of a cell (UT)",
    "ut2": "Mean change of a cell in percent (UT2)",
    "violating_share": "Share of the records that violate it",
    "violations": "Records that violate it",
    "violations_if_blank_is_a_value": "Records below k if a blank is a value",
    "wasserstein": "Wasserstein distance",
    **{f"violations_{k}": f"Records below k = {k}" for k in (2, 3, 5)},
}
MATRICES = {"x": "values", "v": "covariances", "r": "correlations", "rf": "correlations of the components"}
MATRICES |= {"c": "communalities", "f": "factor scores"}
DEVIATIONS = {"mse": "Mean squared change", "mae": "Mean absolute change", "mvar": "Mean relative change"}
# run from 0 to 1 without being a share of anything
DISTANCES = {"hellinger", "mean_distance"}

# {} is the value; empty: says nothing that a reader needs
OPTIONS: Mapping[str, str] = {
    "missing_weight": "a match by a missing value counts as {}",
    "alpha": "test level {}",
    "atypical_records.components": "mixtures of up to {} distributions",
    "attribute_disclosure.threshold": "disclosed from a share of {} on",
    "bins": "{} intervals",
    "c": "recursive with c = {}",
    "components": "principal components: {}",
    "dis_fraction": "sampling fraction: {}",
    "formula": "formula: {}",
    "groups": "clusters asked for: {}",
    "indicators": "indicators: {}",
    "interval": "intervals: {}",
    "interval_disclosure.spread": "",
    "interval_disclosure.method": "",
    "k": "k = {}",
    "l": "at least {} values asked for",
    "level": "confidence {}",
    "missing_sensitive": "missing sensitive values: {}",
    "neighbour": "close neighbours: within {} standard deviations",
    "order": "tables of up to {} variables",
    "outlier_disclosure.inside": "inside on {} variable",
    "outlier_disclosure.width": "width {}, wider the farther out a record lies",
    "permutations": "{} random permutations",
    "replicates": "{} replicates",
    "t": "violated above a distance of t = {}",
    "threshold": "threshold: {}",
}
MISSING = {
    "wildcard": "a missing value matches any value",
    "category": "missing is a category",
    "nothing": "a missing value matches nothing",
    "drop": "records with a missing value are left out",
    "whole": "missing values are in no category, but counted",
    "complete": "only records without missing values",
}
METHODS = {
    "sd": "standard deviations of the variable",
    "rank": "of the records up and down in order",
    "percent": "of the protected value",
}
SHARES = {"level", "threshold"}


def figure_words(spec: Spec, name: str) -> str:
    """A figure's name as people read it.

    >>> from sdckit.methods.registry import find
    >>> figure_words(find("record_linkage"), "by_chance"), figure_words(find("il1"), "my_own")
    ('Right by guessing', 'My own')
    """
    known = FIGURES.get(f"{spec.name}.{name}", FIGURES.get(name))
    if known is None and spec.name == "matrix_discrepancy":
        kind, _, matrix = name.partition("_")
        if kind in DEVIATIONS and matrix in MATRICES:
            known = f"{DEVIATIONS[kind]} of {MATRICES[matrix]}"
    words = known or re.sub("_+", " ", name).strip()
    return words[:1].upper() + words[1:]


def figure_in_percent(spec: Spec, name: str) -> bool:
    """Whether a figure is a share, and so shown in percent."""
    return spec.figure(name).share and name not in DISTANCES


def option_words(spec: Spec, options: Mapping[str, Any]) -> str:
    """The options of a measure in one line; of those that are not in the table above name and value."""
    texts = [_option(spec, name, value, options) for name, value in options.items()]
    return "; ".join(text for text in texts if text)


def _option(spec: Spec, name: str, value: Any, options: Mapping[str, Any]) -> str:
    if name == "missing_weight" and value == 1:  # a match like any other
        return ""
    if name == "missing" and str(value) in MISSING:
        return MISSING[str(value)]
    if name == "width" and spec.name == "interval_disclosure":
        return f"interval of ± {number(value)} {METHODS.get(str(options.get('method')), '')}".rstrip()
    text = OPTIONS.get(f"{spec.name}.{name}", OPTIONS.get(name, f"{name.replace('_', ' ')} = {{}}"))
    return text.format(_word(value, share=name in SHARES)) if text else ""


def _word(value: Any, *, share: bool) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return percent(value) if share and 0 <= value <= 1 else number(value)
    return str(value)
