"""Attribute inference: what an informed intruder learns of sensitive values, beyond what is known anyway."""

from collections.abc import Sequence
from math import isnan, nan
from typing import Annotated, Any

import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Floats, Ints
from sdckit._support.messages import join_names
from sdckit._support.progress import Progress
from sdckit.data.common_columns import is_continuous
from sdckit.data.intruder import Intruder, Unit, default_intruders
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.data.text_codes import TextCodes, common_codes, text_codes
from sdckit.data.values import is_date, texts
from sdckit.methods.options import SENSITIVE, Option, SensitiveColumns
from sdckit.methods.recoding import in_categories_of
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Compares, records, share
from sdckit.models.attribute_inference import AttributeInference
from sdckit.models.category_inference import infer_category
from sdckit.models.number_inference import infer_number
from sdckit.models.number_intruder import draw_targets
from sdckit.risk._alike_numbers import AlikeNumbers
from sdckit.risk._alike_records import AlikeCategories, mostly_shown
from sdckit.risk._hidden_together import hidden_together
from sdckit.risk._inferred import most_of, nothing, of_chances, of_guesses
from sdckit.risk._known_values import (
    FEW,
    CountedPairs,
    KnownKeys,
    LinkedFiles,
    changed_like_numbers,
    known_columns,
)
from sdckit.risk._moved_dates import has_no_useful_zero, on_relative_scale
from sdckit.risk._multiple_answers import answers, columns_of_answers
from sdckit.risk._nearest_guess import guess_categories, guess_numbers, with_composition
from sdckit.risk._outcome import Outcome
from sdckit.risk._own_record_guess import guess_from_own_category, guess_from_own_number
from sdckit.risk._unlinked_inference import SCHEMA, unlinked_inference
from sdckit.risk._usual_values import infer_usual, usual_of_records
from sdckit.risk.reidentification_risk import Holdout, Intruders, Linked, Sure, attack

TARGETS = 1_000  # persons of whom sensitive numbers are inferred
ByKeys = dict[tuple[KnownKeys, str, int], dict[str, float]]  # kept for the next intruder with these keys

Within = Annotated[
    float,
    Field(gt=0, lt=1),
    Option("Numbers inferred to within", "How near a sensitive number must be, relative to the true one."),
]


