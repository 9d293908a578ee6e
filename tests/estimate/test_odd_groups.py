"""Empty groups, missing values, zeros and huge numbers: never an error of Python, nan always with a note."""

import math
import warnings

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.errors import OptionError

GAP = {"group": "g", "reference": "a"}
EVERY = [
    *("mean", "total", "median", "gini", "s80s20", "poverty_rate", "poverty_threshold", "poverty_gap"),
    *("fgt0", "fgt1", "fgt2", lambda x, w: float(x @ w)),
    {"pay_gap": [GAP, {**GAP, "statistic": "median"}]},
    {"proportion": {"category": "a", "variable": "g"}, "ratio": {"denominator": "y"}},
    {"s80s20": {"ties": "split"}, "poverty_gap": {"of": "mean"}, "quantile": {"p": 0.3, "average": True}},
    {"poverty_rate": {"fixed_line": 0.0}, "poverty_gap": {"fixed_line": 1e200}},
]
NUMBERS = st.sampled_from([None, 0.0, -1.0, 1.0, 1.0, 2.5, 1e200, -1e308, 1e308])
RECORD = st.tuples(
    NUMBERS,
    NUMBERS,
    st.sampled_from(["a", "b", None]),
    st.sampled_from(["u", "v", None]),
    st.sampled_from([1.0, 3.0]),
    st.integers(0, 2),
)
TYPES = {
    "x": pl.Float64, "y": pl.Float64, "g": pl.String, "d": pl.String, "w": pl.Float64, "h": pl.Int64,
}  # fmt: skip


def file(records) -> sdc.Microdata:
    frame = pl.DataFrame(records, schema=TYPES, orient="row")
    return sdc.read(frame, numeric="x", weight="w", strata="h")


@settings(max_examples=150, deadline=None)
@given(
    st.lists(RECORD, min_size=1, max_size=8),
    st.lists(st.lists(RECORD, min_size=1, max_size=8), min_size=1, max_size=3),
    st.sampled_from(EVERY),
    st.fixed_dictionaries(
        {
            "variance": st.sampled_from(["taylor", "bootstrap", "rescaled", "calibrated"]),
            "interval": st.sampled_from(["normal", "percentile"]),
            "synthesis": st.sampled_from(["partial", "full"]),
        }
    ),
)
def test_odd_files_give_numbers_or_nan_with_a_note(first, others, wanted, options):
    if options["variance"] == "taylor":
        options["interval"] = "normal"
    files = file(first), [file(one) for one in others]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = sdc.utility.indicators(*files, indicators=wanted, by="d", replicates=5, **options)
        except OptionError as error:
            met = str(error)
        else:
            met = ""
    if met:
        assert "has no category 'a'" in met
        return
    if math.isnan(result.value):
        assert result.notes
    else:
        assert 0 <= result.value <= 1
