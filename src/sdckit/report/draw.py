"""The charts of a report, drawn as SVG from its plain data."""

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from sdckit import charts


def draw(content: Mapping[str, Any]) -> dict[str, Any]:
    """SVG text for every chart of the report, by section."""
    drawn: dict[str, Any] = {"map": None, "risk": None, "by_k": None}
    points = content["map"]["points"] if content["map"] else []
    if any(p["risk"] is not None and p["utility"] is not None for p in points):
        drawn["map"] = _map(content["map"])
    bars = [row for row in content["risk"] if row["bar"]]
    if bars:
        drawn["risk"] = _risk(bars)
    if content["by_k"]:
        drawn["by_k"] = _by_k(content["by_k"])
    drawn["by_part"] = [_part(part, i) for i, part in enumerate(content["by_part"] or [])]
    for section in ("risk_pictures", "utility_pictures"):
        drawn[section] = _each(content[section], _picture)
    drawn["mosaics"] = _each(content["mosaics"], _mosaic)
    drawn["histograms"] = _each(content["histograms"], _histogram)
    return drawn


def _each(section: Mapping[str, Any] | None, one: Callable[[Mapping[str, Any], int], str]) -> list[str]:
    return [one(chart, i) for i, chart in enumerate(section["charts"])] if section else []


def _map(content: Mapping[str, Any]) -> str:
    names = ("original_risk", "max_risk", "risk_title", "loss_title", "risk_is_share", "loss_is_share")
    columns = ("scenario", "description", "risk", "utility", "on_front", "best")
    points = pl.DataFrame(
        [{c: p[c] for c in columns} for p in content["points"]],
        schema_overrides={"risk": pl.Float64, "utility": pl.Float64},
    )
    chart = charts.risk_utility_map(points, **{name: content[name] for name in names})
    return charts.static_svg(chart, "map", "Risk–utility map; the table below has the same numbers")


def _risk(rows: list[Any]) -> str:
    chart = charts.before_after(
        [r["title"] for r in rows],
        [r["bar"][0] for r in rows],
        [r["bar"][1] for r in rows],
        own_scales=True,
        texts=[(r["before"], r["after"]) for r in rows],
    )
    return charts.static_svg(chart, "risk", "Risk before and after; the table below has the same numbers")


def _by_k(rows: list[Any]) -> str:
    chart = charts.before_after(
        [r["label"] for r in rows],
        [r["before"] for r in rows],
        [r["after"] for r in rows],
        axis="records",
        share=False,
        texts=[tuple(r["texts"]) for r in rows],
    )
    told = "; ".join(f"{r['label']}: {r['texts'][0]} before, {r['texts'][1]} after" for r in rows)
    return charts.static_svg(chart, "by-k", f"Records that share their keys with too few. {told}")


def _part(part: Mapping[str, Any], i: int) -> str:
    chart = charts.variable_bars(part["labels"], part["values"], axis=part["axis"], share=part["share"])
    return charts.static_svg(chart, f"part-{i}", part["title"])


def _picture(content: Mapping[str, Any], i: int) -> str:
    return charts.static_svg(content["chart"], f"picture-{content['name']}", content["title"])


def _mosaic(content: Mapping[str, Any], i: int) -> str:
    names = ("first", "second", "before", "after")
    chart = charts.mosaic(
        *(content[name] for name in names),
        first_title=content["first_title"],
        second_title=content["second_title"],
    )
    told = f"{content['first_title']} by {content['second_title']}, original and protected"
    return charts.static_svg(chart, f"mosaic-{i}", told)


def _histogram(content: Mapping[str, Any], i: int) -> str:
    chart = charts.histogram(content["edges"], content["before"], content["after"], title=content["title"])
    return charts.static_svg(chart, f"histogram-{i}", f"{content['title']}, original and protected")
