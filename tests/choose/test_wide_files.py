"""Files of thousands of columns: every column is still judged."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.choose.criteria import Status

WIDE = 2_000


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(1)
    region = rng.integers(1, 9, 200)
    columns = {"region": region, "sex": rng.integers(1, 3, 200)}
    columns |= {f"v{i}": rng.integers(1, 4, 200) for i in range(WIDE)}
    columns["v1234"] = region * 7 % 11  # another name for the region
    columns["v1777"] = rng.permutation(200)  # names every record
    return sdc.read(pl.DataFrame(columns), keys=["region", "sex"])


@pytest.fixture(scope="module")
def assessment(wide):
    protected = sdc.Scenario("coarse", [sdc.Step("drop", variables=["region"])]).protect(wide, seed=1)
    return sdc.assess(wide, protected, measures=["revealing_columns", "reidentification_risk"])


def test_the_one_column_that_tells_a_hidden_value_is_found(assessment):
    criterion = {c.name: c for c in assessment.verdict.criteria}["columns that tell what was hidden"]
    assert criterion.status is Status.NOT_MET
    assert "region is told by v1234" in criterion.why
    assert assessment.after["revealing_columns"].figures["alarms"] == 1


def test_all_columns_without_a_role_are_counted_and_those_named_that_name_records(assessment):
    criterion = {c.name: c for c in assessment.verdict.criteria}["columns that no risk looks at"]
    assert criterion.status is Status.NOT_MET
    assert criterion.value == WIDE
    assert "v1777 nearly names every record" in criterion.why
    assert f"({WIDE} in all)" in criterion.why


def test_suppression_names_the_column_that_tells_the_blanked_value(wide):
    done = sdc.protect.suppress(wide, k=15)
    told = {c for columns in done.log[-1].figures["inferred_from"].values() for c in columns}
    assert "v1234" in told


def test_a_report_of_thousands_of_columns_is_written_and_stays_small(assessment, tmp_path):
    written = sdc.report(assessment, tmp_path / "report.html")
    assert written.stat().st_size < 3_000_000
    assert "revealing" in written.read_text(encoding="utf-8") or "tell" in written.read_text(encoding="utf-8")
