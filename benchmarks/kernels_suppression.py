"""Local suppression: seconds and growth, cells beside sdcMicro's, distance from the optimum of tiny tables.

Run from the repository root: python benchmarks/kernels_suppression.py
"""

import json
import os
import sys
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from naive_suppression import fewest_cells, fewest_cells_by_need
from sdckit.kernels.suppression import importance_costs, suppress_cells

SHARED = Path(os.environ.get("SDCKIT_ORACLES", Path(__file__).parents[2] / "shared"))
KEYS = ["urbrur", "roof", "relat", "sex", "age"]
MORE_KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil"]


def read(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, infer_schema_length=None)


def data(name: str) -> pl.DataFrame:
    return read(next(p for p in (SHARED / "data").iterdir() if p.name.split(".")[0] == name))


def codes_of(frame: pl.DataFrame, columns: list[str]) -> np.ndarray:
    ranks = [frame[c].rank("dense").cast(pl.Int32).fill_null(0) - 1 for c in columns]
    return np.column_stack([r.to_numpy() for r in ranks]).astype(np.int32)


def resampled(frame: pl.DataFrame, n: int) -> pl.DataFrame:
    """Rows drawn with replacement, each key redrawn with probability 5 %, age ± 2."""
    rng = np.random.default_rng(1)
    drawn = frame[rng.integers(0, len(frame), n).tolist()]
    fresh = {}
    for column in MORE_KEYS:
        values = drawn[column].to_numpy().copy()
        again = rng.random(n) < 0.05
        values[again] = rng.choice(frame[column].to_numpy(), again.sum())
        fresh[column] = np.clip(values + rng.integers(-2, 3, n), 0, None) if column == "age" else values
    return pl.DataFrame(fresh)


def timed(codes: np.ndarray, k: int) -> tuple[float, float, int]:
    start, cpu = time.perf_counter(), time.process_time()
    mask = suppress_cells(codes, k=k, cost=np.ones(codes.shape[1]))
    return time.perf_counter() - start, time.process_time() - cpu, int(mask.sum())


def speed() -> None:
    source = read(SHARED / "bench" / "inputs" / "cat_100000.csv.gz")
    suppress_cells(codes_of(source[:2000], KEYS), k=3, cost=np.ones(5), effort=0.01)
    print(
        "5 keys, k = 3      n   seconds  cpu s  cells   (sdcMicro on its own files: 1047, 1055, 2309 cells)"
    )
    # another resampling of the source for 10,000 and 1,000,000, so cells are not comparable there
    frames = {10_000: resampled(source, 10_000), 100_000: source, 1_000_000: resampled(source, 1_000_000)}
    seconds = {}
    for n, frame in frames.items():
        seconds[n], cpu, cells = timed(codes_of(frame, KEYS), 3)
        print(f"{n:>20,} {seconds[n]:9.2f} {cpu:6.2f} {cells:6}")
    print(f"growth exponent 10k to 1M: {np.log10(seconds[1_000_000] / seconds[10_000]) / 2:.2f}")
    eusilc = codes_of(data("eusilc"), ["db040", "hsize", "pb220a", "rb090", "pl030", "age"])
    wall, cpu, cells = timed(eusilc, 3)
    print(f"eusilc, 6 keys, k = 3: {wall:.2f} s, {cpu:.2f} cpu s, {cells} cells")
    for q in (7, 8, 9):
        wall, cpu, cells = timed(codes_of(source, MORE_KEYS[-q:]), 3)
        print(f"100,000 records, {q} keys, k = 3: {wall:.2f} s, {cpu:.2f} cpu s, {cells} cells")


def beside_sdcmicro() -> None:
    print("\ncase                         sdcMicro  ours   (cost with importance)")
    for case in json.loads((SHARED / "oracles" / "04_local_suppression.json").read_text()):
        inputs, params = case["inputs"], case["params"]
        if not isinstance(params["k"], list):
            continue
        q, stratum = len(inputs["key_vars"]), inputs["strata"]
        columns = [*inputs["key_vars"], *([stratum] if stratum else [])]
        cost = importance_costs(params["importance"]) if params["importance"] else np.ones(q)
        sized = zip(params["combs"] or [q], params["k"], strict=True)
        sets = [((*s, q) if stratum else s, k) for size, k in sized for s in combinations(range(q), size)]
        mask = suppress_cells(
            codes_of(data(case["dataset"]["name"]), columns),
            k=[k for _, k in sets],
            subsets=[s for s, _ in sets],
            cost=np.append(cost, np.inf) if stratum else cost,
        )
        theirs = np.array([case["expected"]["suppressions"][c] for c in inputs["key_vars"]])
        mine = mask.sum(axis=0)[:q]
        weighted = f"   {theirs @ cost:.0f} {mine @ cost:.0f}" if params["importance"] else ""
        print(f"{case['id']:28} {theirs.sum():8} {mine.sum():5}{weighted}")


def optimality() -> None:
    """By need: the best over all orders of suppressing violating records; free: any cell of any record."""
    ours, need, free = [], [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, [2, 3, 4], (8, 3)).astype(np.int32)
        k, cost = 2 + seed % 2, np.ones(3)
        ours.append(suppress_cells(codes, k=k, cost=cost, effort=0.05).sum())
        need.append(fewest_cells_by_need(codes, k, cost))
        free.append(fewest_cells(codes, k, cost))
    print(
        f"\n40 tables of 8 records, 3 keys: ours {np.mean(ours):.2f} cells, by need {np.mean(need):.2f}",
        end="",
    )
    print(f" (gap {np.mean(ours) / np.mean(need) - 1:+.1%}), free {np.mean(free):.2f}", end="")
    print(f" (gap {np.mean(ours) / np.mean(free) - 1:+.1%})")
    ours, free = [], []
    for seed in range(20):
        codes = np.random.default_rng(seed).integers(0, [2, 2, 3, 3], (12, 4)).astype(np.int32)
        ours.append(suppress_cells(codes, k=2, cost=np.ones(4), effort=0.05).sum())
        free.append(fewest_cells(codes, 2, np.ones(4)))
    print(
        f"20 tables of 12 records, 4 keys, k = 2: ours {np.mean(ours):.2f}, free {np.mean(free):.2f}", end=""
    )
    print(f" (gap {np.mean(ours) / np.mean(free) - 1:+.1%})")


def main() -> None:
    speed()
    beside_sdcmicro()
    optimality()


if __name__ == "__main__":
    main()
