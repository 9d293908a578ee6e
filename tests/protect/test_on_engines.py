"""Protections outside memory: with the same seed the same values as in memory, record by record."""

import random
from functools import partial
from importlib import import_module

import polars as pl
import pytest

import sdckit as sdc
from engine_frames import ENGINES, on_engine
from sdckit.engine import frames, quantiles, ranks
from sdckit.errors import DataError, EngineError
from sdckit.protect import _blocks, _drawn_units

ROLES = {"id": "id", "keys": ["region", "sex", "age", "job"], "numeric": ["income", "whole"], "weight": "w"}


def survey(n=900, seed=3):
    draw = random.Random(seed)
    rows = list(range(n))
    return pl.DataFrame(
        {
            "id": [7 * i - 500 for i in rows],
            "region": [draw.choice(["north", "south", "Žatec", None, "west"]) for _ in rows],
            "sex": [draw.choice([1, 2, 2]) for _ in rows],
            "age": [draw.choice([20, 25, 30, 35, 40, 41, None]) for _ in rows],
            "job": [int(draw.expovariate(0.7)) for _ in rows],
            "income": [draw.choice([None, draw.lognormvariate(8, 1.5), 1000.0]) for _ in rows],
            "whole": [draw.choice([None, draw.randrange(-50, 4000)]) for _ in rows],
            "w": [draw.uniform(1.0, 90.0) for _ in rows],
        }
    )


def data(frame=None, **roles):
    return sdc.read(survey() if frame is None else frame, **{**ROLES, **roles})


def shuffled(frame, seed=5):
    return frame.sample(fraction=1.0, shuffle=True, seed=seed)


def plain(figures):
    """Figures but those of inference, which is examined in memory only."""
    alone = ("values_inferable", "inferred_from", "inference_examined")
    return {name: value for name, value in sorted(figures.items()) if name not in alone}


