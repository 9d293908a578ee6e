"""What every registered measure must do, without naming any of them.

A measure that needs to be told something has an entry in TOLD; one that is missing there fails.
"""

import math

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from engine_frames import ENGINES, on_engine
from sdckit.methods.registry import specs
from sdckit.methods.spec import Better, Compares, Kind, Spec

OTHERS = pl.DataFrame(
    {
        "sex": list("fm") * 20,
        "region": list("abca") * 10,
        "school": [1, 2, 3, 2, 1] * 8,
        "illness": ["none", "flu", "other", "none"] * 10,
        "answer": [3, 1, 5, 2, 4] * 8,
        "income": [1000.5 + 731.25 * i for i in range(40)],
        "rent": [300.25 + 213.5 * (i * 7 % 40) for i in range(40)],
        "age": [15.0 + (i * 11 % 40) for i in range(40)],
    }
)
TOLD: dict[str, dict] = {  # options for measures that have required ones
    "atypical_records": {"complete": True},
    "identification_risk": {"synthesised": ["school", "income"], "relative_radius": 0.2},
    "inference_attack": {"holdout": OTHERS},
    "linkability": {"holdout": OTHERS},
    "singling_out": {"holdout": OTHERS, "attacks": 60},
    "k_map": {
        "population": pl.DataFrame(
            {"sex": list("fm") * 9, "region": list("abc") * 6, "school": [1, 2, 3] * 6}
        )
    },
    "magnitude_tables": {"by": ["region"]},
    "prediction_quality": {"formula": "log(income) ~ sex + age"},
    "regression": {"formula": "log(income) ~ sex + age"},
}
MEASURES = [s for s in specs() if s.kind is not Kind.PROTECTION]


def survey(n: int = 120, seed: int = 5) -> sdc.Microdata:
    """A small file with everything: ids, keys, numbers, missing values, weights, strata, households."""
    rng = np.random.default_rng(seed)
    income = np.round(np.exp(rng.normal(9, 1, n)), 2)
    frame = pl.DataFrame(
        {
            "person": np.arange(n) + 100,
            "house": np.arange(n) // 3,
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(["a", "b", "c"], n),
            "school": rng.integers(1, 4, n),
            "illness": rng.choice(["none", "flu", "other"], n),
            "income": income,
            "rent": np.round(income * rng.uniform(0.2, 0.5, n), 2),
            "age": rng.integers(15, 80, n).astype(float),
            "w": rng.choice([1.0, 2.0, 3.0], n),
        }
    ).with_columns(
        pl.when(pl.Series(rng.random(n) < 0.05)).then(None).otherwise(pl.col("school")).alias("school"),
        pl.when(pl.Series(rng.random(n) < 0.05)).then(None).otherwise(pl.col("rent")).alias("rent"),
    )
    return sdc.read(
        frame,
        id="person",
        keys=["sex", "region", "school"],
        numeric=["income", "rent", "age"],
        sensitive="illness",
        weight="w",
        household="house",
        strata="region",
    )


def disturbed(data: sdc.Microdata, seed: int = 1) -> sdc.Microdata:
    """The same file with some keys blanked or changed and the numbers moved."""
    rng = np.random.default_rng(seed)
    n = data.height
    hit = pl.Series(rng.random(n) < 0.2)
    return data.with_frame(
        data.frame.with_columns(
            pl.when(hit).then(None).otherwise(pl.col("sex")).alias("sex"),
            pl.when(pl.Series(rng.random(n) < 0.2))
            .then(pl.lit("a"))
            .otherwise(pl.col("region"))
            .alias("region"),
            pl.col("income") * (1 + pl.Series(rng.normal(0, 0.1, n))),
            pl.col("rent") + pl.Series(rng.normal(0, 50, n)),
        )
    )


def files(spec: Spec, original: sdc.Microdata, protected: sdc.Microdata) -> list[sdc.Microdata]:
    return [protected] if spec.compares is Compares.ONE_FILE else [original, protected]


def call(spec: Spec, original: sdc.Microdata, protected: sdc.Microdata) -> sdc.Result:
    required = [n for n, f in spec.options.model_fields.items() if f.is_required()]
    if required and spec.name not in TOLD:
        pytest.fail(f"{spec.name} needs {required}: add them to TOLD")
    return spec.call(*files(spec, original, protected), **TOLD.get(spec.name, {}))


def shuffled(data: sdc.Microdata, seed: int = 3) -> sdc.Microdata:
    return data.with_frame(data.frame.sample(fraction=1, shuffle=True, seed=seed))


def each(keep=lambda spec: True):
    return pytest.mark.parametrize("spec", [pytest.param(s, id=s.name) for s in MEASURES if keep(s)])


