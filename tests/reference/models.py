"""Gaussian mixtures and the minimum covariance determinant (MCD)."""

import numpy as np
import numpy.typing as npt

from reference.cases import Case, frame
from reference.comparison import Comparisons, fingerprint, not_above, same
from sdckit.models.gaussian_mixture import run_em
from sdckit.models.mcd import Mcd, mcd
from sdckit.models.mixture_families import Family
from sdckit.models.small_sample import small_sample_factor
from sdckit.models.trimmed_mixture import trimmed_mixture

Floats = npt.NDArray[np.float64]

LOWER = 0.01  # a log-likelihood may be lower than R's by this: EM has many ends
HIGHER = 1e-7  # a log determinant may be higher by this


def mixtures(case: Case) -> Comparisons:
    """Mclust of mclust: with nothing trimmed, the 14 families reach its log-likelihood."""
    p, expected = case.parameters, case.expected
    # with one component nothing varies between components: V is E
    family = Family(p["family"].replace("V", "E") if p["G"] == 1 else p["family"])
    x = np.ascontiguousarray(frame(case.inputs[0]).to_numpy())
    found = trimmed_mixture(x, trim=0.0, smallest=1, components=(p["G"],), families=(family,))
    assert found is not None, "no mixture was fitted"
    first = found.mixture
    fit = run_em(x, family, first.posterior(x), first, steps=1_000)
    assert fit is not None, "EM went astray"
    yield same("df", Family(p["family"]).parameters(p["G"], x.shape[1]), expected["df"], 0.0)
    if p["G"] == 1:
        yield same("loglik", fit.log_likelihood, expected["loglik"], case.relative)
        yield same("bic", fit.bic, expected["bic"], case.relative)
    else:
        yield not_above("loglik", -fit.log_likelihood, -expected["loglik"], LOWER)
        yield not_above("bic", -fit.bic, -expected["bic"], 2 * LOWER)


def standardised_numbers(case: Case) -> Floats:
    """The first records of a file, in standard deviations from the mean."""
    p = case.parameters
    x = frame(case.inputs[0]).head(p["records"]).select(p["variables"]).to_numpy().astype(float)
    return np.asarray((x - x.mean(axis=0)) / x.std(axis=0, ddof=1))


def log_determinant(x: Floats, found: Mcd) -> float:
    """Of the covariance of the subset: the MCD is the subset that makes it smallest."""
    return float(np.linalg.slogdet(np.cov(x[found.support], rowvar=False))[1])


def minimum_determinant(case: Case) -> Comparisons:
    """covMcd of robustbase: of all subsets in small files, the best of 200 searches in large ones."""
    expected, limit, x = case.expected, case.relative, standardised_numbers(case)
    found = mcd(x)
    # R's covariances are stored without these, which are stored as the second of two factors
    first, second = (small_sample_factor(*x.shape, 0.5, reweighted=late) for late in (False, True))
    reached = log_determinant(x, found)
    for name in ("log_det", "log_det_median", "log_det_worst"):
        yield not_above(name, reached, expected[name], HIGHER)
    yield same("h", int(found.support.sum()), expected["h"], 0.0)
    yield same("subset", fingerprint(found.support), expected["subset"], limit)
    yield same("raw_factor", first, expected["raw_factors"][1], limit)
    yield same("factor", second, expected["factors"][1], limit)
    yield same("raw", (found.raw_covariance / first).tolist(), expected["raw"], limit)
    yield same("reweighted", (found.covariance / second).tolist(), expected["reweighted"], limit)
    yield same("location", found.location.tolist(), expected["location"], limit)
