"""Estimates in a report: verdicts in words, labels, and nothing from a few records."""

import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.report.estimates import CATEGORY, estimates, public_estimates

N = 120


def survey(**roles) -> Microdata:
    frame = pl.DataFrame(
        {
            "area": [1] * 70 + [2] * 46 + [3] * 4,
            "town": ["A"] * 60 + ["B"] * 59 + ["Lonely"],
            "income": [1000.0 + 7 * (i * 37 % 101) for i in range(N - 1)] + [55_555.0],
            "debt": [float(i * 11 % 17) for i in range(N)],
        }
    )
    labels = Labels({"income": "Yearly income"}, {"area": {1: "North", 2: "South", 3: "Island"}})
    return Microdata.of(frame, labels=labels, keys=["area", "town"], numeric=["income", "debt"], **roles)


def doubled(data: Microdata) -> Microdata:
    return data.with_frame(data.frame.with_columns(pl.col("income") * 2))


def tables(needs: dict, *, public: bool = False, data: Microdata | None = None) -> dict:
    data = data or survey()
    done = sdc.assess(data, doubled(data), measures=list(needs), **needs)
    return {t["name"]: t for t in (public_estimates if public else estimates)(done)}


def test_verdicts_are_told_in_words_and_counted():
    table = tables({"indicators": {"indicators": "mean"}})["indicators"]
    rows = {row["label"]: row for row in table["rows"]}
    assert rows["mean of debt"]["verdict"] == "unchanged"
    assert rows["mean of debt"]["good"] is True
    assert rows["mean of debt"]["overlap"].startswith("100")
    assert rows["mean of Yearly income"]["verdict"].startswith("noticeably different")
    assert rows["mean of Yearly income"]["good"] is False
    assert rows["mean of Yearly income"]["change"].startswith("100")
    assert {v["verdict"]: v["count"] for v in table["verdicts"]} == {
        "unchanged": 1,
        "noticeably different": 1,
    }
    assert [p["title"] for p in table["pictures"]] == ["mean of Yearly income"]


def test_no_estimate_from_fewer_than_five_records():
    needs = {"indicators": {"indicators": ["mean", "median"], "by": ["area"]}}
    table = tables(needs)["indicators"]
    domains = {row["domain"] for row in table["rows"]}
    assert domains == {"all records", "North", "South"}
    assert table["few"] == 4  # two indicators of two variables
    assert table["all"] == 16
    assert "Island" not in str(table)


def test_no_coefficient_of_a_category_with_fewer_than_five_records():
    needs = {"regression": {"formula": "income ~ C(area) + town + debt"}}
    table = tables(needs)["regression"]
    labels = {row["label"] for row in table["rows"]}
    assert {"Intercept", "town[T.B]", "debt"} <= labels
    assert not any("Lonely" in label or "Island" in label for label in labels)
    assert table["few"] == 2
    assert "55,555" not in str(table["rows"])
    assert tables(needs, public=True)["regression"]["rows"] == []


@pytest.mark.parametrize(
    ("term", "found"),
    [
        ("sex[T.Female]", [("sex", "Female")]),
        ("C(area)[T.3]:sex[T.Female]", [("area", "3"), ("sex", "Female")]),
        ("iv[T.(90, 99]]:town[T.a:b]", [("iv", "(90, 99]"), ("town", "a:b")]),
        ("Intercept", []),
        ("log(income)", []),
    ],
)
def test_categories_are_found_in_terms(term, found):
    assert CATEGORY.findall(term) == found


def test_a_small_category_that_is_left_out_hides_what_would_tell_it():
    """The intercept is the mean of the reference category, here of one record."""
    data = survey()
    data = data.with_frame(data.frame.with_columns(town=pl.col("town").replace("Lonely", "0 alone")))
    needs = {"regression": {"formula": "income ~ town + debt"}}
    labels = {row["label"] for row in tables(needs, data=data)["regression"]["rows"]}
    assert labels == {"debt"}


def test_the_public_sees_how_many_estimates_got_which_verdict_and_no_more():
    needs = {
        "indicators": {"indicators": ["mean", {"proportion": {"category": "Lonely", "variable": "town"}}]}
    }
    assert "Lonely" in str(tables(needs))
    table = tables(needs, public=True)["indicators"]
    assert "Lonely" not in str(table)
    assert table["rows"] == table["pictures"] == []
    assert sum(v["count"] for v in table["verdicts"]) == table["all"] == 3


def test_direct_identifiers_are_in_no_row():
    needs = {"indicators": {"indicators": "mean", "variables": ["income", "debt"]}}
    table = tables(needs, data=survey().with_roles(numeric=["income"], direct=["debt"]))
    assert {row["label"] for row in table["indicators"]["rows"]} == {"mean of Yearly income"}


def test_long_tables_show_what_changed_most():
    frame = pl.DataFrame({f"x{i}": [float(j * (i + 3) % 41) for j in range(60)] for i in range(40)})
    data = Microdata.of(frame, numeric=frame.columns)
    moved = data.with_frame(frame.with_columns(pl.col("x39") + 30))
    done = sdc.assess(data, moved, measures=["indicators"], indicators="mean")
    (table,) = estimates(done)
    assert len(table["rows"]) == 30
    assert table["all"] == 40
    assert "mean of x39" in {row["label"] for row in table["rows"]}
