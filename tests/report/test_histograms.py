"""Histograms: coded keys have a bar and a label for every code."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sdckit import charts
from sdckit.data.microdata import Microdata
from sdckit.report.histograms import _large_groups, _together, histograms, public_histograms
from sdckit.report.public_numbers import MIN_PUBLIC_COUNT


def _of(values: list[int | None], **roles: str) -> Microdata:
    return Microdata.of(pl.DataFrame({"x": values}), **(roles or {"keys": "x"}))


def test_a_key_of_two_codes_has_two_bars_with_their_names():
    (chart,) = histograms(_of([1] * 60 + [2] * 40), _of([1] * 50 + [2] * 50))["charts"]
    assert chart["labels"] == ["1", "2"]
    assert (chart["before"], chart["after"]) == ([0.6, 0.4], [0.5, 0.5])
    text = charts.static_svg(
        charts.histogram(
            *(chart[n] for n in ("edges", "before", "after")), title="x", labels=chart["labels"]
        ),
        "h",
        "h",
    )
    assert ">1<" in text
    assert ">2<" in text


def test_many_numbers_and_numbers_that_are_no_key_keep_their_intervals():
    many = _of(list(range(30)) * 10)
    assert histograms(many, many)["charts"][0]["labels"] == []
    wage = _of([1, 2, 3] * 20, numeric="x")
    assert histograms(wage, wage)["charts"][0]["labels"] == []


def test_the_public_sees_no_code_that_few_records_have():
    data = _of([1] * 50 + [2] * 40 + [3] * 30 + [17] * 2 + [19])
    (chart,) = public_histograms(data, data, [])["charts"]
    assert chart["labels"] == ["1", "2", "3 and more"]
    assert chart["records_before"] == chart["records_after"] == [50, 40, 35]
    assert chart["before"] == [0.4, 0.32, 0.28]
    low = _of([1, 2] + [3] * 40 + [4] * 30)
    assert public_histograms(low, low, [])["charts"][0]["labels"] == ["up to 3", "4"]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6))
def test_groups_of_codes_have_different_names(sizes):
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    groups = [list(range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]
    names = _together([str(i) for i in range(sum(sizes))], groups)
    assert len(names) == len({*names}) == len(groups)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=25))
def test_merged_bins_keep_order_lose_nothing_and_are_large(bins):
    before, after = [b for b, _ in bins], [a for _, a in bins]
    groups = _large_groups(before, after)
    if groups:
        assert [i for group in groups for i in group] == list(range(len(bins)))
    else:
        assert min(sum(before), sum(after)) < MIN_PUBLIC_COUNT
    for group in groups:
        assert min(sum(before[i] for i in group), sum(after[i] for i in group)) >= MIN_PUBLIC_COUNT
