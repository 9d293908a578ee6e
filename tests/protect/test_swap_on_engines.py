"""Record swapping outside memory, and in blocks: the same areas for the same households as in memory."""

import random
from collections import Counter

import polars as pl
import pytest

import sdckit as sdc
from engine_frames import ENGINES, on_engine
from sdckit.engine import frames, quantiles
from sdckit.errors import ColumnError, EngineError
from sdckit.protect import _blocks

PLACES = ["state", "county", "town"]
STEPS = {
    "a share": {"share": 0.2},
    "all": {"share": 1.0, "similar": "sex"},
    "risky only": {"share": 0.0, "k": 3, "keys": ["sex", "job"]},
    "risky first": {"share": 0.3, "k": 2, "keys": ["sex", "job"], "similar": ["sex", "age"]},
    "profiles one after the other": {
        "share": 0.6,
        "k": 3,
        "keys": ["sex", "job"],
        "similar": [["sex", "age"], ["age"], []],
    },
    "nothing": {"share": 0.0},
}


def survey(n=900, seed=3, *, names=False):
    """Households of one to three, some without a number, without a town or in two towns."""
    draw = random.Random(seed)
    rows, home = [], 0
    while len(rows) < n:
        home += 1
        state, county, town = draw.choice("NS"), draw.randrange(3), draw.choice([1, 2, 3, None])
        county = f"{state}{county}" if draw.random() > 0.02 else None
        for _ in range(draw.choice([1, 1, 2, 3])):
            away = 9 if draw.random() < 0.02 else town
            number = home * 5 if draw.random() > 0.05 else None
            what = (draw.choice(["f", "m", None]), draw.choice([20, 40]), int(draw.expovariate(0.7)))
            rows.append((7 * len(rows) - 500, number, state, county, away, *what))
    frame = pl.DataFrame(rows, orient="row", schema=["id", "home", *PLACES, "sex", "age", "job"])
    text = pl.lit("h") + pl.col("home").cast(pl.String)
    return frame.with_columns(text.alias("home")) if names else frame


def shuffled(frame):
    return frame.sample(fraction=1.0, shuffle=True, seed=5)


def read(frame, household="home"):
    return sdc.read(frame, id="id", household=household)


def swapped(data, options):
    return sdc.protect.swap_records(data, geography=PLACES, rng=11, **options)


def same(got, want):
    there = frames.collect(got.frame).sort("id")
    assert got.columns == want.columns
    assert there.cast(dict(want.frame.schema)).equals(want.frame.sort("id"))
    assert got.log[-1].figures == want.log[-1].figures
    assert got.log[-1].effects == want.log[-1].effects


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("kind", ["numbers", "names", "persons"])
def test_every_engine_moves_the_same_households(kind, step, engine, request):
    if engine == "spark" and step != "profiles one after the other":
        pytest.skip("the others have parts of it")
    frame, home = survey(names=kind == "names"), None if kind == "persons" else "home"
    want = swapped(read(frame, home), STEPS[step])
    got = swapped(on_engine(engine, read(shuffled(frame), home), request), STEPS[step])
    assert got.engine == engine
    same(got, want)
    assert (want.log[-1].figures["households_swapped"] == 0) == (step == "nothing")


@pytest.fixture
def small_blocks(monkeypatch):
    """Profiles above 60 households are cut."""
    monkeypatch.setattr(_blocks, "LARGEST", 60)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("step", ["a share", "profiles one after the other"])
@pytest.mark.parametrize("home", [None, "home"])
def test_blocks_are_the_same_on_every_engine(home, step, engine, request):
    if engine == "spark" and not (home and step == "a share"):
        pytest.skip("the others differ in what DuckDB shows, too")
    want = swapped(read(survey(), home), STEPS[step])
    got = swapped(on_engine(engine, read(shuffled(survey()), home), request), STEPS[step])
    same(got, want)
    assert want.log[-1].figures["blocks_of_a_profile"] >= 3


@pytest.mark.usefixtures("small_blocks")
def test_blocks_keep_share_risk_and_counts():
    data = read(survey())
    done = swapped(data, STEPS["profiles one after the other"])
    figures = done.log[-1].figures
    assert figures["households_swapped"] == int(0.6 * figures["households"]) // 2 * 2
    assert figures["households_risky"] > 20
    assert figures["risky_without_partner"] <= 2
    for columns in ([*PLACES, "age"], ["state", "age"]):
        assert Counter(done.frame.select(columns).rows()) == Counter(data.frame.select(columns).rows())


def test_nothing_is_cut_that_fits(monkeypatch):
    monkeypatch.setattr(_blocks, "LARGEST", 900)
    assert "blocks_of_a_profile" not in swapped(read(survey()), STEPS["a share"]).log[-1].figures


@pytest.mark.parametrize("home", [None, "home"])
def test_what_households_draw_does_not_depend_on_the_order_of_the_rows(home):
    one, other = (
        swapped(read(f, home), STEPS["risky first"]).frame.sort("id") for f in (survey(), shuffled(survey()))
    )
    assert one.equals(other)


def test_ids_are_needed_outside_memory(duckdb_connection, request):
    file = on_engine("duckdb", sdc.read(survey(), household="home"), request)
    with pytest.raises(EngineError, match="role id"):
        swapped(file, STEPS["a share"])
    frame = survey().with_columns(pl.date(2000, 1, 1).alias("home"))
    with pytest.raises(ColumnError, match="'home' cannot be an id"):
        swapped(on_engine("duckdb", read(frame), request), STEPS["a share"])


def test_what_is_collected_does_not_grow_with_the_file(duckdb_connection, request, monkeypatch):
    monkeypatch.setattr(quantiles, "SAMPLE", 50)
    monkeypatch.setattr(quantiles, "LIMIT", 50)
    gather = frames.gather

    def most(times):
        one = survey()
        again = [one.with_columns(pl.col("id") + 10_000 * i, pl.col("home") + 7 * i) for i in range(times)]
        file, heights = on_engine("duckdb", read(pl.concat(again)), request), []

        def counting(table):
            heights.append(gather(table))
            return heights[-1]

        monkeypatch.setattr(frames, "gather", counting)
        swapped(file, STEPS["risky first"])
        monkeypatch.setattr(frames, "gather", gather)
        return max(rows.height for rows in heights)

    assert most(8) <= 1.2 * most(2) < 300
