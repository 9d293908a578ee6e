"""Regression on every engine equals the one in memory."""

import polars as pl
import pytest

import sdckit as sdc
from engine_frames import ENGINES, on_engine
from sdckit.engine import batches
from sdckit.estimate import model_rows

OUTSIDE = [one for one in ENGINES if one != "polars"]
MODELS = [
    ("log1p(income) ~ sex + education + age + I(age^2)", "ols"),
    ("income ~ -1 + region:sex + age", "ols"),
    ("employed ~ age + I(age^2) + region", "logit"),
    ("children ~ age + sex", "poisson"),
]


@pytest.fixture(scope="module")
def files():
    """A survey with strata and clusters, missing values, and its ages in bands of five years."""
    rows = sdc.demo.survey(n=700, seed=3).frame.cast({pl.Enum: pl.String})
    place = pl.int_range(pl.len())
    rows = rows.with_columns(
        employed=((place * 7919 % 13) + pl.col("age") / 20 > 8).cast(pl.Int64),
        children=(place * 31 % 4),
        income=pl.when(place % 29 != 0).then(pl.col("income")),
        age=pl.col("age").cast(pl.Float64),
    )
    roles = {"id": "person_id", "keys": ["region", "sex"], "numeric": ["income", "age"], "weight": "weight"}
    data = sdc.read(rows, **roles, strata="stratum", cluster="psu")
    return data, data.with_frame(rows.with_columns((pl.col("age") / 5).floor() * 5 + 2))


@pytest.mark.parametrize("engine", OUTSIDE)
@pytest.mark.parametrize(("formula", "family"), MODELS)
def test_coefficients_and_intervals_are_those_in_memory(engine, formula, family, files, request, monkeypatch):
    monkeypatch.setattr(batches, "BATCH", 100)
    moved = [on_engine(engine, data, request) for data in files]
    for variance in ("design", "model"):
        here, there = (
            sdc.utility.regression(*pair, formula=formula, family=family, variance=variance)
            for pair in (files, moved)
        )
        assert there.value == pytest.approx(here.value, rel=1e-9)
        assert there.notes == here.notes
        assert dict(there.figures) == pytest.approx(dict(here.figures), rel=1e-9, abs=1e-12)
        assert there.parts["term"].to_list() == here.parts["term"].to_list()
        for name in ("estimate_original", "variance_original", "low_protected", "high_protected"):
            assert there.parts[name].to_list() == pytest.approx(here.parts[name].to_list(), rel=1e-9)


@pytest.mark.parametrize("shared", [1, 10**9])
@pytest.mark.parametrize("design", [{"strata": "stratum"}, {"cluster": "psu"}, {}])
@pytest.mark.parametrize(
    ("formula", "family"),
    [
        ("income ~ sex + C(region)", "ols"),
        ("log1p(income) ~ sex + log(age - 16)", "ols"),
        ("employed ~ sex + age", "logit"),
        ("children ~ sex", "poisson"),
    ],
)
def test_rows_that_records_share(formula, family, design, shared, files, request, monkeypatch):
    """Some records have no income, no sex, or an age of which there is no logarithm."""
    monkeypatch.setattr(batches, "BATCH", 100)
    monkeypatch.setattr(model_rows, "SHARED", shared)
    place = pl.int_range(pl.len())
    lost = pl.when(place % 31 != 0).then(pl.col("sex")).alias("sex")
    pair = [sdc.read(d.frame.with_columns(lost), id="person_id", weight="weight", **design) for d in files]
    moved = [on_engine("duckdb", data, request) for data in pair]
    here, there = (sdc.utility.regression(*p, formula=formula, family=family) for p in (pair, moved))
    assert there.notes == here.notes
    assert dict(there.figures) == pytest.approx(dict(here.figures), rel=1e-9, abs=1e-12)
    for name in ("estimate_original", "variance_original", "low_protected", "high_protected"):
        assert there.parts[name].to_list() == pytest.approx(here.parts[name].to_list(), rel=1e-9)


