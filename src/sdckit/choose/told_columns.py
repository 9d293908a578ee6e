"""Whether released columns, or the order of the rows, tell what a step hid, and which."""

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from sdckit._support.messages import join_names
from sdckit.choose.criteria import Criterion, Status
from sdckit.choose.place import FILE, Place, at
from sdckit.choose.release_case import ReleaseCase
from sdckit.data.result import Result

NAME, MEASURE = "columns that tell what was hidden", "revealing_columns"
WORTH_A_LOOK = 0.4  # gain of a column from which on the persons it tells of are counted
SHOWN = 4  # findings in a sentence


class Told(NamedTuple):
    """A finding below the alarm: of what share of the persons, in words, and by which columns."""

    persons: float
    words: str
    columns: str = ""


def columns_that_tell(case: ReleaseCase) -> Criterion:
    """Not met where a column gives back what was hidden; not judged where it does so for too many persons."""
    result = case.measured(MEASURE)
    if result is None:
        why = "Whether other columns tell what was hidden is not known"
        return case.not_known(NAME, MEASURE, why, f"Measure {MEASURE}.", Place.options(MEASURE), FILE)
    limit = float(result.options.get("gain", 0.5))
    alarms = result.parts.filter("alarm") if result.parts is not None else pl.DataFrame()
    if alarms.height:
        pairs = [f"{_tells(c)} {h}" for h, c in alarms.select("hidden", "columns").rows()]
        why = f"{join_names(pairs, SHOWN)}: what was hidden there can be read off."
        mends, places = _without(case, alarms["columns"])
        return Criterion(NAME, Status.NOT_MET, why, result.value, limit, mends, share=True, places=places)
    told = sorted(_told_persons(case, result), reverse=True)
    ceiling = case.x.max_risk
    if told and ceiling is not None and told[0].persons > ceiling:
        many = [one for one in told if one.persons > ceiling]
        why = f"{'; '.join(dict.fromkeys(one.words for one in many[:SHOWN]))}."
        mends, places = _without(case, [one.columns for one in many])
        return Criterion(
            NAME,
            Status.NOT_JUDGED,
            why[:1].upper() + why[1:],
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


def _tells(columns: str) -> str:
    several = " and " in columns or "; " in columns
    return f"{columns.replace('; ', ' or ')} {'tell' if several else 'tells'}"


def _told_persons(case: ReleaseCase, result: Result) -> list[Told]:
    """Of which persons columns below the alarm tell a value, or of whom none was asked."""
    height, roles = case.original.height, case.original.roles
    found: list[Told] = []
    if few := result.figures.get("not_asked", 0.0):
        words = (
            f"{few:,.0f} hidden values of variables that were changed in few records could not be asked for"
        )
        found.append(Told(few / height, words))
    meant = pl.col("hidden").is_in([*roles.keys, *roles.numeric, *roles.sensitive])
    surely = result.tables.get("surely_told")
    for row in () if surely is None else surely.filter(meant).iter_rows(named=True):
        about = f"{row['hidden']} of {100 * row['persons']:.3g} % of the persons with near certainty"
        found.append(Told(row["persons"], f"{_tells(row['columns'])} {about}", row["columns"]))
        if row["not_combined"]:
            words = f"not all sums of columns could be tried that may tell {row['hidden']}"
            found.append(Told(1.0, words))
    if result.parts is not None:
        beyond = (pl.col("told") - pl.col("known_anyway")) * pl.col("records") / height
        parts = result.parts.filter(meant, pl.col("gain") >= WORTH_A_LOOK).with_columns(
            beyond.alias("beyond")
        )
        for row in parts.iter_rows(named=True):
            words = f"{_tells(row['columns'])} {row['hidden']} of {100 * row['beyond']:.3g} % of the persons"
            found.append(Told(row["beyond"], words, row["columns"]))
    return found


def _without(case: ReleaseCase, told: Iterable[str]) -> tuple[str, tuple[Place, ...]]:
    """What takes out or coarsens what tells, in words and as places; of the order of the rows a new order.

    Several columns that tell only together are written in one. With the order of the rows goes what it tells
    together with a column.
    """
    from sdckit.risk._released_columns import members_of, order_among, rounding_of_column  # loaded late

    there, home = set(case.data.columns), case.original.roles.household
    order = order_among(there)
    made_of = {rounding_of_column(c): c for c in there} | ({members_of(home): home} if home in there else {})
    names: dict[str, None] = {}
    shuffled = False
    for one in dict.fromkeys(part for columns in told for part in columns.split("; ")):
        parts = [one] if one in there else one.split(" and ")
        if order in parts:
            shuffled = True
        else:
            names.update(dict.fromkeys(c for part in parts if (c := made_of.get(part, part)) in there))
    ways = ["shuffle the rows in the last step"] if shuffled else []
    ways += [f"drop or recode {join_names(names, SHOWN)}"] if names else []
    text = f"{'; '.join(ways)}." if ways else ""
    places = at(*((Place.step("shuffle_order"),) if shuffled else ()))
    if names or not shuffled:
        places = at(*places, Place.step("drop", names), Place.step("group"), Place.step("recode"))
    return text[:1].upper() + text[1:], places
