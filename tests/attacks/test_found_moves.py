"""Keys that moved to where somebody who knows the method looks for them: nearby, or to a few others."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.people import KEYS, households, persons, with_keys
from attacks.test_found import verdict
from sdckit.choose.criteria import Status


def rng(seed: int = 3) -> np.random.Generator:
    return np.random.default_rng(seed)


def linked(frame: pl.DataFrame, **changed) -> tuple[sdc.Microdata, sdc.Microdata]:
    """The file and a copy with other values, both with the same ids."""
    number = pl.Series("number", rng(9).permutation(frame.height))
    keys = frame.columns
    first = frame.with_columns(number)
    second = first.with_columns(pl.Series(c, values) for c, values in changed.items())
    return tuple(sdc.read(f, id="number", keys=keys) for f in (first, second))


def found_among(near: np.ndarray) -> float:
    """The share of persons found who are as likely as all others that could be theirs."""
    return float((np.diag(near) / near.sum(axis=1)).mean())


@pytest.mark.parametrize("written", ["{}", "{} years", "age {:03d}"])
def test_ages_with_noise_that_are_written_as_text(written):
    """Somebody who knows the age within two years looks at five ages, not at seventy."""
    frame = persons(1_000).select("region", "sex", "age")
    age = frame["age"].to_numpy()
    moved = age + rng().choice([-2, -1, 1, 2], len(age))
    texts, shown = ([written.format(a) for a in ages] for ages in (age, moved))
    data, done = linked(frame.with_columns(age=pl.Series(texts)), age=shown)
    same = np.all([frame[c].to_numpy()[:, None] == frame[c].to_numpy() for c in ("region", "sex")], axis=0)
    near = same & (np.abs(age[:, None] - moved) <= 2) & (age[:, None] != moved)
    assert sdc.risk.reidentification_risk(data, done).value > 0.95 * found_among(near)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%d %B %Y"])
def test_dates_with_noise_that_are_written_as_text(form):
    n = 600
    day = rng().integers(0, 20_000, n)
    moved = day + rng(4).integers(-20, 21, n)
    texts, shown = (
        [(dt.date(1950, 1, 1) + dt.timedelta(days=int(d))).strftime(form) for d in days]
        for days in (day, moved)
    )
    data, done = linked(pl.DataFrame({"born": texts}), born=shown)
    near = np.abs(day[:, None] - moved) <= 20
    assert sdc.risk.reidentification_risk(data, done).value > 0.95 * found_among(near)


def of_neighbour(data, done):
    found = verdict(data, done, max_risk=0.5)
    return next(c for c in found if c.name == "re-identification by neighbour")


@pytest.mark.parametrize(("districts", "reach"), [(200, 1), (300, 2), (800, 3)])
def test_districts_that_became_neighbouring_ones(districts, reach):
    """The names of districts say nothing of the map; whoever has the map looks at a few of them."""
    n, draw = 3_000, rng()
    names = np.array([f"m{c:03d}" for c in draw.permutation(districts)])
    place = draw.integers(0, districts, n)
    steps = [s for s in range(-reach, reach + 1) if s]
    shown = names[(place + draw.choice(steps, n)) % districts]
    frame = pl.DataFrame({"district": names[place], "sex": draw.choice(["f", "m"], n)})
    assert of_neighbour(*linked(frame, district=shown)).status is Status.NOT_JUDGED


@pytest.mark.parametrize(
    "protect",
    [
        lambda data: sdc.protect.pram(data, variables=list(KEYS), stay=0.5, rng=1),
        lambda data: sdc.protect.swap_records(
            data, geography=["region"], similar=[["sex", "age"]], share=0.3, rng=1
        ),
        lambda data: sdc.protect.synthesize(data, variables=["occupation", "region", "age"], rng=1),
    ],
    ids=["pram", "swap", "synthesis"],
)
def test_moves_to_anywhere_are_judged(protect):
    data = with_keys(1_500)
    found = sdc.risk.reidentification_risk(data, protect(data))
    assert found.tables["intruders"]["not_judged"].to_list() == [""]


def test_ages_with_noise_of_all_members_of_households():
    """Of five members each within two years hardly two households are alike: 85 in 100 are found."""
    frame = households(300).with_columns((pl.col("region") > 2).cast(pl.Int64)).drop("size")
    data = sdc.read(frame, keys=["region", "sex", "age"], household="home")
    for change, status in (("noise", Status.NOT_JUDGED), ("pram", Status.MET)):
        if change == "noise":
            age = pl.Series("age", frame["age"].to_numpy() + rng().choice([-2, -1, 1, 2], frame.height))
            done = data.with_frame(frame.with_columns(age))
        else:
            done = sdc.protect.pram(data, variables=["age"], stay=0.3, rng=1)
        done = sdc.protect.shuffle_order(sdc.protect.new_ids(done, rng=2), rng=3)
        found = verdict(data, done, max_risk=0.6)
        assert next(c for c in found if c.name == "re-identification by household").status is status


def test_numbers_in_the_names_of_classes_do_not_stand_for_them():
    """Both of "<50" and "50+" have a 50 in them, and tell the two classes apart all the same."""
    frame = persons(800).select("region", "sex", "age").with_columns(number=pl.int_range(pl.len()))
    data = sdc.read(frame, keys=["region", "sex", "age"], id="number")
    labels = (["young", "old"], ["<50", "50+"], ["under 50", "50 and over"])
    done = [sdc.protect.recode(data, variable="age", breaks=[50], labels=names) for names in labels]
    found = [sdc.risk.reidentification_risk(data, one).tables["intruders"] for one in done]
    assert all(one["value"].to_list() == pytest.approx(found[0]["value"].to_list()) for one in found)


@pytest.mark.parametrize("written", ["{}", "AT{}", "abcdefghi"])
def test_few_regions_that_became_neighbouring_ones_whatever_their_names(written):
    n, draw = 3_000, rng()
    place = draw.integers(0, 9, n)
    shown = np.where(draw.random(n) < 0.7, (place + 1) % 9, place)
    names = list(written) if len(written) == 9 else [written.format(c) for c in range(1, 10)]
    first, second = ([names[c] for c in codes] for codes in (place, shown))
    frame = pl.DataFrame({"region": first, "sex": draw.choice(["f", "m"], n)})
    assert of_neighbour(*linked(frame, region=second)).status is Status.NOT_JUDGED


def test_who_is_shown_to_live_together_is_not_safer_for_that():
    """Ages in months that moved a little: near records tell persons, whatever else tells the household."""
    frame = households(300).drop("size")
    months = frame["age"].to_numpy() * 12 + rng().integers(0, 12, frame.height)
    weight = frame.select(pl.col("home").rank("dense").cast(pl.Float64).alias("weight"))["weight"] + 0.5
    frame = frame.with_columns(age=pl.Series(months), weight=weight)
    found = []
    for columns in (["region", "sex", "age", "home"], ["region", "sex", "age", "home", "weight"]):
        data = sdc.read(frame.select(columns), keys=["region", "sex", "age"], household="home")
        moved = frame["age"].to_numpy() + rng(4).integers(-3, 4, frame.height)
        done = data.with_frame(data.frame.with_columns(age=pl.Series(moved)))
        done = sdc.protect.shuffle_order(sdc.protect.drop(done, variables=["home"]), rng=3)
        family = sdc.Intruder("family", unit="household")
        found.append(sdc.risk.reidentification_risk(data, done, intruders=family).value)
    assert found[1] >= found[0] > 0.5
