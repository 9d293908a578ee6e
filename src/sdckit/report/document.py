"""The content of a report for programs: the same numbers, under names that stay."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

FORMAT = "sdckit report"
VERSION = 2  # goes up when a name changes its meaning or goes; new names may come at any time

VERDICT = ("status", "headline", "intruders", "criteria", "answers")


def document(content: Mapping[str, Any]) -> dict[str, Any]:
    """What `summarize` found, without drawings and without texts that only repeat a number.

    - format, version: what this is. audience, date, software, seed, scenario_file: as in the report; seed and
      scenario_file are null for the public.
    - verdict: status (good, bad, open), headline, intruders (name, knows, finds, persons, claims, right,
      accepted), criteria (name, status, value, limit, why, mends, in_plan), answers
      (question, answer).
    - data: records, variables (name, label, roles, kind, released) and further facts.
    - map: null, or risk_title, loss_title, max_risk, original_risk and scenarios, each with name, risk, loss,
      on_front, best, objection, acceptable, failed, description, remark; further: the losses by other
      utilities; estimates: every estimate in every scenario (none for the public).
    - risk, utility: lists of sections (name, title) with measures: name, title, unit, better (low, high),
      bounds, options, before and after (null, or value and at_most: true where a number is of so few records
      that only an upper limit is given), figures (name, before, after), notes. Utilities have after only.
    - estimates: measure, all, verdicts (verdict, count), rows (label, domain, verdict, and the numbers).
    - riskiest, distributions, missing, steps, omitted, glossary: as the report shows them; mosaics in shares
      of each file (of the population, where it has weights: data.counted says so) with changed, the share at
      least that is in another cell, for the public in records, rounded to multiples of 5.

    Numbers have six figures, those of estimates four, for the public three (whole from 1,000 on), as on the
    page; what is no finite number is null.
    """
    sections = {kind: [_section(s, content) for s in content[kind]] for kind in ("risk", "utility")}
    return {
        "format": FORMAT,
        "version": VERSION,
        **{name: content[name] for name in ("audience", "date", "software", "seed", "scenario_file")},
        "verdict": {name: content["verdict"][name] for name in VERDICT},
        "data": content["data"],
        "prepared": content.get("prepared", []),  # results that were saved before there were preparations
        "map": None if content["map"] is None else _map(content["map"]),
        **sections,
        "estimates": [_estimates(e) for s in content["utility"] for e in s["estimates"]],
        "by_key": [p for s in content["risk"] for p in s["by_key"]],
        "riskiest": content["riskiest"],
        "distributions": {
            "histograms": (content["histograms"] or {"charts": []})["charts"],
            "mosaics": _mosaics(content),
        },
        "missing": content["missing"],
        "steps": content["steps"],
        "omitted": content["omitted"] or [],
        "glossary": content["glossary"],
    }


def to_json(content: Mapping[str, Any]) -> str:
    """The document as JSON text."""
    plain = _finite(document(content), public=content["audience"] == "public")
    return json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _section(section: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    known = {entry["name"]: entry for entry in content["glossary"]}
    return {
        "name": section["name"],
        "title": section["title"],
        "measures": [_measure(row, known[row["name"]]) for row in section["rows"]],
    }


def _measure(row: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{name: row[name] for name in ("name", "title", "unit")},
        "better": entry["better"],
        "bounds": entry["bounds"],
        "options": row["options"],
        **row["numbers"],
        "figures": [
            {"name": f["name"], "before": f["numbers"][0], "after": f["numbers"][1]} for f in row["figures"]
        ],
        "notes": row["notes"],
    }


def _map(content: Mapping[str, Any]) -> dict[str, Any]:
    names = ("on_front", "best", "objection", "acceptable", "failed", "description", "remark")
    return {
        **{name: content[name] for name in ("risk_title", "loss_title", "max_risk", "original_risk")},
        "scenarios": [
            {
                "name": p["scenario"],
                "risk": p["risk"],
                "loss": p["loss"],
                **{name: p[name] for name in names},
            }
            for p in content["points"]
        ],
        "further": [
            {
                **{name: m[name] for name in ("name", "title")},
                "losses": {p["scenario"]: p["loss"] for p in m["points"]},
            }
            for m in content["small"]["maps"]
        ],
        "estimates": (content["estimates"] or {"rows": []})["rows"],
    }


def _estimates(table: Mapping[str, Any]) -> dict[str, Any]:
    rows = [
        {**{n: row[n] for n in ("label", "domain", "verdict")}, **row.get("numbers", {})}
        for row in table["rows"]
    ]
    return {
        "measure": table["name"],
        **{name: table[name] for name in ("title", "all", "verdicts")},
        "rows": rows,
    }


def _mosaics(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    charts: list[Mapping[str, Any]] = (content["mosaics"] or {"charts": []})["charts"]
    return charts if content["audience"] == "public" else [_mosaic(chart) for chart in charts]


def _mosaic(chart: Mapping[str, Any]) -> dict[str, Any]:
    """A two-way table in shares of each file: a sum of weights may be that of one record."""
    files = {}
    for name in ("before", "after"):
        total = sum(map(sum, chart[name])) or 1.0
        files[name] = [[cell / total for cell in row] for row in chart[name]]
    return {**chart, **files}


def _finite(value: Any, *, public: bool) -> Any:
    """Plain JSON values; nan and infinity, which JSON does not have, become null."""
    if isinstance(value, Mapping):
        return {str(k): _finite(v, public=public) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v, public=public) for v in value]
    if isinstance(value, float):
        return _rounded(value, public=public) if isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _rounded(value: float, *, public: bool) -> float:
    """As many figures as the reader of the page sees, or six."""
    if not public:
        return float(f"{value:.6g}")
    return float(round(value)) if abs(value) >= 1000 else float(f"{value:.3g}")
