"""Synthesis outside memory: the same synthetic files as in memory, stratum by stratum."""

import random
from datetime import date, datetime, timedelta

import polars as pl
import pytest

import sdckit as sdc
from engine_frames import ENGINES, on_engine
from sdckit.engine import frames
from sdckit.errors import ColumnError, DataError, EngineError, OptionError
from sdckit.protect import _blocks, _synthesis_on_engine

ROLES = {"id": "id", "keys": ["region", "sex", "age"], "numeric": ["income", "spent"]}


def persons(n=900, seed=3):
    draw = random.Random(seed)
    rows = []
    for i in range(n):
        age = draw.randrange(90)
        income = draw.choice([None, 0.0, round(draw.lognormvariate(8, 1), 2), 1000.0]) if age > 14 else None
        rows.append(
            (
                7 * i - 500,
                draw.choice(["north", "south", "Žatec", None]),
                draw.choice([1, 2, 2]),
                age,
                income,
                None if income is None else round(income * draw.random(), 2),
                date(2000, 1, 1) + timedelta(days=draw.randrange(4_000)),
                draw.random() < 0.3,
                draw.choice(["a", "b", "c"]) if draw.random() < 0.97 else f"rare {draw.randrange(40)}",
                round(draw.uniform(1.0, 90.0), 1),
                draw.choice([10, 20]),
            )
        )
    names = ("id", "region", "sex", "age", "income", "spent", "born", "works", "job", "w", "psu")
    return pl.DataFrame(rows, orient="row", schema=list(names))


def homes(n=320, seed=4):
    """Households with a head, a size and an area that all members share; some persons without a number."""
    draw = random.Random(seed)
    rows = []
    for home in range(n):
        area, rooms = draw.choice(["N", "S", "W"]), draw.randrange(1, 9)
        size = draw.choice([1, 1, 2, 3, 4])
        number = 3 * home if size > 1 or draw.random() < 0.8 else None
        for place in range(size):
            relation = "head" if not place else draw.choice(["spouse", "child", "child"])
            age = draw.randrange(25, 80) if relation != "child" else draw.randrange(25)
            rows.append((1000 + 3 * len(rows), number, area, rooms, relation, age, draw.choice("fm")))
    names = ["id", "home", "area", "rooms", "relation", "age", "sex"]
    frame = pl.DataFrame(rows, orient="row", schema=names)
    return frame.with_columns(w=(pl.col("rooms") * 1.5 + 0.1))


def read(frame, **roles):
    return sdc.read(frame, **{**ROLES, **roles})


def read_homes(frame):
    return sdc.read(frame, id="id", household="home", keys=["area", "age", "sex"], weight="w", strata="area")


def shuffled(frame, seed=5):
    return frame.sample(fraction=1.0, shuffle=True, seed=seed)


PARTIAL = {
    "two columns": {"variables": ["income", "job"]},
    "by strata": {"variables": ["income", "region", "born"], "by": ["sex"], "leaf": 3},
    "small strata are pooled": {"variables": ["spent", "works"], "by": ["region", "sex", "job"], "leaf": 2},
    "rules": {
        "variables": ["income", "age", "spent"],
        "rules": [{"when": "age < 15", "then": {"income": None}}],
        "require": ["spent <= 2 * income"],
        "derive": {"w": "age / 2.0"},
        "by": ["sex"],
    },
    "proper": {"variables": ["age", "job"], "proper": True, "by": ["psu"], "smooth": "none"},
}
FULL = {
    "one stratum": {},
    "by strata": {"by": ["sex", "region"], "leaf": 2, "gain": 1.0},
    "uniques": {"by": ["sex"], "uniques": True, "size": 700},
    "given spikes": {"by": ["sex"], "spikes": {"income": [0.0, 1000.0]}, "categories": ["age"]},
}


def compare(got, want, order):
    there = frames.collect(got.frame)
    assert got.columns == want.columns
    assert there.cast(dict(want.frame.schema)).sort(order).equals(want.frame.sort(order))
    assert got.log[-1].figures == want.log[-1].figures
    assert got.log[-1].effects == want.log[-1].effects
    assert got.log[-1].effects.new_records == want.log[-1].effects.new_records


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("step", PARTIAL)
def test_partial_synthesis_on_every_engine(step, engine, request):
    if engine == "spark" and step not in ("rules", "proper"):
        pytest.skip("the others differ in what DuckDB shows, too")
    want = sdc.protect.synthesize(read(persons()), **PARTIAL[step], rng=11)
    file = on_engine(engine, read(shuffled(persons())), request)
    got = sdc.protect.synthesize(file, **PARTIAL[step], rng=11)
    assert got.engine == engine
    compare(got, want, "id")
    column = PARTIAL[step]["variables"][0]
    assert not want.frame[column].equals(persons()[column])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("step", FULL)
