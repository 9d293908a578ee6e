"""RiskUtilityMap: scenarios as points of disclosure risk against information lost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

import polars as pl

from sdckit.assess import Assessment, assess
from sdckit.errors import OptionError
from sdckit.microdata import Microdata
from sdckit.quantity import Quantity
from sdckit.result import show
from sdckit.scenario import Scenario


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
    runs: tuple[tuple[float, float], ...] = ()  # (risk, utility) of each seed where there were several

    @property
    def ok(self) -> bool:
        """Whether both numbers could be computed."""
        return not self.error and isfinite(self.risk) and isfinite(self.utility)

    def spread(self) -> dict[str, float]:
        """Lowest and highest risk and loss over the seeds; the point itself where there was one."""
        risks, losses = zip(*(self.runs or ((self.risk, self.utility),)), strict=True)
        return {
            "risk_low": min(risks),
            "risk_high": max(risks),
            "utility_low": min(losses),
            "utility_high": max(losses),
        }


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
        on_front = front(self.results)
        best = self.best
        rows = [
            {
                "scenario": p.name,
                "description": p.scenario.describe(),
                "risk": p.risk,
                "utility": p.utility,
                **{f"risk_{n}": v for n, v in p.risk_values.items()},
                **{f"utility_{n}": v for n, v in p.utility_values.items()},
                "on_front": p.name in on_front,
                "best": best is not None and p.name == best.name,
                **p.spread(),
                "seconds": p.seconds,
                "error": p.error,
            }
            for p in self.results
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    @property
    def hypervolume(self) -> float:
        """How much of the map the front covers: 0 nothing, 1 no risk and no loss.

        The area better than no front at all, seen from the original's risk and the largest loss found;
        only scenarios under the accepted risk count.
        """
        ceiling = inf if self.max_risk is None else self.max_risk
        fit = [p for p in self.results if p.ok and p.risk <= ceiling]
        return hypervolume(
            fit, self.original.risk, max((p.utility for p in self.results if p.ok), default=0.0)
        )

    def only_front(self) -> "RiskUtilityMap":
        """The same map with the scenarios on the front only, and the best: what a long search is about."""
        on_front = front(self.results)
        best = self.best
        kept = tuple(
            p for p in self.results if p.name in on_front or (best is not None and p.name == best.name)
        )
        return replace(self, results=kept)

    def protect(self, name: str | None = None) -> Microdata:
        """The protected file of a scenario (the best by default), made again from the seed."""
        point = self.best if name is None else next((p for p in self.results if p.name == name), None)
        if point is None:
            raise OptionError("There is no such scenario on the map.", given=name or "no acceptable scenario")
        return point.scenario.protect(self.data, seed=self.seed)

    def assess(self, name: str | None = None) -> Assessment:
        """The full assessment of a scenario (the best by default)."""
        protected = self.protect(name)
        ceiling = self.max_risk if list(self.risk) == ["individual_risk"] else None
        done = assess(self.data, protected, max_risk=ceiling, **self.needs)
        best = self.best
        return replace(done, scenario=name or (best.name if best else ""), seed=self.seed)

    def chart(self) -> Any:
        """The map as an Altair chart."""
        from sdckit.charts import risk_utility_map

        axes = [[Quantity.named(name) for name in names] for names in (self.risk, self.utility)]
        titles = [
            axis[0].axis_title
            if len(axis) == 1 and not axis[0].low_is_good
            else ", ".join(q.title for q in axis)
            for axis in axes
        ]
        shares = [len(axis) == 1 and axis[0].bounds == (0, 1) and axis[0].low_is_good for axis in axes]
        return risk_utility_map(
            self.points,
            original_risk=self.original.risk,
            max_risk=self.max_risk,
            risk_title=titles[0],
            loss_title=titles[1],
            risk_is_share=shares[0],
            loss_is_share=shares[1],
        )

    def __repr__(self) -> str:
        shown = self.points.select("scenario", "risk", "utility", "on_front", "best", "error")
        return f"Risk–utility map of {len(self.results)} scenarios\n{shown}\n{self.reason}"


def front(points: Sequence[Point]) -> set[str]:
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


def hypervolume(points: Sequence[Point], risk: float, loss: float) -> float:
    """The share of the rectangle risk × loss that lies above and to the right of some point."""
    if risk <= 0 or loss <= 0:
        return 0.0
    area, reached = 0.0, loss
    for point in sorted(points, key=lambda p: (p.risk, p.utility)):
        if point.utility < reached and point.risk < risk:
            area += (reached - point.utility) * (risk - point.risk)
            reached = point.utility
    return area / (risk * loss)