@risk(
    "Inference of sensitive values",
    family="Attacks",
    bounds=(0, 1),
    unit="share of persons",
    share=True,
    needs=Role.SENSITIVE,
    compares=Compares.DISTRIBUTIONS,
    judges=True,
    section="intruder",
    main="sensitive",
    figures={
        "guess_right": share("Persons whose value is guessed right"),
        "baseline": share("Guessed right without the file", better=Better.NEITHER),
        "inferred": records("Persons whose value is inferred with near certainty"),
        "by_own_record": records("Of these, because their own record is in the file"),
        "upper": share("Persons whose value is inferred, at most"),
        "among_others": share("The same attack on people who were not in the file"),
    },
    reference="Duncan & Lambert (1989); Machanavajjhala et al. (2007); Giomi et al. (2023)",
    interpretation=(
        "An intruder knows the keys of a person and how the file was protected, and weighs the sensitive "
        "values "
        "of all records that may be theirs. The value is the share of persons whose true value gets a "
        "probability of 90 % or more, though it is not that common in the whole file. Groups in which all "
        "have "
        "the same value give it away without anybody being found. 0: nothing can be inferred beyond what "
        "everybody knows."
    ),
)
def attribute_inference(
    original: Microdata,
    protected: Microdata,
    *,
    intruders: Intruders = None,
    sensitive: SensitiveColumns = SENSITIVE,
    within: Within = 0.1,
    sure: Sure = 0.9,
    holdout: Holdout = None,
    linked: Linked = True,
    progress: Progress,
) -> Result:
    r"""The share of persons whose sensitive value an intruder infers who could not have guessed it.

    With the posterior ρ of `reidentification_risk` and b(s|z) the share of true values s among the records
    that show z, the intruder gives the value s of person i the probability

    .. math:: q_i(s) = \sum_j \rho_{ij}\, b(s \mid z_j)

    **value**: of the most dangerous intruder and sensitive variable, the share of persons with
    q_i(true) ≥ `sure` whose true value has a smaller share than that in the whole file. For
    a number q is the probability of values within the part `within` of the true one or, for numbers that lie
    farther from 0 than from each other, as years do, or on both sides of 0, of the range of nine in ten; the
    more is inferred of the two. Released numbers are taken as they are: after noise a person whose number is
    as near as that counts, although the intruder is less sure of it. It is asked for at most 1,000 persons.
    figures: guess_right (the likeliest value is the true one), baseline (share of the most frequent value),
    inferred (persons), by_own_record (those of them of whom he would not be so sure had they not taken part),
    upper (the largest share that a variable may have where not all persons were asked: two standard errors
    and three persons more). tables: `sensitive`, a row for each intruder and variable.
    Where a category or a number was changed or blanked, an intruder also takes what the records with a
    person's released keys, or with some of them, mostly show; how often such values are true is learned from
    all records and, of the strongest set of keys, from all persons.
    An answer that stands in a list in one text column, or in one of several with the same answers, as one of
    five diagnoses, is asked for wherever it stands.
    Intruders who know numbers, too, ask the records nearest to what they know, in files of more than 5,000
    persons for 2,000 of them, and read what stands in a record that they are sure is the person's; those who
    know households ask records in households alike. What the keys alone tell counts for both, too. Where one
    attack is too large to be made, the value is nan.

    **Synthetic and unlinked files** (`linked=False`): the intruder takes the released records that differ in
    the fewest keys. `holdout` are people of the same population who were not in the original: the value is
    how much more often he is sure and right about people of the original than about them (among_others);
    upper takes the lower end of Wilson's 95 % interval of theirs, as few people show roughly what is chance.
    Without it there is nothing to compare with, and the value is nan.

    Weights: not used. Missing: persons whose true value is missing are not counted; a missing key is a value.
    Reference: Duncan & Lambert (1989).

    >>> import polars as pl, sdckit as sdc
    >>> frame = pl.DataFrame({"region": list("aaaaabbbbb"), "ill": [1, 1, 1, 1, 1, 0, 1, 0, 1, 0]})
    >>> data = sdc.read(frame, keys="region", sensitive="ill")
    >>> sdc.risk.attribute_inference(data, data).value
    0.5
    """
    chosen = tuple(intruders) if intruders is not None else default_intruders(original.roles)
    people = _different(original, chosen)
    there = [c for c in sensitive if c in protected.columns]
    lost = tuple(c for c in sensitive if c not in there)
    if not people:
        return Result(nan, notes=("No intruder knows anything.",), lost=lost)
    if not there:
        return Result(0.0, notes=("The protected file has no sensitive column left.",), lost=lost)
    files = LinkedFiles.of(original, protected) if linked else None
    if files is None:
        return unlinked_inference(original, protected, holdout, people, there, sure)
    rows: list[dict[str, Any]] = []
    by_keys: ByKeys = {}
    for position, intruder in enumerate(people):
        progress(f"inference by {intruder.name}", position, len(people))
        rows += [_row(files, intruder, column, within, sure, by_keys) for column in there]
        groups = columns_of_answers(original, protected, there)
        rows += [_row_of_answers(files, intruder, columns, sure) for columns in groups]
    return _result(rows, lost)


def _different(data: Microdata, intruders: Sequence[Intruder]) -> list[Intruder]:
    """The intruders who know different things; whether the person is in the file does not matter here."""
    known = {}
    for one in reversed(intruders):
        keys, numbers = one.known(data)
        known[(keys, tuple(numbers.items()), one.unit)] = one
    return list(known.values())[::-1]


def _row(
    files: LinkedFiles, intruder: Intruder, column: str, within: float, sure: float, by_keys: ByKeys
) -> dict[str, Any]:
    """What one intruder infers of one variable; nan where there is too much to look at.

    Who knows numbers or households, too, knows what the keys alone tell.
    """
    known, numbers = known_columns(intruder, files)
    names = [c for c in known if c != column]
    alone = KnownKeys.of(files, names)
    together = with_composition if intruder.unit is Unit.HOUSEHOLD else _unchanged
    keys = together(files, alone)
    numbers = {c: error for c, error in numbers.items() if c != column}
    moved = [] if numbers else changed_like_numbers(files, alone, CountedPairs.of(files, alone))
    # ages with noise and dates that were shifted: the nearest records tell more than equal ones
    fewer = together(files, alone.only([c for c in alone.names if c not in moved])) if moved else keys
    rows = []
    for scale, (first, second) in enumerate(_scales(files, column)):
        if numbers or moved:
            near = numbers or dict.fromkeys(moved, 0.0)
            rows.append(_by_neighbours(files, fewer, near, first, second, within, sure))
        if keys.names or not numbers:
            for some in dict.fromkeys((alone, keys)):  # the same one where no household is known
                what = (some, column, scale)
                if what not in by_keys:
                    by_keys[what] = _by_keys(files, some, first, second, within, sure)
                rows.append(by_keys[what])
        if moved or numbers:  # the nearest five may differ, and yet the first of them be the person's
            who = Intruder(intruder.name, names, in_file=intruder.in_file, numbers=numbers)
            rows.append(_of_found(files, attack(files, who, TARGETS), first, second, within, sure))
    return {"intruder": intruder.name, "sensitive": column} | most_of(rows)


