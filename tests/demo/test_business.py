import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sdckit.demo import business
from sdckit.demo.business import ROLES, business_frame
from sdckit.demo.nace import activities
from sdckit.errors import OptionError

AMOUNTS = ["turnover", "material_costs", "services", "staff_costs"]

PINNED_SUMS = (11597, 22196, 5446809)
PINNED_ENTERPRISE = (4322, "3652", 1, 4, 292, 85660.0, 36872.0, 23386.0, 10466.0, 10687.0)


@pytest.fixture(scope="module")
def frame():
    return business_frame(10_000, 1)


@pytest.mark.parametrize("n", [1, 2, 3, 999])
def test_exactly_n_enterprises_and_a_valid_file(n):
    data = business(n, 1)
    assert data.height == n
    assert data.frame["enterprise_id"].to_list() == list(range(1, n + 1))
    assert data.roles.weight is None


def test_same_seed_same_data_other_seed_other_data():
    assert_frame_equal(business_frame(500, 3), business_frame(500, 3))
    assert not business_frame(500, 3).equals(business_frame(500, 4))


def test_the_data_never_change(frame):
    """Published examples rest on these values: a change here is a change of every one of them."""
    assert frame.select(pl.col("size_class", "region", "workers").sum()).row(0) == PINNED_SUMS
    assert frame.row(4321) == PINNED_ENTERPRISE


def test_classification():
    codes = activities().code.tolist()
    assert codes == sorted(set(codes))
    assert all(len(code) == 4 and code.isdigit() for code in codes)


def test_strata_are_many_and_of_skewed_size():
    """Like the accounts data of 10,313 enterprises in 660 strata with quantiles 1 2 2 4 5 8 13 20 38."""
    size = business_frame(10_313, 1).group_by("nace", "size_class").len()["len"]
    assert 580 < len(size) < 740
    deciles = np.quantile(size, np.arange(0.1, 1, 0.1))
    published = np.array([1, 2, 2, 4, 5, 8, 13, 20, 38])
    assert (np.abs(deciles - published) <= np.maximum(1, 0.25 * published)).all()


def test_size_class_follows_workers(frame):
    assert frame["workers"].min() >= 100
    assert (
        frame["size_class"] == pl.select(pl.when(frame["workers"] >= 500).then(2).otherwise(1)).to_series()
    ).all()
    assert 0.1 < (frame["size_class"] == 2).mean() < 0.2
    assert business_frame(300_000, 1)["workers"].max() <= 60_000


def test_amounts_are_positive_skewed_and_correlated(frame):
    assert frame.null_count().sum_horizontal().item() == 0
    values = frame.select(*AMOUNTS, "workers")
    assert values.min().min_horizontal().item() > 0
    logs = np.log(values.to_numpy())
    correlation = np.corrcoef(logs, rowvar=False)
    assert correlation.min() > 0.3
    for column in values.columns:
        assert values[column].mean() > 2 * values[column].median(), column


def test_earnings_may_be_negative(frame):
    assert 0.1 < (frame["earnings"] < 0).mean() < 0.3
    assert frame["earnings"].median() > 0


def test_activities_differ(frame):
    """The class explains much of turnover per worker."""
    per_worker = frame.select("nace", y=(pl.col("turnover") / pl.col("workers")).log())
    within = per_worker.select(pl.col("y") - pl.col("y").mean().over("nace"))["y"]
    assert within.var() < 0.4 * per_worker["y"].var()


def test_a_few_enterprises_stand_apart(frame):
    margin = frame["earnings"] / frame["turnover"]
    middle = margin.median()
    spread = (margin - middle).abs().median() * 1.4826
    far = ((margin - middle).abs() > 5 * spread).mean()
    assert 0.003 < far < 0.03


def test_labels_and_roles(frame):
    data = business(50, 1)
    assert set(data.labels.variables) == set(frame.columns)
    for column, texts in data.labels.values.items():
        assert set(frame[column].unique()) == set(texts), column
    assert data.roles.numeric == ROLES["numeric"]
    assert frame.schema["nace"] == pl.String


@pytest.mark.parametrize(("n", "seed"), [(0, 1), (-5, 1), (2.5, 1), ("10", 1), (True, 1), (10, -1)])
def test_bad_size_or_seed(n, seed):
    with pytest.raises(OptionError, match=r"must be a whole number. Given: .* Allowed: [01] or more"):
        business(n, seed)
