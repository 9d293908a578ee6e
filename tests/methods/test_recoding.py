"""A file in the categories of another: what the release recoded is recoded for the search too."""

import math
import pickle

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from engine_frames import ENGINES, on_engine
from sdckit.methods.recoding import Intervals, SameCall, apply_same_recoding, recodings
from sdckit.methods.registry import protection, unregister

BANDS = [18, 40, 65]
NOTE = "Compared in the categories of the protected file: age."


@pytest.fixture(scope="module")
def people() -> sdc.Microdata:
    frame = sdc.demo.survey(n=400, seed=3).frame.select("sex", "age", "education", "health", "income")
    return sdc.read(frame, keys=["sex", "age", "education"], sensitive="health", numeric="income")


def banded(data: sdc.Microdata) -> sdc.Microdata:
    return sdc.protect.recode(data, variable="age", breaks=BANDS)


def test_attribute_disclosure_looks_in_the_band_that_was_released(people):
    released = banded(people)
    result = sdc.risk.attribute_disclosure(people, released)
    by_hand = sdc.risk.attribute_disclosure(banded(people), released)
    assert result.figures == pytest.approx(by_hand.figures)
    assert result.value > 0
    assert result.notes[0] == NOTE
    assert NOTE not in by_hand.notes


def test_a_recoded_target_is_learnt_in_its_new_categories(people):
    released = sdc.protect.recode(people, variable="health", breaks=[3], labels=["good", "poor"])
    result = sdc.risk.attribute_disclosure(people, released)
    health = people.frame["health"]
    good, poor, missing = (health < 3).sum(), (health >= 3).sum(), health.null_count()
    assert result.figures["baseline_cap"] == pytest.approx((good**2 + poor**2 + missing**2) / 400**2)


def test_identification_risk_and_k_map_do_the_same(people):
    released = banded(people)
    found = sdc.risk.identification_risk(people, released, synthesised="health")
    by_hand = sdc.risk.identification_risk(banded(people), released, synthesised="health")
    assert found.figures == pytest.approx(by_hand.figures)
    assert NOTE in found.notes
    result = sdc.risk.k_map(released, population=people)
    assert result.figures == pytest.approx(sdc.risk.k_map(released, population=banded(people)).figures)
    assert result.figures["unmatched"] == 0
    assert result.notes[0] == NOTE
    assert NOTE not in sdc.risk.k_map(people, population=people).notes


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_register_on_any_engine(people, engine, request):
    there = on_engine(engine, people, request)
    result = sdc.risk.k_map(banded(there), population=there)
    assert (result.figures["unmatched"], result.notes[0]) == (0, NOTE)


@pytest.mark.parametrize(
    "steps",
    [
        [("recode", {"variable": "age", "width": 10})],
        [("recode", {"variable": "age", "groups": 4})],
        [("recode", {"variable": "age", "groups": 4, "labels": ["a", "b", "c", "d"]})],
        [("recode", {"variable": "age", "groups": 3, "log": True})],
        [("sample_records", {"share": 0.5}), ("recode", {"variable": "age", "groups": 4})],
        [("group", {"variables": ["education"], "map": {"low": [1, 2, 3]}})],
        [
            ("recode", {"variable": "age", "width": 10}),
            ("group", {"variables": ["age", "education"], "digits": 1}),
        ],
        [("recode", {"variable": "age", "breaks": BANDS}), ("suppress", {"k": 3})],
        [("recode", {"variable": "age", "breaks": BANDS}), ("pram", {"variables": ["age"]})],
    ],
    ids=str,
)
def test_every_way_to_recode_is_followed(people, steps):
    released = sdc.Scenario("s", [{m: o} for m, o in steps if o is not None]).protect(people, seed=1)
    columns = ("sex", "age", "education")
    alike, notes = apply_same_recoding(people, released, columns)
    changed = [c for c in columns if any(c in str(o) for m, o in steps if m in ("recode", "group"))]
    assert notes == (f"Compared in the categories of the protected file: {', '.join(changed)}.",)
    assert alike.frame["sex"].equals(people.frame["sex"])
    for column in changed:
        assert set(released.frame[column].drop_nulls()) <= set(alike.frame[column].drop_nulls())
    if "sample_records" not in str(steps):
        both = zip(alike.frame["age"].to_list(), released.frame["age"].to_list(), strict=True)
        assert "pram" in str(steps) or all(b in (None, a) for a, b in both)


