"""shuffle_order and drop."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import ColumnError, OptionError
from sdckit.methods.registry import protection, unregister


def test_shuffling_keeps_every_record_and_forgets_the_order():
    n = 4000
    data = sdc.read(pl.DataFrame({"x": range(n), "y": range(n)}), numeric="x")
    done = sdc.protect.shuffle_order(data, rng=1).frame
    assert done.sort("x").equals(data.frame)
    assert abs(np.corrcoef(done["x"], np.arange(n))[0, 1]) < 4.5 / np.sqrt(n)
    assert done.equals(sdc.protect.shuffle_order(data, rng=1).frame)


def test_shuffled_households_stay_together(survey):
    done = sdc.protect.shuffle_order(survey, rng=1)
    home = done.frame["household_id"]
    assert (home.rle_id().max() or 0) + 1 == home.n_unique()
    assert not home.equals(survey.frame["household_id"])
    assert done.frame.sort("person_id").equals(survey.frame.sort("person_id"))


def test_a_method_that_shuffles_inside_counts_as_reordering(survey):
    @protection("Shuffle and sample")
    def fewer(data: sdc.Microdata, *, rng: np.random.Generator) -> sdc.Microdata:
        """Half of the records in another order, with other ids."""
        half = sdc.protect.sample_records(sdc.protect.shuffle_order(data, rng=rng), share=0.5, rng=rng)
        return sdc.protect.new_ids(half, rng=rng)

    try:
        done = fewer(survey, rng=1)
    finally:
        unregister("fewer")
    (entry,) = done.log
    assert entry.method == "fewer"
    assert entry.effects.reorders_rows
    assert entry.effects.drops_rows
    assert entry.effects.renames_ids
    assert {"records_moved", "records_kept", "ids_replaced"} <= set(entry.figures)
    columns = [c for c in survey.columns if c not in entry.figures["ids_replaced"] and c != "weight"]
    before = survey.frame[entry.effects.source_rows].select(columns)
    assert before.equals(done.frame.select(columns))


def test_all_orders_are_equally_likely():
    # 6 orders in 1200 draws, each within 5 standard errors
    data, rng = sdc.read(pl.DataFrame({"x": [1, 2, 3]})), np.random.default_rng(2)
    drawn = [tuple(sdc.protect.shuffle_order(data, rng=rng).frame["x"]) for _ in range(1200)]
    times = [drawn.count(order) for order in set(drawn)]
    assert len(times) == 6
    assert np.abs(np.array(times) - 200).max() < 5 * np.sqrt(1200 / 6 * 5 / 6)


def test_dropped_columns_go_with_roles_and_labels():
    frame = pl.DataFrame({"name": ["a"], "k": [1], "x y": [2.0]})
    data = sdc.Microdata.of(
        frame, labels=sdc.Labels({"k": "K"}, {"k": {1: "one"}}), keys="k", numeric="x y", direct="name"
    )
    done = sdc.protect.drop(data, variables=["k", "x y"])
    assert done.columns == ("name",)
    assert done.roles.as_dict() == {"direct": ["name"]}
    assert done.labels == sdc.Labels()
    assert done.log[-1].figures == {"columns_removed": ["k", "x y"]}
    assert sdc.protect.drop(data).columns == ("k", "x y")


def test_drop_on_duckdb(duckdb_connection):
    data = sdc.read(duckdb_connection.from_arrow(pl.DataFrame({"a": [1], "b": [2]}).to_arrow()), keys="a")
    assert sdc.protect.drop(data, variables="b").columns == ("a",)


def test_mistakes():
    data = sdc.read(pl.DataFrame({"a": [1]}))
    with pytest.raises(OptionError, match=r"drop has no column to remove"):
        sdc.protect.drop(data)
    with pytest.raises(OptionError, match=r"drop would leave no column"):
        sdc.protect.drop(data, variables="a")
    with pytest.raises(ColumnError, match=r"no column 'aa'"):
        sdc.protect.drop(data, variables="aa")
