"""The charts of a report, drawn as SVG from its plain data."""

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from sdckit import charts


def draw(content: Mapping[str, Any]) -> dict[str, Any]:
    """SVG text for every chart of the report: by place, or by section and measure."""
    drawn: dict[str, Any] = {"map": None, "risk": None, "by_k": None}
    points = content["map"]["points"] if content["map"] else []
    if any(p["risk"] is not None and p["utility"] is not None for p in points):
        drawn["map"] = _map(content["map"])
    bars = [row for section in content["risk"] for row in section["rows"] if row["bar"]]
    if bars:
        drawn["risk"] = _risk(bars)
    if content["by_k"]:
        drawn["by_k"] = _by_k(content["by_k"])
    sections = [*content["risk"], *content["utility"]]
    for name, one in (("pictures", _picture), ("by_key", _by_key), ("by_part", _part)):
        drawn[name] = {c["name"]: one(c) for section in sections for c in section.get(name, ())}
    drawn["estimates"] = {
        table["name"]: [_estimate(table, p, i) for i, p in enumerate(table["pictures"])]
        for section in content["utility"]
        for table in section["estimates"]
    }
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


def _by_key(part: Mapping[str, Any]) -> str:
    chart = charts.before_after(part["labels"], part["before"], part["after"], axis=part["axis"], width=230)
    return charts.static_svg(chart, f"key-{part['name']}", f"{part['title']}: {part['axis']}")


def _part(part: Mapping[str, Any]) -> str:
    chart = charts.variable_bars(part["labels"], part["values"], axis=part["axis"], share=part["share"])
    return charts.static_svg(chart, f"part-{part['name']}", part["title"])


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
    )
    told = f"{content['first_title']} by {content['second_title']}, original and protected"
    return charts.static_svg(chart, f"mosaic-{i}", told)


def _histogram(content: Mapping[str, Any], i: int) -> str:
    chart = charts.histogram(content["edges"], content["before"], content["after"], title=content["title"])
    return charts.static_svg(chart, f"histogram-{i}", f"{content['title']}, original and protected")
