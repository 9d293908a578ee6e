"""records_changed, contingency_loss, entropy and entropy_loss: stored results, by hand, and properties."""

import math
from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from conftest import oracle_cases
from sdckit.errors import OptionError

ROW = st.tuples(st.sampled_from(["x", "y", "z", None]), st.sampled_from([1, 2, None]), st.integers(1, 3))


def files(rows, others, weight="w"):
    """Two files with keys a, b and weight w; values of the second from `others`."""
    schema = {"a": pl.String, "b": pl.Int64, "w": pl.Int64}
    frames = [pl.DataFrame(r, schema=schema, orient="row") for r in (rows, others)]
    anchor = pl.DataFrame([("x", 1, 1)], schema=schema, orient="row")  # so that no key is all missing
    data = sdc.read(pl.concat([frames[0], anchor]), keys=["a", "b"], weight=weight)
    return data, data.with_frame(pl.concat([frames[1], anchor]))


pairs = st.lists(st.tuples(ROW, ROW), min_size=1, max_size=12).map(
    lambda both: ([p[0] for p in both], [(*p[1][:2], p[0][2]) for p in both])
)
MEASURES = ["records_changed", "contingency_loss", "contingency_tables", "entropy", "entropy_loss"]


@pytest.mark.parametrize("case", oracle_cases("06", lambda c: c["id"].startswith("entropy_")))
def test_stored_entropies(oracles, case):
    column, expected = case["inputs"]["variable"], case["expected"]
    data = sdc.read(oracles.frame("eusilc").select(column), keys=column)
    for rule, name in (("whole", "entropy_seed"), ("complete", "entropy_complete_cases")):
        parts = sdc.utility.entropy(data, data, missing=rule).parts
        assert parts["original"][0] == pytest.approx(expected[name], rel=1e-9)


@pytest.mark.parametrize("case", oracle_cases("06", lambda c: c["id"].startswith("pram_")))
def test_stored_table_changes(oracles, case):
    inputs, expected = case["inputs"], case["expected"]
    original = oracles.frame("eusilc")
    column = oracles.frame(case["dataset"]["perturbed_column_csv"])
    protected = original.with_columns(column[column.columns[-1]].alias(inputs["pram_var"]))
    data = sdc.read(original, keys=inputs["table_vars"])
    loss = sdc.utility.contingency_loss(data, data.with_frame(protected), order=len(inputs["table_vars"]))
    whole = loss.parts.filter(pl.col("table") == " × ".join(inputs["table_vars"]))
    assert whole["change"][0] == expected["CTBIL_absolute_sum"]
    changed = sdc.utility.records_changed(data, data.with_frame(protected), variables=inputs["pram_var"])
    assert changed.figures["values_changed"] == expected["n_changed"]


@pytest.mark.parametrize("case", oracle_cases("06", lambda c: c["id"] == "missing_and_changed"))
def test_stored_records_changed(oracles, case):
    variables = case["inputs"]["variables"]
    data = sdc.read(oracles.frame("eusilc"), keys=variables)
    changed = oracles.frame(case["dataset"]["y_csv"]).select(variables)
    parts = sdc.utility.records_changed(data, data.with_frame(data.frame.with_columns(changed))).parts
    assert dict(zip(parts["variable"], parts["changed"], strict=True)) == case["expected"]["records_changed"]


@settings(max_examples=40, deadline=None)
@given(both=pairs)
def test_integer_weights_are_duplication(both):
    data, other = files(*both)
    twin = [d.with_frame(d.frame.select(pl.all().repeat_by("w").explode())) for d in (data, other)]
    plain = [d.with_roles(weight=None) for d in twin]
    for name in MEASURES[1:]:
        measure = getattr(sdc.utility, name)
        assert measure(data, other).value == pytest.approx(measure(*plain).value, rel=1e-9, abs=1e-12), name


@settings(max_examples=40, deadline=None)
@given(both=pairs)
def test_duplicating_all_records_changes_no_share(both):
    data, other = files(*both)
    twice = [d.with_frame(pl.concat([d.frame, d.frame])) for d in (data, other)]
    for name in ("records_changed", "contingency_loss", "entropy"):
        measure = getattr(sdc.utility, name)
        assert measure(data, other).value == pytest.approx(measure(*twice).value, rel=1e-9, abs=1e-12), name


@settings(max_examples=40, deadline=None)
@given(both=pairs)
def test_symmetric_measures_are_symmetric(both):
    data, other = files(*both)
    for name in ("records_changed", "contingency_loss", "entropy"):
        measure = getattr(sdc.utility, name)
        assert measure(data, other).value == pytest.approx(measure(other, data).value, abs=1e-12), name


