"""The chart of every utility measure: there, drawable, escaped, and free of any record's value."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import pytest

import sdckit as sdc
from sdckit import charts
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind
from test_every_measure import TOLD, call, disturbed, odd_files, survey

ODD_NAMES = {
    "sex": "<script>alert(1)</script>",
    "region": 'it\'s "so" 🎉 × & </svg>',
    "school": "a.b[0] \\ `c`",
    "income": "<b>'in\"come</b>",
    "rent": "rent: 💰 (%)",
    "age": " ",
    "illness": "variable",
}
each = pytest.mark.parametrize("spec", [pytest.param(s, id=s.name) for s in specs(Kind.UTILITY)])


def renamed(data: sdc.Microdata) -> sdc.Microdata:
    roles = data.roles
    return sdc.read(
        data.frame.rename(ODD_NAMES),
        id="person",
        keys=[ODD_NAMES[c] for c in roles.keys],
        numeric=[ODD_NAMES[c] for c in roles.numeric],
        sensitive=ODD_NAMES["illness"],
        weight="w",
    )


def numbers(chart: object) -> Iterator[float]:
    """Every number in a chart's data, also those inside its texts."""
    if isinstance(chart, dict):
        for key, value in chart.items():
            yield from numbers(key)
            yield from numbers(value)
    elif isinstance(chart, list):
        for value in chart:
            yield from numbers(value)
    elif isinstance(chart, str):
        yield from (float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*\.?\d*", chart))
    elif isinstance(chart, int | float):
        yield float(chart)


@each
def test_there_is_a_chart_that_draws_whatever_the_names_are(spec):
    data, protected = survey(), disturbed(survey())
    pairs = [(data, protected), (data, data)]
    if spec.name not in TOLD:  # what a measure is told names columns
        pairs.append((renamed(data), renamed(protected)))
    for pair in pairs:
        found = call(spec, *pair)
        chart = charts.plain(found.chart())
        with charts.unchecked():  # as in a report, where pieces are shared
            assert charts.plain(found.chart()) == chart
        svg = charts.static_svg(chart, "x", "")
        tree = ElementTree.fromstring(svg)
        assert "<script" not in svg
        assert len(list(tree.iter("{http://www.w3.org/2000/svg}path"))) > 3


@each
def test_no_value_of_a_record_is_in_a_chart(spec):
    data = survey()
    protected = disturbed(data)
    secret = {
        float(v) for d in (data, protected) for c in ("income", "rent") for v in d.frame[c].drop_nulls()
    }
    secret |= {round(v, 2) for v in secret}
    chart = call(spec, data, protected).chart().to_dict()
    assert not secret & set(numbers(chart))
    json.dumps(chart, allow_nan=False)


@pytest.mark.parametrize("name", list(odd_files()))
@each
def test_odd_files_give_a_chart_or_a_clear_error(spec, name):
    data = odd_files()[name]
    with charts.unchecked():  # as in a report; the pieces of charts are checked above
        try:
            chart = call(spec, data, disturbed(data)).chart()
        except sdc.SdcError:
            return  # ours, and so with a reason
        assert "<svg" in charts.static_svg(chart, "x", "")


@each
def test_a_result_without_numbers_says_that_there_is_nothing_to_draw(spec):
    empty = replace(
        call(spec, survey(), survey()), value=math.nan, parts=None, tables={}, figures={}, notes=("Because.",)
    )
    with pytest.raises(sdc.SdcError, match="to draw"):
        empty.chart()
