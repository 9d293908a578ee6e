"""Charts of risks: what the bars and curves are, and odd files."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit import charts
from sdckit._support.number_text import percent

pytestmark = pytest.mark.usefixtures("checked_charts")


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
        f"{same}: 1 (1 record)",
        f"{same}: 2 (0 records)",
        f"{same}: 3–4 (4 records)",
        f"{same}: 5–9 (0 records)",
        f"{same}: 10–19 (12 records)",
    ]
    assert "fewer than 2" in str(chart.to_dict())
    assert "<svg" in charts.static_svg(chart, "x", "")


def test_k_map_splits_its_classes_at_k_and_shows_who_fits_nobody():
    data = sdc.read(pl.DataFrame({"a": ["x", "y", "y", "q"]}), keys="a")
    register = pl.DataFrame({"a": ["x", "y"], "people": [3, 2_000]})
    found = sdc.risk.k_map(data, population=register, count="people", k=4)
    same = "people in the population with the same keys"
    texts = told(found.chart())
    counts = ("1 record", "0 records", "0 records", "1 record", "0 records")
    assert texts[:5] == [f"{same}: {n} ({r})" for n, r in enumerate(counts)]
    assert texts[-1] == f"{same}: 1,000+ (2 records)"
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


def test_distances_to_the_closest_record_are_two_curves_through_the_value():
    data = sdc.read(pl.DataFrame({"x": [0.0, 1.0, 3.0, 6.0, 10.0]}), numeric="x")
    other = data.with_frame(pl.DataFrame({"x": [0.0, 4.5, 12.0, 8.0]}))
    found = sdc.risk.closest_record(data, other)
    table = found.tables["distances"]
    for column in ("synthetic", "reference"):
        assert table[column].is_sorted()
        assert 0 <= table[column][0] <= table[column][-1] == 1
    at = table.filter(pl.col("distance") == found.figures["threshold"])
    assert at["synthetic"].to_list() == [found.value]
    assert at["reference"].to_list() == [found.figures["reference_share"]]
    assert table["synthetic"][0] == found.figures["copies"]
    assert any(text.startswith("Within the threshold: 25") for text in told(found.chart()))


def test_curves_tell_no_extreme_and_only_rounded_distances():
    data, other = (sdc.demo.survey(n=400, seed=seed) for seed in (1, 2))
    found = sdc.risk.closest_record(data, other, variables=["income", "savings"])
    drawn = found.tables["distances"]["distance"].to_list()
    assert drawn[-1] < found.parts["distance"].max()
    rounded = [d for d in drawn if d != found.figures["threshold"]]
    assert [float(f"{d:.2g}") for d in rounded] == rounded


def test_copies_of_records_that_are_all_the_same_are_drawn():
    data = sdc.read(pl.DataFrame({"a": ["x"] * 9, "b": ["x", "y", "z"] * 3}), keys=["a", "b"])
    chart = sdc.risk.closest_record(data, data).chart()
    assert "Within the threshold: 100" in charts.static_svg(chart, "x", "")


def test_outliers_are_counted_by_distance_as_the_measure_counts_them():
    data = sdc.demo.business(n=300, seed=1)
    found = sdc.risk.outlier_disclosure(data, data)
    table, parts = found.tables["distances"], found.parts
    assert table["records"].sum() == 300
    assert table["at_risk"].sum() == parts["at_risk"].sum() == round(found.value * 300) > 0
    assert table["hidden"].sum() == (parts["inside"] & ~parts["at_risk"]).sum()
    far = table.filter(pl.col("from") >= 1)
    assert far["records"].sum() == round(found.figures["outliers"] * 300) > 0
    assert far["at_risk"].sum() / far["records"].sum() == pytest.approx(found.figures["outliers_at_risk"])
    first = told(found.chart())[0]
    assert first.startswith(f"0 to 0.25 times the limit: {table['records'][0]} records")


def test_a_comparison_without_numbers_has_nothing_to_draw():
    alone = sdc.read(pl.DataFrame({"x": [1.0]}), numeric="x")
    for found in (sdc.risk.outlier_disclosure(alone, alone), sdc.risk.closest_record(alone, alone)):
        with pytest.raises(sdc.SdcError, match="nothing to draw"):
            found.chart()


def test_attacks_are_two_points_a_row_the_largest_risk_first():
    rng = np.random.default_rng(1)

    def people(n: int) -> pl.DataFrame:
        age = rng.integers(18, 80, n)
        return pl.DataFrame({"age": age, "ill": rng.choice(["no", "yes"], n), "job": rng.integers(0, 9, n)})

    frame, others = people(120), people(120)
    data = sdc.read(frame, numeric="age", sensitive=["ill", "job"])
    for name in ("singling_out", "linkability", "inference_attack"):
        found = getattr(sdc.risk, name)(data, data, holdout=others)
        texts = told(found.chart())
        rows = found.parts.sort("risk", descending=True).to_dicts()
        assert len(texts) == 2 * len(rows), "one of the people in the file, one of others"
        label = str(rows[0][found.parts.columns[0]])
        assert texts[0].startswith(f"{label}: {percent(rows[0]['attack'])} in the file")
        assert f"risk {percent(rows[0]['risk'])}" in texts[0]
        assert "Other people" in charts.static_svg(found.chart(), "x", "")
    assert found.parts["variable"].to_list() == ["ill", "job"]


def test_attacks_that_were_not_tried_are_not_drawn():
    data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 3.0]}), numeric="x")
    with pytest.raises(sdc.SdcError, match="nothing to draw"):
        sdc.risk.linkability(data, data, holdout=data.frame).chart()
