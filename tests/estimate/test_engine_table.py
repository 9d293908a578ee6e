"""Indicators on every engine equal those in memory."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from engine_frames import ENGINES, on_engine
from sdckit.engine import batches
from sdckit.estimate import value_cells

OUTSIDE = [one for one in ENGINES if one != "polars"]
PANEL = [
    "mean", "total", "median", "gini", "s80s20", "poverty_threshold", "poverty_rate", "poverty_gap", "fgt1",
    "fgt2", {"quantile": {"p": 0.9}}, {"s80s20": {"ties": "split"}},
    {"ratio": {"denominator": "expenditure"}}, {"proportion": {"category": "1", "variable": "sex"}},
    {"pay_gap": {"group": "sex", "reference": "1"}},
    {"pay_gap": {"group": "sex", "reference": "1", "statistic": "median"}},
]  # fmt: skip
COLUMNS = ("estimate", "variance", "low", "high")


@pytest.fixture(scope="module")
def files():
    """A survey with strata, clusters, ties and missing values, and its incomes rounded to hundreds."""
    rows = sdc.demo.survey(n=900, seed=5).frame.cast({pl.Enum: pl.String})
    place = pl.int_range(pl.len())
    rows = rows.with_columns(
        income=pl.when(place % 31 != 0).then(pl.col("income").cast(pl.Float64)),
        region=pl.when(place % 53 != 0).then(pl.col("region")),
    )
    roles = {"id": "person_id", "keys": ["region", "sex"], "numeric": ["income", "expenditure"]}
    data = sdc.read(rows, **roles, weight="weight", strata="stratum", cluster="psu")
    return data, data.with_frame(rows.with_columns((pl.col("income") / 100).floor() * 100))


def same(here, there, rel):
    assert there.notes == here.notes
    assert there.parts["indicator"].to_list() == here.parts["indicator"].to_list()
    assert there.parts["domain"].to_list() == here.parts["domain"].to_list()
    for name in COLUMNS:
        for file in ("original", "protected"):
            found, expected = (r.parts[f"{name}_{file}"].to_list() for r in (there, here))
            assert found == pytest.approx(expected, rel=rel, nan_ok=True), (name, file)
    assert there.value == pytest.approx(here.value, rel=max(rel, 1e-9))


@pytest.mark.parametrize("engine", OUTSIDE)
@pytest.mark.parametrize("bins", [False, True])
def test_estimates_and_intervals_are_those_in_memory(engine, bins, files, request, monkeypatch):
    monkeypatch.setattr(batches, "BATCH", 200)
    if bins:
        monkeypatch.setattr(value_cells, "EXACT", 0)
    moved = [on_engine(engine, data, request) for data in files]
    asked = {"indicators": PANEL, "variables": ["income"], "by": ["region"]}
    here, there = (sdc.utility.indicators(*pair, **asked) for pair in (files, moved))
    same(here, there, 1e-9)


def test_bins_are_refined_where_a_quantile_falls(files, request, monkeypatch):
    """Bins of a third of their values: without the values in them quantiles would be far off."""
    monkeypatch.setattr(value_cells, "EXACT", 0)
    monkeypatch.setattr(value_cells, "FINE", 3.0)
    moved = [on_engine("duckdb", data, request) for data in files]
    asked = {"indicators": [i for i in PANEL if i != "gini"], "variables": ["income"], "by": ["sex"]}
    here, there = (sdc.utility.indicators(*pair, **asked) for pair in (files, moved))
    exact = ["median", "quantile 0.9", "s80s20", "poverty_threshold", "poverty_rate", "poverty_gap", "mean"]
    for name in ("estimate_original", "estimate_protected"):
        found, expected = (
            r.parts.filter(pl.col("indicator").is_in(exact))[name].to_list() for r in (there, here)
        )
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("rule", ["adjust", "average", "remove"])
def test_without_clusters_and_with_lonely_units(rule, files, request):
    first = files[0].frame["person_id"][0]
    alone = pl.when(pl.col("person_id") == first).then(pl.lit(-1)).otherwise(pl.col("stratum"))
    pair = [
        sdc.read(d.frame.with_columns(stratum=alone), numeric="income", weight="weight", strata="stratum")
        for d in files
    ]
    moved = [on_engine("duckdb", data, request) for data in pair]
    here, there = (sdc.utility.indicators(*p, by=["sex"], single_psu=rule) for p in (pair, moved))
    same(here, there, 1e-9)


@pytest.mark.parametrize("bins", [False, True])
@pytest.mark.parametrize("roles", [{"weight": "weight"}, {}])
def test_records_that_are_units_of_their_own(roles, bins, files, request, monkeypatch):
    monkeypatch.setattr(batches, "BATCH", 200)
    if bins:
        monkeypatch.setattr(value_cells, "EXACT", 0)
    pair = [sdc.read(data.frame, numeric="income", **roles) for data in files]
    moved = [on_engine("duckdb", data, request) for data in pair]
    for by in ([], ["region"]):
        asked = {"indicators": PANEL, "variables": ["income"], "by": by}
        same(*(sdc.utility.indicators(*both, **asked) for both in (pair, moved)), 1e-9)


@pytest.mark.parametrize("rule", ["adjust", "certainty", "remove"])
def test_domains_of_one_unit_and_values_that_are_all_equal(rule, files, request, monkeypatch):
    monkeypatch.setattr(batches, "BATCH", 100)
    isle = pl.col("psu") == files[0].frame["psu"][0]
    moved, pair = [], []
    for data in files:
        frame = data.frame.with_columns(
            region=pl.when(isle).then(pl.lit("isle")).otherwise("region"),
            stratum=pl.when(isle).then(99).otherwise("stratum"),
            flat=pl.lit(0.1),
        )
        pair.append(data.with_frame(frame))
        moved.append(on_engine(OUTSIDE[0], pair[-1], request))
    asked = {"indicators": ["mean", "gini", "total", "median"], "variables": ["income", "flat"]}
    here, there = (
        sdc.utility.indicators(*both, **asked, by=["region"], single_psu=rule) for both in (pair, moved)
    )
    same(here, there, 1e-9)
    flat = here.parts.filter(pl.col("variable") == "flat", pl.col("indicator") != "total")
    assert set(flat["variance_original"]) == ({0.0} if rule == "certainty" else {0.0, None})


def test_what_needs_the_records_is_refused(files, request):
    moved = [on_engine("duckdb", data, request) for data in files]
    for options in ({"variance": "bootstrap"}, {"indicators": [lambda x, w: x.mean()]}):
        with pytest.raises(sdc.errors.OptionError, match="need the records in memory"):
            sdc.utility.indicators(*moved, **options)


@pytest.mark.parametrize("engine", OUTSIDE)
def test_heaps_and_negative_values_are_noted_as_in_memory(engine, request):
    x = np.random.default_rng(5).lognormal(9, 0.7, 900)
    x[:350] = 0.0
    x[350] = -5.0
    data = sdc.read(pl.DataFrame({"income": x}), numeric="income")
    moved = on_engine(engine, data, request)
    here, there = (sdc.utility.indicators(one, one, indicators="poverty").notes for one in (data, moved))
    assert here == there
    assert sum("negative" in note or "share one value" in note for note in there) == 2
