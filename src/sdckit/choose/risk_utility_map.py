"""RiskUtilityMap: scenarios as points of disclosure risk against information lost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any

import polars as pl

from sdckit._support.html_text import bullets, paragraph, picture, table
from sdckit._support.messages import did_you_mean, join_names
from sdckit._support.save_chart import save_chart
from sdckit.choose import map_charts, recommendation
from sdckit.choose.assess import assess, check_ceiling
from sdckit.choose.assessment import Assessment
from sdckit.choose.criteria import Accepted, Verdict
from sdckit.choose.joined import joined
from sdckit.choose.point import Point as Point
from sdckit.choose.point import front as front
from sdckit.choose.point import hypervolume as hypervolume
from sdckit.choose.privacy_budget import cost_of_map
from sdckit.choose.quantity import Quantity
from sdckit.choose.release_facts import unmeasured
from sdckit.data.effects import merged
from sdckit.data.microdata import Microdata
from sdckit.data.privacy import PrivacyLoss
from sdckit.data.result import show
from sdckit.errors import OptionError
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind, Spec

_NO_ROWS = {
    **dict.fromkeys(("scenario", "description", "objection", "error"), pl.Series([], dtype=pl.String)),
    **dict.fromkeys(("risk", "loss", "seconds"), pl.Series([], dtype=pl.Float64)),
    **dict.fromkeys(("on_front", "best"), pl.Series([], dtype=pl.Boolean)),
}  # of a map without scenarios


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
    seed: int | None
    measure_options: Mapping[str, Any]
    extra_measures: tuple[str, ...] = ()
    accept: Accepted = field(default_factory=Accepted)
    privacy: tuple[PrivacyLoss, ...] = ()  # of every scenario that was tried, also of those left out here
    _made: dict[str, Microdata] = field(default_factory=dict, repr=False, compare=False)  # by scenario
    _assessed: dict[str, Assessment] = field(default_factory=dict, repr=False, compare=False)

    @property
    def front(self) -> pl.DataFrame:
        """The scenarios no other beats on both risk and loss, by rising risk."""
        return self.points.filter("on_front").sort("risk")

    @property
    def best(self) -> Point | None:
        """The scenario with the least loss under the accepted risk (of those, the least risk).

        One that cannot be cleared by what was measured (a synthetic file without people held back, a file in
        which another intruder finds more than is accepted) only where there is no other.
        """
        return min(self.acceptable, key=lambda p: (bool(self.objection(p)), p.loss, p.risk), default=None)

    def objection(self, point: Point) -> str:
        """Why a file cannot be cleared though its risk on the axis is accepted, as far as is known."""
        return point.objection(self._intruders_ceiling) if self.accepts(point) else ""

    @property
    def _intruders_ceiling(self) -> float | None:
        """What is accepted of every intruder: the ceiling of the map where it is about them."""
        return self.max_risk if [*self.risk] == ["reidentification_risk"] else None

    @property
    def reason(self) -> str:
        """Why the best point is recommended, and the verdict on its file."""
        verdict = self.verdict
        return self.recommendation if verdict is None else f"{self.recommendation} {verdict.headline}"

    @property
    def recommendation(self) -> str:
        """Why the best point is recommended, in one sentence."""
        return recommendation.sentence(self)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the recommended file: every criterion; None where no scenario is recommended."""
        return None if self.best is None else self._judged.verdict

    @property
    def advice(self) -> str:
        """What pictures say of the best scenario: recommended only if its file can be released."""
        return "recommended" if self.verdict is not None and self.verdict.releasable else "loses least"

    @cached_property
    def _judged(self) -> Assessment:
        """What the verdict on the best file needs, and no more."""
        if self.best is not None and self.best.name in self._assessed:
            return self._assessed[self.best.name]
        return self._assess(None, measures=[s.name for s in self._applicable if s.judges])

    @cached_property
    def _applicable(self) -> list[Spec]:
        """The measures for the best file: those of synthetic files only where values were drawn anew."""
        synthetic = bool(merged(e.effects for e in self.protect().steps_since(self.data)).synthesises)
        found = [s for s in specs() if s.kind is not Kind.PROTECTION]
        return [s for s in found if synthetic or "synthetic" not in s.file_names]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to mind before the best file is released: of its steps, and of columns no risk looks at.

        Only of that file, which is made again: to look through every column of all of them takes long.
        """
        if self.best is None:
            return self.privacy_cost
        own = (*self.best.warnings, *unmeasured(self.data, self.protect()))
        return tuple(dict.fromkeys((*own, *self.privacy_cost)))

    @property
    def privacy_cost(self) -> tuple[str, ...]:
        """What the differentially private scenarios cost together; empty where there are none."""
        best = ("", ()) if self.best is None else (self.best.name, self.best.privacy)
        return tuple(cost_of_map(self.privacy, self._made, best))

    @property
    def points(self) -> pl.DataFrame:
        """One row a scenario: risk, loss (information lost), each measure, seconds, front, best, error.

        objection: why the file cannot be cleared though its risk is accepted, as far as is known. Columns of
        `extra_measures` come after those of the axes, and `left_out` says what is missing.
        """
        on_front = front(self.results)
        best = self.best
        rows = [
            {
                "scenario": p.name,
                "description": p.scenario.describe(),
                "risk": p.risk,
                "loss": p.loss,
                **{f"risk_{n}": v for n, v in p.risk_values.items()},
                **{f"loss_{n}": v for n, v in p.loss_values.items()},
                **{f"{_axis_of(n)}_{n}": v for n, v in p.extra.items()},
                "on_front": p.name in on_front,
                "best": best is not None and p.name == best.name,
                "objection": self.objection(p),
                **p.spread(),
                "seconds": p.seconds,
                "error": p.error,
                **(
                    {"left_out": "; ".join(dict.fromkeys(p.left_out.values()))} if self.extra_measures else {}
                ),
            }
            for p in self.results
        ]
        return pl.DataFrame(rows or _NO_ROWS, infer_schema_length=None)

    @property
    def hypervolume(self) -> float:
        """How much of the map the front covers: 0 nothing, 1 no risk and no loss.

        The area better than no front at all, seen from the original's risk and the largest loss found;
        only scenarios under the accepted risk count.
        """
        worst = max((p.loss for p in self.results if p.ok), default=0.0)
        return hypervolume(self.acceptable, self.original.risk, worst)

    def only_front(self) -> "RiskUtilityMap":
        """The same map with the scenarios on the front only, and the best: what a long search is about."""
        on_front = front(self.results)
        best = self.best
        kept = tuple(
            p for p in self.results if p.name in on_front or (best is not None and p.name == best.name)
        )
        return replace(self, results=kept)

    def protect(self, name: str | None = None) -> Microdata:
        """The protected file of a scenario (the best by default), made again by the same draws."""
        point = self.best if name is None else next((p for p in self.results if p.name == name), None)
        if point is None:
            raise OptionError("There is no such scenario on the map.", given=name or "no acceptable scenario")
        if point.name not in self._made:
            self._made[point.name] = point.scenario.protect(self.data, seed=self.seed)
        return self._made[point.name]

    def assess(self, name: str | None = None) -> Assessment:
        """The full assessment of a scenario (the best by default); nothing is measured twice."""
        best = "" if self.best is None else self.best.name
        chosen = name or best
        if chosen not in self._assessed:
            if chosen == best:
                rest = self._assess(name, [s.name for s in self._applicable if not s.judges])
                self._assessed[chosen] = joined(self._judged, rest)
            else:
                self._assessed[chosen] = self._assess(name)
        return self._assessed[chosen]

    def _assess(self, name: str | None, measures: Sequence[str] | None = None) -> Assessment:
        ceiling = self._intruders_ceiling
        options = self.measure_options
        if measures is not None:
            options = {n: v for n, v in options.items() if n in measures or n == "by"}
        done = assess(
            self.data, self.protect(name), measures=measures, max_risk=ceiling, accept=self.accept, **options
        )
        best = self.best
        return replace(done, scenario=name or (best.name if best else ""), seed=self.seed)

    @property
    def estimates(self) -> pl.DataFrame:
        """One row a scenario and estimate of `indicators` and `regression`, with the original's and the risk.

        contained: the original interval holds the estimate. overlap: the mean share of the two intervals that
        they have in common, from 0 to 1.
        """
        counted = map_charts.expected_quantity((*self.risk, *self.extra_measures))
        rows = [
            {
                "scenario": p.name,
                "measure": e.measure,
                "name": e.name,
                **{n: getattr(e, n) for n in ("estimate", "low", "high")},
                **{n: getattr(e, n) for n in ("original", "original_low", "original_high")},
                "contained": e.contained,
                "overlap": e.overlap,
                "risk": p.risk,
                "expected_reidentifications": p.value(counted),
            }
            for p in self.results
            for e in p.estimates
        ]
        texts = dict.fromkeys(("scenario", "measure", "name"), pl.String)
        floats = ("estimate", "low", "high", "original", "original_low", "original_high")
        schema = {**texts, **dict.fromkeys(floats, pl.Float64), "contained": pl.Boolean}
        schema |= dict.fromkeys(("overlap", "risk", "expected_reidentifications"), pl.Float64)
        return pl.DataFrame(rows, schema=schema).fill_nan(None)

    def with_axes(self, *, risk: str | None = None, utility: str | None = None) -> "RiskUtilityMap":
        """The same scenarios with another of the measures on an axis; the ceiling stays with its own risk."""
        view = self
        for kind, name in ((Kind.RISK, risk), (Kind.UTILITY, utility)):
            if name is not None:
                view = view._seen(kind, self._measured(name, kind))
        return view

    def with_ceiling(self, max_risk: float | None) -> "RiskUtilityMap":
        """The same scenarios under another accepted risk: no point is measured again, the verdict is."""
        check_ceiling(max_risk)
        return replace(self, max_risk=max_risk, _assessed={})

    def chart(self, *, risk: str | None = None, utility: str | None = None) -> Any:
        """The map as an Altair chart, with another of the measures on an axis where one is named.

        The recommended scenario stays that of the map itself.
        """
        return map_charts.map_chart(self, risk=risk, utility=utility)

    def save_chart(self, path: str | Path, *, risk: str | None = None, utility: str | None = None) -> Path:
        """Write the map to an .html file that works without a network, or to an .svg or .png file."""
        return save_chart(self.chart(risk=risk, utility=utility), path)

    def multiples(self, utilities: str | Sequence[str] | None = None) -> Any:
        """Small maps side by side, one per utility measure, against the same risk.

        By default the map itself and then every other utility measured: see `extra_measures` of `compare`.
        """
        return map_charts.small_maps(self, utilities)

    def estimate_chart(self, name: str) -> Any:
        """One estimate (named as in `estimates`) with its interval under every scenario, against the risk."""
        return map_charts.estimate_chart(self, name)

    def mosaics(
        self, variables: str | Sequence[str], *, scenarios: Sequence[str] | None = None, public: bool = False
    ) -> Any:
        """Mosaic plots of one variable or two: the original and the scenarios side by side.

        `public` puts categories together that a file has fewer than five records of.
        """
        return map_charts.scenario_mosaics(self, variables, scenarios=scenarios, public=public)

    @property
    def acceptable(self) -> list[Point]:
        """The scenarios whose risk on the axis is accepted."""
        return [p for p in self.results if self.accepts(p)]

    def accepts(self, point: Point) -> bool:
        """Whether the risk on the axis is accepted."""
        return point.ok and point.risk <= (inf if self.max_risk is None else self.max_risk)

    def _seen(self, kind: Kind, name: str) -> "RiskUtilityMap":
        axis = self.risk if kind is Kind.RISK else self.utility
        if [name] == list(axis):
            return self
        found = replace(
            self,
            results=tuple(p.seen(kind, name) for p in self.results),
            original=self.original.seen(kind, name),
            extra_measures=tuple(n for n in (*axis, *self.extra_measures) if n != name),
            _assessed={},  # under this ceiling
        )
        if kind is Kind.RISK:
            return replace(found, risk={name: 1.0}, max_risk=None)
        return replace(found, utility={name: 1.0})

    def measured(self, kind: Kind) -> list[str]:
        """The risks or utilities that were measured for every scenario: those of the axis first."""
        names = (*self.risk, *self.utility, *self.extra_measures)
        return [n for n in names if Quantity.named(n).spec.kind is kind]

    def _measured(self, name: str, kind: Kind) -> str:
        known = self.measured(kind)
        if name not in known:
            raise OptionError(
                f"{name} was not measured as a {kind.value}.",
                allowed=join_names(known, 30),
                hint=did_you_mean(name, known) or f"Say extra_measures={name!r} when comparing.",
            )
        return name

    def __repr__(self) -> str:
        shown = self.points.select("scenario", "risk", "loss", "on_front", "best", "error")
        number = len(self.results)
        title = f"Risk–utility map of {number} scenario{'s' * (number != 1)}"
        return "\n".join([f"{title}\n{shown}\n{self.reason}", *self.privacy_cost])

    def _repr_html_(self) -> str:
        """The map, every scenario in a table, and the verdict on the recommended one."""
        number = len(self.results)
        on_front, best = front(self.results), self.best
        rows = [
            (
                p.name,
                show(p.risk),
                show(p.loss),
                "yes" if p.name in on_front else "",
                "yes" if best is not None and p.name == best.name else "",
                p.error or self.objection(p),
            )
            for p in self.results
        ]
        verdict = self.verdict
        parts = [
            paragraph(f"Risk–utility map of {number} scenario{'s' * (number > 1)}", strong=True),
            picture(self.chart, "Risk–utility map; the table has the same numbers"),
            table(["scenario", "risk", "loss", "on the front", "recommended", "remark"], rows),
            paragraph(self.recommendation),
            "" if verdict is None else verdict._repr_html_(),
            bullets((*(() if best is None else best.warnings), *self.privacy_cost), "Warnings"),
        ]
        return f"<div>{''.join(parts)}</div>"


def _axis_of(name: str) -> str:
    return "risk" if Quantity.named(name).spec.kind is Kind.RISK else "loss"
