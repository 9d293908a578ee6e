"""The same data and seed give the same report."""

import os
import subprocess
import sys
from math import inf, isnan, nan

import polars as pl

import sdckit as sdc
from sdckit.data.result import Result
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


def test_measuring_again_gives_the_same_content():
    data = sdc.demo.survey(n=200, seed=1)
    first, second = (
        [
            summarize(sdc.assess(data, sdc.protect.suppress(data, k=2), measures=MEASURES), audience)
            for audience in ("internal", "public")
        ]
        for _ in range(2)
    )
    assert first == second


def test_the_order_of_sets_decides_nothing():
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    texts = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert texts[0] == texts[1] != ""


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
