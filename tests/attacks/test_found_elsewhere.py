"""Records that stand in other rows than those they are taken to be from, as they are."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.people import persons
from attacks.test_found import verdict
from sdckit.data.effects import Effects
from sdckit.methods.registry import protection, unregister

N = 2_000
NUMBERS = ["income", "rent", "savings"]
TOGETHER = "values that moved together"


def people() -> sdc.Microdata:
    frame = persons(N).select("sex", "region", *NUMBERS, "health")
    return sdc.read(frame, keys=["sex", "region"], numeric=NUMBERS, sensitive="health")


def swapped(data: sdc.Microdata, geography: list[str], seed: int = 1) -> sdc.Microdata:
    return sdc.protect.swap_records(data, geography=geography, similar=["sex", "region"], share=1, rng=seed)


@pytest.mark.parametrize("answers", [["health"], []])
@pytest.mark.parametrize("times", [1, 2])
def test_all_that_tells_of_a_person_moves_to_a_record_that_is_alike_in_the_rest(answers, times):
    """Nothing but the order of the file is another, and nobody was said to be found."""
    data = done = people()
    for seed in range(times):
        done = swapped(done, [*NUMBERS, *answers], seed)
    columns = [*data.roles.keys, *NUMBERS, *answers]
    done = sdc.protect.shuffle_order(done, rng=2)
    assert done.frame.select(columns).sort(columns).equals(data.frame.select(columns).sort(columns))
    found = verdict(data, done)
    assert not found.releasable
    assert any(TOGETHER in one.name and one.value == 1.0 for one in found)


def test_values_that_moved_together_and_were_protected_then():
    data = people()
    done = sdc.protect.drop(swapped(data, [*NUMBERS, "health"]), variables=NUMBERS[1:])
    wide = sdc.protect.recode(done, variable="income", groups=4)
    asked = [one for one in verdict(data, sdc.protect.shuffle_order(wide, rng=2)) if TOGETHER in one.name]
    assert asked
    assert all(one.met for one in asked)


def test_areas_that_moved_together_are_no_record_of_a_person():
    data = sdc.read(
        persons(N).select("region", "education", "sex", "health"), keys=["region", "education", "sex"]
    )
    done = sdc.protect.swap_records(data, geography=["region", "education"], similar="sex", share=1, rng=1)
    assert TOGETHER not in str(verdict(data, done))


@pytest.mark.parametrize("by_a_step", [True, False])
def test_most_rows_are_others_and_all_columns_were_made_coarser_later(by_a_step):
    """One row in ten is in place, beyond chance; one person in four is still alone and shown."""
    names = ["region", "sex", "age", "education", "health"]
    data = sdc.read(persons(3_000).select(names), keys=names[:4], sensitive="health")
    rows = np.arange(data.height)
    some = np.random.default_rng(6).permutation(data.height)[: int(0.9 * data.height)]
    rows[some] = np.roll(some, 1)

    @protection("Other rows")
    def other_rows(data: sdc.Microdata) -> sdc.Microdata:
        """Give each row another record, and do not say so."""
        return data.with_frame(data.frame[rows], effects=Effects())

    def coarser(data: sdc.Microdata) -> sdc.Microdata:
        for column in ("region", "education", "health"):
            values = data.frame[column].unique().sort().to_list()
            data = sdc.protect.group(data, variables=column, map={"a": values[:2]})
        return sdc.protect.shuffle_order(sdc.protect.recode(data, variable="age", width=2), rng=1)

    try:
        done = coarser(other_rows(data) if by_a_step else data.with_frame(data.frame[rows]))
    finally:
        unregister("other_rows")
    before, after = (
        file.frame.group_by(names).len().filter(pl.col("len") == 1) for file in (coarser(data), done)
    )
    assert before.join(after, on=names).height > 0.2 * data.height
    found = verdict(data, done)
    assert not found.releasable
    assert "records that belong together" in str(found)
