"""The variance of a design from sums over its units, for records that never are in memory together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.data.microdata import Microdata
from sdckit.engine.tables import OURS, count_cells
from sdckit.errors import OptionError
from sdckit.estimate.sampling import SamplingOptions, design_notes, refuse_single_units, units_within
from sdckit.estimate.stage import SinglePsu

_CODE = f"{OURS}stratum"


@dataclass(frozen=True, slots=True)
class EngineDesign:
    """Where the design of a file outside memory stands: columns of strata, of units and of weights.

    codes: the combinations of strata that occur, each with its number. As in `design_of`, a missing stratum
    is a stratum and a missing cluster makes a record its own unit.
    """

    strata: tuple[str, ...]
    cluster: str | None
    weight: str | None
    codes: pl.DataFrame
    rule: SinglePsu

    @classmethod
    def of(cls, data: Microdata, options: SamplingOptions) -> "EngineDesign":
        """The design by the roles of the data."""
        refused = {"fpc": options.fpc, "units": options.units, "single_psu_domains": options.in_domains}
        for name, given in refused.items():
            if given:
                raise OptionError(
                    f"{name} needs the records in memory.",
                    given=f"the {data.engine} engine",
                    hint="data.collect() brings them into memory.",
                )
        roles = data.roles
        strata = tuple(c for c in roles.strata if c in data.columns)
        cells = count_cells(data.table, strata, None).select(strata) if strata else pl.DataFrame({"": [0]})
        return cls(strata, roles.cluster, roles.weight, cells.with_row_index(_CODE), options.single_psu)

    @property
    def columns(self) -> tuple[str, ...]:
        """What must be known of a record."""
        named = (self.cluster, self.weight)
        return tuple(dict.fromkeys([*self.strata, *(c for c in named if c is not None)]))

    @property
    def together(self) -> tuple[str, ...]:
        """Columns whose equal values must come in one batch."""
        return () if self.cluster is None else (*self.strata, self.cluster)

    def weights(self, frame: pl.DataFrame) -> Floats:
        """[n] The weights of some records."""
        if self.weight is None:
            return np.ones(frame.height)
        return np.asarray(frame[self.weight].cast(pl.Float64).to_numpy(), dtype=np.float64)

    def rows(self, frame: pl.DataFrame, scores: Floats, inside: Bools, *, full: bool) -> Floats:
        """One row a stratum of what some records, all of whole units, add to the sums.

        Columns: number of the stratum; units; for each of k scores the units with a record inside; means of
        the unit totals; sums of their squared deviations, or with `full` of all products.
        """
        stratum = self._stratum(frame)
        totals, group, met = scores, stratum, inside
        if self.cluster is not None:
            unit = units_within(stratum, frame[self.cluster])
            group = np.empty(int(unit.max()) + 1, dtype=np.int64)
            group[unit] = stratum
            totals = _sums(unit, scores)
            met = _sums(unit, met) > 0
        return _stratum_rows(group, met, totals, full=full)

    def rows_of_lines(
        self, frame: pl.DataFrame, x: Floats, line: Ints, left: Floats, inside: Bools
    ) -> Floats:
        """The same, with all products, of scores left·x[line] of the records `inside`, each its own unit.

        Scores of one line differ by a factor, of which number, mean and squares are enough.
        """
        stratum = self._stratum(frame)
        codes, place = np.unique(stratum, return_inverse=True) if self.strata else (stratum[:1], stratum)
        shape = len(codes), len(x) + 1  # the last line is that of the records outside
        lines, value = line, left
        if not inside.all():
            lines, value = np.full(frame.height, len(x)), np.zeros(frame.height)
            lines[inside], value[inside] = line, left
        cell = place * shape[1] + lines
        n = np.bincount(cell, minlength=shape[0] * shape[1])
        mean = np.bincount(cell, value, len(n)) / np.maximum(n, 1)
        squares = np.bincount(cell, (value - mean[cell]) ** 2, len(n))
        x = np.vstack([x, np.zeros(x.shape[1])])
        found = []
        for code, n_l, mean_l, squares_l in zip(
            codes, *(part.reshape(shape) for part in (n, mean, squares)), strict=True
        ):
            means = (n_l * mean_l) @ x / n_l.sum()
            away = mean_l[:, None] * x - means
            products = (squares_l[:, None] * x).T @ x + (n_l[:, None] * away).T @ away
            met = np.full(x.shape[1], n_l[:-1].sum())
            found.append(np.concatenate([[code, n_l.sum()], met, means, products.ravel()]))
        return np.array(found)

    def _stratum(self, frame: pl.DataFrame) -> Ints:
        """[n] The number of the stratum of each record."""
        if not self.strata:
            return np.zeros(frame.height, dtype=np.int64)
        joined = frame.select(self.strata).join(
            self.codes, on=list(self.strata), how="left", nulls_equal=True, maintain_order="left"
        )
        return np.asarray(joined[_CODE].to_numpy(), dtype=np.int64)


def _sums(of: Ints, columns: Floats | Bools) -> Floats:
    return np.column_stack([np.bincount(of, weights=column) for column in columns.T])


def _stratum_rows(group: Ints, met: Bools, totals: Floats, *, full: bool) -> Floats:
    if len(totals) and group.min() == group.max():  # the most common case, in a fifth of the time
        return _one_stratum(group[0], met, totals, full=full)
    codes, place = np.unique(group, return_inverse=True)
    m = np.bincount(place)
    means = _sums(place, totals) / m[:, None]
    away = totals - means[place]
    if full:
        order = np.argsort(place, kind="stable")
        parts = np.split(away[order], np.cumsum(m)[:-1])
        squares = np.array([(part.T @ part).ravel() for part in parts])
    else:
        squares = _sums(place, away**2)
    return np.column_stack([codes, m, _sums(place, met), means, squares])


def _one_stratum(code: int, met: Bools, totals: Floats, *, full: bool) -> Floats:
    """The same where all units are of one stratum."""
    mean = totals.mean(axis=0)
    away = totals - mean
    squares = (away.T @ away).ravel() if full else (away**2).sum(axis=0)
    return np.concatenate([[code, len(totals)], met.sum(axis=0), mean, squares])[None, :]


@dataclass(frozen=True, eq=False)
class UnitSums:
    """For every stratum its units, those with records of each score, means and products of unit totals."""

    m: Ints
    met: Ints  # [strata, k]
    means: Floats  # [strata, k]
    products: Floats  # [strata, k, k], or [strata, k] squares only

    @classmethod
    def of(cls, parts: Iterable[Floats], strata: int, k: int, *, full: bool) -> "UnitSums":
        """The rows of all batches put together, without loss of digits (Chan, Golub & LeVeque 1983)."""
        m, met = np.zeros(strata), np.zeros((strata, k))
        means, products = np.zeros((strata, k)), np.zeros((strata, k, k) if full else (strata, k))
        for rows in parts:
            code, more = rows[:, 0].astype(np.int64), rows[:, 1]
            met[code] += rows[:, 2 : 2 + k]
            apart = rows[:, 2 + k : 2 + 2 * k] - means[code]
            both = m[code] + more
            factor = (m[code] * more / both)[:, None]
            cross = (apart[:, :, None] * apart[:, None, :]) if full else apart**2
            added = rows[:, 2 + 2 * k :].reshape(len(rows), *products.shape[1:])
            products[code] += added + (factor[:, :, None] if full else factor) * cross
            means[code] += apart * (more / both)[:, None]
            m[code] = both
        return cls(m.astype(np.int64), met.astype(np.int64), means, products)

    @classmethod
    def of_units(cls, units: int, inside: int, total: float, squares: float) -> "UnitSums":
        """One score of one stratum: its units, those inside, the sum of their scores and that of squares."""
        mean = total / units
        around = max(squares - units * mean**2, 0.0)
        return cls(np.array([units]), np.array([[inside]]), np.array([[mean]]), np.array([[around]]))

    @classmethod
    def beside(cls, parts: Sequence["UnitSums"], places: Sequence[int]) -> "UnitSums":
        """Sums of squares of different scores of the same units; the k-th score of all goes to places[k]."""
        order = np.argsort(places) if len(places) else slice(None)
        met, means, squares = (
            np.concatenate([getattr(part, name) for part in parts], axis=1)[:, order]
            for name in ("met", "means", "products")
        )
        return cls(parts[0].m, met, means, squares)

    @property
    def degrees(self) -> float:
        """Units less strata, and at least 1."""
        return float(max(int(self.m.sum()) - len(self.m), 1))

    def within_one_unit(self, rule: SinglePsu) -> Bools:
        """[k] Whether the records of a score are all of one unit, as `Design` has it."""
        certain = (self.m == 1) & (rule is SinglePsu.CERTAINTY)
        return np.asarray((self.met.sum(axis=0) == 1) & (self.met[certain].sum(axis=0) == 0))

    def variance(self, rule: SinglePsu) -> Floats:
        r"""[k] or [k, k]: :math:`\sum_h \frac{m_h}{m_h-1}\sum_c (u_{hc}-\bar u_h)^2`, as `Design` has it."""
        single = self.m == 1
        factor = np.where(single, 0.0, self.m / np.maximum(self.m - 1, 1))
        full = self.products.ndim == 3
        found = np.einsum("h,h...->...", factor, self.products)
        if rule is SinglePsu.ADJUST and single.any():
            away = self.means[single] - self.m @ self.means / self.m.sum()
            if self.m.sum() == 1:  # one unit in all has nothing to be compared with
                away = np.full_like(away, np.nan)
            found = found + (away.T @ away if full else (away**2).sum(axis=0))
        if rule is SinglePsu.AVERAGE:
            here = self.met > 0
            known = (here & ~single[:, None]).sum(axis=0)
            share = np.where(known > 0, here.sum(axis=0) / np.maximum(known, 1), np.nan)
            share = np.where((here & single[:, None]).any(axis=0), share, 1.0)
            found = found * (np.sqrt(np.outer(share, share)) if full else share)
        return np.asarray(found)

    def notes(self, data: Microdata, options: SamplingOptions) -> tuple[str, ...]:
        """What must be said of the design."""
        single = [int((self.m == 1).sum())]
        if options.single_psu is SinglePsu.FAIL:
            refuse_single_units(single)
        return tuple(design_notes(data, single, [int(self.m.sum())], options))
