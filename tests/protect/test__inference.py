"""Blanked values that other columns tell: counted as the plain twin does, and warned of in words."""

import json
from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import naive_inferable
import sdckit as sdc
from sdckit.kernels.inferable import Blanks, Groups, guess_from
from sdckit.protect import _inference
from sdckit.protect._inference import inferable
from sdckit.report.summarize import summarize

REGIONS = ["a"] * 6 + ["b"] * 6


def check(columns, blanks=(0, 7), key="region", values=REGIONS, **roles):
    """What is told of a key after some of its values are blanked."""
    frame = pl.DataFrame({key: values, **columns})
    gone = pl.Series([i in blanks for i in range(len(values))])
    after = frame.with_columns(pl.when(~gone).then(pl.col(key)).alias(key))
    return inferable(sdc.read(frame, keys=key, **roles), after, {key: len(blanks)})


ALIKE = [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]  # of which each belongs to one region
PAIRS = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]


@pytest.mark.parametrize(
    ("column", "roles"),
    [
        (ALIKE, {"strata": "other"}),
        (ALIKE, {"cluster": "other"}),
        (PAIRS, {"household": "other"}),  # one member shows what was blanked for the other
        ([2.5, 2.5, 2.5, 4.5, 4.5, 4.5, 1.5, 1.5, 1.5, 8.0, 8.0, 8.0], {"weight": "other"}),
        ([f"place {i}" for i in ALIKE], {}),
        (pl.Series([f"place {i}" for i in ALIKE], dtype=pl.Categorical), {}),
        ([i < 3 for i in ALIKE], {}),
        ([Decimal(i) / 4 for i in ALIKE], {}),
        ([date(2020, 1, 1) + timedelta(days=i) for i in ALIKE], {}),
        (pl.Series([2**64 - i for i in ALIKE], dtype=pl.UInt64), {}),
        (pl.Series([i * 10**15 for i in ALIKE]), {}),
        ([*ALIKE[:11], None], {}),
    ],
)
def test_a_column_that_goes_with_the_key_tells_its_blanks(column, roles):
    assert check({"other": column}, **roles) == {
        "values_inferable": 2,
        "inferred_from": {"region": {"other": 2}},
    }


@pytest.mark.parametrize(
    ("column", "roles"),
    [
        ([1, 2, 3] * 4, {}),  # each value in both regions
        ([f"{i}" for i in range(12)], {}),  # nothing is equal
        (list(range(12)), {"id": "other"}),  # for ids there is new_ids
        (list(range(12)), {"strata": "other"}),  # numbers that are names
        ([7] * 12, {}),
        ([None] * 12, {}),
        ([[i] for i in ALIKE], {}),  # lists
        ([None, *ALIKE[1:7], None, *ALIKE[8:]], {}),  # missing where the key is blanked
    ],
)
def test_a_column_that_does_not_go_with_the_key_tells_nothing(column, roles):
    assert check({"other": column}, **roles) == {"values_inferable": 0, "inferred_from": {}}


def test_a_number_tells_its_class_though_no_two_are_equal():
    rng = np.random.default_rng(1)
    income = rng.lognormal(7, 1, 300)
    values = ["low" if v < 800 else "middle" if v < 2000 else "high" for v in income]
    found = check({"income": income, "noise": rng.normal(size=300)}, (3, 50, 70, 120), values=values)
    assert found == {"values_inferable": 4, "inferred_from": {"region": {"income": 4}}}


def test_ties_in_a_file_sorted_by_the_key_are_no_neighbours():
    assert check({"income": [0.0] * 12})["values_inferable"] == 0
    assert check({"income": [0.0] * 5 + [1.0] + [0.0] * 6}, (5,))["values_inferable"] == 0


