"""Superpopulation models: closed forms, brute force and populations drawn from the models."""

import math
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import nbinom

from sdckit.models import superpopulation
from sdckit.models.superpopulation import (
    CellSizes,
    _log_likelihood,
    _log_rising,
    _pitman_at,
    _reciprocals,
    hoshino,
    pitman,
    snb,
    zayatz,
)

MODELS = [zayatz, pitman, hoshino, snb]


@settings(max_examples=150, deadline=None)
@given(
    records=st.lists(st.integers(1, 30), min_size=1, max_size=40),
    factor=st.sampled_from([1.0, 1.01, 2.0, 50.0, 1e5]),
)
@pytest.mark.parametrize("model", MODELS)
def test_finite_and_in_bounds_or_a_note(model, records, factor):
    sizes = CellSizes.of(np.array(records), sum(records) * factor)
    found = model(sizes)
    if math.isnan(found.tau1):
        assert found.note
        return
    alone = records.count(1)
    assert -1e-9 <= found.tau1 <= found.tau2 + 1e-9 <= alone + 2e-9
    if factor == 1:
        assert found.tau1 == found.tau2 == alone


def test_zayatz_by_counting_samples():
    records, total = np.array([1, 1, 1, 2, 3]), 20
    n = 8
    chance = {j: j * comb(total - j, n - 1) / comb(total, n) for j in (1, 2, 3)}
    weight = {1: 3 * chance[1], 2: chance[2], 3: chance[3]}
    found = zayatz(CellSizes.of(records, total))
    assert found.tau1 == pytest.approx(3 * weight[1] / sum(weight.values()))
    assert found.tau2 == pytest.approx(3 * sum(w / j for j, w in weight.items()) / sum(weight.values()))
    assert found.uniques == pytest.approx(found.tau1 * total / n)


def test_pitman_is_at_the_maximum():
    records = np.repeat([1, 2, 3, 5, 9], [40, 12, 6, 3, 1])
    sizes = CellSizes.of(records, 5000)
    at = pitman(sizes).parameters
    best = _log_likelihood(sizes, at["alpha"], at["theta"])
    for alpha in (-0.01, 0, 0.01):
        for theta in (-0.5, 0, 0.5):
            assert _log_likelihood(sizes, at["alpha"] + alpha, at["theta"] + theta) <= best + 1e-9


def test_pitman_expectations_by_brute_force():
    # cells of four people, by the rule of Pitman's process: a new cell with probability (θ+kα)/(θ+i)
    alpha, theta, total = 0.3, 2.0, 4
    expected = dict.fromkeys(range(1, total + 1), 0.0)

    def grow(cells, chance):
        i = sum(cells)
        if i == total:
            for size in cells:
                expected[size] += chance
            return
        grow([*cells, 1], chance * (theta + len(cells) * alpha) / (theta + i))
        for c, size in enumerate(cells):
            bigger = [*cells[:c], size + 1, *cells[c + 1 :]]
            grow(bigger, chance * (size - alpha) / (theta + i))

    grow([1], 1.0)
    sizes = CellSizes.of(np.array([1, 1]), total)
    found = _pitman_at(sizes, alpha, theta)
    assert found.uniques == pytest.approx(expected[1])
    assert found.tau1 == pytest.approx(expected[1] / 2)
    assert found.tau2 == pytest.approx(sum(s * 0.5 * 0.5 ** (j - 1) for j, s in expected.items()))


