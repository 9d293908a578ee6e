"""Counts that decide whether values can be worked with: the same in memory as in a lazy table."""

import polars as pl
import pytest

from sdckit.engine import frames

FRAMES = {
    "odd": pl.DataFrame(
        {
            "w": [1.0, 0.0, -2.0, None, float("inf"), float("nan")],
            "x": [1.0, None, float("nan"), float("-inf"), 2.0, 3.0],
            "n": [1, 2, None, 4, 5, 6],
            "k": ["a", None, None, "b", "b", "c"],
            "empty": pl.Series([None] * 6, dtype=pl.Int64),
        }
    ),
    "good": pl.DataFrame({"w": [1, 2], "x": [0.5, 0.0], "n": [1, 2], "k": ["a", "b"], "empty": [1, 2]}),
}


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("weight", ["w", None])
def test_tables_in_memory_are_counted_as_lazy_ones(name, weight):
    frame = FRAMES[name]
    here = frames.facts(frame, ["x", "n"], weight, ["k", "empty"])
    assert here == frames.facts(frame.lazy(), ["x", "n"], weight, ["k", "empty"])
    if name == "odd":
        assert (here["infinite_x"], here["present_k"], here["present_empty"]) == (2, 4, 0)


def test_every_fault_of_a_weight_is_counted():
    found = frames.facts(FRAMES["odd"], [], "w", [])
    faults = [found[f"weight_{fault}"] for fault in ("missing", "zero", "negative", "infinite")]
    assert faults == [1, 1, 1, 2]
