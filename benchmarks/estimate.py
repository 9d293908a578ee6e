"""Replicate variances of the Gini coefficient against plain Python, and regressions by size.

    python benchmarks/estimate.py

Prints seconds, compilation left out.
"""

import time

import numpy as np
import polars as pl

import naive_estimates as naive
import sdckit as sdc
from sdckit.estimate.inequality import Gini
from sdckit.estimate.replicates import Method
from sdckit.estimate.table import How, Row, domains_of, table


def data(n: int, regions: int = 9) -> sdc.Microdata:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "income": rng.lognormal(9, 0.6, n),
            "region": rng.integers(0, regions, n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(16, 90, n),
            "w": rng.uniform(100, 700, n),
        }
    )
    return sdc.read(frame, numeric="income", weight="w", strata="region")


def timed(name: str, work) -> float:
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    print(f"  {name:<52} {seconds:8.3f} s")
    return seconds


def main() -> None:
    table(data(100), [Row(Gini(), "income", None)], How(Method.BOOTSTRAP, 2))
    eusilc = data(14_827)
    rows = [Row(Gini(), "income", d) for d in [None, *domains_of(eusilc, ("region",))]]
    for method, number in (
        (Method.TAYLOR, 0),
        (Method.BOOTSTRAP, 100),
        (Method.CALIBRATED, 100),
        (Method.BOOTSTRAP, 1000),
    ):
        how = How(method, number, by=("region",))
        timed(
            f"Gini by 9 regions, 14,827 records, {method.value} {number or ''}",
            lambda how=how: table(eusilc, rows, how),
        )
    small = data(400).frame
    x, w = small["income"].to_list(), small["w"].to_list()
    timed("one Gini of 400 records in plain Python", lambda: naive.gini(x, w))
    large = data(100_000)
    one = [Row(Gini(), "income", None)]
    timed("Gini, 100,000 records, bootstrap 1000", lambda: table(large, one, How(Method.BOOTSTRAP, 1000)))
    formula = "log(income) ~ sex + age + I(age^2) + C(region)"
    sdc.utility.regression(eusilc, eusilc, formula=formula)
    for n in (14_827, 100_000):
        both = data(n)
        timed(
            f"regression on two files of {n:,}",
            lambda both=both: sdc.utility.regression(both, both, formula=formula),
        )


if __name__ == "__main__":
    main()
