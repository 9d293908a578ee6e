"""Distributions of files outside memory, counted in bins, beside those of all values."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.engine import duckdb_session


def on_duckdb(frame, **roles):
    return sdc.read(duckdb_session.connection().from_arrow(frame.to_arrow()), **roles)


@pytest.mark.parametrize("change", ["nothing", "noise", "rounded", "blanks"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_bins_tell_what_the_values_do_as_far_as_the_note_says(monkeypatch, change, weight):
    rng = np.random.default_rng(3)
    n = 4_000
    x = np.where(rng.random(n) < 0.1, 0.0, rng.normal(3.0, 2.0, n) * 1000)  # a spike, and debts
    y = {
        "nothing": x,
        "noise": x + rng.normal(0, 300, n),
        "rounded": np.round(x, -3),
        "blanks": [None if v > 6000 else v for v in x],
    }[change]
    w = rng.choice([1.0, 2.5], n)
    roles = {"numeric": "x", "weight": weight}
    both = [pl.DataFrame({"x": v, "w": w}, schema={"x": pl.Float64, "w": pl.Float64}) for v in (x, y)]
    exact = sdc.utility.distribution_distance(*(sdc.read(f, **roles) for f in both))
    monkeypatch.setattr("sdckit.estimate.value_cells.EXACT", 1_000)
    found = sdc.utility.distribution_distance(*(on_duckdb(f, **roles) for f in both))
    told = [float(note.split()[-2]) for note in found.notes if "bins" in note]
    assert told or change != "nothing"  # there is no large difference beside which a bin is small
    unseen = max(told, default=0.0)
    assert unseen < 0.01
    assert found.value - 1e-9 <= exact.value <= found.value + unseen * 1.06 + 1e-9  # the note has one figure
    assert found.figures["cramer_von_mises"] == pytest.approx(exact.figures["cramer_von_mises"], abs=2e-4)
    assert found.figures["wasserstein"] == pytest.approx(exact.figures["wasserstein"], abs=2e-4)
    assert found.tables["bins"]["original"].sum() == pytest.approx(1)


def test_one_value_a_bin_leaves_nothing_open(monkeypatch):
    monkeypatch.setattr("sdckit.estimate.value_cells.EXACT", 3)
    frames = [pl.DataFrame({"x": v}) for v in ([-1.0, 0.0, 2.0, 2.0], [-1.0, 0.0, 0.0, 2.0])]
    found = sdc.utility.distribution_distance(*(on_duckdb(f, numeric="x") for f in frames))
    assert found.value == 0.25
    assert found.notes == ()


@pytest.mark.parametrize("values", [range(202401, 202413), range(10**14, 10**14 + 50)])
def test_numbers_far_from_0_are_told_apart(monkeypatch, values):
    monkeypatch.setattr("sdckit.estimate.value_cells.EXACT", 100)
    rng = np.random.default_rng(1)
    x = rng.choice(np.array(values, dtype=np.float64), 1_000)
    frames = [pl.DataFrame({"x": v}) for v in (x, np.minimum(x + 3, max(values)))]
    exact = sdc.utility.distribution_distance(*(sdc.read(f, numeric="x") for f in frames))
    found = sdc.utility.distribution_distance(*(on_duckdb(f, numeric="x") for f in frames))
    assert found.value == pytest.approx(exact.value)
    assert found.value > 0.05
    assert found.notes == exact.notes