@each(lambda s: s.kind is Kind.UTILITY)
def test_nothing_lost_when_nothing_changed(spec):
    data = survey()
    best = spec.bounds[0] if spec.better is Better.LOW else spec.bounds[1]
    assert call(spec, data, data).value == pytest.approx(best, abs=1e-9)


@each()
def test_values_lie_in_the_bounds_and_results_are_complete(spec):
    data = survey()
    result = call(spec, data, disturbed(data))
    low, high = spec.bounds
    assert low <= result.value <= high
    assert result.measure == spec.name
    assert all(math.isfinite(v) for v in result.figures.values())
    assert repr(result).startswith(f"{spec.name} = ")
    assert spec.name in result._repr_html_()


@each()
def test_row_order_does_not_matter(spec):
    data = survey()
    protected = disturbed(data)
    expected = call(spec, data, protected)
    again = call(spec, shuffled(data, 3), shuffled(protected, 4))
    assert again.value == pytest.approx(expected.value, rel=1e-9, abs=1e-12)


@each()
def test_codes_are_codes_however_they_are_stored(spec):
    """pandas has the codes 1 to 5 as floating-point numbers where one of them is missing."""

    def asked(data: sdc.Microdata, kind: type[pl.DataType], first: int) -> sdc.Microdata:
        codes = [None if i % 10 == 9 else (i * first) % 5 + 1 for i in range(data.height)]
        frame = data.frame.with_columns(pl.Series("answer", codes, dtype=kind))
        return data.with_frame(frame).with_roles(sensitive=["illness", "answer"])

    data = survey()
    files = [[asked(data, k, 1), asked(disturbed(data), k, 3)] for k in (pl.Int64, pl.Float64)]
    whole, floating = (call(spec, *pair) for pair in files)
    assert floating.value == pytest.approx(whole.value, rel=1e-9, nan_ok=True)
    assert dict(floating.figures) == pytest.approx(dict(whole.figures), rel=1e-9, nan_ok=True)


# risks depend on the size of the population the weights add up to
@each(lambda s: s.kind is not Kind.RISK and "weighted" not in s.unit and "sum" not in s.unit)
def test_scaling_all_weights_changes_nothing_that_is_a_share(spec):
    data = survey()
    protected = disturbed(data)
    tenfold = [d.with_frame(d.frame.with_columns(pl.col("w") * 10)) for d in (data, protected)]
    assert call(spec, *tenfold).value == pytest.approx(call(spec, data, protected).value, rel=1e-9)


@each()
def test_the_callers_data_are_not_changed(spec):
    data = survey()
    protected = disturbed(data)
    before = data.frame.clone(), protected.frame.clone()
    call(spec, data, protected)
    assert data.frame.equals(before[0])
    assert protected.frame.equals(before[1])


def odd_files() -> dict[str, sdc.Microdata]:
    data = survey()
    frame = data.frame
    return {
        "one record": data.with_frame(frame.head(1)),
        "two records": data.with_frame(frame.head(2)),
        "constant number": data.with_frame(frame.with_columns(income=pl.lit(5.0))),
        "all numbers missing": data.with_frame(
            frame.with_columns(pl.lit(None, dtype=pl.Float64).alias(c) for c in data.roles.numeric)
        ),
        "one key missing everywhere": data.with_frame(
            frame.with_columns(school=pl.lit(None, dtype=pl.Int64))
        ),
        "constant keys": data.with_frame(
            frame.with_columns(sex=pl.lit("f"), region=pl.lit("a"), school=pl.lit(1))
        ),
        "extreme numbers": data.with_frame(frame.with_columns(income=pl.col("income") * 1e200)),
    }


@pytest.mark.parametrize("name", list(odd_files()))
@each()
def test_odd_files_give_a_number_or_a_note_or_a_clear_error(spec, name):
    data = odd_files()[name]
    for protected in (data, disturbed(data)):
        try:
            result = call(spec, data, protected)
        except sdc.SdcError:
            continue  # ours, and so with a reason
        if math.isnan(result.value):
            assert result.notes, "nan without a note"


@pytest.mark.parametrize("engine", ENGINES[1:])
@each(lambda s: len(s.engines) > 1)
def test_engines_agree(spec, engine, request):
    data = survey()
    protected = disturbed(data)
    expected = call(spec, data, protected)
    others = [on_engine(engine, d, request) for d in (shuffled(data), shuffled(protected))]
    result = call(spec, *others)
    assert result.value == pytest.approx(expected.value, rel=1e-9, abs=1e-12)
    assert dict(result.figures) == pytest.approx(dict(expected.figures), rel=1e-9, abs=1e-12)
