"""Copies passed off as synthetic files: in other units, with strong noise, beside people who were chosen."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.people import KEYS, persons
from attacks.tools import found_near, numbers
from sdckit.risk._held_back import held_back_problem

N = 900
ALL = [*KEYS, "income", "health"]
ROLES = {"keys": KEYS, "numeric": ["income"], "sensitive": "health"}
LIMIT = 0.05


def people(n: int = N, seed: int = 7) -> sdc.Microdata:
    return sdc.read(persons(n, seed).select(ALL), **ROLES)


def in_some_columns(data: sdc.Microdata, made: pl.DataFrame, others: pl.DataFrame | None) -> float:
    """What the verdict compares with the accepted risk."""
    file = data.with_frame(made.sample(fraction=1, shuffle=True, seed=1))
    found = sdc.risk.reidentification_risk(data, file, linked=False, holdout=others)
    return found.figures["in_some_columns"]


def renamed(frame: pl.DataFrame) -> pl.DataFrame:
    """Every code becomes another text, every amount is in another currency."""
    codes = [
        pl.format("c{}", pl.col(c).rank("dense").cast(pl.Int64) * 7 % 97).alias(c) for c in (*KEYS, "health")
    ]
    return frame.with_columns(*codes, pl.col("income") * 1.95583)


@pytest.mark.parametrize("held_back", [True, False])
def test_copies_under_other_names_and_in_another_currency(held_back):
    """A table of frequencies translates every code: nobody is hidden."""
    data, others = people(), people(seed=77).frame if held_back else None
    assert in_some_columns(data, renamed(data.frame), others) > 0.5
    strangers = persons(N, seed=78).select(ALL)
    assert in_some_columns(data, strangers, others) <= LIMIT


def test_one_factor_a_record_leaves_the_ratios():
    three = ["income", "rent", "savings"]
    frames = [persons(N, seed).select("sex", *three, "health") for seed in (7, 77)]
    data = sdc.read(frames[0], keys="sex", numeric=three, sensitive="health")
    factor = pl.Series(np.random.default_rng(3).lognormal(0, 1, N))
    made = frames[0].with_columns(pl.col(three) * factor, pl.col("sex").shuffle(seed=1))
    assert in_some_columns(data, made, frames[1]) > 0.5
    assert in_some_columns(data, persons(N, 78).select(frames[0].columns), frames[1]) <= LIMIT


def many_numbers(seed: int, names: list[str]) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    drawn = {c: np.round(draw.normal(100, 20, N), 2) for c in names}
    return pl.DataFrame({"sex": draw.choice(["f", "m"], N), **drawn})


def test_noise_as_large_as_the_spread_of_many_numbers():
    """Every fifth person and more is still nearest to the own record, which is within nobody's tenth."""
    names = [f"x{i}" for i in range(16)]
    frame = many_numbers(1, names)
    data, draw = sdc.read(frame, keys="sex", numeric=names), np.random.default_rng(3)
    made = frame.with_columns([pl.col(c) + pl.Series(draw.normal(0, 20, N)) for c in names])
    assert found_near(numbers(frame, names, log=False), numbers(made, names, log=False)) > 0.2 * N
    assert in_some_columns(data, made, many_numbers(2, names)) > LIMIT
    assert in_some_columns(data, many_numbers(4, names), many_numbers(2, names)) <= LIMIT


def test_people_held_back_must_be_people_nobody_has_seen():
    data, strangers = people(), people(seed=77)
    made = data.with_frame(persons(N, seed=78).select(ALL))
    assert held_back_problem(data, made, strangers) == ""
    half = data.frame.head(N // 2).with_columns(pl.col("region") % 8 + 1, pl.col("education") % 5 + 1)
    beside = data.with_frame(pl.concat([half, strangers.frame]))
    assert "released file" in held_back_problem(data, beside, strangers)
    few = strangers.with_frame(strangers.frame.head(8))
    assert "at least" in held_back_problem(data, made, few)
    for name in ("closest_record", "attribute_inference", "reidentification_risk"):
        options = {"holdout": strangers.frame}
        if name != "closest_record":
            options["linked"] = False
        assert np.isnan(getattr(sdc.risk, name)(data, beside, **options).value)


def test_people_held_back_must_not_be_chosen():
    """Who is like somebody in the original makes every copy look like chance."""
    names = ["x1", "x2", "x3"]
    frame = many_numbers(1, names)
    data = sdc.read(frame, keys="sex", numeric=names)
    many = pl.concat([many_numbers(seed, names) for seed in (2, 3, 4)])
    x, y = (numbers(f, names, log=False) for f in (many, frame))
    apart = ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2).min(axis=1)
    chosen, made = data.with_frame(many[np.argsort(apart)[:150]]), data.with_frame(many_numbers(5, names))
    assert held_back_problem(data, made, chosen)
    assert held_back_problem(data, made, data.with_frame(many.head(150))) == ""


