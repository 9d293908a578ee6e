"""Seconds of SUDA: a resampled survey, files where every record differs, and the naive twin."""

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import sdckit as sdc
from sdckit.kernels.minimal_uniques import minimal_uniques

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SDCKIT_ORACLES", ROOT.parent / "shared"))
KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age"]
SDCMICRO = {10_000: 0.06, 100_000: 0.50, 1_000_000: 8.6}  # best of its runs on such files, stored with them
NAIVE_SIZE = 300
VALUES = [2, 2, 2, 3, 4, 5, 6, 7, 8, 10, 20, 90]


def read(name: str) -> pl.DataFrame:
    """A benchmark file: 100,000 records."""
    path = SHARED / "bench" / "inputs" / f"{name}_100000.csv.gz"
    return pl.read_csv(path, columns=KEYS, null_values="NA")


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


def distinct(n: int, keys: int) -> np.ndarray:
    """The hard case: independent keys, so that almost every record is a cell of its own."""
    rng = np.random.default_rng(n)
    return np.unique(
        np.column_stack([rng.integers(0, v, n) for v in VALUES[-keys:]]).astype(np.int32), axis=0
    )


def measure(frame: pl.DataFrame, missing: str = "nothing") -> sdc.Result:
    """From records to scores of records; read anew, so that no counts are kept from the last run."""
    return sdc.risk.suda(sdc.read(frame, keys=KEYS), missing=missing)


def search(codes: np.ndarray, max_size: int) -> int:
    """How many minimal uniques there are."""
    found = minimal_uniques(codes, np.ones(len(codes), dtype=bool), max_size)
    return sum(len(cells) for _, cells in found)


def seconds(function: Callable[[], object], repeats: int = 3) -> float:
    """Best of some runs."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def naive_seconds(data: pl.DataFrame) -> float:
    sys.path.insert(0, str(ROOT / "tests"))
    from naive_suda import minimal_uniques_of_records

    rows = data.select(pl.all().rank("dense").cast(pl.Int64).fill_null(0) - 1).rows()
    return seconds(partial(minimal_uniques_of_records, rows, len(KEYS), False), repeats=1)


def main() -> None:
    data, incomplete = read("cat"), read("catna")
    stored = measure(data)
    print(f"cat_100000: {stored.figures['scored_records']} records with a score (sdcMicro 4764), "
          f"sum {stored.parts['score'].sum():.0f} (407404)")  # fmt: skip
    for name, file, missing in (("complete", data, "nothing"), ("3 % missing", incomplete, "wildcard")):
        times = []
        for n in SDCMICRO:
            frame = resample(file, n)
            times.append(seconds(partial(measure, frame, missing)))
            result = measure(frame, missing)
            print(f"suda, 8 keys, {name}, n={n:>9,}  {times[-1]:.3f} s (sdcMicro, complete {SDCMICRO[n]} s), "
                  f"{result.figures['minimal_uniques']:,} minimal uniques")  # fmt: skip
        print(f"  growth exponent {np.polyfit(np.log(list(SDCMICRO)), np.log(times), 1)[0]:.2f}")
    for keys, max_size, n in (
        (8, 8, 1_000_000), (10, 3, 100_000), (10, 5, 100_000), (10, 10, 100_000), (12, 12, 100_000),
    ):  # fmt: skip
        codes = distinct(n, keys)
        spent = seconds(partial(search, codes, max_size), repeats=1)
        print(f"kernel, every record differs, {keys} keys, size ≤ {max_size}, n={n:>9,}  {spent:.3f} s, "
              f"{search(codes, max_size):,} minimal uniques")  # fmt: skip
    small = resample(data, NAIVE_SIZE)
    slow, fast = naive_seconds(small), seconds(partial(measure, small))
    print(f"naive twin n={NAIVE_SIZE:,}  {slow:.3f} s, {slow / fast:.0f} times ours")


if __name__ == "__main__":
    main()
