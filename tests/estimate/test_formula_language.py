"""Formulas of strangers: nothing but arithmetic, and an end to it."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from model_matrices import matrices
from sdckit.errors import OptionError, SdcError
from sdckit.estimate.formula import parse
from sdckit.estimate.formula_language import names_in, refuse_endless

RNG = np.random.default_rng(1)
N = 60
DATA = sdc.read(
    pl.DataFrame(
        {
            **{c: RNG.lognormal(size=N) for c in ("y", "x", "class", *(f"v{i}" for i in range(30)))},
            **{c: RNG.choice(list("abc"), N) for c in ("g", "h")},
            "code": np.arange(N),
        }
    )
)
ALL = [f"v{i}" for i in range(30)]
ENDLESS = [
    "y ~ I(9**9**9)",
    "y ~ I(((((9**9)**9)**9)**9)**9)",
    "y ~ I(x^(10^10))",
    "y ~ (x+g)^30",
    "y ~ ((x+g)^9)^9",
    "y ~ x + 9**9**9",
    "y ~ x + I(9**10)",
    "y ~ x^9^9",
    "y ~ I(x + (1<<10**10))",
    "y ~ I('a'*10**10)",
    "y ~ 'a'*10**10 + x",
    "y ~ x ^ 99 (",
    f"y ~ {'*'.join(ALL)}",
    f"y ~ ({'+'.join(ALL)})^10",
    f"y ~ {'(' * 3_000}x{')' * 3_000}",
    f"y ~ {'+'.join(['x'] * 2_000)}",
    f"y ~ I({'-' * 2_000}x)",
    f"y ~ I(x + {'9' * 4_900})",
    f"y ~ {'9' * 4_900} + x",
    f"y ~ (x + g)^{'9' * 4_900}",
    "y ~ I(x * 1e999)",
    "y ~ C(code):C(v1):C(v2)",
]


@pytest.mark.parametrize("formula", ENDLESS, ids=lambda text: text[:30])
def test_what_never_ends_is_refused(formula):
    with pytest.raises(SdcError) as caught:
        matrices(parse(formula, DATA), [DATA], binary=False)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    "expression",
    [
        "x.real", "x[0]", "f(x)", "I(x, y)", "log(x, base=2)", "lambda: x", "x if x else y", "x and y",
        "not x", "~x", "x << 2", "x | y", "x & y", "x @ y", "True", "None", "...", "1j * x", "'a'", "'a' * 3",
        "b'a'", "[x]", "(x, y)", "{x}", "f'{x}'", "x := 2", "await x", "*x", "x is y", "x in y", "x ** y",
        "x ** 11", "x ** -11", "x ** 1e3", "(2 * 3) ** 4", "1e16", "C(x=1)", "__import__('os')",
        "log.__class__(x)",
    ],
)  # fmt: skip
def test_only_arithmetic_of_columns_is_read(expression):
    with pytest.raises(OptionError):
        names_in(expression, expression)


@pytest.mark.parametrize(
    ("expression", "columns"),
    [
        ("I(x ** 2 / 10 ** 3 - -y)", {"x": False, "y": False}),
        ("log(`my col` + 1)", {"my col": False}),
        ("C(x)", {"x": True}),
        ("I(x == 'a')", {"x": False}),
        ("I((x > 1) * (2 <= y))", {"x": False, "y": False}),
        ("sqrt(abs(x)) % 2", {"x": False}),
    ],
)
def test_arithmetic_is_read(expression, columns):
    assert names_in(expression, expression) == columns


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ (x + g + v1)^2", "y ~ x*g + I(x/10^3)", "y ~ class + I(x^0.5)", "y ~ (x + v1 + v2)^2:g",
        "log(y) ~ x + I(x^2) - 1", "y ~ I(g == 'a') + x", f"y ~ ({'+'.join(ALL[:12])})^3",
        f"y ~ {'+'.join(ALL)}",
    ],
)  # fmt: skip
def test_what_people_write_is_read(formula):
    refuse_endless(formula)
    if formula.count("v") < 12:
        (made,), _ = matrices(parse(formula, DATA), [DATA], binary=False)
        assert np.isfinite(made.x).all()


def test_products_of_many_categories_are_refused_before_they_are_made():
    with pytest.raises(OptionError, match="too many coefficients"):
        matrices(parse("y ~ C(code):C(code2)", wide()), [wide()], binary=False)


def wide() -> sdc.Microdata:
    return sdc.read(DATA.frame.with_columns(code2=pl.Series(np.arange(N)[::-1])))
