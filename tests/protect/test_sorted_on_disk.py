"""Methods that sort, on files that sdckit reads with DuckDB: the values of memory, through arrays on disk."""

import gc
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.engine import disk_arrays, disk_sort, frames
from sdckit.protect import _rank_swapping, _rank_swapping_on_disk, _ranking

N = 3_000
STEPS = {
    "groups": ("rank_swap", {"method": "groups", "rank_distance": 0.1}),
    "groups by strata": ("rank_swap", {"method": "groups", "by": ["region", "sex"]}),
    "windows": ("rank_swap", {"rank_distance": 0.03}),
    "windows by strata": ("rank_swap", {"rank_distance": 0.5, "by": ["region"]}),
    "ranking": ("microaggregate", {"method": "individual_ranking"}),
    "ranking by strata": ("microaggregate", {"method": "individual_ranking", "by": ["region"], "k": 7}),
    "medians": ("microaggregate", {"method": "individual_ranking", "k": 5, "statistic": "median"}),
}


def survey():
    draw = np.random.default_rng(8)
    income = draw.lognormal(8, 1, N).round(1)
    income[draw.random(N) < 0.6] = 0.0  # more equal values than are sorted together
    return pl.DataFrame(
        {
            "id": draw.permutation(10**9 // N * np.arange(N) - 50),
            "name": [f"person {i}" for i in draw.permutation(N)],
            "region": draw.choice(["a", "b", None, "c", "d"], N, p=[0.4, 0.4, 0.1, 0.0985, 0.0015]),
            "sex": draw.choice([1, 2], N),
            "income": pl.Series(income).set(pl.Series(draw.random(N) < 0.05), None),
            "small": pl.Series(draw.integers(-90, 90, N), dtype=pl.Int16),
            "large": 2**60 + draw.integers(0, 50, N),
            "nothing": pl.Series([None] * N, dtype=pl.Float64),
        }
    )


def protected(frame, step, **read):
    name, options = STEPS[step]
    drawn = {"rng": 4} if name == "rank_swap" else {}
    numeric = ["income", "small", "nothing", *(["large"] if name == "rank_swap" else [])]
    file = sdc.read(frame, keys=["region", "sex"], numeric=numeric, **read)
    return getattr(sdc.protect, name)(file, **options, **drawn)


@pytest.fixture
def in_pieces(monkeypatch):
    monkeypatch.setattr(disk_sort, "TOGETHER", 200)
    monkeypatch.setattr(_rank_swapping_on_disk, "PIECE", 333)

    def refused(*given, **options):
        raise AssertionError("the engine was to sort nothing")

    monkeypatch.setattr(_rank_swapping, "value_ranks", refused)
    monkeypatch.setattr(_ranking, "value_ranks", refused)


@pytest.mark.parametrize("id", ["id", "name"])
@pytest.mark.parametrize("step", STEPS)
def test_values_are_those_of_memory(step, id, tmp_path, in_pieces):
    frame = survey().drop("id" if id == "name" else "name")
    frame.sample(fraction=1.0, shuffle=True, seed=3).write_parquet(tmp_path / "survey.parquet")
    want = protected(frame, step, id=id)
    got = protected(tmp_path / "survey.parquet", step, id=id, engine="duckdb")
    there = frames.collect(got.frame).sort(id)
    assert there.schema == want.frame.schema
    assert there.equals(want.frame.sort(id))
    assert got.log[-1] == want.log[-1]


def test_numbers_that_arrays_do_not_have_are_sorted_by_the_engine(tmp_path):
    values = pl.Series([Decimal(i * 7919 % 300) / 4 for i in range(300)], dtype=pl.Decimal(12, 2))
    frame = pl.DataFrame({"id": range(300), "x": values})
    frame.write_parquet(tmp_path / "x.parquet")
    given = {"id": "id", "numeric": "x"}
    want = sdc.protect.rank_swap(sdc.read(frame, **given), rng=2)
    got = sdc.protect.rank_swap(sdc.read(tmp_path / "x.parquet", engine="duckdb", **given), rng=2)
    there = frames.collect(got.frame).sort("id")
    assert there["x"].cast(pl.Float64).equals(want.frame["x"].cast(pl.Float64))


def test_what_is_on_disk_goes_with_the_file(tmp_path, monkeypatch):
    alive = []
    real = disk_arrays.DiskArray.__init__

    def counted(self, *given):
        real(self, *given)
        alive.append(self.n)

    monkeypatch.setattr(disk_arrays.DiskArray, "__init__", counted)
    monkeypatch.setattr(disk_arrays.DiskArray, "__del__", lambda self: alive.pop(), raising=False)
    survey().write_parquet(tmp_path / "survey.parquet")
    done = protected(tmp_path / "survey.parquet", "windows", id="id", engine="duckdb")
    made = sdc.protect.round_values(done, variables=["income"], base=10)
    del done
    gc.collect()
    assert len(alive) == 4  # one for each variable
    assert frames.height(made.frame) == N
    assert frames.collect(made.frame)["income"].null_count() == survey()["income"].null_count()
    del made
    gc.collect()
    assert not alive
