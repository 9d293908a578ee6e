"""The executive summary: released or not, under which ceiling, what is lost."""

from collections.abc import Mapping
from math import isnan
from typing import Any

from sdckit._support.messages import join_names
from sdckit._support.number_text import display, percent
from sdckit.choose.assessment import Assessment
from sdckit.data.roles import Role
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind, Spec
from sdckit.report.disclosure import is_share
from sdckit.report.sections import in_order, section_of

TILES = 3
SYNTHETIC = ("closest_record", "attribute_disclosure")  # first where the records are not the same people
MORE_THAN_CHANCE = (
    "More records are close to an original than chance explains: the file repeats records it was made from."
)
OPEN = "No accepted risk was set, so whether the risk is low enough is left to the reader."


def verdict(
    x: Assessment | None,
    found: Mapping[str, Any] | None,
    measured: Mapping[str, Any],
    details: Mapping[str, Any],
    *,
    public: bool,
) -> dict[str, Any]:
    """Status, headline, the reader's questions answered and the few numbers that matter.

    For a map (`found`, as the report has it) or the assessment of a file; `measured` are the rows of measures
    and `details` what the report shows of the protected file.
    """
    told: dict[str, Any] = {}
    if x is not None and (found is None or x.identifiers_left):  # these no risk of a map looks at
        told = _of_assessment(x, public=public)
    elif found is not None:
        told = _of_map(found)
    minded = _minded(x) if x is not None else []
    if told["status"] == "good" and minded:
        told |= _qualified(told, public=public)
    answers = [
        ("Can it be released?", told.pop("released")),
        ("Under which ceiling?", told.pop("ceiling")),
        ("What is lost?", _lost(measured, details)),
        ("What was done?", _done(details)),
        ("Are original records in it?", "" if public or x is None else _repeated(x)),
        (
            "What was not protected?",
            "" if public or x is None else " ".join([_untouched(x), *minded]).strip(),
        ),
    ]
    groups = {
        "Risk that remains": in_order(Kind.RISK, measured["risk"]),
        "What is lost": in_order(Kind.UTILITY, measured["utility"]),
    }
    first = set(found["measures"]) if found is not None else set()
    figures = {row["name"]: row for row in found["figures"]} if found is not None else {}
    groups = {title: [figures.get(r["name"], r) for r in some] for title, some in groups.items()}
    return {
        **told,
        "answers": [{"question": q, "answer": text} for q, text in answers if text],
        "tiles": {title: _tiles(some, first) for title, some in groups.items() if some},
    }


def _minded(x: Assessment) -> list[str]:
    """What no accepted risk says anything of, so that a file within it is not simply safe."""
    found = x.after.get("closest_record")
    copied = found is not None and found.figures.get("low", 0.0) > found.figures.get("reference_share", 1.0)
    return [*x.warnings, *([MORE_THAN_CHANCE] if copied else [])]


def _qualified(told: Mapping[str, Any], *, public: bool) -> dict[str, str]:
    """A yes where something else is to be seen to first."""
    first = (
        "But not everything in the file was judged." if public else "But first see to what was not protected."
    )
    return {
        "status": "open",
        "headline": told["headline"].replace(" can be released: its", ": its") + ", but not all was judged",
        "released": f"{told['released']} {first}",
    }


def _repeated(x: Assessment) -> str:
    """How near records of a synthetic file are to originals, beside how near real people are."""
    found = x.after.get("closest_record")
    if found is None or isnan(found.value) or "reference_share" not in found.figures:
        return ""
    figures = found.figures
    value, real, copies = map(percent, (found.value, figures["reference_share"], figures["copies"]))
    return (
        f"{value} of the records are as close to an original as the closest real people are to each other "
        f"({real} of these are); {copies} are copies."
    )


def _of_map(found: Mapping[str, Any]) -> dict[str, Any]:
    points = found["points"]
    failed = sum(p["failed"] for p in points)
    tried = f"{len(points)} scenario{'s were' if len(points) != 1 else ' was'} tried"
    tried += f", {failed} of them could not be measured" if failed else ""
    best = next((p for p in points if p["best"]), None)
    ceiling = found["max_text"]
    limit = f"Accepted: a risk of at most {ceiling}. Measured: {found['risk_title']}." if ceiling else OPEN
    if failed == len(points):
        return {
            "status": "bad",
            "headline": "No scenario could be measured",
            "released": f"No. {tried}, so that nothing is known of the risk.",
            "ceiling": limit,
        }
    if best is None:
        return {
            "status": "bad",
            "headline": f"No scenario is acceptable at a risk of at most {ceiling}",
            "released": f"No. {tried}. Protect more strongly, or accept a higher risk.",
            "ceiling": limit,
        }
    name = f"“{best['scenario']}”"
    under = [p for p in points if p["acceptable"]]
    which = f"{name} loses the least information"
    falls = f"The risk of {name} is {best['risk_text']}; the original file's is {found['original_text']}."
    if ceiling:
        limit = f"at or below the accepted risk of {ceiling}"
        several = f"{len(under)} stay {limit}, and of these {which}"
        why = f"Yes, {name}. {tried}; {several if len(under) > 1 else f'only this one stays {limit}'}."
    else:
        why = f"{tried}; {which}."
    return {
        "status": "good" if ceiling else "open",
        "headline": f"{name} can be released: its risk is within the accepted {ceiling}"
        if ceiling
        else f"{name} loses least; no accepted risk was set",
        "released": why if ceiling else f"For the reader to decide. {why}",
        "ceiling": f"Accepted: {ceiling} ({found['risk_title']}). {falls}" if ceiling else f"{OPEN} {falls}",
    }


