"""The charts of a report, drawn as SVG from its plain data."""

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from sdckit import charts
from sdckit.methods.spec import Better
from sdckit.report.measures import WORDS

LOW = WORDS[Better.LOW]  # what most bars are; the others say what they are


def draw(content: Mapping[str, Any]) -> dict[str, Any]:
    """SVG text for every chart of the report: by place, or by section and measure."""
    drawn: dict[str, Any] = {"map": None, "risk": None}
    if content["map"]:
        drawn |= _scenarios(content["map"])
    bars = [row for section in content["risk"] for row in section["rows"] if row["bar"]]
    if bars:
        drawn["risk"] = _risk(bars)
    sections = [*content["risk"], *content["utility"]]
    for name, one in (("pictures", _picture), ("by_key", _by_key)):
        drawn[name] = {c["name"]: one(c) for section in sections for c in section.get(name, ())}
    drawn["estimates"] = {
        table["name"]: [_estimate(table, p, i) for i, p in enumerate(table["pictures"])]
        for section in content["utility"]
        for table in section["estimates"]
    }
    drawn["mosaics"] = _each(content["mosaics"], _mosaic)
    drawn["histograms"] = _each(content["histograms"], _histogram)
    return drawn


def _scenarios(found: Mapping[str, Any]) -> dict[str, Any]:
    """The charts of the map's section."""
    drawn: dict[str, Any] = {"map": None, "small_maps": None, "scenario_mosaics": None}
    if any(p["risk"] is not None and p["loss"] is not None for p in found["points"]):
        drawn["map"] = _map(found)
        drawn["small_maps"] = _small_maps(found) if found["small"]["maps"] else None
    drawn["scenario_estimates"] = [
        charts.static_svg(c["chart"], f"scenarios-{i}", f"{c['title']} under every scenario against the risk")
        for i, c in enumerate((found["estimates"] or {"charts": []})["charts"])
    ]
    if found["mosaics"]:
        told = f"{found['mosaics']['title']} in the original and every scenario"
        drawn["scenario_mosaics"] = charts.static_svg(found["mosaics"]["chart"], "scenario-mosaics", told)
    return drawn


def _each(section: Mapping[str, Any] | None, one: Callable[[Mapping[str, Any], int], str]) -> list[str]:
    return [one(chart, i) for i, chart in enumerate(section["charts"])] if section else []


def _map(content: Mapping[str, Any]) -> str:
    names = (
        "original_risk",
        "max_risk",
        "risk_title",
        "loss_title",
        "risk_is_share",
        "loss_is_share",
        "advice",
    )
    points = _points(content["points"])
    chart = charts.risk_utility_map(points, **{name: content[name] for name in names})
    return charts.static_svg(chart, "map", "Risk–utility map; the table below has the same numbers")


def _points(points: list[Any]) -> pl.DataFrame:
    columns = ("scenario", "description", "risk", "loss", "on_front", "best", "objection")
    return pl.DataFrame(
        [{c: p[c] for c in columns} for p in points],
        schema_overrides={"risk": pl.Float64, "loss": pl.Float64},
    )


def _small_maps(content: Mapping[str, Any]) -> str:
    maps = content["small"]["maps"]
    panels = [charts.MapPanel(m["title"], _points(m["points"]), m["share"]) for m in maps]
    names = ("original_risk", "max_risk", "risk_title", "risk_is_share", "advice")
    chart = charts.risk_utility_multiples(panels, **{name: content[name] for name in names})
    told = "; ".join(m["title"] for m in maps)
    return charts.static_svg(chart, "small-maps", f"The same scenarios against other utilities: {told}")


def _risk(rows: list[Any]) -> str:
    chart = charts.before_after(
        [r["title"] if r["better"] == LOW else f"{r['title']} ({r['better']})" for r in rows],
        [r["bar"][0] for r in rows],
        [r["bar"][1] for r in rows],
        own_scales=True,
        texts=[(r["before"], r["after"]) for r in rows],
    )
    return charts.static_svg(chart, "risk", "Risk before and after; the table below has the same numbers")


def _by_key(part: Mapping[str, Any]) -> str:
    chart = charts.before_after(part["labels"], part["before"], part["after"], axis=part["axis"], width=230)
    return charts.static_svg(chart, f"key-{part['name']}", f"{part['title']}: {part['axis']}")


def _picture(content: Mapping[str, Any]) -> str:
    return charts.static_svg(content["chart"], f"picture-{content['name']}", content["title"])


def _estimate(table: Mapping[str, Any], content: Mapping[str, Any], i: int) -> str:
    told = f"{table['title']}: {content['title']}; the table above has the same numbers"
    return charts.static_svg(content["chart"], f"estimate-{table['name']}-{i}", told)


def _mosaic(content: Mapping[str, Any], i: int) -> str:
    names = ("first", "second", "before", "after")
    chart = charts.mosaic(
        *(content[name] for name in names),
        first_title=content["first_title"],
        second_title=content["second_title"],
        other=content["other"],
    )
    told = f"{content['first_title']} by {content['second_title']}, original and protected"
    return charts.static_svg(chart, f"mosaic-{i}", told)


def _histogram(content: Mapping[str, Any], i: int) -> str:
    numbers = [content[name] for name in ("edges", "before", "after")]
    chart = charts.histogram(*numbers, title=content["title"], labels=content["labels"])
    return charts.static_svg(chart, f"histogram-{i}", f"{content['title']}, original and protected")
