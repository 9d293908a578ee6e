"""The summary: released or not, who could find somebody, by which criteria, and what is lost."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isfinite
from typing import Any

from sdckit._support.messages import join_names
from sdckit._support.number_text import count_of, number, percent
from sdckit.choose.assessment import Assessment
from sdckit.choose.criteria import Release, Status, Verdict
from sdckit.choose.release_checks import accepted_in_words, beyond_others
from sdckit.data.intruder import default_intruders
from sdckit.methods.registry import find
from sdckit.report.disclosure import visible
from sdckit.report.public_numbers import public_count, public_share
from sdckit.report.sections import in_order

TILES = 3
SCALED = (
    "value",
    "sampling_error",
    "expected_reidentifications",
)  # of an intruder, with the share that counts
BAD, GOOD = "bad", "good"
UNMEASURED = "not measured"
STATUS = {Release.RELEASABLE: GOOD, Release.NOT_RELEASABLE: BAD, Release.OPEN: "open"}
ORDER = (Status.NOT_MET, Status.NOT_JUDGED, Status.MET)
RELEASED = {
    Release.RELEASABLE: "Yes: every criterion below is judged and met.",
    Release.NOT_RELEASABLE: "No: see the criteria that are not met below.",
    Release.OPEN: "Not yet: somebody must decide on the criteria that were not judged.",
}


def verdict(
    x: Assessment | None,
    found: Mapping[str, Any] | None,
    measured: Mapping[str, Any],
    details: Mapping[str, Any],
) -> dict[str, Any]:
    """Status, headline, intruders, criteria, the reader's questions answered and the numbers that matter.

    For a map (`found`, as the report has it) or the assessment of a file; `measured` are the rows of measures
    and `details` what the report shows of the protected file.
    """
    judged = None if x is None else x.verdict
    return {
        "status": BAD if judged is None else STATUS[judged.status],
        "headline": _headline(found) if judged is None else judged.headline,
        "intruders": [] if x is None else _intruders(x),
        "criteria": [] if judged is None else _criteria(judged),
        "answers": _answers(judged, found, measured, details, _removed(x)),
        "tiles": _tiles(x, found, measured),
    }


def public_verdict(
    x: Assessment | None,
    found: Mapping[str, Any] | None,
    measured: Mapping[str, Any],
    details: Mapping[str, Any],
) -> dict[str, Any]:
    """The same for the public: which criteria there are and what became of them, without reasons and values.

    Whom an intruder finds is rounded; the names that people gave their scenarios and intruders are not shown.
    """
    judged = None if x is None else x.verdict
    if x is None or judged is None:
        headline = _headline(found)
    else:
        name = f"The protected file{', made from the prepared file,' if judged.prepared else ''}"
        # holders accept the claims that were found, and so few persons are no number for the public
        rounded = replace(judged, accepted=accepted_in_words(x, lambda n: str(public_count(n))))
        headline = {
            Release.RELEASABLE: f"{name} {rounded.released}",
            Release.NOT_RELEASABLE: f"{name} must not be released: not every criterion is met.",
            Release.OPEN: f"{name} is not cleared for release: not every criterion was judged.",
        }[judged.status]
    return {
        "status": BAD if judged is None else STATUS[judged.status],
        "headline": headline,
        "intruders": [] if x is None else _public_intruders(x),
        "criteria": [] if x is None or judged is None else _public_criteria(x, judged),
        "answers": _answers(judged, found, measured, details, _removed(x, named=False)),
        "tiles": _tiles(x, found, measured),
    }


def _headline(found: Mapping[str, Any] | None) -> str:
    """What is said where no file is recommended."""
    points = [] if found is None else found["points"]
    if points and all(p["failed"] for p in points):
        return "No scenario could be measured."
    ceiling = "" if found is None else found["max_text"]
    return f"No scenario is acceptable{f' at a risk of at most {ceiling}' if ceiling else ''}."


def _public_criteria(x: Assessment, judged: Verdict) -> list[dict[str, str]]:
    """The criteria by name and status, with the limits of those that are shares."""
    called = _aliases(x)
    shown = [
        replace(
            c,
            name=c.name.removesuffix(c.intruder) + called.get(c.intruder, c.intruder),
            value=None,
            limit=c.limit if c.share else None,
            why="",
            mends="",
            places=(),
        )
        for c in judged
    ]
    return _criteria(replace(judged, criteria=tuple(shown)))


def _aliases(x: Assessment) -> dict[str, str]:
    """What intruders are called for the public: a name may say whom somebody thinks of, and what he earns."""
    usual = {one.name for one in default_intruders(x.original.roles)}
    names = [str(name) for name in dict.fromkeys(row["intruder"] for row in _rows(x))]
    return {name: name if name in usual else f"intruder {i}" for i, name in enumerate(names, 1)}


def _criteria(judged: Verdict) -> list[dict[str, str]]:
    """The criteria, what is not met first."""
    return [
        {
            "name": c.name,
            "status": c.status.value,
            "value": c.text(c.value),
            "limit": c.text(c.limit),
            "why": c.why,
            "mends": "" if c.met else c.mends,
            "in_plan": c.in_plan,
        }
        for c in sorted(judged, key=lambda c: ORDER.index(c.status))
    ]


def _rows(x: Assessment) -> Iterable[dict[str, Any]]:
    """The rows of every measure with a table of intruders; of new records what the verdict is about.

    That is what an intruder finds beyond what people show who were not in the original. Nobody's record is in
    such a file, and how often an intruder is sure is no number of persons.
    """
    for result in x.after.values():
        if "intruders" in result.tables:
            part, beyond = beyond_others(result.figures), "among_others" in result.figures
            nothing = {"claims": None, "claims_right": None} if beyond else {}
            for row in result.tables["intruders"].iter_rows(named=True):
                scaled = {n: row[n] and part * row[n] for n in SCALED}
                yield {**row, **scaled, **nothing, "beyond": beyond}


def _intruders(x: Assessment) -> list[dict[str, Any]]:
    """Who might attack, what they know, whom they find, and how often they are sure and right."""
    return [
        {
            **_who(row, x),
            "finds": percent(row["value"]) if _known(row["value"]) else UNMEASURED,
            "persons": _rounded(row["expected_reidentifications"], 1),
            "claims": _rounded(row["claims"]),
            "right": _rounded(row["claims_right"], 1),
        }
        for row in _rows(x)
    ]


def _known(value: float | None) -> bool:
    return value is not None and isfinite(value)


def _rounded(value: float | None, digits: int | None = None) -> str:
    """A number for people; nothing where it was not measured, as of records that are not in memory."""
    return "" if value is None or not isfinite(value) else number(round(value, digits))


def _public_intruders(x: Assessment) -> list[dict[str, Any]]:
    nothing = {"persons": "", "claims": "", "right": ""}
    known = ((row, public_share(row["value"], x.original.height)) for row in _rows(x) if _known(row["value"]))
    shown = [(row, str(share)) for row, share in known if share is not None]
    shown += [(row, UNMEASURED) for row in _rows(x) if not _known(row["value"])]
    called = _aliases(x)
    return [
        {**_who(row, x), **nothing, "name": called[row["intruder"]], "finds": text} for row, text in shown
    ]


def _who(row: Mapping[str, Any], x: Assessment) -> dict[str, Any]:
    limit = row["max_risk"] if row["max_risk"] is not None else x.max_risk
    knows = str(row["knows"])
    return {
        "name": row["intruder"],
        "knows": f"{knows[:1].upper()}{knows[1:]}.",
        "accepted": "" if limit is None else percent(limit),
        "above": limit is not None and not row["value"] + 2 * row["sampling_error"] <= limit,  # or not known
        "not_judged": row["not_judged"],
        "beyond": row["beyond"],
    }


def _answers(
    judged: Verdict | None,
    found: Mapping[str, Any] | None,
    measured: Mapping[str, Any],
    details: Mapping[str, Any],
    removed: str,
) -> list[dict[str, str]]:
    answers = {
        "Can it be released?": _released(judged, found),
        "What is lost?": f"{removed} {_lost(measured, details)}".strip(),
        "What was done?": _done(details),
    }
    return [{"question": question, "answer": text} for question, text in answers.items() if text]


def _released(judged: Verdict | None, found: Mapping[str, Any] | None) -> str:
    """Yes, no or not yet, and how many scenarios were tried."""
    tried, failed = "", 0
    if found is not None:
        points = found["points"]
        failed = sum(p["failed"] for p in points)
        tried = f" {len(points)} scenario{'s were' if len(points) != 1 else ' was'} tried"
        tried += f", {failed} of them could not be measured." if failed else "."
    if judged is not None:
        return RELEASED[judged.status] + tried
    if found is not None and failed == len(found["points"]):
        return f"No: nothing is known of the risk.{tried}"
    return f"No.{tried} Protect more strongly, or accept a higher risk."


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


def _removed(x: Assessment | None, *, named: bool = True) -> str:
    """Columns that the protected file lacks; the public is told how many there are."""
    if x is None:
        return ""
    kept = set(x.protected[0].columns)
    names = [c for c in visible(x.original, x.protected[0]) if c not in kept]
    count = count_of(len(names), "column is", "columns are")
    return f"{count} removed{f': {join_names(names)}' if named else ''}." if names else ""


def _done(details: Mapping[str, Any]) -> str:
    """The steps in one sentence."""
    titles = list(dict.fromkeys(_inside(s["title"]) for s in details["steps"] or ()))
    words = ", ".join(titles)
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _inside(title: str) -> str:
    """A title inside a sentence; abbreviations stay as they are."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def _tiles(
    x: Assessment | None, found: Mapping[str, Any] | None, measured: Mapping[str, Any]
) -> dict[str, list[dict[str, str]]]:
    """A few measures as large numbers: risks that the verdict rests on, and losses, those of the map first.

    Whom intruders find stands in their table: a single number would be that of the one on the axis. What is
    in percent needs no explanation and comes before what is not.
    """
    first = set(found["measures"]) if found is not None else set()
    figures = {row["name"]: row for row in found["figures"]} if found is not None else {}
    listed = set() if x is None else {n for n, r in x.after.items() if "intruders" in r.tables}
    groups = {
        "Risk that remains": [
            r for r in measured["risk"] if find(r["name"]).judges and r["name"] not in listed
        ],
        "What is lost": measured["utility"],
    }
    shown = {}
    for title, rows in groups.items():
        ordered = sorted(rows, key=lambda r: (r["name"] not in first, not r["share"]))
        kind = find(rows[0]["name"]).kind if rows else None
        if kind is not None:
            chosen = in_order(kind, ordered[:TILES])
            shown[title] = [_tile(figures.get(row["name"], row)) for row in chosen]
    return shown


def _tile(row: Mapping[str, Any]) -> dict[str, str]:
    """A measure as a large number, with what it is to be compared with."""
    note = f"{row['before']} before" if row["before"] else "" if row["share"] else str(row["unit"])
    return {"label": row["title"], "value": row["after"], "note": note, "better": row["better"]}