STEPS = {
    "round nearest": ("round_values", {"base": 0.1}),
    "round down": ("round_values", {"base": 25, "method": "down"}),
    "round at random": ("round_values", {"base": 30, "method": "random"}),
    "top value": ("top_code", {"variables": ["whole"], "value": 900, "replacement": 950}),
    "top share, mean": ("top_code", {"share": 0.07, "replacement": "mean"}),
    "top share by strata, mean": ("top_code", {"share": 0.1, "replacement": "mean", "by": ["region"]}),
    "top share by strata, median": (
        "top_code",
        {"share": 0.2, "replacement": "median", "by": ["sex", "age"]},
    ),
    "bottom share, median": ("bottom_code", {"share": 0.05, "replacement": "median"}),
    "pram": ("pram", {"variables": ["region", "sex"], "stay": 0.6}),
    "pram, weighted by strata": (
        "pram",
        {"variables": ["age", "region"], "stay": 0.7, "weighted": True, "by": ["sex"], "share": 0.9},
    ),
    "pram, matrix": ("pram", {"variables": ["sex"], "matrix": {"1": {"1": 0.4, "2": 0.6}}}),
    "suppress": ("suppress", {"k": 4, "seed": 9}),
    "suppress by strata": ("suppress", {"k": 3, "seed": 9, "by": ["sex"], "importance": ["age", "region"]}),
    "suppress, with columns that follow": (
        "suppress",
        {"k": 4, "seed": 9, "linked": {"region": ["whole"], "age": ["whole"]}},
    ),
    "suppress, wildcard": ("suppress", {"k": 5, "seed": 9, "missing": "wildcard"}),
    "risky": ("suppress_risky", {"threshold": 0.03, "variables": ["job", "age", "region"], "seed": 2}),
    "risky, all keys": ("suppress_risky", {"threshold": 0.015, "seed": 2}),
    "risky, wildcard": ("suppress_risky", {"threshold": 0.03, "seed": 2, "missing": "wildcard"}),
    "sample": ("sample_records", {"share": 0.3}),
    "sample by strata": ("sample_records", {"n": 200, "by": ["region", "sex"]}),
    "sample, weights as they are": (
        "sample_records",
        {"share": 0.01, "by": ["age"], "adjust_weights": False},
    ),
    "individual ranking": ("microaggregate", {"k": 4, "method": "individual_ranking"}),
    "individual ranking by strata": (
        "microaggregate",
        {"k": 9, "method": "individual_ranking", "by": ["job", "region"]},
    ),
    "individual ranking, medians": (
        "microaggregate",
        {"k": 6, "method": "individual_ranking", "statistic": "median", "by": ["sex"]},
    ),
    "mdav": ("microaggregate", {"k": 4}),
    "mdav by strata": ("microaggregate", {"k": 5, "by": ["region", "job"], "refine": False}),
    "robust, logarithms": ("microaggregate", {"k": 3, "method": "robust", "transform": "log", "by": ["sex"]}),
    "optimal, medians": ("microaggregate", {"k": 4, "method": "optimal", "statistic": "median"}),
    "rank swapping in groups": ("rank_swap", {"method": "groups", "rank_distance": 0.1}),
    "rank swapping in groups by strata": (
        "rank_swap",
        {"method": "groups", "rank_distance": 0.2, "by": ["region", "job"]},
    ),
    "rank swapping in windows": ("rank_swap", {"rank_distance": 0.1}),
    "rank swapping in windows by strata": ("rank_swap", {"rank_distance": 0.3, "by": ["region", "job"]}),
    "shuffle": ("shuffle", {}),
    "shuffle by strata": ("shuffle", {"predictors": ["w", "region", "age"], "by": ["sex", "job"]}),
    "shuffle, scores": (
        "shuffle",
        {"predictors": ["job", "age"], "correlations": "scores", "by": ["region"]},
    ),
    "noise": ("add_noise", {"sd": 0.4}),
    "noise, correlated": ("add_noise", {"sd": 0.4, "method": "correlated", "by": ["age", "job"]}),
    "noise, kim": ("add_noise", {"variance": 0.4, "method": "kim", "by": ["sex"]}),
    "bottom share": ("bottom_code", {"share": 0.31, "by": ["sex"]}),
}


def protected(file, name, options):
    method = getattr(sdc.protect, name)
    drawn = {"rng": 11} if "rng" in sdc.registry.find(name).parameters else {}
    return method(file, **options, **drawn)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("step", STEPS)
