"""Whether released columns, or the order of the rows, tell what a step hid, and which."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import polars as pl

from sdckit._support.messages import join_names
from sdckit._support.number_text import count_of
from sdckit.choose.criteria import Criterion, Status
from sdckit.choose.place import FILE, Place
from sdckit.choose.release_case import ReleaseCase, ask_it
from sdckit.data.result import Result
from sdckit.engine import frames

NAME, MEASURE = "columns that tell what was hidden", "revealing_columns"
WORTH_A_LOOK = 0.4  # gain of a column from which on the persons it tells of are counted
SHOWN = 4  # findings in a sentence
TELLERS = 3  # columns that are named for one variable
LEAD = "The file still tells elsewhere what steps hid (blanked, changed or made coarser): "


class Told(NamedTuple):
    """A variable, of what share of persons it is told, and by which released columns, the strongest first."""

    persons: float
    words: str
    columns: tuple[str, ...] = ()


def columns_that_tell(case: ReleaseCase) -> Criterion:
    """Not met where a column gives back what was hidden; not judged where it does so for too many persons."""
    result = case.measured(MEASURE)
    if result is None:
        why = "Whether other columns tell what was hidden is not known"
        return case.not_known(NAME, MEASURE, why, ask_it(MEASURE), Place.options(MEASURE), FILE)
    limit = float(result.options.get("gain", 0.5))
    if alarms := _alarms(case, result):
        why = _in_words(alarms)
        mends, places = _without(case, alarms)
        return Criterion(NAME, Status.NOT_MET, why, result.value, limit, mends, share=True, places=places)
    told = sorted(_told_persons(case, result), reverse=True)
    ceiling = case.x.max_risk
    if told and ceiling is not None and told[0].persons > ceiling:
        many = [one for one in told if one.persons > ceiling]
        mends, places = _without(case, many)
        return Criterion(
            NAME,
            Status.NOT_JUDGED,
            _in_words(many),
            told[0].persons,
            ceiling,
            mends or "Drop what could not be asked for, or change more of its values.",
            share=True,
            places=places,
        )
    why = "No released column tells what was hidden in another"
    if result.value > 0:
        most = f"{100 * result.value:.3g} % of what is not known anyway"
        why = (
            f"No released column tells as much as {100 * limit:.3g} % of what was hidden in another: "
            f"the most is {most}"
        )
    few = result.figures.get("not_asked", 0.0) / case.original.height
    if few:
        why += f"; what was hidden of {100 * few:.3g} % of the persons, too few to ask for, counts as told"
    why += "."
    return Criterion(NAME, Status.MET, why, result.value, limit, share=True)


def _in_words(told: Sequence[Told]) -> str:
    """What is told by what, and then what could not be asked."""
    shown = list(dict.fromkeys(told[:SHOWN]))
    by = "; ".join(one.words for one in shown if one.columns)
    others = [f"{one.words[:1].upper()}{one.words[1:]}." for one in shown if not one.columns]
    return " ".join([*([f"{LEAD}{by}."] if by else []), *others])


def _alarms(case: ReleaseCase, result: Result) -> list[Told]:
    """The variables of which some column gives back what was hidden, with these columns."""
    if result.parts is None:
        return []
    by: dict[str, list[str]] = {}
    for hidden, columns in result.parts.filter("alarm").select("hidden", "columns").rows():
        by.setdefault(hidden, []).append(columns)
    return [Told(1.0, f"{h} is told by {_tellers(case, h, by[h])}", tuple(by[h])) for h in by]


def _tellers(case: ReleaseCase, hidden: str, columns: Sequence[str]) -> str:
    """Columns that tell, the strongest first; where it is the hidden one in classes, that is said of it."""
    first = f"{columns[0]}, which follows from it" if _follows(case, columns[0], hidden) else columns[0]
    return join_names([first, *columns[1:]], TELLERS)


def _follows(case: ReleaseCase, column: str, hidden: str) -> bool:
    """Whether records with the same hidden value have the same value of a column: its classes, or a copy."""
    frame = case.original.frame
    if not case.in_memory or not {column, hidden} <= {*frame.columns}:
        return False
    values = frame[hidden].n_unique()
    return bool(values < frame.height / 2 and frame.select(column, hidden).n_unique() == values)


def _told_persons(case: ReleaseCase, result: Result) -> list[Told]:
    """Of which persons columns below the alarm tell a value, or of whom none was asked."""
    height, roles = case.original.height, case.original.roles
    found: list[Told] = []
    if few := result.figures.get("not_asked", 0.0):
        words = count_of(few, "hidden value of a variable that was", "hidden values of variables that were")
        words += " changed in few records could not be asked for"
        found.append(Told(few / height, words))
    meant = pl.col("hidden").is_in([*roles.keys, *roles.numeric, *roles.sensitive])
    surely = result.tables.get("surely_told")
    for row in () if surely is None else surely.filter(meant).iter_rows(named=True):
        by = tuple(filter(None, row["columns"].split("; ")))
        if by:
            about = f"of {100 * row['persons']:.3g} % of the persons with near certainty"
            words = f"{row['hidden']} is told {about} by {_tellers(case, row['hidden'], by)}"
            found.append(Told(row["persons"], words, by))
        if row["not_combined"]:
            words = f"not all sums of columns could be tried that may tell {row['hidden']}"
            found.append(Told(1.0, words))
    if result.parts is not None:
        beyond = (pl.col("told") - pl.col("known_anyway")) * pl.col("records") / height
        parts = result.parts.filter(meant, pl.col("gain") >= WORTH_A_LOOK).with_columns(
            beyond.alias("beyond")
        )
        for row in parts.iter_rows(named=True):
            by = (row["columns"],)
            words = f"{row['hidden']} is told of {100 * row['beyond']:.3g} % of the persons by "
            found.append(Told(row["beyond"], words + _tellers(case, row["hidden"], by), by))
    return found


def _without(case: ReleaseCase, told: Iterable[Told]) -> tuple[str, tuple[Place, ...]]:
    """What takes out or coarsens what tells, in words and as places; of the order of the rows a new order.

    First what tells most of each variable, as the others often tell no more once it is gone. Several columns
    that tell only together are written in one. With the order of the rows goes what it tells with a column.
    """
    from sdckit.risk._released_columns import members_of, order_among, rounding_of_column  # loaded late

    there, home = set(case.data.columns), case.original.roles.household
    order = order_among(there)
    made_of = {rounding_of_column(c): c for c in there} | ({members_of(home): home} if home in there else {})

    def released(columns: str) -> list[str]:
        parts = [columns] if columns in there else columns.split(" and ")
        return [] if order in parts else [c for part in parts if (c := made_of.get(part, part)) in there]

    by = [one.columns for one in told if one.columns]
    strongest = list(dict.fromkeys(c for columns in by for c in released(columns[0])))
    others = list(dict.fromkeys(c for columns in by for one in columns for c in released(one)))
    others = [c for c in others if c not in strongest]
    strongest, others = (strongest, others) if strongest else (others, [])
    ways, places = [], []
    if any(
        order in one or order in one.split(" and ") for columns in by for one in columns if one not in there
    ):
        ways, places = ["Shuffle the rows in the last step."], [Place.step("shuffle_order")]
    if strongest:
        coarser = _can_be_coarser(case, strongest)
        which = "it" if coarser == strongest and len(coarser) == 1 else join_names(coarser, SHOWN)
        or_else = f", or make {which} coarser" if coarser else ""
        ways += [f"Drop {join_names(strongest, SHOWN)}{or_else}."]
        ways += [f"Then look whether {join_names(others, SHOWN)} still tell."] if others else []
        places += [Place.step("drop", strongest), *_coarser(case, coarser)]
        places += [Place.step("drop", [*strongest, *others])] if others else []
    return " ".join(ways), tuple(places or [Place.step("drop"), Place.step("group"), Place.step("recode")])


def _can_be_coarser(case: ReleaseCase, columns: Sequence[str]) -> list[str]:
    """All but numbers that only name something."""
    roles = case.original.roles
    return [c for c in columns if c not in (roles.id, roles.household, roles.cluster)]


def _coarser(case: ReleaseCase, columns: Sequence[str]) -> list[Place]:
    """The steps that make columns coarser: numbers and dates are recoded, categories merged."""
    kinds = frames.schema(case.data.frame)
    texts = [c for c in columns if not (kinds[c].is_numeric() or kinds[c].is_temporal())]
    merged = [Place.step("group", texts)] if texts else []
    return [*(Place.step("recode", [c]) for c in columns if c not in texts), *merged]
