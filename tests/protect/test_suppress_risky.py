"""suppress_risky: records above the threshold end below it, and nobody else goes above."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from naive_suppression import alone_on_shown_keys
from sdckit.data.key_cells import key_codes
from sdckit.errors import DataError, OptionError
from sdckit.protect import _lending
from sdckit.protect._lenders import Lenders


def risks(data, missing="category"):
    return sdc.risk.individual_risk(data, missing=missing).parts["risk"].to_numpy()


def plain(data, order, threshold):
    """Key by key, a blank matching any value: measure, blank where above, measure again."""
    for key in order:
        high = risks(data, "wildcard") > threshold
        values = [None if h else v for v, h in zip(data.frame[key], high, strict=True)]
        column = pl.Series(key, values, dtype=data.frame[key].dtype)
        data = data.with_frame(data.frame.with_columns(column))
    return data.frame


def small(n, seed):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({key: rng.integers(0, 3, n) for key in "abc"} | {"w": rng.uniform(1, 30, n)})
    return sdc.read(frame, keys=list("abc"), weight="w")


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 40),
    seed=st.integers(0, 999),
    threshold=st.sampled_from([0.01, 0.1, 0.34, 0.6]),
    variables=st.sampled_from(["b", "ba", "cab"]),
)
def test_only_blanks_no_new_risks_and_an_honest_log(n, seed, threshold, variables):
    data = small(n, seed)
    try:
        done = sdc.protect.suppress_risky(data, variables=list(variables), threshold=threshold, seed=seed)
    except DataError:  # no key value would be left
        assert len(variables) == 3
        return
    before, after = risks(data), risks(done)
    figures = done.log[-1].figures
    assert not ((before <= threshold) & (after > threshold)).any()
    assert (after <= np.maximum(before, threshold) + 1e-12).all()
    assert figures["above_before"] == (before > threshold).sum()
    assert figures["above_after"] == (after > threshold).sum()
    assert figures["cells_suppressed"] == sum(done.frame[k].null_count() for k in "abc")
    touched = done.frame.select(pl.any_horizontal(pl.col(list(variables)).is_null())).to_series().to_numpy()
    assert figures["records_touched"] == touched.sum()
    assert figures["records_lent"] == (touched & (before <= threshold)).sum()
    for key in "abc":
        kept = done.frame[key].is_not_null()
        assert key in variables or kept.all()
        assert done.frame[key].filter(kept).equals(data.frame[key].filter(kept))


@settings(max_examples=30, deadline=None)
@given(n=st.integers(2, 25), seed=st.integers(0, 999), threshold=st.sampled_from([0.01, 0.1, 0.34, 0.6]))
def test_by_the_wildcard_rule_the_same_as_step_by_step(n, seed, threshold):
    data = small(n, seed)
    done = sdc.protect.suppress_risky(data, variables=["b", "a"], threshold=threshold, missing="wildcard")
    assert done.frame.equals(plain(data, "ba", threshold))
    assert done.log[-1].figures["above_after"] == (risks(done, "wildcard") > threshold).sum()
    assert done.log[-1].figures["records_lent"] == 0


def test_without_weights_a_third_is_three_records(survey):
    keys = ["region", "sex", "age"]
    data = sdc.read(survey.frame.select(keys), keys=keys)
    done = sdc.protect.suppress_risky(data, variables=["age", "region", "sex"], threshold=1 / 3)
    assert done.log[-1].figures["above_before"] > 0 == done.log[-1].figures["above_after"]
    assert alone_on_shown_keys(key_codes(done.frame, keys)) == 0
    assert done.frame.group_by(keys).len()["len"].min() >= 3


def test_a_rare_value_is_hidden_among_others_or_not_at_all():
    """One man among nine women: three shown without sex are alike; of two records none can hide the other."""
    data = sdc.read(pl.DataFrame({"sex": ["f"] * 9 + ["m"], "region": ["a"] * 10}), keys=["sex", "region"])
    done = sdc.protect.suppress_risky(data, variables="sex", threshold=0.34)
    assert done.frame["sex"].null_count() == 3
    assert done.frame["sex"][9] is None
    wild = sdc.protect.suppress_risky(data, variables="sex", threshold=0.34, missing="wildcard")
    assert wild.frame["sex"].null_count() == 1  # the only one without a sex: found at once
    few = sdc.read(pl.DataFrame({"sex": ["f", "m"], "region": ["a", "b"]}), keys=["sex", "region"])
    assert sdc.protect.suppress_risky(few, variables="sex", threshold=0.5).frame["sex"].null_count() == 0


def test_nothing_to_do_and_mistakes(survey):
    calm = sdc.protect.suppress_risky(survey, threshold=0.999)
    assert calm.frame.equals(survey.frame)
    assert calm.log[-1].figures["cells_suppressed"] == 0
    with pytest.raises(OptionError, match=r"Only keys can be suppressed for their risk. Given: income"):
        sdc.protect.suppress_risky(survey, variables="income")
    with pytest.raises(OptionError, match=r"cannot help when a missing value matches nothing"):
        sdc.protect.suppress_risky(survey, missing="nothing")


def test_more_lenders_are_fetched_where_too_few_were(monkeypatch):
    """By bad luck the first records asked for may not suffice: the file is the same as if all were."""
    rng = np.random.default_rng(4)
    keys = {"a": rng.binomial(2, 0.05, 4000), "b": rng.binomial(40, 0.1, 4000), "c": [1] * 4000}
    data = sdc.read(pl.DataFrame(keys), keys=list("abc"))
    asked = []
    real = Lenders.fetch

    def counted(self, limit, step, drawn):
        asked.append(float(limit.max()))
        return real(self, limit, step, drawn)

    monkeypatch.setattr(Lenders, "fetch", counted)
    options = {"variables": ["a", "b"], "threshold": 0.03, "seed": 1}
    monkeypatch.setattr(_lending, "_likely_need", lambda together, size, weight, threshold: size)
    want = sdc.protect.suppress_risky(data, **options)
    assert asked[0] == 1.0
    assert want.log[-1].figures["records_lent"] > 0 == want.log[-1].figures["above_after"]
    asked.clear()
    monkeypatch.setattr(_lending, "_likely_need", lambda together, size, weight, threshold: size * 0)
    assert sdc.protect.suppress_risky(data, **options).frame.equals(want.frame)
    assert asked[0] < 1
    assert len(asked) > 2
