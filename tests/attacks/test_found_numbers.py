"""Noise that leaves part of a number as it was."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.test_found import verdict
from sdckit.models.few_changes import attack_few_changes, few_changes
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


AMOUNTS = np.array([-312.41, 77.77, 1_205.02, 560.5, -45.13])
FACTORS = np.array([0.731, 1.19, 1.514, 0.66, 0.933])


def changed(data: sdc.Microdata, kind: str, share: float = 1.0) -> sdc.Microdata:
    """One of five amounts, or factors, for some persons, and noise for the others."""
    draw = np.random.default_rng(3)
    pay, which = data.frame["pay"].to_numpy(), draw.integers(0, 5, N)
    made = pay + AMOUNTS[which] if kind == "amounts" else pay * FACTORS[which]
    made = np.where(draw.random(N) < share, made, pay + draw.normal(0, 2_000, N))
    return data.with_frame(data.frame.with_columns(pay=pl.Series(np.round(made, 2))))


@pytest.mark.parametrize("kind", ["amounts", "factors"])
@pytest.mark.parametrize(("share", "least"), [(1.0, 0.9), (0.3, 0.25)])
def test_one_of_a_few_amounts_or_factors(kind, share, least):
    """A density shows nothing of them, but each person has five numbers to be looked up."""
    data = people()
    table = sdc.risk.reidentification_risk(data, changed(data, kind, share)).tables["intruders"]
    assert table.filter(intruder="register")["value"][0] > least


def test_few_changes_find_what_enumeration_finds():
    draw = np.random.default_rng(4)
    x = [draw.integers(0, 400, 300) / 1.0, draw.integers(0, 400, 300) / 1.0]
    own = np.append(draw.permutation(299), -1)
    y = [np.empty(299), np.empty(299)]
    for a, b in zip(x, y, strict=True):
        b[own[:-1]] = a[:-1] + draw.choice([-50.0, 0.0, 31.0, 200.0], 299)
    y[1][:20] += 7  # so that the first column tells more, and is asked first
    cells = draw.integers(0, 2, 300)
    of_records = np.empty(299, dtype=np.int64)
    of_records[own[:-1]] = cells[:-1]
    given = {"cells": (cells, of_records), "weights": np.ones(299), "targets": np.arange(300)}
    found = attack_few_changes(x, y, own, **given, draws=np.random.default_rng(1))
    one, two = (few_changes(a[:-1], b[own[:-1]], np.random.default_rng(1)) for a, b in zip(x, y, strict=True))
    assert sorted(one.amounts) == [-50, 0, 31, 200]

    def likely(changes, a, b):
        return sum(
            s * (np.abs(b - a - d) < 0.5) for d, s in zip(changes.amounts, changes.shares, strict=True)
        )

    same = cells[:, None] == of_records[None, :]
    first = likely(one, x[0][:, None], y[0][None, :]) * same
    share = first / np.maximum(first.sum(axis=0), 1e-9) * (likely(two, x[1][:, None], y[1][None, :]) + 1e-6)
    top = share >= (1 - 1e-8) * share.max(axis=1, keepdims=True)
    right = [(j >= 0 and row[j]) / row.sum() for row, j in zip(top, own, strict=True)]
    assert found.found == pytest.approx(np.array(right, dtype=float))
    assert found.value > 0.8


def two_numbers() -> sdc.Microdata:
    draw = np.random.default_rng(1)
    numbers = {c: np.round(draw.lognormal(m, 0.6, N)) for c, m in (("turnover", 7.5), ("wages", 6.5))}
    return sdc.read(
        pl.DataFrame({"branch": draw.choice(["a", "b"], N), **numbers}), keys="branch", numeric=list(numbers)
    )


DRAW = np.random.default_rng(5)
FACTOR, OTHER = np.exp(DRAW.normal(0, 0.7, (2, N)))
AMOUNT = DRAW.normal(0, 3_000, N).round()
SOME = DRAW.random(N) < 0.4
TOGETHER = {
    "one factor": (FACTOR, FACTOR, 0.0),
    "one factor, rounded": (FACTOR, FACTOR, 0.5),
    "a factor and its inverse": (FACTOR, 1 / FACTOR, 0.0),
    "a factor and its square": (FACTOR, FACTOR**2, 0.5),
    "one factor for some": (FACTOR, np.where(SOME, FACTOR, OTHER), 0.0),
}


@pytest.mark.parametrize("kind", list(TOGETHER))
def test_numbers_of_a_person_that_moved_together(kind):
    """Ratios, or products, stand in the file as they were."""
    data = two_numbers()
    first, second, rounded = TOGETHER[kind]
    made = {"turnover": data.frame["turnover"] * first, "wages": data.frame["wages"] * second}
    made = {c: v.round() if rounded else v for c, v in made.items()}
    table = sdc.risk.reidentification_risk(data, data.with_frame(data.frame.with_columns(**made))).tables[
        "intruders"
    ]
    assert table.filter(intruder="register")["value"][0] > 0.3


def test_one_amount_for_both_numbers_of_some():
    data = two_numbers()
    amounts = pl.Series(AMOUNT), pl.Series(np.where(SOME, AMOUNT, -AMOUNT[::-1]))
    made = data.with_frame(
        data.frame.with_columns(pl.col("turnover") + amounts[0], pl.col("wages") + amounts[1])
    )
    found = sdc.risk.reidentification_risk(data, made)
    assert found.tables["intruders"].filter(intruder="register")["value"][0] > 0.25
    assert any("turnover − wages" in note for note in found.notes)


def test_numbers_that_moved_apart_are_found_no_more_often():
    data = two_numbers()
    made = data.with_frame(data.frame.with_columns(pl.col("turnover") * FACTOR, pl.col("wages") * OTHER))
    found = sdc.risk.reidentification_risk(data, made)
    assert not any("were used" in note for note in found.notes)
    assert found.tables["intruders"].filter(intruder="register")["value"][0] < 0.05


def test_changes_that_are_not_a_few():
    """Many changes that come a few times each, noise that is smaller than a unit, and nothing at all."""
    draw = np.random.default_rng(6)
    x = draw.lognormal(7, 0.6, N).round(2)
    for y in (x, x + draw.normal(0, 0.02, N), x * draw.normal(1, 1e-4, N), np.full(N, np.nan)):
        found = few_changes(x, y, np.random.default_rng(1))
        assert found is None or found.amounts.size