def test_small_groups_that_agree_by_chance_do_not_count():
    rng = np.random.default_rng(3)
    values = rng.choice(["f", "m"], 2000).tolist()
    common = rng.choice(["here", "abroad"], 2000, p=[0.97, 0.03]).tolist()
    pairs = rng.permutation(np.arange(2000) // 2)
    for key in (values, common):
        gone = tuple(range(0, 200))
        assert (
            check({"pay": rng.lognormal(7, 1, 2000).round(1), "pair": pairs}, gone, values=key)[
                "inferred_from"
            ]
            == {}
        )


def test_other_keys_tell_as_they_are_after_the_step():
    frame = pl.DataFrame({"region": REGIONS, "place": [f"p{i}" for i in ALIKE]})
    hidden = pl.Series([True] + [False] * 11)
    after = frame.with_columns(pl.when(~hidden).then(pl.col(c)).alias(c) for c in frame.columns)
    found = inferable(sdc.read(frame, keys=["region", "place"]), after, {"region": 1, "place": 1})
    assert found["values_inferable"] == 0  # the place that would tell is blanked as well
    after = after.with_columns(frame["place"])
    found = inferable(sdc.read(frame, keys=["region", "place"]), after, {"region": 1, "place": 0})
    assert found == {"values_inferable": 1, "inferred_from": {"region": {"place": 1}}}


def test_a_value_inferred_from_two_columns_is_one_value():
    found = check({"stratum": ALIKE, "home": [*PAIRS[:11], None]}, (0, 7, 10))
    assert found == {"values_inferable": 3, "inferred_from": {"region": {"stratum": 3, "home": 2}}}


few = st.none() | st.integers(0, 3)


@settings(max_examples=300, deadline=None)
@given(
    rows=st.lists(st.tuples(few, st.none() | st.integers(0, 2), st.booleans()), min_size=1),
    ordered=st.booleans(),
)
def test_guesses_are_those_of_the_plain_twin(rows, ordered):
    groups, values, blank = zip(*rows, strict=True)
    shown = [None if b else v for v, b in zip(values, blank, strict=True)]
    code, key = (np.array([-1 if v is None else v for v in c], dtype=np.int32) for c in (groups, values))
    blanks = Blanks.of(key, np.array(blank))
    got = guess_from(Groups.of(code, ordered=ordered), blanks)
    guesses = [
        naive_inferable.guess(i, groups, shown, ordered) if v is not None else None
        for i, v in enumerate(values)
    ]
    made = [(g, v) for g, v in zip(guesses, values, strict=True) if g is not None]
    assert (got.tests, got.right) == (len(made), sum(g == v for g, v in made))
    share = blanks.share
    assert got.chance == pytest.approx(sum(share[g] for g, _ in made))
    assert got.variance == pytest.approx(sum(share[g] * (1 - share[g]) for g, _ in made))
    expected = [i for i in blanks.rows if guesses[i] == values[i]]
    assert blanks.rows[got.told].tolist() == expected


@settings(max_examples=60, deadline=None)
@given(
    links=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.booleans()), min_size=8, max_size=60),
)
def test_what_is_told_is_that_of_the_plain_twin(links, rows):
    groups = [g for g, _, _ in rows]
    values = [links[g] if noise else (links[g] + 1) % 3 for g, noise, _ in rows]  # one in ten differs
    blanks = [i for i, (_, _, blank) in enumerate(rows) if blank]
    shown = [None if i in blanks else v for i, v in enumerate(values)]
    expected = naive_inferable.inferable(groups, values, shown, True)
    found = check({"group": groups}, blanks, values=values)
    assert found["values_inferable"] == len(expected)
    assert found["inferred_from"].get("region", {}).get("group", 0) == len(expected)


@pytest.fixture(scope="module")
def suppressed():
    data = sdc.protect.recode(sdc.demo.survey(n=1000, seed=1), variable="age", width=10)
    return sdc.protect.suppress(data, k=3, keys=["region", "urban", "sex", "age"])


def test_suppress_logs_what_is_told_and_warns_while_the_columns_are_there(suppressed):
    figures = suppressed.log[-1].figures
    tellers = figures["inferred_from"]["region"]
    assert tellers["stratum"] == tellers["psu"] == figures["by_key"]["region"] > 0  # a psu is in one region
    assert 0 < tellers["household_id"] <= figures["by_key"]["region"]
    assert "sex" not in figures["inferred_from"]
    assert sum(max(by.values()) for by in figures["inferred_from"].values()) <= figures["values_inferable"]
    (text,) = suppressed.warnings
    assert text.startswith("Blanked values can be told from other columns, as they were then: region (")
    assert f"{tellers['stratum']} by stratum" in text
    assert "Drop these columns, or make them or the key coarser" in text
    assert text in repr(suppressed)
    fewer = sdc.protect.drop(suppressed, variables=["stratum", "psu"])
    assert "stratum" not in fewer.warnings[0] + repr(fewer)
    assert "household_id" in fewer.warnings[0]
    every = {c for by in figures["inferred_from"].values() for c in by}
    none = sdc.protect.drop(suppressed, variables=sorted(every))
    assert none.warnings == ()
    assert "warning" not in repr(none)
    without = sdc.protect.drop(suppressed, variables=list(figures["inferred_from"]))
    assert without.warnings == ()


