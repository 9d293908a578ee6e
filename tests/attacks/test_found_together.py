"""Members of households who are put together by what they have in common."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.people import households
from attacks.test_found import verdict
from sdckit.choose.release_facts import joining_columns

AGES = [0, 20, 40, 60, 95]
KEYS = ["region", "sex", "age"]


def open_ones(found) -> list[str]:
    return [c.name for c in found if not c.met]


def asked(questions: int, values: int, homes: int = 400) -> pl.DataFrame:
    """Households with answers that all members share."""
    frame = households(homes).with_columns((pl.col("region") > 2).cast(pl.Int64)).drop("size")
    draw, home = np.random.default_rng(6), frame["home"].rank("dense").to_numpy() - 1
    answers = {f"q{k}": draw.integers(0, values, homes)[home] for k in range(questions)}
    return frame.with_columns(**{c: pl.Series(v) for c, v in answers.items()})


def released(frame: pl.DataFrame) -> tuple[sdc.Microdata, sdc.Microdata]:
    """The file without the numbers of households, in a new order."""
    answers = [c for c in frame.columns if c.startswith("q")]
    data = sdc.read(frame, keys=KEYS, household="home", sensitive=["health", *answers])
    wide = sdc.protect.recode(data, variable="age", breaks=AGES)
    return data, sdc.protect.shuffle_order(sdc.protect.drop(wide, variables=["home"]), rng=4)


def found_by_answers(data: sdc.Microdata, done: sdc.Microdata) -> float:
    """The share of households found by who puts records with the same answers together."""
    wide = sdc.protect.recode(data, variable="age", breaks=AGES)
    answers = [c for c in done.columns if c.startswith("q")]
    member = pl.concat_str(pl.col(KEYS).cast(pl.String), separator="|").sort().str.join(";").alias("who")
    true, seen = wide.frame.group_by("home").agg(member), done.frame.group_by(answers).agg(member)
    matches = true.join(seen.group_by("who").len(), on="who")
    return float((1 / matches["len"]).sum()) / true.height


def test_answers_that_all_members_share_show_who_lives_together():
    """Five questions of five answers each: none tells anything of the household alone."""
    data, done = released(asked(5, 5))
    assert found_by_answers(data, done) > 0.5
    found = verdict(data, done)
    assert "re-identification by household" in open_ones(found)
    household = next(c for c in found if c.name == "re-identification by household")
    assert household.value == pytest.approx(found_by_answers(data, done), abs=0.08)


def test_answers_that_many_households_share_show_nothing():
    data, done = released(asked(2, 3))
    assert verdict(data, done).releasable


def test_an_income_of_households_that_are_not_declared():
    """Records with the same income live together, as they live in the same region."""
    frame = asked(1, 20_000, 900).drop("home").sample(fraction=1, shuffle=True, seed=3)
    data = sdc.read(frame, keys=KEYS, sensitive=["health", "q0"])
    done = sdc.protect.recode(data, variable="age", breaks=AGES)
    assert open_ones(verdict(data, done)) == ["records joined by a column"]
    assert verdict(data, done, accept={"columns": "q0"}).releasable


def test_incomes_of_strangers_that_are_equal_by_accident():
    frame = asked(0, 1, 900).drop("home").sample(fraction=1, shuffle=True, seed=3)
    pay = np.random.default_rng(8).integers(0, 700, frame.height)
    data = sdc.read(frame.with_columns(pay=pl.Series(pay)), keys=KEYS, sensitive=["health", "pay"])
    assert verdict(data, sdc.protect.recode(data, variable="age", breaks=AGES)).releasable


def test_a_key_that_most_persons_lack_joins_nobody():
    """Two who have no occupation do not live together for that."""
    frame = asked(0, 1, 900).drop("home").sample(fraction=1, shuffle=True, seed=3)
    draw = np.random.default_rng(8)
    job = [
        f"j{j}" if there else None
        for j, there in zip(draw.integers(0, 30, frame.height), draw.random(frame.height) < 0.15, strict=True)
    ]
    frame = frame.with_columns(pay=pl.Series(draw.integers(0, 700, frame.height)), job=pl.Series(job))
    data = sdc.read(frame, keys=[*KEYS, "job"], sensitive=["health", "pay"])
    assert joining_columns(data, data) == []
