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
