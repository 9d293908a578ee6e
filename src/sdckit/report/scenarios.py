"""The scenarios of a risk–utility map as plain data: points, texts for the table, remarks."""

from collections.abc import Callable
from typing import Any

from sdckit._support.number_text import display
from sdckit.choose.point import Point, front
from sdckit.choose.quantity import Quantity
from sdckit.choose.risk_utility_map import RiskUtilityMap
from sdckit.methods.spec import Better
from sdckit.report import steps
from sdckit.report.axis import Axis
from sdckit.report.measures import WORDS

HIDDEN = "not shown"
OBJECTION = "another intruder finds more than is accepted"  # names of intruders tell what an office fears


def scenarios(found: RiskUtilityMap) -> dict[str, Any]:
    """The points of the map with texts for its table; failed scenarios carry their reason."""
    risk, loss = Axis(found.risk), Axis(found.utility)
    points = []
    table = found.points.select("scenario", "on_front", "best", "objection").to_dicts()
    for point, row in zip(found.results, table, strict=True):
        points.append(
            {
                **row,
                "failed": not point.ok,
                "risk": point.risk if point.ok else None,
                "loss": point.loss if point.ok else None,
                "description": steps.describe_scenario(point.scenario),
                "acceptable": found.accepts(point),
                "risk_text": risk.text(point.risk),
                "loss_text": loss.text(point.loss),
                "remark": _remark(point, found, on_front=row["on_front"]),
            }
        )
    return {
        "points": points,
        "original_risk": found.original.risk,
        "original_text": risk.text(found.original.risk),
        "figures": _figures(found, lambda axis, value: axis.text(value)),
        **_about(found, risk, loss),
    }


def public_scenarios(found: RiskUtilityMap) -> dict[str, Any]:
    """The map for the public: rounded points without the names that people gave them, and the kinds of steps.

    A name such as "noise 0.05" and the options of a step would tell how to undo it.
    """
    risk, loss = Axis(found.risk), Axis(found.utility)
    records = found.data.height
    points = []
    on_front = front(found.results)
    for i, point in enumerate(found.results, 1):
        x, y = risk.public(point.risk, records), loss.public(point.loss, records)
        points.append(
            {
                "scenario": f"scenario {i}",
                "on_front": point.name in on_front,
                "best": found.best is not None and point.name == found.best.name,
                "objection": found.objection(point) and (point.not_judged or OBJECTION),
                "failed": not point.ok,
                "risk": None if x is None else x.value,
                "loss": None if y is None else y.value,
                "description": steps.kinds_of_steps(point.scenario),
                "acceptable": found.accepts(point),
                "risk_text": HIDDEN if x is None else str(x),
                "loss_text": HIDDEN if y is None else str(y),
                "remark": _remark(point, found, on_front=point.name in on_front, public=True),
            }
        )
    original = risk.public(found.original.risk, records)
    return {
        "points": points,
        "original_risk": None if original is None else original.value,
        "original_text": HIDDEN if original is None else str(original),
        "figures": _figures(found, lambda axis, value: str(axis.public(value, records) or HIDDEN)),
        **_about(found, risk, loss),
        "risk_title": risk.public_title,
        "loss_title": loss.public_title,
    }


def _figures(found: RiskUtilityMap, written: Callable[[Axis, float], str]) -> list[dict[str, Any]]:
    """The best scenario's numbers that are figures of a measure rather than its value, as rows for tiles."""
    if found.best is None:
        return []
    values = {**found.best.risk_values, **found.best.loss_values}
    quantities = {name: Quantity.named(name) for name in values}
    return [
        {
            "name": q.spec.name,
            "title": q.title,
            "before": "",
            "after": written(Axis({name: 1.0}), values[name]),
            "unit": q.unit,
            "share": q.meaning.share,
            "better": WORDS[Better.LOW if q.low_is_good else Better.HIGH],
        }
        for name, q in quantities.items()
        if q.figure
    ]


def _about(found: RiskUtilityMap, risk: Axis, loss: Axis) -> dict[str, Any]:
    return {
        "max_risk": found.max_risk,
        "privacy": list(found.privacy_cost),
        "measures": [*risk.measures, *loss.measures],
        "max_text": "" if found.max_risk is None else display(found.max_risk, share=risk.share),
        "advice": found.advice,
        "risk_title": risk.title,
        "loss_title": loss.title,
        "risk_is_share": risk.share,
        "loss_is_share": loss.share,
    }


def _remark(point: Point, found: RiskUtilityMap, *, on_front: bool, public: bool = False) -> str:
    if not point.ok:
        reason = point.error or "no number came out"
        return "could not be measured" if public else f"not measured: {reason}"
    said = _place(point, found, on_front=on_front, public=public)
    if point.new_records and "reidentification_risk" in found.risk:
        said += "; nobody has a record here, the risk is that whole records come back"
    return said


def _place(point: Point, found: RiskUtilityMap, *, on_front: bool, public: bool) -> str:
    if found.best is not None and point.name == found.best.name:
        return found.advice
    if not found.accepts(point):
        return "above the accepted risk"
    if point.not_judged:
        return "cannot be cleared without people held back"
    if objection := found.objection(point):
        return OBJECTION if public else objection
    return "no other is better on both" if on_front else "another is better on both"
