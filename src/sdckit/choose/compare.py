"""compare: many scenarios on one risk–utility map."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sdckit._support.progress import Progress, ShowProgress, closes_progress
from sdckit.choose.assess import check_ceiling, with_intruders
from sdckit.choose.criteria import Accepted
from sdckit.choose.evaluator import OF_EVERY_FILE, Evaluator, Weights, lack_a_loss, old_names
from sdckit.choose.parallel import run
from sdckit.choose.risk_utility_map import RiskUtilityMap
from sdckit.choose.scenario import Scenario, check_seed, seed_or_secret
from sdckit.data.microdata import Microdata, require_microdata
from sdckit.errors import OptionError


@closes_progress
def compare(
    data: Microdata,
    scenarios: Sequence[Scenario] | Mapping[str, Sequence[Any]],
    *,
    risk: str | Sequence[str] | Weights | None = None,
    utility: str | Sequence[str] | Weights | None = None,
    extra_measures: str | Sequence[str] = (),
    max_risk: float | None = None,
    intruders: Any = None,
    accept: Any = None,
    seed: int | None = None,
    seeds: int = 1,
    jobs: int = 1,
    cache: str | Path | None = None,
    progress: Progress | ShowProgress | bool | None = None,
    **measure_options: Any,
) -> RiskUtilityMap:
    """Protect the data in several ways and place each on the risk–utility map.

    `risk` and `utility` name a measure or one of its figures ("entropy_loss.share"), or several: a list
    (equal shares) or {name: share}. A single one is shown in its own unit. Several are first brought to 0
    (no risk, no loss) … 1 by their bounds, v/(1+v) where there is no upper bound, then averaged. On the map
    low is good: a single measure that should be high (l_diversity, indicators, regression) is brought to
    0 … 1 and turned round in the same way. `max_risk` is on the scale of the axis: in the unit of a single
    measure that should be low, otherwise between 0 and 1. Without `risk` it is reidentification_risk, which
    means the same after every protection, of the `intruders` (see `sdckit.Intruder`). Without `utility` it is
    both entropy_loss.share, the loss in keys and sensitive categories, and il1s, that in the numbers, or the
    one of them for which the data have columns; where a scenario may draw all records anew (`synthesize`),
    or these say nothing of any scenario, as all drop or recode the numbers, it is table_loss: what two-way
    tables lose, as detail or as error. Of new records the risk is the share of persons whose whole record
    comes back and is picked (see `reidentification_risk`). A
    file of new records cannot be cleared without people who were not in the original
    (reidentification_risk={"holdout": …}, and the same for closest_record and attribute_inference), so that
    without them such a scenario is on the map but recommended only if there is no other. `accept`: see
    `assess`; the verdict on the recommended scenario is `verdict` of the map.

    `extra_measures`: further risks and utilities, named in the same way, measured for every scenario and
    kept beside the two axes: in `points`, and in the small maps of `multiples()`; they do not change what is
    recommended.
    `measure_options`: options of measures by their name, as in `assess`. Naming `indicators` or
    `regression` there,
    regression={"formula": "log(income) ~ sex + age"}, measures them also and keeps every estimate with its
    interval: see `estimates` and `estimate_chart()` of the map.

    `seeds`: scenarios with a random step run that often, with seed, seed+1, …; the point is the mean, with
    the spread beside it. Without a `seed` they are drawn in secret, see `Scenario.protect`. `jobs`: processes
    (joblib; another backend can be chosen by its context manager).
    `cache`: a folder where finished runs are kept by their content, so that an interrupted or changed
    comparison goes on where it stopped. It holds results, not the data, but is not for the public: the
    estimate of a small domain can be the value of one record.
    A scenario that fails is reported with its reason and the others are kept.

    >>> import sdckit as sdc
    >>> data = sdc.demo.survey(n=300, seed=1).with_roles(keys=["sex", "urban"], numeric=["expenditure"])
    >>> steps = {f"k{k}": [{"microaggregate": {"k": k}}] for k in (3, 10)}
    >>> sdc.compare(data, steps, risk="frequencies").best.name
    'k3'
    """
    require_microdata(data, "compare")
    check_numbers(max_risk, seed=seed, seeds=seeds, jobs=jobs)
    plan = _scenarios(scenarios)
    for scenario in plan:
        scenario.check(data)
    extra_measures, measure_options = old_names(extra_measures, measure_options)
    options = with_intruders(intruders, measure_options)
    drawn_anew = any(step.may_draw_records for scenario in plan for step in scenario.steps)
    first, tell = seed_or_secret(seed, data), Progress.of(progress)

    def placed(by: str | Sequence[str] | Weights | None) -> RiskUtilityMap:
        evaluator = Evaluator.of(data, risk, by, options, cache, extra_measures, Accepted.of(accept))
        evaluator.check_ceiling(max_risk)
        original = evaluator.original(data)
        results = run(evaluator, data, plan, range(first, first + seeds), jobs, tell)
        return evaluator.map(data, results, original, max_risk, seed)

    if utility is None and drawn_anew:
        return placed(OF_EVERY_FILE)
    found = placed(utility)
    return placed(OF_EVERY_FILE) if utility is None and lack_a_loss(found.results) else found


def check_numbers(max_risk: float | None, *, seed: int | None, jobs: int, **counts: int) -> None:
    """Refuse a ceiling, a seed or a number of things that makes no sense."""
    check_ceiling(max_risk)
    if max_risk is not None and max_risk < 0:
        raise OptionError("max_risk must not be negative.", given=max_risk)
    if seed is not None:
        check_seed(seed)
    if not isinstance(jobs, int) or jobs == 0:
        raise OptionError(
            "jobs must be a number of processes.", given=jobs, allowed="1, 2, … or -1 for all cores"
        )
    for name, value in counts.items():
        if not isinstance(value, int) or value < 1:
            raise OptionError(f"{name} must be at least 1.", given=value)


def _scenarios(given: Scenario | Sequence[Scenario] | Mapping[str, Sequence[Any]]) -> list[Scenario]:
    if isinstance(given, Scenario):
        given = [given]
    plan = [Scenario(n, s) for n, s in given.items()] if isinstance(given, Mapping) else list(given)
    if not all(isinstance(s, Scenario) for s in plan):
        raise OptionError(
            "compare takes scenarios.", given=plan, allowed="Scenario objects or {name: [steps]}"
        )
    names = [s.name for s in plan]
    if not plan:
        raise OptionError("compare needs at least one scenario.", given="none")
    if len(set(names)) < len(names):
        repeated = sorted({n for n in names if names.count(n) > 1})
        raise OptionError("Scenario names must differ.", given=", ".join(repeated))
    return plan
