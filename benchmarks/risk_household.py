"""Household risk, l-diversity, t-closeness and population uniques: CPU seconds, growth and memory."""

import resource
import time
from collections.abc import Callable
from math import log
from multiprocessing import get_context

import numpy as np
import polars as pl

import sdckit as sdc

SIZES = (10_000, 100_000, 1_000_000)
LEVELS = {"region": 20, "urban": 2, "sex": 2, "age": 90, "education": 6}


def file(n: int, missing: float = 0.0) -> sdc.Microdata:
    rng = np.random.default_rng(n)
    keys = {name: rng.integers(0, size, n) for name, size in LEVELS.items()}
    frame = pl.DataFrame(
        {
            **keys,
            "home": np.arange(n) // 3,
            "illness": rng.integers(0, 10, n),
            "w": rng.uniform(5, 50, n),
        }
    )
    if missing:
        holes = [
            pl.when(pl.Series(rng.random(n) < missing)).then(None).otherwise(pl.col(key)).alias(key)
            for key in LEVELS
        ]
        frame = frame.with_columns(holes)
    return sdc.read(frame, keys=list(LEVELS), weight="w", household="home", sensitive="illness")


MEASURES: dict[str, tuple[Callable[[sdc.Microdata], sdc.Result], float]] = {
    "household_risk": (sdc.risk.household_risk, 0.0),
    "l_diversity": (sdc.risk.l_diversity, 0.0),
    "l_diversity, 3 % of key cells missing": (sdc.risk.l_diversity, 0.03),
    "t_closeness": (sdc.risk.t_closeness, 0.0),
    "population_uniques, main effects": (sdc.risk.population_uniques, 0.0),
    "population_uniques, two-way": (lambda d: sdc.risk.population_uniques(d, formula="two-way"), 0.0),
}


def run(name: str, n: int) -> tuple[float, float, float]:
    """CPU seconds, elapsed seconds and MB above the data, in a fresh process."""
    measure, missing = MEASURES[name]
    measure(file(300, missing))  # imports, compiled code and thread pools are not what we measure
    data = file(n, missing)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, clock = time.process_time(), time.perf_counter()
    measure(data)
    seconds, elapsed = time.process_time() - start, time.perf_counter() - clock
    return seconds, elapsed, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def main() -> None:
    for name in MEASURES:
        before = None
        for n in SIZES:
            with get_context("spawn").Pool(1) as fresh:
                seconds, elapsed, memory = fresh.apply(run, (name, n))
            growth = "" if before is None else f"  growth n^{log(seconds / before) / log(10):.2f}"
            print(f"{name:<40} {n:>9,}  {seconds:6.3f} s CPU  {elapsed:6.3f} s{growth}  +{memory:.0f} MB")
            before = seconds


if __name__ == "__main__":
    main()
