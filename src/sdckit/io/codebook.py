"""The codebook of a file: names, labels, types, categories, codes of missing values; no counts, no ranges."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw

from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.data.reading import MissingCodes
from sdckit.data.values import as_text
from sdckit.engine import frames
from sdckit.io.coding import only_used_labels
from sdckit.io.ddi import ddi
from sdckit.io.formats import STATISTICAL, ending_of

DIFFERENT = 0.5  # as many categories as half of the records (nearly) name them
FEWEST = 20  # categories at least: in a handful of records there are few of each


@dataclass(frozen=True, slots=True)
class Variable:
    """One column as users of the file need to know it.

    kind: number, text, date, date and time, true or false, or other. categories and missing: pairs of
    what stands in the file and what it means, which is empty where it speaks for itself.
    """

    name: str
    label: str
    kind: str
    categories: tuple[tuple[str, str], ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    weight: bool = False


@dataclass(frozen=True, slots=True)
class Codebook:
    """A file and its variables."""

    file: str
    records: int
    variables: tuple[Variable, ...]


def beside(path: Path) -> dict[str, Path]:
    """The files of a codebook next to the data file: a page for people and DDI-Codebook for programs.

    >>> [p.name for p in beside(Path("survey.csv.gz")).values()]
    ['survey.codebook.html', 'survey.codebook.xml']
    """
    stem = path.name[: -len(ending_of(path))]
    return {kind: path.with_name(f"{stem}.codebook.{kind}") for kind in ("html", "xml")}


def described(
    data: Microdata,
    path: Path,
    *,
    texts: bool,
    coded: bool,
    keep_unused: bool,
    codes: Mapping[str, MissingCodes],
) -> Codebook:
    """What the file at this path holds.

    texts: labels stand in the file instead of codes. coded: categories are codes 1, 2, … codes: why values
    are missing.
    """
    labels = data.labels if keep_unused else only_used_labels(data.frame, data.labels)
    kinds = frames.schema(data.frame)
    variables = []
    for name in data.columns:
        kind = _kind(kinds[name])
        if isinstance(kinds[name], nw.Enum | nw.Categorical):
            as_codes = coded and not (texts and name in data.labels.values)
            found = _categories(data, name, coded=as_codes, texts=texts, keep_unused=keep_unused)
            kind = "number" if as_codes else "text"
        else:
            found = _labelled(labels, name, texts=texts)
            kind = "text" if texts and name in data.labels.values else kind
        if kind == "true or false" and ending_of(path) in STATISTICAL:  # which have no such type
            kind, found = "number", (("0", "false"), ("1", "true"))
        if len(found) >= max(FEWEST, DIFFERENT * data.height):
            found = ()  # names of persons, not categories: a codebook may be more public than its file
        missing = _missing(codes[name]) if name in codes else ()
        known = {code for code, _ in missing}
        variables.append(
            Variable(
                name,
                data.labels.variables.get(name, ""),
                kind,
                tuple(pair for pair in found if pair[0] not in known),
                missing,
                name == data.roles.weight,
            )
        )
    return Codebook(path.name, data.height, tuple(variables))


def _kind(kind: Any) -> str:
    if kind.is_numeric():
        return "number"
    if isinstance(kind, nw.Date):
        return "date"
    if kind.is_temporal():
        return "date and time"
    return "true or false" if kind == nw.Boolean else "text"


def _labelled(labels: Labels, name: str, *, texts: bool) -> tuple[tuple[str, str], ...]:
    known = labels.values.get(name, {})
    if texts:
        return tuple((text, "") for text in dict.fromkeys(known.values()))
    return tuple((as_text(code), text) for code, text in known.items())


def _categories(
    data: Microdata, name: str, *, coded: bool, texts: bool, keep_unused: bool
) -> tuple[tuple[str, str], ...]:
    """Categories that records have, in their order, as they stand in the file."""
    kind = frames.schema(data.frame)[name]
    column = frames.gather(data.table.select(nw.col(name).cast(nw.String)).unique())[name]
    present = set(column.drop_nulls().to_list())
    order = list(kind.categories) if isinstance(kind, nw.Enum) else sorted(present)
    labels = data.labels.values.get(name, {})
    found = []
    for code, category in enumerate(order, start=1):
        if category in present or keep_unused:
            meaning = labels.get(category, "")
            if coded:
                found.append((str(code), meaning or category))
            else:
                found.append((meaning or category, "") if texts else (category, meaning))
    return tuple(found)


def _missing(codes: MissingCodes) -> tuple[tuple[str, str], ...]:
    used = codes.codes.drop_nulls().unique().sort().to_list()
    dot = "." if codes.program == "Stata" else ""
    return tuple((dot + as_text(code), codes.labels.get(code, "")) for code in used)


def written_as(book: Codebook) -> dict[str, str]:
    """The codebook as text, by the kind of file."""
    from sdckit.io.codebook_page import page

    return {"html": page(book), "xml": ddi(book)}
