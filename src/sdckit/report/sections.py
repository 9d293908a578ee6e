"""The sections of risk and utility, and which of them a measure belongs to: told by the registry."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sdckit._support.messages import join_names
from sdckit.data.roles import Role
from sdckit.methods.spec import Compares, Kind, Spec


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a report."""

    name: str
    kind: Kind
    title: str
    intro: str


FILE = "file"  # counts of artificial records
SECTIONS = (
    Section(
        "intruder",
        Kind.RISK,
        "Intruders",
        "What somebody finds and infers who knows true values of a person and how the file was made.",
    ),
    Section(
        "keys",
        Kind.RISK,
        "Keys",
        "What somebody finds out who knows the keys of a person{keys}.",
    ),
    Section(
        "household",
        Kind.RISK,
        "Households",
        "Whoever is recognised gives away the others who live in the same household.",
    ),
    Section(
        "continuous",
        Kind.RISK,
        "Numbers",
        "How near protected values and records stay to their originals.",
    ),
    Section("synthetic", Kind.RISK, "Synthetic data", "What artificial records give away about real ones."),
    Section(
        FILE,
        Kind.RISK,
        "The file itself",
        "Counts of the records of the protected file. Nobody is behind an artificial record: these are no "
        "risks of persons.",
    ),
    Section(
        "values",
        Kind.UTILITY,
        "Values changed and blanked",
        "Each value against its original, over all variables.",
    ),
    Section("categorical", Kind.UTILITY, "Categories", "How counts and tables of categories changed."),
    Section("continuous", Kind.UTILITY, "Numbers", "How values, means, variances and correlations changed."),
    Section(
        "distribution",
        Kind.UTILITY,
        "Distributions",
        "Whether the files can be told apart as a whole.",
    ),
    Section(
        "estimates",
        Kind.UTILITY,
        "Estimates",
        "The numbers an analyst would publish, from both files, with their confidence intervals.",
    ),
    Section(
        "regression",
        Kind.UTILITY,
        "Regression",
        "The same model fitted to both files.",
    ),
)


def section_of(spec: Spec) -> str:
    """The section of a measure: the one it names itself, or what its roles, files and options tell.

    >>> from sdckit.methods.registry import find
    >>> [section_of(find(name)) for name in ("suda", "household_risk", "record_linkage", "closest_record")]
    ['keys', 'household', 'continuous', 'synthetic']
    >>> [section_of(find(name)) for name in ("il1s", "propensity", "indicators", "regression")]
    ['continuous', 'distribution', 'estimates', 'regression']
    """
    if any(s.name == spec.section and s.kind is spec.kind for s in SECTIONS):
        return spec.section
    if spec.kind is Kind.RISK:
        return _of_risk(spec)
    if "formula" in spec.parameters:
        return "regression"
    if spec.several:
        return "estimates"
    if Role.KEYS in spec.needs:
        return "categorical"
    if Role.NUMERIC in spec.needs:
        return "continuous"
    return "values" if spec.compares is Compares.RECORDS else "distribution"


def _of_risk(spec: Spec) -> str:
    if "synthetic" in spec.file_names:
        return "synthetic"
    if Role.HOUSEHOLD in spec.needs:
        return "household"
    return "keys" if spec.compares is Compares.ONE_FILE and Role.NUMERIC not in spec.needs else "continuous"


def in_sections(
    kind: Kind,
    content: Mapping[str, Iterable[Mapping[str, Any]]],
    always: Iterable[str] = (),
    *,
    keys: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """The sections of a kind that have something to show, or are in `always`.

    `content` has lists of things by name, each of which says its `section`. `keys`: the file's, by name.
    """
    named = f": {join_names(keys)}" if keys else ""
    found = []
    for section in SECTIONS:
        if section.kind is not kind:
            continue
        own = {name: [x for x in things if x["section"] == section.name] for name, things in content.items()}
        if any(own.values()) or section.name in always:
            told = {
                "name": section.name,
                "title": section.title,
                "intro": section.intro.replace("{keys}", named),
            }
            found.append({**told, **own, "notes": _common(own["rows"])})
    return found


def in_order(kind: Kind, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of one kind of measure in the order of their sections."""
    names = [section.name for section in SECTIONS if section.kind is kind]
    return sorted(rows, key=lambda row: names.index(row["section"]))


def _common(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Notes of more than one measure, which need to be said only once."""
    counts = Counter(note for row in rows for note in row["notes"])
    return [note for note, count in counts.items() if count > 1]
