"""What the keys give away, before and after."""

import polars as pl

from sdckit._support.number_text import percent
from sdckit.choose.assess import assess
from sdckit.choose.compare import compare
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.report.by_key import _apart, by_k, by_key, riskiest
from sdckit.report.summarize import summarize
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


def test_equal_risks_come_in_the_order_of_their_values():
    frame = pl.DataFrame({"risk": [f"{i:03d}" for i in range(300)], "b": [i % 7 for i in range(300)]})
    data = Microdata.of(frame.sample(fraction=1.0, shuffle=True, seed=3), keys=["risk", "b"])
    rows = riskiest(assess(data, data, measures=["individual_risk"]))["rows"]
    assert [row["values"] for row in rows] == [[f"{i:03d}", str(i % 7)] for i in range(10)]


def test_the_public_cannot_take_two_rows_by_k_apart():
    # 12 uniques, 1 pair, 2 triples, 5 of four: 12 below 2, 14 below 3, 40 below 5
    sizes = [1] * 12 + [2] + [3] * 2 + [4] * 5 + [50]
    frame = pl.DataFrame({"a": [i for i, size in enumerate(sizes) for _ in range(size)]})
    data = Microdata.of(frame, keys="a")
    shown = {}
    for k in (2, 3):
        done = assess(data, data, measures=["k_anonymity"], k_anonymity={"k": k})
        assert [row["before"] for row in by_k(done, public=False)] == [12, 14, 40]
        shown[k] = [(row["label"], row["before"]) for row in by_k(done, public=True)]
    assert shown == {
        2: [("fewer than 2 records", 12), ("fewer than 5 records", 40)],
        3: [("fewer than 3 records", 14), ("fewer than 5 records", 40)],
    }


def test_rows_that_are_not_told_apart_stay():
    rows = [
        {"k": 2, "before": 0, "after": 0},
        {"k": 3, "before": 0, "after": 0},
        {"k": 5, "before": 9, "after": 5},
    ]
    assert _apart(rows, [3]) == rows


def test_unique_records_are_the_row_below_2_or_withheld_from_the_public():
    for pairs, told in ((1, False), (4, True)):  # 2 or 8 records more below 3 than below 2
        sizes = [1] * 12 + [2] * pairs + [50]
        frame = pl.DataFrame({"a": [i for i, size in enumerate(sizes) for _ in range(size)]})
        data = Microdata.of(frame, keys="a")
        done = assess(data, data, measures=["frequencies", "k_anonymity"])
        internal, public = (summarize(done, audience) for audience in ("internal", "public"))
        measured = {row["name"] for section in public["risk"] for row in section["rows"]}
        assert ("k_anonymity" in measured) == told
        assert "frequencies" in measured
        assert {row["name"] for row in internal["risk"][0]["rows"]} == {"frequencies", "k_anonymity"}
        rows = {row["label"]: row["before"] for row in public["by_k"]}
        assert (rows.get("fewer than 2 records") == 12) == told
        assert (rows.get("fewer than 3 records") == 12 + 2 * pairs) == told
        reasons = {row["name"]: row["reason"] for row in public["omitted"]}
        assert told or "difference from another number" in reasons["k_anonymity"]


def test_what_a_map_shows_decides_which_of_two_close_counts_is_withheld():
    sizes = [1] * 12 + [2] + [50]  # 12 unique, 14 below 3
    frame = pl.DataFrame({"a": [i for i, size in enumerate(sizes) for _ in range(size)]})
    data = Microdata.of(frame.with_columns(b=pl.lit("x"), c=pl.int_range(pl.len()) / 7), keys=["a", "b"])
    data = data.with_roles(numeric="c")
    uniques = {"frequencies", "suda", "population_uniques"}
    shown = {
        "frequencies": uniques,
        "suda.unique_records": uniques,
        "k_anonymity": {"k_anonymity"},
        ("k_anonymity", "frequencies"): set(),
    }
    for risk, left in shown.items():
        axis = risk if isinstance(risk, str) else [*risk]
        found = compare(data, {"all": [{"microaggregate": {"k": 3}}]}, risk=axis)
        public = summarize(found, "public")
        measured = {row["name"] for section in public["risk"] for row in section["rows"]}
        assert measured & {*uniques, "k_anonymity"} == left
        assert bool(public["by_k"]) == ("k_anonymity" in left)