@pytest.mark.parametrize("rule", ["adjust", "average", "certainty", "remove"])
def test_strata_with_one_unit(rule, files, request):
    first = files[0].frame["psu"][0]
    alone = pl.when(pl.col("psu") == first).then(pl.lit(-1)).otherwise(pl.col("stratum") % 2)
    pair = [data.with_frame(data.frame.with_columns(stratum=alone)) for data in files]
    moved = [on_engine("duckdb", one, request) for one in pair]
    here, there = (
        sdc.utility.regression(*p, formula="income ~ age + sex", single_psu=rule) for p in (pair, moved)
    )
    assert there.notes == here.notes
    name = "variance_original"
    assert there.parts[name].to_list() == pytest.approx(here.parts[name].to_list(), rel=1e-9)


def test_what_needs_the_records_is_refused(files, request):
    moved = [on_engine("duckdb", data, request) for data in files]
    with pytest.raises(sdc.errors.OptionError, match="fpc needs the records in memory"):
        sdc.utility.regression(*moved, formula="income ~ age", fpc=["weight"])
    with pytest.raises(sdc.errors.OptionError, match="Replicate weights need the records in memory"):
        sdc.utility.regression(
            *moved, formula="income ~ age", variance="replicates", replicate_weights=["weight"],
            replicate_scale=1.0,
        )  # fmt: skip


def test_mean_predictions(files, request):
    moved = [on_engine("duckdb", data, request) for data in files]
    for formula in ("income ~ age", "income ~ -1 + age"):
        here, there = (sdc.utility.prediction_quality(*pair, formula=formula) for pair in (files, moved))
        assert there.value == pytest.approx(here.value, rel=1e-7, abs=1e-12)
        assert dict(there.figures) == pytest.approx(dict(here.figures), rel=1e-9)


@pytest.mark.parametrize("engine", OUTSIDE)
@pytest.mark.parametrize("family", ["ols", "poisson"])
def test_exact_and_saturated_models_are_as_in_memory(engine, family, request):
    frame = pl.DataFrame({"y": [7] * 60, "x": [i * i % 37 for i in range(60)], "w": [1.0, 2.0, 3.0] * 20})
    for rows in (frame, frame.head(2)):
        data = sdc.read(rows, weight="w")
        moved = on_engine(engine, data, request)
        here, there = (
            sdc.utility.regression(one, one, formula="y ~ x", family=family) for one in (data, moved)
        )
        assert there.notes == here.notes
        assert there.value == here.value or len(rows) == 2
        assert there.parts["variance_original"].to_list() == here.parts["variance_original"].to_list()
        assert there.parts["estimate_original"].to_list() == pytest.approx(
            here.parts["estimate_original"].to_list()
        )


@pytest.mark.parametrize("family", ["logit", "poisson"])
def test_coefficients_without_a_limit_are_those_in_memory(family, files, request, monkeypatch):
    """Nobody in the last stratum has an event; weights are large, so that the deviance hardly shows it."""
    monkeypatch.setattr(batches, "BATCH", 100)
    last = pl.col("stratum") == files[0].frame["stratum"].max()
    formula = "y ~ C(group) + age"
    pair = [
        data.with_frame(
            data.frame.with_columns(
                group=pl.when(last).then(2).otherwise(pl.int_range(pl.len()) % 2),
                y=pl.when(last).then(0).otherwise(pl.col("employed" if family == "logit" else "children")),
                weight=pl.col("weight") * 1000,
            )
        )
        for data in files
    ]
    moved = [on_engine("duckdb", data, request) for data in pair]
    here, there = (sdc.utility.regression(*both, formula=formula, family=family) for both in (pair, moved))
    assert there.notes == here.notes
    assert "no interval: C(group)[T.2]." in here.notes[0]
    assert there.value == pytest.approx(here.value, rel=1e-9)
    for name in ("variance_original", "low_protected"):
        one, two = there.parts[name].to_list(), here.parts[name].to_list()
        assert two[2] is None
        assert one == pytest.approx(two, rel=1e-6)