def test_what_is_recoded_already_stays(people):
    released = sdc.protect.suppress(banded(people), k=3)
    for done in (banded(people), sdc.read(banded(people).frame, keys=["sex", "age"])):
        alike, notes = apply_same_recoding(done, released, ["sex", "age"])
        assert alike is done
        assert notes == ()


def aged(ages, copies=3, **more) -> sdc.Microdata:
    return sdc.read(pl.DataFrame({"age": [*ages] * copies, **more}), keys="age")


def test_labels_mean_the_released_intervals_in_a_register_of_other_ages():
    released = sdc.protect.recode(
        aged(range(90)), variable="age", width=10, labels=[f"g{i}" for i in range(9)]
    )
    register = aged(range(30, 120))
    result = sdc.risk.k_map(released, population=register)
    assert result.figures["unmatched"] == 90  # those under 30, three times
    assert result.value == pytest.approx(30 / 90)
    alike = apply_same_recoding(register, released, ["age"])[0].frame["age"].to_list()
    assert dict(zip(register.frame["age"], alike, strict=True)) == {
        age: f"g{age // 10}" if age < 90 else f"{age // 10}0–{age // 10}9" for age in range(30, 120)
    }


@pytest.mark.parametrize(
    ("options", "nobody"),
    [
        ({"width": 10}, 10),
        ({"groups": 4}, 0),
        ({"groups": 4, "log": True}, 9),  # 0, 1–2, 3–8; others from 10 on are 9–29
        ({"width": 3, "log": True}, 9),  # 0, 1–2, 3–8; others from 10 on are 9–26
        ({"breaks": [5, 20]}, 5),
    ],
    ids=str,
)
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_intervals_that_do_not_occur_in_the_register_switch_nothing_off(options, nobody, engine, request):
    released = sdc.protect.recode(on_engine(engine, aged(range(90)), request), variable="age", **options)
    register = on_engine(engine, aged(range(10, 120)), request)
    result = sdc.risk.k_map(released, population=register)
    assert result.figures["unmatched"] == 3 * nobody
    assert result.value == pytest.approx(nobody / 90)
    assert result.notes[0] == NOTE


def test_ages_moved_before_they_were_cut_are_followed():
    people = aged(range(90), health=[i % 7 for i in range(270)]).with_roles(sensitive="health")
    moved = people.with_frame(people.frame.with_columns(age=pl.col("age") + pl.Series([-3, 3] * 135)))
    released = sdc.protect.recode(moved, variable="age", width=10)
    assert "-10–-1" in released.frame["age"].to_list()  # and nobody in the original is so young
    result = sdc.risk.attribute_disclosure(people, released)
    assert result.notes[0] == NOTE
    by_hand = sdc.protect.recode(people, variable="age", width=10)
    assert result.figures == pytest.approx(sdc.risk.attribute_disclosure(by_hand, released).figures)


def test_a_constant_is_found_again_and_nothing_else_is_taken_for_it():
    people = aged([7] * 6, copies=1, health=[1, 1, 1, 2, 2, 2]).with_roles(sensitive="health")
    released = sdc.protect.recode(people, variable="age", groups=3)
    assert sdc.risk.attribute_disclosure(people, released).figures["found_in_synthetic"] == 1
    alike = apply_same_recoding(aged([6, 7, 8], copies=1), released, ["age"])[0]
    assert alike.frame["age"].to_list() == ["<7", "7", "≥8"]


def test_one_number_far_off_does_not_stop_the_others():
    released = sdc.protect.recode(aged(range(90)), variable="age", width=10)
    alike = apply_same_recoding(aged([-5, 42, 10**9], copies=1), released, ["age"])[0]
    assert alike.frame["age"].to_list() == ["<0", "40–49", "≥90"]


