"""Facts of columns, the same on every engine: they decide what is refused and what is a class of its own."""

import polars as pl
import pytest

import sdckit as sdc
from engine_frames import ENGINES, on_engine
from sdckit.protect._synthesis_facts import facts_of

COLUMNS = {
    "mail": [f"{i}@example.org" for i in range(30)] + [None] * 70,
    "class": ["a", "b"] * 50,
    "twins": [f"pair {i // 2}" for i in range(60)] + ["x"] * 40,
    "pay": [0.0] * 10 + [7.0] * 4 + [float(i) + 100 for i in range(80)] + [None] * 6,
    "few": [3.0] * 4 + [None] * 96,
    "odd": [-(10**6) - i for i in range(100)],
}


@pytest.mark.parametrize("engine", ENGINES)
def test_facts_of_columns(engine, request):
    data = sdc.read(pl.DataFrame({"id": range(100), **COLUMNS}), id="id")
    facts = facts_of(on_engine(engine, data, request), list(COLUMNS))
    assert {c for c, one in facts.items() if one.named_by_values} == {"mail", "pay", "odd"}
    assert (facts["mail"].known, facts["mail"].different, facts["mail"].shared_by_few) == (30, 30, 30)
    assert (facts["twins"].different, facts["twins"].shared_by_few) == (31, 60)
    assert facts["class"].shared_by_few == 0
    assert facts["pay"].spikes() == (0.0,), "7 is not in 5 % of 94 records"
    assert facts["few"].spikes() == (), "four persons are no class"
    assert facts["pay"].counts_of([7.0, 0.0, 1.0]) == [4, 10, 0]
    assert (facts["odd"].least, facts["odd"].largest) == (-(10**6) - 99, -(10**6))
    assert facts["odd"].smallest_size == 10**6
