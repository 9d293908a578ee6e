"""Mosaics: keys that a protection left in another type, and what the public sees."""

import numpy as np
import polars as pl
import pytest

from sdckit.data.microdata import Microdata
from sdckit.report.histograms import histograms, public_histograms
from sdckit.report.mosaic_tables import Pair, mosaics, public_mosaics


def test_whole_floats_are_the_categories_they_were_as_integers():
    frame = pl.DataFrame({"x": [1, 2] * 20, "y": [3, 3, 4, 4] * 10})
    after = frame.with_columns(x=pl.when(pl.int_range(40) > 5).then(pl.col("x").cast(pl.Float64)))
    original, protected = (Microdata.of(f, keys=["x", "y"]) for f in (frame, after))
    (chart,) = mosaics(original, protected)["charts"]
    assert chart["first"] == ["1", "2", "missing"]
    assert sum(map(sum, chart["before"])) == sum(map(sum, chart["after"])) == 40
    assert original.labels.text("x", 2.5) == "2.5"


def test_a_rare_combination_takes_its_category_along_in_all_columns():
    a = ["x"] * 60 + ["y"] * 100 + ["z"] * 100
    b = ["p"] * 30 + ["q"] * 27 + ["r"] * 3 + (["p"] * 40 + ["q"] * 40 + ["r"] * 20) * 2
    data = Microdata.of(pl.DataFrame({"a": a, "b": b}), keys=["a", "b"])
    assert mosaics(data, data)["charts"][0]["second"] == ["p", "q", "r"]
    # r goes with the next smallest everywhere, which leaves too little to see: it is not shown in part
    assert public_mosaics(data, data)["charts"] == []
    few = pl.DataFrame(
        {"a": ["x"] * 60 + ["y"] * 100, "b": ["p"] * 130 + ["q"] * 14 + ["r"] * 13 + ["s"] * 3}
    )
    data = Microdata.of(few, keys=["a", "b"])
    (chart,) = public_mosaics(data, data)["charts"]
    assert (chart["first"], chart["second"]) == (["x", "y"], ["p", "q", "other"])
    assert chart["before"] == [[60, 0, 0], [70, 15, 15]]


def test_each_key_is_in_one_public_mosaic_and_not_in_a_histogram_too():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({f"k{i}": rng.integers(3, size=900) for i in range(5)})
    data = Microdata.of(frame, keys=frame.columns)
    assert len(mosaics(data, data)["charts"]) == 3
    found = public_mosaics(data, data)["charts"]
    assert [chart["names"] for chart in found] == [["k0", "k1"], ["k2", "k3"]]
    assert [c["name"] for c in public_histograms(data, data, found)["charts"]] == ["k4"]
    assert histograms(data, data)["all"] == 5


def test_noise_in_the_last_digits_is_no_change():
    weights = {("p", "u"): 0.1, ("p", "v"): 0.2, ("q", "u"): 0.3, ("q", "v"): 0.7}
    before, after = ({c: (9.0, w * size) for c, w in weights.items()} for size in (1.0, 3.3))
    assert Pair(("x", "y"), before, after).changed == 0
    after[("p", "u")] = 9.0, 1.0
    assert Pair(("x", "y"), before, after).changed == pytest.approx(0.13, abs=0.05)