def _row_of_answers(
    files: LinkedFiles, intruder: Intruder, columns: Sequence[str], sure: float
) -> dict[str, Any]:
    """What one intruder infers of an answer that may stand in any of several columns."""
    known, numbers = known_columns(intruder, files)
    keys = KnownKeys.of(files, [c for c in known if c not in columns])
    rows = [nothing() | {"share": 0.0, "upper": 0.0}]
    for first, second in answers(files.original, files.protected, columns):
        true, shown = (x.cast(pl.Int64).fill_null(-1).to_numpy() for x in (first, second))
        if numbers:
            rows.append(of_guesses(guess_categories(files, keys, numbers, true, shown, sure)))
        if keys.names or not numbers:
            rows.append(_of_category(files, keys, true, shown, 2, sure))
    return {"intruder": intruder.name, "sensitive": f"an answer in {join_names(columns, 3)}"} | most_of(rows)


def _scales(files: LinkedFiles, column: str) -> list[tuple[pl.Series, pl.Series]]:
    """Both columns as they are and, where relative errors mean little, with one that is part of their range.

    Dates have no 0, and a tenth of a year of birth, or of a pressure, is more than all of them differ.
    """
    first, second = files.original.frame[column], files.protected.frame[column]
    if is_date(first.dtype) and is_date(second.dtype) and first.n_unique() > FEW:
        return [on_relative_scale(first, second)]
    scales = [(first, second)]
    numbers = is_continuous(first, files.original) and second.dtype.is_numeric()
    if numbers and has_no_useful_zero(first):
        scales.append(on_relative_scale(first, second))
    return scales


def _unchanged(files: LinkedFiles, keys: KnownKeys) -> KnownKeys:
    return keys


def _by_keys(
    files: LinkedFiles, keys: KnownKeys, first: pl.Series, second: pl.Series, within: float, sure: float
) -> dict[str, float]:
    """What is inferred from the keys of a person alone."""
    column = first.name
    if is_continuous(first, files.original) and second.dtype.is_numeric():
        return _of_number(files, keys, first, second, within, sure)
    alike, recoded = in_categories_of(files.protected, files.original, [column])
    image = text_codes(alike.frame[column]) if recoded else _codes_of(files.original, column)
    moved = is_date(files.protected.frame.schema[column])  # may be on another scale
    shown_codes = text_codes(second) if moved else _codes_of(files.protected, column)
    (true, of_records), size = common_codes(image, shown_codes)
    return _of_category(files, keys, true, of_records, size, sure)


def _of_category(
    files: LinkedFiles, keys: KnownKeys, true: Ints, of_records: Ints, size: int, sure: float
) -> dict[str, float]:
    """What is inferred of a category: codes of the persons' true values, and of what records show.

    Where values were changed or blanked, what records with the same keys mostly show may tell more.
    """
    alone = _of_codes(files, keys, true, of_records, size, sure)
    linked = files.own >= 0
    if isnan(alone["share"]) or np.array_equal(true[linked], of_records[files.own[linked]]):
        return alone
    alike, many = mostly_shown(keys.released, of_records, size)
    persons, records = (np.where(codes < 0, nan, codes) for codes in (true, of_records))
    column = AlikeCategories(records, persons, max(size, 1))
    usual = usual_of_records(files, keys, persons, column, sure)
    codes = np.nan_to_num(usual, nan=-1).astype(np.int64)
    found = [_of_codes(files, keys, true, *what, sure) for what in ((alike, max(size, many)), (codes, size))]
    if (merged := hidden_together(true, of_records, files.own, size, sure)) is not None:
        found.append(_of_codes(files, keys, *merged, sure))
    return most_of([alone, *found, of_guesses(infer_usual(files, keys, persons, column, sure))])


