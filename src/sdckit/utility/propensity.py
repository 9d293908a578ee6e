"""Propensity scores: can a model tell the protected file from the original?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Annotated, Any

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Codes, Floats
from sdckit.data.keyed_sample import on_keyed_sample
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.errors import OptionError
from sdckit.methods.options import ComparedColumns, Option, Requires
from sdckit.methods.registry import utility
from sdckit.methods.spec import Better, Figure, share
from sdckit.utility._stacked import Stack, Variable, stacked, sums

_MOST_COLUMNS = 2000
_BINS = 40
_LEAF = 0.02  # a leaf of the tree has this share of the weight
_JITTER = 1e-6  # relative change of weights that decides between splits without any gain


UNLIKE = (
    "pmse_ratio and standardised are those of files as large as the sample: of the whole files they would be "
    "larger."
)


class PropensityModel(StrEnum):
    """What predicts the file: main effects, these and all pairs of variables, or a classification tree."""

    LOGISTIC = "logistic"
    INTERACTIONS = "interactions"
    CART = "cart"


@utility(
    "Propensity scores (UP, pMSE)",
    family="Whole distributions",
    bounds=(0, 0.25),
    unit="mean squared distance of a propensity score from the share of protected records",
    reference="Woo, Reiter, Oganian & Karr (2009); Snoke, Raab, Nowok, Dibben & Slavkovic (2018)",
    chart=charts.score_densities,
    main="model",
    engines="all",
    rules=(Requires("permutations", "model", (PropensityModel.CART,)),),
    figures={
        "share_protected": share("Protected records among all", better=Better.NEITHER),
        "coefficients": Figure("Coefficients of the model", "coefficients", Better.NEITHER),
        "leaves": Figure("Leaves of the tree", "leaves", Better.NEITHER),
        "permutations": Figure("Random permutations", "permutations", Better.NEITHER),
        "pmse_ratio": Figure("Value as a multiple of what a perfect synthesis gives"),
        "standardised": Figure(
            "Standard deviations from what a perfect synthesis gives",
            "standard deviations",
            bounds=(-math.inf, math.inf),
        ),
        "auc": Figure(
            "Chance to tell a protected from an original record (AUC; 0.5: pure guessing)", bounds=(0, 1)
        ),
    },
    interpretation=(
        "0: no model of this kind can tell the files apart. 0.25: every record gives away its file (equal "
        "sizes). For synthetic data a value near what a perfect synthesis gives is good, ten "
        "times as much is poor; after changes record by record it can be far lower. The model sees only what "
        "its terms express."
    ),
)
def propensity(
    original: Microdata,
    protected: Microdata,
    *,
    variables: ComparedColumns = (),
    model: Annotated[
        PropensityModel,
        Option(
            "Model",
            "What predicts from its values which file a record is of.",
            basic=True,
            choices={
                "logistic": "logistic regression with main effects",
                "interactions": "logistic regression with all two-way interactions",
                "cart": "a classification tree",
            },
        ),
    ] = PropensityModel.LOGISTIC,
    permutations: Annotated[
        int,
        Field(ge=2),
        Option("Permutations", "How many permutations of the files give the yardstick of a tree."),
    ] = 20,
) -> Result:
    r"""How well a model predicts from its values whether a record is original or protected.

    .. math:: UP = \frac{1}{N}\sum_i (\hat p_i - c)^2, \qquad c = m/(n+m),\ N = n+m

    p̂ is the fitted probability that a record of the two stacked files is a protected one. 0: all p̂ = c;
    c(1−c), which is 0.25 for files of equal length: the files share no record the model could confuse.

    `variables`: keys, numeric and sensitive columns in both files by default. `model`: logistic regression
    with main effects, with all two-way interactions added, or CART (grown until leaves have 0.02 of the
    weight; categories ordered by their share). The tree finds differences in a perfect synthesis, too: look
    at its ratio and not at the value.

    `pmse_ratio` is UP/E and `standardised` (UP−E)/SD. For logistic models E = (k−1)(1−c)²c/N and
    SD = √(2(k−1))·(1−c)²c/N with k independent coefficients: what a correct synthesis gives (Snoke et al.).
    For CART they are the mean and standard deviation over `permutations` fits with the file indicator
    permuted (seed fixed): what two samples of one population give. That is the harder yardstick by 1/(1−c),
    so a correct synthesis comes near 1−c. `auc` is the probability that a protected record has the higher p̂.

    The part `alone` is UP from that variable by itself (main effects); the table `scores` has the
    distribution of p̂ in each file.

    Categorical variables have the categories of both files, and missing is one of them. In numeric ones a
    missing value is filled with the mean and marked by an indicator. A number column with more than 200
    values is numeric; for CART, which cuts numbers anywhere, one with more than 20, most without a label,
    as an age in years that is a key. In a regression such a key keeps its categories: a straight line
    would not see ages rounded to fives. Of more than 200 text categories the 199 most frequent stay. A
    variable coded as numbers in one file and text in the other is left out: other codes are not another
    distribution.

    On DuckDB and Spark: of some 50,000 records drawn by their ids; a note has the standard error.

    Weights: the fit and the mean count each record with its survey weight, each file's weights scaled to add
    up to its number of records; N in E and SD is then Kish's effective number. Reference: Woo et al. (2009),
    Snoke et al. (2018). Departures: Woo's formula has c = ½; it is the share here.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"a": ["x", "x", "x", "y"]}), keys="a")
    >>> other = data.with_frame(pl.DataFrame({"a": ["x", "y", "y", "y"]}))
    >>> sdc.utility.propensity(data, other).figures["coefficients"]
    2
    >>> round(sdc.utility.propensity(data, other).value, 6)  # p̂ is ¼ or ¾
    0.0625
    """
    given: dict[str, Any] = {"variables": variables, "model": model, "permutations": permutations}
    if original.engine != "polars":
        return on_keyed_sample(_of_records, [original, protected], unlike=UNLIKE, **given)
    return _of_records(original, protected, **given)


def _of_records(
    original: Microdata,
    protected: Microdata,
    *,
    variables: Sequence[str],
    model: PropensityModel,
    permutations: int,
) -> Result:
    """The measure of files in memory."""
    stack = stacked(original, protected, variables, ordered=model is PropensityModel.CART)
    if not stack.variables:
        return Result(math.nan, notes=(*stack.notes, "No variable to compare."), lost=stack.lost)
    if model is PropensityModel.CART:
        fit = _cart(stack, permutations)
    else:
        fit = _regression(stack, interactions=model is PropensityModel.INTERACTIONS)
    value = _up(fit.scores, stack.original + stack.protected, stack.share)
    figures: dict[str, float] = {"share_protected": stack.share, **fit.figures}
    notes = stack.notes + fit.notes
    if fit.spread > 0:
        figures |= {"pmse_ratio": value / fit.expected, "standardised": (value - fit.expected) / fit.spread}
    else:
        notes += ("The variables do not vary, so there is no yardstick for the value.",)
    figures["auc"] = _auc(stack, fit.scores)
    if any(data.roles.weight is not None for data in (original, protected)):
        notes += ("Records count with their survey weights.",)
    return Result(
        value, figures, _alone(stack), notes, {"scores": _histogram(stack, fit.scores)}, lost=stack.lost
    )


@dataclass(frozen=True, slots=True)
class _Fit:
    """Scores of the distinct records, and mean and spread of UP when the files do not differ."""

    scores: Floats
    expected: float
    spread: float
    figures: dict[str, float]
    notes: tuple[str, ...] = ()


def _up(scores: Floats, mass: Floats, share: float) -> float:
    return float(np.sum(mass * (scores - share) ** 2) / np.sum(mass))


def _regression(stack: Stack, *, interactions: bool) -> _Fit:
    from sdckit.models.glm import logistic

    slots = [slot for i, v in enumerate(stack.variables) for slot in _slots(v, i)]
    if interactions:
        slots += [_product(a, b) for a, b in combinations(slots, 2) if a.variable != b.variable]
    columns = 1 + sum(slot.width for slot in slots)
    if columns > _MOST_COLUMNS:
        raise OptionError(
            "The model has too many coefficients.",
            given=f"{columns:,}",
            allowed=f"at most {_MOST_COLUMNS:,}",
            hint="Name fewer variables=, recode those with many categories, or use model='cart'.",
        )
    mass = stack.original + stack.protected
    fit = logistic(_design(slots, len(mass)), stack.protected / mass, mass)
    c = stack.share
    effective = mass.sum() ** 2 / np.sum(stack.weight**2)
    unit = (1 - c) ** 2 * c / effective
    notes: tuple[str, ...] = ()
    if fit.separated:
        notes += (
            "Some records can only be of one file, as those with a value that the other lacks; the AUC is "
            "of all records.",
        )
    if not fit.converged:
        notes += (f"The fit had not settled after {fit.steps} steps.",)
    terms = fit.rank - 1
    return _Fit(fit.fitted, terms * unit, math.sqrt(2 * terms) * unit, {"coefficients": fit.rank}, notes)


@dataclass(frozen=True, slots=True)
class _Slot:
    """One entry in each row of a design: in which of `width` columns it stands, and its value."""

    variable: int
    column: Codes
    value: Floats
    width: int


def _slots(v: Variable, variable: int) -> list[_Slot]:
    """Treatment contrasts: the first category, or nothing missing, is the reference and has value 0."""
    if v.codes is not None:
        return [
            _Slot(
                variable, np.maximum(v.codes - 1, 0), (v.codes > 0).astype(np.float64), max(v.levels - 1, 1)
            )
        ]
    values = np.asarray(v.values)
    zero = np.zeros(len(values), dtype=np.int32)
    found = [_Slot(variable, zero, values, 1)]
    if v.missing is not None:
        found.append(_Slot(variable, zero, v.missing.astype(np.float64), 1))
    return found


def _product(a: _Slot, b: _Slot) -> _Slot:
    return _Slot(-1, a.column * b.width + b.column, a.value * b.value, a.width * b.width)


def _design(slots: list[_Slot], rows: int) -> Any:
    from scipy.sparse import csr_matrix

    columns = np.zeros((rows, len(slots) + 1), dtype=np.int32)
    values = np.ones((rows, len(slots) + 1))
    offset = 1
    for i, slot in enumerate(slots, 1):
        columns[:, i] = offset + slot.column
        values[:, i] = slot.value
        offset += slot.width
    starts = np.arange(rows + 1) * columns.shape[1]
    return csr_matrix((values.ravel(), columns.ravel(), starts), shape=(rows, offset))


def _cart(stack: Stack, permutations: int) -> _Fit:
    scores, leaves = _tree(stack, stack.original, stack.protected)
    n, m = (~stack.second).sum(), stack.second.sum()
    rng = np.random.default_rng([int(n), int(m)])
    null = []
    for _ in range(permutations):
        drawn = rng.permutation(stack.second)
        x, y = (sums(stack.place, stack.weight * side) for side in (~drawn, drawn))
        x, y = x * (n / x.sum()), y * (m / y.sum())
        null.append(_up(_tree(stack, x, y)[0], x + y, stack.share))
    figures: dict[str, float] = {"leaves": leaves, "permutations": permutations}
    return _Fit(scores, float(np.mean(null)), float(np.std(null, ddof=1)), figures)


def _tree(stack: Stack, original: Floats, protected: Floats) -> tuple[Floats, int]:
    """A regression tree on the shares: squared error splits as the Gini index does on 0 and 1.

    Categories enter in the order of their share, so that the best split in two sets is among the cuts. The
    tree is grown until its leaves are small: where two files agree in every variable by itself and differ in
    their relations, no first split gains anything, and the differences show further down. Weights are changed
    by a millionth, so that such splits fall anywhere; the scores are shares by the weights themselves.
    """
    from sklearn.tree import DecisionTreeRegressor

    mass = original + protected
    there = mass > 0
    y = np.divide(protected, mass, out=np.zeros(len(mass)), where=there)
    columns: list[Floats] = []
    for v in stack.variables:
        if v.codes is not None:
            shares = sums(v.codes, protected, v.levels) / np.maximum(sums(v.codes, mass, v.levels), 1e-300)
            columns.append(np.argsort(np.argsort(shares.round(12), kind="stable"))[v.codes].astype(float))
        else:
            columns.append(np.asarray(v.values))
            if v.missing is not None:
                columns.append(v.missing.astype(np.float64))
    x = np.column_stack(columns)
    tree = DecisionTreeRegressor(min_weight_fraction_leaf=_LEAF, random_state=0)
    jitter = 1 + _JITTER * np.random.default_rng(0).random(len(mass))
    tree.fit(x[there], y[there], sample_weight=(mass * jitter)[there])
    leaves = tree.apply(x)
    inside, total = (sums(leaves, part) for part in (protected, mass))
    return inside[leaves] / total[leaves], int(tree.get_n_leaves())


def _alone(stack: Stack) -> pl.DataFrame:
    """UP of each variable by itself; a categorical one needs no fit, its scores are the shares."""
    from sdckit.models.glm import logistic

    mass = stack.original + stack.protected
    rows: list[tuple[Any, ...]] = []
    for i, v in enumerate(stack.variables):
        if v.codes is not None:
            inside = sums(v.codes, mass, v.levels)
            shares = sums(v.codes, stack.protected, v.levels) / inside
            rows.append((v.name, "categorical", _up(shares, inside, stack.share)))
        else:
            fit = logistic(_design(_slots(v, i), len(mass)), stack.protected / mass, mass)
            rows.append((v.name, "numeric", _up(fit.fitted, mass, stack.share)))
    return pl.DataFrame(rows, schema=["variable", "kind", "alone"], orient="row")


def _auc(stack: Stack, scores: Floats) -> float:
    """P(score of a protected record > that of an original one), ties counted half."""
    _, tied = np.unique(scores.round(12), return_inverse=True)
    x, y = sums(tied, stack.original), sums(tied, stack.protected)
    below = np.cumsum(x) - x / 2
    return float(np.sum(y * below) / (x.sum() * y.sum()))


def _histogram(stack: Stack, scores: Floats) -> pl.DataFrame:
    """Shares of each file in bins of the score."""
    low, high = float(scores.min()), float(scores.max())
    if high - low < 1e-6:
        low, high = max(low - 0.01, 0.0), min(high + 0.01, 1.0)
    edges = np.linspace(low, high, _BINS + 1)
    masses = (stack.original, stack.protected)
    x, y = (np.histogram(scores, edges, weights=mass)[0] / mass.sum() for mass in masses)
    return pl.DataFrame({"from": edges[:-1], "to": edges[1:], "original": x, "protected": y})
