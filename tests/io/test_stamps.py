"""The same data give the same bytes, whatever the date."""

import time
from datetime import date

import polars as pl
import pytest

import sdckit.io as sdc
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.io.formats import WRITABLE
from sdckit.io.stamps import WHEN

FRAME = pl.DataFrame(
    {
        "region": [1, 2, None],
        "income": [1.5, None, -3e6],
        "name": ["Zoë", None, "16NOV26:06:19:31"],  # a text that looks like a date in a header
        "day": [date(2024, 2, 29), None, date(1950, 1, 1)],
        "size": pl.Series(["s", "l", None], dtype=pl.Enum(["s", "m", "l"])),
    }
)
DATA = Microdata.of(
    FRAME, labels=Labels({"region": "01 Jan 2026 06:19"}, {"region": {1: "16NOV26:06:19:31"}})
)


@pytest.mark.parametrize("ending", WRITABLE)
def test_bytes_do_not_depend_on_the_clock(tmp_path, ending):
    first = sdc.write(DATA, tmp_path / f"first{ending}").read_bytes()
    time.sleep(1.1)  # the finest clock in a header has seconds
    second = sdc.write(DATA, tmp_path / f"second{ending}").read_bytes()
    assert first == second
    back = sdc.read(tmp_path / f"second{ending}")
    assert back.frame["name"].to_list() == FRAME["name"].to_list()
    if ending in (".sav", ".zsav", ".dta"):
        assert back.labels.values["region"] == {1: "16NOV26:06:19:31"}


def test_programs_read_the_fixed_date(tmp_path):
    import pyreadstat

    for ending, reader in {
        ".sav": pyreadstat.read_sav,
        ".dta": pyreadstat.read_dta,
        ".xpt": pyreadstat.read_xport,
    }.items():
        _, about = reader(sdc.write(DATA, tmp_path / f"a{ending}"), metadataonly=True)
        assert about.creation_time.date() == WHEN.date()
