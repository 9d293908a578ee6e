"""Formulas: read as in R, checked, and meaning the same in both files."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from model_matrices import matrices
from sdckit.estimate.formula import parse
from sdckit.estimate.midpoints import midpoints

FRAME = pl.DataFrame(
    {
        "y": [1.0, 2.0, 4.0, 0.0, 3.0],
        "x": [1, 2, 3, 4, None],
        "s": ["m", "f", None, "f", "m"],
        "my col": [1.0, 2.0, 3.0, 5.0, 8.0],
    }
)
DATA = sdc.read(FRAME)


def made(formula, *files, binary=False):
    files = files or (DATA,)
    return matrices(parse(formula, files[0]), files, binary=binary)


def test_rs_powers_backticks_and_factor():
    found, _ = made("log(y) ~ I(x^2) + `my col` + factor(s)")
    assert found[0].names == ("Intercept", "I(x^2)", "my col", "C(s)[T.m]")
    squares = found[0].x[:, found[0].names.index("I(x^2)")]
    assert squares.tolist() == [1.0, 4.0]  # log(0) and missing values are left out
    assert found[0].kept.tolist() == [True, True, False, False, False]


def test_the_first_level_in_sorted_order_is_the_reference_and_can_be_chosen():
    assert made("y ~ s")[0][0].names == ("Intercept", "s[T.m]")
    named = made('y ~ C(s, contr.treatment("m"))')[0][0].names
    assert named[1] == "C(s)[T.f]"
    ordered = sdc.read(FRAME.with_columns(pl.col("s").cast(pl.Enum(["m", "f", "unused"]))))
    assert made("y ~ s", ordered)[0][0].names == ("Intercept", "s[T.f]")


def test_numbers_with_value_labels_are_categories_and_without_are_numbers():
    data = sdc.demo.survey(n=300, seed=1)
    found, _ = made("expenditure ~ sex + age", data)
    assert found[0].names == ("Intercept", "sex[T.Female]", "age")


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ __import__('os').getpid()",
        "y ~ {__import__('os').getpid()}",
        "y ~ I(x.__class__)",
        "y ~ I((lambda: 1)())",
        "y ~ eval('1')",
        "y ~ I([1, 2][0])",
        "y ~ np.log(x)",
        "y ~ log(x, base=open('/etc/passwd'))",
    ],
)
def test_a_formula_cannot_run_code(formula):
    with pytest.raises(sdc.SdcError):
        made(formula)


@pytest.mark.parametrize("formula", ["y", "~ x", "y ~", "y ~ (x", "y ~ x ~ s", "y + x ~ s"])
def test_a_formula_that_is_none_is_explained(formula):
    with pytest.raises(sdc.SdcError, match=r"formula|outcome"):
        made(formula)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("y ~ .", "Name the predictors"),
        ("y ~ x +", "[+] stands in the wrong place"),
        ("y ~ (x", "columns joined by"),
        ("y ~ x | s", "columns joined by"),
        ("y ~ 0", "needs a column"),
        ("y ~ poly(x, 2)", r"age \+ I\(age\^2\)"),
        ("y ~ log(poly(x, 2))", r"age \+ I\(age\^2\)"),
        ("y ~ relevel(s, ref='m')", "reference="),
        ("y ~ C(s, contr.sum)", "reference="),
        ("y ~ C(s, contr.treatment('k'))", "no category 'k' of s"),
        ("y ~ log(s)", "take numbers; categories are s"),
        ("y ~ log(x, 2)", "Did you mean 'log2'"),
    ],
)
def test_what_cannot_be_read_is_said_in_our_words(formula, words):
    with pytest.raises(sdc.SdcError, match=words) as met:
        made(formula)
    text = str(met.value)
    assert "\x1b" not in text
    assert "\n" not in text
    assert "formulaic" not in text
    assert "<unknown>" not in text


def test_as_factor_is_factor_and_quoted_dots_are_names():
    assert made("y ~ as.factor(s)")[0][0].names == made("y ~ factor(s)")[0][0].names
    dotted = sdc.read(FRAME.rename({"my col": "my . col"}))
    assert made("y ~ `my . col`", dotted)[0][0].names == ("Intercept", "my . col")


def test_a_reference_of_a_flag_is_true_or_false_as_python_writes_it():
    data = sdc.read(pl.DataFrame({"y": [1.0, 2.0, 4.0], "b": [True, False, True], "t": ["True", "x", "x"]}))
    assert made("y ~ C(b, Treatment(True))", data)[0][0].names == ("Intercept", "C(b)[T.false]")
    assert made("y ~ C(b, Treatment(False))", data)[0][0].names == ("Intercept", "C(b)[T.true]")
    assert made("y ~ C(t, Treatment('True'))", data)[0][0].names == ("Intercept", "C(t)[T.x]")


@pytest.mark.parametrize(
    ("formula", "persons", "words"),
    [
        ("y ~ C(name, Treatment('Anna'))", 300, "too many categories for a regression. Given: 300"),
        ("y ~ C(name, Treatment('Anna'))", 60, "Allowed: one of its 60 values."),
        ("name ~ y", 300, "The outcome 'name' is a category. Given: 300 categories."),
        ("y ~ C(z, Treatment('5'))", 20, "Allowed: one of its 20 values."),
    ],
)
def test_values_of_persons_are_not_told(formula, persons, words):
    names = [f"Anna Maier {i}" for i in range(persons)]
    y = [1700.25 + i for i in range(persons)]
    data = sdc.read(pl.DataFrame({"name": names, "y": y, "z": y}))
    with pytest.raises(sdc.SdcError) as met:
        made(formula, data)
    assert words in str(met.value)
    assert "Maier" not in str(met.value)
    assert "17" not in str(met.value)


def test_an_unknown_column_is_named_with_its_neighbour():
    with pytest.raises(sdc.SdcError, match="There is no column 'my_col'"):
        made("y ~ my_col")


def test_files_share_levels_and_the_reference_is_one_both_have():
    other = DATA.with_frame(FRAME.with_columns(s=pl.Series(["m", "x", "x", "x", "m"])))
    found, notes = made("y ~ s", DATA, other)
    assert found[0].names == found[1].names == ("Intercept", "s[T.f]", "s[T.x]")
    assert any("reference of s is m" in note for note in notes)
    assert any("that not all files have: f, x" in note for note in notes)


def test_intervals_enter_with_their_midpoints_and_other_texts_are_explained():
    other = DATA.with_frame(FRAME.with_columns(x=pl.Series(["1–2", "1–2", "3–4", "3–4", None])))
    found, notes = made("y ~ x", DATA, other)
    assert found[1].x[:, 1].tolist() == [2.0, 2.0, 4.0, 4.0]
    assert "midpoints" in notes[0]
    words = DATA.with_frame(FRAME.with_columns(x=pl.Series(["low", "low", "high", "high", None])))
    assert "a number in the original and a category" in made("y ~ x", DATA, words)[1][0]


def test_outcomes_of_two_categories_for_the_logit_only():
    found, _ = made("s ~ x", binary=True)
    assert found[0].y.tolist() == [1.0, 0.0, 0.0]
    with pytest.raises(sdc.SdcError, match="is a category"):
        made("s ~ x")


def test_a_column_the_protected_file_lost():
    found, notes = made("y ~ x", DATA, DATA.without(("x",)))
    assert found[1] is None
    assert "no column x" in notes[0]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["20–24", "25–29"], [22.5, 27.5]),
        (["[0.5, 1)", "[1, 2)"], [0.75, 1.5]),
        (["<10", "10–19", "20+"], [5.0, 15.0, 25.0]),
        (["7", "8"], [7.5, 8.5]),
        (["under 5", "5 and over"], [2.5, 7.5]),
        (["-5 to -1", "0-4"], [-2.5, 2.5]),
    ],
)
def test_midpoints(texts, expected):
    assert list(midpoints(texts).values()) == expected


def test_words_are_not_intervals():
    assert midpoints(["a", "1–2"]) is None
    assert np.isfinite(midpoints(["≥3", "<3"])["≥3"])
