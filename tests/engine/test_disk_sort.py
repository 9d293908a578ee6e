"""Sorting through files and arrays on disk: the order of numpy, and nothing left behind."""

import gc

import numpy as np
import pytest

from sdckit.engine import disk_sort
from sdckit.engine.disk_arrays import DiskArray
from sdckit.engine.disk_sort import DiskSort, keys_of, limits_of


def rows(n, kind, seed):
    draw = np.random.default_rng(seed)
    minor = draw.integers(-3, 4, n).astype(kind)
    if np.dtype(kind).itemsize == 8 and np.dtype(kind).kind == "i":
        minor += 2**53  # neighbours that are the same in floating point
    return {
        "major": draw.integers(0, 3, n),
        "minor": minor,
        "last": draw.permutation(n),
        "at": np.arange(n),
    }


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int16])
@pytest.mark.parametrize("parts", [1, 2, 17])
def test_rows_come_in_the_order_of_the_keys(kind, parts, tmp_path):
    columns = rows(5_000, kind, seed=parts)
    some = {name: values[::7] for name, values in columns.items()}
    sort = DiskSort(tmp_path, limits_of(keys_of(some), parts), {n: v.dtype for n, v in columns.items()})
    for start in range(0, 5_000, 900):
        sort.add({name: values[start : start + 900] for name, values in columns.items()})
    found = list(sort.sorted_parts())
    want = np.lexsort((columns["last"], columns["minor"], columns["major"]))
    assert np.concatenate([part["at"] for part in found]).tolist() == want.tolist()
    assert (np.concatenate([part["minor"] for part in found]) == columns["minor"][want]).all()
    assert max(map(len, found)) <= 2 * 5_000 / parts  # where majors and minors are equal too
    assert not list(tmp_path.iterdir())


def test_there_are_no_more_parts_than_files_that_can_be_open(monkeypatch):
    monkeypatch.setattr(disk_sort, "TOGETHER", 10)
    assert disk_sort.parts_for(10**9) == disk_sort.MOST
    assert disk_sort.parts_for(5) == 1


def test_an_array_has_its_values_and_leaves_nothing(tmp_path):
    array = DiskArray(tmp_path, 10_000, np.float64)
    assert not array.values.any()
    array.values[:] = np.arange(10_000)
    array.leave()
    assert (array.values == np.arange(10_000)).all()
    del array
    gc.collect()
    assert not list(tmp_path.iterdir())
    assert len(DiskArray(tmp_path, 0, np.int64).values) == 0
