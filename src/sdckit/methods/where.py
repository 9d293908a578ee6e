"""Protect only some records: they are protected as a file of their own and put back in their places.

Protections with the option `where` take a measure that flags records (`atypical_records`,
`individual_risk`), which is then taken of the data they get, or in Python its result:

>>> import sdckit as sdc
>>> data = sdc.demo.survey(n=500, seed=1)
>>> risky = sdc.risk.individual_risk(data, threshold=0.001)
>>> one = sdc.protect.pram(data, variables=["sex"], stay=0.5, where=risky, rng=1)
>>> step = sdc.Step("pram", variables=["sex"], stay=0.5, where={"individual_risk": {"threshold": 0.001}})
>>> step
pram(variables=['sex'], stay=0.5, where={'individual_risk': {'threshold': 0.001}})
>>> other = sdc.Scenario("risky only", [step]).protect(data, seed=1)
>>> one.log[-1].figures["records_chosen"] == other.log[-1].figures["records_chosen"] < 500
True

Spreads, ranks and groups are those of the chosen records alone, which is much for outliers. What the log
keeps of a result is its measure and options: a scenario made of the log measures again.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import numpy as np
import polars as pl
from pydantic import WithJsonSchema

from sdckit._support.arrays import Bools
from sdckit._support.messages import did_you_mean, join_names
from sdckit._support.number_text import count_of
from sdckit.data.effects import merged
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.errors import DataError, OptionError, SdcError, UnknownMethodError, preview
from sdckit.methods.options import Option
from sdckit.methods.registry import find, is_registered, specs
from sdckit.methods.serialise import to_builtin
from sdckit.methods.spec import Kind, Spec

# Which records to protect: those that a measure flags. A protection that can do with a part of the file has
# the option `where: Where | None = None`; that is all, because the registry carries it out.
Where = Annotated[
    str | Mapping[str, Any] | Result,
    WithJsonSchema(
        {
            "anyOf": [{"type": "string"}, {"type": "object"}],
            "format": "measure",
            "description": "a measure that flags records, or {measure: {option: value}}",
        }
    ),
    Option(
        "Only records flagged by",
        "Protect only the records that a measure flags, with all members of their households.",
        absent="all records",
    ),
]
WHERE = (
    "Only the records flagged by a measure are protected, with all members of their households, as a file of "
    "their own: spreads, ranks and groups are theirs (synthesis learns from all records). All others keep "
    "their values, also those not "
    "judged; the log counts them. The measure is taken of the data that the protection gets: where: "
    "atypical_records, or where: {atypical_records: {by: nace}}; in Python also its result."
)


class Chosen(NamedTuple):
    """Which records are to be protected, and how many of the others the measure could not judge."""

    records: Bools
    not_judged: int


def flagged(data: Microdata, result: Result, flags: str) -> Chosen:
    """The records for which the column `flags` of a result is true, and all members of their households.

    Records the measure could not judge are not among them, unless another member is flagged, and are
    counted. What households share would no longer be shared if only some of the members were protected.
    """
    parts = result.parts
    if parts is None:  # a result without a number: to protect nobody would pass for a protection
        raise DataError(
            f"{result.measure} can judge no record, so where cannot choose any.",
            given=" ".join(result.notes) or "a result without parts",
        )
    if parts.schema.get(flags) != pl.Boolean:
        raise DataError(
            f"The parts of the result given as where do not say which records {result.measure} flags.",
            given=f"the columns {join_names(parts.columns)}",
            allowed=f"a column {flags!r} with true, false or missing",
        )
    ids = data.ids()
    if parts.height != len(ids) or not parts.to_series(0).equals(ids, null_equal=True):
        raise DataError(
            "The result given as where is not about these records.",
            given=f"{result.measure} of {parts.height:,} records for a file of {data.height:,}",
            hint="Measure the file that is to be protected, or give where the name of the measure.",
        )
    flag = parts[flags].fill_null(value=False)
    if data.roles.household is not None:
        rows = pl.DataFrame([flag.alias("flag"), data.frame[data.roles.household].alias("home")])
        alone = pl.col("home").is_null()
        home = pl.when(alone).then("flag").otherwise(pl.col("flag").any().over("home"))
        flag = rows.select(home).to_series()
    return Chosen(flag.to_numpy(), int((parts[flags].is_null() & ~flag).sum()))


def checked_where(spec: Spec, given: Any) -> Mapping[str, Any] | Result:
    """What `where` was given, checked: a result, or one measure with its options."""
    asked = (
        {given.measure: {}} if isinstance(given, Result) else {given: {}} if isinstance(given, str) else given
    )
    name, options = next(iter(asked.items()), ("", {})) if isinstance(asked, Mapping) else ("", {})
    useful = [s.name for s in specs(Kind.RISK) if s.flags]
    if not isinstance(asked, Mapping) or len(asked) != 1 or not isinstance(options, Mapping | None):
        raise OptionError(
            f"Option 'where' of {spec.name} is not valid.",
            given=preview(given),
            allowed=f"a measure that flags records ({join_names(useful)}), {{measure: {{option: value}}}}, "
            "or in Python the result of one",
        )
    if not is_registered(str(name)):
        raise UnknownMethodError(
            f"There is no measure {name!r}.",
            allowed=join_names(useful),
            hint=did_you_mean(str(name), useful),
        )
    measure = find(str(name))
    if not measure.flags:
        raise OptionError(f"{name} flags no records that where could choose.", allowed=join_names(useful))
    named = {str(option): value for option, value in (options or {}).items()}
    measure.validate(named)
    return given if isinstance(given, Result) else {measure.name: named}


def require_where(data: Microdata, where: Mapping[str, Any] | Result) -> None:
    """Refuse a measure whose options name columns that are not there."""
    for measure, given in where.items() if isinstance(where, Mapping) else ():
        find(measure).resolve(data, find(measure).validate(given))


def chosen_records(data: Microdata, where: Mapping[str, Any] | Result) -> Chosen:
    """The records to protect. Data never change, so what a measure flags in them is kept with them."""
    if isinstance(where, Result):
        return flagged(data, where, find(where.measure).flags)
    ((name, options),) = where.items()
    spec = find(name)
    key = ("where", repr(to_builtin(where)))
    return data.cached(key, lambda: flagged(data, spec.call(data, **options), spec.flags))


def protect_some(data: Microdata, which: Chosen, protect: Callable[[Microdata], Microdata]) -> Microdata:
    """The file with the chosen records protected; all others keep their values and every record its place.

    The last log entry has the figures of the protection, `records_chosen` and, where there are any that could
    not be judged, `records_not_judged`. With none chosen the data stay as they are.
    """
    chosen, count = which.records, int(which.records.sum())
    counted: dict[str, Any] = {"records_chosen": count}
    if which.not_judged:
        counted["records_not_judged"] = which.not_judged
    if not count:
        return data.with_frame(data.frame, **counted)
    part = data.frame.filter(chosen)
    keys = tuple(k for k in data.roles.keys if part[k].null_count() < count)  # others say nothing here
    try:
        done = protect(replace(data, frame=part, roles=replace(data.roles, keys=keys)))
    except SdcError as error:
        raise error.after(f"Among the {count_of(count, 'record', 'records')} that where chose") from None
    steps = done.steps_since(data)
    effects = merged(entry.effects for entry in steps)
    if done.height != count or done.columns != data.columns or effects.rows_differ:
        raise OptionError(
            "where cannot be used with a protection that moves, adds or removes records or columns."
        )
    changed = [c for c in data.columns if not done.frame[c].equals(part[c], check_dtypes=True)]
    frame = data.frame.with_columns(_put_back(data.frame[c], done.frame[c], chosen) for c in changed)
    figures = {name: value for entry in steps for name, value in entry.figures.items()}
    return data.with_frame(
        frame,
        effects=replace(effects, recodes={}, record_by_record=False, column_rows={}),
        **{**figures, **counted},
    )


def _put_back(old: pl.Series, new: pl.Series, chosen: Bools) -> pl.Series:
    """The column with new values in the chosen rows; whole numbers may become decimal, but none changes."""
    rest = old.filter(~chosen)
    numbers = old.dtype.is_numeric() and new.dtype.is_numeric()
    if old.dtype == new.dtype or numbers:
        both = pl.concat([new.to_frame(), rest.to_frame()], how="vertical_relaxed").to_series()
        kept = both.slice(len(new))
        if kept.cast(old.dtype, strict=False).equals(rest, null_equal=True):
            places = np.argsort(np.concatenate([np.flatnonzero(chosen), np.flatnonzero(~chosen)]))
            return both.gather(places)
    raise DataError(
        f"Column {old.name!r} cannot hold both its protected and its other values.",
        given=f"{new.dtype} for some records, {old.dtype} for the others",
        hint="Protect all records, without where.",
    )
