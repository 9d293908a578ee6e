from datetime import date, timedelta

import polars as pl
import pytest

import sdckit as sdc
from sdckit.choose import records_looked_at
from sdckit.data.roles import Role
from sdckit.engine import frames

pytest.importorskip("duckdb", reason="duckdb is not installed")
N = 12_000


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.parquet"
    pl.DataFrame(
        {
            "person_id": range(N),
            "case": [i // 2 for i in range(N)],
            "sex": ["f", "m", None] * (N // 3),
            "q8": [f"said {i}" if i % 400 == 7 else None for i in range(N)],
            "hiv": [int(i == N - 1) for i in range(N)],
            "income": [i * 1.5 for i in range(N)],
            "empty": pl.Series([None] * N, dtype=pl.String),
            "lists": [[1]] * N,
        }
    ).write_parquet(path)
    return path


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(records_looked_at, "MOST", 600)


def test_all_of_a_small_file_is_looked_at(file):
    here, there = (sdc.describe(sdc.read(file, engine=engine)) for engine in ("polars", "duckdb"))
    assert here == there
    assert there.looked_at == N
    assert there.caution == ""


@pytest.mark.parametrize("roles", [{}, {"id": "person_id"}])
def test_a_sample_says_what_it_cannot_tell(file, small_samples, roles):
    data = sdc.read(file, engine="duckdb", **roles)
    seen = sdc.describe(data)
    found = {c.name: c for c in seen.columns}
    assert seen.records == N
    assert 300 < seen.looked_at < 900
    assert f"Looked at {seen.looked_at:,} of 12,000 records" in repr(seen)
    assert "cannot tell whether ids differ in all records" in repr(seen)
    assert {name: c.missing for name, c in found.items()} == {
        c: data.collect().frame[c].null_count() for c in data.columns
    }
    assert found["person_id"].different == seen.looked_at
    assert (found["person_id"].role, found["sex"].role) == (Role.ID, Role.KEYS)
    assert "no two records of the sample have the same" in found["person_id"].reason
    again = sdc.describe(sdc.read(file, engine="duckdb", **roles))
    assert (again == seen) == bool(roles)  # ids draw the same sample each time


def test_values_of_a_few_records_are_not_overlooked(file, small_samples):
    found = {c.name: c for c in sdc.describe(sdc.read(file, engine="duckdb", id="person_id")).columns}
    assert found["q8"].role is Role.DIRECT
    assert found["hiv"].role is Role.SENSITIVE  # of one record in all
    assert found["empty"].role is None


def test_values_of_a_few_records_are_looked_for_in_one_pass(tmp_path, small_samples, monkeypatch):
    """A pass for each column took minutes of a .csv of some hundred columns that most leave empty."""
    days = [date(2001, 1, 1) + timedelta(days=i) if i % 600 == 5 else None for i in range(N)]
    frame = pl.DataFrame({"id": range(N), "born": days, "z": [9.0 * (i == 7) for i in range(N)]})
    texts = [pl.lit(None).alias(f"q{i}").cast(pl.String) for i in range(10)]
    said = [
        pl.when(pl.col("id") % 900 == i).then(pl.format("said {}", "id")).alias(f"r{i}") for i in range(20)
    ]
    frame.with_columns(*texts, *said).write_csv(tmp_path / "wide.csv")
    passes = []
    monkeypatch.setattr(frames, "gather", lambda table, ask=frames.gather: passes.append(1) or ask(table))
    data = sdc.read(tmp_path / "wide.csv", engine="duckdb", id="id")
    passes.clear()
    found = {c.name: c for c in sdc.describe(data).columns}
    assert len(passes) <= 4
    assert [found[f"r{i}"].different for i in range(20)] == [len(range(i, N, 900)) for i in range(20)]
    assert (found["born"].different, found["z"].different) == (20, 2)
