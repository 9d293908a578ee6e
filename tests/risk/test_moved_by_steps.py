"""The step of which changes are multiples."""

import numpy as np
import pytest

from sdckit.risk._moved_by_steps import step_of


def draws():
    return np.random.default_rng(4)


@pytest.fixture
def numbers():
    return np.random.default_rng(1).uniform(900, 5000, 400).round(2)


@pytest.mark.parametrize("step", [100.0, 37.13, 0.5])
def test_the_step_is_found(numbers, step):
    moved = numbers + step * draws().integers(-9, 10, 400)
    assert step_of(numbers, moved, draws()) == pytest.approx(step)


@pytest.mark.parametrize("sd", [1e-9, 1e-4, 0.3, 50.0])
def test_noise_has_none(numbers, sd):
    """Also noise that is so small that changes are no whole unit of anything."""
    assert step_of(numbers, numbers + draws().normal(0, sd, 400), draws()) == 0


def test_numbers_that_stayed_or_are_missing_have_none(numbers):
    assert step_of(numbers, numbers, draws()) == 0
    assert step_of(numbers, np.full(400, np.nan), draws()) == 0