def test_released_names_are_given_to_nobody_else():
    released = sdc.protect.recode(aged(range(20)), variable="age", width=10, labels=["20–29", "≤0"])
    alike = apply_same_recoding(aged([0, 10, 20, -1], copies=1), released, ["age"])[0]
    assert alike.frame["age"].to_list() == ["20–29", "≤0", "20–29 (other)", "-10–-1"]
    amounts = sdc.protect.recode(aged([2, 20]), variable="age", width=10, log=True, labels=["≤0", "100–999"])
    alike = apply_same_recoding(aged([-1, 0, 2, 20, 200], copies=1), amounts, ["age"])[0]
    assert alike.frame["age"].to_list() == ["≤0 (other)", "≤0 (other)", "≤0", "100–999", "100–999 (other)"]
    nothing = sdc.protect.recode(aged([-1, 0]), variable="age", groups=2, log=True, labels=["none"])
    alike = apply_same_recoding(aged([-7, 0, 3], copies=1), nothing, ["age"])[0]
    assert alike.frame["age"].to_list() == ["none", "none", ">0"]


NUMBERS = st.lists(st.integers(-40, 400), min_size=1, max_size=15)
PLACES = {  # where a number lies, in plain words: two numbers share a name if and only if they share a place
    "width": ({"width": 10}, lambda x, _: x // 10),
    "breaks": ({"breaks": [0.0, 18.0, 65.0]}, lambda x, _: sum(b <= x for b in (0, 18, 65))),
    "log": ({"width": 10, "log": True}, lambda x, _: len(str(x)) if x > 0 else 0),
    "groups": ({"groups": 4}, lambda x, breaks: sum(b <= x for b in breaks)),
    "log groups": (
        {"groups": 4, "log": True},
        lambda x, breaks: sum(b <= x for b in breaks if b) if x > 0 else -1,
    ),
}


@settings(max_examples=40, deadline=None)
@given(first=NUMBERS, second=NUMBERS, named=st.booleans())
@pytest.mark.parametrize("way", PLACES)
def test_two_numbers_have_one_name_where_they_lie_in_one_interval(way, first, second, named):
    options, place = PLACES[way]
    released = sdc.protect.recode(aged(first, copies=1), variable="age", **options)
    names = released.log[-1].figures["labels"]
    if named:  # the names of other intervals, on purpose
        options = {**options, "labels": [f"{10 * i}–{10 * i + 9}" for i in range(len(names))]}
        released = sdc.protect.recode(aged(first, copies=1), variable="age", **options)
    alike, notes = apply_same_recoding(aged(second, copies=1), released, ["age"])
    assert notes == (NOTE,)
    breaks = released.log[-1].figures["breaks"]
    for x, name in zip(first, released.frame["age"], strict=True):
        for y, other in zip(second, alike.frame["age"], strict=True):
            assert (name == other) == (place(x, breaks) == place(y, breaks))


def test_labels_of_logarithmic_groups_are_followed(people):
    options = {"variable": "age", "groups": 2, "log": True, "labels": ["≤0", "younger", "older"]}
    released = sdc.protect.recode(people, **options)
    alike, notes = apply_same_recoding(people, released, ["age"])
    assert notes == (NOTE,)
    assert alike.frame["age"].to_list() == released.frame["age"].to_list()


def test_names_are_those_released_however_the_other_numbers_are_stored(people):
    decimal = people.with_frame(people.frame.with_columns(pl.col("age") + 0.5))
    released = banded(decimal)  # "[18, 40)" where whole numbers give "18–39"
    alike = apply_same_recoding(people, released, ["age"])[0]
    assert alike.frame["age"].to_list() == released.frame["age"].to_list()


def test_a_column_without_numbers_was_cut_nowhere(people):
    empty = people.with_frame(people.frame.with_columns(age=pl.lit(None, pl.Int64)))
    released = sdc.protect.recode(empty, variable="age", width=10)
    assert apply_same_recoding(people, released, ["age"]) == (people, ())


def test_recodings_are_those_after_the_shared_log(people):
    first = banded(people)
    both = sdc.protect.group(sdc.protect.suppress(first, k=2), variables=["education"], digits=1)
    assert recodings(people, both) == {
        "age": (Intervals((18, 40, 65), ("<18", "18–39", "40–64", "65+")),),
        "education": (SameCall("group", "variables", {"digits": 1}),),
    }
    assert list(recodings(first, both)) == ["education"]
    assert recodings(both, both) == {}


def alike(data, released, column="age"):
    return apply_same_recoding(data, released, [column])[0].collect().frame[column].to_list()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("method", "options", "values", "expected"),
    [
        ("top_code", {"value": 85}, [30, 85, 97, None], [30, 85, 85, None]),
        ("top_code", {"value": 85, "replacement": 90}, [30, 85, 97, None], [30, 85, 90, None]),
        ("top_code", {"value": 80, "replacement": "mean"}, [30, 81, 97, None], [30, 85.5, 85.5, None]),
        ("top_code", {"share": 0.2}, [88, 85, 99, None], [86, 85, 86, None]),
        ("bottom_code", {"value": 18}, [3, 18, 97, None], [18, 18, 97, None]),
        ("bottom_code", {"share": 0.2}, [3, 18, 97, None], [75, 75, 97, None]),
        ("round_values", {"base": 10}, [3, 18, 97, None], [0, 20, 100, None]),
        ("round_values", {"base": 5, "method": "down"}, [3, 18, 97, None], [0, 15, 95, None]),
        ("round_values", {"base": 2.5}, [3, 18, 96, None], [2.5, 17.5, 95, None]),
    ],
    ids=str,
)
def test_tails_and_rounding_are_recodings(method, options, values, expected, engine, request):
    """The thresholds and means are those of the released ages, 71 to 90, not of the register."""
    people = aged(range(71, 91), copies=1)
    released = getattr(sdc.protect, method)(people, variables="age", **options)
    register = on_engine(engine, aged(values, copies=1), request)
    assert sorted(alike(register, released), key=str) == sorted(expected, key=str)
    assert alike(people, released) == released.frame["age"].to_list()


