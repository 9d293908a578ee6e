"""The records that look most like a person: the quick way against all distances."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.risk import _nearest_records
from sdckit.risk._known_values import KnownKeys, LinkedFiles
from sdckit.risk._nearest_records import FAR, nearest_records

KEYS = ("region", "age")


def people(n, *, missing, ages=8, seed=0):
    rng = np.random.default_rng(seed)
    columns = {
        "region": rng.choice(["a", "b", "c", None], n, p=[0.5, 0.3, 0.1, 0.1]),
        "age": np.minimum(rng.geometric(0.3, n), ages),
        "income": np.exp(rng.normal(size=n)).round(3),
        "savings": rng.normal(size=n).round(3),
    }
    frame = pl.DataFrame(columns)
    blank = pl.Series(rng.random(n) < missing)
    frame = frame.with_columns(income=pl.when(~blank).then("income"))
    return sdc.read(frame, keys=list(KEYS), numeric=["income", "savings"])


def protected(data, how):
    noisy = sdc.protect.add_noise(data, sd=0.5, rng=1)
    ways = {
        "nothing": lambda: data,
        "noise": lambda: noisy,
        "rank swap": lambda: sdc.protect.rank_swap(data, rank_distance=0.1, rng=1),
        "microaggregation": lambda: sdc.protect.microaggregate(data, k=3),
        "pram": lambda: sdc.protect.pram(noisy, variables=["region"], rng=1),
        "recoded": lambda: sdc.protect.recode(noisy, variable="age", width=3),
        "fewer": lambda: sdc.protect.sample_records(data, share=0.5, rng=1),
    }
    return ways[how]()


def all_distances(files, keys, errors, asked):
    """Squared, of every person from every record, one by one."""
    points = []
    for name in ("income", "savings"):
        true, shown = (f.frame[name].fill_null(np.nan).to_numpy() for f in (files.original, files.protected))
        both = np.append(true, shown)
        middle, spread = np.nanmean(both), np.nanstd(both)
        on_scale = [np.nan_to_num(np.arcsinh((v - middle) / spread), nan=FAR) for v in (true, shown)]
        points.append(on_scale)
    images = _nearest_records.true_in_released(keys)
    found = np.zeros((len(asked), files.protected.height))
    for i, person in enumerate(asked):
        for x, y in points:
            found[i] += (x[person] - y) ** 2
        for v in range(len(keys.names)):
            found[i] += (FAR * (images[person, v] - keys.released[:, v])) ** 2
    return found


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(
    "how", ["nothing", "noise", "rank swap", "microaggregation", "pram", "recoded", "fewer"]
)
def test_few_cells_have_the_nearest_of_all(monkeypatch, how, missing):
    monkeypatch.setattr(_nearest_records, "ALL", 100)
    monkeypatch.setattr(_nearest_records, "TARGETS", 150)
    original = people(900, missing=missing)
    files = LinkedFiles.of(original, protected(original, how))
    keys = KnownKeys.of(files, KEYS)
    known = dict.fromkeys(("income", "savings"), 0.0)
    monkeypatch.setattr(_nearest_records, "_in_tree", None)  # is not asked
    near, own, asked = nearest_records(files, keys, known)
    distances = all_distances(files, keys, known, asked)
    assert near.shape == (150, 20)
    assert all(len(set(row)) == 20 for row in near.tolist())
    rows = np.arange(150)[:, None]
    np.testing.assert_allclose(distances[rows, near], np.sort(distances, axis=1)[:, :20], rtol=1e-9)
    np.testing.assert_array_equal(own, near == files.own[asked, None])


@pytest.mark.parametrize("limit", ["SHARE_OF_CELLS", "MOST_CELLS", "MOST_RECORDS"])
def test_where_there_is_too_much_to_look_at_a_tree_finds_the_same(monkeypatch, limit):
    monkeypatch.setattr(_nearest_records, "ALL", 100)
    original = people(700, missing=0.1, ages=60)
    files = LinkedFiles.of(original, sdc.protect.add_noise(original, sd=0.5, rng=1))
    keys, known = KnownKeys.of(files, KEYS), {"income": 0.1, "savings": 0.1}
    quick = nearest_records(files, keys, known)
    monkeypatch.setattr(_nearest_records, limit, 0)
    monkeypatch.setattr("sdckit.kernels.nearest_in_cells.nearest_in_cells", None)  # is not asked
    again = LinkedFiles(original, files.protected, files.own)
    for one, other in zip(quick, nearest_records(again, keys, known), strict=True):
        np.testing.assert_array_equal(one, other)


def test_numbers_on_a_wild_scale_are_left_to_the_tree(monkeypatch):
    monkeypatch.setattr(_nearest_records, "ALL", 100)
    monkeypatch.setattr(_nearest_records, "FAR", 10.0)  # another key does not outweigh numbers any more
    monkeypatch.setattr(_nearest_records, "_in_cells", None)  # is not asked
    original = people(500, missing=0.1)
    files = LinkedFiles.of(original, original)
    near, _, _ = nearest_records(files, KnownKeys.of(files, KEYS), {"income": 0.0, "savings": 0.0})
    assert near.shape == (500, 20)