def _of_assessment(x: Assessment, *, public: bool) -> dict[str, Any]:
    name = f"“{x.scenario}”" if x.scenario else "The protected file"
    if x.identifiers_left:
        names = "direct identifiers" if public else f"the direct identifiers {join_names(x.identifiers_left)}"
        return {
            "status": "bad",
            "headline": f"{name} must not be released: it still has direct identifiers",
            "released": f"No. It still has {names}: drop them.",
            "ceiling": "No risk is acceptable with direct identifiers in the file.",
        }
    spec = find("individual_risk")
    if x.max_risk is None or x.risk_acceptable is None:
        unknown = "could not be measured, so whether the file is within it is not known."
        accepted = x.max_risk is not None and display(x.max_risk, share=is_share(spec))
        return {
            "status": "open",
            "headline": f"{name}: risk and utility measured",
            "released": "For the reader to decide.",
            "ceiling": f"Accepted: {accepted} ({spec.title}). That risk {unknown}" if accepted else OPEN,
        }
    results = [x.after[spec.name], x.before.get(spec.name)]
    risk, before = (display(r.value, share=is_share(spec)) if r else "" for r in results)
    ceiling = display(x.max_risk, share=is_share(spec))
    fine = x.risk_acceptable
    measured = f"Accepted: {ceiling} ({spec.title}). Measured: {risk}"
    return {
        "status": "good" if fine else "bad",
        "headline": f"{name} can be released: its risk of {risk} is within the accepted {ceiling}"
        if fine
        else f"{name} should not be released: its risk of {risk} is above the accepted {ceiling}",
        "released": "Yes." if fine else "No. Protect more strongly, or accept a higher risk.",
        "ceiling": f"{measured}; {before} in the original file." if before else f"{measured}.",
    }


def _lost(measured: Mapping[str, Any], details: Mapping[str, Any]) -> str:
    """Blanks, and what became of the estimates, in words."""
    sentences = []
    blank = next((r for r in (details["missing"] or {"rows": []})["rows"] if r["new"]), None)
    if blank:
        name = blank["label"] or blank["name"]
        sentences.append(
            f"Blanks rose most in “{name}”: from {blank['before']} to {blank['after']} of the records."
        )
    elif details["missing"]:
        sentences.append("No value was blanked.")
    for table in measured["estimates"]:
        counts = ", ".join(f"{v['count']} {v['verdict']}" for v in table["verdicts"])
        what = table["what"] if table["all"] == 1 else table["what"] + "s"
        sentences.append(f"Of {table['all']} {what}: {counts}.")
    return " ".join(sentences)


def _done(details: Mapping[str, Any]) -> str:
    """The steps in one sentence."""
    words = ", then ".join(_inside(s["title"]) for s in details["steps"] or ())
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _untouched(x: Assessment) -> str:
    """Numbers released as they are, which the risk of the keys says nothing of."""
    if x.original.engine != "polars" or any(d.engine != "polars" for d in x.protected):
        return ""
    numbers = [c for c in x.original.roles.numeric if all(c in d.columns for d in x.protected)]
    same = [c for c in numbers if all(d.frame[c].equals(x.original.frame[c]) for d in x.protected)]
    if not same:
        return ""
    return (
        f"{join_names(same)}: the original values stand in the file. An accepted risk that looks at the keys "
        "says nothing of who knows a number."
    )


def _inside(title: str) -> str:
    """A title inside a sentence; abbreviations stay as they are."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def _tiles(rows: list[dict[str, Any]], first: set[str]) -> list[dict[str, str]]:
    """A few measures as large numbers: of synthetic files, of the map, then those in percent.

    What is in percent needs no explanation. Of risks at least one each of keys, numbers, sensitive values and
    synthetic records, as far as they were measured: little risk by the keys says nothing of the others.
    """
    order = {name: i for i, name in enumerate(SYNTHETIC)}
    rows = sorted(rows, key=lambda r: (order.get(r["name"], TILES), r["name"] not in first, not r["share"]))
    each = {about: row for row in reversed(rows) if (about := _about(find(row["name"])))}
    rest = [row for row in rows if row["name"] not in {chosen["name"] for chosen in each.values()}]
    chosen = [*each.values(), *rest[: max(TILES - len(each), 0)]]
    rows = [row for row in rows if row in chosen]
    return [
        {
            "label": row["title"],
            "value": row["after"],
            "note": _note(row),
            "better": row["better"],
        }
        for row in rows
    ]


def _about(spec: Spec) -> str:
    """What of a record a risk looks at; nothing for utilities and for households, who are told by keys."""
    section = section_of(spec) if spec.kind is Kind.RISK else ""
    if section == "keys" and Role.SENSITIVE in spec.needs:
        return "sensitive"
    return section if section != "household" else ""


def _note(row: Mapping[str, Any]) -> str:
    """What a number is to be compared with: the original's, or that of real people."""
    if row["before"]:
        return f"{row['before']} before"
    figures = {figure["name"]: figure["after"] for figure in row.get("figures", ())}
    if row["name"] == "closest_record" and "reference_share" in figures:
        return f"{figures['reference_share']} of real people; copies: {figures['copies']}"
    return "" if row["share"] else str(row["unit"])
