"""Noise that leaves part of a number as it was."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.test_found import verdict
from sdckit.risk._moved_by_steps import step_of

N = 1_000


def people() -> sdc.Microdata:
    draw = np.random.default_rng(1)
    pay = np.round(draw.lognormal(7.5, 0.6, N), 2)
    return sdc.read(pl.DataFrame({"sex": draw.choice(["f", "m"], N), "pay": pay}), keys="sex", numeric="pay")


def moved(data: sdc.Microdata, step: float, *, share: float = 1.0) -> sdc.Microdata:
    """Noise as large as the pay itself, in multiples of a step for some, and as it comes for the others."""
    draw = np.random.default_rng(2)
    noise = draw.normal(0, 2_000, N)
    noise = np.where(draw.random(N) < share, step * np.round(noise / step), noise)
    return data.with_frame(data.frame.with_columns((pl.col("pay") + pl.Series(noise)).round(2)))


@pytest.mark.parametrize("step", [100, 37.13])
def test_noise_in_multiples_of_a_step(step):
    """The last digits stand there as they were, and hardly two persons have the same."""
    data = people()
    safe = moved(data, step)
    last = [np.round(d.frame["pay"].to_numpy() * 100) % round(step * 100) for d in (data, safe)]
    alone = np.isin(
        last[0], [v for v, n in zip(*np.unique(last[0], return_counts=True), strict=True) if n == 1]
    )
    assert (alone & (last[0] == last[1])).mean() > 0.6
    assert not verdict(data, safe, accept={"claims": 1}).releasable
    table = sdc.risk.reidentification_risk(data, safe).tables["intruders"]
    assert table.filter(intruder="register")["value"][0] > 0.9


@pytest.mark.parametrize(("share", "least"), [(0.67, 0.6), (0.2, 0.15)])
def test_multiples_for_some_persons(share, least):
    data = people()
    table = sdc.risk.reidentification_risk(data, moved(data, 100, share=share)).tables["intruders"]
    assert table.filter(intruder="register")["value"][0] > least


def test_steps_of_numbers_with_many_digits_and_of_ages():
    draw = np.random.default_rng(1)
    exact, age = draw.lognormal(7, 1, N), draw.integers(16, 90, N).astype(float)
    steps = draw.integers(-20, 20, N)
    assert step_of(exact, exact + 250 * steps, draw) == 250
    assert step_of(age, age + 5 * steps, draw) == 5
    assert step_of(age, age + steps, draw) == 0
    assert step_of(exact, exact + draw.normal(0, 9, N), draw) == 0
    assert step_of(np.round(exact), np.round(exact, -2), draw) == 0


def test_noise_as_it_comes_has_no_step():
    data = people()
    found = sdc.risk.reidentification_risk(data, moved(data, 100, share=0.0))
    assert not any("multiples" in note for note in found.notes)
    assert verdict(data, moved(data, 100, share=0.0), accept={"claims": 2}).releasable
