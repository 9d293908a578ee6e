"""Files of many columns: the same types as of few, whatever the columns are called."""

from datetime import date

import polars as pl

import sdckit as sdc
from sdckit.io.delimited import AT_ONCE

KINDS = {
    "whole": ([1, None, -3], pl.Int64),
    "decimal": ([0.5, 2.0, None], pl.Float64),
    "text": (["a", None, "1x"], pl.String),
    "day": ([date(2001, 7, 31), None, date(1999, 1, 1)], pl.Date),
    "truth": ([True, False, None], pl.Boolean),
    "code": (["007", "010", "100"], pl.String),
}


def test_more_columns_than_one_query_looks_at(tmp_path):
    made = {f"{kind}{i}": values for i in range(AT_ONCE // 2) for kind, (values, _) in KINDS.items()}
    assert len(made) > 2 * AT_ONCE
    frame = pl.DataFrame(made)
    frame.write_csv(tmp_path / "wide.csv")
    back = sdc.read(tmp_path / "wide.csv")
    assert back.frame.columns == frame.columns
    assert back.frame.equals(frame)
    roles = sdc.describe(back).columns
    assert [c.name for c in roles] == frame.columns
    assert all(c.different == frame[c.name].drop_nulls().n_unique() for c in roles[:12])


def test_columns_named_like_what_is_counted(tmp_path):
    names = ["a", "a present", "a integer", "a float", "a float present", "present", " integer", "a date"]
    kinds = [KINDS[kind][0] for kind in ("text", "whole", "text", "decimal", "day", "truth", "code", "whole")]
    frame = pl.DataFrame(dict(zip(names, kinds, strict=True)))
    frame.write_csv(tmp_path / "odd.csv")
    assert sdc.read(tmp_path / "odd.csv").frame.equals(frame)
