"""What a model sees of records: their outcomes, and rows of predictors that many of them may share.

With sex and education as predictors there are some twenty different rows, whatever the number of records.
Sums over records are then sums over rows, and a formula is read for the different rows only.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.engine.tables import OURS
from sdckit.estimate.formula import Encodings, Model, model_matrix

SHARED = 20  # records for each different row, at least, for which it is worth to look for them
LOOKED_AT = 20_000  # records that tell whether there are so few

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


def model_rows(model: Model, encoded: Encodings, frame: pl.DataFrame) -> ModelRows:
    """A formula on some records."""
    found = _shared(model, frame)
    if found is None:
        matrix = model_matrix(model, encoded, frame)
        return ModelRows(matrix.x, None, matrix.y, matrix.kept)
    different, row = found
    left, right = model.of_outcome, model.of_predictors
    y = model_matrix(left, {c: encoded[c] for c in left.columns}, frame)
    x = model_matrix(right, {c: encoded[c] for c in right.columns}, different)
    place = np.where(x.kept, np.cumsum(x.kept) - 1, -1)[row]
    kept = y.kept & (place >= 0)
    return ModelRows(x.x, place[kept], y.y[kept[y.kept]], kept)


def _shared(model: Model, frame: pl.DataFrame) -> tuple[pl.DataFrame, Ints] | None:
    """What different values the predictors have, and the place of each record's; None if they are many."""
    if not model.predictors or not model.outcomes:
        return None
    columns = frame.select(model.predictors)
    for some in (columns[:LOOKED_AT], columns):
        different = some.unique()
        if different.height * SHARED > some.height:
            return None
    numbered = different.with_columns(pl.int_range(pl.len()).alias(_ROW))
    met = columns.join(numbered, on=model.predictors, how="left", nulls_equal=True, maintain_order="left")
    return different, np.asarray(met[_ROW].to_numpy(), dtype=np.int64)


def sum_by_row(rows: ModelRows, values: Floats) -> Floats:
    """[g] The sum of the values of each row's records."""
    return values if rows.row is None else np.bincount(rows.row, values, len(rows.x))


def means_by_row(rows: ModelRows, weights: Floats, values: Floats) -> tuple[Floats, Floats, float]:
    """[g] The sum of weights and the mean of each row's records, and the weighted squares about the means."""
    if rows.row is None:
        return weights, values, 0.0
    mass = sum_by_row(rows, weights)
    mean = sum_by_row(rows, weights * values) / np.where(mass > 0, mass, 1.0)
    return mass, mean, float(weights @ (values - mean[rows.row]) ** 2)
