"""A search against a grid of the same budget on the demo survey: how much of the map the front covers.

python -m benchmarks.search
"""

import sdckit as sdc
from sdckit.choose.risk_utility_map import hypervolume
from sdckit.choose.space import Space

TRIALS = 60
JUDGE = {"risk": "individual_risk", "utility": {"entropy_loss.share": 3, "il1s": 1}}
SPACE = [
    {"recode": {"variable": "age", "width": {"range": [1, 30]}}},
    {"optional": {"recode": {"variable": "education", "breaks": {"choices": [[2, 3, 4, 5], [3, 5], [4]]}}}},
    {"optional": {"suppress": {"k": {"range": [2, 10]}}}},
    {"microaggregate": {"k": {"range": [2, 50], "log": True}}},
]


def survey(n: int) -> sdc.Microdata:
    return sdc.demo.survey(n=n, seed=1).with_roles(keys=["region", "urban", "sex", "age", "education"])


def covered(data: sdc.Microdata, seeds: tuple[int, ...] = (1,)) -> list[float]:
    """Of the grid, then of a search with each seed, from the same corner of the map."""
    space = Space.of(SPACE)
    grid = {f"{i}": space.decode(genes) for i, genes in enumerate(space.grid(TRIALS))}
    maps = [sdc.compare(data, grid, **JUDGE)]
    maps += [sdc.search(data, SPACE, trials=TRIALS, seed=seed, **JUDGE) for seed in seeds]
    worst = max(p.loss for p in maps[0].results if p.ok)
    return [hypervolume([p for p in m.results if p.ok], m.original.risk, worst) for m in maps]


def main() -> None:
    grid, *searched = covered(survey(500), (1, 2, 3))
    print(f"grid   {TRIALS} scenarios  hypervolume {grid:.4f}")
    for seed, found in enumerate(searched, 1):
        print(f"search {TRIALS} trials     hypervolume {found:.4f}  (seed {seed})")


if __name__ == "__main__":
    main()