@pytest.mark.parametrize(("count", "noise"), [(3, 0.3), (8, 0.75), (12, 1.0)])
def test_strong_noise_on_many_numbers(count, noise):
    """One person in ten and more is nearest to the own record, which stands out no more than by chance."""
    names = [f"x{i}" for i in range(count)]
    frame, draw = many_numbers(1, names), np.random.default_rng(3)
    data = sdc.read(frame, keys="sex", numeric=names)
    made = frame.with_columns([pl.col(c) + pl.Series(draw.normal(0, 20 * noise, N)).round(2) for c in names])
    assert found_near(numbers(frame, names, log=False), numbers(made, names, log=False)) > 0.1 * N
    file = data.with_frame(made.sample(fraction=1, shuffle=True, seed=1))
    measures = ["closest_record", "reidentification_risk"]
    verdict = sdc.assess(data, file, linked=False, max_risk=LIMIT, measures=measures).verdict
    assert not verdict.releasable
    assert "judged" in verdict.headline
    held = {name: {"holdout": many_numbers(2, names)} for name in measures}
    beside = sdc.assess(data, file, linked=False, max_risk=LIMIT, measures=measures, **held).verdict
    assert not beside.releasable
    few = sdc.read(frame.select("sex", "x0"), keys="sex", numeric="x0")
    other = few.with_frame(many_numbers(5, names).select("sex", "x0"))
    alone = sdc.assess(few, other, linked=False, max_risk=LIMIT, measures=measures).verdict
    status = {c.name: c.status.value for c in alone}
    assert status["records that come back in some columns"] == "met"


def test_some_keys_drawn_anew_and_numbers_with_noise():
    """Who knows sex, age and education exactly, and two numbers, finds three persons in five."""
    names = [*KEYS, "income", "rent"]
    all_people = persons(3_000, 5).select(names)
    frames = [all_people[:2_000], all_people[2_000:], persons(2_000, 78).select(names)]
    data = sdc.read(frames[0], keys=KEYS, numeric=["income", "rent"])
    anew, left = ["region", "citizenship", "occupation"], ["sex", "age", "education"]
    made = data.frame.with_columns(pl.col(c).shuffle(seed=i) for i, c in enumerate(anew))
    noisy = sdc.protect.add_noise(data.with_frame(made), sd=0.5, rng=2).frame
    near = [
        np.log(np.maximum(frame.select("income", "rent").to_numpy(), 1.0)) for frame in (data.frame, noisy)
    ]
    apart = np.abs(near[0][:, None] - near[1][None]).sum(axis=2)
    for key in left:
        apart += 100.0 * (data.frame[key].to_numpy()[:, None] != noisy[key].to_numpy()[None])
    assert (apart.argmin(axis=1) == np.arange(data.height)).mean() > 0.5
    assert in_some_columns(data, noisy, frames[1]) > LIMIT
    assert in_some_columns(data, frames[2], frames[1]) <= LIMIT


def firms(n: int, seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    some = np.round(np.exp(draw.normal(11, 2, n)))
    return pl.DataFrame(
        {
            "branch": draw.choice(list("ABCDEF"), n),
            "size": draw.choice([1, 2, 3], n),
            "exports": np.where(draw.random(n) < 0.04, some, 0),
        }
    )


@pytest.mark.parametrize("role", ["numeric", "sensitive"])
@pytest.mark.parametrize(("options", "told"), [({"smooth": "none", "tails": 0}, True), ({}, False)])
def test_exports_that_few_firms_have(role, options, told):
    """Less than 5 % of the firms have any, and the largest of these are known to everybody."""
    base, others = firms(3_000, 1), {"holdout": firms(1_500, 2)}
    data = sdc.read(base, keys=["branch", "size"], **{role: "exports"})
    made = sdc.protect.synthesize(data, gain=8, rng=3, **options)
    judges = ["closest_record", "reidentification_risk", "attribute_inference"][: 2 + (role == "sensitive")]
    verdict = sdc.assess(data, made, max_risk=LIMIT, **dict.fromkeys(judges, others)).verdict
    largest = base["exports"].top_k(10)
    assert (largest.is_in(made.frame["exports"].implode()).sum() > 5) == told
    assert {c.name for c in verdict if not c.met} == ({"numbers that come back"} if told else set())
    accepted = {"numbers": "exports"}
    held = dict.fromkeys(judges, others)
    assert sdc.assess(data, made, max_risk=LIMIT, accept=accepted, **held).verdict.releasable


def test_noise_that_is_said_to_draw_records_anew():
    """A plan for synthetic files has `linked: false`; another of its scenarios adds noise to persons."""
    everybody = persons(1_500, 5).select("sex", "age", "income", "rent")
    data = sdc.read(everybody[:1_000], keys=["sex", "age"], numeric=["income", "rent"])
    steps = [{"recode": {"variable": "age", "width": 20}}, {"add_noise": {"sd": 0.25}}, "shuffle_order"]
    noisy = sdc.Scenario("noise", steps).protect(data, seed=1)
    held = {name: {"holdout": everybody[1_000:]} for name in ("closest_record", "reidentification_risk")}
    verdict = sdc.assess(data, noisy, linked=False, max_risk=LIMIT, **held).verdict
    assert [c.name for c in verdict if not c.met] == ["records of the same people"]
    assert not sdc.assess(data, noisy, max_risk=LIMIT).verdict.releasable
    others = data.with_frame(persons(1_000, 78).select(everybody.columns))
    assert sdc.assess(data, others, linked=False, max_risk=LIMIT, **held).verdict.releasable
