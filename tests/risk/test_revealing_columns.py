"""Columns that tell what was hidden: planted ones are found, honest ones are not accused."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_guesses
import sdckit as sdc
from sdckit import charts
from sdckit.risk._clues import clue_of
from sdckit.risk._guesses import Truth, _Groups, right_guesses, right_votes
from sdckit.risk._released_columns import ORDER, released_columns
from sdckit.risk._sums import closeness
from sdckit.risk.revealing_columns import revealing_columns

N = 1_500


def people(n: int = N, seed: int = 1) -> pl.DataFrame:
    """Persons in no order, with an honest relation between income and school."""
    rng = np.random.default_rng(seed)
    school = rng.integers(1, 5, n)
    wage = np.round(np.exp(rng.normal(7.5 + 0.1 * school, 0.6, n)), 2)
    return pl.DataFrame(
        {
            "region": rng.integers(1, 9, n),
            "age": rng.integers(18, 80, n),
            "school": school,
            "wage": wage,
            "bonus": np.round(np.exp(rng.normal(5, 1, n)), 2),
            "hours": rng.integers(10, 50, n),
        }
    )


def read(frame: pl.DataFrame, **roles) -> sdc.Microdata:
    return sdc.read(frame, keys=["region", "age"], numeric=["wage"], **roles)


def blanked(data: sdc.Microdata, column: str, share: float = 0.3, seed: int = 9) -> sdc.Microdata:
    hit = pl.Series(np.random.default_rng(seed).random(data.height) < share)
    return data.with_frame(data.frame.with_columns(pl.when(~hit).then(pl.col(column)).alias(column)))


def bands(data: sdc.Microdata) -> sdc.Microdata:
    return sdc.protect.recode(data, variable="age", width=10)


def noisy(data: sdc.Microdata, seed: int = 4) -> sdc.Microdata:
    noise = pl.Series(np.random.default_rng(seed).normal(1, 0.3, data.height))
    return data.with_frame(data.frame.with_columns(pl.col("wage") * noise))


def dropped(data: sdc.Microdata, column: str) -> sdc.Microdata:
    return sdc.protect.drop(data, variables=[column])


def alarms(result: sdc.Result) -> set[tuple[str, str]]:
    return set(result.parts.filter("alarm").select("columns", "hidden").iter_rows())


TOWNS = dict(enumerate(["Graz", "Linz", "Wels", "Steyr", "Krems", "Baden", "Enns", "Lienz"], 1))

# what is planted, how the variable is hidden, which columns tell which variable
PLANTED = {
    "birth year": (
        lambda f, r: f.with_columns(planted=2020 - pl.col("age")),
        bands,
        ("planted", "age"),
    ),
    "birth year, a year off for half": (
        lambda f, r: f.with_columns(planted=2020 - pl.col("age") - pl.Series(r.integers(0, 2, f.height))),
        bands,
        ("planted", "age"),
    ),
    "birth date": (
        lambda f, r: f.with_columns(
            planted=pl.lit(dt.date(2020, 12, 31))
            - pl.duration(days=pl.col("age") * 365.25 + pl.Series(r.integers(0, 365, f.height)))
        ),
        bands,
        ("planted", "age"),
    ),
    "last digit": (lambda f, r: f.with_columns(planted=pl.col("age") % 10), bands, ("planted", "age")),
    "other codes": (
        lambda f, r: f.with_columns(planted=(pl.col("region") * 37 % 11).cast(pl.String) + "x"),
        lambda d: blanked(d, "region"),
        ("planted", "region"),
    ),
    "other codes of a dropped column": (
        lambda f, r: f.with_columns(planted=(pl.col("region") * 37 % 11).cast(pl.String)),
        lambda d: dropped(d, "region"),
        ("planted", "region"),
    ),
    "finer code": (
        lambda f, r: f.with_columns(planted=pl.col("region") * 100 + pl.Series(r.integers(0, 40, f.height))),
        lambda d: sdc.protect.recode(d, variable="region", breaks=[1, 4, 9]),
        ("planted", "region"),
    ),
    "log": (lambda f, r: f.with_columns(planted=pl.col("wage").log()), noisy, ("planted", "wage")),
    "cents": (lambda f, r: f.with_columns(planted=pl.col("wage") * 100), noisy, ("planted", "wage")),
    "rounded": (
        lambda f, r: f.with_columns(planted=(pl.col("wage") / 50).round(0) * 50),
        noisy,
        ("planted", "wage"),
    ),
    "falling": (lambda f, r: f.with_columns(planted=-7 * pl.col("wage") + 3), noisy, ("planted", "wage")),
    "total": (
        lambda f, r: f.with_columns(planted=pl.col("wage") + pl.col("bonus")),
        noisy,
        ("bonus − planted", "wage"),
    ),
    "part": (
        lambda f, r: f.with_columns(planted=pl.col("wage") - pl.col("bonus")),
        noisy,
        ("bonus + planted", "wage"),
    ),
    "by the hour": (
        lambda f, r: f.with_columns(planted=pl.col("wage") / pl.col("hours")),
        noisy,
        ("hours × planted", "wage"),
    ),
    "weight of strata": (
        lambda f, r: f.with_columns(planted=100.0 + 13 * pl.col("region")),
        lambda d: blanked(d, "region"),
        ("planted", "region"),
    ),
    "region inside a number": (
        lambda f, r: f.with_columns(
            planted=pl.Series(r.integers(100, 1000, f.height)).cast(pl.String)
            + pl.col("region").cast(pl.String)
            + pl.Series(r.integers(10000, 100000, f.height)).cast(pl.String)
        ),
        lambda d: blanked(d, "region"),
        ("planted, character 4", "region"),
    ),
    "region's name in a remark": (
        lambda f, r: f.with_columns(
            region=pl.col("region").replace_strict(TOWNS, return_dtype=pl.String),
            planted=pl.format(
                "{}: moved to {} last year",
                pl.Series(r.random(f.height)),
                pl.col("region").replace_strict(TOWNS, return_dtype=pl.String).str.to_uppercase(),
            ),
        ),
        lambda d: blanked(d, "region"),
        ("planted, what it mentions", "region"),
    ),
    "the same unique name": (
        lambda f, r: f.with_columns(
            tax=pl.format("T{}", pl.Series(r.permutation(f.height))), school=1
        ).with_columns(planted="tax"),
        lambda d: dropped(d, "tax"),
        ("planted", "tax"),
    ),
    "age in a remark": (
        lambda f, r: f.with_columns(
            planted=pl.format("is {} years old, no. {}", "age", pl.Series(r.random(f.height)))
        ),
        bands,
        ("planted, the first number in it", "age"),
    ),
}


@pytest.mark.parametrize("name", list(PLANTED))
def test_a_planted_column_is_found(name):
    plant, hide, finding = PLANTED[name]
    data = read(plant(people(), np.random.default_rng(3)))
    result = revealing_columns(data, hide(data))
    assert finding in alarms(result)
    assert result.value >= 0.5
    assert result.figures["alarms"] == result.parts["alarm"].sum()


def test_the_order_of_the_rows_can_tell():
    data = read(people().sort("region"))
    assert (ORDER, "region") in alarms(revealing_columns(data, dropped(data, "region")))
    data = read(people().sort("wage"))
    assert alarms(revealing_columns(data, noisy(data))) == {(ORDER, "wage")}
    shuffled = sdc.protect.shuffle_order(
        noisy(read(people().sort("wage").with_row_index("id"), id="id")), rng=1
    )
    assert not alarms(revealing_columns(read(people().sort("wage").with_row_index("id"), id="id"), shuffled))


def test_ids_are_no_clues_but_names_under_no_role_are():
    frame = people().sort("region").with_row_index("number").sample(fraction=1, shuffle=True, seed=2)
    data = read(frame, id="number")
    assert not alarms(revealing_columns(data, blanked(data, "region")))
    data = read(frame)
    assert ("number", "region") in alarms(revealing_columns(data, blanked(data, "region")))


def test_two_columns_tell_together_what_none_tells_alone():
    rng = np.random.default_rng(8)
    noise = {f"noise{i}": rng.integers(0, 10, N) for i in range(20)}
    frame = people().with_columns(tens=pl.col("age") // 10, ones=pl.col("age") % 10, **noise)
    data = read(frame)
    result = revealing_columns(data, dropped(data, "age"))
    assert {frozenset(c.split(" and ")) for c, _ in alarms(result)} == {frozenset({"tens", "ones"})}


def test_a_total_with_three_parts_tells_the_one_that_was_hidden():
    rng = np.random.default_rng(8)
    frame = people().with_columns(
        child=pl.Series(rng.lognormal(5, 1, N)), rent=pl.Series(rng.lognormal(6, 1, N))
    )
    frame = frame.with_columns(total=pl.col("wage") + pl.col("bonus") + pl.col("child") + pl.col("rent"))
    data = read(frame)
    result = revealing_columns(data, noisy(data))
    (found,) = result.parts.filter("alarm").iter_rows(named=True)
    assert set(found["columns"].removeprefix("a sum of ").split(", ")) == {"bonus", "child", "rent", "total"}
    assert found["told"] > 0.99


def households(n: int = 900, seed: int = 2) -> pl.DataFrame:
    """Households of three with a region, an income of their own and numbers that mean nothing."""
    rng = np.random.default_rng(seed)
    home = rng.permutation(n // 3).repeat(3)
    region, income = rng.integers(1, 9, n // 3), np.round(rng.lognormal(8, 0.5, n // 3), 1)
    frame = people(n).with_columns(home=home, region=region[home], income=income[home])
    return frame.sample(fraction=1, shuffle=True, seed=5)


def test_a_household_tells_what_its_other_members_show():
    data = read(households(), household="home")
    found = alarms(revealing_columns(data, blanked(data, "region")))
    assert {("home", "region"), ("income", "region")} <= found  # the income is as good as the number


def test_a_household_does_not_tell_what_no_member_shows():
    data = read(households(), household="home")
    wide = sdc.protect.recode(data, variable="region", breaks=[1, 5, 9])
    assert not alarms(revealing_columns(data, wide))
    assert not alarms(revealing_columns(data, dropped(data, "region")))


def test_sorted_household_numbers_tell_where_the_household_is():
    frame = households().sort("region", "home")
    numbers = frame.select(pl.col("home").rank("dense").over("region") + 1000 * pl.col("region"))["home"]
    data = read(frame.with_columns(home=numbers).sample(fraction=1, shuffle=True, seed=1), household="home")
    assert ("home", "region") in alarms(revealing_columns(data, dropped(data, "region")))


def test_fifty_random_columns_raise_no_alarm():
    n, rng = 10_000, np.random.default_rng(11)
    codes = {f"c{i}": rng.integers(0, rng.integers(2, 3000), n) for i in range(25)}
    numbers = {f"x{i}": rng.lognormal(3, 1, n) for i in range(25)}
    data = read(people(n).with_columns(**codes, **numbers))
    protected = noisy(blanked(bands(data), "region"))
    result = revealing_columns(data, protected)
    assert result.figures["alarms"] == 0
    assert (
        result.figures["columns"] == 58
    )  # six of the people's, how the wage is rounded, fifty, and the order
    assert result.value < 0.1


def test_honest_relations_stay_below():
    rng = np.random.default_rng(6)
    frame = people().with_columns(
        urban=(pl.col("region") + pl.Series(rng.integers(0, 4, N))) > 6,
        spending=pl.col("wage") * pl.Series(rng.lognormal(-0.3, 0.4, N)),
        children=pl.Series(rng.poisson(np.clip(frame_age(rng), 0, 3))),
    )
    data = read(frame)
    result = revealing_columns(data, noisy(blanked(bands(data), "region")))
    assert result.figures["alarms"] == 0
    assert 0 < result.parts.filter(columns="urban", hidden="region")["gain"][0] < 0.4


def frame_age(rng: np.random.Generator) -> np.ndarray:
    return (people()["age"].to_numpy() - 20) / 20 + rng.normal(0, 0.5, N)


def test_a_recode_that_another_name_undoes_is_no_gain_of_others():
    """Renamed categories hide nothing: the released values tell all, and no column more."""
    data = read(people())
    renamed = data.with_frame(data.frame.with_columns(pl.format("r{}", "region").alias("region")))
    result = revealing_columns(data, renamed)
    assert result.parts["known_anyway"].to_list() == [1.0] * result.parts.height
    assert result.value == 0


def test_the_last_few_unknown_values_are_no_alarm():
    frame = people()
    rare = pl.Series(np.arange(N) % 40 == 0)
    data = read(frame.with_columns(copy="region"))
    protected = data.with_frame(
        data.frame.with_columns(pl.format("r{}", pl.when(rare).then(9).otherwise("region")).alias("region"))
    )
    result = revealing_columns(data, protected)
    assert result.parts.filter(columns="copy")["gain"][0] > 0.9
    assert result.figures["alarms"] == 0


def test_changed_values_of_one_kind_are_no_gain():
    """One answer for all: whoever was changed said the other, and small groups hit some of them by chance."""
    rng = np.random.default_rng(12)
    answers = {f"q{i}": rng.integers(1, 3, N) for i in range(12)}
    data = sdc.read(pl.DataFrame(answers))
    fixed = [pl.lit(int(rng.integers(1, 3))).alias(q) for q in list(answers)[:8]]
    result = revealing_columns(data, data.with_frame(data.frame.with_columns(fixed)))
    assert result.figures["hidden"] == 8
    assert result.value < 0.1


@pytest.mark.parametrize("share", [0.03, 0.3])
def test_a_copy_undoes_swapping_and_a_hint_does_not(share):
    rng = np.random.default_rng(13)
    hint = pl.when(pl.Series(rng.random(N) < 0.6)).then("region").otherwise(pl.Series(rng.integers(1, 9, N)))
    data = read(people().with_columns(copy=pl.col("region") * 10, hint=hint))
    moved = pl.Series(rng.random(N) < share)
    swapped = pl.when(moved).then(pl.col("region").shuffle(seed=4)).otherwise("region").alias("region")
    found = alarms(revealing_columns(data, data.with_frame(data.frame.with_columns(swapped))))
    assert found == {("copy", "region")}


def test_hand_worked():
    """Forty a and twenty b under clue 1, thirty b under clue 2; all blank.

    Without a column: b is the most frequent value (50 of 90). With the clue: a in clue 1 and b in clue 2 are
    right, 70 of 90. gain = (70 − 50)/(90 − 50); 40 are told only by the clue, 20 only without it.
    """
    x = ["a"] * 40 + ["b"] * 50
    clue = [1] * 60 + [2] * 30
    order = np.random.default_rng(0).permutation(90)
    frame = pl.DataFrame({"x": x, "clue": clue})[order]
    data = sdc.read(frame, keys="x")
    protected = data.with_roles(keys=()).with_frame(frame.with_columns(x=pl.lit(None, dtype=pl.String)))
    row = revealing_columns(data, protected).parts.filter(columns="clue").row(0, named=True)
    assert row["told"] == pytest.approx(70 / 90)
    assert row["known_anyway"] == pytest.approx(50 / 90)
    assert row["gain"] == pytest.approx(0.5)
    assert row["z"] == pytest.approx((40 - 20) / np.sqrt(60))
    assert not row["alarm"]


def test_nothing_changed_is_zero_with_a_note():
    data = read(people())
    result = revealing_columns(data, data)
    assert result.value == 0
    assert result.parts.height == 0
    assert "Nothing is hidden" in result.notes[-1]
    with pytest.raises(sdc.SdcError, match="nothing to draw"):
        result.chart()


def test_few_changes_are_named_and_not_judged():
    data = read(people().with_columns(copy="region"))
    result = revealing_columns(data, blanked(data, "region", 0.01))
    assert result.value == 0
    assert "fewer than 30" in result.notes[-2]
    assert "region" in result.notes[-2]


def test_odd_files():
    one = read(people(1))
    assert revealing_columns(one, one.with_frame(one.frame.with_columns(pl.col("age") + 1))).value == 0
    data = read(people())
    gone = data.with_frame(data.frame.with_columns(pl.lit(None, dtype=pl.Float64).alias("wage")))
    assert revealing_columns(data, gone).figures["hidden"] == 1
    assert revealing_columns(gone, data).value == 0  # missing in the original: nothing to tell
    constant = read(people().with_columns(region=pl.lit(1), copy=pl.lit("x")))
    result = revealing_columns(constant, blanked(constant, "region"))
    assert result.value == 0
    assert result.parts["known_anyway"].min() == 1


def test_columns_of_every_type():
    rng = np.random.default_rng(1)
    day = pl.Series(rng.integers(0, 20_000, N)).cast(pl.Date)
    frame = people().with_columns(
        born=day,
        seen=day.cast(pl.Datetime),
        flag=pl.Series(rng.random(N) < 0.5),
        level=pl.Series(rng.choice(["low", "high"], N), dtype=pl.Enum(["low", "high"])),
        name=pl.Series([f"n{i % 300}" for i in range(N)], dtype=pl.Categorical),
        price=pl.Series(rng.integers(0, 100, N)).cast(pl.Decimal(10, 2)),
        parts=pl.Series([[1, 2]] * N),
        nothing=pl.Series([None] * N),
        infinite=pl.Series(rng.choice([np.inf, 1.0, -np.inf], N)),
    )
    data = read(frame)
    result = revealing_columns(data, data.with_frame(frame.with_columns(pl.col("born").dt.truncate("1y"))))
    assert alarms(result) == {("seen", "born")}
    assert "parts" not in result.parts["columns"]


def test_a_date_far_from_zero_is_told_only_to_within_a_part_of_its_range():
    rng = np.random.default_rng(31)
    year = pl.Series(rng.integers(1940, 2005, N)).cast(pl.Float64)
    frame = people().with_columns(year=year, copy=year)
    data = sdc.read(frame, numeric=["year"])
    moved = data.with_frame(frame.with_columns(pl.col("year") + pl.Series(rng.normal(0, 15, N)).round()))
    result = revealing_columns(data, moved)
    assert alarms(result) == {("copy", "year")}
    assert result.parts.filter(columns="copy")["known_anyway"][0] < 0.3


def test_a_new_column_of_the_protected_file_is_seen():
    data = read(people())
    protected = blanked(data, "region")
    protected = protected.with_frame(protected.frame.with_columns(data.frame["region"].alias("new")))
    assert alarms(revealing_columns(data, protected)) == {("new", "region")}


def test_records_meet_by_id_and_unlinked_files_are_refused():
    data = read(people().with_columns(copy="region").with_row_index("id"), id="id")
    protected = blanked(data, "region")
    mixed = protected.with_frame(protected.frame.sample(fraction=1, shuffle=True, seed=3))
    assert revealing_columns(data, mixed).value == revealing_columns(data, protected).value == 1
    some = protected.with_frame(protected.frame.head(200))
    assert revealing_columns(data, some).value == 1  # of those whose record is there
    nameless = data.with_roles(id=None)
    with pytest.raises(sdc.SdcError, match="different lengths"):
        revealing_columns(nameless, nameless.with_frame(data.frame.head(100)))


@pytest.mark.parametrize("option", [{"gain": 0}, {"gain": 1.5}, {"within": -0.1}, {"gain": float("nan")}])
def test_options_that_cannot_be_are_refused(option):
    data = read(people(40))
    with pytest.raises(sdc.SdcError, match=next(iter(option))):
        revealing_columns(data, data, **option)


def test_gain_and_within_change_what_counts():
    frame = people().with_columns(
        near=pl.col("wage") * pl.Series(np.random.default_rng(2).uniform(0.9, 1.1, N))
    )
    data = read(frame)
    protected = noisy(data)
    assert not alarms(revealing_columns(data, protected))
    assert alarms(revealing_columns(data, protected, within=0.2)) == {("near", "wage")}
    assert revealing_columns(data, protected, gain=0.05).figures["alarms"] >= 1


def test_a_sample_keeps_groups_and_neighbours_together():
    n = 45_000
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {"x": rng.integers(0, 20, n // 3).repeat(3), "home": rng.permutation(n // 3).repeat(3)}
    )
    frame = frame.sample(fraction=1, shuffle=True, seed=1)
    data = sdc.read(frame, keys="x")
    result = revealing_columns(data, blanked(data, "x"))
    assert result.parts.filter(columns="home")["told"][0] > 0.99
    assert "20,000 of 45,000" in " ".join(result.notes)


def test_a_sample_is_like_the_file():
    rng = np.random.default_rng(3)
    n = 50_000
    column = np.where(rng.random(n) < 0.7, 0, rng.integers(1, 15_000, n))  # one large group, many small ones
    data = sdc.read(pl.DataFrame({"x": column, "few": rng.integers(0, 9, n)}))
    released = released_columns(data, data)
    for name in ("x", "few"):
        rows = released.sample(released.finest([name], 10_000), 10_000)
        assert len(set(rows)) == len(rows) == pytest.approx(10_000, rel=0.05)
        assert (column[rows] == 0).mean() == pytest.approx(0.7, abs=0.03)
    rows = released.sample("x", 10_000)
    counts = np.bincount(column)
    sampled = np.bincount(column[rows], minlength=len(counts))
    assert set(sampled[1:][sampled[1:] > 0] == counts[1:][sampled[1:] > 0]) == {True}


def test_the_chart_names_column_and_variable():
    data = read(people().with_columns(copy="region"))
    chart = revealing_columns(data, blanked(data, "region")).chart()
    assert "region ← copy" in charts.static_svg(chart, "x", "")


small = st.integers(0, 3)
rows = st.lists(st.tuples(small, st.none() | st.integers(0, 6), st.integers(0, 1)), min_size=1, max_size=14)


@given(rows)
def test_guesses_are_those_of_the_slow_twin(records):
    x, clue, given_too = map(list, zip(*records, strict=True))
    codes = clue_of(pl.Series(x, dtype=pl.Int64)).codes
    column = clue_of(pl.Series(clue, dtype=pl.Int64))
    more = clue_of(pl.Series(given_too))
    for band, given_clues in ((given_too, (more,)), ([0] * len(x), ())):
        ((right,),) = right_guesses(Truth(codes, 4), column, *given_clues)
        assert right.tolist() == naive_guesses.by_mode(x, clue, band)
        groups = _Groups.of(Truth(codes, 4), column, given_clues)
        guess = groups.by_median(np.array(x, dtype=float))
        slow = [np.nan if g is None else g for g in naive_guesses.by_median(x, clue, band)]
        lone = [
            sum((c, b) == (clue[i], band[i]) for c, b in zip(clue, band, strict=True)) == 1
            for i in range(len(x))
        ]
        asked = [not (alone and c is None) for alone, c in zip(lone, clue, strict=True)]
        np.testing.assert_allclose(guess[asked], np.array(slow)[asked])


def test_votes_are_released_values_of_the_others():
    x = pl.Series([1, 1, 2, 2, 2, 1])
    clue = clue_of(pl.Series([7, 7, 7, 8, 8, 9]))
    truth = Truth(clue_of(x).codes, 4)
    votes = np.array([-1, 0, 0, 1, -1, -1])
    # group 7 votes for 1 twice; 8 for 2; 9 has no vote, only 8 is its neighbour
    assert right_votes(truth, clue, votes).tolist() == [True, True, False, True, True, False]


def test_closeness_is_chatterjees_coefficient():
    rng = np.random.default_rng(0)
    x = rng.permutation(200).astype(float)
    ranks = np.argsort(np.argsort(x)) + 1
    exact, nothing = closeness(np.array([x, rng.random(200)]), ranks)
    assert exact == pytest.approx(1 - 3 * 199 / (200**2 - 1))
    assert abs(nothing) < 0.2


def test_a_stratum_of_released_columns_that_is_dropped_again_was_never_hidden():
    rng = np.random.default_rng(5)
    columns = {name: rng.choice(list("abc"), 600) for name in ("area", "kind", "answer")}
    made = sdc.prepare.combine(sdc.read(pl.DataFrame(columns)), variables=["area", "kind"], name="stratum")
    assert revealing_columns(made, dropped(made, "stratum")).figures["hidden"] == 0
    # The parts that are hidden themselves are asked for, and so is a stratum that no longer is of them.
    assert revealing_columns(made, dropped(dropped(made, "stratum"), "area")).figures["hidden"] == 1
    other = sdc.prepare.replace_values(made, variables="area", values={"a": "b"})
    found = revealing_columns(other, dropped(other, "stratum"))
    assert found.figures["hidden"] == 1


def test_dropped_classes_of_a_released_key_are_told_by_nothing_but_that_key():
    rng = np.random.default_rng(5)
    n = 1500
    age = rng.integers(18, 80, n)
    frame = pl.DataFrame(
        {"age": age, "classes": [f"from {a // 15 * 15}" for a in age], "other": rng.integers(0, 5, n)}
    )
    steps = [
        {"recode": {"variable": "age", "width": 20}},
        {"drop": {"variables": ["classes"]}},
        "shuffle_order",
    ]
    protect = sdc.Scenario("dropped", steps).protect
    beside = sdc.read(frame, keys=["age", "classes"])
    result = sdc.risk.revealing_columns(beside, protect(beside, seed=1))
    assert "classes" not in result.parts["hidden"].to_list()
    # a sensitive column is asked for all the same, and so is the age by its classes where these stay
    secret = sdc.read(frame, keys=["age"], sensitive=["classes"])
    assert "classes" in sdc.risk.revealing_columns(secret, protect(secret, seed=1)).parts["hidden"].to_list()
    kept = sdc.Scenario("kept", [steps[0], steps[2]]).protect(beside, seed=1)
    assert sdc.risk.revealing_columns(beside, kept).parts.row(0, named=True)["columns"] == "classes"
