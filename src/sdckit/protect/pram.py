"""Post-randomisation (PRAM): categories change at random, with known probabilities."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Floats, Ints
from sdckit._support.messages import join_names
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.errors import ColumnError, OptionError
from sdckit.methods.options import By, Columns, OneOf, Option, Shape
from sdckit.methods.registry import protection
from sdckit.methods.where import Where
from sdckit.protect._categories import Categories, categories
from sdckit.protect._draws import Draws
from sdckit.protect._households import once_per_household
from sdckit.protect._strata import strata
from sdckit.protect._transitions import Stratum, cumulated, frequencies, with_transitions

Probability = Annotated[float, Field(ge=0, le=1)]

STAY = 0.8
MAX_CATEGORIES = 1000  # categories; a variable with more is no category
MAX_SHOWN = 12  # categories of a matrix that is worth showing in the log
CLOSE = 1e-6  # rows of a given matrix add up to one as nearly as this


@protection(
    "Post-randomisation (PRAM)",
    family="Changed values",
    engines="all",
    reference="Gouweleeuw, Kooiman, Willenborg & de Wolf (1998); Hundepool et al. (2012), ch. 3",
    rules=(OneOf(("stay", "matrix")),),
    renamed={"amount": "share"},
)
@once_per_household()
def pram(
    data: Microdata,
    *,
    variables: Annotated[Columns, Option("Variables", "The categorical variables to protect.")],
    stay: Annotated[
        Probability | Mapping[str, Probability],
        Option(
            "Probability to stay",
            "How probable it is that a value keeps its category: one number, or one for each category.",
            basic=True,
        ),
    ] = STAY,
    matrix: Annotated[
        Mapping[str, Mapping[str, Probability]],
        Option(
            "Transition matrix",
            "The probability of each new category for each old one, {old: {new: probability}}.",
            absent="from stay",
            shape=Shape.MATRIX,
        ),
    ]
    | None = None,
    invariant: Annotated[
        bool,
        Option(
            "Keep frequencies",
            "Keep the frequencies of the categories in expectation.",
            absent="yes unless there is a matrix",
        ),
    ]
    | None = None,
    share: Annotated[
        float,
        Field(gt=0, le=1),
        Option("Share that takes part", "The probability of each value to take part; others stay."),
    ] = 1.0,
    weighted: Annotated[
        bool, Option("Weighted frequencies", "The frequencies that stay are those with the survey weights.")
    ] = False,
    by: By = (),
    where: Where | None = None,
    rng: np.random.Generator,
) -> Microdata:
    r"""Let each value change its category at random, variable by variable, record by record.

    A value in category i becomes j with probability P_ij. `stay` is the diagonal of P, one probability or one
    for each category (of one variable); what is left is spread evenly over the other categories. Or `matrix`
    gives P for one variable, {old: {new: probability}}; categories without a row stay. Categories are named
    by code or by value label.

    Invariant PRAM (the default, unless a matrix is given) keeps the frequencies p of the categories in
    expectation. It applies P and then its reversal by Bayes' rule,

    .. math:: R = P\,Q, \qquad Q_{kj} = \frac{P_{jk}\,p_j}{\sum_l p_l P_{lk}}, \qquad p^\top R = p^\top

    so somewhat fewer values stay than `stay` says; the log has the share that changed, and R. With a
    `share` a below 1 every value takes part with probability a only: a·R + (1−a)·I. With `stay=1` nothing
    changes.

    `by`: within strata, each with its own frequencies; frequencies of strata then stay in expectation, too.
    `weighted`: p are weighted frequencies, and those stay in expectation. A variable that households share
    changes once per household; p are then frequencies of households. Relations between variables weaken.
    Only categories that occur (in the stratum) take part, and none is invented. Missing values stay missing
    and do not count in p. Whoever knows the seed and a record's old id knows what it drew: keep the seed as
    secret as the original, or give none.
    `where`: protect only the records that a measure flags, see `sdckit.methods.where`.
    Reference: Gouweleeuw et al. (1998).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"eye": ["blue", "brown"] * 500}), keys="eye")
    >>> done = sdc.protect.pram(data, variables="eye", stay=0.9, rng=1)
    >>> done.log[-1].figures["share_changed"], done.log[-1].figures["matrix"]["eye"]["blue"]
    ({'eye': 0.166}, {'blue': 0.82, 'brown': 0.18})
    """
    names = list(dict.fromkeys(variables))
    if len(names) > 1 and (matrix is not None or isinstance(stay, Mapping)):
        raise OptionError("Probabilities by category are for one variable.", given=join_names(names))
    keep = matrix is None if invariant is None else invariant
    draws = Draws(data, rng)
    shown, drawn = {}, []
    for name in names:
        in_order = _checked(categories(data, name).occurring())
        known = in_order.by_value()
        first = None if matrix is None else _given(known, matrix)
        diagonal = _stay(known, stay)
        chances = {
            stratum: _chances(counts, diagonal, first, keep=keep, share=share)
            for stratum, counts in frequencies(data, known, by, weighted=weighted).items()
        }
        if not by and len(known.values) <= MAX_SHOWN:
            whole = chances.get((), np.eye(len(known.values)))
            shown[name] = _as_mapping(whole, known, in_order.texts)
        drawn.append((known, chances))
    done, changed = (_changed if data.engine == "polars" else with_transitions)(data, by, drawn, draws)
    effects = Effects(randomises=tuple(names))
    return done.with_frame(done.frame, effects=effects, changed=(), share_changed=changed, matrix=shown)


def _chances(counts: Floats, stay: Floats, first: Floats | None, *, keep: bool, share: float) -> Floats:
    """The matrix [old, new] of a stratum with these frequencies; categories that do not occur stay."""
    taking_part = np.flatnonzero(counts) if first is None else np.arange(len(counts))
    p = spread_evenly(stay[taking_part]) if first is None else first
    r = invariant_matrix(counts[taking_part], p) if keep else p
    found = np.eye(len(counts))
    found[np.ix_(taking_part, taking_part)] = share * r + (1 - share) * np.eye(len(r))
    return found


def _changed(
    data: Microdata,
    by: Sequence[str],
    drawn: Sequence[tuple[Categories, Mapping[Stratum, Floats]]],
    draws: Draws,
) -> tuple[Microdata, dict[str, float]]:
    """The file in memory with new categories, and the share of the values of each variable that changed."""
    done, shares = data, {}
    for step, (known, chances) in enumerate(drawn):
        column = done.frame[known.variable]
        codes = _codes(column, known)
        new, uniform = codes.copy(), draws.uniform(step)
        for rows in strata(done, by):
            here = rows[codes[rows] >= 0]
            if len(here):
                matrix = chances[done.frame.select(by).row(int(here[0])) if by else ()]
                new[here] = _draw(codes[here], matrix, uniform[here])
        shares[known.variable] = int((new != codes).sum()) / max(int((codes >= 0).sum()), 1)
        frame = done.frame.with_columns(_values(column, known, new))
        done = done.with_frame(frame, changed=[known.variable])
    return done, shares


def invariant_matrix(frequencies: Floats, first: Floats) -> Floats:
    """A first matrix followed by its reversal, under which these frequencies stay in expectation."""
    joint = frequencies[:, None] * first
    reached = joint.sum(axis=0)
    return np.asarray(first @ (joint / np.where(reached > 0, reached, 1.0)).T)


def spread_evenly(stay: Floats) -> Floats:
    """A matrix with this diagonal and even chances for all other categories; a single category stays."""
    k = len(stay)
    matrix = np.repeat((1 - stay)[:, None] / max(k - 1, 1), k, axis=1)
    np.fill_diagonal(matrix, stay if k > 1 else 1.0)
    return matrix


def _checked(known: Categories) -> Categories:
    if len(known.values) > MAX_CATEGORIES:
        raise ColumnError(
            f"pram is for categories; {known.variable!r} has too many values.",
            given=len(known.values),
            allowed=f"{MAX_CATEGORIES:,} at most",
        )
    return known


def _stay(known: Categories, stay: float | Mapping[str, float]) -> Floats:
    """The probability of every category to stay."""
    if not isinstance(stay, Mapping):
        return np.full(len(known.values), stay)
    chances = {known.place(name): chance for name, chance in stay.items()}
    lacking = [text for place, text in enumerate(known.texts) if place not in chances]
    if lacking:
        raise OptionError(
            f"stay needs a probability for every category of {known.variable!r}.", hint=f"Add {lacking[0]!r}."
        )
    return np.array([chances[place] for place in range(len(chances))])


def _given(known: Categories, matrix: Mapping[str, Mapping[str, float]]) -> Floats:
    """A matrix of the user's as an array over all categories."""
    result = np.eye(len(known.values))
    for old, row in matrix.items():
        total = sum(row.values())
        if abs(total - 1) > CLOSE:
            raise OptionError(f"The probabilities of {old!r} must add up to 1.", given=f"{total:g}")
        place = known.place(old)
        result[place] = 0.0
        for new, chance in row.items():
            result[place, known.place(new)] += chance / total
    return result


