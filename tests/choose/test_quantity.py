"""The numbers on the axes of the risk–utility map, and what they are called."""

import polars as pl

from sdckit.choose.compare import compare
from sdckit.choose.evaluator import combine
from sdckit.choose.quantity import Quantity
from sdckit.cli._show import axis
from sdckit.data.microdata import Microdata


def test_the_title_of_an_axis_fits_its_number():
    turned, plain = Quantity.named("l_diversity"), Quantity.named("frequencies")
    assert combine({"l_diversity": 2.0}, {"l_diversity": 1.0}) == turned.normalised(2.0) == 0.5
    assert turned.axis_unit == "as a risk from 0 to 1"
    assert combine({"frequencies": 0.2}, {"frequencies": 1.0}) == 0.2
    assert plain.axis_title == f"{plain.title}, share of records"
    assert Quantity.named("indicators").axis_unit == "as a loss from 0 to 1"
    assert axis({"l_diversity": 1.0}) == "l_diversity, as a risk from 0 to 1"
    assert axis({"frequencies": 1.0}) == "frequencies, share of records"


def test_the_chart_of_a_map_names_a_measure_that_was_turned_round():
    frame = pl.DataFrame({"key": list("aabbb"), "ill": list("xyxyz"), "income": [1.0, 2.0, 3.0, 4.0, 5.0]})
    data = Microdata.of(frame, keys="key", sensitive="ill", numeric="income")
    found = compare(data, {"k2": [{"microaggregate": {"k": 2}}]}, risk="l_diversity")
    assert found.original.risk == Quantity.named("l_diversity").normalised(2)
    drawn = str(found.chart().to_dict())
    assert "as a risk from 0 to 1" in drawn
    assert f"Original file: risk {found.original.risk:.3g}," in drawn
