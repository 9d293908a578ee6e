"""Whether a file of new records has numbers by which a single person or firm of the original is known."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit._support.messages import join_names
from sdckit.choose.criteria import Criterion, Status
from sdckit.choose.place import Place, at
from sdckit.choose.release_case import ReleaseCase
from sdckit.choose.release_facts import names_records
from sdckit.data.common_columns import is_continuous
from sdckit.data.microdata import Microdata
from sdckit.data.unchanged import SAME
from sdckit.data.values import as_numbers

NAME = "numbers that come back"
LARGEST = 5  # numbers of a column that are looked at beside all: synthesize leaves out so many
HALVES = 2  # of the original, one of which is looked for in the other


def numbers_that_come_back(case: ReleaseCase) -> Iterator[Criterion]:
    """Not met where most numbers that one person alone has stand in the file, or most of the largest.

    Other columns may be drawn anew: who knows the number knows that the person took part, and of the largest
    firm everybody knows whose it is. Numbers of which many have the same value come back by chance: of
    turnovers in thousands, of which no more than a part has one firm, only the largest are looked at.
    """
    kinds = case.data.table.collect_schema()
    names = [*dict.fromkeys((*case.original.roles.numeric, *case.original.roles.sensitive))]
    names = [c for c in names if c not in case.accepted.numbers and c in kinds and kinds[c].is_numeric()]
    asked = [
        c
        for c in names
        if names_records(case.original, c) or (case.in_memory and _is_number(case.original, c))
    ]
    if not asked:
        return
    steps = at(Place.step("synthesize", asked), Place.step("round_values", asked))
    if not case.in_memory:
        why = f"Whether {join_names(asked, 4)} come back is not known: the records are not in memory."
        yield Criterion(NAME, Status.NOT_JUDGED, why, mends="Assess the file in memory.", places=steps)
        return
    back = [c for c in asked if most_come_back(case.original, case.x.protected, c)]  # all are released
    if not back:
        yield Criterion(NAME, Status.MET, "Numbers that one person alone has do not come back.", 0, 0)
        return
    why = f"{join_names(back, 4)}: most numbers that one person alone has, or most of the largest, come back."
    mends = "Smooth rare numbers and draw the tails anew, or round them; or accept that they come back."
    places = at(*steps, Place.accept("numbers", back))
    yield Criterion(NAME, Status.NOT_MET, why, len(back), 0, mends, places=places)


def most_come_back(original: Microdata, made: Sequence[Microdata], column: str) -> bool:
    """Whether most numbers that one person alone has come back beyond chance, or most of the largest."""
    home = original.roles.household
    values = pl.DataFrame({"value": as_numbers(original.frame[column]), "row": range(original.height)})
    if home is not None:  # what all members share is one number
        values = values.with_columns(original.frame[home].alias("home"))
        values = values.unique(["value", "home"], keep="first", maintain_order=True)
    known = values.filter(pl.col("value").is_finite())["value"].to_numpy()
    files = [data.frame for data in made if column in data.columns]
    there = np.concatenate([as_numbers(f[column]) for f in files if f.schema[column].is_numeric()])
    halves = [known[start::HALVES] for start in range(HALVES)]
    largest = slice(-LARGEST, None)
    for part in (slice(None), largest) if names_records(original, column) else (largest,):
        of = _single(known)[part]
        by_half = [_share(_single(one)[part], other) for one, other in (halves, halves[::-1])]
        chance = min(sum(by_half) * len(there) / max(len(known), 1), 1.0)  # of HALVES, each as large a part
        if _share(of, there) > chance + SAME * (1 - chance):
            return True
    return False


def _is_number(original: Microdata, column: str) -> bool:
    """Whether a column is a number, and no code, of which so many values as are looked at occur once."""
    if not is_continuous(original.frame[column], original):
        return False
    return len(_single(as_numbers(original.frame[column]))) >= LARGEST


def _single(values: Floats) -> Floats:
    """The numbers that occur once, in ascending order."""
    counts = pl.Series("value", values).value_counts(name="count")
    return counts.filter(pl.col("count") == 1)["value"].sort().to_numpy()


def _share(values: Floats, among: Floats) -> float:
    """The share of values that occur among others."""
    return float(np.isin(values, among).mean()) if len(values) else 0.0
