"""Questions to a table of any engine."""

import polars as pl
import pytest

from sdckit.engine import frames, tables


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_different_values_of_many_columns(engine, monkeypatch):
    monkeypatch.setattr(frames, "COLUMNS", 2)
    table = pl.DataFrame({f"c{i}": [None, *(j % i for j in range(9))] for i in range(1, 6)})
    native = table if engine == "polars" else pytest.importorskip("duckdb").from_arrow(table.to_arrow())
    assert frames.different_values(native, table.columns) == {f"c{i}": i + 1 for i in range(1, 6)}


def test_missing_values_of_many_columns_are_counted_some_at_a_time(monkeypatch):
    monkeypatch.setattr(frames, "COLUMNS", 2)
    table = pl.DataFrame({f"c{i}": [None] * i + [1] * (9 - i) for i in range(6)})
    assert tables.missing_counts(frames.lazy(table), table.columns) == {f"c{i}": i for i in range(6)}
