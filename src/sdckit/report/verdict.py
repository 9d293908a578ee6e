"""The executive summary: released or not, by which criteria, and what is lost."""

from collections.abc import Mapping
from math import isnan
from typing import Any

from sdckit._support.number_text import percent
from sdckit.choose.assessment import Assessment
from sdckit.choose.criteria import Release, Status, Verdict
from sdckit.data.roles import Role
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind, Spec
from sdckit.report.sections import in_order, section_of

TILES = 3
SYNTHETIC = ("closest_record", "attribute_disclosure")  # first where the records are not the same people
BAD = "bad"
STATUS = {Release.RELEASABLE: "good", Release.NOT_RELEASABLE: BAD, Release.OPEN: "open"}


def verdict(
    x: Assessment | None,
    found: Mapping[str, Any] | None,
    measured: Mapping[str, Any],
    details: Mapping[str, Any],
    *,
    public: bool,
) -> dict[str, Any]:
    """Status, headline, criteria, the reader's questions answered and the few numbers that matter.

    For a map (`found`, as the report has it) or the assessment of a file; `measured` are the rows of measures
    and `details` what the report shows of the protected file. The public sees which criteria there are and
    what became of them, without numbers and names that would help an intruder.
    """
    judged = None if x is None else x.verdict
    answers = [
        ("Can it be released?", _released(judged, found, public=public)),
        ("What is lost?", _lost(measured, details)),
        ("What was done?", _done(details)),
        ("Are original records in it?", "" if public or x is None else _repeated(x)),
    ]
    groups = {
        "Risk that remains": in_order(Kind.RISK, measured["risk"]),
        "What is lost": in_order(Kind.UTILITY, measured["utility"]),
    }
    first = set(found["measures"]) if found is not None else set()
    figures = {row["name"]: row for row in found["figures"]} if found is not None else {}
    groups = {title: [figures.get(r["name"], r) for r in some] for title, some in groups.items()}
    return {
        "status": BAD if judged is None else STATUS[judged.status],
        "headline": _headline(judged, found, public=public),
        "criteria": [] if judged is None else _criteria(judged, public=public),
        "answers": [{"question": q, "answer": text} for q, text in answers if text],
        "tiles": {title: _tiles(some, first) for title, some in groups.items() if some},
    }


def _headline(judged: Verdict | None, found: Mapping[str, Any] | None, *, public: bool) -> str:
    if judged is None:
        ceiling = "" if found is None else found["max_text"]
        return f"No scenario is acceptable{f' at a risk of at most {ceiling}' if ceiling else ''}"
    if not public:
        return judged.headline
    name = f"“{judged.scenario}”" if judged.scenario else "The protected file"
    if judged.releasable:
        return judged.headline
    if judged.status is Release.NOT_RELEASABLE:
        return f"{name} must not be released: not every criterion is met"
    return f"{name} is not cleared for release: not every criterion was judged"


def _criteria(judged: Verdict, *, public: bool) -> list[dict[str, str]]:
    """The criteria, what is not met first."""
    order = [Status.NOT_MET, Status.NOT_JUDGED, Status.MET]
    rows = sorted(judged, key=lambda c: order.index(c.status))
    return [
        {
            "name": c.name,
            "status": c.status.value,
            "value": "" if public else c.text(c.value),
            "limit": c.text(c.limit) if c.share or not public else "",
            "why": "" if public else c.why,
            "mends": "" if public or c.met else c.mends,
        }
        for c in rows
    ]


def _released(judged: Verdict | None, found: Mapping[str, Any] | None, *, public: bool) -> str:
    """Yes, no or not yet, and how many scenarios were tried."""
    tried = ""
    if found is not None:
        points = found["points"]
        failed = sum(p["failed"] for p in points)
        tried = f" {len(points)} scenario{'s were' if len(points) != 1 else ' was'} tried"
        tried += f", {failed} of them could not be measured." if failed else "."
    if judged is None:
        return f"No.{tried} Protect more strongly, or accept a higher risk."
    words = {
        Release.RELEASABLE: "Yes: every criterion below is judged and met.",
        Release.NOT_RELEASABLE: "No: see the criteria that are not met below.",
        Release.OPEN: "Not yet: somebody must decide on the criteria that were not judged.",
    }
    return words[judged.status] + tried


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