def test_hoshino_recovers_the_parameters_from_expected_counts():
    n, alpha, theta = 10_000, 0.6, 200.0
    rise = _log_rising
    s1 = n * math.exp(rise(theta + alpha, n - 1) - rise(theta + 1, n - 1))
    s2 = n * (n - 1) / 2 * (1 - alpha) * math.exp(rise(theta + alpha, n - 2) - rise(theta + 1, n - 1))
    cells = theta / alpha * (math.exp(rise(theta + alpha, n) - rise(theta, n)) - 1)
    rest = cells - s1 - s2  # the sizes of the others do not matter beyond their sum
    counts = [round(s1), round(s2), round(rest) - 1, 1]
    mean = (n - counts[0] - 2 * counts[1]) / (counts[2] + 1)
    sizes = [1, 2, round(mean), n - counts[0] - 2 * counts[1] - counts[2] * round(mean)]
    found = hoshino(CellSizes(np.array(sizes), np.array(counts), 1e6))
    assert found.parameters["alpha"] == pytest.approx(alpha, abs=0.01)
    assert found.parameters["theta"] == pytest.approx(theta, rel=0.02)


def test_snb_solves_its_equations():
    records = np.repeat([1, 2, 3, 4, 6], [60, 25, 12, 5, 2])
    sizes = CellSizes.of(records, 800)
    found = snb(sizes)
    at, pi = found.parameters, sizes.fraction
    j = np.arange(1, 3000)
    chance = nbinom.pmf(j - 1, at["shape"], 1 - at["p"])
    assert at["cells"] * (chance * j).sum() == pytest.approx(800)
    assert at["cells"] * (chance * (1 - (1 - pi) ** j)).sum() == pytest.approx(sizes.cells)
    assert at["cells"] * (chance * j * pi * (1 - pi) ** (j - 1)).sum() == pytest.approx(60)
    assert found.uniques == pytest.approx(at["cells"] * chance[0])
    assert found.tau2 == pytest.approx(at["cells"] * (chance * pi * (1 - pi) ** (j - 1)).sum())


def test_models_recover_a_population_of_their_kind():
    rng = np.random.default_rng(1)
    people = 1 + rng.negative_binomial(0.5, 0.2, 30_000)
    cell = rng.permutation(np.repeat(np.arange(len(people)), people))[: people.sum() // 3]
    met, records = np.unique(cell, return_counts=True)
    alone = people[met[records == 1]]
    sizes = CellSizes.of(records, people.sum())
    for model, within in [(snb, 0.05), (pitman, 0.1)]:
        found = model(sizes)
        assert found.tau1 == pytest.approx((alone == 1).sum(), rel=within)
        assert found.tau2 == pytest.approx((1 / alone).sum(), rel=within)
    assert zayatz(sizes).tau1 > (alone == 1).sum()


@pytest.mark.parametrize(("x", "k"), [(0.7, 5), (9_999.0, 300), (10_001.0, 300), (5e4, 100_000)])
def test_long_products_and_sums(x, k):
    terms = x + np.arange(k)
    assert _log_rising(x, k) == pytest.approx(np.log(terms).sum(), rel=1e-11)
    assert _reciprocals(x, k) == pytest.approx((1 / terms).sum(), rel=1e-11)


def test_no_solution_is_said():
    assert "no solution" in hoshino(CellSizes.of(np.array([1, 1, 3]), 100)).note
    assert "Every record is unique" in pitman(CellSizes.of(np.ones(5, int), 100)).note
    assert "Every record is unique" in snb(CellSizes.of(np.ones(5, int), 100)).note


def test_pitman_in_a_population_of_any_size():
    """Its sizes are more than memory holds, and differences of large logarithms had no digits."""
    records = np.array([1] * 60 + [2] * 10 + [3] * 5 + [20] * 2)
    near, far = (pitman(CellSizes.of(records, size)) for size in (1e9, 1e18))
    alpha = near.parameters["alpha"]
    assert far.uniques / near.uniques == pytest.approx(1e9**alpha, rel=1e-5)  # S₁ grows as N^α
    assert far.tau2 / near.tau2 == pytest.approx(1e9 ** (alpha - 1), rel=1e-5)


def test_grouped_cell_sizes_add_up_as_single_ones():
    sizes, width = superpopulation._sizes_up_to(2_000_000)
    single = np.arange(1, 2_000_001, dtype=np.float64)
    assert float((width * sizes**-1.5).sum()) == pytest.approx(float((single**-1.5).sum()), rel=1e-9)
