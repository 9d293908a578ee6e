"""Loss in two-way tables: detail and error on one scale."""

import math

import numpy as np
import polars as pl
import pytest

import sdckit as sdc


def entropy(counts):
    shares = np.array(counts) / sum(counts)
    return -float(shares @ np.log(shares))


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    a = rng.choice(4, 400, p=[0.4, 0.3, 0.2, 0.1])
    frame = pl.DataFrame(
        {"a": a, "b": rng.choice(["x", "y"], 400), "income": np.round(rng.normal(50, 9, 400), 3)}
    )
    return sdc.read(frame, keys=["a", "b"], numeric="income")


def test_nothing_done_nothing_lost(data):
    assert sdc.utility.table_loss(data, data).value == 0
    assert sdc.utility.table_loss(data, sdc.protect.shuffle_order(data, rng=1)).value == 0


def test_recoding_costs_the_entropy_it_takes_by_hand():
    frame = pl.DataFrame({"a": [1, 1, 2, 3] * 10, "b": [1, 2] * 20})
    data = sdc.read(frame, keys=["a", "b"])
    merged = sdc.protect.recode(data, variable="a", breaks=[2], labels=["one", "more"])
    lost = 0.5 * math.log(2) / entropy([2, 1, 1])  # half of the records are 2 or 3, which nobody can tell
    assert sdc.utility.table_loss(data, merged).value == pytest.approx(lost, abs=1e-12)
    share = sdc.utility.entropy_loss(data, merged).figures["share"]
    assert sdc.utility.table_loss(data, merged).figures["detail"] == pytest.approx(share, abs=1e-12)


def test_moved_records_cost_the_total_variation_by_hand():
    data = sdc.read(pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}), keys=["a", "b"])
    blank = data.with_frame(pl.DataFrame({"a": [1, None, 2, 2], "b": [1, 2, 1, 2]}))
    assert sdc.utility.table_loss(data, blank).value == pytest.approx(0.25)
    weighted = sdc.read(data.frame.with_columns(w=pl.Series([5.0, 1, 1, 3])), keys=["a", "b"], weight="w")
    moved = weighted.with_frame(weighted.frame.with_columns(a=pl.Series([2, 1, 2, 2])))
    assert sdc.utility.table_loss(weighted, moved).value == pytest.approx(0.5)


def test_dropping_a_column_loses_its_tables(data):
    found = sdc.utility.table_loss(data, sdc.protect.drop(data, variables=["b"]))
    assert found.value == pytest.approx(2 / 3)  # a × b and b × income of three tables
    assert found.figures["detail"] == pytest.approx(1 / 3)
    assert "b" in found.notes[0]
    assert not found.lost, "so that it can be compared with other scenarios"


def test_a_recoding_that_nobody_logged_is_not_free(data):
    other = data.with_frame(data.frame.with_columns(a=pl.col("a").cast(pl.String) + " or so"))
    assert sdc.utility.table_loss(data, other).value >= 2 / 3 - 1e-9


def test_it_orders_what_is_done_more_strongly(data):
    def loss(method, **options):
        return sdc.utility.table_loss(data, getattr(sdc.protect, method)(data, **options)).value

    assert 0 < loss("add_noise", sd=0.1, rng=1) < loss("add_noise", sd=2, rng=1)
    shuffled = pl.col("a").shuffle(seed=1)
    some, most = (
        sdc.utility.table_loss(
            data,
            data.with_frame(
                data.frame.with_columns(
                    pl.when(pl.int_range(400) < n).then(shuffled).otherwise("a").alias("a")
                )
            ),
        ).value
        for n in (40, 400)
    )
    assert 0 < some < most
    by_mean = loss("synthesize", predictors={"a": [], "b": [], "income": []}, rng=1)
    assert 0 < loss("synthesize", rng=1) < 0.3
    assert by_mean < 0.5


def test_several_sets_are_averaged_and_one_variable_is_its_own_table(data):
    sets = sdc.synthesize(data, m=2, seed=1)
    each = [sdc.utility.table_loss(data, one).value for one in sets]
    assert sdc.utility.table_loss(data, sets).value == pytest.approx(np.mean(each))
    one = sdc.utility.table_loss(data, sets[0], variables="a")
    assert one.figures["tables"] == 1
    assert one.parts["table"].to_list() == ["a"]


def test_too_many_tables_are_refused(data):
    wide = sdc.read(pl.DataFrame({f"k{i}": [1, 2] for i in range(102)}), keys=[f"k{i}" for i in range(102)])
    with pytest.raises(sdc.errors.OptionError, match="too many pairs"):
        sdc.utility.table_loss(wide, wide)
