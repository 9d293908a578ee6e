"""Moments of a time zone: on DuckDB always in UTC, whatever the zone of the machine, and a warning."""

import os
import subprocess
import sys
from datetime import UTC, datetime

import polars as pl
import pytest

import sdckit as sdc

LAST = datetime(2024, 3, 31, 23, 30, tzinfo=UTC)  # April in Tokyo, and still March in New York
MONTHS = """
import sdckit as sdc
data = sdc.read("visits.parquet", keys="visit", engine="duckdb")
print(*sdc.protect.recode(data, variable="visit", to="month").collect().frame["visit"])
"""


def visits(zone: str) -> pl.DataFrame:
    return pl.DataFrame({"visit": [LAST]}).with_columns(pl.col("visit").dt.convert_time_zone(zone))


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
def test_months_do_not_follow_the_machine(zone, tmp_path):
    pytest.importorskip("duckdb")
    visits("UTC").write_parquet(tmp_path / "visits.parquet")
    done = subprocess.run(
        [sys.executable, "-c", MONTHS], cwd=tmp_path, env=os.environ | {"TZ": zone},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["2024-03"]


@pytest.mark.parametrize("several", [False, True])
def test_a_zone_that_is_not_kept_is_told(several, tmp_path):
    pytest.importorskip("duckdb")
    visits("Asia/Tokyo").write_parquet(tmp_path / "visits.parquet")
    source = tmp_path if several else tmp_path / "visits.parquet"
    with pytest.warns(sdc.errors.SdcWarning, match="Moments are in UTC on duckdb.*: visit"):
        data = sdc.read(source, engine="duckdb")
    assert data.collect().frame["visit"].to_list() == [LAST]


def test_nothing_is_told_of_utc_and_of_moments_without_a_zone(tmp_path, recwarn):
    pytest.importorskip("duckdb")
    plain = visits("UTC").with_columns(local=pl.col("visit").dt.replace_time_zone(None))
    plain.write_parquet(tmp_path / "visits.parquet")
    data = sdc.read(tmp_path / "visits.parquet", engine="duckdb")
    assert not recwarn.list
    assert data.collect().frame.equals(plain)
