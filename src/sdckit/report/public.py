"""What the public sees of an assessment or a map: an allow-list, put together from rounded numbers alone.

Nothing is taken over from the internal report. Shown are: the verdict with the names of its criteria, whom
intruders find, headline numbers of the measures of sdckit itself, the kinds of steps and the columns they
changed, missing values, and pictures of records rounded to multiples of 5. No text of a measure, no option,
no seed, no name of a scenario, no value of a record, and no number whose difference from another tells of
fewer than 5 records.
"""

from typing import Any

from sdckit.choose.assessment import Assessment
from sdckit.choose.quantity import Quantity
from sdckit.choose.risk_utility_map import RiskUtilityMap
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.methods.recoding import in_categories_of
from sdckit.methods.registry import find, is_third_party
from sdckit.methods.spec import Kind, Spec
from sdckit.report import describe, measures, steps
from sdckit.report.estimates import public_estimates
from sdckit.report.file_risks import FileRisks
from sdckit.report.histograms import public_histograms
from sdckit.report.mosaic_tables import public_mosaics
from sdckit.report.public_numbers import PublicNumber, public_number
from sdckit.report.scenarios import public_scenarios
from sdckit.report.sections import in_sections
from sdckit.report.verdict import public_verdict


def public_parts(x: Assessment | None, found: RiskUtilityMap | None, original: Microdata) -> dict[str, Any]:
    """All parts of a public report but for those that every report has."""
    rows = _rows(x)
    compared = [] if x is None else public_estimates(x)
    details = _details(x)
    drawn = None
    if found is not None:
        drawn = {
            **public_scenarios(found),
            "small": {"maps": [], "all": 0},
            "estimates": None,
            "mosaics": None,
        }
    measured = {**rows, "estimates": compared}
    always = [] if details["missing"] is None else ["values"]
    if any(details[name] and details[name]["charts"] for name in ("mosaics", "histograms")):
        always.append("distribution")
    names = [row["name"] for row in (*rows["risk"], *rows["utility"])]
    axes = [] if found is None else [Quantity.named(n).spec.name for n in (*found.risk, *found.utility)]
    known = [n for n in dict.fromkeys((*names, *axes)) if not is_third_party(find(n).function)]
    return {
        "verdict": public_verdict(x, drawn, measured, details),
        "map": drawn,
        "data": describe.public_data(original, x.protected[0] if x is not None else None),
        "prepared": steps.public_preparations(original),
        "risk": in_sections(Kind.RISK, {"rows": rows["risk"], "by_key": [], "pictures": []}),
        "utility": in_sections(
            Kind.UTILITY, {"rows": rows["utility"], "estimates": compared, "pictures": []}, always
        ),
        **details,
        "left_out_charts": 0,
        "glossary": measures.glossary(known, names),
        "scenario_file": None,
        "seed": None,
    }


def _rows(x: Assessment | None) -> dict[str, list[dict[str, Any]]]:
    """The headline numbers that may be shown, rounded."""
    if x is None:
        return {"risk": [], "utility": []}
    about = FileRisks.of(x)
    groups = {"risk": x.after, "utility": x.utility}
    return {
        name: [row for n, r in results.items() if (row := _row(x, find(n), r, about)) is not None]
        for name, results in groups.items()
    }


def _row(x: Assessment, spec: Spec, result: Result, about: FileRisks) -> dict[str, Any] | None:
    if is_third_party(spec.function) or about.artificial(spec):
        return None
    sound = about.sound(spec, result, x.protected[0].height)
    value = result.value if sound is None else sound.value
    least = min(x.original.height, x.protected[0].height)
    after = public_number(spec, spec.kind, value, least)
    old = x.before.get(spec.name)
    before = None if old is None else public_number(spec, spec.kind, old.value, least)
    if after is None or (old is not None and before is None):
        return None
    return {
        "name": spec.name,
        "section": about.section(spec),
        "title": spec.title,
        "options": {},
        "options_text": "",
        "reading": spec.interpretation,
        "unit": spec.unit,
        "better": measures.WORDS[spec.better],
        "share": spec.share,
        "after": str(after),
        "before": "" if before is None else str(before),
        "change": "",
        "improved": None,
        "figures": [],
        "notes": about.notes(spec, None),
        "same": False,
        "bar": None if before is None else [before.value, after.value],
        "numbers": {"before": _exact(before), "after": _exact(after)},
    }


def _exact(shown: PublicNumber | None) -> dict[str, Any] | None:
    return None if shown is None else {"value": shown.value, "at_most": shown.at_most}


def _details(x: Assessment | None) -> dict[str, Any]:
    """What is shown of the protected file."""
    if x is None:
        return dict.fromkeys(("riskiest", "mosaics", "histograms", "missing", "steps", "omitted"))
    original, protected = x.original, x.protected[0]
    keys = [k for k in original.roles.keys if k in protected.columns]
    alike, recoded = in_categories_of(protected, original, keys)
    mosaics = public_mosaics(alike, protected, recoded)
    return {
        "riskiest": None,
        "mosaics": mosaics,
        "histograms": public_histograms(alike, protected, mosaics["charts"]),
        "missing": describe.public_missing(original, protected),
        "steps": steps.public_steps(original, protected),
        "omitted": [],
    }
