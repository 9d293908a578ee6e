"""Identification risk: stored results, the pair-by-pair twin, and what must and must not matter."""

from hashlib import md5

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sdckit as sdc
from conftest import oracle_cases
from naive_identification import identification
from sdckit.kernels.match_windows import count_in_windows, in_window
from sdckit.risk.identification_risk import identification_risk


def oracle_options(case) -> dict:
    params = case["params"]
    options = {"known": case["inputs"]["known_vars"], "synthesised": case["inputs"]["syn_vars"]}
    if params["type"] == "continuous":
        name = "relative_radius" if params["percentage"] else "radius"
        options[name] = dict(zip(options["synthesised"], params["radius"], strict=True))
    return options


@pytest.mark.parametrize("case", oracle_cases("01"))
def test_stored_results_of_r(case, oracles):
    data = sdc.read(oracles.path(case["dataset"]["original"]))
    sets = [sdc.read(oracles.path(name)) for name in case["dataset"]["synthetic"]]
    result, expected = identification_risk(data, sets, **oracle_options(case)), case["expected"]
    assert result.value == pytest.approx(expected["mean_exp_match_risk"], rel=1e-12)
    for figure, name in (
        ("expected_match_risk", "exp_match_risk"),
        ("true_match_rate", "true_match_rate"),
        ("false_match_rate", "false_match_rate"),
        ("unique_matches", "s"),
    ):
        assert result.figures[figure] == pytest.approx(expected[f"mean_{name}"], rel=1e-12), figure
        assert result.tables["sets"][figure].to_list() == pytest.approx(expected[f"{name}_vector"])
    assert result.tables["sets"]["without_match"].to_list() == expected["n_c_zero"]
    for number in range(len(sets)):
        one = result.parts.filter(pl.col("set") == number + 1)
        assert md5(",".join(map(str, one["c"])).encode()).hexdigest() == expected["c_md5"][number]
        assert one["k"].sum() == expected["sum_K"][number]
        assert one["f"].sum() == expected["sum_F"][number]
        assert one["t"].sum() == expected["n_T1_c_positive"][number]  # T = 0 where c = 0


@pytest.mark.parametrize("case", oracle_cases("01", lambda c: c["id"].startswith("ce_edge")))
def test_the_closed_interval_is_not_the_open_one_of_the_r_package(case, oracles):
    data = sdc.read(oracles.path(case["dataset"]["original"]))
    sets = [sdc.read(oracles.path(name)) for name in case["dataset"]["synthetic"]]
    ours = identification_risk(data, sets, **oracle_options(case)).tables["sets"]["expected_match_risk"]
    assert ours.to_list() != pytest.approx(case["expected"]["package_strict"]["exp_match_risk_vector"])


def test_by_hand():
    real = pl.DataFrame({"sex": list("ffmm"), "income": [100.0, 200.0, 100.0, 500.0]})
    made = pl.DataFrame({"sex": list("ffmm"), "income": [110.0, 190.0, 200.0, 450.0]})
    data = sdc.read(real, keys="sex", numeric="income")
    result = identification_risk(data, data.with_frame(made), synthesised="income", radius=90)
    # windows: f 100±90 finds 110 (itself) and 190; f 200±90 both; m 100±90 none; m 500±90 itself
    assert result.parts.select("c", "t", "k", "f").rows() == [
        (2, 1, 0, 0),
        (2, 1, 0, 0),
        (0,) * 4,
        (1, 1, 1, 0),
    ]
    assert result.value == 2.0
    assert result.figures == {
        "expected_match_risk": 2.0,
        "match_risk_per_record": 0.5,
        "true_match_rate": 0.25,
        "false_match_rate": 0.0,
        "unique_matches": 1.0,
    }
    assert "income within ±90" in result.notes[0]


# One decimal and few values: ties at the ends of the windows are the rule.
numbers = st.one_of(st.none(), st.integers(-8, 8).map(lambda v: v / 10))
record = st.fixed_dictionaries(
    {"a": st.sampled_from(["x", "y", None]), "b": st.integers(0, 1), "u": numbers, "v": numbers}
)
pairs = st.lists(st.tuples(record, record), min_size=1, max_size=12)
radii = st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0])


