"""By how much one share is above another, and how many records count where households go together."""

import numpy as np
import pytest

from sdckit.risk._uncertainty import beyond, independent, wilson


def test_the_interval_of_a_difference_is_that_of_newcombe():
    """Newcombe (1998), table II: (a) 56/70 − 48/80, (e) 5/56 − 0/29."""
    assert beyond(56 / 70, 70, 48 / 80, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert beyond(5 / 56, 56, 0.0, 29) == pytest.approx((-0.0381, 0.1926), abs=5e-5)


def test_what_is_expected_is_a_sample_too():
    """An excess that is sure beside a known share is not beside a share of 100 people."""
    assert wilson(0.08, 1_000)[0] > 0.05
    assert beyond(0.08, 1_000, 0.05, 100)[0] < 0 < beyond(0.08, 1_000, 0.05, 10_000)[0]
    assert beyond(0.08, 1_000, 0.05, 1_000, files=20)[0] < beyond(0.08, 1_000, 0.05, 1_000)[0]


def test_the_interval_covers_the_true_difference():
    rng = np.random.default_rng(1)
    shares = rng.binomial((400, 200), (0.08, 0.05), size=(4_000, 2)) / (400, 200)
    ends = np.array([beyond(a, 400, b, 200) for a, b in shares])
    covered = (ends[:, 0] <= 0.03) & (ends[:, 1] >= 0.03)
    assert 0.93 < covered.mean() < 0.98


def test_members_who_go_together_count_as_one():
    homes = np.repeat(np.arange(300), 4)
    rng = np.random.default_rng(1)
    alike = np.repeat(rng.random(300) < 0.1, 4)
    assert independent(alike, homes) == pytest.approx(300)
    apart = rng.random(1_200) < 0.1
    assert 900 < independent(apart, homes) <= 1_200
    assert independent(apart, None) == 1_200
    assert independent(np.zeros(1_200, dtype=bool), homes) == 300
