"""How propensity and cluster_overlap grow with the number of records: 20 mixed columns in each file.

    python benchmarks/utility_propensity.py [--large]

Ten numeric columns and ten categorical ones (2 to 90 categories, 293 in all); the protected file has noise
added and categories swapped. Prints seconds, compilation left out.
"""

import argparse
import time

import numpy as np
import polars as pl

import sdckit as sdc
from sdckit.utility.cluster_overlap import cluster_overlap
from sdckit.utility.propensity import propensity

LEVELS = (2, 3, 5, 7, 9, 17, 40, 50, 70, 90)


def files(n: int) -> tuple[sdc.Microdata, sdc.Microdata]:
    rng = np.random.default_rng(1)
    numbers = {f"x{i}": rng.lognormal(size=n) for i in range(10)}
    keys = {f"k{i}": rng.integers(0, levels, n) for i, levels in enumerate(LEVELS)}
    data = sdc.read(
        pl.DataFrame({**numbers, **keys, "w": rng.uniform(1, 9, n)}),
        keys=list(keys),
        numeric=list(numbers),
        weight="w",
    )
    moved = {c: v + rng.normal(0, 0.1, n) for c, v in numbers.items()}
    swapped = {c: np.where(rng.random(n) < 0.1, rng.permutation(v), v) for c, v in keys.items()}
    return data, data.with_frame(
        data.frame.with_columns(**{c: pl.Series(v) for c, v in {**moved, **swapped}.items()})
    )


def timed(name: str, measure, data: sdc.Microdata, other: sdc.Microdata, **options) -> None:
    start = time.perf_counter()
    result = measure(data, other, **options)
    print(f"  {name:<32} {time.perf_counter() - start:7.2f} s   value {result.value:.6g}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true", help="also 1,000,000 records")
    sizes = [10_000, 100_000] + ([1_000_000] if parser.parse_args().large else [])
    numbers = [f"x{i}" for i in range(10)]
    propensity(*files(100))
    for n in sizes:
        both = files(n)
        print(f"{n:,} × 20")
        timed("propensity, main effects", propensity, *both)
        timed("cluster_overlap", cluster_overlap, *both)
        timed("propensity, interactions of 10", propensity, *both, variables=numbers, model="interactions")
        timed("propensity, CART, 2 permutations", propensity, *both, model="cart", permutations=2)


if __name__ == "__main__":
    main()
