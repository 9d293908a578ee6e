"""Swapping, shuffling, PRAM and fast microaggregation: CPU seconds and growth beside sdcMicro's.

    python benchmarks/protect_more.py

Reads cat_100000.csv.gz, num_100000.csv.gz and sdcmicro_timings.md from $SDCKIT_ORACLES/bench when there, else
draws data alike. A million records are those of the file ten times, numbers times small noise, households
numbered anew. Households are put into 20 regions at random; how many regions sdcMicro's recordSwap run had is
not recorded, so compare its seconds roughly. Compilation is left out.
"""

import math
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import sdckit as sdc

BENCH = Path(os.environ.get("SDCKIT_ORACLES", Path(__file__).parents[2] / "shared")) / "bench"
SIZES = [100_000, 1_000_000]


def categories(n: int) -> pl.DataFrame:
    path = BENCH / "inputs" / "cat_100000.csv.gz"
    rng = np.random.default_rng(1)
    if path.exists():
        base = pl.read_csv(path, infer_schema_length=None)
    else:
        base = pl.DataFrame(
            {
                "urbrur": rng.integers(1, 3, 100_000),
                "relat": rng.integers(1, 10, 100_000),
                "age": rng.integers(0, 96, 100_000),
                "income": rng.lognormal(10, 1, 100_000),
                "expend": rng.lognormal(10, 1, 100_000),
                "savings": rng.lognormal(8, 1, 100_000),
                "hid": rng.integers(0, 20_000, 100_000),
            }
        )
    copies = [base.with_columns(pl.col("hid") + copy * 10_000_000) for copy in range(-(-n // base.height))]
    frame = pl.concat(copies).head(n).with_columns(pl.len().over("hid").alias("hs"))
    region = pl.DataFrame({"hid": frame["hid"].unique(maintain_order=True)})
    region = region.with_columns(pl.Series("reg", rng.integers(0, 20, region.height)))
    return frame.join(region, on="hid", how="left", maintain_order="left")


def numbers(n: int) -> pl.DataFrame:
    path = BENCH / "inputs" / "num_100000.csv.gz"
    rng = np.random.default_rng(1)
    base = pl.read_csv(path).to_numpy().astype(float) if path.exists() else rng.lognormal(size=(100_000, 4))
    x = base[:n] if n <= len(base) else base[rng.integers(0, len(base), n)] * rng.lognormal(0, 0.05, (n, 4))
    return pl.DataFrame(x, schema=[f"x{j}" for j in range(4)])


def sdcmicro(name: str) -> dict[int, str]:
    """CPU seconds of sdcMicro by number of records, where published; "-" where it was stopped."""
    path = BENCH / "sdcmicro_timings.md"
    text = path.read_text() if path.exists() else ""
    rows = re.findall(rf"^\| {name} \| (\d+) \| ([^|]+) \| (\S+) \|", text, flags=re.MULTILINE)
    return {int(n): elapsed.strip() if cpu == "-" else cpu for n, elapsed, cpu in rows}


def grow(
    name: str, step: Callable[..., sdc.Microdata], files: list[sdc.Microdata], r: str, **options
) -> None:
    if "rng" in sdc.registry.find(step.__name__).parameters:
        options["rng"] = 1
    small = files[0].with_frame(files[0].frame.head(2000))
    step(small, **options)  # compiles
    before: tuple[int, float] | None = None
    for data in files:
        start = time.process_time()
        done = step(data, **options)
        seconds = time.process_time() - start
        growth = "" if before is None else f", growth exponent {_growth(before, data.height, seconds):.2f}"
        theirs = sdcmicro(r).get(data.height)
        beside = f"; sdcMicro {theirs} s" if theirs else ""
        print(f"{name:34} n = {data.height:>9,}: {seconds:7.3f} s{beside}{growth}", flush=True)
        before = data.height, seconds
    shown = {k: v for k, v in done.log[-1].figures.items() if isinstance(v, int | float)}
    print(f"{'':34} {shown}")


def _growth(before: tuple[int, float], n: int, seconds: float) -> float:
    return math.log(seconds / before[1]) / math.log(n / before[0])


def main() -> None:
    people = [sdc.read(categories(n), numeric=["expend", "savings"]) for n in SIZES]
    homes = [data.with_roles(household="hid") for data in people]
    amounts = [sdc.read(numbers(n), numeric=[f"x{j}" for j in range(4)]) for n in SIZES]
    protect = sdc.protect
    swap = {"geography": "reg", "similar": "hs", "share": 0.05}
    grow("swap_records, at random", protect.swap_records, homes, "", **swap)
    risk = {"keys": ["relat", "age"], "k": 2}
    grow("swap_records, risky first", protect.swap_records, homes, "recordSwap", **swap, **risk)
    told = {"variables": ["expend", "savings"], "predictors": ["age", "income", "urbrur"]}
    grow("shuffle, 2 on 3 variables", protect.shuffle, people, "shuffle", **told)
    grow("pram, one variable", protect.pram, people, "pram", variables="relat")
    grow("rank_swap, 4 variables", protect.rank_swap, amounts, "rankSwap")
    for method in ("individual_ranking", "optimal", "pca"):
        theirs = "onedims" if method == "individual_ranking" else ""
        grow(f"microaggregate, {method}", protect.microaggregate, amounts, theirs, method=method)
    for method in ("mdav", "cluster", "robust"):
        theirs = "mdav" if method == "mdav" else ""
        grow(f"microaggregate, {method}", protect.microaggregate, amounts[:1], theirs, method=method)


if __name__ == "__main__":
    main()
