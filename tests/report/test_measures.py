"""Tables of a report that are made from the files again."""

import polars as pl

from sdckit.assess import assess
from sdckit.charts.numbers import percent
from sdckit.microdata import Microdata
from sdckit.report.measures import riskiest
from sdckit.risk import individual_risk


def test_riskiest_uses_the_method_that_was_measured_with():
    frame = pl.DataFrame({"key": ["a"] * 3 + ["b"] * 40, "weight": [2.0] * 3 + [100.0] * 40})
    data = Microdata.of(frame, keys="key", weight="weight")
    shown = {}
    for method in ("approx", "exact"):
        done = assess(data, data, measures=["individual_risk"], individual_risk={"method": method})
        shown[method] = riskiest(done)["rows"][0]["risk"]
        assert shown[method] == percent(individual_risk(data, method=method).figures["highest"])
    assert shown["approx"] != shown["exact"]
