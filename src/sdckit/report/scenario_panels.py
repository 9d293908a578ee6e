"""All scenarios of a map side by side: other utilities, estimates against the risk, mosaics."""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from statistics import fmean
from typing import Any

from sdckit._support.static_svg import plain
from sdckit.choose.assessment import Assessment
from sdckit.choose.quantity import Quantity
from sdckit.choose.risk_utility_map import RiskUtilityMap
from sdckit.errors import SdcError
from sdckit.estimate.estimated import Estimated
from sdckit.methods.spec import Kind
from sdckit.report.axis import Axis
from sdckit.report.estimates import FIGURES, shown_estimates

MAPS = 6  # small maps, two rows of three
ESTIMATES = 3  # charts of estimates, those that suffer most
CELLS = 500_000  # records times scenarios that may be protected again for a picture


def small_maps(found: RiskUtilityMap) -> dict[str, Any]:
    """The same scenarios against every other utility measured."""
    names = [
        n for n in (*found.utility, *found.extra_measures) if Quantity.named(n).spec.kind is Kind.UTILITY
    ]
    others = [n for n in names if [n] != list(found.utility)]
    maps = []
    for name in others:
        view = found.with_axes(utility=name)
        axis = Axis(view.utility)
        table = view.points.select("scenario", "on_front").rows()
        points = [
            {
                "scenario": scenario,
                "description": "",
                "risk": own.risk if own.ok else None,
                "loss": p.loss if p.ok else None,
                "on_front": on_front,
                "best": found.best is not None and p.name == found.best.name,
                "objection": found.objection(own),
            }
            for p, own, (scenario, on_front) in zip(view.results, found.results, table, strict=True)
        ]
        if any(p["risk"] is not None and p["loss"] is not None for p in points):
            maps.append({"name": name, "title": axis.title, "share": axis.share, "points": points})
    return {"maps": maps[:MAPS], "all": len(maps)}


def estimates_and_risk(found: RiskUtilityMap, done: Assessment | None) -> dict[str, Any]:
    """Estimates under every scenario, and charts of those that suffer most against the risk. Internal."""
    allowed = shown_estimates(done) if done is not None else set()
    kept = replace(
        found,
        results=tuple(replace(p, estimates=_kept(p.estimates, allowed)) for p in found.results),
        original=replace(found.original, estimates=_kept(found.original.estimates, allowed)),
    )
    losses: dict[str, list[float]] = {}
    for point in kept.results:
        for e in point.estimates:
            losses.setdefault(e.name, []).append(1 - e.overlap if isfinite(e.overlap) else 1.0)
    worst = sorted((n for n in losses if any(losses[n])), key=lambda n: -fmean(losses[n]))
    charts = []
    for name in worst:
        try:
            charts.append({"title": name, "chart": plain(kept.estimate_chart(name))})
        except SdcError:  # no scenario allows it
            continue
        if len(charts) == ESTIMATES:
            break
    return {"charts": charts, "all": len(worst), "rows": kept.estimates.to_dicts()}


def _kept(estimates: Sequence[Estimated], allowed: set[tuple[str, str]]) -> tuple[Estimated, ...]:
    """Estimates that may be shown, rounded."""
    return tuple(
        Estimated(e.measure, e.name, *(_rounded(v) for v in e.as_list()[2:]))
        for e in estimates
        if (e.measure, e.name) in allowed
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{FIGURES}g}") if isfinite(value) else value


def scenario_mosaics(found: RiskUtilityMap, pairs: Sequence[Any]) -> dict[str, Any] | None:
    """One pair of keys in all scenarios side by side: the pair that the best changed most. Internal."""
    pairs = [p for p in pairs if not p["recoded"]]  # other scenarios have other categories
    if not pairs or found.data.height * len(found.results) > CELLS:
        return None
    first = pairs[0]
    try:
        chart = found.mosaics(first["names"])
    except SdcError:  # a scenario drops one of the keys, or nothing could be carried out
        return None
    return {"title": f"{first['first_title']} by {first['second_title']}", "chart": plain(chart)}
