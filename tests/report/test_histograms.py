"""Histograms: coded keys have a bar and a label for every code."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sdckit import charts
from sdckit.data.microdata import Microdata
from sdckit.report.histograms import _together, histograms


def _of(values: list[int | None], **roles: str) -> Microdata:
    return Microdata.of(pl.DataFrame({"x": values}), **(roles or {"keys": "x"}))


def test_a_key_of_two_codes_has_two_bars_with_their_names():
    (chart,) = histograms(_of([1] * 60 + [2] * 40), _of([1] * 50 + [2] * 50), public=False)["charts"]
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
    assert histograms(many, many, public=False)["charts"][0]["labels"] == []
    wage = _of([1, 2, 3] * 20, numeric="x")
    assert histograms(wage, wage, public=False)["charts"][0]["labels"] == []


def test_the_public_sees_no_code_that_few_records_have():
    data = _of([1] * 50 + [2] * 40 + [3] * 30 + [17] * 2 + [19])
    (chart,) = histograms(data, data, public=True)["charts"]
    assert chart["labels"] == ["1", "2", "3 and more"]
    low = _of([1, 2] + [3] * 40 + [4] * 30)
    assert histograms(low, low, public=True)["charts"][0]["labels"] == ["up to 3", "4"]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6))
def test_groups_of_codes_have_different_names(sizes):
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    groups = [list(range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]
    names = _together([str(i) for i in range(sum(sizes))], groups)
    assert len(names) == len({*names}) == len(groups)