def _codes(column: pl.Series, known: Categories) -> Ints:
    """The place of each value among the categories; −1 where missing."""
    levels = pl.Series(list(known.values), dtype=column.dtype)
    places = pl.Series(range(len(known.values)), dtype=pl.Int64)
    return column.replace_strict(levels, places, default=-1).fill_null(-1).to_numpy()


def _values(column: pl.Series, known: Categories, codes: Ints) -> pl.Series:
    """The column with the categories at these places."""
    levels = pl.Series(column.name, [*known.values, None], dtype=column.dtype)
    return levels.gather(np.where(codes < 0, len(known.values), codes))


def _draw(codes: Ints, chances: Floats, uniform: Floats) -> Ints:
    """A new category for each old one: the first whose cumulative probability is above the uniform number."""
    cumulative = cumulated(chances)
    order = np.argsort(codes.astype(np.int16), kind="stable")  # short integers are sorted in linear time
    ends = np.bincount(codes, minlength=len(chances)).cumsum()
    sorted_uniform = uniform[order]
    drawn = np.empty_like(codes)
    for category, (start, end) in enumerate(pairwise([0, *ends])):
        chosen = np.searchsorted(cumulative[category], sorted_uniform[start:end], side="right")
        drawn[start:end] = chosen
    new = np.empty_like(codes)
    new[order] = drawn
    return new


def _as_mapping(chances: Floats, known: Categories, order: Sequence[str]) -> dict[str, dict[str, float]]:
    """The matrix by the names of its categories, which are shown in the order of the column."""
    rows = dict(zip(known.texts, np.round(chances, 6).tolist(), strict=True))
    found = {old: dict(zip(known.texts, row, strict=True)) for old, row in rows.items()}
    return {old: {new: found[old][new] for new in order} for old in order}
