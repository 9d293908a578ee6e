"""Records of cells in the order of their keyed numbers, from memory or from an engine."""

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit.engine import frames
from sdckit.engine.joins import join_to_records
from sdckit.engine.tables import OURS
from sdckit.protect._draws import Draws, whole_numbers
from sdckit.protect._lending import Records
from sdckit.protect._weighted_cells import HIGH, LOW, WeightedCells

_CELL, _LIMIT, _DRAWN = (f"{OURS}{part}" for part in ("cell", "limit", "drawn"))


class Lenders:
    """The records that a suppression may ask for. Outside memory, those asked for are known by their ids."""

    def __init__(self, cells: WeightedCells, draws: Draws) -> None:
        self.cells, self.draws = cells, draws
        self.name = draws.data.roles.id or ""
        self.known: pl.DataFrame | None = None

    def draw(self, codes: Ints, step: int) -> Floats:
        """The numbers that records with these codes draw in a step."""
        return self.draws.uniform_of(codes, step)

    def ids(self, records: Ints) -> pl.DataFrame:
        """The ids of records that were asked for."""
        return pl.DataFrame() if self.known is None else self.known[records].select(self.name)

    def fetch(self, limit: Floats, step: int, drawn: Records) -> Records:
        """The records of cells whose numbers are at most the limit of the cell, but those drawn before."""
        if not limit.any():
            return Records()
        return (self._here if self.draws.data.engine == "polars" else self._there)(limit, step, drawn)

    def _here(self, limit: Floats, step: int, drawn: Records) -> Records:
        of_records = self.cells.of_records
        wanted = limit[of_records] > 0
        wanted[drawn.record] = False
        rows = np.flatnonzero(wanted)
        codes = self.draws.codes[rows]
        numbers = self.draw(codes, step)
        near = numbers <= limit[of_records[rows]]
        rows = rows[near]
        weights = self.cells.with_weights(frames.lazy(self.draws.data.frame[rows]))
        high, low = (column.to_numpy() for column in frames.gather(weights.select(HIGH, LOW)))
        return Records(rows, codes[near], of_records[rows], high, low, np.zeros_like(rows), numbers[near])

    def _there(self, limit: Floats, step: int, drawn: Records) -> Records:
        here = np.flatnonzero(limit)
        keys = self.cells.combinations.columns
        places = self.cells.combinations[here].with_columns(
            pl.Series(_CELL, here), pl.Series(_LIMIT, limit[here])
        )
        weight = self.draws.data.roles.weight
        names = dict.fromkeys([self.name, *keys, *([] if weight is None else [weight])])
        table = join_to_records(self.draws.data.table.select(*names), places, keys, [_CELL, _LIMIT])
        table = self.draws.with_uniform(table.filter(~nw.col(_CELL).is_null()), step, _DRAWN)
        table = self.cells.with_weights(table.filter(nw.col(_DRAWN) <= nw.col(_LIMIT)))
        found = frames.gather(table.select(self.name, _CELL, _DRAWN, HIGH, LOW))
        if len(drawn.record):
            found = found.join(self.ids(drawn.record), on=self.name, how="anti")
        before = 0 if self.known is None else self.known.height
        self.known = found if self.known is None else pl.concat([self.known, found])
        cell, high, low = (found[c].cast(pl.Int64).to_numpy() for c in (_CELL, HIGH, LOW))
        rows = before + np.arange(found.height)
        codes = whole_numbers(found[self.name])
        return Records(rows, codes, cell, high, low, np.zeros_like(rows), found[_DRAWN].to_numpy())
