"""Mosaics of keys that a protection left in another type."""

import polars as pl

from sdckit.microdata import Microdata
from sdckit.report.tiles import mosaics


def test_whole_floats_are_the_categories_they_were_as_integers():
    frame = pl.DataFrame({"x": [1, 2] * 20, "y": [3, 3, 4, 4] * 10})
    after = frame.with_columns(x=pl.when(pl.int_range(40) > 5).then(pl.col("x").cast(pl.Float64)))
    original, protected = (Microdata.of(f, keys=["x", "y"]) for f in (frame, after))
    (chart,) = mosaics(original, protected, public=False)["charts"]
    assert chart["first"] == ["1", "2", "missing"]
    assert sum(map(sum, chart["before"])) == sum(map(sum, chart["after"])) == 40
    assert original.labels.text("x", 2.5) == "2.5"
