"""describe: what a file holds, column by column, and the role each could have."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import polars as pl

from sdckit._support.number_text import count_of, count_records
from sdckit.choose.missing_codes import missing_codes
from sdckit.choose.records_looked_at import RecordsLookedAt, records_looked_at
from sdckit.choose.words_among_numbers import words_among_numbers
from sdckit.data.intruder import Intruder, default_intruders
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata, require_microdata
from sdckit.data.naming import DIFFERENT, FEWEST
from sdckit.data.roles import Role
from sdckit.data.values import is_date

SINGLE = (Role.WEIGHT, Role.CLUSTER, Role.HOUSEHOLD, Role.ID)  # roles of one column
SHOWN = 3  # values, the most frequent ones
OFTEN = 5  # records at least that have a value that is shown
CODES = 20  # different values at most of whole numbers that may be codes
NAME = 4  # letters of a word at least, so that a name tells more than V23, where any label is asked
LABEL = (
    1  # words of a label that is asked, too: the amount "income" is no age for being counted "from age 15"
)
WORDS = {
    Role.WEIGHT: "weight weights wgt wt w",
    Role.STRATA: "stratum strata strat",
    Role.CLUSTER: "psu cluster",
    Role.HOUSEHOLD: "household hh hhid hid family",
    Role.ID: "id ident identifier pid uid nr no number record case serial",
    Role.DIRECT: "name surname forename firstname lastname address street phone telephone mobile email mail "
    "passport ssn iban account plate gps latitude longitude lat lon comment comments remark remarks",
    Role.SENSITIVE: "health disease diagnosis illness ill sick disability disabled hiv religion crime "
    "conviction vote party union drug alcohol sexual orientation",
    Role.KEYS: "sex gender age birth birthday birthdate dob born region province state county district "
    "municipality commune canton city town village urban rural area zip postcode postal country nationality "
    "citizenship citizen ethnic ethnicity race language education educ edu isced marital relationship civil "
    "occupation job isco profession employment employer labour labor nace sector industry size yob children "
    "kids school tongue",
}
ELSEWHERE = {  # the same in French, German, Spanish and Italian, without accents
    Role.WEIGHT: "poids ponderation gew gewicht gewichtung hochrechnung hochrechnungsgewicht "
    "hochrechnungsfaktor peso ponderacion",
    Role.STRATA: "strate schicht estrato strato",
    Role.HOUSEHOLD: "menage haushalt hogar",
    Role.ID: "nummer numero",
    Role.DIRECT: "nom prenom nachname vorname apellido cognome adresse strasse direccion indirizzo telefon "
    "commentaire remarque remarques bemerkung bemerkungen anmerkung anmerkungen kommentar comentario "
    "commento tel rufnummer telefonnummer courriel",
    Role.SENSITIVE: "sante maladie gesundheit krankheit erkrankung diagnose diagnostic behinderung "
    "salud enfermedad salute malattia",
    Role.KEYS: "sexe geschlecht geschl sexo sesso alter altersgruppe altersklasse edad eta naissance dnaiss "
    "ne nee geb gebdat geburt geburtsdatum geburtstag geburtsjahr nacimiento grosse groesse taille nuts "
    "nascita departement ville bundesland bezirk kreis gemeinde gemeindegrosse kommune wohnort stadt ciudad "
    "municipio provincia comune citta plz postleitzahl pays nationalite staatsangehorigkeit "
    "staatsangehoerigkeit staatsburgerschaft staatsbuergerschaft arbeitgeber kinder kinderzahl enfants hijos "
    "nacionalidad cittadinanza langue sprache diplome "
    "bildung familienstand famstand etatciv beruf metier ocupacion professione branche",
}
FOUND = {role: frozenset(f"{words} {ELSEWHERE.get(role, '')}".split()) for role, words in WORDS.items()}
NUMBERED = FOUND[Role.ID] | {"num", "key", "code", "index", "ref"}


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """What is known of a column; values only where they are common and do not identify."""

    name: str
    kind: str
    label: str
    different: int
    missing: int
    common: tuple[str, ...]
    role: Role | None
    reason: str = ""
    missing_codes: tuple[Any, ...] = ()  # values that may stand for a missing answer


@dataclass(frozen=True)
class Description:
    """What a file holds, column by column, with a role suggested for each and the intruders that follow.

    looked_at: how many records were looked at; the others of a file outside memory were only counted.
    """

    records: int
    columns: tuple[ColumnSummary, ...]
    intruders: tuple[Intruder, ...]
    looked_at: int

    @property
    def caution(self) -> str:
        """What a sample cannot tell; empty where all records were looked at."""
        if self.looked_at == self.records:
            return ""
        return (
            f"Looked at {self.looked_at:,} of {self.records:,} records: records and missing values are "
            "counted in the whole file, different and common values in this sample alone. It cannot tell "
            "whether ids differ in all records, nor which rare values and codes for missing answers exist."
        )

    @property
    def roles(self) -> dict[str, str | list[str]]:
        """The suggested roles as `sdckit.read` takes them."""
        found: dict[str, str | list[str]] = {}
        for role in Role:
            names = [c.name for c in self.columns if c.role is role]
            if names:
                found[role.value] = names[0] if role in SINGLE else names
        return found

    def __repr__(self) -> str:
        columns = count_of(len(self.columns), "column", "columns")
        lines = [f"{count_records(self.records)}, {columns}; the roles are suggestions"]
        lines += [self.caution] if self.caution else []
        width = max((len(c.name) for c in self.columns), default=0)
        for c in self.columns:
            facts = f"{c.kind}, {c.different:,} different, {c.missing:,} missing"
            if c.missing_codes:
                facts += f"; codes for missing? {', '.join(map(str, c.missing_codes))}"
            lines.append(
                f"  {c.name:<{width}}  {c.role or '–':<9}  {facts}{f'; {c.reason}' if c.reason else ''}"
            )
        lines += [f"  {intruder!r}" for intruder in self.intruders]
        return "\n".join(lines)


def describe(data: Microdata) -> Description:
    """What a file holds, and the role each column could have, with the reason.

    Roles are guessed from names, labels and values, at most one column where a role takes one: you decide.
    No value of a column that may identify is shown, and of others only what several records have. Of a file
    on DuckDB or Spark some 200,000 records are looked at, and the description says what they cannot tell.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": ["f", "m"] * 20, "income": [i * 7.5 for i in range(40)]}))
    >>> sdc.describe(data).roles
    {'keys': ['sex'], 'numeric': ['income']}
    """
    require_microdata(data, "describe")
    seen = records_looked_at(data)
    found: list[ColumnSummary] = []
    frame = seen.frame
    counts = _different_values(frame)
    for name in data.columns:
        series, different = frame[name], counts[name]
        label = data.labels.variables.get(name, "")
        facts = _facts(series, different, seen, data.labels)
        role, reason = _suggested(series, facts, name, label)
        if role in SINGLE and role in [c.role for c in found]:
            role, reason = (Role.DIRECT, "a second number of records") if role is Role.ID else (None, "")
        found.append(
            ColumnSummary(name, _kind(series), label, different, seen.missing[name], (), role, reason)
        )
    if not any(c.role is Role.KEYS for c in found):  # names in another language: what looks like categories
        found = [
            replace(c, role=Role.KEYS, reason="few different values")
            if c.role is None and is_categorical(c, data)
            else c
            for c in found
        ]
    columns = tuple(
        replace(c, common=_common(c, frame, data), missing_codes=_missing_codes(c, frame, data))
        for c in found
    )
    done = Description(seen.records, columns, (), frame.height)
    return replace(done, intruders=default_intruders(Microdata.of(frame, **_usable(done.roles)).roles))


def _different_values(frame: pl.DataFrame) -> dict[str, int]:
    """How many different values each column has; 0 for lists, which are not counted."""
    flat = [c for c, kind in frame.schema.items() if not kind.is_nested()]
    counts = frame.select(pl.col(flat).drop_nulls().n_unique()).row(0) if flat else ()
    return {**dict.fromkeys(frame.columns, 0), **dict(zip(flat, counts, strict=True))}


def _usable(roles: Mapping[str, Any]) -> dict[str, Any]:
    """The roles from which intruders follow: others, such as weights, may still be refused."""
    return {n: v for n, v in roles.items() if n in ("keys", "numeric", "sensitive", "weight", "household")}


class _Facts(NamedTuple):
    """What the values of a column are like."""

    number: bool
    whole: bool
    complete: bool
    unique: bool
    nearly_unique: bool  # of all records
    free: bool  # text that nearly every record that has one has for itself
    different: int
    labelled: bool
    of_sample: str  # said of what was not looked at in all records


def _facts(series: pl.Series, different: int, seen: RecordsLookedAt, labels: Labels) -> _Facts:
    complete = not seen.missing[series.name]
    return _Facts(
        series.dtype.is_numeric(),
        _is_whole(series),
        complete,
        complete and different == len(series),
        different >= max(FEWEST, DIFFERENT * len(series)),
        series.dtype == pl.String and different >= max(FEWEST, DIFFERENT * series.count()),
        different,
        _has_labels(series, different, labels),
        " of the sample" if seen.is_sample else "",
    )


def _suggested(series: pl.Series, facts: _Facts, name: str, label: str) -> tuple[Role | None, str]:
    """A role and the reason for it."""
    if facts.different < 2:
        return None, ""
    words, source = _words_of(name, label)
    named = {role for role in FOUND if words & FOUND[role]}
    telling = {word for word in words if len(word) > 2}  # not the "de" of "numéro de ménage"
    if not words & NUMBERED and not telling <= FOUND[Role.HOUSEHOLD]:
        named -= {Role.HOUSEHOLD}  # what a household has, such as hh_income
    return _by_design(series, facts, named, source) or _by_content(series, facts, named, source)


def _is_whole(series: pl.Series) -> bool:
    """Whether all values are whole numbers, also where the file holds them with decimals, as SPSS does."""
    if not series.dtype.is_float():
        return series.dtype.is_integer()
    there = series.drop_nulls()
    return bool((there.is_finite() & (there == there.round())).all())


def _has_labels(series: pl.Series, different: int, labels: Labels) -> bool:
    """Whether the values are codes with labels: most have one, not only a code for a missing answer."""
    texts = labels.values.get(series.name, {})
    return bool(texts) and 2 * len(texts) >= different


def _by_design(series: pl.Series, facts: _Facts, named: set[Role], source: str) -> tuple[Role, str] | None:
    """Weights, strata, clusters, households and ids, which both their names and their values tell."""
    positive = facts.number and facts.complete and bool((series > 0).all())
    if Role.WEIGHT in named and positive and not facts.labelled:
        return Role.WEIGHT, f"{source}, and all{facts.of_sample} are positive numbers"
    for role in (Role.STRATA, Role.CLUSTER):
        if role in named:
            return role, source
    groups = facts.complete and facts.different >= FEWEST and Role.KEYS not in named
    if Role.HOUSEHOLD in named and groups:
        return Role.HOUSEHOLD, f"{source}, and it is never missing"
    if facts.unique and Role.ID in named and (facts.whole or series.dtype == pl.String):
        return Role.ID, f"{source}, and no two records{facts.of_sample} have the same"
    return None


def _by_content(series: pl.Series, facts: _Facts, named: set[Role], source: str) -> tuple[Role | None, str]:
    """Direct identifiers, sensitive values, keys and numbers."""
    if Role.DIRECT in named and Role.KEYS not in named:
        return Role.DIRECT, source
    if is_date(series.dtype):
        if Role.KEYS in named:
            return Role.KEYS, "a date that people know; recode it to the year"
        return None, "a date; a key if somebody may know it, then recode it to the year or month"
    few_words = (facts.nearly_unique or facts.free) and words_among_numbers(series)
    if facts.nearly_unique and not facts.number and not few_words:  # free text
        return Role.DIRECT, f"nearly every record{facts.of_sample} has a value of its own"
    for role in (Role.SENSITIVE, Role.KEYS):
        if role in named:
            return role, source
    if few_words:
        return None, "numbers but for a few words: declare these missing, and make it a number"
    if facts.free:
        return Role.DIRECT, f"text, and nearly every one{facts.of_sample} is another"
    many = facts.different > CODES or not facts.whole
    finite = facts.number and (facts.whole or bool(series.drop_nulls().cast(pl.Float64).is_finite().all()))
    if finite and many and not facts.labelled:
        return Role.NUMERIC, "numbers with many different values" if facts.whole else "numbers with decimals"
    return None, ""


def _words(text: str) -> set[str]:
    """The words of a name or label, without accents.

    >>> sorted(_words("HouseholdSize_2"))
    ['household', 'size']
    >>> _words("Région")
    {'region'}
    >>> sorted(_words("HH-Größe"))
    ['grosse', 'hh']
    """
    letters = unicodedata.normalize("NFKD", text)
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain).casefold()))


def _words_of(name: str, label: str) -> tuple[set[str], str]:
    """The words that tell what a column is, and whether they are of its name or of its label.

    >>> _words_of("Geschl.", "Sex"), _words_of("gdr", "Sex")
    (({'geschl'}, 'its name'), ({'sex'}, 'its label'))
    """
    words = _words(name)
    if not label or any(words & known for known in FOUND.values()):
        return words, "its name"
    told = _words(label)
    telling = max(map(len, words), default=0) >= NAME
    return (words, "its name") if telling and len(told) > LABEL else (told, "its label")


def is_commonly_known(name: str, label: str = "") -> bool:
    """Whether a column is called what others know of a person, as sex, age, region or occupation.

    >>> is_commonly_known("Région (code)"), is_commonly_known("disease of old age")
    (True, False)
    >>> is_commonly_known("q7"), is_commonly_known("q7", "Age in years")
    (False, True)
    """
    words, _ = _words_of(name, label)
    return bool(words & FOUND[Role.KEYS]) and not words & FOUND[Role.SENSITIVE]


def is_age(name: str) -> bool:
    """Whether a column is called an age.

    >>> is_age("Age (years)"), is_age("age_group")
    (True, True)
    """
    return "age" in _words(name)


def is_categorical(column: ColumnSummary, data: Microdata) -> bool:
    """Whether the values of a column look like categories: few, or with labels."""
    return 2 <= column.different <= max(CODES, len(data.labels.values.get(column.name, ())))


def _common(column: ColumnSummary, frame: pl.DataFrame, data: Microdata) -> tuple[str, ...]:
    """The most frequent values of a column that does not identify, where several records have them."""
    if column.role not in (None, Role.KEYS, Role.SENSITIVE, Role.STRATA) or not is_categorical(column, data):
        return ()
    values = frame[column.name].drop_nulls().alias("value")  # a column may be called anything
    counts = values.value_counts(sort=True, name="of records").head(SHOWN)
    return tuple(data.labels.text(column.name, value) for value, n in counts.rows() if n >= OFTEN)


def _missing_codes(column: ColumnSummary, frame: pl.DataFrame, data: Microdata) -> tuple[Any, ...]:
    """Values that may stand for a missing answer: as a codebook says, else guessed, and then none of a column
    that identifies.
    """
    declared = data.reading.declared_missing.get(column.name, ())
    if declared:
        held = set(frame[column.name].drop_nulls().unique().to_list())
        return tuple(code for code in declared if code in held)
    if column.role in (Role.DIRECT, Role.ID, Role.HOUSEHOLD, Role.WEIGHT):
        return ()
    return missing_codes(frame[column.name], data.labels)


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
