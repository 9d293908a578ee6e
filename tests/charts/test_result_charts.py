"""What the charts of results show, by hand-made results."""

import itertools
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit import charts
from sdckit._support.number_text import SPACE, coarse
from sdckit.charts.mosaic_three import _tiles
from sdckit.charts.score_densities import _smooth
from sdckit.charts.table_cells import table_cells

pytestmark = pytest.mark.usefixtures("checked_charts")

SVG = "{http://www.w3.org/2000/svg}"


def told(chart: object) -> list[str]:
    tree = ElementTree.fromstring(charts.static_svg(chart, "x", ""))
    return [t.text or "" for tag in ("title", "text") for t in tree.iter(f"{SVG}{tag}")]


def values(chart: object, field: str) -> list[float]:
    """A field of all inline data of a chart."""

    datasets = chart.to_dict()["datasets"]
    return [row[field] for rows in datasets.values() for row in rows if field in row]


def cells(*sizes: int, seed: int = 1) -> sdc.Result:
    """A contingency result with one table of so many categories a variable."""
    rng = np.random.default_rng(seed)
    places = list(itertools.product(*[[f"{'abc'[i]}{j}" for j in range(n)] for i, n in enumerate(sizes)]))
    frame = pl.DataFrame(
        {
            "table": [" × ".join("xyz"[: len(sizes)])] * len(places),
            "categories": [list(p) for p in places],
            "original": rng.integers(1, 50, len(places)).astype(float),
            "protected": rng.integers(0, 50, len(places)).astype(float),
        }
    )
    return sdc.Result(1.0, tables={"cells": frame}, measure="contingency_tables")


def test_bars_are_sorted_cut_and_say_what_is_not_drawn():
    parts = pl.DataFrame({"variable": [f"v{i}" for i in range(20)], "loss": [*map(float, range(19)), np.inf]})
    chart = charts.PartsBars("loss", "loss")(sdc.Result(1.0, parts=parts))
    assert values(chart, "value") == [float(v) for v in range(18, 3, -1)]
    assert "the 15 largest of 19; not drawn, infinite: v19" in told(chart)


def test_bars_in_percent_and_bars_of_figures():
    parts = pl.DataFrame({"variable": ["a"], "percent": [12.5]})
    assert f"a: 12.5{SPACE}%" in told(
        charts.PartsBars("percent", "x", percent=True)(sdc.Result(1, parts=parts))
    )
    figures = {"second": 2.0, "first": 9.0, "other": 5.0}
    chart = charts.FigureBars(("second", "first"), "x")(sdc.Result(1, figures))
    assert values(chart, "value") == [2.0, 9.0]


def test_overlays_carry_shares_over_to_round_limits():
    data = sdc.read(pl.DataFrame({"v": np.linspace(0, 100, 4001)}), numeric="v")
    chart = charts.distribution_overlays(sdc.utility.distribution_distance(data, data))
    shares = values(chart, "before")
    assert sum(shares) == pytest.approx(1, abs=1e-4)
    assert shares[1:-1] == pytest.approx([shares[1]] * (len(shares) - 2), rel=0.01)  # uniform stays uniform
    assert values(chart, "after")[: len(shares)] == shares
    assert any(t.startswith("10 to 15: original") for t in told(chart))


def test_overlays_of_two_values_and_of_one():
    two = sdc.read(pl.DataFrame({"v": [0.0] * 30 + [1.0] * 10}), numeric="v")
    one = sdc.read(pl.DataFrame({"v": [5.0] * 30}), numeric="v")
    assert values(charts.distribution_overlays(sdc.utility.distribution_distance(two, two)), "before") == [
        0.75,
        0.25,
    ]
    assert values(charts.distribution_overlays(sdc.utility.distribution_distance(one, one)), "before") == [
        1.0
    ]


def test_boxes_end_at_5_and_95_percent_and_show_no_extreme():
    values_ = np.arange(1.0, 1002.0)
    values_[-1] = 123456.0
    data = sdc.read(pl.DataFrame({"v": values_}), numeric="v")
    chart = charts.box_plots(sdc.utility.moments(data, data))
    assert [values(chart, f"q{i}")[0] for i in range(5)] == [51.0, 251.0, 501.0, 751.0, 951.0]
    assert "123" not in "".join(told(chart))


def test_other_quantiles_make_no_box_but_correlations_are_drawn():
    data = sdc.read(pl.DataFrame({"v": [1.0, 2, 3], "u": [1.0, 3, 2]}), numeric=["v", "u"])
    result = sdc.utility.moments(data, data, probabilities=[0.1, 0.9])
    with pytest.raises(sdc.SdcError, match="nothing to draw"):
        charts.box_plots(result)
    assert "u, v: 0.50" in told(result.chart())


def test_correlations_keep_those_that_changed_most():
    names = [f"v{i:02d}" for i in range(20)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[:i]]
    frame = pl.DataFrame(pairs, schema=["variable", "with"], orient="row").with_columns(
        original=pl.lit(0.1), protected=pl.when(pl.col("variable") == "v19").then(0.9).otherwise(0.1)
    )
    chart = charts.correlation_heatmaps(sdc.Result(1, tables={"correlation": frame}))
    assert {*values(chart, "row"), *values(chart, "column")} == {*names[:15], "v19"}
    assert max(values(chart, "value")) == 0.9
    assert "+0.80" in {*values(chart, "text")}


