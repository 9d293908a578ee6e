import random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_tables as naive
from sdckit.engine import frames, quantiles
from sdckit.utility._continuous import weighted_quantiles

P = [0.0, 0.003, 0.1, 0.5, 0.99, 1.0]


def table(n=3000, seed=1):
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "skew": [draw.choice([None, draw.lognormvariate(0, 3)]) for _ in range(n)],
            "ties": [draw.choice([0, 0, 0, 7, draw.randint(-3, 3), None]) for _ in range(n)],
            "w": [draw.uniform(0.1, 50.0) for _ in range(n)],
        }
    )


@pytest.fixture
def narrow(monkeypatch):
    """Samples and limits so small that brackets are moved and narrowed several times."""
    monkeypatch.setattr(quantiles, "SAMPLE", 150)
    monkeypatch.setattr(quantiles, "LIMIT", 20)
    monkeypatch.setattr(quantiles, "DEVIATIONS", 1.0)


@pytest.mark.parametrize("name", ["skew", "ties"])
def test_every_engine_finds_the_values_a_sort_finds(lazy, narrow, name):
    frame = table()
    values = sorted(frame[name].drop_nulls().to_list())
    places = [0, 1, len(values) // 3, len(values) - 2, len(values) - 1]
    on = lazy(frame)
    assert quantiles.order_statistics(on, name, places) == [values[p] for p in places]
    (found,) = quantiles.quantiles(on, [name], P)
    assert found == pytest.approx([naive.quantile(values, p) for p in P], rel=1e-14)
    present = frame.drop_nulls(name)
    cells = present.group_by(name).agg(pl.col("w").sum()).sort(name)
    want = weighted_quantiles(cells[name].cast(pl.Float64).to_numpy(), cells["w"].to_numpy(), P)
    assert quantiles.weighted_quantiles(on, [name], P, "w") == [want]


def test_columns_share_passes_and_keep_their_own_missing_values(lazy, narrow):
    on, names = lazy(table()), ["skew", "ties"]
    alone = [quantiles.weighted_quantiles(on, [name], P, "w")[0] for name in names]
    assert quantiles.weighted_quantiles(on, names, P, "w") == alone
    assert quantiles.quantiles(on, names, P) == [quantiles.quantiles(on, [name], P)[0] for name in names]


def test_brackets_that_meet_become_one():
    assert quantiles._merged([(4, 6), (0, 1), (1, 2), (5, 5)]) == [(0, 2), (4, 6)]


def test_no_values(lazy):
    on = lazy(pl.DataFrame({"x": [None, None], "w": [1.0, 2.0]}, schema={"x": pl.Float64, "w": pl.Float64}))
    assert quantiles.quantiles(on, ["x"], [0.5]) == [[None]]
    ((nothing,),) = quantiles.weighted_quantiles(on, ["x"], [0.5], "w")
    assert nothing != nothing


def test_what_is_collected_does_not_grow_with_the_file(duckdb_connection, narrow, monkeypatch):
    rows = []
    gather = frames.gather

    def counting(found):
        rows.append(gather(found))
        return rows[-1]

    monkeypatch.setattr(frames, "gather", counting)
    relation = duckdb_connection.sql("select (i * 7919) % 100003 + 0.5 as x from range(100003) t(i)")
    assert quantiles.order_statistics(frames.lazy(relation), "x", [70_000]) == [70_000.5]
    assert max(found.height for found in rows) <= 2 * quantiles.SAMPLE


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(-4, 4), st.integers(1, 9)), min_size=1, max_size=40),
    st.lists(st.floats(0, 1), min_size=1, max_size=4),
)
def test_weighted_quantiles_of_any_values(rows, p):
    frame = pl.DataFrame(rows, schema=["x", "w"], orient="row")
    cells = frame.group_by("x").agg(pl.col("w").sum()).sort("x").cast(pl.Float64)
    want = weighted_quantiles(cells["x"].to_numpy(), cells["w"].to_numpy(), p)
    assert quantiles.weighted_quantiles(frames.lazy(frame), ["x"], p, "w") == [want]
