"""The scenarios of a risk–utility map as plain data: points, texts for the table, remarks."""

from typing import Any

from sdckit._support.number_text import display
from sdckit.choose.quantity import Quantity
from sdckit.choose.risk_utility_map import Point, RiskUtilityMap
from sdckit.report import steps
from sdckit.report.axis import Axis
from sdckit.report.disclosure import visible


def scenarios(found: RiskUtilityMap, *, public: bool) -> dict[str, Any]:
    """The points of the map with texts for its table; failed scenarios carry their reason."""
    risk, loss = (Axis(names, found.data.height, public) for names in (found.risk, found.utility))
    columns = visible(found.data)
    points = []
    table = found.points.select("scenario", "on_front", "best").to_dicts()
    for point, row in zip(found.results, table, strict=True):
        points.append(
            {
                **row,
                "failed": not point.ok,
                "risk": risk.value(point.risk, point.risk_values) if point.ok else None,
                "loss": loss.value(point.loss, point.loss_values) if point.ok else None,
                "description": steps.describe_scenario(point.scenario, columns, public=public),
                "acceptable": point.ok and (found.max_risk is None or point.risk <= found.max_risk),
                "risk_text": risk.text(point.risk, point.risk_values),
                "loss_text": loss.text(point.loss, point.loss_values),
                "remark": _remark(point, found, on_front=row["on_front"], public=public),
            }
        )
    return {
        "points": points,
        "original_risk": risk.value(found.original.risk, found.original.risk_values),
        "original_text": risk.text(found.original.risk, found.original.risk_values),
        "max_risk": found.max_risk,
        "measures": [*risk.measures, *loss.measures],
        "figures": _figures(found, public=public),
        "max_text": "" if found.max_risk is None else display(found.max_risk, share=risk.share),
        "risk_title": risk.title,
        "loss_title": loss.title,
        "risk_is_share": risk.share,
        "loss_is_share": loss.share,
    }


def _figures(found: RiskUtilityMap, *, public: bool) -> list[dict[str, Any]]:
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
            "after": Axis({name: 1.0}, found.data.height, public).text(values[name], values),
            "unit": "",
            "share": True,
            "better": "lower is better",
        }
        for name, q in quantities.items()
        if q.figure
    ]


def _remark(point: Point, found: RiskUtilityMap, *, on_front: bool, public: bool) -> str:
    if not point.ok:
        reason = point.error or "no number came out"
        return "could not be measured" if public else f"not measured: {reason}"
    if found.best is not None and point.name == found.best.name:
        return "recommended"
    if found.max_risk is not None and point.risk > found.max_risk:
        return "above the accepted risk"
    return "no other is better on both" if on_front else "another is better on both"
