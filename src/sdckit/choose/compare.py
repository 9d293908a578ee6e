"""compare: many scenarios on one risk–utility map."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, isnan, nan
from multiprocessing import current_process
from pathlib import Path
from signal import SIG_IGN, SIGINT, signal
from statistics import fmean
from time import perf_counter
from typing import Any
from uuid import uuid4

from sdckit.choose.assess import Assessment, assess, check_ceiling, listed, measure_options
from sdckit.choose.point import comparable, says_nothing
from sdckit.choose.quantity import Quantity
from sdckit.choose.risk_utility_map import EXPECTED, Point, RiskUtilityMap
from sdckit.choose.scenario import Scenario, check_seed
from sdckit.choose.store import Store, fingerprint
from sdckit.data.microdata import Microdata, require_microdata
from sdckit.data.result import show
from sdckit.errors import OptionError, SdcError, preview
from sdckit.estimate.estimated import MEASURES, averaged, estimates_of
from sdckit.methods.processes import packed, sources, unpack
from sdckit.methods.spec import Kind

Progress = Callable[[str, int, int], None]  # scenario, finished, in all
Weights = Mapping[str, float]


def compare(
    data: Microdata,
    scenarios: Sequence[Scenario] | Mapping[str, Sequence[Any]],
    *,
    risk: str | Sequence[str] | Weights = "individual_risk",
    utility: str | Sequence[str] | Weights | None = None,
    also: str | Sequence[str] = (),
    max_risk: float | None = None,
    seed: int = 0,
    seeds: int = 1,
    jobs: int = 1,
    cache: str | Path | None = None,
    progress: Progress | None = None,
    **needs: Any,
) -> RiskUtilityMap:
    """Protect the data in several ways and place each on the risk–utility map.

    `risk` and `utility` name a measure or one of its figures ("entropy_loss.share"), or several: a list
    (equal shares) or {name: share}. A single one is shown in its own unit. Several are first brought to 0
    (no risk, no loss) … 1 by their bounds, v/(1+v) where there is no upper bound, then averaged. On the map
    low is good: a single measure that should be high (l_diversity, indicators, regression) is brought to
    0 … 1 and turned round in the same way. `max_risk` is on the scale of the axis: in the unit of a single
    measure that should be low, otherwise between 0 and 1. Without `utility` it is both entropy_loss.share,
    the loss in keys and sensitive categories, and il1s, that in the numbers, or the one of them for which the
    data have columns.

    `also`: further risks and utilities, named in the same way, measured for every scenario and kept beside
    the two axes: in `points`, and in the small maps of `multiples()`; they do not change what is recommended.
    `needs` sets options of measures by their name, as in `assess`. Naming `indicators` or `regression` there,
    regression={"formula": "log(income) ~ sex + age"}, measures them also and keeps every estimate with its
    interval: see `estimates` and `estimate_chart()` of the map.

    `seeds`: scenarios with a random step run that often, with seed, seed+1, …; the point is the mean, with
    the spread beside it. `jobs`: processes (joblib; another backend can be chosen by its context manager).
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
    judge = Judge.of(data, risk, utility, needs, cache, also)
    judge.check_ceiling(max_risk)
    original = judge.original(data, seed)
    results = run(judge, data, plan, range(seed, seed + seeds), jobs, progress)
    return judge.map(data, results, original, max_risk, seed)


