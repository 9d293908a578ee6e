"""Model formulas: parsed, checked, and turned into matrices that mean the same in every file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats
from sdckit._support.messages import did_you_mean, join_names
from sdckit.data.microdata import Microdata
from sdckit.data.values import as_text, texts
from sdckit.errors import ColumnError, OptionError, preview
from sdckit.estimate.categories import to_choose
from sdckit.estimate.formula_language import QUOTED, names_in, refuse_endless, unread
from sdckit.estimate.indicator import written
from sdckit.estimate.midpoints import midpoints

# C(x, Treatment("b")), in R C(x, contr.treatment(base="b"))
_REFERENCE = re.compile(
    r"\bC\(\s*(`[^`]+`|[\w.]+)\s*,\s*(?:contr\.treatment|Treatment)"
    r"\(\s*(?:\w+\s*=\s*)?(?:\"([^\"]*)\"|'([^']*)'|([\w.]+))\s*\)\s*\)"
)
_MOST_LEVELS = 200
_MOST_COEFFICIENTS = 2_000


@dataclass(frozen=True, slots=True)
class Model:
    """A checked formula: the text for formulaic, its columns, and those of them that C() makes categories."""

    text: str
    columns: tuple[str, ...]
    factors: frozenset[str]
    response: str  # as written
    plain_response: str | None  # the column, where the response is one
    references: Mapping[str, str]  # of the columns whose reference was chosen


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
        terms = [*parsed.lhs, *parsed.rhs]
        factors = [f for term in terms for f in term.factors]
    except (FormulaicError, SyntaxError, ValueError, AttributeError, IndexError) as error:
        raise unread(formula, error) from None
    columns: dict[str, None] = {}
    inside: set[str] = set()
    outside: set[str] = set()
    for factor in factors:
        method = factor.eval_method.value
        if method == "literal":
            continue
        names = {factor.expr: False} if method == "lookup" else names_in(factor.expr, formula)
        for name, category in names.items():
            data.require(name)
            data.require_categories([name])
            columns[name] = None
            (inside if category else outside).add(name)
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
    return Model(text, tuple(columns), frozenset(inside - outside), left, response, chosen)


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
            notes.append(f"The protected file has no column {join_names(lost)}.")
            found.append(None)
    return found, notes


def _aligned(
    name: str, series: Sequence[pl.Series], first: Microdata, model: Model, notes: list[str], *, binary: bool
) -> list[Any]:
    """One column of every file, as numbers in all of them or as categories with the same levels in all."""
    labels = _labels_of_all(name, series[0], first)
    if not (name in model.factors or labels) and series[0].dtype.is_numeric():
        if name in model.references:
            raise OptionError(
                f"{name} holds numbers, which have no reference.",
                given=f"reference {model.references[name]!r}",
                hint=f"Write C({name}) in the formula if its numbers are categories.",
            )
        found = _all_numbers(name, series, notes)
        if found is not None:
            return found
    levels = [list(dict.fromkeys(labels.get(level, level) for level in _levels(s))) for s in series]
    every = list(dict.fromkeys(level for some in levels for level in some))
    _check_number(name, len(every), model, binary=binary)
    if name in model.references:
        wanted = labels.get(model.references[name], model.references[name])
        kinds = [pl.String() if labels else s.dtype for s in series]
        _check_reference(name, wanted, levels[0], kinds)
        every.sort(key=lambda level: level != wanted)
    series = [texts(s).replace(labels) for s in series]
    if name == model.plain_response:
        return [_outcome(s, every) for s in series]
    every = _shared_first(name, every, levels, notes)
    return [_category(s, every) for s in series]


def _labels_of_all(name: str, series: pl.Series, data: Microdata) -> dict[str, str]:
    """The value labels of a column, where all its values have one; otherwise none.

    A merged category is text, and those left unmerged are known by their labels: all files go by label then.
    """
    labels = {as_text(k): text for k, text in data.labels.values.get(name, {}).items()}
    return labels if all(as_text(v) in labels for v in series.drop_nulls().unique()) else {}


def _all_numbers(name: str, series: Sequence[pl.Series], notes: list[str]) -> list[Floats] | None:
    """Numbers, and midpoints where a file has intervals; None where a file has other categories."""
    grouped = [s for s in series if not s.dtype.is_numeric()]
    if any(midpoints(_levels(s)) is None for s in grouped):
        notes.append(f"{name} is a number in the original and a category in the protected file.")
        return None
    if grouped:
        notes.append(f"{name} is in intervals in the protected file; their midpoints stand for them.")
    return [_numbers(s) if s.dtype.is_numeric() else _midpoint_numbers(s) for s in series]


def _check_reference(name: str, wanted: str, levels: Sequence[str], kinds: Sequence[Any]) -> None:
    """Refuse a reference that the original does not have."""
    if wanted not in levels:
        allowed, hint = to_choose(wanted, levels, kinds)
        raise OptionError(
            f"The original has no category {wanted!r} of {name} to be the reference.",
            allowed=allowed,
            hint=hint,
        )


def _shared_first(
    name: str, every: Sequence[str], levels: Sequence[Sequence[str]], notes: list[str]
) -> list[str]:
    """The categories with the reference in front: the first one that all files have."""
    shared = [level for level in every if all(level in some for some in levels)]
    if shared and shared[0] != every[0]:
        notes.append(f"The reference of {name} is {shared[0]}: not all files have {every[0]}.")
    gone = [level for level in every if level not in shared]
    if gone:
        notes.append(f"Categories of {name} that not all files have: {join_names(gone, 6)}.")
    return list(dict.fromkeys([*shared[:1], *every]))


def _check_number(name: str, levels: int, model: Model, *, binary: bool) -> None:
    """Refuse a column with more categories than the model can have."""
    if name == model.plain_response and (not binary or levels != 2):
        raise ColumnError(
            f"The outcome {name!r} is a category.",
            given=f"{levels} categories",
            allowed="numbers, or two categories with family='logit'",
        )
    if levels > _MOST_LEVELS:
        raise OptionError(
            f"{name} has too many categories for a regression.", given=levels, allowed=_MOST_LEVELS
        )


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


def _outcome(series: pl.Series, levels: Sequence[str]) -> Floats:
    """A category as outcome: the second of two is 1."""
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
    whole = np.isfinite(y[:, 0]) & np.isfinite(x).all(axis=1)  # log(0) is as good as missing
    kept = ~missing
    kept[np.flatnonzero(kept)[~whole]] = False
    names = tuple(_as_written(n) for n in made.rhs.model_spec.column_names)
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