def _of_codes(
    files: LinkedFiles, keys: KnownKeys, true: Ints, of_records: Ints, size: int, sure: float
) -> dict[str, float]:
    """What codes of records tell of true values, as often as they do so in the whole file."""
    n = files.original.height
    shown = np.where(files.own >= 0, of_records[np.maximum(files.own, 0)], -1)
    counted = CountedPairs.of(files, keys, true * (size + 2) + shown + 1)
    rows = np.zeros(len(counted.pairs.count), dtype=np.int64)
    rows[counted.cell] = np.arange(n)
    found = infer_category(counted.pairs, true[rows], shown[rows], max(size, 1), counted.channels)
    return of_chances(found, sure, 1.0) if isinstance(found, AttributeInference) else nothing()


def _by_neighbours(
    files: LinkedFiles,
    keys: KnownKeys,
    numbers: dict[str, float],
    first: pl.Series,
    second: pl.Series,
    within: float,
    sure: float,
) -> dict[str, float]:
    """What an intruder infers who knows numbers, too: from the records nearest to what is known."""
    if is_continuous(first, files.original) and second.dtype.is_numeric():
        return of_guesses(guess_numbers(files, keys, numbers, first, second, within, sure))
    moved = is_date(first.dtype) or is_date(files.original.frame.schema[first.name])  # on another scale
    both = (
        (text_codes(first), text_codes(second))
        if moved
        else (_codes_of(files.original, first.name), _codes_of(files.protected, first.name))
    )
    (true, shown), _ = common_codes(*both)
    return of_guesses(guess_categories(files, keys, numbers, true, shown, sure))


def _codes_of(data: Microdata, column: str) -> TextCodes:
    return data.column_fact("codes", column, text_codes)


def _of_found(
    files: LinkedFiles, outcome: Outcome, first: pl.Series, second: pl.Series, within: float, sure: float
) -> dict[str, float]:
    """What an intruder infers of whom he finds: the value of their own record."""
    if is_continuous(first, files.original) and second.dtype.is_numeric():
        return of_guesses(guess_from_own_number(files, outcome, first, second, within, sure))
    return of_guesses(guess_from_own_category(files, outcome, texts(first), texts(second), sure))


def _of_number(
    files: LinkedFiles, keys: KnownKeys, first: pl.Series, second: pl.Series, within: float, sure: float
) -> dict[str, float]:
    """What is inferred of a number; where it was changed, also from what records with the same keys show."""
    true, released = (c.cast(pl.Float64).fill_null(nan).to_numpy() for c in (first, second))
    alone = _of_shown(files, keys, true, released, within, sure)
    linked = files.own >= 0
    own = files.own[linked]
    if isnan(alone["share"]) or np.array_equal(true[linked], released[own], equal_nan=True):
        return alone
    column = AlikeNumbers(released, true, within)
    alike = usual_of_records(files, keys, true, column, sure)
    found = _of_shown(files, keys, true, alike, within, sure)
    return most_of([alone, found, of_guesses(infer_usual(files, keys, true, column, sure))])


def _of_shown(
    files: LinkedFiles, keys: KnownKeys, true: Floats, released: Floats, within: float, sure: float
) -> dict[str, float]:
    """What numbers of records tell of true ones, of persons drawn at random."""
    shown = np.where(files.own >= 0, released[np.maximum(files.own, 0)], nan)
    counted = CountedPairs.of(files, keys, np.arange(len(true)))  # a pair for each person
    order = np.empty(len(true), dtype=np.int64)
    order[counted.cell] = np.arange(len(true))
    targets = draw_targets(files.identity[order], min(TARGETS, len(true)), files.draws())
    found = infer_number(
        counted.pairs, true[order], shown[order], within=within, rows=targets, channels=counted.channels
    )
    scale = len(true) / max(len(targets), 1)
    return of_chances(found, sure, scale) if isinstance(found, AttributeInference) else nothing()


def _result(rows: Sequence[dict[str, Any]], lost: tuple[str, ...]) -> Result:
    table = pl.DataFrame(rows, schema=SCHEMA)
    notes = []
    unknown = [row["sensitive"] for row in rows if isnan(row["upper"])]
    if unknown:
        notes.append(f"Could not be judged: {join_names(dict.fromkeys(unknown))}.")
    judged = [row for row in rows if not isnan(row["share"])]
    if not judged or unknown:
        return Result(
            nan, parts=table, notes=(*notes, "Too many key combinations, or no true value."), lost=lost
        )
    worst = max(judged, key=lambda row: row["share"])
    names = ("guess_right", "baseline", "inferred", "by_own_record")
    note = f"Most is inferred of {worst['sensitive']} by {worst['intruder']}."
    return Result(
        worst["share"],
        {**{name: worst[name] for name in names}, "upper": max(row["upper"] for row in judged)},
        table,
        (*notes, note),
        {"sensitive": table},
        lost=lost,
    )
