"""What intruders do: compare what they know of persons with the released records, and pick one.

The person in row i of what is known has the record in row link[i] of the released file (row i without link).
A single best record is picked, and only the right one counts; with `ties`, one of the best is drawn, and the
chance that it is the right one counts.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

MISSING = "\0"


def texts(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Columns as text, numbers as integers where they are whole; missing is a text of its own."""
    made = []
    for c in columns:
        column = frame[c]
        if column.dtype.is_float() and bool(((column.round() == column) | column.is_null()).all()):
            column = column.cast(pl.Int64)
        made.append(column.cast(pl.String).fill_null(MISSING).alias(c))
    return pl.DataFrame(made)


def found(known: pl.DataFrame, released: pl.DataFrame, columns: Sequence[str], link=None) -> int:
    """Persons whose values in some columns exactly one released record has: their own."""
    true, seen = texts(known, columns), texts(released, columns)
    own = seen if link is None else seen[np.asarray(link)]
    same = (true.hash_rows(seed=1) == own.hash_rows(seed=1)).to_numpy()
    counts = seen.group_by(columns).len()
    matches = true.join(counts, on=columns, how="left", maintain_order="left")["len"].fill_null(0).to_numpy()
    return int((same & (matches == 1)).sum())


def _codes(known: pl.DataFrame, released: pl.DataFrame, column: str) -> tuple[np.ndarray, np.ndarray]:
    both = pl.concat([texts(known, [column])[column], texts(released, [column])[column]])
    codes = both.rank("dense").to_numpy().astype(np.int64)
    blank = both.to_numpy() == MISSING
    codes = np.where(blank, -1, codes)
    return codes[: known.height], codes[known.height :]


def found_likely(
    known: pl.DataFrame, released: pl.DataFrame, columns: Sequence[str], link=None, *, ties: bool = False
) -> float:
    """Persons found by adding up, over the columns, how rare each value is that agrees (Fellegi & Sunter).

    A missing released value neither agrees nor disagrees; a value that differs counts against a record.
    """
    score = np.zeros((known.height, released.height), dtype=np.float32)
    for column in columns:
        true, seen = _codes(known, released, column)
        share = np.bincount(np.maximum(seen, 0), minlength=max(true.max(), seen.max()) + 1) / len(seen)
        agrees = (true[:, None] == seen[None, :]) & (true[:, None] >= 0)
        rare = -np.log(np.maximum(share[np.maximum(true, 0)], 1 / len(seen)))
        score += np.where(agrees, rare[:, None], np.where(seen[None, :] < 0, 0.0, -3.0))
    return _picked(score, link, ties=ties)


def found_despite_blanks(
    known: pl.DataFrame, released: pl.DataFrame, columns: Sequence[str], link=None, *, ties: bool = False
) -> float:
    """Persons found by the record that contradicts nothing and shows most: a blank proves nothing."""
    score = np.zeros((known.height, released.height), dtype=np.float32)
    for column in columns:
        true, seen = _codes(known, released, column)
        agrees = true[:, None] == seen[None, :]
        score += np.where(agrees, 1.0, np.where(seen[None, :] < 0, 0.0, -np.inf))
    return _picked(score, link, ties=ties)


def found_near(
    known: np.ndarray, released: np.ndarray, same: np.ndarray | None = None, link=None, *, ties: bool = False
) -> float:
    """Persons whose nearest released record, in standard deviations, is their own.

    same: persons × records, False where known categories rule a record out.
    """
    spread = np.nanstd(known, axis=0)
    score = np.zeros((len(known), len(released)))
    for j in range(known.shape[1]):
        score -= ((known[:, j][:, None] - released[:, j][None, :]) / spread[j]) ** 2
    if same is not None:
        score[~same] = -np.inf
    return _picked(score, link, ties=ties)


def same_cells(known: pl.DataFrame, released: pl.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Persons × records: whether all these columns agree."""
    pairs = [_codes(known, released, c) for c in columns]
    return np.all([true[:, None] == seen[None, :] for true, seen in pairs], axis=0)


def numbers(frame: pl.DataFrame, columns: Sequence[str], *, log: bool = True) -> np.ndarray:
    """Columns as numbers, skewed ones as logarithms."""
    table = frame.select(pl.col(columns).cast(pl.Float64)).to_numpy()
    return np.log(np.maximum(table, 1e-9)) if log else table


def _picked(score: np.ndarray, link=None, *, ties: bool = False) -> float:
    best = score.max(axis=1)
    among = score >= best[:, None] - 1e-9
    own = np.arange(len(score)) if link is None else np.asarray(link)
    right = among[np.arange(len(score)), own] & np.isfinite(best)
    return float((right / among.sum(axis=1)).sum()) if ties else int((right & (among.sum(axis=1) == 1)).sum())


def inferred(
    truth: pl.Series, guess: pl.Series, *, hidden: pl.Series | None = None, within: float = 0.0
) -> int:
    """Values guessed right, of all records or of those that were hidden."""
    if within:
        right = ((guess.cast(pl.Float64) - truth).abs() <= within * truth.abs()).fill_null(value=False)
    else:
        right = (
            texts(guess.to_frame("x"), ["x"])["x"] == texts(truth.to_frame("x"), ["x"])["x"]
        ) & guess.is_not_null()
    return int((right if hidden is None else right & hidden).sum())


def most_frequent(frame: pl.DataFrame, column: str, by: Sequence[str]) -> pl.Series:
    """For each record the most frequent value of a column among all with the same values in others."""
    modes = (
        frame.filter(pl.col(column).is_not_null())
        .group_by([*by, column])
        .len()
        .sort("len", column)
        .group_by(list(by), maintain_order=True)
        .agg(pl.col(column).last().alias("mode"))
    )
    return frame.join(modes, on=list(by), how="left", maintain_order="left", nulls_equal=True)["mode"]
