"""suppress: k-anonymous under the rule asked for, few cells, importance kept."""

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from conftest import oracle_cases
from sdckit.errors import DataError, OptionError


def cells(data):
    return data.log[-1].figures["cells_suppressed"]


@pytest.mark.parametrize(
    "case",
    oracle_cases(
        "04",
        lambda c: (
            not c["inputs"].get("strata") and not c["params"].get("combs") and len(c["params"]["k"]) == 1
        ),
    ),
)
def test_no_more_cells_than_stored(oracles, case):
    names, params = case["inputs"]["key_vars"], case["params"]
    data = oracles.data(case["dataset"], keys=names)
    k = params["k"][0]
    ranks = params.get("importance")
    order = None if ranks is None else [names[i] for i in sorted(range(len(names)), key=lambda i: ranks[i])]
    protected = sdc.protect.suppress(data, k=k, importance=order)
    assert sdc.risk.k_anonymity(protected, k=k).figures["violations"] == 0
    if ranks is None:
        assert cells(protected) <= case["expected"]["total_suppressions"]


def some_value_can_stay(rows, k, rule):
    """Whether a k-anonymous file is left with a value in it.

    A record that keeps all of its values matches all blanked ones by the wildcard rule. As a category: m
    records that keep one value they share must be k at least, and so must the others, unless there are none.
    """
    if rule == "wildcard":
        return True
    shared = [Counter(row[j] for row in rows if row[j] is not None) for j in range(len(rows[0]))]
    most = max(n for counts in shared for n in counts.values())
    return any(len(rows) - m >= k or m == len(rows) for m in range(k, most + 1))


@pytest.mark.parametrize(
    ("rows", "k", "rule", "stays"),
    [
        ([("a",), ("b",), ("c",)], 3, "category", False),
        ([("a",), ("b",), ("c",)], 3, "wildcard", True),
        ([("a",), ("a",), ("b",)], 2, "category", False),
        ([("a",), ("a",), ("b",), ("c",)], 2, "category", True),
    ],
)
def test_a_file_without_any_key_value_is_refused(rows, k, rule, stays):
    assert some_value_can_stay(rows, k, rule) == stays
    data = sdc.read(pl.DataFrame(rows, schema=["a"], orient="row"), keys="a")
    if stays:
        assert sdc.protect.suppress(data, k=k, missing=rule).frame["a"].null_count() < len(rows)
    else:
        with pytest.raises(DataError, match=r"unless every value.*Given: k=.*Lower k"):
            sdc.protect.suppress(data, k=k, missing=rule)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(*[st.sampled_from(["a", "b", None])] * 3), min_size=4, max_size=30).filter(
        lambda rows: any(v is not None for row in rows for v in row)
    ),
    k=st.integers(2, 3),
    rule=st.sampled_from(["wildcard", "category"]),
)
def test_the_result_is_k_anonymous_and_only_blanks(rows, k, rule):
    frame = pl.DataFrame(rows, schema=dict.fromkeys("abc", pl.String), orient="row")
    data = sdc.read(frame, keys=["a", "b", "c"])
    try:
        protected = sdc.protect.suppress(data, k=k, missing=rule)
    except DataError:
        assert not some_value_can_stay(rows, k, rule)
        return
    assert sdc.risk.k_anonymity(protected, k=k, missing=rule).value == 0
    for column in "abc":
        kept = protected.frame[column].is_not_null()
        assert protected.frame[column].filter(kept).equals(frame[column].filter(kept))


def test_importance_never_and_high():
    frame = pl.DataFrame({"a": [1, 1, 1, 2], "b": [1, 1, 1, 2]})
    data = sdc.read(frame, keys=["a", "b"])
    assert sdc.protect.suppress(data, k=2).frame.null_count().row(0) == (1, 1)
    kept = sdc.read(pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 1, 1, 2]}), keys=["a", "b"])
    assert sdc.protect.suppress(kept, k=2, importance={"a": "never"}).frame["a"].null_count() == 0
    assert sdc.protect.suppress(kept, k=2, importance=["a", "b"]).frame["a"].null_count() == 0
    with pytest.raises(DataError, match="cannot become k-anonymous"):
        sdc.protect.suppress(data, k=2, importance={"a": "never"})


def test_subsets_and_strata():
    frame = pl.DataFrame({"a": [1, 1, 1, 2], "b": [1, 1, 2, 2], "s": ["x", "x", "y", "y"]})
    data = sdc.read(frame, keys=["a", "b"])
    protected = sdc.protect.suppress(data, k=2, subsets=[["a"], ["b"]])
    assert sdc.risk.k_anonymity(protected, k=2, subsets=[["a"], ["b"]]).value == 0
    within = sdc.protect.suppress(data, k=2, by="s").frame
    for part in within.partition_by("s"):
        assert sdc.risk.k_anonymity(sdc.read(part, keys=["a", "b"]), k=2).value == 0


def test_mistakes():
    data = sdc.read(pl.DataFrame({"a": [1, 2, 3], "s": [1, 1, 2]}), keys="a")
    with pytest.raises(
        OptionError, match=r"k is larger than the number of records. Given: 4. Allowed: 2 to 3"
    ):
        sdc.protect.suppress(data, k=4)
    with pytest.raises(OptionError, match=r"records in a stratum"):
        sdc.protect.suppress(data, k=2, by="s")
    with pytest.raises(OptionError, match=r"matches nothing"):
        sdc.protect.suppress(data, k=2, missing="nothing")
    with pytest.raises(OptionError, match=r"not a key. Given: s"):
        sdc.protect.suppress(data, k=2, importance={"s": "high"})
    with pytest.raises(OptionError, match=r"Every key is marked never"):
        sdc.protect.suppress(data, k=2, importance={"a": "never"})
    with pytest.raises(OptionError, match=r"subsets may only name keys. Given: s"):
        sdc.protect.suppress(data, k=2, subsets=[["s"]])