def test_tails_of_strata_are_followed_stratum_by_stratum():
    frame = pl.DataFrame({"sex": ["f"] * 5 + ["m"] * 5 + [None] * 5, "age": range(15)})
    people = sdc.read(frame, keys=["sex", "age"])
    released = sdc.protect.top_code(people, variables="age", share=0.4, by="sex")
    other = pl.DataFrame({"sex": ["f", "m", None, "x"], "age": [99] * 4})
    assert alike(sdc.read(other, keys=["sex", "age"]), released) == [2, 7, 12, 99]
    assert alike(sdc.read(other.with_columns(pl.col("sex").cast(pl.Categorical))), released) == [2, 7, 12, 99]
    assert alike(sdc.read(other.drop("sex")), released) == [99] * 4
    assert alike(people, released) == released.frame["age"].to_list()


def test_what_households_share_is_followed_too():
    frame = pl.DataFrame({"home": [1, 1, 2, 3], "rent": [900, 900, 500, 2000], "age": [30, 95, 90, 20]})
    data = sdc.read(frame, household="home", numeric=["rent", "age"])
    released = sdc.protect.top_code(data, value=850)
    assert list(recodings(data, released)) == ["rent", "age"]
    assert alike(data, released, "rent") == [850, 850, 500, 850]
    noisy = sdc.protect.add_noise(data, rng=1).log[-1]
    assert set(noisy.effects.randomises) == {"rent", "age"}


def test_random_and_joint_changes_are_no_recodings(people):
    drawn = sdc.protect.round_values(people, variables="age", base=10, method="random", rng=1)
    joint = sdc.protect.top_code(people, variables=["age", "income"], share=0.1, joint=True)
    some = sdc.protect.top_code(people, variables="age", value=50, where={"individual_risk": {}})
    for released in (drawn, joint, some, sdc.protect.pram(people, variables="sex", rng=1)):
        assert recodings(people, released) == {}


