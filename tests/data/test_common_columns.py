"""Which columns are compared, and which of them as amounts."""

import duckdb
import polars as pl
import pytest

from sdckit.data.common_columns import is_amount
from sdckit.data.microdata import Microdata
from sdckit.engine import frames

FRAME = pl.DataFrame(
    {
        "id": [1, 2, 3],
        "code": [1.0, 2.0, None],
        "amount": [1.5, 2.0, None],
        "endless": [1.0, 2.0, float("inf")],
        "empty": pl.Series([None] * 3, dtype=pl.Float64),
        "key": [1.5, 2.5, 3.5],
        "whole": [1, 2, 3],
        "text": ["a", "b", "c"],
        "income": [1.0, 2.0, 3.0],
    }
)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_amounts_are_found_by_one_question_for_all_columns(engine, monkeypatch):
    table = duckdb.from_arrow(FRAME.to_arrow()) if engine == "duckdb" else FRAME
    data = Microdata.of(table, id="id", keys=["key"], numeric=["income"])
    asked, gather = [], frames.gather
    monkeypatch.setattr(frames, "gather", lambda lazy: asked.append(1) or gather(lazy))
    amounts = {c for c in FRAME.columns if is_amount(data, c)}
    assert amounts == {"amount", "endless", "income"}
    assert len(asked) == 1
