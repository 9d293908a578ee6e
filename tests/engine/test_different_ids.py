import polars as pl
import pytest

from sdckit.engine import different_ids
from sdckit.engine.different_ids import tells_apart, whole_numbers_in


@pytest.fixture
def ticking(monkeypatch):
    """Every file is a large one, and its ids are ticked off in several passes."""
    monkeypatch.setattr(different_ids, "FEW", 0)
    monkeypatch.setattr(different_ids, "TICKED", 7)


CASES = {
    "in any order": ([5, -3, 12, 4, 0, 11, 6, 13], True),
    "repeated in one pass": ([5, -3, 12, 4, 4, 11, 6, 13], False),
    "repeated at an end": ([5, -3, 12, 4, 0, 11, 13, 13], False),
    "missing": ([5, -3, None, 4, 0, 11, 6, 13], False),
    "missing and repeated": ([5, -3, None, 4, 0, 11, 6, None], False),
    "fewer numbers than records": ([1, 2, 3, 3], False),
    "far apart": ([1, 10**12, -(10**12), 7], True),
    "far apart and repeated": ([1, 10**12, 10**12, 7], False),
}


@pytest.mark.parametrize(("ids", "different"), CASES.values(), ids=list(CASES))
def test_whole_numbers(lazy, ticking, ids, different):
    assert tells_apart(lazy(pl.DataFrame({"id": ids})), "id", len(ids)) is different


@pytest.mark.parametrize("ids", [ids for ids, _ in CASES.values()], ids=list(CASES))
def test_different_whole_numbers_are_counted(lazy, ticking, ids):
    found = whole_numbers_in(lazy(pl.DataFrame({"id": ids})), "id")
    present = [id for id in ids if id is not None]
    assert found.different() == len(set(present))
    assert (found.present, found.low, found.high) == (len(present), min(present), max(present))


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt8, pl.UInt32, pl.Int32])
def test_short_types_do_not_overflow(lazy, ticking, engine, kind):
    if engine == "spark" and kind.is_unsigned_integer():
        kind = pl.Int16  # there are no unsigned numbers on Spark
    low = 0 if kind.is_unsigned_integer() else -100
    ids = pl.Series("id", [low, 100, 127, 3, 50, 9, 60, 70, 80, 90, 20, 30, 40, 1], dtype=kind)
    assert tells_apart(lazy(ids.to_frame()), "id", len(ids))
    assert not tells_apart(lazy(pl.concat([ids, ids[:1]]).to_frame()), "id", len(ids) + 1)


def test_texts(lazy, ticking):
    assert tells_apart(lazy(pl.DataFrame({"id": ["a", "b"]})), "id", 2)
    assert not tells_apart(lazy(pl.DataFrame({"id": ["a", "a"]})), "id", 2)
