"""What the keys give away, before and after."""

import polars as pl

from sdckit._support.number_text import percent
from sdckit.choose.assess import assess
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.report.by_key import by_key, riskiest
from sdckit.risk import individual_risk


def test_riskiest_combinations_count_a_blank_as_a_value_of_its_own():
    frame = pl.DataFrame({"key": ["a"] * 3 + [None] * 2 + ["b"] * 40, "weight": [2.0] * 3 + [100.0] * 42})
    data = Microdata.of(frame, keys="key", weight="weight")
    rows = riskiest(assess(data, data, measures=["individual_risk"]))["rows"]
    exact = individual_risk(data, method="exact", missing="category")
    shown = [(row["values"], row["records"]) for row in rows]
    assert shown == [(["a"], "3"), (["missing"], "2"), (["b"], "40")]
    assert rows[0]["risk"] == percent(exact.figures["highest"])


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


def test_equal_risks_come_in_the_order_of_their_values():
    frame = pl.DataFrame({"risk": [f"{i:03d}" for i in range(300)], "b": [i % 7 for i in range(300)]})
    data = Microdata.of(frame.sample(fraction=1.0, shuffle=True, seed=3), keys=["risk", "b"])
    rows = riskiest(assess(data, data, measures=["individual_risk"]))["rows"]
    assert [row["values"] for row in rows] == [[f"{i:03d}", str(i % 7)] for i in range(10)]
