"""Facts about a protected file that are asked before it is released."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit._support.messages import join_names
from sdckit.choose.row_agreement import SURE
from sdckit.data.history import LogEntry
from sdckit.data.microdata import Microdata
from sdckit.data.naming import DIFFERENT, FEWEST
from sdckit.data.roles import Role
from sdckit.data.text_codes import text_codes
from sdckit.data.unchanged import SAME, same_ids
from sdckit.engine import frames
from sdckit.engine.tables import OURS
from sdckit.methods.registry import find, is_registered, is_third_party

UNREADABLE = (nw.Binary, nw.Object, nw.List, nw.Array, nw.Struct)  # nobody compares such values
LARGEST_HOUSEHOLD = 10  # records on average that share a value, up to which the column joins households
LONG = (nw.Int64, nw.UInt64, nw.Int128, nw.UInt128)
EXACT = 2**53  # whole numbers up to which a 64-bit float tells each from the next
COMPARED = {Role.KEYS, Role.NUMERIC, Role.SENSITIVE}
CLASS = 0.05  # share of the known values from which on a value is a class of its own, such as 0
SOME = 0.01  # share of the records: where fewer have a value of their own, these are exceptions
COUNTED = f"{OURS}count"
PEOPLE = 8.2e9  # on Earth: weights that add up to more have implied decimals


@dataclass(frozen=True, slots=True)
class WeightFacts:
    """What the weights of a file are like: their number, sum and range, and counts of odd ones."""

    records: int
    total: float
    lowest: float
    highest: float
    below_one: int
    whole_hundreds: int


def weight_facts(data: Microdata) -> WeightFacts:
    """The weights of a file in figures, counted where the records are."""
    w = nw.col(data.roles.weight or "").cast(nw.Float64)
    hundreds = (w / 100.0) == (w / 100.0).floor()
    wanted = (
        w.min().alias("lowest"),
        w.max().alias("highest"),
        (w < 1).cast(nw.Int64).sum().alias("below_one"),
        hundreds.cast(nw.Int64).sum().alias("whole_hundreds"),
    )
    row = frames.gather(data.table.select(*wanted)).row(0, named=True)
    return WeightFacts(data.height, data.weight_total(), **row)


def odd_weights(weights: WeightFacts) -> str:
    """Why the weights can hardly be numbers of people; empty where they can."""
    n = weights.records
    if weights.total > PEOPLE:
        return "more than there are on Earth; they seem to have implied decimals"
    if weights.below_one > 0.01 * n:
        return "some are below 1, so that a person would stand for less than one"
    different = weights.highest > weights.lowest
    if n > FEWEST and isfinite(weights.total) and weights.whole_hundreds == n and different:
        return "all are whole hundreds; they may have two implied decimals"
    if n > FEWEST and weights.lowest >= 1e5:
        return "each stands for a hundred thousand people or more; they may have implied decimals"
    return ""


def unmeasured(original: Microdata, protected: Microdata, *, same_people: bool = True) -> tuple[str, ...]:
    """Warnings: columns that no risk looks at and that may name records, and ids of the original.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": ["f", "m"] * 20, "number": range(40)}), keys="sex")
    >>> unmeasured(data, data)[0].split(":")[0]
    'No risk looks at number'
    """
    found = []
    names = near_unique(protected)
    if names:
        have, them = ("it has no role and", "it") if len(names) == 1 else ("they have no role and", "them")
        found.append(
            f"No risk looks at {join_names(names)}: {have} values that differ from record to record, and so "
            "may "
            f"name them. Drop {them}, declare {them} a direct identifier, or give {them} another "
            "role."
        )
    same = same_ids(original, protected) if same_people else ()
    if same:
        found.append(
            f"The ids in {join_names(same)} are those of the original file: whoever has them there finds the "
            "records again. Give new random ids in a last step, or drop them."
        )
    return tuple(found)


def near_unique(data: Microdata) -> list[str]:
    """The columns without a role in which (nearly) all values differ."""
    return data.cached("near unique", lambda: _near_unique(data))


def _near_unique(data: Microdata) -> list[str]:
    kinds = frames.schema(data.frame)
    free = [c for c in data.columns if not data.roles.of(c) and not kinds[c].is_nested()]
    if not free:
        return []
    enough = max(FEWEST, DIFFERENT * data.height)
    if data.engine == "polars":
        return [c for c in free if data.column_fact("different", c, pl.Series.n_unique) >= enough]
    return [c for c, n in frames.different_values(data.frame, free).items() if n >= enough]


def not_looked_at(original: Microdata, data: Microdata) -> list[str]:
    """Columns of the protected file that no measure of risk looks at, by their role or their type.

    Roles are those of the original: what the protected file calls its columns excuses nothing.
    """
    seen = {Role.KEYS, Role.NUMERIC, Role.SENSITIVE, Role.WEIGHT, Role.ID, Role.HOUSEHOLD, Role.DIRECT}
    before = set(original.columns)
    roles = {c: set(original.roles.of(c) if c in before else ()) for c in data.columns}
    kinds = frames.schema(data.frame)
    found = [c for c in data.columns if not roles[c] & seen or isinstance(kinds[c], UNREADABLE)]
    found += _too_long(data, [c for c in data.columns if roles[c] & COMPARED])
    found += [
        c
        for c in original.roles.sensitive
        if c in kinds
        and not kinds[c].is_numeric()
        and c not in original.roles.keys
        and names_records(data, c)
    ]
    keys = [key for key in original.roles.keys if key in kinds]
    told = [c for c in found if {Role.STRATA, Role.CLUSTER} & roles[c] and _told_by_keys(data, keys, c)]
    return [c for c in dict.fromkeys(found) if c not in told]


def _too_long(data: Microdata, columns: Sequence[str]) -> list[str]:
    """Numbers so long that measures, which reckon in 64-bit floats, do not see their last digits."""
    return [*_too_long_whole(data, columns), *_too_long_decimals(data, columns)]


def _too_long_decimals(data: Microdata, columns: Sequence[str]) -> list[str]:
    """Decimals of which several are one 64-bit float."""
    decimals = [c for c in columns if frames.schema(data.frame)[c] == nw.Decimal]
    if not decimals or not data.height:
        return []
    counts = [(nw.col(c).n_unique() - nw.col(c).cast(nw.Float64).n_unique()).alias(c) for c in decimals]
    lost = frames.gather(data.table.select(*counts)).row(0)
    return [c for c, more in zip(decimals, lost, strict=True) if more > 0]


def _too_long_whole(data: Microdata, columns: Sequence[str]) -> list[str]:
    """Whole numbers beyond the largest up to which a 64-bit float tells each from the next."""
    kinds = frames.schema(data.frame)
    whole = [c for c in columns if kinds[c] in LONG]
    if not whole or not data.height:
        return []
    sides = {"least": nw.Expr.min, "most": nw.Expr.max}
    wanted = [of(nw.col(c)).alias(f"{side} {c}") for c in whole for side, of in sides.items()]
    ends = frames.gather(data.table.select(wanted)).row(0, named=True)
    return [c for c in whole if any(abs(ends[f"{side} {c}"] or 0) > EXACT for side in sides)]


def names_records(data: Microdata, column: str) -> bool:
    """Whether (nearly) every record has a value of its own, classes such as 0 or nothing at all left aside.

    Savings are exact for those who have some, and free text is written by few: these are named all the same.
    """
    if frames.schema(data.frame)[column].is_nested():
        return True
    if data.engine == "polars":
        records, different = data.column_fact("apart from classes", column, _apart_from_classes)
    else:
        records, different = _apart_from_classes_on_engine(data, column)
    return records >= SOME * data.height and different >= max(FEWEST, DIFFERENT * records)


def _apart_from_classes(column: pl.Series) -> tuple[int, int]:
    """The records whose value is known and no class of its own, and how many different values they have."""
    counts = column.drop_nulls().value_counts(name=COUNTED)[COUNTED]
    rare = counts.filter(counts <= _largest_apart(int(counts.sum())))
    return int(rare.sum()), len(rare)


def _apart_from_classes_on_engine(data: Microdata, column: str) -> tuple[int, int]:
    """The same where the records are."""
    n = nw.col(COUNTED)
    counts = data.table.filter(~nw.col(column).is_null()).group_by(column).agg(nw.len().alias(COUNTED))
    known = int(frames.gather(counts.select(n.sum()))[COUNTED][0] or 0)
    rare = counts.filter(n <= _largest_apart(known)).select(n.sum(), nw.len().alias(f"{COUNTED}s"))
    records, different = frames.gather(rare).row(0)
    return int(records or 0), int(different)


def _largest_apart(known: int) -> float:
    """How many records may share a value that is no class of its own."""
    return max(1.0, CLASS * known)


def _told_by_keys(data: Microdata, keys: Sequence[str], column: str) -> bool:
    """Whether a design column says nothing beyond the keys."""
    if column in keys or not keys:
        return column in keys
    both = frames.gather(data.table.select(*keys, column).unique().select(nw.len().alias("n")))["n"][0]
    alone = frames.gather(data.table.select(*keys).unique().select(nw.len().alias("n")))["n"][0]
    return int(both) == int(alone)


def joining_columns(original: Microdata, data: Microdata) -> list[str]:
    """Columns that mean nothing to an intruder, such as weights, whose values few records share.

    Of sensitive columns that alone proves nothing, as incomes of strangers may be equal, too. They join
    records where those who share a value mostly agree in a key as well, in which others do not: members of a
    household, of which nothing else in the file need speak. Where households are known, they are attacked.
    """
    there, roles = set(data.columns), original.roles
    found = [c for c in (roles.weight, *roles.strata) if c in there and c is not None and _few_share(data, c)]
    if original.roles.household is None and original.engine == data.engine == "polars":
        known = [c for c in original.roles.keys if c in there]
        secret = [c for c in original.roles.sensitive if c in there and c not in found]
        found += [c for c in secret if all(_join(one, c, known) for one in (original, data))]
    return found


def _few_share(data: Microdata, name: str) -> bool:
    """Whether most records share their value with a few others."""
    if frames.schema(data.frame)[name].is_nested():
        return False
    counts = frames.gather(data.table.group_by(name).agg(nw.len().alias("n")))["n"]
    return _are_few(counts.to_numpy(), data.height)


def _are_few(counts: Ints, records: int) -> bool:
    """Whether most records share their value with a few others. counts: how many have each value."""
    shared = counts[counts > 1]
    joined = int(shared.sum())
    return joined > SAME * records and joined / len(shared) < LARGEST_HOUSEHOLD


def _join(data: Microdata, name: str, keys: Sequence[str]) -> bool:
    """Whether the few records with a value mostly have the same key, though others have not.

    Classes are left aside, as 0 is of benefits: those who have some are joined by it.
    """
    if frames.schema(data.frame)[name].is_nested():
        return False
    codes = data.column_fact("codes", name, text_codes).codes
    counts = np.bincount(codes[codes >= 0])
    classes = counts > _largest_apart(int(counts.sum()))
    apart = int(counts[~classes].sum())
    if apart < SOME * data.height or not _are_few(counts[~classes], apart):
        return False
    codes = np.where(np.append(classes, False)[codes], -1, codes)
    order = np.argsort(codes, kind="stable")
    fellows = (np.diff(codes[order]) == 0) & (codes[order][1:] >= 0)
    for key in keys:
        known = data.column_fact("codes", key, text_codes).codes
        there = known >= 0
        chance = float(((np.bincount(known[there]) / max(int(there.sum()), 1)) ** 2).sum())
        both = fellows & there[order][1:] & there[order][:-1]
        alike = float((np.diff(known[order]) == 0)[both].mean()) if both.any() else 0.0
        error = sqrt(max(chance * (1 - chance), 1e-12) / max(int(both.sum()), 1))
        if alike > (1 + chance) / 2 and alike - chance > SURE * error:
            return True
    return False


def repeats(data: Microdata, column: str) -> bool:
    """Whether records share a value of this column."""
    values = nw.col(column)
    known = data.table.filter(~values.is_null()).select(values.n_unique().alias("n"), nw.len().alias("all"))
    different, records = frames.gather(known).row(0)
    return bool(different < records)


def spells(data: Microdata, column: str) -> bool:
    """Whether a column is text: numbers made by new_ids are whole numbers."""
    kind = frames.schema(data.frame)[column]
    return not kind.is_integer()


def done_here(step: LogEntry) -> bool:
    """Whether sdckit itself did a step: what others say they draw at random may follow from anything."""
    return is_registered(step.method) and not is_third_party(find(step.method).function)


def drawn_here(steps: Sequence[LogEntry]) -> set[str]:
    """Ids and other numbers of units that steps of sdckit drew, if no step of others came after them."""
    drawn: set[str] = set()
    for step in steps:
        drawn = drawn | set(step.effects.new_numbers) if done_here(step) else set()
    return drawn
