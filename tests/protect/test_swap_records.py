"""swap_records: households move, counts by area and profile stay."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.data.effects import Effects
from sdckit.errors import ColumnError, OptionError, RoleError


@st.composite
def files(draw):
    """Households of one to three in areas of two levels, some without an area, some split over two."""
    rows = []
    for home in range(draw(st.integers(1, 12))):
        area = draw(st.tuples(st.sampled_from("NS"), st.integers(0, 2) | st.none()))
        for _ in range(draw(st.integers(1, 3))):
            place = area if draw(st.integers(0, 9)) else ("W", 9)
            rows.append((home, *place, draw(st.sampled_from("fm") | st.none()), draw(st.integers(0, 2))))
    schema = {"home": pl.Int64, "state": pl.String, "town": pl.Int64, "sex": pl.String, "job": pl.Int64}
    order = draw(st.permutations(rows))
    return sdc.read(pl.DataFrame(order, schema=schema, orient="row"), household="home", keys=["sex", "job"])


def homes(frame, *columns):
    """Each household's values of some columns, by plain Python."""
    found = {}
    for row in frame.select("home", *columns).iter_rows():
        found.setdefault(row[0], []).append(row[1:])
    return found


def settled(frame):
    return {
        h: areas[0]
        for h, areas in homes(frame, "state", "town").items()
        if len(set(areas)) == 1 and None not in areas[0]
    }


def profiles(frame, *columns):
    return {h: tuple(sorted(map(str, values))) for h, values in homes(frame, *columns).items()}


@settings(max_examples=150, deadline=None)
@given(
    data=files(),
    share=st.sampled_from([0.0, 0.3, 1.0]),
    k=st.none() | st.integers(2, 3),
    seed=st.integers(0, 99),
)
def test_counts_by_area_and_profile_stay_exactly(data, share, k, seed):
    done = sdc.protect.swap_records(
        data, geography=["state", "town"], similar="sex", share=share, k=k, rng=seed
    )
    before, after = data.frame, done.frame
    for columns in (["state", "town", "sex"], ["state", "sex"]):
        assert Counter(after.select(columns).rows()) == Counter(before.select(columns).rows())
    sizes = [
        Counter((area, len(homes(f, "job")[h])) for h, area in settled(f).items()) for f in (before, after)
    ]
    assert sizes[0] == sizes[1]
    rest = ["home", "sex", "job"]
    assert after.select(rest).equals(before.select(rest))
    old, new = settled(before), settled(after)
    assert old.keys() == new.keys(), "households are moved whole"
    moved = [h for h in old if old[h] != new[h]]
    figures = done.log[-1].figures
    assert figures["households_swapped"] == len(moved)
    if k is None:
        assert len(moved) <= share * len(homes(before, "job"))
        assert figures["households_risky"] == 0


@settings(max_examples=100, deadline=None)
@given(data=files(), seed=st.integers(0, 99))
def test_nobody_is_left_who_could_be_swapped(data, seed):
    done = sdc.protect.swap_records(data, geography=["state", "town"], similar="sex", share=1, rng=seed)
    old, new, like = settled(data.frame), settled(done.frame), profiles(data.frame, "sex")
    stayed = [h for h in old if old[h] == new[h]]
    odd = 1 if len(homes(data.frame, "job")) % 2 else 0
    wanted = len(homes(data.frame, "job")) - odd
    if done.log[-1].figures["households_swapped"] < wanted:
        assert not [(a, b) for a in stayed for b in stayed if like[a] == like[b] and old[a] != old[b]]


@settings(max_examples=100, deadline=None)
@given(data=files(), k=st.integers(2, 3), seed=st.integers(0, 99))
def test_risky_households_leave_the_area_in_which_they_are_rare(data, k, seed):
    done = sdc.protect.swap_records(data, geography=["state", "town"], share=0, k=k, rng=seed)
    frame = data.frame
    old, new = settled(frame), settled(done.frame)
    risky = {}
    for depth, columns in ((1, ["state"]), (2, ["state", "town"])):
        counts = Counter(frame.select(*columns, "sex", "job").rows())
        for row in frame.select("home", *columns, "sex", "job").iter_rows():
            if row[0] in old and counts[row[1:]] < k:
                risky.setdefault(row[0], depth)
    figures = done.log[-1].figures
    assert figures["households_risky"] == len(risky)
    stayed = {h for h, depth in risky.items() if old[h][:depth] == new[h][:depth]}
    assert figures["risky_without_partner"] == len(stayed)
    size = profiles(frame.with_columns(pl.lit(1).alias("one")), "one")
    for h in stayed:
        others = [o for o in old if old[o] == new[o] and size[o] == size[h]]
        assert not [o for o in others if old[o][: risky[h]] != old[h][: risky[h]]]


