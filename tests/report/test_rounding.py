"""The same data and seed give the same report."""

import os
import subprocess
import sys
from math import inf, isnan, nan

import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.result import Result
from sdckit.report.document import to_json
from sdckit.report.rounding import settled
from sdckit.report.summarize import summarize

MEASURES = [
    "individual_risk",
    "k_anonymity",
    "suda",
    "contingency_tables",
    "entropy",
    "il1s",
    "missing_values",
]
PROGRAM = f"""
import sdckit as sdc
from sdckit.report.document import to_json
from sdckit.report.summarize import summarize
data = sdc.demo.survey(n=200, seed=1)
done = sdc.assess(data, sdc.protect.suppress(data, k=2), measures={MEASURES!r})
for audience in ("internal", "public"):
    print(to_json(summarize(done, audience)))
"""


@pytest.fixture(scope="module")
def contents():
    return measured()


def measured():
    data = sdc.demo.survey(n=200, seed=1)
    done = sdc.assess(data, sdc.protect.suppress(data, k=2), measures=MEASURES)
    return [summarize(done, audience) for audience in ("internal", "public")]


def test_measuring_again_gives_the_same_content(contents):
    assert measured() == contents


def test_the_order_of_sets_decides_nothing(contents):
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"  # than that of this process
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONHASHSEED": other, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == "".join(f"{to_json(content)}\n" for content in contents) != ""


def test_last_digits_go_and_nothing_else():
    table = pl.DataFrame(
        {"literal": [0.1 + 0.2, 1e-17, nan, inf, None, -2.5e9], "n": [1, 2, 3, 4, 5, 6], "t": list("abcdef")}
    )
    result = Result(0.1 + 0.2, {"a": 3, "b": -1e-16, "c": inf}, table, tables={"more": table})
    data = sdc.demo.survey(n=50, seed=1)
    done = settled(sdc.Assessment(data, (data,), {"m": result}, {}, {"u": Result(nan)}))
    found = done.before["m"]
    assert (found.value, dict(found.figures)) == (0.3, {"a": 3, "b": 0.0, "c": inf})
    assert isnan(done.utility["u"].value)
    expected = table.with_columns(pl.Series("literal", [0.3, 0.0, nan, inf, None, -2.5e9]))
    assert found.parts.equals(expected)
    assert found.tables["more"].equals(expected)
