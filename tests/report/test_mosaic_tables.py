"""Mosaics: keys that a protection left in another type, and what the public must not work out."""

import json
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdckit.choose.assess import assess
from sdckit.data.microdata import Microdata
from sdckit.report.disclosure import FEW, OTHER
from sdckit.report.document import to_json
from sdckit.report.histograms import histograms
from sdckit.report.mosaic_tables import Pair, mosaics
from sdckit.report.summarize import summarize

KEYS = ["a", "b", "c", "d"]


def test_whole_floats_are_the_categories_they_were_as_integers():
    frame = pl.DataFrame({"x": [1, 2] * 20, "y": [3, 3, 4, 4] * 10})
    after = frame.with_columns(x=pl.when(pl.int_range(40) > 5).then(pl.col("x").cast(pl.Float64)))
    original, protected = (Microdata.of(f, keys=["x", "y"]) for f in (frame, after))
    (chart,) = mosaics(original, protected, public=False)["charts"]
    assert chart["first"] == ["1", "2", "missing"]
    assert sum(map(sum, chart["before"])) == sum(map(sum, chart["after"])) == 40
    assert original.labels.text("x", 2.5) == "2.5"


def planted(seed: int, n: int, moved: float) -> tuple[Microdata, Microdata]:
    """A file with rare categories and rare combinations, and one in which some values moved."""
    rng = np.random.default_rng(seed)
    texts = [rng.choice(["p", "q", "r", "rare"], n, p=[0.5, 0.3, 0.18, 0.02]).tolist() for _ in range(2)]
    codes = [rng.choice(5, n, p=[0.4, 0.3, 0.2, 0.08, 0.02]).tolist() for _ in range(2)]
    frame = pl.DataFrame(dict(zip(KEYS, [*texts, *codes], strict=True)))
    frame = frame.with_columns(b=pl.when((pl.col("a") != "p") | (pl.col("b") != "q")).then("b"))
    other = frame.select(pl.all().shuffle(seed))
    hit = pl.Series(rng.random(n) < moved)
    after = frame.with_columns(pl.when(hit).then(other[k]).otherwise(k).alias(k) for k in KEYS)
    return Microdata.of(frame, keys=KEYS), Microdata.of(after, keys=KEYS)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(20, 400), st.sampled_from([0.0, 0.01, 0.1, 0.5]))
def test_no_difference_of_public_tables_is_a_small_count(seed, n, moved):
    files = planted(seed, n, moved)
    told = json.loads(to_json(summarize(assess(*files, measures=["k_anonymity"]), "public")))
    shown: list[str] = [h["name"] for h in told["distributions"]["histograms"]]
    for mosaic in told["distributions"]["mosaics"]:
        assert "changed" not in mosaic
        shown += mosaic["names"]
        for data, table in zip(files, (mosaic["before"], mosaic["after"]), strict=True):
            counts = np.rint(np.array(table) * n)
            assert not ((counts > 0) & (counts < FEW)).any()
            for axis, levels in enumerate((mosaic["first"], mosaic["second"])):
                _nothing_is_hidden(data, mosaic["names"][axis], levels, counts.sum(axis=1 - axis))
    assert len(shown) == len({*shown})  # in one table each, so that there is no other to compare with
    for file in ("before", "after"):
        rows = [row[file] for row in told["by_k"]]
        assert not any(0 < abs(x - y) < FEW for x in rows for y in rows)


def _nothing_is_hidden(data, name, levels, sums):
    """The total of a category, known from elsewhere, is what the table shows of it."""
    totals = Counter("missing" if v is None else str(v) for v in data.frame[name].to_list())
    for level, total in zip(levels, sums, strict=True):
        assert level == OTHER or total == totals[level]
    hidden = sum(count for text, count in totals.items() if text not in levels)
    assert not 0 < hidden < FEW


def test_a_rare_combination_takes_its_category_along_in_all_columns():
    a = ["x"] * 60 + ["y"] * 100 + ["z"] * 100
    b = ["p"] * 30 + ["q"] * 27 + ["r"] * 3 + (["p"] * 40 + ["q"] * 40 + ["r"] * 20) * 2
    data = Microdata.of(pl.DataFrame({"a": a, "b": b}), keys=["a", "b"])
    assert mosaics(data, data, public=False)["charts"][0]["second"] == ["p", "q", "r"]
    # r goes with the next smallest everywhere, which leaves too little to see: it is not shown in part
    assert mosaics(data, data, public=True)["charts"] == []
    few = pl.DataFrame(
        {"a": ["x"] * 60 + ["y"] * 100, "b": ["p"] * 130 + ["q"] * 14 + ["r"] * 13 + ["s"] * 3}
    )
    data = Microdata.of(few, keys=["a", "b"])
    (chart,) = mosaics(data, data, public=True)["charts"]
    assert (chart["first"], chart["second"]) == (["x", "y"], ["p", "q", OTHER])
    assert chart["before"] == [[60, 0, 0], [70, 14, 16]]


def test_each_key_is_in_one_public_mosaic_and_not_in_a_histogram_too():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({f"k{i}": rng.integers(3, size=900) for i in range(5)})
    data = Microdata.of(frame, keys=frame.columns)
    assert len(mosaics(data, data, public=False)["charts"]) == 3
    found = mosaics(data, data, public=True)["charts"]
    assert [chart["names"] for chart in found] == [["k0", "k1"], ["k2", "k3"]]
    assert [c["name"] for c in histograms(data, data, public=True, mosaics=found)["charts"]] == ["k4"]
    assert histograms(data, data, public=False, mosaics=found)["all"] == 5


def test_noise_in_the_last_digits_is_no_change():
    weights = {("p", "u"): 0.1, ("p", "v"): 0.2, ("q", "u"): 0.3, ("q", "v"): 0.7}
    before, after = ({c: (9.0, w * size) for c, w in weights.items()} for size in (1.0, 3.3))
    assert Pair(("x", "y"), before, after).changed == 0
    after[("p", "u")] = 9.0, 1.0
    assert Pair(("x", "y"), before, after).changed == pytest.approx(0.13, abs=0.05)
