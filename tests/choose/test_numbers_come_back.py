"""Numbers of single persons in files of new records."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.choose.numbers_come_back import most_come_back

N = 1_000


def numbers(values: np.ndarray, home: np.ndarray | None = None) -> sdc.Microdata:
    frame = pl.DataFrame({"sex": np.arange(len(values)) % 2, "x": values})
    if home is None:
        return sdc.read(frame, keys="sex", numeric="x")
    return sdc.read(frame.with_columns(home=pl.Series(home)), keys="sex", numeric="x", household="home")


def incomes(seed: int, scale: float) -> np.ndarray:
    return np.round(np.exp(np.random.default_rng(seed).normal(np.log(scale), 1, N)))


@pytest.mark.parametrize("scale", [500, 5_000, 500_000])
def test_other_people_have_the_same_numbers_by_chance_alone(scale):
    assert not most_come_back(numbers(incomes(1, scale)), [numbers(incomes(2, scale))], "x")


def test_most_numbers_or_most_of_the_largest():
    mine, theirs = incomes(1, 5e5), incomes(2, 5e5)
    for share, told in ((0.3, False), (0.7, True)):
        made = np.where(np.random.default_rng(3).random(N) < share, mine, theirs)
        made[np.argsort(mine)[-5:]] = 7
        assert most_come_back(numbers(mine), [numbers(made)], "x") == told
    assert most_come_back(numbers(mine), [numbers(np.append(theirs, np.sort(mine)[-3:]))], "x")
    assert not most_come_back(numbers(mine), [numbers(np.append(theirs, np.sort(mine)[-2:]))], "x")


def test_what_all_members_of_a_household_share_is_the_number_of_one():
    rent, home = np.repeat(incomes(1, 5e5)[:300], 3), np.repeat(np.arange(300), 3)
    assert most_come_back(numbers(rent, home), [numbers(rent, home)], "x")


def test_a_constant_and_nothing_are_nobodys():
    for values in (np.full(N, 3.0), np.full(N, np.nan)):
        assert not most_come_back(numbers(values), [numbers(values)], "x")


def test_files_that_are_released_together_are_looked_at_together():
    mine = incomes(1, 5e5)
    thirds = [numbers(np.append(mine[i::3], incomes(2 + i, 5e5)[:300])) for i in range(3)]
    assert most_come_back(numbers(mine), thirds, "x")
    assert not most_come_back(numbers(mine), [numbers(incomes(2 + i, 5e3)) for i in range(3)], "x")


@pytest.mark.parametrize("unit", [100, 1_000])
def test_of_turnovers_in_thousands_the_largest_are_looked_at(unit):
    """Most are those of several firms and come back by chance; those of giants do not."""
    mine, theirs = (np.round(incomes(seed, 1e4) / unit) * unit for seed in (1, 2))
    bare = np.where(np.isin(theirs, np.sort(mine)[-5:]), 7, theirs)
    for kept, told in ((5, True), (2, False)):
        made = np.append(bare, np.sort(mine)[-kept:])
        assert most_come_back(numbers(mine), [numbers(made)], "x") == told
    assert (
        sum(
            most_come_back(numbers(mine), [numbers(incomes(s, 1e4) // unit * unit)], "x")
            for s in range(2, 22)
        )
        == 0
    )


def test_the_highest_ages_come_back_by_chance():
    draw = np.random.default_rng(1)
    ages = [np.clip(draw.normal(45, 18, 300).round(), 0, 100) for _ in range(40)]
    told = [most_come_back(numbers(a), [numbers(b)], "x") for a, b in zip(ages[::2], ages[1::2], strict=True)]
    assert sum(told) <= 1


def test_the_largest_numbers_are_asked_about_in_the_verdict():
    turnover = np.round(incomes(1, 1e4) / 1_000) * 1_000
    data = numbers(turnover)
    copied = sdc.assess(data, numbers(turnover), linked=False, max_risk=0.05).verdict
    assert next(c.status for c in copied if c.name == "numbers that come back") == "not met"
