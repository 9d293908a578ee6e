"""Tables that were put in by hand, or made by steps of others, after steps whose word was taken for them."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.people import coarse, persons
from attacks.test_found import verdict
from sdckit.data.record_links import source_rows
from sdckit.methods.registry import protection, unregister

N = 2_000
AGES = [16, 35, 50, 65, 90]


@pytest.fixture(scope="module")
def files() -> tuple[sdc.Microdata, sdc.Microdata]:
    """People with a number each, and the same with new numbers in a new order, which can be released."""
    data = coarse(N)
    number = pl.Series(np.random.default_rng(2).permutation(N) + 10_000)
    frame = data.frame.with_columns(number=number)
    data = sdc.read(frame, keys=data.roles.keys, sensitive="health", id="number")
    wide = sdc.protect.recode(data, variable="age", breaks=AGES)
    return data, sdc.protect.shuffle_order(sdc.protect.new_ids(wide, rng=3), rng=4)


def telling(original: sdc.Microdata, protected: sdc.Microdata) -> pl.DataFrame:
    """The protected table with numbers that end with the age."""
    age = original.frame["age"].to_numpy()[source_rows(original, protected)]
    return protected.frame.with_columns(number=np.random.default_rng(1).permutation(N) * 100 + age)


def test_ids_that_were_put_in_after_new_ones_were_drawn(files):
    data, safe = files
    assert verdict(data, safe).releasable
    found = verdict(data, safe.with_frame(telling(data, safe)))
    assert not found.releasable
    assert "a table put in by hand" in str(found)


def test_ids_that_a_step_of_others_made_after_new_ones_were_drawn(files):
    data, safe = files

    @protection("Ids of an office")
    def office_ids(data: sdc.Microdata) -> sdc.Microdata:
        """Ids of an office."""
        return data.with_frame(telling(files[0], data), ids=N)

    try:
        assert not verdict(data, office_ids(safe)).releasable
    finally:
        unregister("office_ids")


def test_a_table_put_in_before_the_ids_were_drawn_is_no_matter(files):
    data, _ = files
    wide = sdc.protect.recode(data, variable="age", breaks=AGES)
    by_hand = wide.with_frame(wide.frame.with_columns(pl.col("health").str.to_uppercase()))
    found = verdict(data, sdc.protect.new_ids(by_hand, rng=3))
    assert "a table put in by hand" not in str(found)


def test_a_promise_made_before_another_table_was_put_in():
    frame = coarse(N).frame.select("area", "sex", "health")
    data = sdc.read(frame, keys=["area", "sex"], sensitive="health")
    values = {c: sorted(frame[c].unique()) for c in frame.columns}
    made = sdc.protect.synthesize(data, method="marginals", epsilon=1.0, values=values)
    found = verdict(data, made.with_frame(frame.sample(fraction=1, shuffle=True, seed=1)))
    assert "table was put in by hand after synthesize" in str(found)


@pytest.mark.parametrize("read_again", [True, False])
@pytest.mark.parametrize("place", [N // 2, N // 4])
def test_rows_that_are_out_of_step_from_one_on(place, read_again):
    """A record was left out, another is there twice: those between are compared with their neighbours."""
    frame = persons(N).select("region", "sex", "age", "education", "health")
    data = sdc.read(frame, keys=["region", "sex", "age", "education"], sensitive="health")
    wide = sdc.protect.recode(data, variable="age", width=2)

    def asked(table: pl.DataFrame) -> str:
        made = data.with_frame(table)
        if read_again:
            made = sdc.read(table, keys=data.roles.keys, sensitive="health")
        return str(verdict(data, made, accept={"order": True}))

    assert "records that belong together" not in asked(wide.frame)
    shifted = pl.concat([wide.frame[:place], wide.frame[place + 1 :], wide.frame[7:8]])
    assert "records that belong together" in asked(shifted)
