"""The executive summary: released or not, under which ceiling, what is lost."""

from collections.abc import Mapping
from typing import Any

from sdckit.assess import Assessment
from sdckit.charts.numbers import display
from sdckit.registry import find
from sdckit.report.disclosure import is_share

TILES = 3
OPEN = "No accepted risk was set, so whether the risk is low enough is left to the reader."


def verdict(
    x: Assessment | None, found: Mapping[str, Any] | None, rows: Mapping[str, Any], details: Mapping[str, Any]
) -> dict[str, Any]:
    """Status, headline, sentences and the few numbers that matter, for a map (as the report has it) or file.

    `rows` are the measures and `details` what the report shows of the protected file.
    """
    told = _of_map(found) if found is not None else _of_assessment(x) if x is not None else {}
    groups = {"Risk that remains": rows["risk"], "What is lost": rows["utility"]}
    first = set(found["measures"]) if found is not None else set()
    figures = {row["name"]: row for row in found["figures"]} if found is not None else {}
    groups = {title: [figures.get(r["name"], r) for r in some] for title, some in groups.items()}
    told["sentences"] += _done(details)
    return {**told, "tiles": {title: _tiles(some, first) for title, some in groups.items() if some}}


def _of_map(found: Mapping[str, Any]) -> dict[str, Any]:
    points = found["points"]
    failed = sum(p["failed"] for p in points)
    tried = f"{len(points)} scenario{'s were' if len(points) != 1 else ' was'} tried"
    tried += f", {failed} of them could not be carried out" if failed else ""
    best = next((p for p in points if p["best"]), None)
    ceiling = found["max_text"]
    if best is None:
        none = f"No scenario is acceptable at a risk of at most {ceiling}"
        return {
            "status": "bad",
            "headline": none if ceiling else "No scenario could be measured",
            "sentences": [f"{tried}. Protect more strongly, or accept a higher risk."],
        }
    under = [p for p in points if p["acceptable"]]
    fall = f"Its risk is {best['risk_text']}; the original file's is {found['original_text']}."
    which = f"“{best['scenario']}” loses the least information"
    if ceiling:
        limit = f"at or below the accepted risk of {ceiling}"
        several = f"{len(under)} stay {limit}, and of these {which}"
        why = f"{tried}; {several if len(under) > 1 else f'only this one stays {limit}'}."
    else:
        why = f"{tried}; {which}. {OPEN}"
    return {
        "status": "good" if ceiling else "open",
        "headline": f"“{best['scenario']}” can be released: its risk is within the accepted {ceiling}"
        if ceiling
        else f"“{best['scenario']}” loses least; no accepted risk was set",
        "sentences": [why, fall],
    }


def _of_assessment(x: Assessment) -> dict[str, Any]:
    name = f"“{x.scenario}”" if x.scenario else "The protected file"
    if x.max_risk is None or x.risk_acceptable is None:
        return {"status": "open", "headline": f"{name}: risk and utility measured", "sentences": [OPEN]}
    spec = find("individual_risk")
    risk, ceiling = (display(v, share=is_share(spec)) for v in (x.after[spec.name].value, x.max_risk))
    fine = x.risk_acceptable
    return {
        "status": "good" if fine else "bad",
        "headline": f"{name} can be released: its risk of {risk} is within the accepted {ceiling}"
        if fine
        else f"{name} should not be released: its risk of {risk} is above the accepted {ceiling}",
        "sentences": [] if fine else ["Protect more strongly, or accept a higher risk."],
    }


def _done(details: Mapping[str, Any]) -> list[str]:
    """What was done to the file and where it left blanks."""
    sentences = []
    if details["steps"]:
        sentences.append(
            "What was done: " + ", then ".join(_inside(s["title"]) for s in details["steps"]) + "."
        )
    blank = next((r for r in (details["missing"] or {"rows": []})["rows"] if r["new"]), None)
    if blank:
        name = blank["label"] or blank["name"]
        sentences.append(
            f"Blanks rose most in “{name}”: from {blank['before']} to {blank['after']} of the records."
        )
    elif details["missing"]:
        sentences.append("No value was blanked.")
    return sentences


def _inside(title: str) -> str:
    """A title inside a sentence; abbreviations stay as they are."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def _tiles(rows: list[dict[str, Any]], first: set[str]) -> list[dict[str, str]]:
    """A few measures as large numbers: those of the map, then those in percent, which need no explanation."""
    rows = sorted(rows, key=lambda row: (row["name"] not in first, not row["share"]))
    return [
        {
            "label": row["title"],
            "value": row["after"],
            "note": f"{row['before']} before" if row["before"] else row["unit"] if not row["share"] else "",
            "better": row["better"],
        }
        for row in rows[:TILES]
    ]
