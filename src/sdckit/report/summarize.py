"""Results to plain data: everything a report shows, as JSON could hold it."""

import platform
from datetime import date
from importlib.metadata import version
from typing import Any

from sdckit.choose.assessment import Assessment
from sdckit.choose.quantity import Quantity
from sdckit.choose.risk_utility_map import RiskUtilityMap
from sdckit.methods.recoding import in_categories_of
from sdckit.methods.spec import Kind
from sdckit.report import (
    by_key,
    describe,
    histograms,
    measures,
    mosaic_tables,
    pictures,
    scenario_panels,
    steps,
)
from sdckit.report.disclosure import Audience, clean
from sdckit.report.estimates import estimates
from sdckit.report.public import public_parts
from sdckit.report.public_numbers import MIN_PUBLIC_COUNT
from sdckit.report.rounding import settled
from sdckit.report.scenarios import scenarios
from sdckit.report.sections import in_sections
from sdckit.report.verdict import verdict

SOFTWARE = ("sdckit", "polars", "numpy", "scipy")


def summarize(x: Assessment | RiskUtilityMap, audience: Audience = "internal") -> dict[str, Any]:
    """The content of a report. For a map: the map and the full assessment of its best scenario.

    What the public sees is put together on its own, from what may be shown, in `sdckit.report.public`.

    >>> import sdckit as sdc
    >>> from sdckit.choose.assess import assess
    >>> data = sdc.demo.survey(n=300, seed=1)
    >>> summarize(assess(data, data, measures=["il1s"]))["data"]["records"]
    '300'
    """
    found = x if isinstance(x, RiskUtilityMap) else None
    done = _assessment(x)
    original = x.data if isinstance(x, RiskUtilityMap) else x.original
    same = settled(done) if done is not None else None
    parts = public_parts if audience == "public" else _internal_parts
    content: dict[str, Any] = clean(
        {
            "audience": audience,
            "few": MIN_PUBLIC_COUNT,
            "date": date.today().isoformat(),
            "software": {"Python": platform.python_version(), **{name: version(name) for name in SOFTWARE}},
            **parts(same, found, original),
        }
    )
    return content


def _assessment(x: Assessment | RiskUtilityMap) -> Assessment | None:
    if isinstance(x, Assessment):
        return x
    return x.assess() if x.best is not None else None


def _internal_parts(x: Assessment | None, found: RiskUtilityMap | None, original: Any) -> dict[str, Any]:
    """All parts of an internal report but for those that every report has."""
    measured, details = _measured(x), _details(x)
    drawn = _map(found, x, details) if found is not None else None
    return {
        "verdict": verdict(x, drawn, measured, details),
        "map": drawn,
        "data": describe.describe(original, x.protected[0] if x is not None else None),
        "prepared": steps.preparations(original),
        **_sections(measured, details, [original.labels.name(key) for key in original.roles.keys]),
        **details,
        "left_out_charts": measured["undrawn"],
        "glossary": measures.glossary(_names(x, found), _explained(measured)),
        "scenario_file": _scenario_file(x, found),
        "seed": found.seed if found is not None else None if x is None else x.seed,
    }


def _map(found: RiskUtilityMap, done: Assessment | None, details: dict[str, Any]) -> dict[str, Any]:
    """The scenarios and, beside each other, what else is known of them."""
    pairs = (details["mosaics"] or {"charts": []})["charts"]
    return {
        **scenarios(found),
        "small": scenario_panels.small_maps(found),
        "estimates": scenario_panels.estimates_and_risk(found, done),
        "mosaics": scenario_panels.scenario_mosaics(found, pairs),
    }


def _measured(x: Assessment | None) -> dict[str, Any]:
    """Rows, charts and tables of the measures; each says its section."""
    if x is None:
        names = ("risk", "utility", "by_key", "estimates", "risk_pictures", "utility_pictures")
        return {**{name: [] for name in names}, "undrawn": 0}
    drawn = {kind: pictures.pictures(x, kind) for kind in (Kind.RISK, Kind.UTILITY)}
    return {
        **measures.measures(x),
        "by_key": by_key.by_key(x),
        "estimates": estimates(x),
        **{f"{kind.value}_pictures": found["charts"] for kind, found in drawn.items()},
        "undrawn": sum(found["all"] - len(found["charts"]) for found in drawn.values()),
    }


def _sections(measured: dict[str, Any], details: dict[str, Any], keys: list[str]) -> dict[str, Any]:
    """Risk and utility by sections; tables and charts of both files put theirs in."""
    always = [] if details["missing"] is None else ["values"]
    if any(details[name] and details[name]["charts"] for name in ("mosaics", "histograms")):
        always.append("distribution")
    risk = {"rows": measured["risk"], "by_key": measured["by_key"], "pictures": measured["risk_pictures"]}
    utility = {
        "rows": measured["utility"],
        "estimates": measured["estimates"],
        "pictures": measured["utility_pictures"],
    }
    return {
        "risk": in_sections(Kind.RISK, risk, keys=keys),
        "utility": in_sections(Kind.UTILITY, utility, always),
    }


def _details(x: Assessment | None) -> dict[str, Any]:
    """What is shown of the protected file of an assessment (of the first, where there are several)."""
    if x is None:
        return dict.fromkeys(("riskiest", "mosaics", "histograms", "missing", "steps", "omitted"))
    original, protected = x.original, x.protected[0]
    keys = [k for k in original.roles.keys if k in protected.columns]
    alike, recoded = in_categories_of(protected, original, keys)
    return {
        "riskiest": by_key.riskiest(x),
        "mosaics": mosaic_tables.mosaics(alike, protected, recoded),
        "histograms": histograms.histograms(alike, protected),
        "missing": describe.missing(original, protected),
        "steps": steps.steps(original, protected),
        "omitted": measures.left_out(x),
    }


def _names(x: Assessment | None, found: RiskUtilityMap | None) -> list[str]:
    """Every measure the report has a number of."""
    names = [*x.after, *x.utility] if x is not None else []
    axes = [*found.risk, *found.utility] if found is not None else []
    return list(dict.fromkeys(names + [Quantity.named(name).spec.name for name in axes]))


def _explained(measured: dict[str, Any]) -> list[str]:
    """The measures whose reading stands beside their number."""
    return [row["name"] for row in (*measured["risk"], *measured["utility"]) if not row["same"]]


def _scenario_file(x: Assessment | None, found: RiskUtilityMap | None) -> str:
    """What does it again; empty where the steps are not known."""
    if found is not None:
        plan = {p.name: p.scenario.as_list() for p in found.results}
        return steps.scenario_file(found.data, plan, found.seed, _asked(found))
    done = [] if x is None else steps.logged(x.original, x.protected[0])
    if x is None or not done:
        return ""
    return steps.scenario_file(x.original, {x.scenario or "protected": done}, x.seed)


def _asked(found: RiskUtilityMap) -> dict[str, Any]:
    """The section `assess` of the plan of a map."""
    asked: dict[str, Any] = {"risk": dict(found.risk), "utility": dict(found.utility)}
    if found.extra_measures:
        asked["extra_measures"] = list(found.extra_measures)
    if found.max_risk is not None:
        asked["max_risk"] = found.max_risk
    if accepted := found.accept.as_dict():
        asked["accept"] = accepted
    return {**asked, **found.measure_options}
