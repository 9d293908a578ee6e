"""Microaggregation kernels: seconds, growth and information loss (SSE/SST) beside sdcMicro's.

python benchmarks/kernels_mdav.py [--million]; reads num_100000.csv.gz and sdcmicro_timings.md from
$SDCKIT_ORACLES/bench when there, else draws log-normal data. CPU seconds of one process without compilation.
Losses are compared only where the records are the same as sdcMicro's (n = 100,000).
"""

import argparse
import math
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from sdckit.kernels.mdav import mdav
from sdckit.kernels.refine_groups import refine
from sdckit.kernels.univariate_groups import individual_ranking, optimal_univariate

ROOT = Path(__file__).parents[1]
BENCH = Path(os.environ.get("SDCKIT_ORACLES", ROOT.parent / "shared")) / "bench"
K = 3


def base_data() -> np.ndarray:
    path = BENCH / "inputs" / "num_100000.csv.gz"
    if path.exists():
        return pl.read_csv(path).to_numpy().astype(float)
    return np.random.default_rng(1).lognormal(size=(100_000, 4))


def sample(base: np.ndarray, n: int) -> np.ndarray:
    """n standardised records; beyond the file, records resampled and multiplied by small noise."""
    rng = np.random.default_rng(n)
    x = base[:n] if n <= len(base) else base[rng.integers(0, len(base), n)] * rng.lognormal(0, 0.05, (n, 4))
    return np.ascontiguousarray((x - x.mean(axis=0)) / x.std(axis=0, ddof=1))


def sdcmicro() -> dict[int, tuple[float, float]]:
    """CPU seconds and SSE/SST of sdcMicro's mdav by number of records, where published."""
    path = BENCH / "sdcmicro_timings.md"
    text = path.read_text() if path.exists() else ""
    rows = re.findall(r"^\| mdav \| (\d+) \| \S+ \| (\S+) \|.*SSE/SST=(\S+) \|", text, flags=re.MULTILINE)
    return {int(n): (float(cpu), float(loss)) for n, cpu, loss in rows}


def timed(call: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    start = time.process_time()
    answer = call()
    return answer, time.process_time() - start


def information_loss(x: np.ndarray, labels: np.ndarray) -> float:
    sizes = np.bincount(labels)
    within = sum(((v - (np.bincount(labels, v) / sizes)[labels]) ** 2).sum() for v in x.T)
    return within / ((x - x.mean(axis=0)) ** 2).sum()


def naive_ratio(base: np.ndarray, n: int = 2000) -> None:
    sys.path.insert(0, str(ROOT / "tests"))
    from naive_mdav import naive_mdav

    x = sample(base, n)
    fast, seconds = timed(lambda: mdav(x, K))
    slow, slow_seconds = timed(lambda: np.array(naive_mdav(x.tolist(), K)))
    same = "same groups" if (fast == slow).all() else "DIFFERENT GROUPS"
    print(f"naive twin, n = {n}: {slow_seconds:.1f} s, {slow_seconds / seconds:.0f} times ours, {same}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true", help="also n = 1,000,000 (about half a minute)")
    sizes = [10_000, 100_000] + [1_000_000] * parser.parse_args().million
    base, reference = base_data(), sdcmicro()
    warm = sample(base, 500)
    refine(warm, mdav(warm, K), K)
    optimal_univariate(warm[:, 0].copy(), K)
    naive_ratio(base)
    before: tuple[int, float] | None = None
    for n in sizes:
        x = sample(base, n)
        labels, seconds = timed(lambda x=x: mdav(x, K))
        refined, more = timed(lambda x=x, labels=labels: refine(x, labels, K))
        plain, better = information_loss(x, labels), information_loss(x, refined)
        print(f"n = {n:>9,}: mdav {seconds:.3f} s, SSE/SST {plain:.8f}; refine +{more:.3f} s, {better:.8f}")
        if n in reference:
            cpu, loss = reference[n]
            compared = (
                f", SSE/SST {loss:.8f}; ours refined {better / loss - 1:+.1%}" if n == len(base) else ""
            )
            print(f"{'':15}sdcMicro {cpu:.3f} s (cpu){compared}")
        if before:
            growth = math.log(seconds / before[1]) / math.log(n / before[0])
            print(f"{'':15}growth exponent of mdav {growth:.2f}")
        before = n, seconds
        column = x[:, 0].copy()
        ranking, optimal = (
            timed(lambda f=f, c=column: f(c, K))[1] for f in (individual_ranking, optimal_univariate)
        )
        print(f"{'':15}individual ranking {ranking:.3f} s, optimal univariate {optimal:.3f} s a column")


if __name__ == "__main__":
    main()
