"""The codes that small cells come from: against a plain count over records."""

from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc

KEYS = ["a", "b", "c"]
ROWS = st.lists(st.tuples(*[st.sampled_from(["x", "y", None])] * 3), min_size=3, max_size=25).filter(
    lambda rows: any(any(row) for row in rows)
)


def naive(rows, k, most, alike):
    """{(size, key, code): (records, violations, combinations)}, record by record."""
    found = {}
    for size in range(1, most + 1):
        for at, key in enumerate(KEYS):
            subsets = [s for s in combinations(range(len(KEYS)), size) if at in s]
            for code in {row[at] for row in rows}:
                mine = [row for row in rows if row[at] == code]
                small = {
                    (s, tuple(row[i] for i in s))
                    for s in subsets
                    for row in mine
                    if sum(alike(other, row, s) for other in rows) < k
                }
                hit = [row for row in mine if any((s, tuple(row[i] for i in s)) in small for s in subsets)]
                found[size, key, code] = (len(mine), len(hit), len(small))
    return found


def same(other, row, subset):
    return all(other[i] == row[i] for i in subset)


def matches(other, row, subset):
    return all(other[i] is None or row[i] is None or other[i] == row[i] for i in subset)


@pytest.mark.parametrize(("missing", "alike"), [("category", same), ("wildcard", matches)])
@settings(max_examples=40, deadline=None)
@given(rows=ROWS, k=st.integers(2, 3), most=st.integers(1, 3))
def test_codes_are_counted_as_record_by_record(missing, alike, rows, k, most):
    frame = pl.DataFrame(rows, schema=dict.fromkeys(KEYS, pl.String), orient="row")
    result = sdc.risk.k_anonymity(sdc.read(frame, keys=KEYS), k=k, subsets=most, missing=missing)
    table = result.tables["codes"]
    assert {tuple(row[:3]): tuple(row[3:]) for row in table.rows()} == naive(rows, k, most, alike)
    assert table.height == len(table.unique(["size", "variable", "code"]))


def test_a_hand_worked_file():
    frame = pl.DataFrame({"sex": list("ffffm"), "town": list("aaabb")})
    table = sdc.risk.k_anonymity(sdc.read(frame, keys=["sex", "town"]), k=2, subsets=2).tables["codes"]
    assert table.rows() == [
        (1, "sex", "f", 4, 0, 0),
        (1, "sex", "m", 1, 1, 1),
        (1, "town", "a", 3, 0, 0),
        (1, "town", "b", 2, 0, 0),
        (2, "sex", "f", 4, 1, 1),  # the f of b is alone, and so is the m
        (2, "sex", "m", 1, 1, 1),
        (2, "town", "a", 3, 0, 0),
        (2, "town", "b", 2, 2, 2),
    ]


def test_cells_that_only_weights_keep_apart_are_one_combination():
    frame = pl.DataFrame({"sex": ["f", "f", "m", None, None], "town": list("aaaaa"), "w": [1.0, 2, 3, 4, 5]})
    data = sdc.read(frame, keys=["sex", "town"], weight="w")
    table = sdc.risk.k_anonymity(data, k=3, subsets=1, missing="nothing").tables["codes"]
    sex = table.filter(pl.col("variable") == "sex").rows()
    assert sex == [(1, "sex", "f", 2, 2, 1), (1, "sex", "m", 1, 1, 1), (1, "sex", None, 2, 2, 1)]


def test_without_subsets_there_is_no_such_table():
    assert not sdc.risk.k_anonymity(sdc.demo.survey(n=50, seed=1), keys=["sex", "region"]).tables


def test_too_many_combinations_are_refused():
    names = [f"k{i}" for i in range(20)]
    data = sdc.read(pl.DataFrame({name: [1, 1, 2, 2] for name in names}), keys=names)
    assert sdc.risk.k_anonymity(data, k=2, subsets=2).tables["subsets"].height == 210
    with pytest.raises(sdc.SdcError, match="616,665 of up to 10 of 20 keys"):
        sdc.risk.k_anonymity(data, k=2, subsets=10)
