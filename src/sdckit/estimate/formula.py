"""Model formulas: parsed, checked, and turned into matrices that mean the same in every file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats
from sdckit._support.messages import did_you_mean, join_names
from sdckit.data.microdata import Microdata
from sdckit.errors import OptionError, preview
from sdckit.estimate.encoding import Asked, Encoding, aligned, distinct_values
from sdckit.estimate.formula_language import QUOTED, names_in, refuse_endless, unread
from sdckit.estimate.indicator import written

# C(x, Treatment("b")), in R C(x, contr.treatment(base="b"))
_REFERENCE = re.compile(
    r"\bC\(\s*(`[^`]+`|[\w.]+)\s*,\s*(?:contr\.treatment|Treatment)"
    r"\(\s*(?:\w+\s*=\s*)?(?:\"([^\"]*)\"|'([^']*)'|([\w.]+))\s*\)\s*\)"
)
_MOST_COEFFICIENTS = 2_000

Encodings = Mapping[str, Encoding]


@dataclass(frozen=True, slots=True)
class Model:
    """A checked formula: the text for formulaic, its columns, and those of them that C() makes categories."""

    text: str
    columns: tuple[str, ...]
    factors: frozenset[str]
    response: str  # as written
    plain_response: str | None  # the column, where the response is one
    references: Mapping[str, str]  # of the columns whose reference was chosen
    predictors: tuple[str, ...] = ()  # the columns on the right side
    outcomes: tuple[str, ...] = ()  # those on the left

    @property
    def of_predictors(self) -> "Model":
        """The right side alone, with an outcome of ones."""
        return replace(self, text="1 ~" + self.text.split("~")[1], columns=self.predictors)

    @property
    def of_outcome(self) -> "Model":
        """The left side alone, with a constant as predictor."""
        return replace(self, text=self.text.split("~")[0] + "~ 1", columns=self.outcomes)


@dataclass(frozen=True, slots=True)
class Matrix:
    """A formula on one file. y [k], x [k, p] over the `kept` records [n], which have no missing value."""

    y: Floats
    x: Floats
    names: tuple[str, ...]
    kept: Bools


def parse(formula: str, data: Microdata, reference: Mapping[str, Any] | None = None) -> Model:
    """Check a formula such as "log(wage) ~ sex + age + I(age^2)" against the columns of the data.

    R's and formulaic's language: +, :, *, -1, C(x), factor(x) or as.factor(x) for categories, also with a
    reference, C(x, Treatment("b")); log, exp, sqrt and abs;
    I(…) for arithmetic, with ^ or ** for powers; `backticks` round names that are not words. Nothing else is
    evaluated: a formula from a file cannot run code.
    """
    from formulaic import Formula
    from formulaic.errors import FormulaicError

    if formula.count("~") != 1 or not all(side.strip() for side in formula.split("~")):
        raise OptionError(
            "A formula has an outcome, a tilde and predictors.", given=preview(formula), allowed="y ~ a + b"
        )
    refuse_endless(formula)
    text, chosen = _plain(formula)
    chosen |= {column: written(level) for column, level in (reference or {}).items()}
    try:
        parsed = Formula(text)
        factors = [
            (f, side) for side in (0, 1) for term in (parsed.lhs, parsed.rhs)[side] for f in term.factors
        ]
    except (FormulaicError, SyntaxError, ValueError, AttributeError, IndexError) as error:
        raise unread(formula, error) from None
    sides: tuple[dict[str, None], dict[str, None]] = ({}, {})
    inside: set[str] = set()
    outside: set[str] = set()
    for factor, side in factors:
        method = factor.eval_method.value
        if method == "literal":
            continue
        names = {factor.expr: False} if method == "lookup" else names_in(factor.expr, formula)
        for name, category in names.items():
            data.require(name)
            data.require_categories([name])
            sides[side][name] = None
            (inside if category else outside).add(name)
    columns = sides[0] | sides[1]
    left = formula.split("~")[0].strip()
    plain = left.strip("`")
    if len([*parsed.lhs]) != 1:
        raise OptionError("A formula has one outcome.", given=left)
    if not columns or not [*parsed.rhs]:
        raise OptionError("A formula needs a column.", given=repr(formula), allowed=join_names(data.columns))
    for column in chosen:
        if column not in columns:
            raise OptionError(
                f"reference names {column!r}, which is not in the formula.",
                allowed=join_names(columns),
                hint=did_you_mean(column, columns),
            )
    response = plain if plain in data.columns else None
    factor_columns = frozenset(inside - outside)
    return Model(
        text, tuple(columns), factor_columns, left, response, chosen, tuple(sides[1]), tuple(sides[0])
    )


def _plain(formula: str) -> tuple[str, dict[str, str]]:
    """The formula in formulaic's words, and the references that stand in it."""
    text = re.sub(r"(?<![\w.])(?:as\.)?factor\(", "C(", _powers(formula))
    chosen = {}
    for met in _REFERENCE.finditer(text):
        level = next(level for level in met.groups()[1:] if level is not None)
        truth = met[4] in ("True", "False")  # without quotes, as Python writes true and false
        chosen[met[1].strip("`")] = level.lower() if truth else level
    text = _REFERENCE.sub(r"C(\1)", text)
    if re.search(r"(?<![\w.])\.(?![\w.])", QUOTED.sub("x", text)):
        raise OptionError(
            "A dot for all other columns is not read: identifiers and weights would be among them.",
            given=repr(formula),
            hint="Name the predictors: y ~ a + b.",
        )
    return text, chosen


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


