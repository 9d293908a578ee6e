"""Local suppression: cells beside sdcMicro's, and distance from the optimum of tiny tables.

python -m benchmarks.suppression_quality
"""

import json
from itertools import combinations

import numpy as np
import polars as pl

from benchmarks._task import SHARED
from naive_suppression import fewest_cells, fewest_cells_by_need
from sdckit.kernels.suppression.wildcard_rule import importance_costs, suppress_cells


def data(name: str) -> pl.DataFrame:
    path = next(p for p in (SHARED / "data").iterdir() if p.name.split(".")[0] == name)
    return pl.read_csv(path, infer_schema_length=None)


def codes_of(frame: pl.DataFrame, columns: list[str]) -> np.ndarray:
    ranks = [frame[c].rank("dense").cast(pl.Int32).fill_null(0) - 1 for c in columns]
    return np.column_stack([r.to_numpy() for r in ranks]).astype(np.int32)


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
    beside_sdcmicro()
    optimality()


if __name__ == "__main__":
    main()
