"""Hierarchical log-linear models of a table of counts, by proportional fitting and Newton's method."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Floats, Ints
from sdckit.errors import DataError, OptionError

LARGEST = 20_000_000  # cells of a table that is fitted in one piece
_DONE, _ENOUGH = 1e-10, 1e-5  # largest deviation of a margin, as a share of the total
_SLOW, _MOST = 100, 200  # rounds of proportional fitting: after which Newton's method is tried, and at most
_MANY_CELLS, _MANY_LEVELS = 500_000, 1_000  # that are too many for it


@dataclass(frozen=True, slots=True)
class LogLinear:
    """A fitted model: total · Π of the shares of its components.

    Variables that no chain of terms joins are independent, so each component has a table of its own and the
    whole grid is never needed. components: (variables, shares that add up to 1).
    """

    total: float
    components: tuple[tuple[tuple[int, ...], Floats], ...]
    steps: int
    converged: bool

    def expected(self, codes: npt.NDArray[np.integer[Any]]) -> Floats:
        """Expected counts of cells [c, q]; code −1 sums over that variable."""
        result = np.full(len(codes), self.total)
        for variables, shares in self.components:
            result *= _look_up(shares, codes[:, variables])
        return result

    def grid(self) -> Floats:
        """Expected counts of every cell, in one flat array without order."""
        flat = np.array([self.total])
        for _, shares in self.components:
            flat = np.multiply.outer(flat, shares).reshape(-1)
        return flat

    @property
    def size(self) -> int:
        """Number of cells of the grid."""
        sizes = [shares.size for _, shares in self.components]
        return int(np.prod(np.array(sizes, dtype=object))) if sizes else 1


def log_linear(
    codes: npt.NDArray[np.integer[Any]],
    counts: Floats,
    terms: Sequence[Sequence[int]] = (),
) -> LogLinear:
    """Maximum likelihood (Poisson) of counts over the full grid of the codes that occur.

    codes [c, q]: cells, 0, 1, …, with −1 for missing; cells may repeat and cells not listed count 0. counts
    need not be whole: with sums of weights this is pseudo maximum likelihood. terms: interactions, as tuples
    of columns of codes; main effects and all lower terms are always in the model.

    A cell with a missing code enters the margins of the components whose variables it has.

    Proportional fitting always gains, but where zeros push the estimate to the edge of the parameter space
    (the maximum is not reached by any parameters, only approached) every round gains less than the one
    before. Tables that have not settled after 100 rounds are therefore fitted by Newton's method with halved
    steps, as glm of R does, until the deviance changes by less than 10⁻¹² of itself (glm: 10⁻⁸), and keep
    the better fit. Tables with more than 500,000 cells or 1,000 parameters go on by proportional fitting, up
    to 200 rounds; converged is then whether margins are met within 10⁻⁵ of the total.

    >>> codes = np.array([[0, 0], [0, 1], [1, 0]])
    >>> fit = log_linear(codes, np.array([4.0, 2.0, 2.0]))  # independence: row sums 6, 2; column sums 6, 2
    >>> fit.expected(np.array([[0, 0], [1, 1], [0, -1]])).tolist()
    [4.5, 0.5, 6.0]
    """
    sizes = codes.max(axis=0, initial=-1) + 1
    present = [v for v in range(codes.shape[1]) if sizes[v] > 0]
    wanted = _maximal([tuple(sorted({v for v in term if v in present})) for term in terms], present)
    components, steps, converged = [], 1, True
    for variables in _connected(wanted):
        table = _table(codes[:, variables], counts, sizes[list(variables)])
        places = {v: i for i, v in enumerate(variables)}
        margins = [tuple(places[v] for v in term) for term in wanted if term[0] in places]
        fitted, used, done = _fit(table, margins)
        components.append((variables, fitted))
        steps, converged = max(steps, used), converged and done
    return LogLinear(float(counts.sum()), tuple(components), steps, converged)


def _maximal(terms: Sequence[tuple[int, ...]], variables: Sequence[int]) -> list[tuple[int, ...]]:
    """The terms no other contains, with every variable in at least one."""
    every = {term for term in terms if term} | {(v,) for v in variables}
    return sorted(t for t in every if not any(set(t) < set(other) for other in every))


def _connected(terms: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The variables grouped so that terms join only variables of one group."""
    groups: list[set[int]] = []
    for term in terms:
        touched = [g for g in groups if g & set(term)]
        groups = [g for g in groups if g not in touched] + [set(term).union(*touched)]
    return [tuple(sorted(g)) for g in groups]


