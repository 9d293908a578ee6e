"""ECDF distance: seconds and growth for p = 1 … 6 variables, beside brute force in numpy and in R.

python benchmarks/kernels_ecdf.py [--million]; reads num_100000.csv.gz and sdcmicro_timings.md from
$SDCKIT_ORACLES/bench when there, else draws log-normal data. n original and n protected records (10 % noise),
weighted and unweighted sums together, compilation excluded.
"""

import argparse
import math
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import sdckit as sdc
from sdckit.kernels.dominance import dominance_sums

BENCH = Path(os.environ.get("SDCKIT_ORACLES", Path(__file__).parents[2] / "shared")) / "bench"
VARIABLES = 6


def base_data() -> np.ndarray:
    """100,000 records; the file's four variables, multiplied by noise for the fifth and sixth."""
    path = BENCH / "inputs" / "num_100000.csv.gz"
    rng = np.random.default_rng(1)
    if not path.exists():
        return rng.lognormal(size=(100_000, VARIABLES))
    x = pl.read_csv(path).to_numpy().astype(float)
    more = x[:, : VARIABLES - x.shape[1]]
    return np.column_stack([x, more * rng.lognormal(0, 0.5, more.shape)])


def stacked(base: np.ndarray, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and signed values (unweighted, weighted) of n records and the same with noise."""
    rng = np.random.default_rng(n)
    x = base[:n, :p]
    if n > len(base):
        x = base[rng.integers(0, len(base), n), :p] * rng.lognormal(0, 0.05, (n, p))
    z = x + 0.1 * x.std(axis=0) * rng.normal(size=x.shape)
    weights = rng.integers(1, 1000, n)
    ones = np.ones(n, dtype=np.int64)
    return np.vstack([x, z]), np.array([[*ones, *-ones], [*weights, *-weights]])


def brute(points: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Every record against every other, a block of queries at a time."""
    sums = np.empty_like(values)
    for start in range(0, len(points), 256):
        below = np.ones((len(points), len(points[start : start + 256])), dtype=bool)
        for column in points.T:
            below &= column[:, None] <= column[None, start : start + 256]
        sums[:, start : start + 256] = values.astype(float) @ below
    return sums


def timed(call: Callable[[], object]) -> tuple[object, float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    answer = call()
    return answer, time.process_time() - cpu, time.perf_counter() - wall


def in_r() -> dict[int, float]:
    """CPU seconds of brute force in R for p = 4 by number of records, where published."""
    path = BENCH / "sdcmicro_timings.md"
    text = path.read_text() if path.exists() else ""
    return {
        int(n): float(s) for n, s in re.findall(r"^\| ecdf \| (\d+) \| \S+ \| (\S+) \|", text, re.MULTILINE)
    }


def against_brute(base: np.ndarray, n: int = 2000) -> None:
    for p in (1, 4, 6):
        points, values = stacked(base, n, p)
        fast, seconds, _ = timed(lambda points=points, values=values: dominance_sums(points, values))
        slow, longer, _ = timed(lambda points=points, values=values: brute(points, values))
        same = "same sums" if (fast == slow).all() else "DIFFERENT SUMS"
        print(
            f"numpy brute force, n = {n}, p = {p}: {longer:.2f} s, {longer / seconds:.0f} times ours, {same}"
        )


def whole_measure(base: np.ndarray, n: int) -> None:
    points, values = stacked(base, n, 4)
    names = ["a", "b", "c", "d"]
    w = pl.Series("w", values[1, :n].astype(float))
    files = [
        sdc.read(pl.DataFrame(half, schema=names).with_columns(w), numeric=names, weight="w")
        for half in (points[:n], points[n:])
    ]
    result, cpu, wall = timed(lambda: sdc.utility.ecdf_distance(*files))
    print(
        f"ecdf_distance, n = {n:,}, p = 4: {cpu:.3f} s cpu, {wall:.3f} s elapsed; DU_max {result.value:.4f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true", help="also n = 1,000,000 for p ≤ 4 (a minute)")
    million = parser.parse_args().million
    base, reference = base_data(), in_r()
    dominance_sums(*stacked(base, 2000, 4))
    against_brute(base)
    for p in range(1, VARIABLES + 1):
        before: tuple[int, float] | None = None
        for n in [10_000, 100_000] + [1_000_000] * (p <= (4 if million else 2)):
            points, values = stacked(base, n, p)
            _, cpu, wall = timed(lambda points=points, values=values: dominance_sums(points, values))
            line = f"p = {p}, n = {n:>9,} + {n:>9,}: {cpu:7.3f} s cpu, {wall:7.3f} s elapsed"
            if before:
                line += f", growth exponent {math.log(cpu / before[1]) / math.log(n / before[0]):.2f}"
            if p == 4 and n in reference:
                line += f"; brute force in R {reference[n]:.1f} s cpu, {reference[n] / cpu:.0f} times ours"
            print(line, flush=True)
            before = n, cpu
    for n in (10_000, 100_000):
        whole_measure(base, n)


if __name__ == "__main__":
    main()