@pytest.mark.parametrize("roles", [{}, {"weight": "w", "strata": ["sex", "region"], "cluster": "psu"}])
def test_full_synthesis_on_every_engine(roles, step, engine, request):
    if engine == "spark" and not (roles and step in ("by strata", "uniques")):
        pytest.skip("the others differ in what DuckDB shows, too")
    want = sdc.protect.synthesize(read(persons(), **roles), **FULL[step], rng=11)
    file = on_engine(engine, read(shuffled(persons()), **roles), request)
    got = sdc.protect.synthesize(file, **FULL[step], rng=11)
    assert got.engine == engine
    compare(got, want, "id")
    assert want.height == FULL[step].get("size", 900)
    assert want.log[-1].effects.new_records


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"by": ["area"], "leaf": 2},
        {"weights": "equal", "by": ["area"], "leaf": 3},
        {"variables": ["age", "rooms"], "by": ["area"], "leaf": 2},
    ],
    ids=["one stratum", "by strata", "equal weights", "partial"],
)
def test_households_on_every_engine(options, engine, request):
    if engine == "spark" and options.get("leaf") != 2:
        pytest.skip("the others differ in what DuckDB shows, too")
    want = sdc.protect.synthesize(read_homes(homes()), **options, rng=7)
    got = sdc.protect.synthesize(on_engine(engine, read_homes(shuffled(homes())), request), **options, rng=7)
    compare(got, want, "id")
    if not options.get("variables"):
        heads = want.frame.group_by("home").agg((pl.col("relation") == "head").sum())
        assert heads["relation"].eq(1).all()
        assert want.frame["w"].sum() == pytest.approx(homes()["w"].sum())


def test_the_order_of_new_records_is_the_same_and_says_nothing(duckdb_connection, request):
    want = sdc.protect.synthesize(read(persons()), by=["sex"], rng=2)
    got = sdc.protect.synthesize(on_engine("duckdb", read(persons()), request), by=["sex"], rng=2)
    assert frames.collect(got.frame)["id"].to_list() == want.frame["id"].to_list()
    sexes = want.frame["sex"]
    assert 200 < (sexes != sexes.shift(1)).sum() < 600, "strata are mixed"


def test_nothing_depends_on_the_order_of_the_rows():
    for options in ({"by": ["sex"]}, {"variables": ["income"]}):
        one, other = (
            sdc.protect.synthesize(read(f), **options, rng=1) for f in (persons(), shuffled(persons()))
        )
        assert one.frame.sort("id").equals(other.frame.sort("id"))


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("odd", [f"{i}@example.org" for i in range(900)]),
        pl.Series("odd", [f"family {i // 3}" for i in range(900)]),
        pl.Series("odd", range(900)),
        pl.Series("odd", [700_000 + 13 * i for i in range(900)]),
    ],
    ids=["texts", "families", "numbers", "long numbers"],
)
def test_columns_that_name_persons_in_the_whole_file_are_refused(column, duckdb_connection, request):
    """In each small stratum, too few records would share anything for the check to say so."""
    data = read(persons().with_columns(column))
    for file in (data, on_engine("duckdb", data, request)):
        with pytest.raises(ColumnError, match=r"name records.*odd"):
            sdc.protect.synthesize(file, by=["sex"], rng=1)


@pytest.mark.parametrize("engine", ENGINES)
def test_times_to_the_second_name_records_on_every_engine(engine, request):
    start = datetime(2024, 1, 1)
    seconds = [start + timedelta(seconds=1_357 * i) for i in range(900)]
    for times, exact in ((seconds, True), ([t.replace(second=0) for t in seconds], False)):
        data = read(persons().select("id", "sex", "age", pl.Series("at", times)), keys=["at"], numeric=[])
        file = on_engine(engine, data, request)
        if exact:
            with pytest.raises(ColumnError, match="name records"):
                sdc.protect.synthesize(file, by=["sex"], categories=["at"], rng=1)
        else:
            assert sdc.protect.synthesize(file, by=["sex"], categories=["at"], rng=1).height == 900


