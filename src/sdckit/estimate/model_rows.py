"""What a model sees of records: their outcomes, and rows of predictors that many of them may share.

With sex and education as predictors there are some twenty different rows, whatever the number of records.
Sums over records are then sums over rows, and a formula is read for the different rows only.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.engine.tables import OURS
from sdckit.estimate.formula import Encodings, Model, model_matrix

SHARED = 20  # records for each different row, at least, for which rows are looked up
MOST = 20_000  # different rows
LOOKED_AT = 20_000  # records that tell whether there may be so few

_ROW = f"{OURS}row"


@dataclass(frozen=True, slots=True)
class ModelRows:
    """y [k] of the `kept` records [n], which have no missing value, and the row [k] of each in x [g, p]."""

    x: Floats
    row: Ints | None  # None: each record has its own
    y: Floats
    kept: Bools

    def of_records(self, rows: Floats) -> Floats:
        """[k, …] What stands in a record's row of [g, …]."""
        return rows if self.row is None else rows[self.row]

    def sums(self, values: Floats) -> Floats:
        """[g] The sum of the values [k] of each row's records."""
        if self.row is None:
            return values
        return np.bincount(self.row, values, len(self.x)).astype(np.float64, copy=False)

    def means(self, weights: Floats, values: Floats) -> tuple[Floats, Floats, float]:
        """[g] The weight and the mean of each row's records, and the weighted squares about these means."""
        if self.row is None:
            return weights, values, 0.0
        mass = self.sums(weights)
        mean = self.sums(weights * values) / np.where(mass > 0, mass, 1.0)
        return mass, mean, float(weights @ (values - mean[self.row]) ** 2)


@dataclass(frozen=True, eq=False)
class Reader:
    """A model, how it reads the columns of a file, and the different rows of predictors where they are few.

    different: their values, with the number of the row in x, or −1 where one is missing.
    """

    model: Model
    encoded: Encodings
    different: pl.DataFrame | None
    x: Floats

    @classmethod
    def of(cls, data: Microdata, model: Model, encoded: Encodings) -> "Reader":
        """For the records of a file outside memory."""
        nothing = cls(model, encoded, None, np.empty((0, 0)))
        most = min(MOST, data.height // SHARED)
        if not model.predictors or not model.outcomes:
            return nothing
        table = data.table.select(*model.predictors)
        some = frames.gather(table.head(LOOKED_AT))
        if some.n_unique() * SHARED > some.height:
            return nothing
        different = frames.gather(table.unique().head(most + 1))
        if different.height > most:
            return nothing
        found = model_matrix(model.of_predictors, encoded, different)
        row = pl.Series(_ROW, np.where(found.kept, np.cumsum(found.kept) - 1, -1))
        return cls(model, encoded, different.with_columns(row), found.x)

    def rows(self, frame: pl.DataFrame) -> ModelRows:
        """The model on some of the records."""
        if self.different is None:
            matrix = model_matrix(self.model, self.encoded, frame)
            return ModelRows(matrix.x, None, matrix.y, matrix.kept)
        y = model_matrix(self.model.of_outcome, self.encoded, frame)
        by = list(self.model.predictors)
        met = frame.select(by).join(
            self.different, on=by, how="left", nulls_equal=True, maintain_order="left"
        )
        row = np.asarray(met[_ROW].to_numpy(), dtype=np.int64)
        kept = y.kept & (row >= 0)
        if kept.all():  # mostly so, and no copy then
            return ModelRows(self.x, row, y.y, kept)
        return ModelRows(self.x, row[kept], y.y[kept[y.kept]], kept)
