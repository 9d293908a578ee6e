"""Model formulas: parsed, checked, and turned into matrices that mean the same in every file."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sdckit.arrays import Bools, Floats
from sdckit.errors import ColumnError, OptionError, listing, nearest
from sdckit.estimate.midpoints import midpoints
from sdckit.microdata import Microdata
from sdckit.values import as_text, texts

FUNCTIONS = ("log", "log2", "log10", "log1p", "exp", "sqrt", "abs", "I", "C")
_ALLOWED = (
    ast.Expression, ast.Call, ast.Name, ast.Load, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare,
    ast.operator, ast.unaryop, ast.cmpop,
)  # fmt: skip
_QUOTED = re.compile(r"`([^`]*)`")
_MOST_LEVELS = 200


@dataclass(frozen=True, slots=True)
class Model:
    """A checked formula: the text for formulaic, its columns, and those of them that C() makes categories."""

    text: str
    columns: tuple[str, ...]
    factors: frozenset[str]
    response: str  # as written
    plain_response: str | None  # the column, where the response is one


@dataclass(frozen=True, slots=True)
class Matrix:
    """A formula on one file. y [k], x [k, p] over the `kept` records [n], which have no missing value."""

    y: Floats
    x: Floats
    names: tuple[str, ...]
    kept: Bools


def parse(formula: str, data: Microdata) -> Model:
    """Check a formula such as "log(wage) ~ sex + age + I(age^2)" against the columns of the data.

    R's and formulaic's language: +, :, *, -1, C(x) or factor(x) for categories, also with a reference,
    C(x, contr.treatment("b")); log, exp, sqrt and abs;
    I(…) for arithmetic, with ^ or ** for powers; `backticks` round names that are not words. Nothing else is
    evaluated: a formula from a file cannot run code.
    """
    from formulaic import Formula
    from formulaic.errors import FormulaicError

    if formula.count("~") != 1 or not all(side.strip() for side in formula.split("~")):
        raise OptionError(
            "A formula has an outcome, a tilde and predictors.", given=repr(formula), allowed="y ~ a + b"
        )
    text = re.sub(r"\bfactor\(", "C(", _powers(formula))
    try:
        parsed = Formula(text)
        terms = [*parsed.lhs, *parsed.rhs]
    except (FormulaicError, SyntaxError, ValueError, AttributeError, IndexError) as error:
        raise OptionError("The formula cannot be read.", given=repr(formula), hint=str(error)) from None
    columns: dict[str, None] = {}
    inside: set[str] = set()
    outside: set[str] = set()
    for factor in (f for term in terms for f in term.factors):
        method = factor.eval_method.value
        if method == "literal":
            continue
        names = {factor.expr: False} if method == "lookup" else _names_in(factor.expr, formula)
        for name, category in names.items():
            data.require(name)
            data.require_categories([name])
            columns[name] = None
            (inside if category else outside).add(name)
    left = formula.split("~")[0].strip()
    plain = left.strip("`")
    if len([*parsed.lhs]) != 1:
        raise OptionError("A formula has one outcome.", given=left)
    if not columns:
        raise OptionError("A formula needs a column.", given=repr(formula), allowed=listing(data.columns))
    return Model(
        text, tuple(columns), frozenset(inside - outside), left, plain if plain in data.columns else None
    )


def _powers(formula: str) -> str:
    """^ as ** inside I( … ), where Python would read it as something else."""
    done, depth, starts = [], 0, []
    for i, letter in enumerate(formula):
        if letter == "(":
            depth += 1
            if re.search(r"(?:^|[^\w.])I$", formula[:i]):
                starts.append(depth)
        elif letter == ")":
            if starts and starts[-1] == depth:
                starts.pop()
            depth -= 1
        done.append("**" if letter == "^" and starts else letter)
    return "".join(done)


def _names_in(expression: str, formula: str) -> dict[str, bool]:
    """The columns in an expression and whether they stand in C(); anything but arithmetic is refused."""
    quoted = {f"quoted_{i}_": name for i, name in enumerate(dict.fromkeys(_QUOTED.findall(expression)))}
    text = expression
    for stand_in, name in quoted.items():
        text = text.replace(f"`{name}`", stand_in)
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise OptionError("The formula cannot be read.", given=repr(formula), hint=str(error)) from None
    contrasts = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "contr.treatment"
        for part in (node, node.func, *ast.walk(node.func), *node.keywords)
    }
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found: dict[str, bool] = {}
    for node in ast.walk(tree):
        if id(node) in contrasts:
            continue
        bad = not isinstance(node, _ALLOWED)
        if isinstance(node, ast.Call):
            bad = not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS or bool(node.keywords)
        if bad:
            raise OptionError(
                "A formula may only hold columns, numbers, arithmetic and a few functions.",
                given=expression,
                allowed=listing(FUNCTIONS),
                hint=nearest(expression.split("(")[0], FUNCTIONS),
            )
        if isinstance(node, ast.Name) and id(node) not in called:
            found[quoted.get(node.id, node.id)] = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "C":
            found |= {quoted.get(a.id, a.id): True for a in node.args if isinstance(a, ast.Name)}
    return found


def matrices(
    model: Model, files: Sequence[Microdata], *, binary: bool
) -> tuple[list[Matrix | None], list[str]]:
    """The formula on every file, the same categories in the same order, and what had to be done for it.

    Categories are text, columns under C(), and numbers whose values all have value labels. They come in
    sorted order (codes by number, ordered types in their own order), those of the first file first; the
    reference is the first that all files have. None for a file that lacks a column.
    """
    notes: list[str] = []
    complete = [data for data in files if all(c in data.columns for c in model.columns)]
    columns: dict[str, list[Any]] = {}
    for name in model.columns:
        series = [data.frame[name] for data in complete]
        columns[name] = _aligned(name, series, files[0], model, notes, binary=binary)
    found: list[Matrix | None] = []
    for data in files:
        if any(data is one for one in complete):
            place = next(i for i, one in enumerate(complete) if one is data)
            found.append(_matrix(model, {c: v[place] for c, v in columns.items()}))
        else:
            lost = [c for c in model.columns if c not in data.columns]
            notes.append(f"The protected file has no column {listing(lost)}.")
            found.append(None)
    return found, notes


def _aligned(
    name: str, series: Sequence[pl.Series], first: Microdata, model: Model, notes: list[str], *, binary: bool
) -> list[Any]:
    """One column of every file, as numbers in all of them or as categories with the same levels in all."""
    labels = {as_text(k): t for k, t in first.labels.values.get(name, {}).items()}
    labelled = bool(labels) and all(as_text(v) in labels for v in series[0].drop_nulls().unique())
    category = [name in model.factors or labelled or not s.dtype.is_numeric() for s in series]
    if not any(category):
        return [_numbers(s) for s in series]
    if not category[0]:
        known = [midpoints(_levels(s)) for s in series if not s.dtype.is_numeric()]
        if all(k is not None for k in known):
            notes.append(f"{name} is in intervals in the protected file; their midpoints stand for them.")
            return [_numbers(s) if s.dtype.is_numeric() else _midpoint_numbers(s) for s in series]
        notes.append(f"{name} is a number in the original and a category in the protected file.")
    # a merged category is text, and those left beside it are their labels: both files by label then
    known_as = labels if labelled else {}
    levels = [list(dict.fromkeys(known_as.get(x, x) for x in _levels(s))) for s in series]
    series = [texts(s).replace(known_as) for s in series]
    every = list(dict.fromkeys(level for some in levels for level in some))
    shared = [level for level in every if all(level in some for some in levels)]
    if name == model.plain_response:
        return [_outcome(name, s, every, binary=binary) for s in series]
    if shared and every[0] != shared[0]:
        notes.append(f"The reference of {name} is {shared[0]}: not all files have {every[0]}.")
        every = [shared[0], *(level for level in every if level != shared[0])]
    if len(every) > _MOST_LEVELS:
        raise OptionError(
            f"{name} has too many categories for a regression.", given=len(every), allowed=_MOST_LEVELS
        )
    gone = [x for x in every if x not in shared]
    if gone:
        notes.append(f"Categories of {name} that not all files have: {listing(gone, 6)}.")
    return [_category(s, every) for s in series]


def _levels(series: pl.Series) -> list[str]:
    """The categories that occur, in order, as text."""
    present = series.drop_nulls().unique()
    if isinstance(series.dtype, pl.Enum):
        there = set(present.cast(pl.String))
        return [c for c in series.dtype.categories if c in there]
    if not series.dtype.is_numeric():
        return sorted(present.cast(pl.String))
    return texts(present.sort()).to_list()


def _numbers(series: pl.Series) -> Floats:
    return np.asarray(series.cast(pl.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)


def _midpoint_numbers(series: pl.Series) -> Floats:
    known = midpoints(_levels(series)) or {}
    found = series.cast(pl.String).replace_strict(
        list(known), list(known.values()), default=None, return_dtype=pl.Float64
    )
    return _numbers(found)


def _codes(series: pl.Series, levels: Sequence[str]) -> Any:
    place = {level: i for i, level in enumerate(levels)}
    codes = texts(series).replace_strict(
        list(place), list(place.values()), default=None, return_dtype=pl.Int64
    )
    return codes.fill_null(-1).to_numpy()


def _category(series: pl.Series, levels: Sequence[str]) -> Any:
    import pandas as pd

    return pd.Categorical.from_codes(_codes(series, levels), categories=list(levels))


def _outcome(name: str, series: pl.Series, levels: Sequence[str], *, binary: bool) -> Floats:
    """A category as outcome: the second of two is 1."""
    if not binary or len(levels) != 2:
        raise ColumnError(
            f"The outcome {name!r} is a category.",
            given=f"{len(levels)} categories",
            allowed="numbers, or two categories with family='logit'",
        )
    codes = _codes(series, levels).astype(np.float64)
    return np.where(codes < 0, np.nan, codes)


def _matrix(model: Model, columns: dict[str, Any]) -> Matrix:
    import pandas as pd
    from formulaic import Formula
    from formulaic.errors import FormulaicError

    missing = np.zeros(len(next(iter(columns.values()))), dtype=np.bool_)
    for values in columns.values():
        missing |= values.codes < 0 if isinstance(values, pd.Categorical) else ~np.isfinite(values)
    frame = pd.DataFrame({c: v[~missing] for c, v in columns.items()})
    if not len(frame):
        return Matrix(np.empty(0), np.empty((0, 0)), (), ~missing)
    own = {"sqrt": np.sqrt, "log1p": np.log1p}
    try:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            made = Formula(model.text).get_model_matrix(
                frame, context=own, na_action="ignore", output="numpy"
            )
    except FormulaicError as error:  # such as the logarithm of a category
        raise OptionError("The formula does not suit the data.", given=model.text, hint=str(error)) from None
    y, x = np.asarray(made.lhs, dtype=np.float64), np.asarray(made.rhs, dtype=np.float64)
    if y.shape[1] != 1:
        raise OptionError("The outcome of the formula must be one number.", given=model.response)
    whole = np.isfinite(y[:, 0]) & np.isfinite(x).all(axis=1)  # log(0) is as good as missing
    kept = ~missing
    kept[np.flatnonzero(kept)[~whole]] = False
    names = tuple(_as_written(n) for n in made.rhs.model_spec.column_names)
    return Matrix(y[whole, 0], x[whole], names, kept)


def _as_written(name: str) -> str:
    """Powers as people write them: I(age ** 2) → I(age^2)."""
    return re.sub(r"\s*\*\*\s*", "^", name)
