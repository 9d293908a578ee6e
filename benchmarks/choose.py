"""Choosing: everything measured, and many scenarios."""

from itertools import islice, product

from joblib.externals.loky import get_reusable_executor

import sdckit as sdc
from benchmarks import search
from benchmarks._task import WARM, Task
from sdckit.choose.scenario import Scenario

LEFT_OUT = ("relation_to_head", "relationship_status", "occupation", "water", "roof")  # 20 columns remain
STEPS = [{"suppress": {"k": 3}}, {"microaggregate": {"k": 3}}, {"pram": {"variables": ["literacy"]}}]
WAGE = "log(income) ~ sex + education + urban + wealth_index"
KEYS = ["region", "urban", "sex", "age", "education", "labour_status"]
NUMERIC = ["income", "expenditure", "savings"]
FEW = {"risk": "individual_risk", "utility": {"entropy_loss.share": 3, "il1s": 1}}
JOBS = 2  # processes
MANY = {
    "risk": ["individual_risk", "suda", "record_linkage"],
    "utility": ["entropy_loss.share", "il1s", "propensity", "ecdf_distance", "contingency_loss", "moments"],
}


def two_files(n: int) -> tuple[sdc.Microdata, sdc.Microdata]:
    data = sdc.demo.survey(n=n, seed=1).without(LEFT_OUT)
    return data, Scenario("all", STEPS).protect(data, seed=1)


def partly_synthetic(n: int) -> tuple[sdc.Microdata, sdc.Microdata]:
    data = sdc.demo.survey(n=n, seed=1)
    return data, sdc.protect.synthesize(data, variables=["education", "health", "income"], rng=1)


def assess(both: tuple[sdc.Microdata, sdc.Microdata], **more: object) -> sdc.Assessment:
    data, protected = (d.with_frame(d.frame) for d in both)
    told = {"by": ["region"], "indicators": "poverty", "regression": WAGE, "prediction_quality": WAGE}
    return sdc.assess(data, protected, **told, **more)


def every_measure(both: tuple[sdc.Microdata, sdc.Microdata]) -> sdc.Assessment:
    """Also what has to be asked for by name."""
    return assess(
        both,
        atypical_records={"complete": True},
        identification_risk={"synthesised": ["income", "literacy"], "relative_radius": 0.1},
        k_map={"population": both[0].frame},
        attribute_disclosure={},
        closest_record={},
    )


def slowest(found: sdc.Assessment) -> str:
    three = sorted(found.seconds.items(), key=lambda item: -item[1])[:3]
    return f"{len(found.seconds)} measures; " + ", ".join(f"{name} {s:.1f} s" for name, s in three)


def survey(n: int) -> sdc.Microdata:
    data = sdc.demo.survey(n=n, seed=1)
    wanted = [*KEYS, *NUMERIC, "weight"]
    kept = data.without(tuple(c for c in data.columns if c not in wanted))
    return kept.with_roles(keys=KEYS, numeric=NUMERIC)


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


def compare(judge: dict) -> object:
    """In several processes: their CPU seconds are not seen, only the elapsed ones."""

    def run(data: sdc.Microdata) -> sdc.RiskUtilityMap:
        some = 20 if data.height <= WARM else None  # enough to compile
        found = sdc.compare(data, dict(islice(scenarios().items(), some)), jobs=JOBS, **judge)
        get_reusable_executor().shutdown()  # idle ones would keep this process for five minutes
        return found

    return run


def accepted(found: sdc.RiskUtilityMap) -> str:
    failed = sum(not p.ok for p in found.results)
    return f"{len(found.results)} scenarios, {failed} failed, {found.front.height} on the front"


TASKS = [
    Task("assess, 20 columns", two_files, assess, sizes=(10_000, 100_000), say=slowest),
    Task(
        "assess, also what is asked by name", two_files, every_measure, sizes=(10_000, 100_000), say=slowest
    ),
    Task("assess, a partly synthetic file", partly_synthetic, assess, sizes=(3_000,), say=slowest),
    Task("compare, 200 scenarios, 1 risk, 2 losses", survey, compare(FEW), sizes=(20_000,), say=accepted),
    Task(
        "search of 60 trials, and a grid of 60",
        search.survey,
        search.covered,
        sizes=(500,),
        say=lambda found: (
            f"the front of the search covers {found[1]:.3f} of the map, of the grid {found[0]:.3f}"
        ),
    ),
    Task("compare, 200 scenarios, 3 risks, 6 losses", survey, compare(MANY), sizes=(20_000,), say=accepted),
]
