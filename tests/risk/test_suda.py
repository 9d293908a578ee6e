"""SUDA against stored results, by hand and against every record on every set of keys."""

from math import comb, factorial

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import sdckit as sdc
from conftest import oracle_cases
from naive_suda import minimal_uniques_of_records
from sdckit.charts import static_svg
from sdckit.errors import OptionError
from sdckit.risk.suda import score_classes

# ten records of the handbooks: residence, gender, education, labour
TEN = [
    ("urban", "f", "secondary incomplete", "employed"),
    ("urban", "f", "secondary incomplete", "employed"),
    ("urban", "f", "primary incomplete", "non-LF"),
    ("urban", "m", "secondary complete", "employed"),
    ("rural", "f", "secondary complete", "unemployed"),
    ("urban", "m", "secondary complete", "employed"),
    ("urban", "f", "primary complete", "non-LF"),
    ("urban", "m", "post-secondary", "unemployed"),
    ("urban", "f", "secondary incomplete", "non-LF"),
    ("urban", "f", "secondary incomplete", "non-LF"),
]


def ten() -> sdc.Microdata:
    names = ["Residence", "Gender", "Education", "Labour"]
    return sdc.read(pl.DataFrame(TEN, schema=names, orient="row"), keys=names)


@pytest.mark.parametrize(
    ("scoring", "scores", "dis"),
    [
        ("original", [6, 12, 6, 10], [0.004986798, 0.011383007, 0.004986798, 0.009166679]),
        ("scaled", [1.75, 3.25, 1.75, 2.75], [0.005120313, 0.010702061, 0.005120313, 0.008775093]),
    ],
)
def test_worked_example(scoring, scores, dis):
    result = sdc.risk.suda(ten(), scoring=scoring)
    parts = result.parts.filter(pl.col("score") > 0)
    assert parts["record"].to_list() == [2, 4, 6, 7]
    assert parts["score"].to_list() == pytest.approx(scores, rel=1e-12)
    assert parts["dis_score"].to_list() == pytest.approx(dis, abs=1e-8)
    assert result.tables["sizes"]["minimal_uniques"].to_list() == [4, 5, 0, 0]
    assert result.value == 0.4


@pytest.mark.parametrize("case", oracle_cases("03a", lambda c: "suda" in c["id"]))
def test_stored_results(oracles, case):
    keys, expected, params = case["inputs"]["variables"], case["expected"], case["params"]
    result = sdc.risk.suda(
        oracles.data(case["dataset"], keys=keys),
        scoring="original" if params["original_scores"] else "scaled",
        dis_fraction=params["DisFraction"],
        missing="nothing",
    )
    stored = oracles.frame(expected["per_record_csv"])
    np.testing.assert_allclose(result.parts["score"], stored["score_definition"], rtol=1e-9)
    np.testing.assert_allclose(result.parts["dis_score"], stored["dis_definition"], rtol=1e-9)
    assert result.figures["scored_records"] == expected["n_positive"]
    assert result.figures["unique_records"] == expected["n_sample_unique"]
    assert result.figures["sum_dis"] == pytest.approx(expected["sum_dis_definition"], rel=1e-9)
    assert result.tables["sizes"]["minimal_uniques"].to_list() == expected["n_msu_by_size"]
    contributions = expected["attribute_contributions_definition"]
    shares = dict(result.tables["contributions"].rows())
    assert shares == pytest.approx({key: contributions[key] / 100 for key in keys}, rel=1e-9)


@st.composite
def files(draw):
    keys = draw(st.integers(1, 4))
    value = st.sampled_from(draw(st.sampled_from([[0], [0, 1], [-1, 0, 1, 2]])))
    rows = st.lists(st.lists(value, min_size=keys, max_size=keys), min_size=1, max_size=15)
    return draw(rows.filter(lambda found: any(v >= 0 for row in found for v in row)))


@settings(max_examples=60, deadline=None)
@given(rows=files(), missing=st.sampled_from(["wildcard", "category", "nothing"]))
def test_scores_and_contributions_of_the_naive_twin(rows, missing):
    q = len(rows[0])
    seen = [[v + 1 for v in row] for row in rows] if missing == "category" else rows
    found = minimal_uniques_of_records(seen, q, missing == "wildcard")
    scores = [sum(factorial(q - len(s)) for s in sets) for sets in found]
    names = ["records", "count", "<b>", "score"][:q]  # names we use ourselves, or that need care
    frame = pl.DataFrame(
        [[None if v == -1 else v for v in row] for row in rows],
        schema=dict.fromkeys(names, pl.Int64),
        orient="row",
    )
    result = sdc.risk.suda(sdc.read(frame, keys=names), missing=missing)
    assert result.parts["score"].to_list() == scores
    assert result.value == pytest.approx(np.mean([s > 0 for s in scores]))
    for key, share in enumerate(result.tables["contributions"]["contribution"]):
        with_key = sum(factorial(q - len(s)) for sets in found for s in sets if key in s)
        assert share == pytest.approx(with_key / sum(scores) if sum(scores) else 0)
    assert result.tables["scores"]["records"].sum() == sum(s > 0 for s in scores)


