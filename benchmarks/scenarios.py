"""compare: 200 scenarios on 20,000 records × 10 variables over two processes, by two judges.

python -m benchmarks.scenarios
"""

import resource
import time
from itertools import product

import sdckit as sdc

RECORDS = 20_000
KEYS = ["region", "urban", "sex", "age", "education", "labour_status"]
NUMERIC = ["income", "expenditure", "savings"]
JUDGES = {
    "one risk, two losses": {
        "risk": "individual_risk",
        "utility": {"entropy_loss.share": 3, "il1s": 1},
    },
    "three risks, six losses": {
        "risk": ["individual_risk", "suda", "record_linkage"],
        "utility": [
            "entropy_loss.share",
            "il1s",
            "propensity",
            "ecdf_distance",
            "contingency_loss",
            "moments",
        ],
    },
}


def survey(n: int) -> sdc.Microdata:
    data = sdc.demo.survey(n=n, seed=1)
    wanted = [*KEYS, *NUMERIC, "weight"]
    return data.without(tuple(c for c in data.columns if c not in wanted)).with_roles(
        keys=KEYS, numeric=NUMERIC
    )


def scenarios() -> dict[str, list]:
    """Five recodings of age × five treatments of the keys × eight of the numbers: 200."""
    ages = [[{"recode": {"variable": "age", "width": width}}] for width in (1, 3, 5, 10, 20)]
    keys = [
        [],
        [{"suppress": {"k": 3}}],
        [{"suppress": {"k": 5}}],
        [{"suppress_risky": {"threshold": 0.001}}],
        [{"pram": {"variables": ["region", "education"]}}],
    ]
    numbers = [
        [{"microaggregate": {"k": 3}}],
        [{"microaggregate": {"k": 10}}],
        [{"microaggregate": {"k": 5, "method": "individual_ranking"}}],
        [{"add_noise": {}}],
        [{"add_noise": {"method": "correlated"}}],
        [{"round_values": {"base": 100}}],
        [{"round_values": {"base": 1000}}],
        [{"top_code": {"share": 0.02}}],
    ]
    return {str(i): [*a, *k, *x] for i, (a, k, x) in enumerate(product(ages, keys, numbers))}


def used() -> float:
    """CPU seconds of this process and of those that ended."""
    return sum(
        r.ru_utime + r.ru_stime
        for r in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def main() -> None:
    from joblib.externals.loky import get_reusable_executor

    plan, data = scenarios(), survey(RECORDS)
    for name, judge in JUDGES.items():
        start, cpu = time.perf_counter(), used()
        found = sdc.compare(data, plan, jobs=2, seed=1, **judge)
        start = time.perf_counter() - start
        get_reusable_executor().shutdown()  # so that the seconds of its processes are counted
        print(
            f"{len(plan)} scenarios, {data.height:,} × {len(data.columns)}, {name}:"
            f" {start:.1f} s, {used() - cpu:.1f} s CPU"
        )
        for point in (p for p in found.results if not p.ok):
            print(f"  failed: {point.scenario.describe()}: {point.error}")
        for point in sorted(found.results, key=lambda p: -p.seconds)[:3]:
            print(f"  {point.seconds:6.2f} s  {point.scenario.describe()}")


if __name__ == "__main__":
    main()