def test_a_member_tells_what_was_blanked_for_another():
    homes = [i // 2 for i in range(40)]
    regions = ["n" if home < 10 else "s" for home in homes]
    jobs = ["x", *["y"] * 19, *["x", "y"] * 10]  # the first is the only x in the north
    frame = pl.DataFrame({"home": homes, "region": regions, "job": jobs})
    data = sdc.read(frame, keys=["region", "job"], household="home")
    done = sdc.protect.suppress(data, k=3, importance={"job": "never"})
    assert done.frame["region"].to_list()[:2] == [None, "n"]
    assert done.log[-1].figures["inferred_from"] == {"region": {"home": 3}}  # two are lent
    assert "3 by home" in done.warnings[0]


def test_suppress_risky_logs_it_as_well():
    data = sdc.demo.survey(n=600, seed=1)
    done = sdc.protect.suppress_risky(data, variables="region", threshold=0.001)
    figures = done.log[-1].figures
    assert (
        0
        < figures["inferred_from"]["region"]["stratum"]
        <= figures["values_inferable"]
        <= figures["cells_suppressed"]
    )
    assert done.warnings[0].startswith("Blanked values can be told from other columns")
    nothing = sdc.protect.suppress_risky(data, threshold=0.9)
    assert (nothing.log[-1].figures["values_inferable"], nothing.warnings) == (0, ())


def test_reports_warn_inside_and_say_nothing_of_it_to_the_public(suppressed):
    original = sdc.demo.survey(n=1000, seed=1)
    done = sdc.assess(original, suppressed, measures=["individual_risk", "missing_values"])
    inside, outside = (summarize(done, who)["steps"][-1] for who in ("internal", "public"))
    assert inside["warnings"] == list(suppressed.warnings)
    assert {"Suppressed values that other columns tell", "Columns that tell suppressed values"} <= {
        p["label"] for p in inside["did"]
    }
    assert outside["warnings"] == []
    assert not any("infer" in p["label"].lower() for p in outside["did"])


def test_the_command_line_warns(tmp_path):
    from sdckit.cli import app

    sdc.write(sdc.demo.survey(n=400, seed=1), tmp_path / "s.parquet")
    roles = "keys: [region, sex, education], strata: stratum"
    plan = tmp_path / "plan.yaml"
    plan.write_text(f"data: {{file: s.parquet, {roles}}}\nscenarios: {{a: [{{suppress: {{k: 3}}}}]}}\n")
    shown = CliRunner().invoke(app, ["protect", str(plan), "--out", str(tmp_path / "p.csv")])
    assert "Warning: Blanked values can be told from other columns" in shown.stderr
    assert "by stratum" in shown.stderr
    asked = CliRunner().invoke(app, ["protect", str(plan), "--out", str(tmp_path / "q.csv"), "--json"])
    document = json.loads(asked.stdout)
    assert document["steps"][0]["figures"]["values_inferable"] > 0
    assert document["warnings"][0] in asked.stderr


def test_compare_keeps_the_warnings_and_shows_those_of_the_recommended(tmp_path):
    from sdckit.cli import app

    data = sdc.demo.survey(n=400, seed=1)
    sdc.write(data, tmp_path / "s.parquet")
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "data: {file: s.parquet, keys: [region, sex, education], strata: stratum}\n"
        "scenarios: {a: [{suppress: {k: 3}}]}\nassess: {utility: missing_values}\n"
    )
    told = CliRunner().invoke(app, ["compare", str(plan)]).stdout
    assert "Warning: Blanked values can be told from other columns" in told
    asked = json.loads(CliRunner().invoke(app, ["compare", str(plan), "--json"]).stdout)
    steps = {"a": [{"suppress": {"k": 3, "keys": ["region", "sex", "education"]}}]}
    first, kept = (
        sdc.compare(data, steps, utility="missing_values", cache=tmp_path / "kept").results[0]
        for _ in range(2)
    )
    assert first.warnings == kept.warnings
    assert "by stratum" in kept.warnings[0]
    assert "by stratum" in asked["scenarios"][0]["warnings"][0]
    assert asked["original"]["warnings"] == []


@pytest.mark.parametrize("seed", range(6))
def test_columns_left_out_early_would_tell_nothing(seed, monkeypatch):
    """Of large files some records are looked at first; what is told stays the same."""
    draw = np.random.default_rng(seed)
    n = 2_000
    region = draw.integers(0, 5, n)
    region[draw.random(n) < 0.3] = 7
    frame = pl.DataFrame(
        {
            "region": [f"r{i}" for i in region],
            "coarse": draw.integers(0, 9, n),
            "weight": draw.integers(1, 40, n) / 4,
            "same": pl.Series(region).cast(pl.String).cast(pl.Categorical),
            "nearly": pl.Series(np.where(draw.random(n) < 0.02, 3, region)).set(pl.Series(region == 1), None),
            "income": region * 1e5 + draw.random(n),
            "home": np.arange(n) // 2,
            "sure": region == 7,
        }
    )
    gone = draw.random(n) < 0.01
    after = frame.with_columns(pl.when(~pl.Series(gone)).then(pl.col("region")).alias("region"))
    data = sdc.read(frame, keys="region", household="home")
    want = inferable(data, after, {"region": int(gone.sum())})
    looked_at = []
    real = _inference._codes

    def noted(column):
        looked_at.append(column.name)
        return real(column)

    monkeypatch.setattr(_inference, "SOME", 150)
    monkeypatch.setattr(_inference, "_codes", noted)
    assert inferable(data, after, {"region": int(gone.sum())}) == want
    assert {"same", "income"} <= set(want["inferred_from"]["region"])
    assert {"same", "income"} <= set(looked_at)
    assert "coarse" not in looked_at