def frame(rows) -> pl.DataFrame:
    kinds = {"a": pl.String, "b": pl.Int64, "u": pl.Float64, "v": pl.Float64}
    return pl.DataFrame(rows, schema=kinds)


@settings(max_examples=150, deadline=None)
@given(
    pairs,
    st.lists(st.sampled_from("ab"), max_size=2, unique=True),
    radii,
    radii,
    st.booleans(),
    st.booleans(),
)
@example(
    [({"a": "x", "b": 0, "u": 0.7, "v": 0.0}, {"a": "x", "b": 0, "u": 0.8, "v": 0.0})],
    [],
    0.1,
    0.5,
    False,
    False,
)
@example(
    [({"a": "x", "b": 0, "u": 0.0, "v": 0.0}, {"a": "x", "b": 0, "u": 0.3, "v": 0.4})],
    [],
    0.5,
    0.5,
    False,
    True,
)
def test_like_pair_by_pair(rows, known, first, second, relative, ellipsoid):
    real, made = ([r[side] for r in rows] for side in (0, 1))
    shape = "ellipsoid" if ellipsoid else "box"
    radius, share = ({"u": first}, {"v": second}) if relative else ({"u": first, "v": second}, {})
    data = sdc.read(frame(real))
    result = identification_risk(
        data,
        data.with_frame(frame(made)),
        known=known,
        synthesised=["u", "v"],
        radius=radius,
        relative_radius=share,
        shape=shape,
    )
    expected = identification(real, made, known, radius, share, shape)
    assert result.parts.select("c", "t", "k", "f").rows() == expected
    assert result.value == pytest.approx(sum(t / c for c, t, _, _ in expected if c))


@settings(max_examples=60, deadline=None)
@given(pairs)
def test_categories_like_pair_by_pair(rows):
    real, made = ([r[side] for r in rows] for side in (0, 1))
    data = sdc.read(frame(real))
    result = identification_risk(data, data.with_frame(frame(made)), known="b", synthesised=["a", "u"])
    assert result.parts.select("c", "t", "k", "f").rows() == identification(
        real, made, ["a", "b", "u"], {}, {}
    )


@pytest.mark.parametrize("ellipsoid", [False, True])
@pytest.mark.parametrize("columns", [1, 3])
def test_the_tree_counts_what_a_scan_counts(columns, ellipsoid):
    rng = np.random.default_rng(columns)
    x, y = np.round(rng.normal(size=(2, 3000, columns)), 1)  # many ties, also of whole points
    y[:500] = y[0]
    width = rng.choice([0.0, 0.2, 0.5, 3.0], (3000, columns))
    group, other = rng.choice([-1, 0, 1, 2], 3000), rng.choice([0, 1], 3000, p=[0.98, 0.02])
    counts = count_in_windows(x, width, group, y, other, ellipsoid=ellipsoid)
    for i in range(0, 3000, 50):
        near = [j for j in range(3000) if other[j] == group[i] and in_window(x[i], width[i], y[j], ellipsoid)]
        assert counts[i] == len(near)


def test_a_copy_gives_the_risk_of_the_file_itself():
    data = sdc.demo.survey(n=400, seed=2)
    keys = list(data.roles.keys)
    result = identification_risk(data, data, known=keys[:2], synthesised=keys[2:])
    cells = data.frame.group_by(keys).len()
    assert result.value == pytest.approx(cells.height)  # every cell adds f · 1/f
    assert result.parts["t"].min() == 1
    assert result.figures["true_match_rate"] == (cells["len"] == 1).sum() / 400


