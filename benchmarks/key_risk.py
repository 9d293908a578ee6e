"""Frequencies and individual risk on five keys: CPU seconds, growth and memory above the data."""

import resource
import time
from math import log
from multiprocessing import get_context

import numpy as np
import polars as pl

import sdckit as sdc

SIZES = (10_000, 100_000, 1_000_000)
LEVELS = {"region": 20, "urban": 2, "sex": 2, "age": 90, "education": 6}


def file(n: int) -> sdc.Microdata:
    rng = np.random.default_rng(n)
    keys = {name: rng.integers(0, size, n) for name, size in LEVELS.items()}
    return sdc.read(pl.DataFrame({**keys, "w": rng.uniform(5, 50, n)}), keys=list(LEVELS), weight="w")


def measure(data: sdc.Microdata) -> float:
    return sdc.risk.frequencies(data).value + sdc.risk.individual_risk(data).value


def run(n: int) -> tuple[float, float]:
    """CPU seconds and MB above the data, in a fresh process."""
    measure(file(100))  # imports and thread pools are not what we measure
    data = file(n)
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.process_time()
    measure(data)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return time.process_time() - start, (after.ru_maxrss - before.ru_maxrss) / 1024


def naive(data: sdc.Microdata) -> float:
    """Every record looked up in a plain dictionary of counts."""
    rows = list(data.frame.select(list(LEVELS)).iter_rows())
    start = time.process_time()
    for row in rows[:200]:
        sum(other == row for other in rows)
    return (time.process_time() - start) * len(rows) / 200


def main() -> None:
    before = None
    for n in SIZES:
        with get_context("spawn").Pool(1) as fresh:
            seconds, memory = fresh.apply(run, (n,))
        growth = "" if before is None else f"  growth n^{log(seconds / before) / log(10):.2f}"
        print(
            f"frequencies + individual_risk, 5 keys {n:>9,}  {seconds:6.3f} s CPU{growth}  +{memory:.0f} MB"
        )
        before = seconds
    data = file(10_000)
    start = time.process_time()
    measure(data)
    print(f"pair by pair at 10,000: {naive(data) / (time.process_time() - start):,.0f} times ours")


if __name__ == "__main__":
    main()