@dataclass(frozen=True)
class Judge:
    """How scenarios are judged: the measures of both axes, their options, and where results are kept."""

    risks: Weights
    losses: Weights
    asked: tuple[str, ...]  # further measures the user named
    needs: Mapping[str, Any]
    store: Store | None

    @classmethod
    def of(
        cls,
        data: Microdata,
        risk: str | Sequence[str] | Weights,
        utility: str | Sequence[str] | Weights | None,
        needs: Mapping[str, Any],
        cache: str | Path | None,
        also: str | Sequence[str] = (),
    ) -> "Judge":
        """The judge, with every name and option checked against the data."""
        if utility is None:
            lost = {"entropy_loss.share": data.roles.keys, "il1s": data.roles.numeric}
            utility = [name for name, columns in lost.items() if columns] or "il1s"
        risks, losses = weights(risk, Kind.RISK), weights(utility, Kind.UTILITY)
        options = measure_options(needs, "A comparison", "risk, utility, also, max_risk")
        if not isinstance(also, Sequence):
            raise OptionError(
                "also names measures.", given=preview(also), allowed="a name or a list of names"
            )
        asked = (also,) if isinstance(also, str) else tuple(also)
        further = [Quantity.named(name, Kind.RISK, Kind.UTILITY) for name in asked]
        for spec in [*(Quantity.named(name).spec for name in (*risks, *losses)), *(q.spec for q in further)]:
            spec.check(data, spec.validate(options.get(spec.name, {})))
        about = {"risks": risks, "losses": losses, "also": asked, "needs": needs, "own": sources()}
        store = None if cache is None else Store.of(Path(cache), fingerprint(data, about))
        return cls(risks, losses, asked, needs, store)

    def check_ceiling(self, max_risk: float | None) -> None:
        """Refuse an accepted risk that is not on the axis of risks."""
        quantities = [Quantity.named(name) for name in self.risks]
        alone = len(quantities) == 1 and quantities[0].low_is_good
        low, high = quantities[0].bounds if alone else (0.0, 1.0)
        if max_risk is None or low <= max_risk <= high:
            return
        first, hint = quantities[0], ""
        if len(quantities) == 1 and not alone:
            turned = show(ceil(1e6 * first.normalised(max_risk)) / 1e6)  # not below: this value is accepted
            hint = f"On this axis {first.spec.name} = {show(max_risk)} is {turned}: say max_risk={turned}."
        what = first.axis_title if len(quantities) == 1 else "the mean of several risks, each from 0 to 1"
        raise OptionError(
            f"max_risk is not on the axis of risks, which is: {what}.",
            given=max_risk,
            allowed=f"{show(low)} to {show(high)}" if high < inf else f"{show(low)} or more",
            hint=hint,
        )

    @property
    def also(self) -> tuple[str, ...]:
        """What is measured beside the axes: as asked, what `needs` says to estimate, and its risk."""
        axes = (*self.risks, *self.losses)
        names = [*self.asked, *(name for name in MEASURES if name in self.needs)]
        measured = {Quantity.named(name).spec.name for name in (*axes, *names)}
        if measured & {*MEASURES} and "individual_risk" in measured:
            names.append(EXPECTED)
        return tuple(name for name in dict.fromkeys(names) if name not in axes)

    def original(self, data: Microdata, seed: int) -> Point:
        """The untouched file on the map; an error where what was asked for cannot be measured."""
        point = self.point(data, Scenario("original"), (seed,))
        if point.error or point.left_out:
            reasons = "; ".join(dict.fromkeys(point.left_out.values()))
            raise OptionError(point.error or f"The original cannot be measured: {reasons}.")
        return point

    def map(
        self, data: Microdata, points: Iterable[Point], original: Point, max_risk: float | None, seed: int
    ) -> RiskUtilityMap:
        """The map of these points."""
        return RiskUtilityMap(
            data,
            tuple(comparable([*points])),
            original,
            self.risks,
            self.losses,
            max_risk,
            seed,
            self.needs,
            self.also,
        )

    def point(self, data: Microdata, scenario: Scenario, seeds: Sequence[int]) -> Point:
        """The scenario's place on the map: the mean over the seeds, one where nothing is random."""
        used = seeds if is_random(scenario) else seeds[:1]
        points = [self._once(data, scenario, s) for s in used]
        broken = next((p for p in points if not p.ok), None)
        if broken is not None or len(points) == 1:
            return broken or points[0]
        return Point(
            scenario.name,
            scenario,
            fmean(p.risk for p in points),
            fmean(p.utility for p in points),
            {n: fmean(p.risk_values[n] for p in points) for n in self.risks},
            {n: fmean(p.utility_values[n] for p in points) for n in self.losses},
            sum(p.seconds for p in points),
            runs=tuple((p.risk, p.utility) for p in points),
            also={n: fmean(p.also[n] for p in points) for n in self.also},
            left_out={name: reason for p in points for name, reason in p.left_out.items()},
            estimates=averaged([p.estimates for p in points]),
            warnings=points[0].warnings,
            lost=points[0].lost,
        )

    def _once(self, data: Microdata, scenario: Scenario, seed: int) -> Point:
        kept = self.store.get(scenario, seed) if self.store else None
        if kept is not None:
            return kept
        point = self._measure(data, scenario, seed)
        if self.store:
            self.store.put(point, seed)
        return point

    def _measure(self, data: Microdata, scenario: Scenario, seed: int) -> Point:
        start = perf_counter()
        wanted = {name: Quantity.named(name) for name in (*self.risks, *self.losses, *self.also)}
        try:
            protected = scenario.replay(data, seed)
            done = assess(data, protected, measures=[q.spec.name for q in wanted.values()], **self.needs)
            risks = {name: rounded(wanted[name].of(done.after)) for name in self.risks}
            losses = {name: rounded(wanted[name].of(done.utility)) for name in self.losses}
        except SdcError as error:
            return Point(scenario.name, scenario, nan, nan, {}, {}, perf_counter() - start, str(error))
        omitted = {o.measure: f"{o.measure}: {o.reason}" for o in done.omitted}
        names = dict.fromkeys(wanted[name].spec.name for name in (*self.risks, *self.losses))
        fault = "; ".join(omitted[name] for name in names if name in omitted)
        lost = {n: done.utility[q.spec.name].lost for n, q in wanted.items() if q.spec.name in done.utility}
        if scenario.steps and not fault:
            fault = _no_number({**risks, **losses}, done, lost)
        also, left_out = _further({name: wanted[name] for name in self.also}, done, omitted)
        return Point(
            scenario.name,
            scenario,
            nan if fault else combine(risks, self.risks),
            nan if fault else combine(losses, self.losses),
            risks,
            losses,
            perf_counter() - start,
            fault,
            also=also,
            left_out=left_out,
            estimates=estimates_of(done.utility),
            warnings=protected.warnings,
            lost=lost,
        )


