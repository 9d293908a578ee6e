"""Columns that tell what a protection hid: a copy, a finer code, part of a sum, the order of the rows."""

from typing import Annotated, Any

import polars as pl
from pydantic import Field

from sdckit._support.messages import join_names
from sdckit._support.number_text import percent
from sdckit.charts.bars import bars, nothing_to_draw
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import kept_persons, position_note
from sdckit.data.result import Result
from sdckit.methods.options import Option
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Compares, Figure, records, share
from sdckit.risk._released_columns import ENOUGH, Hidden, Released, hidden_variables, released_columns
from sdckit.risk._revealing import Finding, Search

SAMPLE, FEWEST, MOST = 20_000, 4_000, 200_000  # records
TESTS = 1_000  # columns times hidden variables; beyond them samples are smaller
ASKED = 500  # hidden values that a sample should hold
NOTEWORTHY = 0.2  # a gain that is no alarm and yet worth a note
SURELY = {"hidden": pl.String, "persons": pl.Float64, "columns": pl.String, "not_combined": pl.Int64}
NAMED = 5  # findings that a note names
Gain = Annotated[
    float,
    Field(gt=0, le=1),
    Option(
        "Alarm from a gain of", "The share of what was not known anyway that a column must tell.", basic=True
    ),
]
Within = Annotated[
    float,
    Field(gt=0, le=1),
    Option("Numbers told to within", "How near a guessed number must come, relatively."),
]


def chart(result: Result) -> Any:
    """Bars: what was hidden and the columns that tell it, the largest gain first."""
    if result.parts is None or not result.parts.height:
        raise nothing_to_draw(result)
    parts = result.parts.filter(pl.col("gain") > 0)
    pairs = [(f"{v} ← {c}", g) for v, c, g in parts.select("hidden", "columns", "gain").iter_rows()]
    return bars(result, pairs, "share told of what was not known anyway", share=True)


@risk(
    "Columns that tell what was hidden",
    family="Attacks",
    bounds=(0, 1),
    unit="share of hidden values told",
    compares=Compares.PERSONS,
    judges=True,
    share=True,
    figures={
        "alarms": Figure("Columns that tell what was hidden", "alarms"),
        "worth_a_look": Figure("Findings worth a look", "findings"),
        "hidden": Figure("Variables that were changed or dropped", "variables", Better.NEITHER),
        "columns": Figure("Columns tried", "columns", Better.NEITHER),
        "surely_told": share("Persons of whom a hidden value is told with near certainty"),
        "not_asked": records("Hidden values of variables changed in too few records to ask"),
    },
    chart=chart,
    section="intruder",
    reference="Goodman & Kruskal (1954); Chatterjee (2021)",
    interpretation=(
        "A variable was changed or dropped, and another column of the released file says what it was: a "
        "copy, a birth year beside age classes, a total beside its parts, a household number, the order of "
        "the rows. 0: no column tells more than the released values of the variable itself. 1: some column "
        "tells all of it. An alarm (half of the unknown values told, and no accident) means that the step "
        "hid nothing."
    ),
)
def revealing_columns(
    original: Microdata, protected: Microdata, *, gain: Gain = 0.5, within: Within = 0.05
) -> Result:
    r"""Largest share of the hidden values of a variable that other released columns tell.

    .. math:: \text{gain} = \frac{\text{told} - \text{known anyway}}{1 - \text{known anyway}}

    A value is hidden where the files differ or the protected file no longer has the column; variables with at
    least 30 hidden values are asked for, in all records with a released value that hides some: an intruder
    sees a blank, but not which values were swapped. *told* is the share of true values that are guessed right
    from a released column: from the other records (never the own) with the same value there or, if that is
    better, with the same value there and the same released value of the variable. The guess of a category is
    the most frequent true value of these records, ties being wrong; of a number their median. A record alone
    with its value asks the records just below and above in the order of the column: categories must agree,
    numbers are read off the line between the two. *known anyway* is guessed without the column, for each
    released value of the variable in the best way: that value itself, one value for all that have it, or the
    others' as above. The column is used for those released values for which it tells clearly more.

    A number is told if the guess is the value itself or, by a second count, if it is within the part `within`
    both of the value and of the range that holds nine records in ten; the larger gain of the two is taken.
    0: nothing is told. 1: everything.

    What members of a household share (its region) they tell each other only by what is released of them: who
    does not know one member's region does not know the other's. So true values come from other households.

    Tried are every released column but direct identifiers and ids as they were, the order of the rows, the
    number of records in a household, characters of codes and numbers in texts that are nearly unique, pairs
    of the eight columns on which the variable depends most, the threes that tell most beyond each, the best
    pair with up to three more, the place of the last digit of numbers that only in part are rounded, and for
    numbers sums, differences, products and ratios of two columns, and weighted sums and products of many.
    Several columns are listed where they tell more than each alone; a column that is an alarm alone is not
    taken with others. Alarm: the gain is at least `gain`, and told is above known anyway by more than four
    standard errors (of paired differences) and a twentieth of the hidden values. The value is the largest
    gain that is so.

    A column may tell some persons all and others nothing: a copy that is blank for two in three, a total of
    households that is the income of those who live alone. So persons are counted, too: records are put in
    classes by each released column (its values or twenty bins, missing being one) and by how far the other
    records with the same clue agree. In a class in which nine guesses in ten are right, at least half of what
    is not known anyway is told, and that by more standard errors than the best of all classes tried has by
    accident, those who are guessed right and not known anyway are surely told. They are counted once, by
    whichever columns.

    figures: alarms; worth_a_look (gains from 0.2 to an alarm); hidden (variables asked for); columns (tried);
    surely_told (the largest share of all persons, of any variable).
    parts, the largest gain first: hidden (variable), columns, criterion (exactly, near), beside_released
    (whether the released values of the variable were used, too), records (asked for), told, known_anyway,
    gain, z, alarm.
    tables: surely_told, with hidden (variable), persons (share), columns (those that tell most) and
    not_combined (numbers of which not all sums were tried, as there are more than 300 or too few records).

    Weights: not used, as the intruder asks what records have in common; a weight is tried as a column and is
    never the hidden variable. Missing: a value missing in the original is not hidden and helps no guess; a
    released value that is missing is a value of its own, without a place in the order. Above 20,000 records
    random 20,000 are asked, so chosen that equal and neighbouring values of a column stay together. Records
    meet by id or position.
    Reference: the guess and its gain are those of Goodman & Kruskal's (1954) lambda, counted on the other
    records; pairs of numbers are screened with Chatterjee's (2021) coefficient. The intruder is taken to know
    how columns depend on each other, so this is the most that a column can tell.

    >>> import polars as pl, sdckit as sdc
    >>> age = [20 + (i * i + i // 7) % 60 for i in range(300)]
    >>> data = sdc.read(pl.DataFrame({"age": age, "born": [2020 - a for a in age]}), keys="age")
    >>> result = sdc.risk.revealing_columns(data, sdc.protect.recode(data, variable="age", width=10))
    >>> round(result.value, 2), result.parts["columns"][0]
    (1.0, 'born')
    """
    original = kept_persons(original, protected)
    released = released_columns(original, protected)
    hidden, few = hidden_variables(original, released, protected, within)
    notes = position_note(original, protected)
    if few:
        notes += (f"Changed in fewer than {ENOUGH} records, and so not asked for: {join_names(few)}.",)
    findings: list[Finding] = []
    told: list[dict[str, Any]] = []
    for variable in hidden:
        size = _sample_size(released, variable, len(hidden))
        if size < released.height:
            notes += (f"{variable.name}: asked for on {size:,} of {released.height:,} records.",)
        labels = original.labels.values.get(variable.name, {})
        search = Search(released, variable, size, gain)
        findings += search.findings(labels)
        columns = "; ".join(search.surely.by[:NAMED])
        told.append(
            {
                "hidden": variable.name,
                "persons": search.surely_told,
                "columns": columns,
                "not_combined": search.not_combined,
            }
        )
    sure = [f.gain for f in findings if f.matters]
    parts = _parts(findings, gain)
    alarms = int(parts["alarm"].sum())
    worth = sum(NOTEWORTHY <= g < gain for g in sure)
    return Result(
        max(sure, default=0.0),
        {
            "alarms": alarms,
            "worth_a_look": worth,
            "hidden": len(hidden),
            "columns": len(released.clues),
            "surely_told": max((row["persons"] for row in told), default=0.0),
            "not_asked": sum(few.values()),
        },
        parts,
        notes + _in_words(parts, hidden, gain) + _surely_in_words(told),
        tables={"surely_told": pl.DataFrame(told, schema=SURELY)},
    )