def test_largest_size_leaves_larger_ones_out_and_shortens_the_product():
    result = sdc.risk.suda(ten(), max_size=1)
    # only residence (record 4) and education (records 2, 6, 7), each worth 4 − 1
    assert result.parts["score"].to_list() == [0, 0, 3, 0, 3, 0, 3, 3, 0, 0]
    assert result.tables["sizes"].rows() == [(1, 4)]
    assert_frame_equal(sdc.risk.suda(ten(), max_size=9).parts, sdc.risk.suda(ten()).parts)


def test_a_record_unique_on_all_keys_only():
    rows = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    data = sdc.read(pl.DataFrame(rows, schema=["a", "b", "c"], orient="row"), keys=["a", "b", "c"])
    assert sdc.risk.suda(data).parts["score"].to_list() == [1] * 8
    assert sdc.risk.suda(data, scoring="scaled").value == 0
    assert sdc.risk.suda(data, max_size=2).value == 0


def test_without_pairs_every_dis_score_is_one_and_a_note_says_so():
    data = sdc.read(pl.DataFrame({"a": [1, 2, 3], "b": [1, 1, 2]}), keys=["a", "b"])
    result = sdc.risk.suda(data)
    assert result.parts["dis_score"].to_list() == [1, 1, 1]
    assert any("every DIS score is 1" in note for note in result.notes)


def test_dis_grows_with_the_score_and_with_the_fraction():
    low, high = (sdc.risk.suda(ten(), dis_fraction=f).parts for f in (0.01, 0.1))
    ordered = low.filter(pl.col("score") > 0).sort("score")["dis_score"]
    assert ordered.is_sorted()
    scored = low["score"] > 0
    assert (high["dis_score"] > low["dis_score"]).filter(scored).all()
    assert sdc.risk.suda(ten(), dis_fraction=1).parts["dis_score"].filter(scored).to_list() == [1] * 4


def test_missing_keys_under_each_rule():
    data = sdc.read(pl.DataFrame({"a": [1, 1, 2, None], "b": [1, 1, 2, 3]}), keys=["a", "b"])
    scores = {rule: sdc.risk.suda(data, missing=rule).parts["score"].to_list() for rule in sdc.Missing}
    assert scores["nothing"] == [0, 0, 2, 1]  # record 2 on a and on b, the last one on b
    assert scores["wildcard"] == [0, 0, 1, 1]  # record 2 on b only: the last one may have its a
    assert scores["category"] == [0, 0, 2, 2]
    assert "1 record has a missing key" in sdc.risk.suda(data).notes[0]


@pytest.mark.parametrize("keys", [14, 30])
def test_many_keys_with_few_at_a_time(keys):
    rng = np.random.default_rng(keys)
    frame = pl.DataFrame(rng.integers(0, 5, (200, keys)), schema=[f"k{i}" for i in range(keys)])
    result = sdc.risk.suda(sdc.read(frame, keys=frame.columns), max_size=2, scoring="scaled")
    per_pair = (2 ** (keys - 2) - 1) / comb(keys, 2)
    found = result.tables["sizes"]["minimal_uniques"].to_list()
    assert found[0] == 0
    assert result.parts["score"].sum() == pytest.approx(found[1] * per_pair)
    assert any("28 keys" in note for note in result.notes) == (keys == 30)


@pytest.mark.parametrize(
    ("scores", "records"),
    [([0, 1, 1.5, 9], [2, 0, 0, 1]), ([0.3, 0, 0.3], [2]), ([0], []), ([1, 2.0**40], [1, *[0] * 12, 1])],
)
def test_classes_of_scores_have_no_gaps_and_are_few(scores, records):
    classes = score_classes(np.array(scores, dtype=float))
    assert classes["records"].to_list() == records
    assert classes["from"][1:].to_list() == classes["below"][:-1].to_list()
    for score in filter(None, scores):
        assert classes.filter((pl.col("from") <= score) & (score < pl.col("below")))["records"].item() > 0


def test_too_many_keys_are_refused():
    frame = pl.DataFrame({f"k{i}": [1, 2] for i in range(63)})
    with pytest.raises(OptionError, match="fewer keys"):
        sdc.risk.suda(sdc.read(frame, keys=frame.columns))


def test_chart_shows_aggregates_and_copes_with_nothing_to_show():
    svg = static_svg(sdc.risk.suda(ten()).chart(), "suda", "")
    assert "Education: 64.7" in svg.replace("\N{NO-BREAK SPACE}", " ")
    assert "score 4 to below 8: 2 records" in svg
    same = sdc.read(pl.DataFrame({"<script>": [1, 1]}), keys="<script>")
    assert "<script>" not in static_svg(sdc.risk.suda(same).chart(), "none", "")
