"""Seconds of the wildcard counts, from records in Polars to counts per cell."""

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from sdckit.kernels.wildcard import wildcard_counts

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SDCKIT_ORACLES", ROOT.parent / "shared"))
KEYS = ["urbrur", "roof", "relat", "sex", "age"]
SIZES = (10_000, 100_000, 1_000_000)
NAIVE_SIZE = 1_000


def read() -> pl.DataFrame:
    """The benchmark file: 100,000 records, 3 % missing in each key."""
    path = SHARED / "bench" / "inputs" / "catna_100000.csv.gz"
    return pl.read_csv(path, columns=[*KEYS, "sampling_weight"], null_values="NA")


def resample(data: pl.DataFrame, n: int) -> pl.DataFrame:
    """n records drawn with replacement, 5 % of the key values redrawn from their column."""
    rng = np.random.default_rng(n)
    drawn = data[rng.integers(0, data.height, n)]
    redrawn = [
        pl.when(pl.Series(rng.random(n) < 0.05))
        .then(data[key].gather(rng.integers(0, data.height, n)))
        .otherwise(pl.col(key))
        for key in KEYS
    ]
    return drawn.with_columns(expr.alias(key) for key, expr in zip(KEYS, redrawn, strict=True))


def key_codes(frame: pl.DataFrame) -> np.ndarray:
    codes = frame.select(pl.col(KEYS).rank("dense").cast(pl.Int32).fill_null(0) - 1)
    return np.ascontiguousarray(codes.to_numpy())


def count(data: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Records per cell and the sample count of each cell."""
    cells = data.group_by(KEYS).agg(pl.len().cast(pl.Float64).alias("n"), pl.col("sampling_weight").sum())
    records = cells["n"].to_numpy()
    sample, _ = wildcard_counts(key_codes(cells), records, cells["sampling_weight"].to_numpy())
    return records, sample


def seconds(function: Callable[[], object], repeats: int = 5) -> float:
    """Best of some runs."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def naive_seconds(data: pl.DataFrame) -> float:
    sys.path.insert(0, str(ROOT / "tests"))
    from naive_counts import wildcard_counts_of_records

    rows, weights = key_codes(data).tolist(), data["sampling_weight"].to_list()
    return seconds(partial(wildcard_counts_of_records, rows, weights, 1.0), repeats=1)


def distinct_cells(n: int) -> np.ndarray:
    """The hard case for the kernel: almost no two records share a cell (5 keys of 50 values, 3 % missing)."""
    rng = np.random.default_rng(n)
    codes = rng.integers(0, 50, (n, 5)).astype(np.int32)
    codes[rng.random(codes.shape) < 0.03] = -1
    return codes


def report(name: str, functions: list[Callable[[], object]]) -> None:
    times = [seconds(function) for function in functions]
    for n, value in zip(SIZES, times, strict=True):
        print(f"{name} n={n:>9,}  {value:.4f} s")
    print(f"{name} growth exponent {np.polyfit(np.log(SIZES), np.log(times), 1)[0]:.2f}")


def main() -> None:
    data = read()
    records, sample = count(data)
    ones, twos = (records[sample == k].sum() for k in (1, 2))
    print(f"catna_100000: {ones:.0f} records with fk = 1, {twos:.0f} with fk = 2")
    files = [data if n == data.height else resample(data, n) for n in SIZES]
    report("group_by + wildcard_counts", [partial(count, file) for file in files])
    tables = [(distinct_cells(n), np.ones(n), np.ones(n)) for n in SIZES]
    report("wildcard_counts, distinct cells", [partial(wildcard_counts, *table) for table in tables])
    small = resample(data, NAIVE_SIZE)
    slow, fast = naive_seconds(small), seconds(partial(count, small))
    print(f"naive twin n={NAIVE_SIZE:,}  {slow:.3f} s, {slow / fast:.0f} times ours")


if __name__ == "__main__":
    main()