def test_every_engine_gives_the_values_of_memory(step, engine, request, monkeypatch):
    monkeypatch.setattr(ranks, "SORTED_TOGETHER", 200)
    name, options = STEPS[step]
    want = protected(data(), name, options)
    got = protected(on_engine(engine, data(shuffled(survey())), request), name, options)
    assert got.engine == engine
    assert got.columns == want.columns
    there = frames.collect(got.frame)
    found = there.sort(got.roles.id).cast({c: want.frame.schema[c] for c in there.columns})
    assert found.equals(want.frame.sort(want.roles.id))
    assert plain(got.log[-1].figures) == plain(want.log[-1].figures)
    assert got.log[-1].effects == want.log[-1].effects
    assert {c: k.is_float() for c, k in there.schema.items()} == {
        c: k.is_float() for c, k in want.frame.schema.items()
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_categories_are_drawn_alike_whatever_their_order_in_memory(engine, request):
    """Intervals are in the order of their numbers in memory, and texts elsewhere."""
    classes = sdc.Scenario(
        "classes",
        [
            {"recode": {"variable": "age", "breaks": [25, 40], "labels": ["young", "middle", "old"]}},
            {"pram": {"variables": ["age", "region"], "by": ["sex"], "weighted": True}},
            {"pram": {"variables": ["age"], "stay": 0.7}},
        ],
    )
    want = classes.protect(data(), seed=3)
    got = classes.protect(on_engine(engine, data(shuffled(survey())), request), seed=3)
    texts = pl.col("age").cast(pl.String)
    assert (
        frames.collect(got.frame)
        .sort("id")
        .with_columns(texts)
        .equals(want.frame.sort("id").with_columns(texts))
    )
    shown = want.log[-1].figures["matrix"]["age"]
    assert list(shown) == ["young", "middle", "old"]
    assert shown == got.log[-1].figures["matrix"]["age"]


@pytest.mark.parametrize("engine", ENGINES)
def test_new_ids_on_every_engine(engine, request, monkeypatch):
    monkeypatch.setattr(ranks, "SORTED_TOGETHER", 200)
    frame = survey().with_columns(
        pl.when(pl.col("sex") == 1).then(pl.lit("h") + (pl.col("id") // 21).cast(pl.String)).alias("home")
    )
    want = sdc.protect.new_ids(data(frame, household="home"), rng=4)
    got = sdc.protect.new_ids(on_engine(engine, data(shuffled(frame), household="home"), request), rng=4)
    assert got.log[-1] == want.log[-1]
    assert frames.collect(got.frame).sort("id").equals(want.frame.sort("id"))
    if engine != "polars":
        original = on_engine(engine, data(frame, household="home"), request)
        done = sdc.protect.new_ids(original, rng=4)
        with pytest.raises(DataError, match="the ids are new"):
            sdc.utility.records_changed(original, done)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("own", [False, True], ids=["its connection", "our connection"])
@pytest.mark.parametrize("far", [1, 10**9, 10**15], ids=["dense", "sparse", "too far apart"])
def test_many_new_ids_on_every_engine(engine, own, far, request, monkeypatch):
    if own and engine != "duckdb":
        pytest.skip("only DuckDB has connections")
    monkeypatch.setattr(import_module("sdckit.protect.new_ids"), "ORDERED", 10)
    home = pl.when(pl.col("sex") == 1).then((pl.col("id") // 21) * far)
    frame = survey().with_columns(home.alias("home"))
    want = sdc.protect.new_ids(data(frame, household="home"), rng=4)
    if own:
        from sdckit.engine.duckdb_session import connection

        rows = shuffled(frame).to_arrow()
        file = data(connection().from_arrow(rows), household="home")
    else:
        file = on_engine(engine, data(shuffled(frame), household="home"), request)
    got = sdc.protect.new_ids(file, rng=4)
    assert got.log[-1] == want.log[-1]
    assert frames.collect(got.frame).sort("id").equals(want.frame.sort("id"))
    pairs = frame.select(old="home").with_columns(new=want.frame["home"])
    assert pairs["new"].is_null().equals(pairs["old"].is_null())
    assert pairs.unique().height == pairs["old"].n_unique() == pairs["new"].n_unique()
    assert want.frame["id"].n_unique() == 900
    assert {len(str(i)) for i in want.frame["id"]} == {4}
    longest = {1: 4, 10**9: 13, 10**15: 4}[far]
    assert {len(str(i)) for i in want.frame["home"].drop_nulls()} == {longest}


def with_homes():
    """Some 300 households; every seventh person has no number, and is one of her own."""
    home = pl.when(pl.col("id") % 49 > 0).then(pl.lit("h") + (pl.col("id") // 21).cast(pl.String))
    return survey().with_columns(home.alias("home"))


@pytest.mark.parametrize("engine", ENGINES)
def test_whole_households_are_drawn_on_every_engine(engine, request):
    frame = with_homes().with_columns(
        pl.col("home").str.len_chars().fill_null(0).cast(pl.Int64).alias("stratum")
    )
    want = sdc.protect.sample_records(data(frame, household="home"), share=0.4, by="stratum", rng=4)
    file = on_engine(engine, data(shuffled(frame), household="home"), request)
    got = sdc.protect.sample_records(file, share=0.4, by="stratum", rng=4)
    assert got.log[-1] == want.log[-1]
    assert 0 < want.height < 900
    assert frames.collect(got.frame).sort("id").equals(want.frame.sort("id"))
    if engine != "polars":
        with pytest.raises(EngineError, match="different strata"):
            sdc.protect.sample_records(file, share=0.4, by="sex", rng=4)


def test_units_near_the_last_one_are_enough(duckdb_connection, request, monkeypatch):
    """Where the last unit drawn is not where it was sought, it is sought everywhere."""
    want = sdc.protect.sample_records(data(), share=0.3, by="sex", rng=4)
    brought = []
    real = _drawn_units._found

    def elsewhere(units, strata, low, high, *others):
        brought.append(float(high.max() - low.min()))
        return real(units, strata, low, low if len(brought) == 1 else high, *others)

    monkeypatch.setattr(_drawn_units, "_found", elsewhere)
    got = sdc.protect.sample_records(on_engine("duckdb", data(), request), share=0.3, by="sex", rng=4)
    assert brought[0] < 0.9 < brought[1] == 1.0
    assert frames.collect(got.frame).sort("id").equals(want.frame.sort("id"))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("home", [None, "home"])
def test_a_shuffled_order_is_the_same_and_is_written(engine, home, request, tmp_path):
    want = sdc.protect.shuffle_order(data(with_homes(), household=home), rng=4)
    file = on_engine(engine, data(shuffled(with_homes()), household=home), request)
    got = sdc.protect.shuffle_order(file, rng=4)
    assert got.engine == engine
    assert got.columns == want.columns
    assert got.log[-1].effects == want.log[-1].effects
    found = pl.read_parquet(sdc.write(got, tmp_path / "a.parquet"))
    assert found["id"].to_list() == want.frame["id"].to_list()
    later = sdc.protect.suppress(got, k=3, seed=1)  # joins come after it, and the old order does not
    after = pl.read_parquet(sdc.write(later, tmp_path / "b.parquet"))["id"]
    assert (
        abs(pl.DataFrame([after.alias("a"), file_ids(file).alias("b")]).select(pl.corr("a", "b")).item())
        < 0.2
    )


def file_ids(file):
    return frames.collect(file.frame)["id"]


@pytest.mark.parametrize(("name", "options"), [STEPS["round at random"]])
def test_draws_need_an_id_that_tells_records_apart(name, options, duckdb_connection, request):
    without = on_engine("duckdb", data(id=None), request)
    with pytest.raises(EngineError, match="role id"):
        protected(without, name, options)
    twice = on_engine("duckdb", data(pl.concat([survey(), survey()])), request)
    with pytest.raises(EngineError, match="role id"):
        protected(twice, name, options)
    assert protected(data(id=None), name, options).height == 900  # in memory rows are told apart anyway


def test_what_households_share_needs_memory(duckdb_connection, request):
    frame = survey().with_columns((pl.col("id") // 21).alias("home"))
    shared = frame.with_columns(pl.col("income").first().over("home"))
    file = on_engine("duckdb", data(shared, household="home"), request)
    with pytest.raises(EngineError, match="income, which members of households share"):
        sdc.protect.top_code(file, share=0.1)
    other = on_engine("duckdb", data(frame, household="home"), request)
    assert sdc.protect.top_code(other, share=0.1).engine == "duckdb"


def test_suppression_outside_memory(duckdb_connection, request):
    file = on_engine("duckdb", data(weight=None, household="w"), request)
    for options in ({"subsets": 2}, {"diversity": 2, "sensitive": "whole"}, {"household_keys": ["sex"]}):
        with pytest.raises(
            EngineError, match=f"{next(iter(options))} of suppress needs the records in memory"
        ):
            sdc.protect.suppress(file, **options)
    done = sdc.protect.suppress(on_engine("duckdb", data(), request), k=4)
    assert done.log[-1].figures["records_lent"] > 0
    assert any("was not examined" in text for text in done.warnings)
    again = sdc.protect.suppress(on_engine("duckdb", data(), request), k=4)
    here, there = (frames.collect(d.frame).sort("id") for d in (done, again))
    assert not here.equals(there)  # each reading has its own secret draw


def test_where_and_joint_thresholds_need_memory(duckdb_connection, request):
    file = on_engine("duckdb", data(), request)
    with pytest.raises(EngineError, match="where needs the records in memory"):
        sdc.protect.top_code(file, share=0.1, where="individual_risk")
    with pytest.raises(EngineError, match="joint=True needs the records in memory"):
        sdc.protect.top_code(file, share=0.1, joint=True)


def test_methods_that_need_memory_name_the_one_that_does_not(duckdb_connection, request):
    file = on_engine("duckdb", data(), request)
    with pytest.raises(EngineError, match=r"method gower needs the records in memory"):
        sdc.protect.microaggregate(file, method="gower")


def test_strata_that_do_not_fit_are_not_shuffled(duckdb_connection, request, monkeypatch):
    monkeypatch.setattr(_blocks, "LARGEST", 500)
    file = on_engine("duckdb", data(), request)
    with pytest.raises(EngineError, match=r"stratum by stratum, and one has 900.*at most 500"):
        sdc.protect.shuffle(file, rng=1)


def test_rounded_numbers_that_do_not_fit_become_decimal():
    file = sdc.read(pl.DataFrame({"x": pl.Series([127, 4], dtype=pl.Int8)}), numeric="x")
    assert sdc.protect.round_values(file, base=10).frame["x"].to_list() == [130.0, 0.0]


def test_what_a_plan_collects_does_not_grow_with_the_file(duckdb_connection, request, monkeypatch):
    """Four times the records in the same key cells: no table that comes into memory is longer."""
    monkeypatch.setattr(quantiles, "SAMPLE", 100)
    monkeypatch.setattr(quantiles, "LIMIT", 50)
    gather = frames.gather

    def plan(times, *, sampling=False):
        one = survey()
        many = pl.concat([one.with_columns(pl.col("id") + 10_000 * i) for i in range(times)])
        file = on_engine("duckdb", data(many), request)
        heights = []

        def counting(table):
            heights.append(gather(table))
            return heights[-1]

        monkeypatch.setattr(frames, "gather", counting)
        steps = ("suppress", "risky", "top share, mean", "pram", "noise", "individual ranking")
        for step in () if sampling else (*steps, "rank swapping in groups"):
            file = protected(file, *STEPS[step])
        sdc.protect.sample_records(file, share=0.3, rng=1) if sampling else sdc.protect.new_ids(file, rng=1)
        monkeypatch.setattr(frames, "gather", gather)
        return max(rows.height for rows in heights)

    most = {times: plan(times) for times in (2, 8)}
    assert most[8] <= 1.2 * most[2] < 900
    sampled = {times: plan(times, sampling=True) for times in (2, 8)}
    assert (
        sampled[8] <= 2.2 * sampled[2] < 900
    )  # it grows with the root: only records near the last one drawn


@pytest.mark.parametrize("engine", ENGINES[1:])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("round_values", {"base": 100}),
        ("round_values", {"base": 100, "method": "down"}),
        ("top_code", {"value": 300}),
        ("bottom_code", {"value": 200, "replacement": 150.0}),
    ],
)
def test_what_households_share_is_made_coarser_value_by_value(engine, name, options, request):
    frame = pl.DataFrame(
        {"n": range(6), "home": [1, 1, 2, 2, 3, None], "rent": [150.0, 150.0, 249.5, None, 420.0, 160.0]}
    )
    here = sdc.read(frame, id="n", household="home", numeric="rent")
    step = partial(getattr(sdc.protect, name), variables="rent", **options)
    there = step(on_engine(engine, here, request))
    assert there.collect().frame.sort("n").equals(step(here).frame)
    assert there.log[-1].figures == step(here).log[-1].figures
    with pytest.raises(EngineError, match="once per household"):
        sdc.protect.top_code(
            on_engine(engine, here, request), variables="rent", share=0.3, replacement="mean"
        )
