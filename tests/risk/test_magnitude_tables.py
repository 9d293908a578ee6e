"""magnitude_tables: the rules by hand and by loops, holdings, weights, signs, zeros, and the attack."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from naive_contributions import judged
from sdckit.errors import ColumnError, DataError, OptionError

RECORD = st.tuples(
    st.sampled_from("abc"),
    st.sampled_from(["g", "h", None, None]),
    st.sampled_from([None, 0, 1, 2, 5, 10, 50, 100, -20]),
)


def read(cells, values, **more):
    frame = pl.DataFrame({"cell": cells, "x": values, **more})
    roles = {"weight": "w"} if "w" in more else {}
    return sdc.read(frame, keys="cell", numeric="x", **roles)


def measured(*args, by="cell", options=(), **more):
    return sdc.risk.magnitude_tables(read(*args, **more), by=by, **dict(options))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(RECORD, min_size=1, max_size=20),
    st.sampled_from([5.0, 10.0, 30.0]),
    st.integers(1, 3),
    st.sampled_from([60.0, 75.0, 90.0]),
    st.booleans(),
)
def test_as_the_plain_twin(records, p, n, k, weighted):
    weight = {None: 1, "g": 2, "h": 3} if weighted else {None: 1, "g": 1, "h": 1}
    records = [*records, ("a", None, 7)]
    rows = [(c, h, v, weight[h]) for c, h, v in records]
    data = read(
        [r[0] for r in rows],
        [None if r[2] is None else float(r[2]) for r in rows],
        group=pl.Series([r[1] for r in rows], dtype=pl.String),
        w=[float(r[3]) for r in rows],
    )
    result = sdc.risk.magnitude_tables(data, by="cell", p=p, n=n, k=k, holding="group", rule="either")
    expected = judged(rows, p, n, k, 3)
    assert set(result.parts["cell"]) == set(expected)
    for row in result.parts.iter_rows(named=True):
        total, error, *rules = expected[row["cell"]]
        assert row["total"] == pytest.approx(total)
        assert row["error"] == (None if error is None else pytest.approx(error, abs=1e-9))
        assert [row["p_percent"], row["dominance"], row["few_contributors"]] == rules
        assert row["sensitive"] == any(rules)
    counted = [rules for total, _, *rules in expected.values() if total > 0]
    assert result.figures["cells"] == len(counted)
    assert result.value == pytest.approx(np.mean([any(rules) for rules in counted]))


def test_by_hand():
    # a: 100 − 80 − 15 = 5 < 8; b: 105 − 40 − 35 = 30 ≥ 4; c: one firm; d: nothing
    result = measured([*"aaaabbbcdd"], [80.0, 15, 3, 2, 40, 35, 30, 7, 0, 0])
    assert result.parts["p_percent"].to_list() == [True, False, True, False]
    assert result.parts["dominance"].to_list() == [True, False, True, False]  # 95 %, 71 %, 100 %
    assert result.parts["few_contributors"].to_list() == [False, False, True, False]
    assert result.value == 2 / 3
    assert (result.figures["cells"], result.figures["zero_cells"]) == (3, 1)
    assert result.figures["smallest_error"] == 0
    assert result.figures["sensitive_total"] == pytest.approx(107 / 212)


def test_the_smallest_numbers_have_their_rules_too():
    frame = pl.DataFrame({"c": ["a"] * 4, "x": [1e-310, 1e-314, 1e-314, 1e-314]})
    cell = sdc.risk.magnitude_tables(sdc.read(frame, keys="c", numeric="x"), by="c").parts.row(0, named=True)
    assert cell["p_percent"]
    assert cell["sensitive"]


def test_the_limit_itself_is_not_sensitive():
    exact = measured([*"aaa"], [100.0, 20.0, 10.0])  # 10 is 10 % of 100
    assert exact.value == 0
    assert measured([*"aaa"], [100.0, 20.0, 9.99]).value == 1
    share = measured([*"aaaa"], [50.0, 35.0, 10.0, 5.0], options={"rule": "dominance"})  # 85 % exactly
    assert share.value == 0


def test_the_second_largest_contributor_finds_what_the_rule_says():
    rng = np.random.default_rng(1)
    cells, values = rng.integers(0, 40, 300).astype(str), np.exp(rng.normal(3, 2, 300))
    result = measured(cells, values, options={"p": 25, "contributors": 1})
    for row in result.parts.iter_rows(named=True):
        own = np.sort(values[cells == row["cell"]])[::-1]
        if len(own) == 1:
            assert row["p_percent"]
            continue
        attackers = [
            abs((own.sum() - own[j]) - own[i]) / own[i]
            for i in range(len(own))
            for j in range(len(own))
            if i != j
        ]
        assert row["error"] == pytest.approx(min(attackers))  # nobody does better for any target
        assert row["p_percent"] == (min(attackers) < 0.25)


def test_the_weights_of_the_argus_manual():
    result = measured([*"aa"], [100.0, 10.0], w=[4.0, 7.0], options={"contributors": 1, "n": 2, "k": 40})
    row = result.parts.row(0, named=True)
    assert row["total"] == pytest.approx(470)
    assert row["largest_share"] == pytest.approx(100 / 470)
    assert row["error"] == pytest.approx(2.7)
    assert row["dominance"]  # 200 of 470 are 42.6 %
    plain = measured([*"aa"], [100.0, 10.0], w=[4.0, 7.0], options={"weighted": False})
    assert plain.parts["total"][0] == pytest.approx(110)


def test_weights_that_are_not_whole_numbers():
    result = measured([*"aa"], [100.0, 50.0], w=[0.6, 2.0], options={"contributors": 1})
    row = result.parts.row(0, named=True)
    assert row["total"] == pytest.approx(160)
    assert row["largest_share"] == pytest.approx((60 + 20) / 160)
    assert row["error"] == pytest.approx((160 - 80 - 50) / 80)
    assert any("below 1" in note for note in result.notes)


def test_a_holding_contributes_as_one():
    cells, values = [*"aaaaa"], [30.0, 30.0, 30.0, 20.0, 5.0]
    apart = measured(cells, values)
    together = measured(cells, values, group=["g", "g", "g", None, None], options={"holding": "group"})
    assert (apart.value, together.value) == (0, 1)
    assert together.parts["contributors"][0] == 3  # two records without a group stand alone
    assert together.parts["error"][0] == pytest.approx(5 / 90)


def test_negative_values_count_by_their_size_and_cancel_only_within_a_holding():
    result = measured([*"aaa"], [-100.0, 60.0, 50.0])
    assert result.parts["total"][0] == 210
    assert result.parts["error"][0] == pytest.approx(0.5)
    held = measured([*"aaa"], [-100.0, 60.0, 50.0], group=["g", "g", "h"], options={"holding": "group"})
    assert held.parts["total"][0] == 90
    assert held.value == 1


def test_the_weight_of_a_holding_stays_within_those_of_its_records():
    # 100 − 99 = 1 and 100·1 − 99·3 = −197: not one unit of weight 197
    result = measured(
        [*"aaa"],
        [100.0, -99.0, 5.0],
        w=[1.0, 3.0, 1.0],
        group=["g", "g", None],
        options={"holding": "group", "contributors": 1, "n": 1, "k": 30},
    )
    row = result.parts.row(0, named=True)
    assert row["total"] == pytest.approx(197 + 5)
    assert row["largest_share"] == pytest.approx(197 / 3 / 202)
    none = measured([*"aa"], [7.0, -7.0], w=[1.0, 3.0], group=["g", "g"], options={"holding": "group"})
    assert none.parts["total"][0] == pytest.approx(14)  # nothing is left of the values, but of their estimate


def test_missing_values_and_several_columns_and_variables():
    frame = pl.DataFrame(
        {
            "a": ["x", "x", None, None],
            "b": [1, 1, 2, 2],
            "u": [5.0, None, 1.0, 1.0],
            "v": [1.0, 1.0, 1.0, 1.0],
        }
    )
    data = sdc.read(frame, keys=["a", "b"], numeric=["u", "v"])
    result = sdc.risk.magnitude_tables(data, by=["a", "b"], contributors=2)
    assert result.parts["cell"].to_list() == ["x × 1", "missing × 2"] * 2
    assert result.parts["contributors"].to_list() == [1, 2, 2, 2]
    assert result.tables["variables"]["variable"].to_list() == ["u", "v"]
    assert result.value == 1  # of two contributors each learns the other


def test_what_is_refused_and_what_has_no_number():
    data = read([*"aab"], [1.0, 2.0, 3.0])
    with pytest.raises(OptionError):
        sdc.risk.magnitude_tables(data)
    with pytest.raises(ColumnError):
        sdc.risk.magnitude_tables(data, by="town")
    with pytest.raises(OptionError):
        sdc.risk.magnitude_tables(data, by="cell", p=0)
    with pytest.raises(DataError, match="made of numbers"):
        sdc.risk.magnitude_tables(data, by="cell", variables=["cell"])
    none = measured([*"aab"], [0.0, 0.0, 0.0])
    assert math.isnan(none.value)
    assert none.notes
    huge = measured([*"aaa"], [1e308, 1e308, 1e308])
    assert huge.parts["p_percent"].to_list() == [False]


def test_it_is_measured_before_and_after_when_asked_for():
    data = sdc.demo.business(n=200, seed=1)
    noisy = sdc.protect.add_noise(data, rng=1)
    name = data.roles.keys[0]
    done = sdc.assess(data, noisy, measures=["magnitude_tables"], magnitude_tables={"by": [name]})
    assert 0 <= done.before["magnitude_tables"].value <= 1
    assert "magnitude_tables" in done.after
    left = sdc.assess(data, noisy, measures=["magnitude_tables"])
    assert "needs to be told by" in left.omitted[0].reason
