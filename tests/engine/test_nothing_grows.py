"""Nothing is brought into memory that grows with the number of records."""

import warnings
from importlib import import_module

import narwhals as nw
import polars as pl
import pytest

import sdckit as sdc
from sdckit.engine import duckdb_session, frames
from sdckit.methods.registry import specs
from sdckit.methods.spec import Compares, Kind

N = 30_000
# What comes in at most: the sample of a bracket, or combinations of keys and pairs of them.
MOST = 12_000


def numbers(shift: float) -> sdc.Microdata:
    """30,000 records on DuckDB: numbers that differ in every record, keys with 60 combinations."""
    rows = pl.select(
        id=pl.int_range(N),
        home=pl.int_range(N) // 3,
        sex=pl.int_range(N) % 2,
        age=pl.int_range(N) % 30,
        ill=pl.int_range(N) % 7 == 0,
        x=(pl.int_range(N) * 7919 % 30011).cast(pl.Float64) + shift,
        w=1.0 + (pl.int_range(N) % 97) / 10,
    )
    relation = duckdb_session.connection().from_arrow(rows.to_arrow())
    roles = {"keys": ["sex", "age"], "numeric": "x", "sensitive": "ill", "weight": "w", "household": "home"}
    return sdc.read(relation, id="id", **roles)


@pytest.fixture
def collected(monkeypatch):
    """The rows of every table that is brought into memory."""
    found = []
    real = nw.LazyFrame.collect

    def counted(self, *args, **options):
        rows = real(self, *args, **options)
        found.append(len(rows))
        return rows

    monkeypatch.setattr(nw.LazyFrame, "collect", counted)
    monkeypatch.setattr("sdckit.engine.quantiles.SAMPLE", 5_000)
    monkeypatch.setattr("sdckit.engine.quantiles.LIMIT", 5_000)
    monkeypatch.setattr("sdckit.data.keyed_sample.RECORDS", 5_000)
    monkeypatch.setattr("sdckit.risk._engine_linkage.BATCH", 5_000)
    monkeypatch.setattr(import_module("sdckit.risk.record_linkage"), "WHOLE", 5_000)
    monkeypatch.setattr("sdckit.estimate.model_rows.LOOKED_AT", 5_000)
    monkeypatch.setattr("sdckit.estimate.value_cells.EXACT", 5_000)
    monkeypatch.setattr("sdckit.estimate.value_cells.FINE", 500.0)
    return found


@pytest.mark.parametrize(
    "spec",
    [s for s in specs() if s.kind is not Kind.PROTECTION and "duckdb" in s.engines],
    ids=lambda s: s.name,
)
def test_measures_bring_little_into_memory(spec, collected):
    one, other = numbers(0.0), numbers(0.5)
    files = [one] if spec.compares is Compares.ONE_FILE else [one, other]
    asked = {"formula": "x ~ age"}
    required = [n for n, f in spec.options.model_fields.items() if f.is_required()]
    options = {name: asked[name] for name in required if name in asked}
    if len(options) < len(required):
        pytest.skip(f"needs to be told {required[0]}")
    collected.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.call(*files, **options)
    assert max(collected) <= MOST


def test_a_verdict_brings_little_into_memory(collected):
    data = numbers(0.0)
    protected = sdc.protect.pram(sdc.protect.round_values(data, base=10), variables=["sex"], rng=1)
    collected.clear()
    done = sdc.assess(data, protected, measures=["k_anonymity", "individual_risk", "moments"])
    weights = [one.value for one in done.verdict.criteria if one.name == "weights"]
    assert max(collected) <= MOST
    assert weights == [pytest.approx(data.weights().sum())]


def test_a_file_is_written_in_batches(tmp_path, collected, monkeypatch):
    monkeypatch.setattr("sdckit.io.engine_files.BATCH", 2048)
    data = numbers(0.0)
    seen = []
    real = pl.from_arrow

    def counted(table, *args, **options):
        rows = real(table, *args, **options)
        seen.append(len(rows))
        return rows

    monkeypatch.setattr(pl, "from_arrow", counted)
    for name, options in {"a.csv": {}, "a.parquet": {}, "folder": {"partition_by": "sex"}}.items():
        sdc.write(data, tmp_path / name, **options)
    assert sum(seen) >= 3 * N
    assert max(seen) <= 2048
    assert max(collected) <= MOST


def test_too_little_memory_is_an_error_of_ours():
    made = duckdb_session.connection()
    before = made.execute("select current_setting('memory_limit')").fetchall()[0][0]
    folder = made.execute("select current_setting('max_temp_directory_size')").fetchall()[0][0]
    try:
        made.execute("set memory_limit = '20MB'")
        made.execute("set max_temp_directory_size = '1KB'")
        many = made.sql("select hash(range) as h, hash(range + 1) as g from range(3000000)")
        with pytest.raises(sdc.errors.EngineError, match="DuckDB has too little memory"):
            frames.gather(frames.lazy(many).group_by("h", "g").agg(nw.len().alias("n")).select(nw.len()))
    finally:
        made.execute(f"set memory_limit = '{before}'")
        made.execute("reset max_temp_directory_size")
    assert folder
