import polars as pl
import pytest

from sdckit.engine import _duckdb, frames, strata

FRAME = pl.DataFrame(
    {
        "region": ["n", "n", None, "s", None, "s", "s"],
        "the sex": [1, 1, 2, None, 2, 1, 1],
        "x": [1.0, 2.0, 3.0, 4.0, None, 6.0, 7.0],
        "Row": range(7),
    }
)
SCHEMA = {"Row": pl.Int64, "share": pl.Float64, "size": pl.UInt32}


@pytest.fixture
def shares():
    def kernel(stratum):  # local, so that Spark ships the function itself and not the name of this module
        return stratum.select(pl.len().alias("size"), share=pl.col("x") / pl.col("x").sum(), Row="Row")

    return kernel


def want(by):
    rows = FRAME.rows(named=True)
    result = {}
    for row in rows:
        mates = [r for r in rows if all(r[k] == row[k] for k in by)]
        total = sum(r["x"] or 0.0 for r in mates)
        result[row["Row"]] = (None if row["x"] is None else row["x"] / total, len(mates))
    return result


@pytest.mark.parametrize("by", [[], ["region"], ["region", "the sex"]])
def test_kernel_runs_on_each_stratum_once(put, engine, shares, by, monkeypatch):
    monkeypatch.setattr(_duckdb, "BATCH", 3)
    frame = put(FRAME)
    made = strata.map_strata(frame, by, shares, SCHEMA)
    assert frames.engine_of(made) == engine
    rows = frames.collect(made)
    assert rows.columns == list(SCHEMA)
    expected = want(by)
    assert rows["Row"].sort().to_list() == list(expected)
    for row, share, size in rows.rows():
        assert (share, size) == (pytest.approx(expected[row][0]), expected[row][1])
    again = strata.map_strata(frames.lazy(frame), by, shares, SCHEMA)  # a lazy table works as well
    assert frames.collect(again).sort("Row").drop("share").equals(rows.sort("Row").drop("share"))


def test_kernel_that_returns_other_rows(put):
    schema = {"region": pl.String, "n": pl.Int64}

    def sizes(stratum):
        if stratum["region"][0] is None:
            return pl.DataFrame(schema=schema)
        return stratum.group_by("region").agg(pl.len().cast(pl.Int64).alias("n"))

    rows = frames.collect(strata.map_strata(put(FRAME), ["region"], sizes, schema))
    assert sorted(rows.rows()) == [("n", 2), ("s", 3)]


def test_no_records(put, shares):
    rows = frames.collect(strata.map_strata(put(FRAME[:0]), ["region"], shares, SCHEMA))
    assert rows.columns == list(SCHEMA)
    assert rows.height == 0


def test_duckdb_holds_a_few_strata_at_a_time(duckdb_connection, monkeypatch):
    monkeypatch.setattr(_duckdb, "BATCH", 50)
    frame = pl.DataFrame({"g": [i % 40 for i in range(400)], "x": range(400)})
    relation = duckdb_connection.from_arrow(frame.to_arrow())
    heights = [b.pl().height for b in _duckdb._batches(relation, ["g"])]
    assert sum(heights) == 400
    assert max(heights) <= 50
