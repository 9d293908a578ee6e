"""Households in two levels: one head, couples of like age, sizes that agree, leaves that count households."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import OptionError
from sdckit.protect._synthesis_households import home_facts, homes_of


@pytest.fixture(scope="module")
def survey() -> sdc.Microdata:
    return sdc.demo.survey(n=3_000, seed=2)


@pytest.fixture(scope="module")
def made(survey) -> sdc.Microdata:
    return sdc.protect.synthesize(survey, rng=1)


def per_home(data: sdc.Microdata, value: pl.Expr) -> pl.Series:
    return data.frame.group_by("household_id").agg(value.alias("x"))["x"]


def test_every_household_has_one_head_and_its_size(survey, made):
    for data in (survey, made):
        assert (per_home(data, (pl.col("relation_to_head") == 1).sum()) == 1).all()
        assert (
            data.frame["household_size"] == data.frame.select(pl.len().over("household_id")).to_series()
        ).all()
    assert made.frame["household_id"].n_unique() == survey.frame["household_id"].n_unique()
    assert not set(made.frame["household_id"]) & set(survey.frame["household_id"])


def test_members_fit_together(survey, made):
    def couples(data):
        first, second = (data.frame.filter(pl.col("relation_to_head") == r) for r in (1, 2))
        return first.join(second, on="household_id").select(pl.corr("age", "age_right")).item()

    def old_children(data):
        heads = data.frame.filter(pl.col("relation_to_head") == 1).select("household_id", head="age")
        children = data.frame.filter(pl.col("relation_to_head") == 3).join(heads, on="household_id")
        return (children["age"] >= children["head"]).mean()

    assert couples(made) > 0.75 > 0.1
    assert couples(survey) > 0.9
    assert old_children(made) < 0.02
    assert (per_home(made, (pl.col("relation_to_head") == 2).sum()) > 1).mean() < 0.02


def test_what_households_share_they_still_share(survey, made):
    shared = [
        c
        for c in survey.columns
        if (per_home(survey, pl.col(c).n_unique()) == 1).all() and c != "household_id"
    ]
    assert {"region", "wealth_index", "stratum"} <= set(shared)
    for column in shared:
        assert (per_home(made, pl.col(column).n_unique()) == 1).all(), column


def test_members_stand_next_to_each_other(made):
    assert made.frame["household_id"].rle().len() == made.frame["household_id"].n_unique()


def test_size_counts_households(survey):
    assert sdc.protect.synthesize(survey, size=50, rng=1).frame["household_id"].n_unique() == 50


def test_partial_synthesis_keeps_households(survey):
    part = sdc.protect.synthesize(
        survey, variables=["age", "wealth_index", "income", "household_size"], rng=1
    )
    kept = [c for c in survey.columns if c not in ("age", "wealth_index", "income")]
    assert part.frame.select(kept).equals(survey.frame.select(kept)), "members stay, and so does their number"
    assert not part.frame["age"].equals(survey.frame["age"])
    assert (per_home(part, pl.col("wealth_index").n_unique()) == 1).all()


def test_only_some_households(survey):
    some = sdc.protect.synthesize(
        survey, variables=["age"], where={"individual_risk": {"threshold": 0.002}}, rng=1
    )
    changed = (some.frame["age"] != survey.frame["age"]).sum()
    assert 0 < changed <= some.log[-1].figures["records_chosen"] < survey.height


def test_the_head_comes_first_and_relations_in_one_order():
    frame = pl.DataFrame({"h": [1, 1, 1, 2, 2, 3], "r": ["child", "head", "wife", "child", "head", "head"]})
    data = sdc.Microdata.of(frame, household="h")
    homes = homes_of(data, home_facts(data, ["r"]))
    assert homes.relation == "r"
    assert frame["r"].gather(homes.rows).to_list() == ["head", "wife", "child", "head", "child", "head"] or (
        frame["r"].gather(homes.rows).to_list() == ["head", "child", "wife", "head", "child", "head"]
    )
    assert homes.heads.tolist() == [1, 4, 5]
    assert homes.places_of(np.array([2, 0]))[0].tolist() == [5, 0, 1, 2]


def test_people_who_live_alone_are_records():
    frame = pl.DataFrame({"h": range(40), "x": np.arange(40.0)})
    made = sdc.protect.synthesize(sdc.Microdata.of(frame, household="h"), rng=1)
    assert made.frame["h"].n_unique() == 40


def test_leaves_count_households():
    frame = pl.DataFrame({"h": np.repeat(np.arange(4), 5), "x": np.arange(20.0)})
    with pytest.raises(OptionError, match="number of households"):
        sdc.protect.synthesize(sdc.Microdata.of(frame, household="h"), rng=1)


def test_by_weight_and_proper(survey):
    equal = sdc.protect.synthesize(survey, weights="equal", rng=1)
    assert equal.frame["weight"].n_unique() == 1
    proper = sdc.protect.synthesize(survey, proper=True, rng=1)
    assert (per_home(proper, (pl.col("relation_to_head") == 1).sum()) == 1).all()