def _table(codes: npt.NDArray[np.integer[Any]], counts: Floats, sizes: Ints) -> Floats:
    """The shares of a component's cells among what has no code missing there."""
    cells = int(np.prod(sizes.astype(object)))
    if cells > LARGEST:
        raise OptionError(
            "The variables joined by interactions have too many cells.",
            given=f"{cells:,} cells",
            allowed=f"up to {LARGEST:,}",
            hint="Use fewer interactions, or recode the keys to fewer categories.",
        )
    whole = (codes >= 0).all(axis=1)
    place = np.ravel_multi_index(tuple(codes[whole].T), tuple(sizes))
    flat = np.bincount(place, weights=counts[whole], minlength=cells).astype(np.float64)
    if not flat.any():
        raise DataError("No record has all the variables that an interaction joins.")
    shares: Floats = (flat / flat.sum()).reshape(tuple(sizes))
    return shares


def _fit(table: Floats, margins: Sequence[tuple[int, ...]]) -> tuple[Floats, int, bool]:
    """Shares with the margins of the table, how many rounds and steps it took, and whether it converged."""
    if margins == [tuple(range(table.ndim))]:
        return table, 1, True
    fitted = np.full(table.shape, 1 / table.size)
    worst = 1.0
    for step in range(1, _MOST + 1):
        worst = _round(table, margins, fitted)
        if worst < _DONE:
            return fitted, step, True
        if step == _SLOW and (found := _newton(table, margins)) is not None:
            sharper, steps, done = found
            _round(table, margins, sharper)
            if _log_likelihood(table, sharper) >= _log_likelihood(table, fitted):
                return sharper, step + steps, done
    return fitted, _MOST, worst < _ENOUGH


def _round(table: Floats, margins: Sequence[tuple[int, ...]], fitted: Floats) -> float:
    """Make every margin that of the table, in turn; how far the farthest was from it."""
    worst = 0.0
    for margin in margins:
        other = tuple(a for a in range(table.ndim) if a not in margin)
        goal, now = table.sum(axis=other, keepdims=True), fitted.sum(axis=other, keepdims=True)
        worst = max(worst, float(np.abs(goal - now).max()))
        fitted *= np.divide(goal, now, out=np.zeros_like(goal), where=now > 0)
    return worst


def _log_likelihood(table: Floats, fitted: Floats) -> float:
    held = table > 0
    return float((table[held] * np.log(np.maximum(fitted[held], np.finfo(float).tiny))).sum())


def _newton(table: Floats, margins: Sequence[tuple[int, ...]]) -> tuple[Floats, int, bool] | None:
    """Shares by Poisson regression on the levels of the margins, steps, and whether it converged.

    Cells of empty margins are 0 and take no part. None where there are too many cells or levels.
    """
    from scipy.sparse import csr_matrix

    from sdckit.models.glm import POISSON, gram, independent_columns, newton, solve_step

    if table.size > _MANY_CELLS:
        return None
    cells = np.indices(table.shape).reshape(table.ndim, -1)
    alive = np.ones(table.size, dtype=bool)
    columns, levels = [], 0
    for margin in margins:
        place = np.ravel_multi_index(tuple(cells[list(margin)]), tuple(table.shape[a] for a in margin))
        held = np.bincount(place, weights=table.ravel()) > 0
        alive &= held[place]
        columns.append(levels + (np.cumsum(held) - 1)[place])
        levels += int(held.sum())
    if levels > _MANY_LEVELS:
        return None
    rows = np.column_stack(columns)[alive]
    y = table.ravel()[alive] * alive.sum()
    starts = np.arange(0, rows.size + 1, len(margins))
    design = csr_matrix((np.ones(rows.size), np.sort(rows, axis=1).ravel(), starts), shape=(len(y), levels))
    design = design[:, np.flatnonzero(independent_columns(gram(design, np.ones(len(y)))))]

    def solve(residuals: Floats, v: Floats) -> Floats:
        return solve_step(gram(design, v), design.T @ (v * residuals))

    _, eta, steps, converged = newton(design, y, np.ones(len(y)), POISSON, solve)
    fitted = np.zeros(table.size)
    fitted[alive] = POISSON.mean(eta)[0]
    return (fitted / fitted.sum()).reshape(table.shape), steps, converged


def _look_up(shares: Floats, codes: npt.NDArray[np.integer[Any]]) -> Floats:
    found = np.empty(len(codes))
    patterns, of_cell = np.unique(codes >= 0, axis=0, return_inverse=True)
    for p, present in enumerate(patterns):
        mine = of_cell.reshape(-1) == p
        table = shares.sum(axis=tuple(np.flatnonzero(~present)))
        found[mine] = table[tuple(codes[mine][:, present].T)]
    return found