def test_merged_categories_are_found_by_code_label_and_new_name():
    frame = pl.DataFrame({"region": [1, 2, 3, 4]})
    labels = sdc.Labels({}, {"region": {1: "Tyrol", 2: "Carinthia", 3: "Vienna"}})
    data = sdc.Microdata.of(frame, labels=labels, keys="region")
    south = {"South": ["Tyrol", 2]}
    released = sdc.protect.group(data, variables="region", map=south)
    codes = sdc.read(pl.DataFrame({"region": [2.0, 3.0, 5.0, None]}), keys="region")  # nobody in Tyrol
    assert alike(codes, released, "region") == ["South", "Vienna", "5", None]
    names = sdc.read(pl.DataFrame({"region": ["Tyrol", "Vienna", "South", "4"]}), keys="region")
    assert alike(names, released, "region") == ["South", "Vienna", "South", "4"]
    fewer = sdc.protect.group(data, variables="region", map=south, rest="Other")
    assert alike(codes, fewer, "region") == ["South", "Other", "Other", None]
    assert alike(names, fewer, "region") == ["South", "Other", "South", "Other"]


def test_several_recodings_follow_each_other(people):
    steps = [{"top_code": {"variables": "age", "value": 85}}, {"recode": {"variable": "age", "width": 10}}]
    released = sdc.Scenario("s", steps).protect(people)
    assert alike(aged([83, 85, 99], copies=1), released) == ["80–89", "80–89", "80–89"]
    assert alike(sdc.read(banded(people).frame), released) == banded(people).frame["age"].to_list()


def test_recodings_go_to_other_processes(people):
    steps = [
        {"round_values": {"variables": "age", "base": 5}},
        {"top_code": {"variables": "age", "share": 0.1, "by": "sex"}},
        {"recode": {"variable": "age", "width": 10}},
        {"group": {"variables": "education", "map": {"low": [1, 2]}}},
    ]
    released = sdc.Scenario("s", steps).protect(people)
    there = pickle.loads(pickle.dumps(released))
    assert recodings(people, there) == recodings(people, released)
    assert alike(people, there) == released.frame["age"].to_list()


def test_a_method_that_recodes_inside_counts_as_recoding(people):
    @protection("Bands and an upper end")
    def bands(data: sdc.Microdata) -> sdc.Microdata:
        """Ages in bands up to 70."""
        return banded(sdc.protect.top_code(data, variables="age", value=70))

    try:
        released = bands(people)
    finally:
        unregister("bands")
    (entry,) = released.log
    assert (entry.method, len(entry.effects.recodes["age"])) == ("bands", 2)
    assert alike(people, released) == released.frame["age"].to_list()
    assert sdc.risk.k_map(released, population=people).figures["unmatched"] == 0


def test_a_file_from_elsewhere_is_refused_in_plain_words(people):
    other = sdc.read(banded(people).frame, keys=["sex", "age", "education"], sensitive="health")
    with pytest.raises(sdc.SdcError) as caught:
        sdc.risk.attribute_disclosure(people, other)
    assert str(caught.value) == (
        "Column 'age' holds numbers in the original and text in the other file, so no value is found again. "
        "Recode the original in the same way and compare that, or leave 'age' out."
    )
    assert sdc.risk.attribute_disclosure(banded(people), other).value > 0


def test_what_was_dropped_helps_nobody(people):
    less = sdc.protect.drop(people, variables=["age"])
    result = sdc.risk.attribute_disclosure(people, less)
    assert result.notes[0] == "Not in the protected file, left out: age."
    asked = sdc.risk.attribute_disclosure(people, less, known=["sex", "education"])
    assert result.figures == pytest.approx(asked.figures)
    found = sdc.risk.identification_risk(people, less, synthesised="health")
    assert found.notes[0] == "Not in the protected file, left out: age."
    nothing = sdc.risk.attribute_disclosure(people, sdc.protect.drop(people, variables=["health"]))
    assert math.isnan(nothing.value)
    assert nothing.notes[-1] == "No sensitive column is left in the protected file."
    assert nothing.lost == ("health",)


def test_the_same_recoding_is_done_once_and_another_anew(people):
    first = sdc.protect.recode(people, variable="age", breaks=BANDS)
    second = sdc.protect.recode(people, variable="age", breaks=BANDS)
    other = sdc.protect.recode(people, variable="age", breaks=[50])
    alike, _ = apply_same_recoding(people, first, ["age"])
    assert apply_same_recoding(people, second, ["age"])[0] is alike
    assert (
        apply_same_recoding(people, other, ["age"])[0].frame["age"].to_list() == other.frame["age"].to_list()
    )
    again, _ = apply_same_recoding(people, first, ["age"])
    assert again.frame.equals(alike.frame)
