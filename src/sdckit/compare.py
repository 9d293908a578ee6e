"""compare: many scenarios on one risk–utility map."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan
from time import perf_counter
from typing import Any

import polars as pl

from sdckit.assess import Assessment, assess
from sdckit.errors import OptionError, SdcError
from sdckit.microdata import Microdata
from sdckit.quantity import Quantity
from sdckit.registry import Kind
from sdckit.result import show
from sdckit.scenario import Scenario

Progress = Callable[[str, int, int], None]  # scenario, finished, in all
Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Point:
    """One scenario on the map. Failed scenarios carry the reason in `error` and nan for the numbers."""

    name: str
    scenario: Scenario
    risk: float
    utility: float
    risk_values: Mapping[str, float]
    utility_values: Mapping[str, float]
    seconds: float
    error: str = ""

    @property
    def ok(self) -> bool:
        """Whether both numbers could be computed."""
        return not self.error and isfinite(self.risk) and isfinite(self.utility)


@dataclass(frozen=True)
class RiskUtilityMap:
    """Scenarios as points: disclosure risk against information lost (0 is best on both).

    `original` is the point of the untouched file: full utility, its own risk.
    """

    data: Microdata
    results: tuple[Point, ...]
    original: Point
    risk: Mapping[str, float]
    utility: Mapping[str, float]
    max_risk: float | None
    seed: int
    needs: Mapping[str, Any]

    @property
    def front(self) -> pl.DataFrame:
        """The scenarios no other beats on both risk and loss, by rising risk."""
        return self.points.filter("on_front").sort("risk")

    @property
    def best(self) -> Point | None:
        """The scenario with the least loss under the accepted risk (of those, the least risk)."""
        ceiling = inf if self.max_risk is None else self.max_risk
        fit = [p for p in self.results if p.ok and p.risk <= ceiling]
        return min(fit, key=lambda p: (p.utility, p.risk), default=None)

    @property
    def reason(self) -> str:
        """Why the best point is recommended, in one sentence."""
        best = self.best
        under = "" if self.max_risk is None else f" among those with a risk of at most {show(self.max_risk)}"
        if best is None:
            return f"No scenario is acceptable{under}: protect more, or accept a higher risk."
        return (
            f"{best.name} loses least ({show(best.utility)}){under}; its risk is {show(best.risk)}, "
            f"{show(self.original.risk)} before."
        )

    @property
    def points(self) -> pl.DataFrame:
        """One row a scenario: risk, utility (information lost), each measure, seconds, front, best, error."""
        front = _front(self.results)
        best = self.best
        rows = [
            {
                "scenario": p.name,
                "description": p.scenario.describe(),
                "risk": p.risk,
                "utility": p.utility,
                **{f"risk_{n}": v for n, v in p.risk_values.items()},
                **{f"utility_{n}": v for n, v in p.utility_values.items()},
                "on_front": p.name in front,
                "best": best is not None and p.name == best.name,
                "seconds": p.seconds,
                "error": p.error,
            }
            for p in self.results
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def protect(self, name: str | None = None) -> Microdata:
        """The protected file of a scenario (the best by default), made again from the seed."""
        point = self.best if name is None else next((p for p in self.results if p.name == name), None)
        if point is None:
            raise OptionError("There is no such scenario on the map.", given=name or "no acceptable scenario")
        return point.scenario.protect(self.data, seed=self.seed)

    def assess(self, name: str | None = None) -> Assessment:
        """The full assessment of a scenario (the best by default)."""
        from dataclasses import replace

        protected = self.protect(name)
        ceiling = self.max_risk if list(self.risk) == ["individual_risk"] else None
        done = assess(self.data, protected, max_risk=ceiling, **self.needs)
        best = self.best
        return replace(done, scenario=name or (best.name if best else ""), seed=self.seed)

    def chart(self) -> Any:
        """The map as an Altair chart."""
        from sdckit.charts import risk_utility_map

        axes = [[Quantity.named(name) for name in names] for names in (self.risk, self.utility)]
        titles = [", ".join(q.title for q in axis) for axis in axes]
        shares = [all(q.bounds == (0, 1) for q in axis) for axis in axes]
        return risk_utility_map(
            self.points,
            original_risk=self.original.risk,
            max_risk=self.max_risk,
            risk_title=titles[0],
            loss_title=titles[1],
            risk_is_share=shares[0] and len(self.risk) == 1,
            loss_is_share=shares[1] and len(self.utility) == 1,
        )

    def __repr__(self) -> str:
        shown = self.points.select("scenario", "risk", "utility", "on_front", "best", "error")
        return f"Risk–utility map of {len(self.results)} scenarios\n{shown}\n{self.reason}"


def compare(
    data: Microdata,
    scenarios: Sequence[Scenario] | Mapping[str, Sequence[Any]],
    *,
    risk: str | Sequence[str] | Weights = "individual_risk",
    utility: str | Sequence[str] | Weights = "il1s",
    max_risk: float | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
    **needs: Any,
) -> RiskUtilityMap:
    """Protect the data in several ways and place each on the risk–utility map.

    `risk` and `utility` name a measure or one of its figures ("entropy_loss.share"), or several: a list
    (equal shares) or {name: share}. A single one is shown in its own unit. Several are first brought to 0
    (no risk, no loss) … 1 by their bounds, v/(1+v) where there is no upper bound, then averaged.
    A scenario that fails is reported with its reason and the others are kept.

    >>> import sdckit as sdc
    >>> data = sdc.demo.survey(n=300, seed=1).with_roles(keys=["sex", "urban"], numeric=["expenditure"])
    >>> steps = {f"k{k}": [{"microaggregate": {"k": k}}] for k in (3, 10)}
    >>> sdc.compare(data, steps, risk="frequencies").best.name
    'k3'
    """
    plan = _scenarios(scenarios)
    risks, losses = _weights(risk, Kind.RISK), _weights(utility, Kind.UTILITY)
    if max_risk is not None and not max_risk >= 0:
        raise OptionError("max_risk must not be negative.", given=max_risk)
    for scenario in plan:
        scenario.check(data)
    for spec in [Quantity.named(name).spec for name in (*risks, *losses)]:
        spec.check(data)
        spec.validate(needs.get(spec.name, {}) if isinstance(needs.get(spec.name), Mapping) else {})
    original = _point(data, Scenario("original"), risks, losses, seed, needs)
    if original.error:
        raise OptionError("The original cannot be measured.", given=original.error)
    results = _run(data, plan, risks, losses, seed, needs, jobs, progress)
    return RiskUtilityMap(data, tuple(results), original, risks, losses, max_risk, seed, needs)


def _run(
    data: Microdata,
    plan: Sequence[Scenario],
    risks: Weights,
    losses: Weights,
    seed: int,
    needs: Mapping[str, Any],
    jobs: int,
    progress: Progress | None,
) -> list[Point]:
    from joblib import Parallel, delayed

    calls = (delayed(_point)(data, scenario, risks, losses, seed, needs) for scenario in plan)
    points = []
    for point in Parallel(n_jobs=jobs, return_as="generator")(calls):
        points.append(point)
        if progress is not None:
            progress(point.name, len(points), len(plan))
    return points


def _point(
    data: Microdata, scenario: Scenario, risks: Weights, losses: Weights, seed: int, needs: Mapping[str, Any]
) -> Point:
    start = perf_counter()
    try:
        protected = scenario.protect(data, seed=seed)
        wanted = {name: Quantity.named(name) for name in (*risks, *losses)}
        done = assess(data, protected, measures=[q.spec.name for q in wanted.values()], **needs)
        risk_values = {name: wanted[name].of(done.after) for name in risks}
        losses_found = {name: wanted[name].of(done.utility) for name in losses}
    except SdcError as error:
        return Point(scenario.name, scenario, nan, nan, {}, {}, perf_counter() - start, str(error))
    omitted = {o.measure: o.reason for o in done.omitted}
    names = dict.fromkeys(q.spec.name for q in wanted.values())
    fault = "; ".join(f"{name}: {omitted[name]}" for name in names if name in omitted)
    return Point(
        scenario.name,
        scenario,
        nan if fault else combine(risk_values, risks),
        nan if fault else combine(losses_found, losses),
        risk_values,
        losses_found,
        perf_counter() - start,
        fault,
    )


def combine(values: Mapping[str, float], weights: Weights) -> float:
    """One number for the axis, low being good: the measure itself, or the mean of normalised measures."""
    if len(weights) == 1:
        name, value = next(iter(values.items()))
        quantity = Quantity.named(name)
        return value if quantity.low_is_good else quantity.normalised(value)
    total = sum(weights.values())
    return sum(
        share / total * Quantity.named(name).normalised(values[name]) for name, share in weights.items()
    )


def _front(points: Sequence[Point]) -> set[str]:
    """Names on the Pareto front: nothing is at least as good on both and better on one."""
    good = sorted((p for p in points if p.ok), key=lambda p: (p.risk, p.utility))
    front, least = set(), inf
    for point in good:
        if point.utility < least or any(
            p.name in front and (p.risk, p.utility) == (point.risk, point.utility) for p in good
        ):
            front.add(point.name)
            least = min(least, point.utility)
    return front


def _scenarios(given: Sequence[Scenario] | Mapping[str, Sequence[Any]]) -> list[Scenario]:
    plan = [Scenario(n, s) for n, s in given.items()] if isinstance(given, Mapping) else list(given)
    names = [s.name for s in plan]
    if not plan:
        raise OptionError("compare needs at least one scenario.", given="none")
    if len(set(names)) < len(names):
        raise OptionError(
            "Scenario names must differ.", given=", ".join(sorted({n for n in names if names.count(n) > 1}))
        )
    return plan


def _weights(asked: str | Sequence[str] | Weights, kind: Kind) -> dict[str, float]:
    shares = (
        {asked: 1.0}
        if isinstance(asked, str)
        else dict(asked)
        if isinstance(asked, Mapping)
        else dict.fromkeys(asked, 1.0)
    )
    if not shares or not all(share > 0 for share in shares.values()):
        raise OptionError(f"{kind.value} needs measures with positive shares.", given=asked)
    for name in shares:
        Quantity.named(name, kind)
    return shares
