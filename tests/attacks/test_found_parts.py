"""Categories of which a part stayed though they were drawn anew."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc

N = 1_200
DRAW = np.random.default_rng(1)
FIRST, LAST, BAND = DRAW.integers(1, 10, N), DRAW.integers(10, 30, N), DRAW.integers(0, 10, N)
SEX = DRAW.choice(["f", "m"], N)
REGION = DRAW.integers(0, 40, N)


@pytest.fixture
def draw():
    return np.random.default_rng(2)


def found(true, released) -> sdc.Result:
    frames = [pl.DataFrame({"sex": SEX, "band": BAND, "code": code}) for code in (true, released)]
    data = sdc.read(frames[0], keys=["sex", "band", "code"])
    return sdc.risk.reidentification_risk(data, data.with_frame(frames[1]))


def cells(*columns) -> float:
    """The share that is found by columns that did not change."""
    return pl.DataFrame({str(i): c for i, c in enumerate((SEX, BAND, *columns))}).n_unique() / N


def codes(first, last) -> list[str]:
    return [f"R{a}{b}" for a, b in zip(first, last, strict=True)]


@pytest.mark.parametrize("share", [1.0, 0.9])
@pytest.mark.parametrize("kept", ["first", "last"])
def test_digits_of_a_code_drawn_anew(draw, kept, share):
    """With some others drawn anew as a whole, so that no block is closed."""
    first, last = draw.integers(1, 10, N), draw.integers(10, 30, N)
    some = draw.random(N) < share
    if kept == "first":
        first = np.where(some, FIRST, first)
    else:
        last = np.where(some, LAST, last)
    true = cells(FIRST if kept == "first" else LAST)
    assert found(codes(FIRST, LAST), codes(first, last)).value > 0.8 * share * true


def test_categories_that_move_inside_blocks(draw):
    names = draw.permutation(40)  # so that neither numbers nor letters tell the block
    inside = REGION // 4 * 4 + draw.integers(0, 4, N)
    letters = [chr(65 + i // 7) + chr(97 + 3 * i % 7) for i in names]
    done = found([letters[r] for r in REGION], [letters[r] for r in inside])
    assert done.value > 0.9 * cells(REGION // 4)
    assert any("the block of code" in note for note in done.notes)


def test_categories_that_move_anywhere_are_found_no_more_often(draw):
    """Neither blocks nor parts are seen where there are none: no record is told by its own pair."""
    letters = np.array([chr(65 + i // 8) + chr(97 + i % 8) for i in draw.permutation(40)])
    stays = draw.random(N) < 0.7
    done = found(letters[REGION], np.where(stays, letters[REGION], letters[draw.integers(0, 40, N)]))
    assert not any("Stayed and was used" in note for note in done.notes)
    drawn = [found(letters[REGION], letters[draw.permutation(REGION)]).value for _ in range(4)]
    assert np.mean(drawn) < 1.5 * cells()
