import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sdckit.demo import survey
from sdckit.demo.survey import NO_ANSWER, POPULATION, ROLES, SCHOOL_YEARS, survey_frame
from sdckit.errors import OptionError

HOUSEHOLD_VARIABLES = [
    "stratum",
    "psu",
    "weight",
    "region",
    "urban",
    "household_size",
    "wealth_index",
    "water",
    "toilet",
    "roof",
]

PINNED_SUMS = (13400170, 1123328, 291868, 15025, 24343, 40899, 19076)
PINNED_PERSON = {
    "region": 2,
    "household_size": 4,
    "age": 21,
    "income": 9810.0,
    "expenditure": 5340.0,
    "savings": 3730.0,
    "wealth_index": 0.05,
    "weight": 460.78,
}


@pytest.fixture(scope="module")
def frame():
    return survey_frame(10_000, 1)


@pytest.mark.parametrize("n", [1, 2, 3, 11, 12, 13, 999])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_exactly_n_persons_and_a_valid_file(n, seed):
    data = survey(n, seed)
    assert data.height == n
    assert data.frame["person_id"].to_list() == list(range(1, n + 1))
    assert data.frame["weight"].sum() == pytest.approx(POPULATION, rel=1e-4)


def test_same_seed_same_data_other_seed_other_data():
    assert_frame_equal(survey_frame(500, 3), survey_frame(500, 3))
    assert not survey_frame(500, 3).equals(survey_frame(500, 4))


def test_the_data_never_change(frame):
    """Published examples rest on these values: a change here is a change of every one of them."""
    pinned = ["household_id", "psu", "age", "sex", "education", "labour_status", "water"]
    assert frame.select(pl.col(pinned).sum()).row(0) == PINNED_SUMS
    row = frame.row(4321, named=True)
    assert {name: row[name] for name in PINNED_PERSON} == PINNED_PERSON


def test_households_agree_on_what_is_theirs(frame):
    distinct = frame.group_by("household_id").agg(pl.col(HOUSEHOLD_VARIABLES).n_unique())
    assert distinct.select(pl.col(HOUSEHOLD_VARIABLES).max()).row(0) == (1,) * len(HOUSEHOLD_VARIABLES)
    by = frame.group_by("household_id").agg(
        pl.len(), pl.col("household_size").first(), (pl.col("relation_to_head") == 1).sum().alias("heads")
    )
    assert (by["len"] == by["household_size"]).all()
    assert (by["heads"] == 1).all()


def test_members_are_a_family(frame):
    head = frame.filter(relation_to_head=1).select("household_id", head_sex="sex", head_age="age")
    members = frame.join(head, on="household_id")
    partners = members.filter(relation_to_head=2)
    assert (partners["sex"] != partners["head_sex"]).all()
    assert partners["relationship_status"].drop_nulls().is_in([2, 3]).all()
    children = members.filter(relation_to_head=3)
    # reported ages are rounded for some, by two years at most
    assert (children["head_age"] - children["age"]).min() >= 14
    assert frame.filter(pl.col("age") < 15)["labour_status"].unique().to_list() == [7]
    assert frame.filter(pl.col("age") < 12)["education"].drop_nulls().unique().to_list() == [1]


def test_design(frame):
    design = frame.group_by("stratum").agg(pl.col("psu").n_unique(), pl.struct("region", "urban").n_unique())
    assert design.height == 12
    assert design["psu"].min() >= 2
    assert design["region"].max() == 1
    assert frame.group_by("psu").agg(pl.col("stratum").n_unique())["stratum"].max() == 1
    assert frame["region"].n_unique() == 8


@pytest.mark.parametrize("n", [1_200, 3_000, 5_000, 50_000])
def test_every_stratum_has_several_clusters(n):
    for seed in range(5):
        clusters = survey_frame(n, seed).group_by("stratum").agg(pl.col("psu").n_unique())
        assert clusters.height == 12
        assert clusters["psu"].min() >= 2


def test_weights_are_positive_and_unequal(frame):
    weight = frame["weight"]
    assert weight.min() > 1
    assert 0.2 < weight.std() / weight.mean() < 0.6
    assert survey_frame(200_000, 1)["weight"].min() > 1


def test_every_code_has_a_label(frame):
    labels = survey(10, 1).labels
    assert set(labels.variables) == set(frame.columns)
    for column, texts in labels.values.items():
        assert set(frame[column].drop_nulls().unique()) == set(texts), column


def test_earnings_follow_the_mincer_equation():
    frame = survey_frame(50_000, 5).filter(pl.col("labour_status") <= 2, pl.col("income") > 0)
    frame = frame.drop_nulls(["education", "income"])
    years = SCHOOL_YEARS[frame["education"].to_numpy() - 1]
    experience = np.clip(frame["age"].to_numpy() - np.maximum(years, 9) - 6, 0, 45)
    woman = frame["sex"].to_numpy() == 2
    X = np.column_stack([np.ones(len(years)), years, experience, experience**2, woman])
    b = np.linalg.lstsq(X, np.log(frame["income"].to_numpy()), rcond=None)[0]
    assert 0.06 < b[1] < 0.13
    assert 0.03 < b[2] < 0.055
    assert -0.001 < b[3] < -0.0004
    assert -0.3 < b[4] < -0.15


def test_income_has_a_pareto_tail():
    income = np.sort(survey_frame(100_000, 2)["income"].drop_nulls().to_numpy())
    top = income[-500:]
    exponent = 1 / np.mean(np.log(top / top[0]))
    # a log-normal of the same spread would give 4 or more
    assert 1.8 < exponent < 3.2
    assert 0.05 < np.mean(income == 0) < 0.4


def test_money_goes_together(frame):
    values = frame.select(ROLES["numeric"]).drop_nulls()
    ranks = values.select(pl.all().rank()).to_numpy()
    correlation = np.corrcoef(ranks, rowvar=False)
    assert correlation.min() > 0.2
    assert correlation[np.triu_indices(4, 1)].max() < 0.9


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_share_of_sample_uniques(seed):
    keys = ["region", "urban", "sex", "age", "education"]
    count = survey_frame(10_000, seed).select(pl.len().over(keys))["len"]
    assert 0.05 < (count == 1).mean() < 0.15


def test_missing_values(frame):
    asked = {
        "literacy": pl.col("age") >= 7,
        "occupation": pl.col("labour_status") <= 2,
        "income": pl.col("age") >= 15,
        "savings": pl.col("age") >= 15,
    }
    for column in frame.columns:
        among = asked.get(column, pl.lit(True))
        missing = frame.filter(among)[column].is_null().mean()
        if column in NO_ANSWER or column == "income":
            assert 0 < missing < 0.1, column
        else:
            assert missing == 0, column
        assert frame.filter(~among)[column].is_not_null().sum() == 0, column


@pytest.mark.parametrize(
    ("n", "seed"), [(0, 1), (-5, 1), (2.5, 1), ("10", 1), (True, 1), (None, 1), (10, -1)]
)
def test_bad_size_or_seed(n, seed):
    with pytest.raises(OptionError, match=r"must be a whole number. Given: .* Allowed: [01] or more"):
        survey(n, seed)
