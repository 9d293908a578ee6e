"""Protection of numbers and categories: what R loses, and what happens on average."""

import math

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.stats import norm, rankdata

import sdckit as sdc
from reference.cases import Case, frame, names_in
from reference.comparison import ZERO, Comparisons, at_most, not_above, same, same_average
from sdckit.protect.pram import invariant_matrix, spread_evenly

Floats = npt.NDArray[np.float64]

DRAWS = 100  # of noise and swapping; R made 200
SHUFFLES = 40
MOVED = 2.0  # standard errors by which an average of correlations may be farther off than R's
METHODS = {
    "mdav": "mdav",
    "pca": "pca",
    "onedims": "individual_ranking",
    "rmd": "robust",
    "clustpppca": "cluster",
}


def microaggregation(case: Case) -> Comparisons:
    """microaggregation of sdcMicro: sdckit may group better, and means stay."""
    p = case.parameters
    values = frame(case.inputs[0]).select(pl.col(p["variables"]).cast(pl.Float64))
    data = sdc.read(values, numeric=p["variables"])
    made = sdc.protect.microaggregate(data, k=p["aggr"], method=METHODS[p["method"]])
    x, y = values.to_numpy(), made.frame.to_numpy()
    squares = float((((x - y) / x.std(axis=0, ddof=1)) ** 2).sum())
    yield at_most("sse", squares, case.expected["sse"], 1e-9)
    yield same("means", y.mean(axis=0), case.expected["means"], 1e-9)


def perturbation(case: Case) -> Comparisons:
    """addNoise, rankSwap and pram of sdcMicro."""
    if "noise" in case.parameters:
        return _noise(case)
    return _rank_swap(case) if "ranks" in case.parameters else _pram(case)


def _noise(case: Case) -> Comparisons:
    """Covariances after noise; R's `noise` is percent of the SD (additive) or the variance (correlated)."""
    p, values = case.parameters, frame(case.inputs[0])
    size = p["noise"] / 100
    amount = {"sd": size} if p["method"] == "additive" else {"variance": size}
    data, x = sdc.read(values, numeric=p["variables"]), values.to_numpy()
    unit = np.outer(x.std(axis=0, ddof=1), x.std(axis=0, ddof=1))
    column, row = np.triu_indices(x.shape[1])  # the lower triangle by column, as R has it
    draws = []
    for draw in range(DRAWS):
        made = sdc.protect.add_noise(data, method=p["method"], rng=draw, **amount)
        draws.append((np.cov(made.frame.to_numpy(), rowvar=False) / unit)[row, column])
    yield same_average("mean", draws, case.expected["mean"], case.expected["se"])
    yield same_average("exact", draws, case.expected["exact"], 0.0)


def _rank_swap(case: Case) -> Comparisons:
    """How far ranks move; R's window ends one rank before P·n, and sdckit is given R's window."""
    n, expected = case.parameters["ranks"], case.expected
    before = np.random.default_rng(9).permutation(n) + 1.0
    data = sdc.read(pl.DataFrame({"u": before}), numeric=["u"])
    moved, kept = [], True
    for draw in range(DRAWS):
        made = sdc.protect.rank_swap(data, rank_distance=expected["farthest"] / n, rng=draw)
        after = made.frame["u"].to_numpy()
        moved.append(np.abs(after - before))
        kept &= bool((np.sort(after) == np.sort(before)).all())
    yield same("margin_kept", float(kept), expected["margin_kept"], 0.0)
    yield same("farthest", max(distance.max() for distance in moved), expected["farthest"], 0.0)
    yield same_average("mean", [distance.mean() for distance in moved], expected["mean"], expected["se"])


def _pram(case: Case) -> Comparisons:
    """Rows add up to 1 and margins stay, as in R. R draws its matrix: the entries are not compared."""
    p, expected = case.parameters, case.expected
    counts = frame(case.inputs[0]).group_by(p["variable"]).len().sort(p["variable"])["len"]
    share = counts.to_numpy() / counts.sum()
    stay = np.full(len(counts), p["pd"])
    drawn = invariant_matrix(counts.to_numpy().astype(float), spread_evenly(stay))
    matrix = p["alpha"] * drawn + (1 - p["alpha"]) * np.eye(len(counts))
    yield same("levels", len(counts), len(expected["levels"]), 0.0)
    yield same("rows", matrix.sum(axis=1), np.ones(len(counts)), ZERO)
    yield same("margins", share @ matrix, share, ZERO)
    yield same("rows_off_1", 0.0, expected["rows_off_1"], 0.0)
    yield same("margins_off", 0.0, expected["margins_off"], 0.0)


def shuffling(case: Case) -> Comparisons:
    """shuffle of sdcMicro (method ds): correlations of ranks and of normal scores after shuffling."""
    p, expected = case.parameters, case.expected
    predictors = names_in(p["predictors"])
    names = [*names_in(p["response"]), *predictors]
    values = frame(case.inputs[0]).select(pl.col(names).cast(pl.Float64))
    data, x = sdc.read(values, numeric=names_in(p["response"])), values.to_numpy()
    before, half = _correlations(x), math.comb(len(names), 2)
    theirs = np.abs(np.array(expected["mean"]) - before)
    draws: dict[str, list[Floats]] = {"ranks": [], "scores": []}
    kept = True
    for kind, found in draws.items():
        for draw in range(SHUFFLES):
            made = sdc.protect.shuffle(data, predictors=predictors, correlations=kind, rng=draw)
            y = made.frame.select(names).to_numpy()
            kept &= bool((np.sort(y, axis=0) == np.sort(x, axis=0)).all())
            found.append(_correlations(y))
    yield same("before", before, [*expected["spearman_before"], *expected["scores_before"]], 1e-10)
    yield same("margins_kept", float(kept), float(expected["margins_kept"]), 0.0)
    yield same_average("mean", draws["ranks"], expected["mean"], expected["se"])
    ranks, scores = (np.abs(np.mean(draws[kind], axis=0) - before) for kind in ("ranks", "scores"))
    error = float(np.std(draws["ranks"], axis=0)[:half].max()) / math.sqrt(SHUFFLES)  # some 0.006
    yield not_above("spearman_moved", ranks[:half].max(), theirs[:half].max(), MOVED * error)
    yield at_most("scores_moved", scores[half:].max(), theirs[half:].max())


def _correlations(x: Floats) -> Floats:
    """Of ranks, then of normal scores, each the lower triangle by column."""
    ranks = np.apply_along_axis(rankdata, 0, x)
    scores = norm.ppf((ranks - 0.5) / len(x))
    column, row = np.triu_indices(x.shape[1], 1)
    return np.concatenate([np.corrcoef(m, rowvar=False)[row, column] for m in (ranks, scores)])
