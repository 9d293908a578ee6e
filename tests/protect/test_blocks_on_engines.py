"""Strata cut into blocks: the same blocks, and so the same values, in memory and on engines."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from engine_frames import ENGINES, on_engine
from sdckit.engine import frames
from sdckit.errors import EngineError
from sdckit.protect import _blocks

ROLES = {"id": "id", "numeric": ["income", "wealth", "zeros"]}
STEPS = {
    "mdav": {"k": 3},
    "mdav by strata, not refined": {"k": 4, "by": ["sex"], "refine": False},
    "cluster": {"k": 2, "method": "cluster"},
    "robust, logarithms": {"k": 3, "method": "robust", "transform": "log", "statistic": "median"},
    "pca, ranks": {"k": 5, "method": "pca", "transform": "rank"},
    "optimal": {"k": 3, "method": "optimal"},
}


def survey(n=900, seed=3):
    """Ties, missing values in several patterns, one of them of a single record, and values far out."""
    draw = np.random.default_rng(seed)
    income = draw.lognormal(8, 1.5, n).round(2)
    zeros = np.where(draw.random(n) < 0.7, 0.0, draw.lognormal(3, 1, n))
    frame = pl.DataFrame(
        {
            "id": 7 * np.arange(n) - 500,
            "sex": np.where(draw.random(n) < 0.2, 1, 2),
            "income": income,
            "wealth": (income * draw.lognormal(1, 0.5, n)).round(),
            "zeros": zeros,
        }
    )
    lacks = pl.Series(draw.random(n))
    return frame.with_columns(
        pl.when(lacks > 0.1).then("wealth").alias("wealth"),
        pl.when(~lacks.is_between(0.08, 0.12)).then("zeros").alias("zeros"),
        pl.when((pl.col("id") != 207) & (lacks > 0.01)).then("income").alias("income"),
    )


@pytest.fixture
def small_blocks(monkeypatch):
    """Strata above 200 records are cut, by samples of a part of them."""
    monkeypatch.setattr(_blocks, "LARGEST", 200)
    monkeypatch.setattr(_blocks, "SAMPLE", 40)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("step", STEPS)
def test_blocks_are_the_same_on_every_engine(step, engine, request):
    want = sdc.protect.microaggregate(sdc.read(survey(), **ROLES), **STEPS[step])
    there = survey().sample(fraction=1.0, shuffle=True, seed=5)
    got = sdc.protect.microaggregate(on_engine(engine, sdc.read(there, **ROLES), request), **STEPS[step])
    assert got.engine == engine
    assert frames.collect(got.frame).sort("id").equals(want.frame.sort("id"))
    assert got.log[-1].figures == want.log[-1].figures
    assert got.log[-1].effects == want.log[-1].effects
    assert want.log[-1].figures["blocks"] > 5


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("step", STEPS)
def test_every_value_left_is_that_of_k_records(step):
    """Blocks below k, and patterns below k in a block, would leave values that fewer records have."""
    done = sdc.protect.microaggregate(sdc.read(survey(), **ROLES), **STEPS[step])
    for name in ROLES["numeric"]:
        counts = done.frame[name].drop_nulls().value_counts()["count"]
        assert counts.min() >= STEPS[step]["k"]
        assert done.frame[name].null_count() == survey()[name].null_count()


def test_no_stratum_is_cut_that_fits(monkeypatch):
    monkeypatch.setattr(_blocks, "LARGEST", 900)
    done = sdc.protect.microaggregate(sdc.read(survey(), **ROLES))
    assert "blocks" not in done.log[-1].figures


@pytest.mark.usefixtures("small_blocks")
def test_ranks_of_a_whole_stratum_need_it_in_memory(duckdb_connection, request):
    file = on_engine("duckdb", sdc.read(survey(), **ROLES), request)
    with pytest.raises(EngineError, match=r"stratum by stratum, and one has 900.*individual_ranking"):
        sdc.protect.microaggregate(file, method="rank_groups")


def test_what_is_collected_of_a_file_in_blocks_is_a_sample(duckdb_connection, request, monkeypatch):
    monkeypatch.setattr(_blocks, "LARGEST", 200)
    monkeypatch.setattr(_blocks, "SAMPLE", 10)
    heights, gather = [], frames.gather

    def counting(table):
        heights.append(gather(table))
        return heights[-1]

    monkeypatch.setattr(frames, "gather", counting)
    file = on_engine("duckdb", sdc.read(survey(3000), **ROLES), request)
    sdc.protect.microaggregate(file)
    assert max(rows.height for rows in heights) < 400


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("step", [{"k": 3}, {"k": 3, "method": "optimal"}])
@pytest.mark.parametrize("gone", [["income", "wealth", "zeros"], ["wealth"]])
def test_variables_without_any_value(step, gone, request):
    frame = survey().with_columns(pl.lit(None, dtype=pl.Float64).alias(c) for c in gone)
    data = sdc.read(frame, **ROLES)
    want, got = (sdc.protect.microaggregate(d, **step) for d in (data, on_engine("duckdb", data, request)))
    rows = frames.gather(got.table).sort("id").select(want.columns)
    assert rows.equals(want.frame.sort("id"))
