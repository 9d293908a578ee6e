"""What a file holds, column by column, and the role each could have."""

import re
from dataclasses import dataclass, replace

import polars as pl

from sdckit.choose.release_facts import DIFFERENT, FEWEST
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role

SHOWN = 3  # values, the most frequent ones
OFTEN = 5  # records at least that have a value that is shown
CODES = 20  # different values at most of whole numbers that may be codes
NAME = 4  # letters of a word at least, so that a name tells more than V23, where the label is asked
WORDS = {
    Role.WEIGHT: "weight weights wgt wt w",
    Role.STRATA: "stratum strata strat",
    Role.CLUSTER: "psu cluster",
    Role.HOUSEHOLD: "household hh hhid hid family",
    Role.ID: "id ident identifier pid nr no number record case serial",
    Role.DIRECT: "name surname forename firstname lastname address street phone telephone mobile email mail "
    "passport ssn iban account plate gps latitude longitude lat lon",
    Role.SENSITIVE: "health disease diagnosis illness disability hiv religion crime conviction vote party "
    "union drug alcohol sexual orientation",
    Role.KEYS: "sex gender age birth birthday born region province state county district municipality "
    "commune canton city town village urban rural area zip postcode postal country nationality citizenship "
    "citizen ethnic ethnicity race language education edu isced marital relationship civil occupation job "
    "isco profession employment labour labor nace sector industry size",
}
FOUND = {role: frozenset(words.split()) for role, words in WORDS.items()}


@dataclass(frozen=True, slots=True)
class Column:
    """What is known of a column; values only where they are common and do not identify."""

    name: str
    kind: str
    label: str
    different: int
    missing: int
    common: tuple[str, ...]
    role: Role | None


def described(data: Microdata) -> list[Column]:
    """All columns of a file in memory, with suggested roles: at most one column where a role takes one."""
    found: list[Column] = []
    for name in data.columns:
        series = data.frame[name]
        label = data.labels.variables.get(name, "")
        words = _words(name)
        if label and max(map(len, words), default=0) < NAME and not any(words & w for w in FOUND.values()):
            words = _words(label)
        role = _suggested(series, words, labelled=name in data.labels.values)
        if role in (Role.WEIGHT, Role.CLUSTER, Role.HOUSEHOLD, Role.ID) and role in [c.role for c in found]:
            role = Role.DIRECT if role is Role.ID else None
        nested = series.dtype.is_nested()
        different = 0 if nested else series.drop_nulls().n_unique()
        found.append(Column(name, _kind(series), label, different, series.null_count(), (), role))
    if not any(c.role is Role.KEYS for c in found):  # names in another language: what looks like categories
        found = [replace(c, role=Role.KEYS) if c.role is None and _categories(c, data) else c for c in found]
    return [replace(c, common=_common(c, data)) for c in found]


def _suggested(series: pl.Series, words: set[str], *, labelled: bool) -> Role | None:
    values = series.drop_nulls()
    number, whole = series.dtype.is_numeric(), series.dtype.is_integer()
    if series.dtype.is_nested() or values.n_unique() < 2:
        return None
    called = {role for role in FOUND if words & FOUND[role]}
    complete = len(values) == len(series)
    unique = complete and values.n_unique() == len(series)
    nearly = values.n_unique() >= max(FEWEST, DIFFERENT * len(series))
    if Role.WEIGHT in called and number and complete and bool((values > 0).all()) and not labelled:
        return Role.WEIGHT
    for role in (Role.STRATA, Role.CLUSTER):
        if role in called:
            return role
    if Role.HOUSEHOLD in called and complete and values.n_unique() >= FEWEST and Role.KEYS not in called:
        return Role.HOUSEHOLD
    if unique and Role.ID in called and (whole or series.dtype == pl.String):
        return Role.ID
    if Role.DIRECT in called and Role.KEYS not in called:
        return Role.DIRECT
    if nearly and not number:  # free text, exact dates
        return Role.DIRECT
    if Role.SENSITIVE in called:
        return Role.SENSITIVE
    if Role.KEYS in called:
        return Role.KEYS
    many = values.n_unique() > CODES or not whole
    finite = number and (whole or bool(values.cast(pl.Float64).is_finite().all()))
    return Role.NUMERIC if finite and many and not labelled else None


def _words(text: str) -> set[str]:
    """The words of a name or label.

    >>> sorted(_words("HouseholdSize_2"))
    ['household', 'size']
    """
    return set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower()))


def _categories(column: Column, data: Microdata) -> bool:
    """Whether the values of a column look like categories: few, or with labels."""
    return 2 <= column.different <= max(CODES, len(data.labels.values.get(column.name, ())))


def _common(column: Column, data: Microdata) -> tuple[str, ...]:
    """The most frequent values of a column that does not identify, where several records have them."""
    if column.role not in (None, Role.KEYS, Role.SENSITIVE, Role.STRATA) or not _categories(column, data):
        return ()
    values = data.frame[column.name].drop_nulls().alias("value")  # a column may be called anything
    counts = values.value_counts(sort=True, name="of records").head(SHOWN)
    return tuple(data.labels.text(column.name, value) for value, n in counts.rows() if n >= OFTEN)


def _kind(series: pl.Series) -> str:
    """The type of a column in words."""
    kinds = {
        "true/false": series.dtype == pl.Boolean,
        "text": series.dtype == pl.String,
        "categories": isinstance(series.dtype, pl.Categorical | pl.Enum),
        "whole number": series.dtype.is_integer(),
        "number": series.dtype.is_numeric(),
        "date": series.dtype.is_temporal(),
    }
    return next((kind for kind, fits in kinds.items() if fits), str(series.dtype))