def encodings(
    model: Model, files: Sequence[Microdata], *, binary: bool
) -> tuple[list[Encodings | None], list[str]]:
    """How the columns of a formula are read, so that they mean the same in every file, and what to say of it.

    Categories are text, columns under C(), and numbers whose values all have value labels. They come in
    sorted order (codes by number, ordered types in their own order), those of the first file first; the
    reference is the first that all files have. None for a file that lacks a column.
    """
    notes: list[str] = []
    complete = [data for data in files if all(c in data.columns for c in model.columns)]
    alike = {
        name: aligned(
            name,
            distinct_values(complete, name, files[0].labels, factor=name in model.factors),
            files[0].labels,
            Asked(
                name in model.factors,
                name == model.plain_response,
                binary,
                model.references.get(name),
            ),
            notes,
        )
        for name in model.columns
    }
    found: list[Encodings | None] = []
    for data in files:
        place = next((i for i, one in enumerate(complete) if one is data), None)
        if place is None:
            lost = [c for c in model.columns if c not in data.columns]
            notes.append(f"The protected file has no column {join_names(lost)}.")
        found.append(None if place is None else {c: every[place] for c, every in alike.items()})
    return found, notes


def model_matrix(model: Model, encoded: Encodings, frame: pl.DataFrame) -> Matrix:
    """The formula on some records of a file."""
    return _matrix(model, {c: encoded[c].values(frame[c]) for c in model.columns})


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
    _refuse_wide(model, columns)
    own = {"sqrt": np.sqrt, "log1p": np.log1p}
    try:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            made = Formula(model.text).get_model_matrix(
                frame, context=own, na_action="ignore", output="numpy"
            )
    except FormulaicError:  # such as the logarithm of a category
        words = [c for c, v in columns.items() if isinstance(v, pd.Categorical)]
        raise OptionError(
            "The formula does not suit the data.",
            given=model.text,
            hint=f"Functions and arithmetic take numbers; categories are {join_names(words) or 'none'}.",
        ) from None
    y, x = np.asarray(made.lhs, dtype=np.float64), np.asarray(made.rhs, dtype=np.float64)
    if y.shape[1] != 1:
        raise OptionError("The outcome of the formula must be one number.", given=model.response)
    names = tuple(_as_written(n) for n in made.rhs.model_spec.column_names)
    kept = ~missing
    if np.isfinite(x).all() and np.isfinite(y).all():  # mostly so, and looked up faster than row by row
        return Matrix(y[:, 0], x, names, kept)
    whole = np.isfinite(y[:, 0]) & np.isfinite(x).all(axis=1)  # log(0) is as good as missing
    kept[np.flatnonzero(kept)[~whole]] = False
    return Matrix(y[whole, 0], x[whole], names, kept)


def _refuse_wide(model: Model, columns: Mapping[str, Any]) -> None:
    """Refuse products of categories that would have more coefficients than anybody can look at."""
    from formulaic import Formula

    levels = {c: len(v.categories) for c, v in columns.items() if hasattr(v, "categories")}
    width = 0
    for term in Formula(model.text).rhs:
        width += prod(
            levels.get(f.expr.removeprefix("C(").removesuffix(")").strip("` "), 1) for f in term.factors
        )
    if width > _MOST_COEFFICIENTS:
        raise OptionError(
            "The formula has too many coefficients.", given=f"{width:,}", allowed=f"{_MOST_COEFFICIENTS:,}"
        )


def _as_written(name: str) -> str:
    """Powers as people write them: I(age ** 2) → I(age^2)."""
    return re.sub(r"\s*\*\*\s*", "^", name)