@settings(max_examples=100, deadline=None)
@given(areas=st.lists(st.integers(0, 3), min_size=2, max_size=30), seed=st.integers(0, 99))
def test_single_persons_are_swapped_as_long_as_areas_differ(areas, seed):
    data = sdc.read(pl.DataFrame({"area": areas}))
    done = sdc.protect.swap_records(data, geography="area", share=1, rng=seed).frame["area"].to_list()
    assert len({a for a, b in zip(areas, done, strict=True) if a == b}) <= 1


def test_a_household_in_two_areas_stays():
    frame = pl.DataFrame({"home": [1, 1, 2, 2, 3, 3], "area": ["N", "S", "S", "S", "S", "S"]})
    data = sdc.read(frame, household="home")
    assert sdc.protect.swap_records(data, geography="area", share=1, rng=1).frame.equals(frame)


def test_those_rare_in_a_whole_state_leave_it():
    frame = pl.DataFrame(
        {
            "state": ["N"] * 20 + ["S"] * 20,
            "town": [t for t in range(8) for _ in range(5)],
            "job": ["rare"] + ["x"] * 39,
        }
    )
    data = sdc.read(frame, keys="job")
    for seed in range(10):
        done = sdc.protect.swap_records(data, geography=["state", "town"], share=0, k=2, rng=seed)
        assert done.frame["state"][0] == "S"
        assert done.log[-1].figures["households_swapped"] == 2


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    region = rng.integers(0, 4, n)
    frame = pl.DataFrame(
        {
            "region": region,
            "town": region * 5 + rng.integers(0, 5, n),
            "size": rng.integers(1, 4, n),
            "x": range(n),
        }
    )
    return sdc.read(frame, keys="size")


def test_the_share_is_reached_and_nobody_goes_further_than_needed():
    data = people(2000)
    done = sdc.protect.swap_records(data, geography=["region", "town"], similar="size", share=0.2, rng=1)
    assert done.log[-1].figures == {
        "households": 2000,
        "households_swapped": 400,
        "households_risky": 0,
        "risky_without_partner": 0,
        "records_moved": 400,
        "households_leaving": {"region": 0, "town": 400},
    }
    assert done.frame["region"].equals(data.frame["region"]), "towns of the same region have partners enough"
    assert (done.frame["town"] != data.frame["town"]).sum() == 400


def test_partners_are_drawn_from_all_areas_alike():
    data = people(4000)
    done = sdc.protect.swap_records(data, geography="town", share=1, rng=1).frame
    reached = Counter(done.filter(data.frame["town"] == 0)["town"])
    assert len(reached) == 19
    assert max(reached.values()) < 4 * min(reached.values())


def test_a_household_without_a_partner_tries_the_next_profile():
    frame = pl.DataFrame({"area": ["N", "S"], "age": [20, 30], "size": [1, 1]})
    data = sdc.read(frame)
    told = {"geography": "area", "share": 1, "rng": 1}
    assert sdc.protect.swap_records(data, similar=["age", "size"], **told).frame.equals(frame)
    done = sdc.protect.swap_records(data, similar=[["age", "size"], ["size"]], **told)
    assert done.frame["area"].to_list() == ["S", "N"]
    assert done.log[-1].options["similar"] == [["age", "size"], ["size"]]


def test_the_seed_decides_and_records_keep_their_place():
    data = people(300)
    one, same, other = (sdc.protect.swap_records(data, geography="town", rng=s).frame for s in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)
    done = sdc.protect.swap_records(data, geography="town", rng=1)
    assert done.log[-1].effects == Effects(moves_values=("town",))


def test_mistakes():
    data = sdc.read(pl.DataFrame({"area": ["N", "S"], "x": [1, 2]}))
    with pytest.raises(OptionError, match="needs the option 'geography'"):
        sdc.protect.swap_records(data)
    with pytest.raises(OptionError, match="needs at least one column in 'geography'"):
        sdc.protect.swap_records(data, geography=[])
    with pytest.raises(RoleError, match="k needs keys"):
        sdc.protect.swap_records(data, geography="area", k=2)
    with pytest.raises(ColumnError, match="There is no column 'sise'"):
        sdc.protect.swap_records(data, geography="area", similar=[["x"], ["sise"]])
    with pytest.raises(OptionError, match=r"Option 'share' of swap_records is not valid. Given: 5"):
        sdc.protect.swap_records(data, geography="area", share=5)
