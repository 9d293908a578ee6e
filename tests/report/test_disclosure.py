"""The rules of public reports, on counts of every kind."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sdckit._support.number_text import SPACE
from sdckit.choose.scenario import Scenario
from sdckit.data.microdata import Microdata
from sdckit.methods.registry import find
from sdckit.report.disclosure import FEW, clean, counted, measured, records_share
from sdckit.report.histograms import _large_groups
from sdckit.report.mosaic_tables import Pair, _chart
from sdckit.report.steps import describe_scenario

FRAME = Microdata.of(pl.DataFrame({"x": ["a"], "y": ["u"]}), keys=["x", "y"])


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=25))
def test_merged_bins_keep_order_lose_nothing_and_are_large(bins):
    before, after = [b for b, _ in bins], [a for _, a in bins]
    groups = _large_groups(before, after)
    if groups:
        assert [i for group in groups for i in group] == list(range(len(bins)))
    else:
        assert min(sum(before), sum(after)) < FEW
    for group in groups:
        assert min(sum(before[i] for i in group), sum(after[i] for i in group)) >= FEW


cells = st.dictionaries(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("uvwx")), st.integers(1, 40), min_size=1
)


@given(cells, cells)
def test_public_mosaics_show_no_cell_below_five_records(before, after):
    pair = Pair(("x", "y"), *({c: (float(n), float(n)) for c, n in t.items()} for t in (before, after)))
    chart = _chart(FRAME, pair, public=True)
    if chart is not None:
        for table in (chart["before"], chart["after"]):
            assert all(count == 0 or count >= FEW for row in table for count in row)
        assert sum(map(sum, chart["before"])) == sum(before.values())


def test_small_numbers_are_not_told_apart():
    assert {counted(n, public=True) for n in range(1, FEW)} == {"<5"}
    assert counted(0, public=True) == "0"
    assert counted(3, public=False) == "3"
    assert {records_share(n, 3000, public=True) for n in range(1, FEW)} == {"<5 records"}
    assert records_share(7, 3000, public=True) == f"<1{SPACE}%"
    spec = find("k_anonymity")
    assert len({measured(spec, n / 3000, 3000, public=True) for n in range(1, FEW)}) == 1
    assert len({measured(spec, n / 3000, 3000, public=False) for n in range(1, FEW)}) == FEW - 1


def test_public_descriptions_quote_no_lists_of_values():
    scenario = Scenario(
        "s", [{"recode": {"variable": "age", "breaks": [17.125], "labels": ["Canary", "other"]}}]
    )
    public = describe_scenario(scenario, ["age"], public=True)
    assert "Canary" not in public
    assert "17.125" not in public
    assert "age" in public
    assert "Canary" in describe_scenario(scenario, ["age"], public=False)


def test_control_characters_are_replaced():
    assert clean({"a\x00": ["\x1b[31m", 3, None, "tab\t"]}) == {"a�": ["�[31m", 3, None, "tab\t"]}
