"""Strata along a hierarchy: a plain twin, the rule of the paper, odd codes."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.errors import ColumnError, OptionError
from sdckit.models.collapse_strata import collapse_strata


def naive(codes, classes, smallest, digits):
    """Stratum keys per record, level by level."""
    done = {}
    for place, (length, by_class) in enumerate([(d, True) for d in digits] + [(digits[-1], False)]):
        left = [i for i in range(len(codes)) if i not in done]
        key = {i: (codes[i][:length], classes[i] if by_class else "all") for i in left}
        for i in left:
            if sum(key[j] == key[i] for j in left) >= smallest or place == len(digits):
                done[i] = (place, key[i])
    return [done[i] for i in range(len(codes))]


@given(
    rows=st.lists(st.tuples(st.text("12", min_size=3, max_size=3), st.sampled_from("ab")), max_size=40),
    smallest=st.integers(1, 8),
)
def test_as_the_plain_twin(rows, smallest):
    codes, classes = [r[0] for r in rows], [r[1] for r in rows]
    frame = pl.DataFrame({"row": codes, "code": classes}, {"row": pl.String, "code": pl.String})
    found = collapse_strata(frame, "row", ["code"], smallest=smallest)
    expected = naive(codes, classes, smallest, (3, 2, 1))
    pairs = set(zip(expected, found.stratum.tolist(), strict=True))
    assert len(pairs) == len(set(expected)) == found.strata.height
    for place, level in enumerate(found.levels.iter_rows(named=True)):
        assert level["records"] == sum(e[0] == place for e in expected)
        assert level["strata"] == len({e for e in expected if e[0] == place})
    assert found.strata["records"].sum() == len(rows)


def test_a_large_enough_stratum_takes_in_no_more():
    frame = pl.DataFrame({"nace": ["1111"] * 5 + ["1112"] * 2 + ["1121"] * 2, "size": [1] * 9})
    found = collapse_strata(frame, "nace", ["size"], smallest=4)
    assert found.stratum.tolist() == [0] * 5 + [1] * 4
    assert found.levels["strata"].to_list() == [1, 0, 1, 0, 0]
    assert found.strata["codes"].to_list() == ["1111, 1", "11, 1"]


def test_what_is_left_at_the_last_level_stays_however_small():
    frame = pl.DataFrame({"nace": ["1111", "1111", "2111"], "size": [1, 2, 2]})
    found = collapse_strata(frame, "nace", ["size"], smallest=10)
    assert found.levels["below_minimum"].to_list() == [0, 0, 0, 0, 2]
    assert found.levels["level"].to_list()[-1] == "nace (1 digit)"
    assert collapse_strata(frame, "nace", smallest=2).levels.height == 4


def test_the_business_file_ends_with_fewer_and_larger_strata():
    data = sdc.demo.business(3_000, seed=1)
    found = collapse_strata(data.frame, "nace", ["size_class"])
    before = data.frame.group_by("nace", "size_class").len()
    assert found.strata.height < before.height / 5
    assert found.strata["records"].median() >= 80
    assert (np.bincount(found.stratum) == found.strata["records"].to_numpy()).all()


def test_odd_codes_and_options():
    frame = pl.DataFrame({"c": ["01.11", None, "01.11 ", ""], "w": [None, 1, None, 2]})
    found = collapse_strata(frame, "c", ["w"], smallest=2)
    assert found.strata["codes"].to_list()[0] == "0111, missing"
    assert found.stratum[0] == found.stratum[2] == 0
    empty = collapse_strata(frame.head(0), "c", ["w"])
    assert empty.strata.height == 0
    with pytest.raises(ColumnError, match="no column 'x'"):
        collapse_strata(frame, "x")
    with pytest.raises(OptionError, match="at least one"):
        collapse_strata(frame, "c", smallest=0)