def _sample_size(released: Released, hidden: Hidden, variables: int) -> int:
    """How many records to ask: enough hidden values among them, and fewer where there are many tests."""
    size = max(FEWEST, min(SAMPLE, SAMPLE * TESTS // (variables * len(released.clues))))
    needed = ASKED * released.height // max(1, int(hidden.changed.sum()))
    return min(released.height, max(size, min(needed, MOST)))


def _parts(findings: list[Finding], gain: float) -> pl.DataFrame:
    names = ("hidden", "columns", "beside_released", "records", "told", "known_anyway", "gain", "z")
    columns: dict[str, Any] = {name: [getattr(f, name) for f in findings] for name in names}
    columns["criterion"] = [("exactly", "near")[f.criterion] for f in findings]
    columns["alarm"] = [f.gain >= gain and f.matters for f in findings]
    kinds = {
        "hidden": pl.String,
        "columns": pl.String,
        "criterion": pl.String,
        "beside_released": pl.Boolean,
        "records": pl.Int64,
        "told": pl.Float64,
        "known_anyway": pl.Float64,
        "gain": pl.Float64,
        "z": pl.Float64,
        "alarm": pl.Boolean,
    }
    table = pl.DataFrame({name: columns[name] for name in kinds}, schema=kinds)
    return table.sort("alarm", "gain", "told", descending=True, maintain_order=True)


def _in_words(parts: pl.DataFrame, hidden: list[Hidden], gain: float) -> tuple[str, ...]:
    """The alarms, or that there is none."""
    if not hidden:
        return ("Nothing is hidden: no variable differs between the files in enough records.",)
    alarms = parts.filter("alarm")
    if not alarms.height:
        return (
            f"No column tells {percent(gain)} or more of what is hidden in "
            f"{join_names([h.name for h in hidden])}.",
        )
    told = [
        f"{row['columns']} tells {row['hidden']} "
        f"({percent(row['told'])} right, {percent(row['known_anyway'])} anyway)"
        for row in alarms.head(NAMED).iter_rows(named=True)
    ]
    more = f"; {alarms.height - NAMED} more in parts" if alarms.height > NAMED else ""
    return (f"{'; '.join(told)}{more}. Drop these columns or make them coarser.",)


def _surely_in_words(told: list[dict[str, Any]]) -> tuple[str, ...]:
    surely = [
        f"{row['hidden']}: of {percent(row['persons'])} of the persons with near certainty, by "
        f"{row['columns']}."
        for row in told
        if row["persons"] > 0
    ]
    open_ones = [
        f"{row['hidden']}: sums and differences of {row['not_combined']:,} columns could not all be tried."
        for row in told
        if row["not_combined"]
    ]
    return (*surely, *open_ones)
