"""suppress_risky: blanks only in records above the threshold, keys in the order given."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.errors import OptionError


def risks(data, missing="wildcard"):
    return sdc.risk.individual_risk(data, missing=missing).parts["risk"].to_numpy()


def plain(data, order, threshold, missing):
    """Key by key: measure, blank where above, measure again."""
    for key in order:
        high = risks(data, missing) > threshold
        values = [None if h else v for v, h in zip(data.frame[key], high, strict=True)]
        column = pl.Series(key, values, dtype=data.frame[key].dtype)
        data = data.with_frame(data.frame.with_columns(column))
    return data.frame


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 25),
    seed=st.integers(0, 999),
    threshold=st.sampled_from([0.01, 0.1, 0.34, 0.6]),
    missing=st.sampled_from(["wildcard", "category"]),
)
def test_the_same_as_step_by_step(n, seed, threshold, missing):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({key: rng.integers(0, 3, n) for key in "abc"} | {"w": rng.uniform(1, 30, n)})
    data = sdc.read(frame, keys=list("abc"), weight="w")
    done = sdc.protect.suppress_risky(data, variables=["b", "a"], threshold=threshold, missing=missing)
    assert done.frame.equals(plain(data, "ba", threshold, missing))
    figures = done.log[-1].figures
    assert figures["above_before"] == (risks(data, missing) > threshold).sum()
    assert figures["above_after"] == (risks(done, missing) > threshold).sum()
    assert figures["cells_suppressed"] == sum(done.frame[k].null_count() for k in "abc")
    assert (
        figures["records_touched"]
        == done.frame.select(pl.any_horizontal(pl.col("a", "b").is_null()).sum()).item()
    )
    assert done.frame["c"].equals(frame["c"])


def test_a_chosen_key_in_the_survey(survey):
    done = sdc.protect.suppress_risky(survey, variables="age", threshold=0.0003)
    high = risks(survey) > 0.0003
    assert high.any()
    assert done.frame["age"].is_null().to_list() == (high | survey.frame["age"].is_null().to_numpy()).tolist()
    assert done.log[-1].figures["above_after"] < done.log[-1].figures["above_before"]


def test_nothing_to_do_and_mistakes(survey):
    calm = sdc.protect.suppress_risky(survey, threshold=0.999)
    assert calm.frame.equals(survey.frame)
    assert calm.log[-1].figures["cells_suppressed"] == 0
    with pytest.raises(OptionError, match=r"Only keys can be suppressed for their risk. Given: income"):
        sdc.protect.suppress_risky(survey, variables="income")
    with pytest.raises(OptionError, match=r"cannot help when a missing value matches nothing"):
        sdc.protect.suppress_risky(survey, missing="nothing")
