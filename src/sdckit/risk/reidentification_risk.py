"""Re-identification risk: what an informed intruder really finds, after any protection."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, isnan, nan
from typing import Annotated, Any

import numpy as np
import polars as pl
from pydantic import BeforeValidator, Field, WithJsonSchema

from sdckit._support.messages import join_names
from sdckit._support.number_text import percent
from sdckit._support.progress import Progress
from sdckit.data.effects import merged
from sdckit.data.intruder import Intruder, Unit, default_intruders, intruders_of
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.written_numbers import written_out
from sdckit.methods.file_option import TableOption
from sdckit.methods.options import Option
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Compares, Figure, records, share
from sdckit.models.key_intruder import KeyAttack, attack_keys
from sdckit.risk._engine_pairs import EnginePairs, engine_pairs
from sdckit.risk._held_back import held_back_problem
from sdckit.risk._household_attack import household_outcome
from sdckit.risk._key_attack import attack_by_keys
from sdckit.risk._known_values import (
    CountedPairs,
    KnownKeys,
    LinkedFiles,
    changed_like_numbers,
    known_columns,
)
from sdckit.risk._moved_dates import parts_of_moved_dates
from sdckit.risk._moved_to_few import moved_to_few
from sdckit.risk._new_records_attack import WHOLE_RECORDS, attack_new_records
from sdckit.risk._number_attack import ALL, Case, by_numbers, not_learned, persons_attacked
from sdckit.risk._outcome import Outcome, unknown_row
from sdckit.risk._own_records import own_records

FIGURES = (
    "expected_links",
    "believed",
    "standard_error",
    "claims",
    "claims_right",
    "expected_reidentifications",
)
KEPT_PERSONS = 10_000  # of so many persons at most what is found is kept
NO_LINK = "Nothing tells which record was made from which person, so that re-identification is not defined."
NO_ID = "Outside memory records are linked by their id, and no column of the original has the role id."

Intruders = Annotated[
    Sequence[Any] | None,
    BeforeValidator(lambda given: None if given is None else intruders_of(given)),
    WithJsonSchema({"type": "object", "format": "intruders"}),
    Option(
        "Intruders",
        "Who might attack: what they know of a person, how exactly, and whether they know that the person is "
        "in the file.",
        absent="a neighbour, an insider, a register where there are numbers, and one who knows a household",
    ),
]
Sure = Annotated[
    float,
    Field(gt=0, le=1),
    Option("Sure from", "The probability from which on an intruder claims to have found a person."),
]
Targets = Annotated[
    int,
    Field(ge=1),
    Option(
        "Persons attacked",
        f"How many persons, drawn at random, are attacked by numbers in files of more than {ALL:,} persons.",
    ),
]
Holdout = Annotated[
    TableOption | None,
    Option(
        "Records held back",
        "People of the same population who were not in the original, for files without a link to it.",
        basic=True,
        absent="nobody to compare with",
    ),
]
Linked = Annotated[
    bool, Option("Records belong together", "Whether each record was made from one person of the original.")
]


@risk(
    "Re-identification risk",
    family="Attacks",
    bounds=(0, 1),
    unit="share of persons",
    share=True,
    compares=Compares.PERSONS,
    engines="all",
    judges=True,
    figures={
        "expected_links": records("Persons found by their best guess"),
        "believed": records("Persons the intruder believes to have found"),
        "standard_error": Figure("Standard error of the value", bounds=(0, 1)),
        "claims": records("Persons claimed by an intruder who is sure"),
        "claims_right": records("Claims that are right"),
        "expected_reidentifications": records("Expected re-identifications"),
        "come_back": share("Persons with a record that can be nobody else's (new records)"),
        "among_others": share(
            "The same of people who were not in the original (new records)", better=Better.NEITHER
        ),
        "in_some_columns": share("Persons who surely come back in some columns, beyond others (new records)"),
    },
    section="intruder",
    reference="Fellegi & Sunter (1969); Duncan & Lambert (1989); Reiter (2005); Skinner & Shlomo (2008)",
    interpretation=(
        "An intruder knows the true values of a person and how the file was protected, and picks the record "
        "that fits best. The value is the share of persons for whom the pick is right, counted by the data "
        "holder, who knows whose record each is. 0.01: one person in a hundred is found. It means the same "
        "after every protection. Where all records were drawn anew nobody has a record: then the pick is "
        "right if its whole content is the person's and can be nobody else's."
    ),
)
def reidentification_risk(
    original: Microdata,
    protected: Microdata,
    *,
    intruders: Intruders = None,
    sure: Sure = 0.9,
    targets: Targets = 1000,
    holdout: Holdout = None,
    linked: Linked = True,
    progress: Progress,
) -> Result:
    r"""The share of persons whom an intruder finds who knows their true values and how the file was made.

    The intruder knows for each variable how likely every true value becomes every released one, m(y|x),
    not the random draws. With L_ij = Π_v m_v(y_jv | x_iv) for person i and record j,

    .. math:: U_j = \sum_l L_{lj}, \qquad s_{ij} = L_{ij}/U_j, \qquad
       \rho_{ij} = \frac{s_{ij}/(1-s_{ij})}{\sum_k s_{ik}/(1-s_{ik})}

    he picks the record with the largest share s; among equals at random. **value**: the mean, over persons,
    of the chance that the pick is right. Several attacks are tried (shares, the likelihood alone and, with
    numbers, a normal kernel and the nearest record); the strongest counts. Numbers known exactly are
    also tried by what a change left as it was: the remainder where they moved by multiples of a step, ratios,
    products, sums and differences of two, all of them as logarithms where their factors depend on each other,
    and the few numbers that one can have become by one of a few amounts or factors. Because the outcome is
    counted, a poor model of the protection makes a weaker attack, never a wrong number. m is learned from the
    true pairs with few parameters, so that no single pair leaves a trace; maps (recoding) come from the log.
    In files of fewer than some hundred persons all pairs together do: what was drawn is then known better
    than from the probabilities, and after random steps the value is too high. PRAM (0.4 to stay): 0.27 of 7
    persons, 0.12 of 15, 0.023 of 60, where the best of all attacks with the true probabilities is right for
    0.16, 0.07 and 0.019.

    For an intruder who does not know that the person is in the file (`in_file: false`) the survey weights
    count: r = R(|T|, W), the individual risk of the set T of best records with weight W, where the own record
    is in T. Unprotected and recoded files then have exactly their `individual_risk`. Numbers known to such an
    intruder count as if he knew that the person is in the file.

    Of several intruders the value is that of the most dangerous one on the axis of a map, of the default ones
    the neighbour; a note says who else finds more. figures, of the same intruder: expected_links, believed
    (what he thinks to have found), standard_error (of one draw of the protection, and of the sample of
    persons attacked), claims (persons of whom he is at least `sure`) and claims_right,
    expected_reidentifications. tables: `intruders`, a row each. parts: a row for each person and intruder:
    found, posterior, believed, claimed.

    **Files of new records** (full synthesis, or `linked=False`): no record was made from one person, so that
    there is nothing to link. Then a record is a person's if it can be nobody else's: with d the number of
    columns in which two records differ (numbers by the part of the original between them), over the keys,
    numeric and sensitive columns of both files, in the categories of the released one,

    .. math:: d(x_i, y_j) \le \tfrac1{10} \min_{l:\, d(x_i, x_l) > 0} d(x_i, x_l).

    One column, that with which most come back, may be left aside, so that a junk column hides nobody; of
    several records that are one person's one counts, so that copies dilute nothing. The attacks are those
    above on this link, and whose record does not come back is not found. On a copy of the original the value
    is that of the linked copy. It says that a whole record comes back, not that a person was traced: other
    people of the same population come back now and then, too. `come_back` is the share of persons with such
    a record, `among_others` the same of `holdout`. `in_some_columns`: the columns are sought in which most
    persons come back, beyond others (without any: one half of the original in the other), so that columns
    renamed or drawn anew hide nobody; the excess less three standard errors. The same is sought where
    columns have another distribution with each file by its own frequencies and ranks (other names, other
    units), by ratios of numbers and days between dates (one factor, one shift), and for persons and records
    nearest to each other (noise), also among those who agree in some columns; the largest counts. Members of
    households are attacked one by one, and where the file has the household, a household whose members all
    come back together counts as found.

    Weights: only for intruders who do not know who is in the file; always those of the original. Missing
    values: a missing true key is a value of its own, a suppressed one a released value of its own; of a
    missing true number nothing is known. Persons whose record was left out count, as not found, only for who
    does not know who is in the file. Without a link between files of the same people the value is nan. In
    large files only `targets` persons are attacked by numbers, and the standard error says so; those who
    stand farthest from all others are attacked as well, and count among the claims. Households that the file
    shows are attacked by the keys of all members and, where an intruder knows their numbers, by the household
    that is nearest in all of these.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": list("ffmm"), "age": [30, 30, 30, 80]}), keys=["sex", "age"])
    >>> sdc.risk.reidentification_risk(data, data).value
    0.75
    """
    chosen = tuple(intruders) if intruders is not None else default_intruders(original.roles)
    for intruder in chosen:
        intruder.known(original)
    if not chosen:
        return Result(nan, notes=("No column has the role keys or numeric: an intruder knows nothing.",))
    if original.engine != "polars":
        return _on_engine(original, protected, chosen, sure)
    files = LinkedFiles.of(original, protected) if linked else None
    if files is None:
        if linked and not merged(e.effects for e in protected.steps_since(original)).new_records:
            return Result(nan, notes=(NO_LINK,))
        return _of_new_records(original, protected, chosen, sure, targets, holdout)
    outcomes = []
    for position, intruder in enumerate(chosen):
        progress(f"intruder {intruder.name}", position, len(chosen))
        found = attack(files, intruder, targets).of_those_in(files.own >= 0)
        rough = parts_of_moved_dates(files, intruder.known(original).keys)
        outcomes.append(replace(found, not_judged=tuple(dict.fromkeys((*found.not_judged, *rough)))))
    return _result(files, outcomes, sure)


def _of_new_records(
    original: Microdata,
    protected: Microdata,
    intruders: Sequence[Intruder],
    sure: float,
    targets: int,
    holdout: Microdata | None,
) -> Result:
    """What intruders find in a file in which nobody has a record: whole records that come back."""
    problem = held_back_problem(original, protected, holdout) if holdout is not None else ""
    if problem:
        return Result(nan, notes=(problem,))
    asked = persons_attacked(LinkedFiles(original, protected, np.empty(0, dtype=np.int64)), targets)
    found = own_records(original, protected, holdout, asked)
    if found is None:
        return Result(nan, notes=("The files share no key, numeric or sensitive column.",))
    outcomes = [attack_new_records(found.files, intruder, targets) for intruder in intruders]
    result = _result(found.files, outcomes, sure)
    figures = {**result.figures, "come_back": found.come_back, "in_some_columns": found.in_some.surely}
    notes = [WHOLE_RECORDS]
    if found.left_aside:
        notes.append(f"{found.left_aside} was left aside: without it more records come back.")
    if found.in_some.surely > 0:
        where = f" in {join_names(found.in_some.columns)} alone" if found.in_some.columns else ""
        how = f", {found.in_some.how}" if found.in_some.how else ""
        notes.append(f"More come back than by chance{where}{how}.")
    if not isnan(found.among_others):
        figures["among_others"] = found.among_others
        notes.append(
            f"Compared with {holdout.height if holdout else 0:,} people who were not in the original."
        )
    return replace(result, figures=figures, notes=(*notes, *result.notes))


def attack(files: LinkedFiles, intruder: Intruder, targets: int) -> Outcome:
    """What one intruder finds; of few persons it is kept for what is read in the records found."""
    keys, numbers = known_columns(intruder, files)
    notes = _unseen(intruder, files)
    who = (keys, tuple(numbers.items()), notes, intruder.unit, intruder.in_file, targets)
    kept: Outcome | None = files.found.get(who)
    if kept is not None:
        return replace(kept, intruder=intruder)
    found = _attacked(files, intruder, targets, notes)
    if len(found.persons) <= KEPT_PERSONS:
        files.found[who] = found
    return found


def _attacked(files: LinkedFiles, intruder: Intruder, targets: int, notes: tuple[str, ...]) -> Outcome:
    keys, numbers = known_columns(intruder, files)
    known = KnownKeys.of(files, keys)
    if intruder.unit is Unit.HOUSEHOLD and files.original.roles.household is not None:
        person = replace(intruder, unit=Unit.PERSON)
        return household_outcome(
            files, intruder, known, numbers, notes, lambda: attack(files, person, targets)
        )
    counted = CountedPairs.of(files, known)
    case = Case(files, intruder, targets, notes)
    like_numbers = changed_like_numbers(files, known, counted)  # as ages with noise
    if like_numbers:
        fewer = known.only([c for c in known.names if c not in like_numbers])
        exactly = {**numbers, **dict.fromkeys(like_numbers, 0.0)}
        moved = by_numbers(case, fewer, CountedPairs.of(files, fewer), exactly)
        if any(not c.learnable for c in counted.channels):
            codes = [c for c in not_learned(known, counted) if written_out(files.original.frame[c])]
            few = moved_to_few(files, known, counted)
            return replace(moved, not_judged=(*moved.not_judged, *codes, *few))  # codes may have other names
        by_keys = attack_by_keys(case, known, counted, numbers)
        ways = sorted((moved, by_keys), key=lambda outcome: -float(outcome.found.mean()))
        return replace(ways[0].beside(ways[1]), not_judged=by_keys.not_judged)
    return attack_by_keys(case, known, counted, numbers)


def _on_engine(
    original: Microdata, protected: Microdata, intruders: Sequence[Intruder], sure: float
) -> Result:
    """What intruders who know keys find, from counts that the engine delivers; others need the records."""
    if original.roles.id is None:
        return Result(nan, notes=(NO_ID,))
    rows = []
    for intruder in intruders:
        keys, numbers = intruder.known(original)
        found = None
        if not numbers and intruder.unit is Unit.PERSON:
            found = engine_pairs(original, protected, keys)
            if found is None:
                return Result(nan, notes=(NO_LINK,))
        by_keys = None if found is None or found.tells_more else attack_keys(found.pairs, found.channels)
        if found is None or not isinstance(by_keys, KeyAttack):
            rows.append(unknown_row(intruder))
            continue
        rows.append(_counted_row(intruder, found, by_keys, sure))
    on_axis = [row for row in rows if row["on_axis"]] or rows
    first = max(on_axis, key=lambda row: inf if isnan(row["value"]) else row["value"])  # who may find most
    figures = {name: first[name] for name in FIGURES}
    table = pl.DataFrame(rows, infer_schema_length=None)
    unknown = sorted((row for row in rows if isnan(row["value"])), key=lambda row: row is first)
    notes = [f"{first['intruder']}: {first['knows']}.", *_found_by_others(rows, first)]
    notes += [f"What {row['intruder']} finds needs the records in memory." for row in unknown]
    return Result(first["value"], figures, None, tuple(notes), {"intruders": table})


def _counted_row(intruder: Intruder, found: EnginePairs, attack: KeyAttack, sure: float) -> dict[str, Any]:
    """The row of one intruder from counts, each of the persons with the same true and released keys."""
    journalist = not intruder.in_file and found.pairs.weight is not None
    chances = attack.found
    outcome = Outcome(
        intruder,
        np.arange(len(chances)),
        chances,
        attack.believed,
        chances,
        attack.risks() if journalist else chances,
        str(attack.strongest),
        round(attack.persons),
        not_judged=tuple(
            c for c, channel in zip(found.keys, found.channels, strict=True) if not channel.learnable
        ),
        count=found.pairs.count,
    )
    return outcome.of_those_in(found.pairs.in_file).row(sure)


def _unseen(intruder: Intruder, files: LinkedFiles) -> tuple[str, ...]:
    """A note on what the intruder knows that the protected file does not have."""
    known = intruder.known(files.original)
    gone = [c for c in (*known.keys, *known.numbers) if c not in files.protected.columns]
    return (f"The protected file no longer has {join_names(gone)}.",) if gone else ()


def _found_by_others(rows: Sequence[Mapping[str, Any]], first: Mapping[str, Any]) -> list[str]:
    """A note on the intruders who find more than the one whose risk is the value, as they are on no axis."""
    more = [f"{row['intruder']} ({percent(row['value'])})" for row in rows if row["value"] > first["value"]]
    if not more:
        return []
    return [f"The value is what {first['intruder']} finds; more is found by {join_names(more)}."]


def _result(files: LinkedFiles, outcomes: Sequence[Outcome], sure: float) -> Result:
    rows = [one.row(sure) for one in outcomes]
    on_axis = [i for i, one in enumerate(outcomes) if one.intruder.on_axis] or list(range(len(outcomes)))
    first = max(on_axis, key=lambda i: rows[i]["value"])
    ids = files.original.ids(beside=("intruder", "found", "posterior", "believed", "claimed"))
    parts = [
        pl.DataFrame(
            [
                ids.gather(one.persons),
                pl.repeat(one.intruder.name, len(one.persons), eager=True, dtype=pl.String).alias("intruder"),
                pl.Series("found", one.risks),
                pl.Series("posterior", one.posterior),
                pl.Series("believed", one.believed),
                pl.Series("claimed", one.claimed(sure)),
            ]
        )
        for one in [outcomes[first], *(o for i, o in enumerate(outcomes) if i != first)]
    ]
    notes = [f"{outcomes[first].intruder.name}: {outcomes[first].intruder.describe()}."]
    notes += _found_by_others(rows, rows[first])
    notes += [text for one in outcomes for text in one.notes]
    return Result(
        rows[first]["value"],
        {name: rows[first][name] for name in FIGURES},
        pl.concat(parts),
        tuple(dict.fromkeys(notes)),
        {"intruders": pl.DataFrame(rows, infer_schema_length=None)},
    )
