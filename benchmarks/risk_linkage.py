"""Linkage, interval, outlier and closest-record risks: CPU seconds, growth, memory; naive twin and R.

    python benchmarks/risk_linkage.py [--million]

Reads num_100000.csv.gz and sdcmicro_timings.md from $SDCKIT_ORACLES/bench when there, else draws log-normal
data with four variables. The protected file has noise of a tenth of a standard deviation. Mixed files have
half of their variables categorical. Compilation is left out. sdcMicro's recordLinkage is a one-to-one
assignment, so only its seconds compare.
"""

import argparse
import math
import os
import re
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import sdckit as sdc

ROOT = Path(__file__).parents[1]
BENCH = Path(os.environ.get("SDCKIT_ORACLES", ROOT.parent / "shared")) / "bench"


def base_data() -> np.ndarray:
    path = BENCH / "inputs" / "num_100000.csv.gz"
    if path.exists():
        return pl.read_csv(path).to_numpy().astype(float)
    return np.random.default_rng(1).lognormal(size=(100_000, 4))


def noisy(base: np.ndarray, n: int) -> tuple[sdc.Microdata, sdc.Microdata]:
    """n records and the same with noise; beyond the file, records are resampled and moved a little."""
    rng = np.random.default_rng(n)
    x = base[:n] if n <= len(base) else base[rng.integers(0, len(base), n)] * rng.lognormal(0, 0.05, (n, 4))
    names = [f"x{j}" for j in range(x.shape[1])]
    data = sdc.read(pl.DataFrame(x, schema=names), numeric=names)
    y = x + rng.normal(0, 0.1, x.shape) * x.std(axis=0)
    return data, data.with_frame(pl.DataFrame(y, schema=names))


def mixed(n: int, p: int) -> tuple[sdc.Microdata, sdc.Microdata]:
    """Half numbers, half categories; in the second file a fifth of the values comes from other records."""
    rng = np.random.default_rng(n)
    numbers = {f"x{j}": rng.lognormal(size=n) for j in range(p // 2)}
    keys = {f"k{j}": rng.integers(0, 2 + j % 9, n) for j in range(p - p // 2)}
    frame = pl.DataFrame({**numbers, **keys})
    data = sdc.read(frame, keys=list(keys), numeric=list(numbers))
    swapped = [
        pl.when(pl.Series(rng.random(n) < 0.2)).then(s.shuffle(7)).otherwise(s).alias(s.name) for s in frame
    ]
    moved = frame.select(swapped).with_columns(pl.col(list(numbers)) * pl.Series(rng.lognormal(0, 0.1, n)))
    return data, data.with_frame(moved)


def sdcmicro(name: str) -> dict[int, float]:
    """CPU seconds of sdcMicro by number of records, where published."""
    path = BENCH / "sdcmicro_timings.md"
    text = path.read_text() if path.exists() else ""
    rows = re.findall(rf"^\| {name} \| (\d+) \| \S+ \| (\S+) \|", text, flags=re.MULTILINE)
    return {int(n): float(cpu) for n, cpu in rows}


def timed(call: Callable[[], sdc.Result]) -> tuple[sdc.Result, float]:
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def grow(
    name: str, measure: Callable[..., sdc.Result], make: Callable, sizes: list[int], r: str, **options
) -> None:
    reference = sdcmicro(r) if r else {}
    before: tuple[int, float] | None = None
    for n in sizes:
        files = make(n)
        result, seconds = timed(lambda files=files: measure(*files, **options))
        line = f"{name:<34} {n:>9,}  {seconds:8.3f} s  value {result.value:.4f}"
        if before:
            line += f"  growth {math.log(seconds / before[1]) / math.log(n / before[0]):.2f}"
        if n in reference:
            line += f"  sdcMicro {reference[n]:g} s, {reference[n] / seconds:.0f} times"
        print(line)
        before = n, seconds


def naive_ratio(base: np.ndarray, n: int = 400) -> None:
    sys.path.insert(0, str(ROOT / "tests"))
    from naive_linkage import naive_distance, naive_linkage, scales

    data, other = noisy(base, n)
    fast, seconds = timed(lambda: sdc.risk.record_linkage(data, other))
    start = time.process_time()
    x, y = data.frame.rows(), other.frame.rows()
    kinds = ["numeric"] * len(x[0])
    columns = [(list(a), list(b)) for a, b in zip(zip(*x, strict=True), zip(*y, strict=True), strict=True)]
    scale = scales(columns, kinds, "euclidean", 2)
    table = [[naive_distance(q, o, kinds, scale, "euclidean", blank_counts=False) for o in x] for q in y]
    slow = sum(credit for _, _, credit in naive_linkage(table)) / n
    slow_seconds = time.process_time() - start
    same = "same value" if math.isclose(slow, fast.value) else "DIFFERENT VALUE"
    ratio = slow_seconds / seconds
    print(f"naive twin of record_linkage, n = {n}: {slow_seconds:.2f} s, {ratio:.0f} times ours, {same}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true", help="also n = 1,000,000 (about half a minute)")
    large = [1_000_000] * parser.parse_args().million
    base = base_data()
    risk = sdc.risk
    for warm in (noisy(base, 300), mixed(300, 6)):
        risk.record_linkage(*warm)
        risk.closest_record(*warm)
        risk.interval_disclosure(*warm)
        risk.outlier_disclosure(*warm)

    def numbers(n: int) -> tuple[sdc.Microdata, sdc.Microdata]:
        return noisy(base, n)

    naive_ratio(base)
    grow(
        "record_linkage, 4 numbers",
        risk.record_linkage,
        numbers,
        [2000, 10_000, 100_000, *large],
        "recordLinkage",
    )
    columns = [*(f"x{j}" for j in range(3)), *(f"k{j}" for j in range(3))]
    grow(
        "record_linkage, 6 mixed (Gower)",
        risk.record_linkage,
        lambda n: mixed(n, 6),
        [2000, 10_000, 100_000],
        "",
        variables=columns,
    )
    grow("interval_disclosure", risk.interval_disclosure, numbers, [10_000, 100_000, *large], "dRisk")
    grow(
        "outlier_disclosure",
        risk.outlier_disclosure,
        numbers,
        [5000, 10_000, 20_000, 100_000, *large],
        "dRiskRMD",
    )
    grow("closest_record, 4 numbers", risk.closest_record, numbers, [10_000, 100_000, *large], "")
    grow("closest_record, 10 mixed", risk.closest_record, lambda n: mixed(n, 10), [2000, 10_000, 100_000], "")
    grow("closest_record, 40 mixed", risk.closest_record, lambda n: mixed(n, 40), [2000, 5000], "")
    print(f"largest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
