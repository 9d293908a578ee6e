"""Labels of microdata from a codebook: its codes are matched with the values of the columns."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from sdckit._support.messages import join_names
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.data.values import in_words
from sdckit.engine import frames
from sdckit.errors import SdcWarning
from sdckit.io.codebook_file import Description, read_codebook

WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
NUMBER = re.compile(r"[+-]?[0-9]{0,18}\.?[0-9]{1,18}([eE][+-]?[0-9]{1,2})?|[+-]?[0-9]{1,18}\.")
EXACT = 2.0**53  # whole numbers below are the same as floating-point ones
FLAGS = {"true": True, "1": True, "false": False, "0": False}
FEW = 6  # variables or values in a note


class ProposedMissing(SdcWarning):
    """Values that a codebook marks as missing are values still."""


@dataclass(frozen=True, slots=True)
class Matched:
    """A codebook and a table together: labels, codes of missing answers by column, codes that do not fit.

    lacking: variables that the table has not.
    """

    labels: Labels
    missing: Mapping[str, tuple[Any, ...]]
    unlike: Mapping[str, tuple[str, ...]]
    lacking: tuple[str, ...]


def with_codebook(data: Microdata, path: str | Path) -> tuple[Microdata, list[str]]:
    """The microdata with the labels of a codebook, and what is to be known of the two together.

    The codebook's word comes before that of the file. Values it marks as missing stay values: they are
    proposed for the preparation `declare_missing`.
    """
    kinds = frames.schema(data.frame)
    found = match(read_codebook(path), kinds)
    held = {} if data.engine != "polars" else _held(data.frame, found)
    used = {
        name: tuple(code for code in codes if name not in held or code in held[name])
        for name, codes in found.missing.items()
    }
    labels = Labels(
        {**data.labels.variables, **found.labels.variables},
        {
            **data.labels.values,
            **{c: {**data.labels.values.get(c, {}), **known} for c, known in found.labels.values.items()},
        },
    )
    declared = {name: codes for name, codes in used.items() if codes}
    reading = replace(data.reading, declared_missing=declared)
    notes = [*problems(found, kinds), *_unused(found, held)]
    return replace(data, labels=labels, reading=reading), notes


def match(book: Mapping[str, Description], kinds: Mapping[str, Any]) -> Matched:
    """The codebook for a table with columns of these types (narwhals')."""
    variables, values, missing, unlike = {}, {}, {}, {}
    for name, one in book.items():
        if name not in kinds:
            continue
        if one.label:
            variables[name] = one.label
        codes = dict.fromkeys([*one.values, *one.missing])
        matched = {code: _value(code, kinds[name]) for code in codes}
        known = {matched[code]: text for code, text in one.values.items() if text}
        known.pop(None, None)
        if known:
            values[name] = known
        if some := tuple(matched[code] for code in one.missing if matched[code] is not None):
            missing[name] = some
        if others := tuple(code for code in codes if matched[code] is None):
            unlike[name] = others
    lacking = tuple(name for name in book if name not in kinds)
    return Matched(Labels(variables, values), missing, unlike, lacking)


def _value(code: str, kind: Any) -> Any:
    """A code as a value of a column of this type; None where it cannot be one."""
    if kind == nw.Boolean:
        return FLAGS.get(code.lower())
    if kind.is_numeric():
        if WHOLE.fullmatch(code):
            return int(code)
        if not NUMBER.fullmatch(code):
            return None
        number = float(code)
        return int(number) if number.is_integer() and abs(number) < EXACT else number
    return None if kind.is_temporal() or kind.is_nested() else code


def problems(found: Matched, kinds: Mapping[str, Any]) -> list[str]:
    """What of a codebook is for no column of the table."""
    notes = []
    if found.lacking:
        notes.append(
            f"The codebook describes variables that the file lacks: {join_names(found.lacking, FEW)}."
        )
    if found.unlike:
        words = (f"{c} ({in_words(kinds[c])}) {_few(codes)}" for c, codes in found.unlike.items())
        notes.append(f"Values of the codebook are not of the type of the column: {_listed(words)}.")
    return notes


def _held(frame: pl.DataFrame, found: Matched) -> dict[str, set[Any]]:
    """The values that records have of each column with codes."""
    names = dict.fromkeys([*found.labels.values, *found.missing])
    return {name: set(frame[name].drop_nulls().unique().to_list()) for name in names}


def _unused(found: Matched, held: Mapping[str, set[Any]]) -> list[str]:
    absent = {
        name: [code for code in found.labels.values.get(name, ()) if code not in values]
        for name, values in held.items()
    }
    words = (f"{name} {_few(codes)}" for name, codes in absent.items() if codes)
    told = _listed(words)
    return [f"No record has these values of the codebook: {told}."] if told else []


def proposed_missing(data: Microdata) -> list[str]:
    """What is said of values that a codebook marks as missing and that records still have."""
    left = dict(data.reading.declared_missing)
    if data.engine == "polars":
        held = {name: set(data.frame[name].drop_nulls().unique().to_list()) for name in left}
        left = {name: tuple(code for code in codes if code in held[name]) for name, codes in left.items()}
    words = _listed(f"{name} {_few(codes)}" for name, codes in left.items() if codes)
    if not words:
        return []
    return [
        f"The codebook marks values as missing: {words}. They are values here until the preparation "
        "declare_missing says that they are missing."
    ]


def _few(codes: Iterable[Any]) -> str:
    return join_names(codes, FEW)


def _listed(words: Iterable[str]) -> str:
    every = list(words)
    rest = len(every) - FEW
    return "; ".join(every[:FEW]) + (f"; and {rest} more variables" if rest > 0 else "")
