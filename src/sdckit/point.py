"""Point: one scenario on the risk–utility map; the front of several, and what it covers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite, nan

from sdckit.estimate.estimated import Estimated
from sdckit.quantity import Quantity
from sdckit.registry import Kind
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
    also: Mapping[str, float] = field(default_factory=dict)  # what was measured beside the axes
    left_out: Mapping[str, str] = field(default_factory=dict)  # why some of that is missing
    estimates: tuple[Estimated, ...] = ()
    warnings: tuple[str, ...] = ()  # of the protected data

    @property
    def ok(self) -> bool:
        """Whether both numbers could be computed."""
        return not self.error and isfinite(self.risk) and isfinite(self.utility)

    def value(self, name: str) -> float:
        """A number that was measured, on an axis or beside; nan where there is none."""
        return self._numbers().get(name, nan)

    def seen(self, kind: Kind, name: str) -> "Point":
        """The point with another of its numbers on the axis of risks or of utilities."""
        numbers = self._numbers()
        value = Quantity.named(name).on_axis(numbers.get(name, nan))
        own = {name: numbers[name]} if name in numbers else {}
        other = self.utility_values if kind is Kind.RISK else self.risk_values
        also = {n: v for n, v in numbers.items() if n != name and n not in other}
        if kind is Kind.RISK:
            return replace(self, risk=value, risk_values=own, also=also, runs=())
        return replace(self, utility=value, utility_values=own, also=also, runs=())

    def _numbers(self) -> dict[str, float]:
        return {**self.also, **self.risk_values, **self.utility_values}

    def spread(self) -> dict[str, float]:
        """Lowest and highest risk and loss over the seeds; the point itself where there was one."""
        risks, losses = zip(*(self.runs or ((self.risk, self.utility),)), strict=True)
        return {
            "risk_low": min(risks),
            "risk_high": max(risks),
            "utility_low": min(losses),
            "utility_high": max(losses),
        }


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