def _further(
    wanted: Mapping[str, Quantity], done: Assessment, omitted: Mapping[str, str]
) -> tuple[dict[str, float], dict[str, str]]:
    """The numbers beside the axes, and why some are missing: that does not spoil the scenario."""
    results = {**done.after, **done.utility}
    also: dict[str, float] = {}
    left_out: dict[str, str] = {}
    for name, quantity in wanted.items():
        try:
            also[name] = rounded(quantity.of(results))
        except OptionError as error:  # no such figure
            also[name], left_out[name] = nan, str(error)
        if quantity.spec.name in omitted:
            left_out[name] = omitted[quantity.spec.name]
    return also, left_out


def _no_number(values: Mapping[str, float], done: Assessment, lost: Mapping[str, Sequence[str]]) -> str:
    """Why a number of an axis is nan; empty where all are there."""
    results = {**done.after, **done.utility}
    for name in (name for name, value in values.items() if isnan(value)):
        measure = Quantity.named(name).spec.name
        if lost.get(name):
            return says_nothing(name, lost[name])
        notes = results[measure].notes
        return f"{measure}: {notes[-1] if notes else 'no number came out'}"
    return ""


def rounded(value: float) -> float:
    """The number to 12 figures: the last ones depend on the order of sums, which threads decide.

    >>> rounded(0.1 + 0.2)
    0.3
    """
    return float(f"{value:.12g}")


def run(
    judge: Judge,
    data: Microdata,
    plan: Sequence[Scenario],
    seeds: Sequence[int],
    jobs: int,
    progress: Progress | None = None,
) -> list[Point]:
    """The points of several scenarios, in their order, over several processes."""
    from joblib import Parallel, delayed

    name = data.cache.setdefault("name", uuid4().hex)
    own = b"" if jobs == 1 else packed()
    calls = (delayed(_point)(judge, name, data, scenario, seeds, own) for scenario in plan)
    points = []
    try:
        for point in Parallel(n_jobs=jobs, return_as="generator")(calls):
            points.append(point)
            if progress is not None:
                progress(point.name, len(points), len(plan))
    finally:  # nothing is held here, also after an interruption; other processes keep theirs for the next run
        _held.clear()
        data.cache.pop("replayed", None)
    return points


_held: dict[str, Microdata] = {}  # the data of the last run in this process, by their name


def _point(
    judge: Judge, name: str, data: Microdata, scenario: Scenario, seeds: Sequence[int], own: bytes
) -> Point:
    """A point measured in some process, with what is already known of the original there.

    Every call to another process brings its own copy of the data; the first is held for those after it.
    """
    if current_process().name.startswith("Loky"):
        signal(SIGINT, SIG_IGN)  # Ctrl-C is for the process that waits for this one, and ends it
    unpack(own)
    held = _held.get(name)
    if held is None:
        _held.clear()
        held = _held[name] = data
    return judge.point(held, scenario, seeds)


def is_random(scenario: Scenario) -> bool:
    """Whether some step draws random numbers."""
    return any(step.random for step in scenario.steps)


def combine(values: Mapping[str, float], shares: Weights) -> float:
    """One number for the axis, low being good: the measure itself, or the mean of normalised measures."""
    if len(shares) == 1:
        name, value = next(iter(values.items()))
        return Quantity.named(name).on_axis(value)
    total = sum(shares.values())
    return sum(
        share / total * Quantity.named(name).normalised(values[name]) for name, share in shares.items()
    )


def weights(asked: str | Sequence[str] | Weights, kind: Kind) -> dict[str, float]:
    """The measures of an axis with their shares."""
    if isinstance(asked, str):
        shares = {asked: 1.0}
    elif isinstance(asked, Mapping):
        shares = dict(asked)
    else:
        shares = dict.fromkeys(listed(asked, kind.value), 1.0)
    numbers = all(isinstance(share, int | float) and 0 < share < inf for share in shares.values())
    if not shares or not numbers:
        raise OptionError(f"{kind.value} needs measures with positive shares.", given=asked)
    for name in shares:
        Quantity.named(name, kind)
    return shares


def check_numbers(max_risk: float | None, *, seed: int, jobs: int, **counts: int) -> None:
    """Refuse a ceiling, a seed or a number of things that makes no sense."""
    check_ceiling(max_risk)
    if max_risk is not None and max_risk < 0:
        raise OptionError("max_risk must not be negative.", given=max_risk)
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
