"""Local suppression: cells and persons found beside sdcMicro's, CPU seconds, distance from the optimum.

python -m benchmarks.suppression_quality
"""

import time

import numpy as np
import polars as pl

import sdckit as sdc
from benchmarks._task import SHARED
from naive_suppression import cells_of, fewest_sound_cells, price_of
from sdckit.data.key_cells import key_codes
from sdckit.kernels.suppression.exposure import measure_exposure
from sdckit.kernels.suppression.sound import suppress_cells
from sdckit.kernels.suppression.wildcard_rule import suppress_by_wildcard

HOME = ["urbrur", "roof", "walls", "water", "electcon"]
PEOPLE = ["region", "urban", "sex", "age", "education"]
FILES = {
    "A": ("testdata", HOME),
    "B": ("testdata", ["urbrur", "water", "sex", "age", "relat"]),
    "C": ("testdata", [*HOME, "relat", "sex"]),
    "D": ("testdata", ["urbrur", "sex", "age", "relat", "hhcivil"]),
    "E": ("testdata", [*HOME, "relat", "sex", "age"]),
    "free1": ("free1", ["REGION", "SEX", "AGE", "MARSTAT", "KINDPERS", "ETNI"]),
    "free1b": ("free1", ["REGION", "SEX", "AGE", "MARSTAT", "EDUC1", "ETNI", "POSLABM"]),
    "eusilc": ("eusilc", ["db040", "hsize", "age", "rb090", "pl030", "pb220a"]),
    "casc": ("CASCrefmicrodata", ["AGI", "FEDTAX", "PTOTVAL", "INTVAL", "ERNVAL"]),
    "demo 2,000": (2_000, PEOPLE),
    "demo 5,000": (5_000, PEOPLE),
    "demo 100,000": (100_000, PEOPLE),
}
# sdcMicro's results on the same files at k = 3, stored: cells, alone on shown keys, above 1 in 3, CPU seconds
SDCMICRO = {
    "A": (8, 0, 5, None),
    "B": (1_099, 0, 52, 2.4),
    "C": (293, 0, 128, None),
    "D": (494, 0, 26, None),
    "E": (2_601, 0, 271, 10.8),
    "free1": (4_068, 0, 452, 12.7),
    "casc": (359, 0, 167, 1.5),
    "demo 2,000": (542, 0, 65, None),
    "demo 5,000": (574, 8, 76, None),
    "demo 100,000": (233, 33, 247, 2.6),
}


def codes_of(name: str | int, columns: list[str]) -> np.ndarray:
    if isinstance(name, int):
        frame = sdc.demo.survey(n=name, seed=3).frame.with_columns(pl.col("age") // 5)
    else:
        path = next(p for p in (SHARED / "data").iterdir() if p.name.split(".")[0] == name)
        frame = sdc.read(path).frame
    if name == "CASCrefmicrodata":  # numbers, in fifths
        frame = frame.select((pl.col(c).rank() - 1) * 5 // pl.len() for c in columns)
    return key_codes(frame, columns)


def line(name: str, found: tuple[int | float | None, ...]) -> str:
    return name + "".join(f" | {'–' if x is None else f'{x:,}'}" for x in found)


def beside_sdcmicro(k: int = 3) -> None:
    print("file | rare | rule | cells | smallest | alone | above 1 in k | lent | CPU s")
    for file, (name, columns) in FILES.items():
        cells, counts = cells_of(codes_of(name, columns))
        cost = np.ones(len(columns))
        rare = int(counts[counts < k].sum())
        if k == 3 and file in SDCMICRO:
            theirs, alone, above, seconds = SDCMICRO[file]
            print(line(f"{file} | {rare} | sdcMicro", (theirs, None, alone, above, None, seconds)))
        for rule, work in (("wildcard", suppress_by_wildcard), ("sound", suppress_cells)):
            start = time.process_time()
            release = work(cells, counts, k=k, cost=cost)
            seconds = round(time.process_time() - start, 2)
            seen = measure_exposure(cells, counts, release, k)
            told = (seen.smallest_pattern, seen.alone_on_shown_keys, seen.above_one_in_k, seen.records_lent)
            print(line(f"{file} | {rare} | {rule}", (int(price_of(cells, release, cost)), *told, seconds)))


def optimality(files: int = 100) -> None:
    ours = quick = best = solved = 0.0
    for seed in range(files):
        rng = np.random.default_rng(seed)
        q, n, k = int(rng.integers(2, 6)), int(rng.integers(20, 151)), int(rng.integers(2, 5))
        codes = rng.integers(0, 5, (n, q)).astype(np.int32)
        if seed % 3 == 0:
            codes[rng.random((n, q)) < 0.1] = -1
        cost = rng.choice([0.5, 1, 2, 5, 10], q) if seed % 2 else np.ones(q)
        least = fewest_sound_cells(codes, k, cost, seconds=10.0)
        if least is None:
            continue
        cells, counts = cells_of(codes)
        prices = [
            price_of(cells, suppress_cells(cells, counts, k=k, cost=cost, effort=e), cost) for e in (0, 1)
        ]
        quick, ours, best, solved = quick + prices[0], ours + prices[1], best + least, solved + 1
    print(f"\n{solved:.0f} of {files} small files solved by HiGHS: optimum {best:,.1f}", end="")
    print(f", effort 0 {quick / best - 1:+.1%}, effort 1 {ours / best - 1:+.1%}")


def main() -> None:
    warm = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
    for work in (suppress_cells, suppress_by_wildcard):  # compile
        work(warm, np.array([3, 1, 2]), k=2, cost=np.ones(2))
    for k in (3, 2, 5):
        print(f"\nk = {k}")
        beside_sdcmicro(k)
    optimality()


if __name__ == "__main__":
    main()
