"""What no report shows."""

import polars as pl

from sdckit.data.microdata import Microdata
from sdckit.report.disclosure import clean, visible


def test_control_characters_are_replaced():
    assert clean({"a\x00": ["\x1b[31m", 3, None, "tab\t"]}) == {"a�": ["�[31m", 3, None, "tab\t"]}


def test_a_direct_identifier_of_either_file_is_not_named():
    frame = pl.DataFrame({"name": ["x"], "phone": ["y"], "sex": ["f"]})
    first, second = (Microdata.of(frame, direct=direct) for direct in ("name", "phone"))
    assert visible(first, second) == ("sex",)
