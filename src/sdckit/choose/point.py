"""Point: one scenario on the risk–utility map; the front of several, and what it covers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite, nan

from sdckit._support.messages import join_names
from sdckit._support.number_text import percent
from sdckit.choose.quantity import Quantity
from sdckit.choose.scenario import Scenario
from sdckit.data.privacy import PrivacyLoss
from sdckit.data.result import show
from sdckit.estimate.estimated import Estimated
from sdckit.methods.spec import Kind


@dataclass(frozen=True, slots=True)
class Point:
    """One scenario on the map. Failed scenarios carry the reason in `error` and nan for the numbers."""

    name: str
    scenario: Scenario
    risk: float
    loss: float
    risk_values: Mapping[str, float]
    loss_values: Mapping[str, float]
    seconds: float
    error: str = ""
    runs: tuple[tuple[float, float], ...] = ()  # (risk, loss) of each seed where there were several
    extra: Mapping[str, float] = field(default_factory=dict)  # measured beside the axes
    left_out: Mapping[str, str] = field(default_factory=dict)  # why some of the numbers are missing
    estimates: tuple[Estimated, ...] = ()
    warnings: tuple[str, ...] = ()  # of the protected data
    lost: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # variables a utility says nothing of
    privacy: tuple[PrivacyLoss, ...] = ()  # what differentially private runs promise and cost
    new_records: bool = False  # nobody has a record: the risk is of whole records that come back
    not_judged: str = ""  # why the file cannot be cleared by what was measured
    # the intruders: the share that each finds at most, and what is accepted of him alone
    found_by: tuple[tuple[str, float, float | None], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether both numbers could be computed."""
        return not self.error and isfinite(self.risk) and isfinite(self.loss)

    def objection(self, ceiling: float | None) -> str:
        """Why the file cannot be cleared whatever its risk on the axis, as far as is known; or nothing.

        It was not judged, or an intruder finds more than is accepted: `ceiling`, unless he has his own.

        >>> from sdckit.choose.scenario import Scenario
        >>> point = Point("a", Scenario("a"), 0.01, 0.2, {}, {}, 0.1, found_by=(("insider", 0.125, None),))
        >>> point.objection(0.2), point.objection(0.05).replace("\N{NO-BREAK SPACE}", " ")
        ('', 'insider finds 12.5 %, accepted are 5 %')
        """
        limits = [(name, share, ceiling if own is None else own) for name, share, own in self.found_by]
        return self.not_judged or "; ".join(
            f"{name} finds {percent(share)}, accepted are {percent(limit)}"
            for name, share, limit in limits
            if limit is not None and share > limit
        )

    def value(self, name: str) -> float:
        """A number that was measured, on an axis or beside; nan where there is none."""
        return self._numbers().get(name, nan)

    def seen(self, kind: Kind, name: str) -> "Point":
        """The point with another of its numbers on the axis of risks or of utilities."""
        numbers = self._numbers()
        value = Quantity.named(name).on_axis(numbers.get(name, nan))
        own = {name: numbers[name]} if name in numbers else {}
        other = self.loss_values if kind is Kind.RISK else self.risk_values
        extra = {n: v for n, v in numbers.items() if n != name and n not in other}
        # A point without any number was not made; else what is on the axes now says why it has no place.
        seen = [self.left_out[n] for n in (name, *other) if n in self.left_out]
        error = "; ".join(dict.fromkeys(seen)) if numbers else self.error
        if kind is Kind.RISK:
            return replace(self, risk=value, risk_values=own, extra=extra, runs=(), error=error)
        return replace(self, loss=value, loss_values=own, extra=extra, runs=(), error=error)

    def not_comparable(self, lost: Mapping[str, Sequence[str]]) -> "Point":
        """The point without the numbers that say nothing of these variables, and with the reason."""
        reasons = {name: says_nothing(name, columns) for name, columns in lost.items() if columns}
        here = [reason for name, reason in reasons.items() if name in self.loss_values]
        return replace(
            self,
            loss=nan if here else self.loss,
            loss_values={n: nan if n in reasons else v for n, v in self.loss_values.items()},
            error="; ".join(here) or self.error,
            extra={n: nan if n in reasons else v for n, v in self.extra.items()},
            left_out={**self.left_out, **reasons},
        )

    def __repr__(self) -> str:
        numbers = f"risk {show(self.risk)}, loss {show(self.loss)}"
        return f"Point {self.name!r}: {numbers}" + (f" ({self.error})" if self.error else "")

    def _numbers(self) -> dict[str, float]:
        return {**self.extra, **self.risk_values, **self.loss_values}

    def spread(self) -> dict[str, float]:
        """Lowest and highest risk and loss over the seeds; the point itself where there was one."""
        risks, losses = zip(*(self.runs or ((self.risk, self.loss),)), strict=True)
        return {
            "risk_low": min(risks),
            "risk_high": max(risks),
            "loss_low": min(losses),
            "loss_high": max(losses),
        }


def says_nothing(name: str, columns: Sequence[str]) -> str:
    """Why a loss cannot be compared with that of other scenarios."""
    measure = Quantity.named(name).spec.title
    return (
        f"{measure} says nothing of {join_names(columns)}, which this scenario drops or recodes; "
        "choose another utility such as table_loss, or protect it otherwise"
    )


def lost_everywhere(points: Sequence[Point]) -> dict[str, tuple[str, ...]]:
    """The variables of which a utility says nothing in any of the scenarios, so that they can be compared."""
    measured = [p.lost for p in points if not p.error]
    names = dict.fromkeys(name for lost in measured for name in lost)
    shared = {n: set.intersection(*(set(lost.get(n, ())) for lost in measured)) for n in names}
    return {name: tuple(sorted(columns)) for name, columns in shared.items() if columns}


def comparable(points: Sequence[Point]) -> list[Point]:
    """The points, without the losses that leave out a variable which those of other scenarios count."""
    shared = lost_everywhere(points)
    return [
        p.not_comparable({n: [c for c in lost if c not in shared.get(n, ())] for n, lost in p.lost.items()})
        for p in points
    ]


def front(points: Sequence[Point]) -> set[str]:
    """Names on the Pareto front: nothing is at least as good on both and better on one."""
    good = sorted((p for p in points if p.ok), key=lambda p: (p.risk, p.loss))
    front, least = set(), inf
    for point in good:
        if point.loss < least or any(
            p.name in front and (p.risk, p.loss) == (point.risk, point.loss) for p in good
        ):
            front.add(point.name)
            least = min(least, point.loss)
    return front


def hypervolume(points: Sequence[Point], risk: float, loss: float) -> float:
    """The share of the rectangle risk × loss that lies above and to the right of some point."""
    if risk <= 0 or loss <= 0:
        return 0.0
    area, reached = 0.0, loss
    for point in sorted(points, key=lambda p: (p.risk, p.loss)):
        if point.loss < reached and point.risk < risk:
            area += (reached - point.loss) * (risk - point.risk)
            reached = point.loss
    return area / (risk * loss)
