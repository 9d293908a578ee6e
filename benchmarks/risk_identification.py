"""Identification risk of synthetic data: categories, one and three numbers, and one huge group."""

import time
from math import log

import numpy as np
import polars as pl

import sdckit as sdc
from naive_identification import identification

SIZES = (10_000, 100_000, 1_000_000)
KEYS = {"region": 20, "sex": 2, "age": 15}
MADE = {"born": 7, "language": 2, "school": 6}
CASES = {
    "3 known, 3 categories": ({"synthesised": list(MADE)}, SIZES),
    "3 known, 1 number": ({"synthesised": ["x"], "relative_radius": 0.2}, SIZES),
    "3 known, 3 numbers": ({"synthesised": ["x", "y", "z"], "relative_radius": 0.2}, SIZES),
    "3 known, 3 numbers, ellipsoid": (
        {"synthesised": ["x", "y", "z"], "relative_radius": 0.2, "shape": "ellipsoid"},
        SIZES,
    ),
    "nothing known, 1 number": ({"known": [], "synthesised": ["x"], "relative_radius": 0.2}, SIZES),
    "nothing known, 3 numbers": (
        {"known": [], "synthesised": ["x", "y", "z"], "relative_radius": 0.05},
        SIZES,
    ),
}


def files(n: int) -> tuple[sdc.Microdata, sdc.Microdata]:
    rng = np.random.default_rng(n)
    keys = {name: rng.integers(0, size, n) for name, size in KEYS.items()}
    made = [
        {name: rng.integers(0, size, n) for name, size in MADE.items()}
        | {name: np.exp(rng.normal(9, 1, n)) for name in "xyz"}
        for _ in range(2)
    ]
    data = sdc.read(pl.DataFrame({**keys, **made[0]}), keys=list(KEYS), numeric=list("xyz"))
    return data, data.with_frame(pl.DataFrame({**keys, **made[1]}))


def seconds(data: sdc.Microdata, other: sdc.Microdata, options: dict) -> float:
    start = time.process_time()
    sdc.risk.identification_risk(data, other, **options)
    return time.process_time() - start


def main() -> None:
    small = files(500)
    made = {n: files(n) for n in SIZES}
    for name, (options, sizes) in CASES.items():
        seconds(*small, options)  # imports and compilation are not what we measure
        before = None
        for n in sizes:
            taken = seconds(*made[n], options)
            growth = "" if before is None else f"  growth n^{log(taken / before) / log(10):.2f}"
            print(f"identification_risk, {name:<30} {n:>9,}  {taken:7.3f} s CPU{growth}", flush=True)
            before = taken
    start = time.process_time()
    sdc.risk.attribute_disclosure(*made[1_000_000], known=list(KEYS), target=list(MADE))
    print(f"attribute_disclosure, 3 keys, 3 targets  1,000,000  {time.process_time() - start:7.3f} s CPU")
    rows = [d.frame.head(500).to_dicts() for d in made[10_000]]
    start = time.process_time()
    identification(*rows, [*KEYS, *MADE], {}, {})
    plain = (time.process_time() - start) * 20**2
    fast = seconds(*made[10_000], CASES["3 known, 3 categories"][0])
    print(f"pair by pair at 10,000: {plain / fast:,.0f} times ours")


if __name__ == "__main__":
    main()
