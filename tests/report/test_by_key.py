"""What the keys give away, before and after."""

import polars as pl

from sdckit.assess import assess
from sdckit.charts.numbers import percent
from sdckit.labels import Labels
from sdckit.microdata import Microdata
from sdckit.report.by_key import by_key, riskiest
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


def test_keys_are_compared_before_and_after():
    frame = pl.DataFrame(
        {"a": [i % 7 for i in range(60)], "b": [i % 5 for i in range(60)], "c": ["x", "y"] * 30}
    )
    data = Microdata.of(frame, labels=Labels({"a": "Long name"}), keys=["a", "b", "c"])
    after = data.with_frame(frame.with_columns(a=pl.lit(1)))
    done = assess(data, after, measures=["individual_risk", "suda"])
    found = {part["name"]: part for part in by_key(done)}
    assert {*found} == {"individual_risk", "suda"}
    part = found["individual_risk"]
    tables = [
        dict(r.tables["keys"].select("key", "reduction").rows())
        for r in (done.before["individual_risk"], done.after["individual_risk"])
    ]
    names = {"Long name": "a", "b": "b", "c": "c"}
    assert {*part["labels"]} == {*names}
    assert part["before"] == [tables[0][names[label]] for label in part["labels"]]
    assert part["after"] == [tables[1][names[label]] for label in part["labels"]]
    assert part["before"] == sorted(part["before"], reverse=True)
    assert part["after"][part["labels"].index("Long name")] == 0
    assert part["section"] == "keys"


def test_one_key_needs_no_chart():
    data = Microdata.of(pl.DataFrame({"a": [1, 1, 2]}), keys="a")
    assert by_key(assess(data, data, measures=["individual_risk"])) == []
