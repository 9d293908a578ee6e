"""A search against a grid of the same budget on the demo survey: how much of the map the front covers.

python -m benchmarks.search
"""

import sdckit as sdc
from sdckit.space import Space

TRIALS = 60
JUDGE = {"risk": "individual_risk", "utility": {"entropy_loss.share": 3, "il1s": 1}}
SPACE = [
    {"recode": {"variable": "age", "width": {"range": [1, 30]}}},
    {"optional": {"recode": {"variable": "education", "breaks": {"choices": [[2, 3, 4, 5], [3, 5], [4]]}}}},
    {"optional": {"suppress": {"k": {"range": [2, 10]}}}},
    {"microaggregate": {"k": {"range": [2, 50], "log": True}}},
]


def main() -> None:
    data = sdc.demo.survey(n=500, seed=1).with_roles(keys=["region", "urban", "sex", "age", "education"])
    space = Space.of(SPACE)
    grid = {f"{i}": space.express(genes) for i, genes in enumerate(space.grid(TRIALS))}
    regular = sdc.compare(data, grid, jobs=2, **JUDGE)
    worst = max(p.utility for p in regular.results if p.ok)
    print(f"grid    {len(grid):>4} scenarios  hypervolume {cover(regular, worst):.4f}")
    for seed in (1, 2, 3):
        found = sdc.search(data, SPACE, trials=TRIALS, seed=seed, jobs=2, **JUDGE)
        print(f"search  {TRIALS:>4} trials     hypervolume {cover(found, worst):.4f}  (seed {seed})")


def cover(found: sdc.RiskUtilityMap, worst: float) -> float:
    from sdckit.risk_utility_map import hypervolume

    return hypervolume([p for p in found.results if p.ok], found.original.risk, worst)


if __name__ == "__main__":
    main()
