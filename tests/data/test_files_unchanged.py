import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import FileError

pytest.importorskip("duckdb", reason="duckdb is not installed")
CHANGED = "Files have changed since they were read.* Given: .*a.parquet"
PEOPLE = pl.DataFrame({"id": range(40), "sex": [1, 2] * 20, "age": [30] * 39 + [99]})


@pytest.fixture
def data(tmp_path):
    PEOPLE.write_parquet(tmp_path / "a.parquet")
    return sdc.read(tmp_path / "a.parquet", engine="duckdb", id="id", keys=["sex", "age"])


@pytest.mark.parametrize(
    "other",
    [
        PEOPLE.with_columns(pl.col("age").cast(pl.String) + " years"),
        PEOPLE.rename({"age": "years"}),
        PEOPLE.with_columns(sex=3),
    ],
)
def test_files_of_other_types_or_values_are_refused_by_measures_protections_and_assess(tmp_path, data, other):
    protected = sdc.protect.recode(data, variable="age", width=20)
    other.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(FileError, match=CHANGED):
        sdc.risk.frequencies(data)
    with pytest.raises(FileError, match=CHANGED):
        sdc.protect.suppress(data, k=2)
    with pytest.raises(FileError, match=CHANGED):
        sdc.assess(data, protected, measures="frequencies")


def test_files_that_change_during_an_assessment_or_before_its_verdict_are_refused(tmp_path, data):
    protected = sdc.protect.recode(data, variable="age", width=20)

    def change(*_):
        PEOPLE.with_columns(sex=3).write_parquet(tmp_path / "a.parquet")

    done = sdc.assess(data, protected, measures="frequencies")
    with pytest.raises(FileError, match=CHANGED):
        sdc.assess(data, protected, measures="frequencies", progress=change)
    with pytest.raises(FileError, match=CHANGED):
        _ = done.verdict


def test_files_in_memory_may_change(tmp_path, data):
    here = data.collect()
    PEOPLE.rename({"age": "years"}).write_parquet(tmp_path / "a.parquet")
    assert sdc.risk.frequencies(here).value > 0