def test_no_verdict_clears_a_synthetic_file_that_was_not_looked_at(duckdb_connection, request):
    """Hardly a relation is kept: nothing but the missing checks speaks against the file."""
    frame = persons(3_000).select("id", "sex", "age", pl.col("income").fill_null(0.0))
    data = sdc.read(frame, id="id", keys=["sex", "age"], sensitive=["income"])
    file = on_engine("duckdb", data, request)
    made = sdc.protect.synthesize(file, by=["sex"], gain=20.0, rng=1)
    verdict = sdc.assess(file, made, max_risk=0.9, measures=["k_anonymity"]).verdict
    assert not verdict.releasable
    status = {c.name: c.status.value for c in verdict.criteria}
    assert status["copies of original records"] == "not judged"
    assert status["whole records that come back"] == "not judged"


def test_what_is_refused_before_work(duckdb_connection, request, monkeypatch):
    file = on_engine("duckdb", read(persons()), request)
    with pytest.raises(OptionError, match="fewer than 5 records have"):
        sdc.protect.synthesize(file, spikes={"income": [persons()["income"].max()]}, rng=1)
    monkeypatch.setattr(_synthesis_on_engine, "map_strata", None)  # nothing below comes to it
    monkeypatch.setattr(_synthesis_on_engine, "mapped", None)
    with pytest.raises(OptionError, match="must be drawn before it"):
        sdc.protect.synthesize(file, predictors={"sex": ["income"]}, rng=1)
    with pytest.raises(OptionError, match="is not true or false"):
        sdc.protect.synthesize(file, rules=[{"when": "age + 1", "then": {"income": 0}}], rng=1)
    with pytest.raises(EngineError, match="Spikes of dates"):
        sdc.protect.synthesize(file, spikes={"born": [11_000]}, rng=1)
    with pytest.raises(OptionError, match="leaf is larger"):
        sdc.protect.synthesize(file, leaf=901, rng=1)
    with pytest.raises(EngineError, match="marginals"):
        sdc.protect.synthesize(file, method="marginals", epsilon=1.0, rng=1)
    with pytest.raises(EngineError, match="where needs the records in memory"):
        sdc.protect.synthesize(file, variables=["age"], where="individual_risk", rng=1)
    with pytest.raises(EngineError, match="role id"):
        sdc.protect.synthesize(on_engine("duckdb", read(persons(), id=None), request), rng=1)
    with pytest.raises(EngineError, match="different strata"):
        sdc.protect.synthesize(on_engine("duckdb", read_homes(homes()), request), by=["sex"], rng=1)
    monkeypatch.setattr(_blocks, "LARGEST", 500)
    with pytest.raises(EngineError, match=r"stratum by stratum, and one has 900.*at most 500"):
        sdc.protect.synthesize(file, rng=1)


@pytest.mark.parametrize("engine", ENGINES)
def test_requirements_that_cannot_be_met_are_an_error(engine, request):
    file = on_engine(engine, read(persons()), request)
    with pytest.raises(DataError, match="requirements could not be met"):
        sdc.protect.synthesize(file, require=["age > 200"], by=["sex"], rng=1)


def test_what_is_collected_does_not_grow_with_the_file(duckdb_connection, request, monkeypatch):
    gather = frames.gather

    def most(times):
        again = [persons().with_columns(pl.col("id") + 10_000 * i) for i in range(times)]
        file, heights = on_engine("duckdb", read(pl.concat(again)), request), []

        def counting(table):
            heights.append(gather(table))
            return heights[-1]

        monkeypatch.setattr(frames, "gather", counting)
        sdc.protect.synthesize(file, by=["sex", "region"], rng=1)
        monkeypatch.setattr(frames, "gather", gather)
        return max(rows.height for rows in heights)

    assert most(4) <= 1.2 * most(2) < 200


def test_several_sets_outside_memory(duckdb_connection, request):
    here = sdc.synthesize(read(persons()), m=2, seed=3, by=["sex"])
    there = sdc.synthesize(on_engine("duckdb", read(persons()), request), m=2, seed=3, by=["sex"])
    assert [frames.collect(d.frame).equals(h.frame) for d, h in zip(there, here, strict=True)] == [True, True]
    assert not here[0].frame.equals(here[1].frame)


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_without_values(engine, request):
    frame = persons(200).with_columns(nobody=pl.lit(None, pl.Float64), nothing=pl.lit(None, pl.String))
    made = sdc.protect.synthesize(on_engine(engine, read(frame), request), by="sex", rng=1).collect().frame
    assert made.select(pl.col("nobody", "nothing").null_count()).row(0) == (200, 200)
