"""Results to plain data: everything a report shows, as JSON could hold it."""

import platform
from datetime import date
from importlib.metadata import version
from typing import Any

from sdckit.assess import Assessment
from sdckit.charts.numbers import display
from sdckit.quantity import Quantity
from sdckit.registry import Audience, Kind
from sdckit.report import bins, describe, measures, pictures, steps, tiles
from sdckit.report.axis import Axis
from sdckit.report.disclosure import FEW, clean, visible
from sdckit.report.verdict import verdict
from sdckit.risk_utility_map import Point, RiskUtilityMap

SOFTWARE = ("sdckit", "polars", "numpy", "scipy")


def summarize(x: Assessment | RiskUtilityMap, audience: Audience = "internal") -> dict[str, Any]:
    """The content of a report. For a map: the map and the full assessment of its best scenario.

    >>> import sdckit as sdc
    >>> from sdckit.assess import assess
    >>> data = sdc.demo.survey(n=300, seed=1)
    >>> summarize(assess(data, data, measures=["il1s"]))["data"]["records"]
    '300'
    """
    public = audience == "public"
    found = x if isinstance(x, RiskUtilityMap) else None
    done = _assessment(x)
    original = x.data if isinstance(x, RiskUtilityMap) else x.original
    rows = measures.measures(done, public=public) if done is not None else {"risk": [], "utility": []}
    details = _details(done, public=public)
    drawn = _map(found, public=public) if found is not None else None
    content = {
        "audience": audience,
        "few": FEW,
        "date": date.today().isoformat(),
        "software": {"Python": platform.python_version(), **{name: version(name) for name in SOFTWARE}},
        "verdict": verdict(done, drawn, rows, details),
        "map": drawn,
        "data": describe.describe(original, done.protected[0] if done is not None else None),
        **rows,
        **details,
        "glossary": measures.glossary(_measured(done, found)),
        # with the seed and the steps, random changes could be made again and so undone
        "scenario_file": None if public else _scenario_file(done, found),
        "seed": None if public else x.seed,
    }
    cleaned: dict[str, Any] = clean(content)
    return cleaned


def _assessment(x: Assessment | RiskUtilityMap) -> Assessment | None:
    if isinstance(x, Assessment):
        return x
    return x.assess() if x.best is not None else None


def _details(x: Assessment | None, *, public: bool) -> dict[str, Any]:
    """What is shown of the protected file of an assessment (of the first, where there are several)."""
    if x is None:
        names = ("by_k", "riskiest", "by_part", "risk_pictures", "utility_pictures", "mosaics", "histograms")
        return dict.fromkeys((*names, "missing", "steps", "omitted"))
    original, protected = x.original, x.protected[0]
    return {
        "by_k": measures.by_k(x, public=public),
        "riskiest": None if public else measures.riskiest(x),
        "by_part": measures.by_part(x, public=public),
        "risk_pictures": pictures.pictures(x, Kind.RISK, public=public),
        "utility_pictures": pictures.pictures(x, Kind.UTILITY, public=public),
        "mosaics": tiles.mosaics(original, protected, public=public),
        "histograms": bins.histograms(original, protected, public=public),
        "missing": describe.missing(original, protected, public=public),
        "steps": steps.steps(original, protected, public=public),
        "omitted": measures.left_out(x, public=public),
    }


def _measured(x: Assessment | None, found: RiskUtilityMap | None) -> list[str]:
    names = [*x.after, *x.utility] if x is not None else []
    axes = [*found.risk, *found.utility] if found is not None else []
    return list(dict.fromkeys(names + [Quantity.named(name).spec.name for name in axes]))


def _scenario_file(x: Assessment | None, found: RiskUtilityMap | None) -> str:
    if found is not None:
        plan = {p.name: p.scenario.as_list() for p in found.results}
        return steps.scenario_file(found.data, plan, found.seed)
    if x is None:
        return ""
    return steps.scenario_file(
        x.original, {x.scenario or "protected": steps.logged(x.original, x.protected[0])}, x.seed
    )


def _map(found: RiskUtilityMap, *, public: bool) -> dict[str, Any]:
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
                "utility": loss.value(point.utility, point.utility_values) if point.ok else None,
                "description": steps.describe_scenario(point.scenario, columns, public=public),
                "acceptable": point.ok and (found.max_risk is None or point.risk <= found.max_risk),
                "risk_text": risk.text(point.risk, point.risk_values),
                "loss_text": loss.text(point.utility, point.utility_values),
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
    values = {**found.best.risk_values, **found.best.utility_values}
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
        return "could not be carried out" if public else f"failed: {reason}"
    if found.best is not None and point.name == found.best.name:
        return "recommended"
    if found.max_risk is not None and point.risk > found.max_risk:
        return "above the accepted risk"
    return "no other is better on both" if on_front else "another is better on both"
