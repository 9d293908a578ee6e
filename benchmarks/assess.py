"""assess with every measure on 100,000 records × 20 columns: CPU seconds of each, memory, size of the report.

python -m benchmarks.assess
"""

import resource
import time
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import sdckit as sdc

RECORDS = 100_000
LEFT_OUT = ("relation_to_head", "relationship_status", "occupation", "water", "roof")  # 20 columns remain
STEPS = [
    {"round_values": {"variables": ["age"], "base": 5, "method": "down"}},
    {"suppress": {"k": 3}},
    {"microaggregate": {"k": 3}},
    {"pram": {"variables": ["literacy"]}},
]
WAGE = "log(income) ~ sex + education + urban + wealth_index"


def survey(n: int, seed: int) -> sdc.Microdata:
    return sdc.demo.survey(n=n, seed=seed).without(LEFT_OUT)


def asked(data: sdc.Microdata) -> dict:
    """All that must be told or asked for by name, so that no measure is left out."""
    return {
        "by": ["region"],
        "indicators": "poverty",
        "regression": WAGE,
        "prediction_quality": WAGE,
        "atypical_records": {"complete": True},
        "identification_risk": {"synthesised": ["income", "literacy"], "relative_radius": 0.1},
        "k_map": {"population": data.frame},
        "attribute_disclosure": {},
        "closest_record": {},
    }


def protect(data: sdc.Microdata) -> sdc.Microdata:
    return sdc.Scenario("all", STEPS).protect(data, seed=1)


def main() -> None:
    small = survey(1_000, 2)
    sdc.assess(small, protect(small), **asked(small))  # compiles the kernels
    data = survey(RECORDS, 1)
    protected = protect(data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    clock = [time.perf_counter()]
    times: list[tuple[str, float]] = []
    found = sdc.assess(
        data, protected, progress=lambda name, *_: times.append((name, time.process_time())), **asked(data)
    )
    times.append(("", time.process_time()))
    clock.append(time.perf_counter())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    each = {name: after - start for (name, start), (_, after) in pairwise(times)}
    for name, seconds in sorted(each.items(), key=lambda item: -item[1]):
        print(f"  {name:<24}{seconds:8.2f} s CPU")
    for omission in found.omitted:
        print(f"  left out: {omission.measure}: {omission.reason}")
    print(
        f"assess, {data.height:,} × {len(data.columns)}: {clock[1] - clock[0]:.1f} s,"
        f" {sum(each.values()):.1f} s CPU, +{memory / 1024:.0f} MB"
    )
    with TemporaryDirectory() as folder:
        start = time.process_time()
        size = Path(sdc.report(found, Path(folder) / "report.html")).stat().st_size
        print(f"its report: {time.process_time() - start:.1f} s CPU, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