def test_nothing_is_lost_where_nothing_was_done():
    data = sdc.read(
        pl.DataFrame({"a": ["x", "y", None, "z"], "s": ["u", "u", "v", "v"]}), keys="a", sensitive="s"
    )
    same, counted = (sdc.utility.entropy_loss(data, other) for other in (data, data.with_frame(data.frame)))
    assert same.value == counted.value == 0
    assert same.figures == counted.figures
    assert same.parts.equals(counted.parts)
    moved = {"s": {"u": {"u": 0.5, "v": 0.5}, "v": {"u": 0.5, "v": 0.5}}}
    known = sdc.utility.entropy_loss(data, data, transitions=moved)
    assert known.value == pytest.approx(4 * math.log(2))  # by the probabilities, whatever was drawn


def test_entropy_loss_is_of_keys_and_sensitive_categories():
    frame = pl.DataFrame({"a": list("xyxy"), "s": list("uuvv"), "n": [1.0, 2, 3, 4], "o": list("pqrs")})
    data = sdc.read(frame, keys="a", sensitive=["s", "n"], numeric="n")
    blank = data.with_frame(frame.with_columns(a=pl.lit("x")))
    result = sdc.utility.entropy_loss(data, blank)
    assert result.parts.select("variable", "share").rows() == [("a", 1.0), ("s", 0.0)]
    assert result.figures["share"] == 0.5
    assert sdc.utility.entropy_loss(data, blank, variables=["a"]).figures["share"] == 1


@settings(max_examples=40, deadline=None)
@given(both=pairs)
def test_entropy_loss_is_the_sum_over_records(both):
    data, other = files(*both, weight=None)
    total = 0.0
    for column in ("a", "b"):
        x, y = data.frame[column].to_list(), other.frame[column].to_list()
        for seen in y:
            given_seen = Counter(v for v, u in zip(x, y, strict=True) if u == seen)
            n = sum(given_seen.values())
            total -= sum(c / n * math.log(c / n) for c in given_seen.values())
    assert sdc.utility.entropy_loss(data, other).value == pytest.approx(total, abs=1e-9)


def test_disjoint_categories_give_the_most():
    data = sdc.read(pl.DataFrame({"a": ["x", "y"], "b": ["x", "y"]}), keys=["a", "b"])
    other = data.with_frame(pl.DataFrame({"a": ["u", "v"], "b": ["u", "v"]}))
    assert sdc.utility.contingency_loss(data, other).value == 1
    assert sdc.utility.records_changed(data, other).value == 1


def test_known_transition_matrix():
    data = sdc.read(pl.DataFrame({"a": ["x", "x", "y", "y"]}), keys="a")
    other = data.with_frame(pl.DataFrame({"a": ["x", "y", "y", "y"]}))
    coin = {"x": {"x": 0.5, "y": 0.5}, "y": {"x": 0.5, "y": 0.5}}
    result = sdc.utility.entropy_loss(data, other, transitions={"a": coin})
    assert result.value == pytest.approx(4 * math.log(2))
    assert result.figures["share"] == pytest.approx(1)
    sure = {"x": {"x": 1.0}, "y": {"y": 1.0}}
    assert sdc.utility.entropy_loss(data, other, transitions={"a": sure}).value == 0
    with pytest.raises(OptionError, match=r"lack a category. Given: y"):
        sdc.utility.entropy_loss(data, other, transitions={"a": {"x": {"x": 1.0}}})
    with pytest.raises(OptionError, match=r"not compared. Given: b"):
        sdc.utility.entropy_loss(data, other, transitions={"b": coin})


def test_recoding_loses_the_detail_within_the_new_categories():
    data = sdc.read(pl.DataFrame({"age": list(range(10)) * 10}), keys="age")
    recoded = sdc.protect.recode(data, variable="age", width=5)
    result = sdc.utility.entropy_loss(data, recoded)
    assert result.figures["per_record"] == pytest.approx(math.log(5))
    assert result.figures["share"] == pytest.approx(math.log(5) / math.log(10))
    assert sdc.utility.entropy(data, recoded).parts["loss"][0] == pytest.approx(math.log(5))


def test_files_of_different_length():
    data = sdc.read(pl.DataFrame({"a": ["x", "y", "y", "y"]}), keys="a")
    half = data.with_frame(data.frame.head(2))
    assert sdc.utility.contingency_loss(data, half).figures["raw"] == 2
    assert sdc.utility.entropy(data, half).parts["protected"][0] == pytest.approx(math.log(2))
