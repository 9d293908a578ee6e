"""What cells of some of the keys mostly show."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.risk._alike_records import AlikeCategories
from sdckit.risk._known_values import KnownKeys, LinkedFiles
from sdckit.risk._usual_values import _sets, infer_usual

RNG = np.random.default_rng(1)
N = 3000
CELL, MORE = RNG.integers(0, 100, N), {"a": RNG.integers(0, 5, N), "b": RNG.integers(0, 6, N)}
GONE, OTHER = RNG.random(N) < 0.3, RNG.integers(0, 10, N)


def inferred(keys: dict[str, np.ndarray], true: np.ndarray, shown: np.ndarray) -> float:
    data = sdc.read(pl.DataFrame(keys | {"value": true}), keys=list(keys), sensitive="value")
    file = data.with_frame(data.frame.with_columns(value=pl.Series(shown)))
    return sdc.risk.attribute_inference(data, file, intruders=[sdc.Intruder("one")]).value


@pytest.mark.parametrize("number", [False, True])
def test_who_knows_more_keys_infers_no_less(number):
    """In half of the cells of one key all have the same value; the other keys tell nothing."""
    if number:
        each = np.exp(np.random.default_rng(2).normal(8, 1, N))
        true = np.where(CELL % 2 == 0, np.exp(np.random.default_rng(3).normal(8, 1, 100))[CELL], each)
        shown = np.where(GONE, np.random.default_rng(4).permutation(true), true)
    else:
        true = np.where(CELL % 2 == 0, CELL // 2 % 10, OTHER[::-1]).astype(str)
        shown = np.where(GONE, OTHER.astype(str), true)
    some = inferred({"cell": CELL}, true, shown)
    assert some > 0.4
    assert inferred({"cell": CELL} | MORE, true, shown) >= some - 0.01


def test_it_is_found_which_three_of_six_keys_tell_the_value():
    rng = np.random.default_rng(5)
    keys = {f"key{i}": rng.integers(0, 4, N) for i in range(6)}
    cell = keys["key0"] * 16 + keys["key1"] * 4 + keys["key2"]
    true = np.where(cell % 2 == 0, rng.integers(0, 10, 64)[cell], OTHER[::-1]).astype(str)
    shown = np.where(GONE, OTHER.astype(str), true)
    some = inferred({f"key{i}": keys[f"key{i}"] for i in range(3)}, true, shown)
    assert some > 0.4
    assert inferred(keys, true, shown) >= some - 0.01


def test_values_that_follow_from_nothing_are_not_inferred_from_any_keys():
    true = OTHER[::-1].astype(str)
    keys = {f"key{i}": RNG.integers(0, 4, N) for i in range(6)}
    assert inferred(keys, true, np.where(GONE, OTHER.astype(str), true)) < 0.01


def test_what_everybody_knows_is_left_out_so_that_it_does_not_hide_the_rest():
    cell = np.repeat(np.arange(100), 20)
    true = np.where(cell < 6, 1, 0)
    shown = np.where(RNG.random(2000) < 0.3, RNG.permutation(true), true)
    assert inferred({"cell": cell}, true.astype(str), shown.astype(str)) == pytest.approx(0.06)


def test_those_who_are_inferred_by_their_own_record_alone_are_counted():
    """Cells of two who show the same: without either, one record shows nothing."""
    cell = np.repeat(np.arange(50), 2)
    data = sdc.read(pl.DataFrame({"cell": cell, "value": cell % 10}), keys="cell", sensitive="value")
    files = LinkedFiles.of(data, data)
    true = (cell % 10).astype(float)
    found = infer_usual(files, KnownKeys.of(files, ["cell"]), true, AlikeCategories(true, true, 10), 0.9)
    assert (found.inferred, found.by_own_record) == (100, 100)


@pytest.mark.parametrize("keys", [0, 1, 2, 3, 6, 9])
@pytest.mark.parametrize("persons", [100, 10**6])
def test_all_sets_of_few_keys_are_tried_and_of_more_keys_where_there_are_few_persons(keys, persons):
    sets = list(_sets(keys, persons, len))
    assert sets[0] == tuple(range(keys))
    assert len(sets) == len(set(sets))
    if keys <= 6 or persons == 100:
        assert len(sets) == max(2**keys - 1, 1)
    else:
        assert {(i,) for i in range(keys)} <= set(sets)
        assert len(sets) < 2**keys / 2


def test_of_many_keys_those_are_combined_that_make_cells_clearest():
    telling = {11, 17, 38}
    sets = list(_sets(40, 10**6, lambda some: len(telling & {*some}) - 0.01 * len(some)))
    assert (11, 17, 38) in sets
    assert len(sets) < 1_500
