"""Records of two files meet by id, or not at all."""

import duckdb
import polars as pl
import pytest

from sdckit.engine import frames
from sdckit.errors import DataError
from sdckit.microdata import Microdata
from sdckit.pairs import PROTECTED, side_by_side


def file(engine: str, ids: list, values: list) -> Microdata:
    frame = pl.DataFrame({"pid": ids, "x": values})
    return Microdata.of(duckdb.from_arrow(frame.to_arrow()) if engine == "duckdb" else frame, id="pid")


def met(original: Microdata, protected: Microdata) -> list:
    both = frames.gather(side_by_side(original, protected, ["x"]))
    return sorted(both.select("x", "x" + PROTECTED).rows())


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_records_meet_in_any_order(engine):
    first, second = file(engine, [1, 2, 3], [10, 20, 30]), file(engine, [3, 1, 2], [33, 11, 22])
    assert met(first, second) == [(10, 11), (20, 22), (30, 33)]
    assert met(first, first) == [(10, 10), (20, 20), (30, 30)]


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize(
    ("one", "two"),
    [
        ([1, 1, 2, 3], [1, 1, 4, 5]),  # on id 1 as many pairs meet as there are records
        ([1, 2, 3, 4], [1, 1, 2, 2]),
        ([1, 1, 2, 3], [3, 2, 1, 1]),
        ([None, 1, 2, 3], [1, 2, 3, None]),
    ],
)
def test_ids_that_do_not_name_records_are_not_guessed_at(engine, one, two):
    with pytest.raises(DataError, match=r"one by one: ids in 'pid' (are repeated or missing|differ)"):
        met(file(engine, one, [1, 2, 3, 4]), file(engine, two, [1, 2, 3, 4]))


def test_repeated_ids_in_the_same_rows_meet_row_by_row():
    assert met(file("polars", [1, 1, 2], [10, 20, 30]), file("polars", [1, 1, 2], [11, 22, 33])) == [
        (10, 11),
        (20, 22),
        (30, 33),
    ]
