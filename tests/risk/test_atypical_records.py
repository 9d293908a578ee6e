"""Atypical records: stored contaminated files, strata that cannot be tested, missing values."""

import math
import re

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from conftest import oracle_cases
from sdckit import charts
from sdckit.errors import DataError, OptionError, SdcError
from sdckit.models.mixture_families import Family
from sdckit.risk.atypical_records import atypical_records


@pytest.mark.parametrize("case", oracle_cases("09", lambda c: c["id"].startswith("sim_")))
def test_stored_contamination_is_found(oracles, case):
    table = np.genfromtxt(oracles.path(case["dataset"]["csv"]), delimiter=",", skip_header=1)
    names = case["inputs"]["variables"]
    data = sdc.read(pl.DataFrame(table[:, :6], names), numeric=names)
    result = atypical_records(data)
    found, bad = result.parts["atypical"].to_numpy(), table[:, 6] == 0
    assert result.figures["tested"] == len(table)
    assert result.value == pytest.approx(found.mean())
    assert found[~bad].mean() <= 0.06
    if bad.any():
        assert found[bad].mean() >= 0.85
        assert not result.parts["kept"].to_numpy()[bad].any()


def strata(seed=0):
    """Strata a (two groups, some records moved), b (constant), c (collinear), none (three records)."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(100, 2)) * [1, 50] + np.where(np.arange(100)[:, None] < 40, 0, [9, 450])
    a[:5] += [30, -900]
    line = rng.normal(size=(40, 1))
    rows = [a, np.ones((30, 2)), np.hstack([line, 3 * line]), rng.normal(size=(3, 2))]
    frame = pl.DataFrame(np.vstack(rows), ["x, y", "<b>"])
    names = ["a"] * 100 + ["b"] * 30 + ["c"] * 40 + [None] * 3
    return sdc.read(frame.with_columns(stratum=pl.Series(names)), numeric=["x, y", "<b>"])


def test_strata_that_cannot_be_tested_get_a_note():
    result = atypical_records(strata(), by="stratum", families=(Family.EII, Family.EEE, Family.VVV))
    table = result.tables["strata"]
    assert table["stratum"].to_list() == ["a", "b", "c", "missing"]
    assert table["why"].to_list()[1::2] == ["no variable varies", "too few records"]
    assert len(result.notes) >= 2
    parts = result.parts
    assert parts["atypical"][:5].all()
    assert parts["atypical"][5:100].mean() < 0.1
    assert parts["p_value"][100:130].is_null().all()
    assert parts["p_value"][170:].is_null().all()
    assert result.figures["untested"] == 33 + (40 if table["why"][2] else 0)
    assert table["collinear"].to_list() == [False, None, True, None]
    assert any("sum of others" in note for note in result.notes)
    full = atypical_records(strata(), by="stratum", families=(Family.EEE, Family.VVV))
    assert full.tables["strata"]["why"][2] == "constant or collinear"


def test_the_driver_is_the_variable_that_stands_out():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(120, 3))
    x[3, 1] = 40
    x[7, 2] = -40
    data = sdc.read(pl.DataFrame(x, ["p", "q", "r"]), numeric=["p", "q", "r"])
    parts = atypical_records(data).parts
    assert parts["driver"][3] == "q"
    assert parts["driver"][7] == "r"
    assert parts["distance"].arg_max() in (3, 7)


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_outliers_up_to_the_trimmed_share_are_all_found(share):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(200, 3))
    bad = rng.choice(200, int(200 * share), replace=False)
    x[bad] = rng.normal(size=(len(bad), 3)) * 300
    data = sdc.read(pl.DataFrame(x, ["p", "q", "r"]), numeric=["p", "q", "r"])
    found = atypical_records(data, components=1).parts["atypical"].to_numpy()
    assert found[bad].mean() > 0.95
    assert np.delete(found, bad).mean() < 0.1


def test_missing_numbers_are_refused_or_left_out():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(60, 2)), ["p", "q"])
    frame = frame.with_columns(pl.when(pl.int_range(60) < 4).then(None).otherwise(pl.col("q")).alias("q"))
    data = sdc.read(frame, numeric=["p", "q"])
    with pytest.raises(DataError, match="complete numbers"):
        atypical_records(data)
    result = atypical_records(data, complete=True)
    assert result.figures["untested"] == 4
    assert result.parts["atypical"][:4].is_null().all()
    assert "4 records" in result.notes[0]


def test_a_code_collapses_strata():
    data = sdc.demo.business(600, seed=3)
    result = atypical_records(data, by="size_class", code="nace", smallest=80, families=("EEE", "VVV"))
    assert result.tables["levels"]["records"].sum() == 600
    assert set(result.tables["strata"]["family"].drop_nulls()) <= {"EEE", "VVV"}
    assert 0 < result.value < 0.4
    assert result.chart() is not None


def test_nothing_to_test_is_nan_with_a_note():
    data = sdc.read(pl.DataFrame({"p": [1.0, 2.0, 3.0]}), numeric="p")
    result = atypical_records(data)
    assert math.isnan(result.value)
    assert result.notes
    with pytest.raises(OptionError):
        atypical_records(data, trim=0.5)
    with pytest.raises(OptionError):
        atypical_records(data, families=())
    text = sdc.read(pl.DataFrame({"p": ["a", "b"], "q": [1.0, 2.0]}), numeric="q")
    with pytest.raises(DataError, match="found by numbers"):
        atypical_records(text, variables=["p"])


def test_values_that_run_together_stay_different_strata():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"p": rng.normal(size=80), "a": ["x, y"] * 40 + ["x"] * 40})
    frame = frame.with_columns(b=pl.Series(["z"] * 40 + ["y, z"] * 40))
    result = atypical_records(sdc.read(frame, numeric="p"), by=["a", "b"])
    assert result.figures["strata"] == 2


def normal(n=150, p=3, seed=0):
    names = [f"v{i}" for i in range(p)]
    frame = pl.DataFrame(np.random.default_rng(seed).normal(size=(n, p)), names)
    return frame, names


def test_weights_are_used_when_asked_for():
    frame, names = normal()
    rng = np.random.default_rng(1)
    frame = frame.with_columns(w=pl.Series(rng.uniform(1, 20, 150)), one=pl.lit(3.7))
    plain = atypical_records(sdc.read(frame, numeric=names))
    for weight, factor in (("one", 1), ("w", 1), ("w", 10)):
        data = sdc.read(frame.with_columns(pl.col(weight) * factor), numeric=names, weight=weight)
        assert atypical_records(data).parts.equals(plain.parts)
        weighted = atypical_records(data, weighted=True)
        if weight == "one":
            assert weighted.parts.equals(plain.parts)
            first = None
        elif first is None:
            first = weighted
            assert not np.allclose(first.parts["distance"], plain.parts["distance"], rtol=1e-3)
        else:
            assert weighted.parts["distance"].to_numpy() == pytest.approx(
                first.parts["distance"].to_numpy(), rel=1e-9
            )
    none = atypical_records(sdc.read(frame, numeric=names), weighted=True)
    assert none.parts.equals(plain.parts)
    assert any("no weights" in note for note in none.notes)


@pytest.mark.parametrize(("large", "effective"), [(100.0, 3.92), (1e6, 1.0), (1e300, 1.0)])
def test_a_stratum_of_one_huge_weight_is_not_called_collinear(large, effective):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"p": rng.normal(size=100), "q": rng.normal(size=100), "w": [large] + 99 * [1.0]})
    result = atypical_records(sdc.read(frame, numeric=["p", "q"], weight="w"), weighted=True)
    assert math.isnan(result.value)
    assert result.tables["strata"]["why"].to_list() == ["a few weights dominate"]
    assert result.tables["strata"]["effective"][0] == pytest.approx(effective, abs=0.01)
    told = "Not tested, a few weights dominate: 1 stratum, 100 records (effective sample size down to "
    assert result.notes[0] == f"{told}{effective:.1f})."


def test_a_group_of_little_weight_is_atypical_in_the_population():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(np.vstack([rng.normal(size=(100, 2)), rng.normal(size=(60, 2)) + 20]), ["p", "q"])
    frame = frame.with_columns(w=pl.Series([10.0] * 100 + [1.0] * 60))
    data = sdc.read(frame, numeric=["p", "q"], weight="w")
    few = atypical_records(data).parts["atypical"][100:].mean()
    all_of_them = atypical_records(data, weighted=True).parts["atypical"][100:].mean()
    assert few < 0.2 < 0.9 < all_of_them


@pytest.mark.parametrize("small_sample", ["formula", "simulation", "none"])
def test_small_sample_factors_by_formula_or_simulation(small_sample):
    frame, names = normal(60, 2)
    data = sdc.read(frame, numeric=names)
    formula = atypical_records(data, components=1).parts["distance"].to_numpy()
    other = atypical_records(data, components=1, small_sample=small_sample).parts["distance"].to_numpy()
    ratio = other / formula
    assert ratio == pytest.approx(np.full(60, ratio[0]))  # one factor for the component
    assert (ratio[0] == 1) == (small_sample == "formula")
    assert 0.95 < ratio[0] < 1.15
    if small_sample == "none":  # the factor makes covariances larger and so distances shorter
        assert ratio[0] > 1.01


def test_a_component_that_keeps_few_of_its_records_gets_a_note():
    rng = np.random.default_rng(3)
    second = np.vstack([rng.normal(size=(25, 2)), 25 * rng.normal(size=(45, 2))]) + 200
    frame = pl.DataFrame(np.vstack([rng.normal(size=(70, 2)), second]), ["p", "q"])
    data = sdc.read(frame, numeric=["p", "q"])
    result = atypical_records(data, trim=0.33, components=2, families=("EII", "VII"))
    assert result.tables["strata"]["least_kept"][0] < 0.4
    assert any("keeps fewer than 40\N{NO-BREAK SPACE}%" in note for note in result.notes)
    calm = atypical_records(sdc.read(normal()[0], numeric=normal()[1]))
    assert not any("keeps fewer" in note for note in calm.notes)


@pytest.mark.parametrize("share", [0.3, 0.45])
@pytest.mark.parametrize("kind", ["cluster", "scatter"])
def test_beyond_the_trimmed_share_the_result_is_finite(share, kind):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(200, 3))
    bad = rng.choice(200, int(200 * share), replace=False)
    x[bad] = 1e8 * (1 + rng.normal(size=(len(bad), 3)) * (1e-9 if kind == "cluster" else 1))
    result = atypical_records(sdc.read(pl.DataFrame(x, ["p", "q", "r"]), numeric=["p", "q", "r"]))
    assert 0 <= result.value <= 1
    assert result.parts["p_value"].is_between(0, 1).all()
    assert result.parts["distance"].is_finite().all()
    assert "<svg" in charts.static_svg(result.chart(), "x", "")
    if result.value > 0.25:
        assert any("more records are atypical than were trimmed" in note for note in result.notes)


def test_tables_for_charts_count_every_tested_record_once():
    data = strata()
    result = atypical_records(data, by="stratum", families=(Family.EII, Family.EEE, Family.VVV))
    tables, parts = result.tables, result.parts
    distances = tables["distances"]
    assert distances["kept"].sum() == parts["kept"].sum()
    assert distances.select(pl.col("kept") + pl.col("trimmed")).sum().item() == result.figures["tested"]
    beyond = distances.filter(pl.col("from") >= 1).select(pl.col("kept") + pl.col("trimmed")).sum().item()
    assert beyond == (parts["p_value"] < 0.05).sum()
    components = tables["components"]
    assert components["records"].sum() == result.figures["tested"]
    assert (components["simultaneous_trimmed"] > components["limit_trimmed"]).all()
    pairs, shapes = tables["pairs"], tables["ellipses"]
    assert pairs["records"].min() >= 3
    assert set(pairs["variable"]) == {"x, y"}
    worst = tables["strata"].drop_nulls("share").sort("share").row(-1, named=True)
    assert set(shapes["stratum"]) == {worst["stratum"]}
    assert shapes.height == worst["components"]
    assert pairs["records"].sum() <= worst["records"]


def test_ellipses_are_in_the_units_of_the_data():
    rng = np.random.default_rng(5)
    root = np.array([[3.0, 0.0], [20.0, 10.0]])
    x = rng.normal(size=(2_000, 2)) @ root.T + [100, -5_000]
    data = sdc.read(pl.DataFrame(x, ["p", "q"]), numeric=["p", "q"])
    (row,) = atypical_records(data, components=1).tables["ellipses"].iter_rows(named=True)
    assert (row["mean"], row["with_mean"]) == pytest.approx((100, -5_000), rel=0.01)
    truth = root @ root.T
    found = row["variance"], row["with_variance"], row["covariance"]
    assert found == pytest.approx((truth[0, 0], truth[1, 1], truth[0, 1]), rel=0.2)
    assert found[0] * found[1] - found[2] ** 2 == pytest.approx(np.linalg.det(truth), rel=0.1)


def test_charts_show_no_record_and_survive_odd_names():
    data = strata()
    result = atypical_records(data, by="stratum", families=(Family.EII, Family.EEE, Family.VVV))
    secret = {round(v, 6) for c in data.roles.numeric for v in data.frame[c]}
    for chart in (result.chart(), charts.ellipses(result)):
        text = str(chart.to_dict())
        svg = charts.static_svg(chart, "x", "")
        assert "<b>" not in svg
        assert "<path" in svg
        numbers = {round(float(n), 6) for n in re.findall(r"-?\d+\.\d+", text)}
        assert not numbers & (secret - {0.0, 1.0})


def test_charts_of_nothing_say_so():
    alone, names = normal(60, 1)
    result = atypical_records(sdc.read(alone, numeric=names))
    assert result.chart() is not None
    with pytest.raises(SdcError, match="nothing to draw"):
        charts.ellipses(result)
    with pytest.raises(SdcError, match="nothing to draw"):
        atypical_records(sdc.read(alone.head(2), numeric=names)).chart()


def test_many_strata_are_drawn_in_part():
    frame, names = normal(600, 2)
    frame = frame.with_columns(s=pl.int_range(600) % 30)
    result = atypical_records(sdc.read(frame, numeric=names), by="s", components=1, families=("EEE",))
    assert "The 20 of 30 strata" in str(result.chart().to_dict())


def test_protecting_only_atypical_records_leaves_fewer_of_them():
    data = sdc.demo.business(n=300, seed=2)
    before = atypical_records(data, by="size_class")
    scenario = sdc.Scenario(
        "giants", [sdc.Step("microaggregate", k=5, where={"atypical_records": {"by": "size_class"}})]
    )
    safe = scenario.protect(data)
    flags = before.parts["atypical"]
    assert safe.frame.filter(~flags).equals(data.frame.filter(~flags).cast(safe.frame.schema))
    after = atypical_records(safe, by="size_class").parts["atypical"]
    assert (flags & after).sum() < flags.sum()


def test_a_public_report_tells_the_share_and_nothing_of_strata_or_records(tmp_path):
    data = sdc.demo.business(n=200, seed=1)
    where = {"atypical_records": {"by": "size_class"}}
    safe = sdc.Scenario("giants", [sdc.Step("round_values", base=1e4, where=where)]).protect(data)
    done = sdc.assess(
        data, safe, measures=["atypical_records", "il1s"], atypical_records={"by": "size_class"}
    )
    pages = {
        audience: sdc.report(done, tmp_path / f"{audience}.html", audience=audience).read_text()
        for audience in ("internal", "public")
    }
    for text in ("Robust distances of", "individual limit", *done.after["atypical_records"].notes):
        assert text in pages["internal"]
        assert text not in pages["public"]


def test_lists_are_no_strata():
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0], "l": [[1], [2], [3]]})
    data = sdc.read(frame, numeric="x")
    for options in ({"by": "l"}, {"code": "l"}):
        with pytest.raises(sdc.SdcError, match="'l'"):
            sdc.risk.atypical_records(data, **options)