def test_several_sets_are_averaged_and_their_spread_told():
    data = sdc.read(pl.DataFrame({"a": list("xyz")}))
    made = [data, data.with_frame(pl.DataFrame({"a": list("zxy")}))]
    result = identification_risk(data, made, known=(), synthesised="a")
    assert (result.value, result.figures["between_sets"]) == (1.5, pytest.approx(4.5**0.5))
    assert result.figures["false_match_rate"] == 0.5
    assert result.parts.height == 6


def test_records_meet_by_id():
    data = sdc.read(pl.DataFrame({"id": [1, 2, 3], "a": list("xyz")}), id="id", keys="a")
    turned = data.with_frame(data.frame.reverse())
    assert identification_risk(data, turned, synthesised="a").value == 3
    assert identification_risk(data.with_roles(id=None), turned, synthesised="a").value == 1


def test_no_unique_match_leaves_the_false_match_rate_out():
    data = sdc.read(pl.DataFrame({"a": list("xx")}))
    result = identification_risk(data, data, known=(), synthesised="a")
    assert "false_match_rate" not in result.figures
    assert "no false match rate" in result.notes[-1]


def test_types_may_differ_as_long_as_values_can_be_equal():
    data = sdc.read(pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}))
    made = data.with_frame(data.frame.cast({"a": pl.Float64, "b": pl.Categorical}))
    assert identification_risk(data, made, known="a", synthesised="b").value == 2
    gone = data.with_frame(data.frame.with_columns(a=pl.lit(None)))
    assert identification_risk(data, gone, known="a", synthesised="b").value == 0


def test_columns_may_have_any_name():
    data = sdc.read(
        pl.DataFrame({"c": [7, 8], "records": list("xy"), "set": [1.0, 2.0]}),
        id="c",
        keys="records",
        numeric="set",
    )
    result = identification_risk(data, data, synthesised="set", radius=0)
    assert result.parts.columns == ["record", "set", "c", "t", "k", "f"]
    assert result.value == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"synthesised": "income"}, "how near is a match"),
        ({"synthesised": "income", "radius": -1}, "Allowed: 0 or more"),
        ({"synthesised": "income", "radius": 1, "relative_radius": 0.1}, "not both"),
        ({"synthesised": "income", "radius": {"income": 1}, "relative_radius": {"income": 1}}, "not both"),
        ({"synthesised": "income", "radius": {"age": 1}}, "synthesised columns"),
        ({"synthesised": "sex", "radius": {"sex": 1}}, "does not hold numbers"),
        ({"known": (), "synthesised": ()}, "nothing to match on"),
    ],
)
def test_errors_say_what_is_wrong(options, words):
    frame_ = pl.DataFrame({"sex": list("fm"), "income": [1.0, 2.0], "age": [3, 4]})
    data = sdc.read(frame_, keys="sex", numeric="income")
    with pytest.raises(sdc.SdcError, match=words):
        identification_risk(data, data, **options)


def test_files_that_cannot_be_compared_are_refused():
    data = sdc.read(pl.DataFrame({"a": [1, 2], "b": [1, 2]}))
    with pytest.raises(sdc.SdcError, match="needs at least one file as synthetic"):
        identification_risk(data, [], known="a", synthesised="b")
    with pytest.raises(sdc.SdcError, match="different lengths"):
        identification_risk(data, data.with_frame(data.frame.head(1)), known="a", synthesised="b")
    with pytest.raises(sdc.SdcError, match="no column 'b'"):
        identification_risk(data, data.without(("b",)), known="a", synthesised="b")
    with pytest.raises(sdc.SdcError, match="'a' holds numbers in the original and text in the other file"):
        identification_risk(data, data.with_frame(data.frame.cast(pl.String)), known="a", synthesised="b")


def test_assess_asks_for_the_synthesised_variables():
    data = sdc.read(pl.DataFrame({"a": list("xxy"), "b": list("uvw")}), keys="a")
    said = sdc.assess(data, data, measures=["identification_risk"]).omitted[0].reason
    assert "needs to be told synthesised" in said
    told = sdc.assess(
        data, [data, data], measures=["identification_risk"], identification_risk={"synthesised": "b"}
    )
    assert told.after["identification_risk"].value == 3
