"""Attribute disclosure: worked examples, the record-by-record twin, copies and independent files."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from naive_identification import attribution
from sdckit.risk.attribute_disclosure import attribute_disclosure


def test_by_hand():
    real = pl.DataFrame({"q": list("aaabbcd"), "t": list("1112121")})
    made = pl.DataFrame({"q": list("aabbbce"), "t": list("1122211")})
    data = sdc.read(real, keys="q", sensitive="t")
    result = attribute_disclosure(data, data.with_frame(made))
    # guesses: a certainly 1 (right 3 times), b certainly 2 (right once of two), c certainly 1 (wrong), d none
    seven = {
        name: round(share * 7, 9)
        for name, share in result.figures.items()
        if name not in ("tcap", "tcap_found", "cap_found")
    }
    assert seven == {
        "disco": 4,
        "beyond_baseline": 1,  # of the four only b's 2 is not the most frequent value 1
        "baseline": 5,
        "disclosive_in_original": 5,
        "disclosive_synthetic_records": 7,  # each key has one value
        "found_in_synthetic": 6,
        "disclosive_in_synthetic": 6,
        "disclosed_in_both": 3,  # not b, of which the original has both values
        "cap": 4,
        "original_cap": 3 + 0.5 + 0.5 + 1 + 1,
        "synthetic_cap": 7,
        "baseline_cap": round((5**2 + 2**2) / 7, 9),
        "replicated_uniques": 1,
        "unique_in_original": 2,
        "unique_found": 1,  # c, not d
        "unique_in_synthetic": 2,
    }
    assert result.value == 4 / 7
    assert result.figures["tcap"] == result.figures["cap_found"] == 4 / 6
    assert result.figures["tcap_found"] == 4 / 6


def test_of_the_two_tcaps_only_one_counts_unclear_guesses():
    real = pl.DataFrame({"q": list("aabb"), "t": list("1212")})
    data = sdc.read(real, keys="q", sensitive="t")
    made = data.with_frame(pl.DataFrame({"q": list("aabb"), "t": list("1112")}))
    result = attribute_disclosure(data, made)  # a: certainly 1, right once of two; b: either
    assert (result.figures["tcap"], result.figures["tcap_found"]) == (0.5, 0.25)
    assert result.figures["synthetic_cap"] == (2 + 2 * 0.5) / 4
    assert result.figures["disclosive_synthetic_records"] == 2 / 4
    assert result.figures["disclosed_in_both"] == 0


def test_beyond_the_baseline_by_hand():
    real = pl.DataFrame({"q": list("abcdef"), "t": list("xxxyyz")})
    data = sdc.read(real, keys="q", sensitive="t")
    all_x = data.with_frame(real.with_columns(t=pl.lit("x")))  # says of everybody what is most frequent
    guessed = attribute_disclosure(data, all_x)
    assert (guessed.value, guessed.figures["beyond_baseline"], guessed.figures["baseline"]) == (0.5, 0, 0.5)
    copy = attribute_disclosure(data, data)  # y, y and z are learnt from the file alone
    assert (copy.value, copy.figures["beyond_baseline"]) == (1, 0.5)


def test_of_equally_frequent_values_the_one_least_disclosed_is_the_baseline():
    real = pl.DataFrame({"q": list("abcd"), "t": list("xxyy")})
    data = sdc.read(real, keys="q", sensitive="t")
    # x is right twice, y once: with y as the baseline guess two are beyond it, with x one
    made = data.with_frame(pl.DataFrame({"q": list("abcd"), "t": list("xxyx")}))
    assert attribute_disclosure(data, made).figures["beyond_baseline"] == 2 / 4


def test_uncertain_guesses_count_in_cap_only():
    data = sdc.read(pl.DataFrame({"q": ["a"] * 4, "t": list("1112")}), keys="q", sensitive="t")
    result = attribute_disclosure(data, data)
    assert result.figures["cap"] == pytest.approx(3 / 4 * 3 / 4 + 1 / 4 * 1 / 4)
    assert result.value == 0
    assert "tcap" not in result.figures
    assert "no TCAP" in result.notes[-1]
    looser = attribute_disclosure(data, data, threshold=0.75)
    assert (looser.value, looser.figures["tcap"]) == (0.75, 0.75)
    assert "0.75 on" in looser.notes[-1]


record = st.fixed_dictionaries(
    {
        "q": st.sampled_from(["a", "b", None]),
        "r": st.integers(0, 2),
        "t": st.sampled_from(["1", "2", "3", None]),
    }
)
records = st.lists(record, min_size=1, max_size=15)


@settings(max_examples=150, deadline=None)
@given(records, records, st.sampled_from([1.0, 0.6]))
def test_like_record_by_record(real, made, threshold):
    kinds = {"q": pl.String, "r": pl.Int64, "t": pl.String}
    data = sdc.read(pl.DataFrame(real, schema=kinds))
    other = data.with_frame(pl.DataFrame(made, schema=kinds))
    result = attribute_disclosure(data, other, known=["q", "r"], sensitive="t", threshold=threshold)
    expected = attribution(real, made, ["q", "r"], "t", threshold)
    assert result.figures == pytest.approx({k: v for k, v in expected.items() if v is not None})


def test_a_copy_gives_away_what_the_original_does():
    data = sdc.demo.survey(n=500, seed=4)
    result = attribute_disclosure(data, data, known=data.roles.keys, sensitive=data.roles.sensitive[0])
    figures = result.figures
    assert result.value == figures["disclosive_in_original"] > 0
    assert figures["cap"] == figures["original_cap"]
    assert figures["replicated_uniques"] == figures["unique_in_original"] == figures["unique_in_synthetic"]
    assert figures["tcap"] == figures["found_in_synthetic"] == 1


def test_an_independent_file_tells_no_more_than_the_distribution_of_the_target():
    rng = np.random.default_rng(1)
    real, made = (
        pl.DataFrame({"q": rng.integers(0, 5, 20_000), "t": rng.choice(4, 20_000, p=[0.4, 0.3, 0.2, 0.1])})
        for _ in range(2)
    )
    data = sdc.read(real, keys="q", sensitive="t")
    figures = attribute_disclosure(data, data.with_frame(made)).figures
    assert figures["cap"] == pytest.approx(figures["baseline_cap"], abs=0.01)
    assert figures["baseline_cap"] == pytest.approx(0.16 + 0.09 + 0.04 + 0.01, abs=0.01)
    assert figures["disco"] == 0


def test_files_with_no_keys_in_common_give_nothing():
    data = sdc.read(pl.DataFrame({"q": list("ab"), "t": list("12")}), keys="q", sensitive="t")
    result = attribute_disclosure(data, data.with_frame(pl.DataFrame({"q": ["z"], "t": ["1"]})))
    assert (result.value, result.figures["cap"], result.figures["found_in_synthetic"]) == (0, 0, 0)
    assert "cap_found" not in result.figures


def test_numbers_are_cut_at_quantiles_of_the_original():
    income = pl.Series("income", [*range(1, 9), None], dtype=pl.Float64)
    data = sdc.read(
        pl.DataFrame({"q": list("abcdefghi"), "income": income}),
        keys="q",
        numeric="income",
        sensitive="income",
    )
    moved = data.with_frame(data.frame.with_columns(pl.col("income") + 0.4))
    assert attribute_disclosure(data, moved, bins=2).value == 1  # halves 1…4 and 5…8, and missing
    up = data.with_frame(data.frame.with_columns(pl.col("income") + 2))
    assert attribute_disclosure(data, up, bins=2).value == 7 / 9  # 3 and 4 move up


def test_several_targets_and_sets():
    data = sdc.read(
        pl.DataFrame({"q": list("abcd"), "t": list("1234"), "u": list("xxyy")}),
        keys="q",
        sensitive=["t", "u"],
    )
    other = data.with_frame(pl.DataFrame({"q": list("abcd"), "t": list("4321"), "u": list("xxyx")}))
    result = attribute_disclosure(data, [data, other])
    assert result.parts.select("target", "disco").rows() == [("t", 0.5), ("u", 0.875)]
    assert result.tables["sets"].select("set", "target", "disco").rows() == [
        (1, "t", 1.0),
        (1, "u", 1.0),
        (2, "t", 0.0),
        (2, "u", 0.75),
    ]
    assert result.value == 0.875
    assert result.notes == (
        "The figures are of u, the target most disclosed.",
        "Means over 2 synthetic sets.",
    )


def test_it_needs_keys_and_a_target():
    data = sdc.read(pl.DataFrame({"q": list("ab"), "t": list("12")}), keys="q")
    with pytest.raises(sdc.SdcError, match="a target to learn"):
        attribute_disclosure(data, data)
    assert "a target to learn" in sdc.assess(data, data, measures=["attribute_disclosure"]).omitted[0].reason