def test_small_differences_of_correlations_are_pale_and_nothing_is_rounded_to_1():
    frame = pl.DataFrame({"variable": ["b"], "with": ["a"], "original": [0.997], "protected": [0.987]})
    chart = charts.correlation_heatmaps(sdc.Result(1, tables={"correlation": frame}))
    assert {"0.997", "0.99", "−0.01"} == {*values(chart, "text")}
    assert not any(values(chart, "strong")[2:])
    assert [-0.1, 0, 0.1] in [
        p["layer"][0]["encoding"]["color"]["scale"]["domain"] for p in chart.to_dict()["hconcat"]
    ]


def test_without_special_uniques_suda_says_so():
    result = sdc.risk.suda(sdc.Microdata.of(pl.DataFrame({"a": [1, 1], "b": [2, 2]}), keys=["a", "b"]))
    assert "No special uniques" in " ".join(told(result.chart()))


def test_ecdf_curves_say_which_way_the_file_moved():
    frame = pl.DataFrame({"v": np.arange(500.0)})
    data = sdc.read(frame, numeric="v")
    chart = sdc.utility.ecdf_distance(data, data.with_frame(frame + 50)).chart()
    assert max(values(chart, "difference")) == pytest.approx(0.1)
    assert min(values(chart, "difference")) >= 0
    assert "Population (weighted)" not in told(chart)
    assert max(values(chart, "at")) < 549


def test_smoothing_keeps_the_sum():
    shares = [0.5, 0.0, 0.0, 0.5]
    assert sum(_smooth(shares)) == pytest.approx(1)
    assert _smooth(shares) == [0.125, 0.25, 0.125, 0.125, 0.25, 0.125]


def test_scores_of_equal_files_lie_at_the_line():
    data = sdc.demo.survey(n=200, seed=1)
    texts = told(sdc.utility.propensity(data, data).chart())
    assert any(t.startswith(f"50{SPACE}% of all records") for t in texts)


def test_clusters_change_colour_at_their_share():
    parts = pl.DataFrame(
        {"cluster": [1, 2], "weight": [30.0, 10.0], "records": [30, 10], "share_original": [0.4, 0.8]}
    )
    chart = charts.cluster_shares(sdc.Result(1, parts=parts))
    assert values(chart, "from") == [0.0, 0.4, 0.0, 0.8, 0.5]  # the last is the line: 0.4·¾ + 0.8·¼


def test_tables_are_found_by_name_ordered_and_cut():
    result = cells(12, 2)
    found = table_cells(result)
    assert found.names == ("x", "y")
    assert len(found.levels[0]) == 9
    assert found.levels[0][-1] == "other"
    frame = result.tables["cells"]
    assert sum(found.before.values()) == frame["original"].sum()
    assert sum(found.after.values()) == frame["protected"].sum()
    with pytest.raises(sdc.SdcError, match="no table 'q'"):
        charts.table_change(result, table="q")


def test_numbers_are_ordered_as_numbers_and_missing_comes_last():
    frame = pl.DataFrame(
        {
            "table": ["x"] * 4,
            "categories": [["10"], ["missing"], ["9"], ["1"]],
            "original": 1.0,
            "protected": 1.0,
        }
    )
    assert table_cells(sdc.Result(1, tables={"cells": frame})).levels == (("1", "9", "10", "missing"),)


def test_a_name_with_the_times_sign_in_it_is_not_taken_apart():
    frame = cells(2, 2).tables["cells"].with_columns(table=pl.lit("a × b × y"))
    assert table_cells(sdc.Result(1, tables={"cells": frame})).names == (
        "variable 1 of a × b × y",
        "variable 2 of a × b × y",
    )


@pytest.mark.parametrize(("sizes", "marks"), [((4,), 8), ((3, 4), 36), ((2, 3, 2), 36)])
def test_tables_of_one_two_and_three_variables(sizes, marks):
    result = cells(*sizes)
    chart = charts.table_change(result)
    empty = int((result.tables["cells"]["protected"] == 0).sum()) if len(sizes) > 1 else 0
    assert len(values(chart, "about")) == marks - empty
    assert told(chart)


def test_heat_map_shows_protected_minus_original():
    result = cells(3, 3)
    frame = result.tables["cells"]
    changes = (frame["protected"] - frame["original"]).to_list()
    assert values(charts.table_heatmap(result), "value") == changes


def test_areas_of_three_variables_are_shares():
    found = table_cells(cells(3, 2, 3))
    tiles, columns, _ = _tiles(found, found.before)
    total = sum(found.before.values())
    areas = [(t["right"] - t["left"]) * (t["top"] - t["bottom"]) for t in tiles]
    assert areas == pytest.approx([v / total for v in found.before.values()], abs=0.012)
    assert sum(areas) == pytest.approx(1, abs=0.05)
    assert sum(c["share"] for c in columns) == pytest.approx(1)


def test_values_of_an_axis_are_rounded_to_its_span():
    assert coarse([8123.45]) == [8120.0]
    assert coarse([100000.37, 100001.91]) == [100000.37, 100001.91]
    assert coarse([0.0, 123456.78]) == [0.0, 123000.0]
    assert coarse([]) == []
