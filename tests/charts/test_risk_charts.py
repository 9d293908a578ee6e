"""Charts of risks: what the bars and curves are, and odd files."""

import polars as pl
import pytest

import sdckit as sdc
from sdckit import charts


def told(chart: object) -> list[str]:
    """The texts of all marks."""
    found: list[str] = []

    def walk(part: object) -> None:
        if isinstance(part, dict):
            found.extend([part["about"]] if isinstance(part.get("about"), str) else [])
            for value in part.values():
                walk(value)
        elif isinstance(part, list):
            for value in part:
                walk(value)

    walk(chart.to_dict())
    return found


def test_frequencies_are_drawn_by_cell_size():
    data = sdc.read(pl.DataFrame({"a": ["x"] + ["y"] * 4 + ["z"] * 12}), keys="a")
    chart = sdc.risk.frequencies(data).chart()
    same = "records in the file with the same keys"
    assert told(chart) == [
        f"1 {same}: 1 records",
        f"2 {same}: 0 records",
        f"3–4 {same}: 4 records",
        f"5–9 {same}: 0 records",
        f"10–19 {same}: 12 records",
    ]
    assert "fewer than 2" in str(chart.to_dict())
    assert "<svg" in charts.static_svg(chart, "x", "")


def test_k_map_splits_its_classes_at_k_and_shows_who_fits_nobody():
    data = sdc.read(pl.DataFrame({"a": ["x", "y", "y", "q"]}), keys="a")
    register = pl.DataFrame({"a": ["x", "y"], "people": [3, 2_000]})
    found = sdc.risk.k_map(data, population=register, count="people", k=4)
    same = "people in the population with the same keys"
    texts = told(found.chart())
    assert texts[:5] == [f"{n} {same}: {r} records" for n, r in zip("01234", (1, 0, 0, 1, 0), strict=True)]
    assert texts[-1] == f"1,000+ {same}: 2 records"
    assert f"{found.value:.0%}" == "50%"
    assert "fewer than 4: 50" in str(found.chart().to_dict())


@pytest.mark.parametrize("values", [["x"] * 3, ["x", None, None], [None, None, "x"]])
def test_one_category_and_missing_keys_are_drawn(values):
    data = sdc.read(pl.DataFrame({"a": values}), keys="a")
    for rule in sdc.Missing:
        svg = charts.static_svg(sdc.risk.frequencies(data, missing=rule).chart(), "x", "")
        assert "records in the file" in svg
        found = sdc.risk.k_map(data, population=pl.DataFrame({"a": ["q"]}), missing=rule)
        assert "people in the population" in charts.static_svg(found.chart(), "x", "")
