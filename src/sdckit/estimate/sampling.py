"""The design of a file by its roles and by what a user says of its sampling."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit._support.messages import join_names
from sdckit._support.number_text import count_of
from sdckit.data.microdata import Microdata
from sdckit.data.values import in_words
from sdckit.errors import ColumnError, DataError, OptionError
from sdckit.estimate.design import Design
from sdckit.estimate.stage import SinglePsu, Stage
from sdckit.kernels.hashing import pack

_SHARES = "sampling fractions up to 1, or numbers of units in the population"


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """What a user says of the sampling beyond the roles.

    fpc: columns with the finite population of each stage, a sampling fraction or a number of units. units:
    columns that name the units of the second and later stages; the records themselves come last.
    single_psu, in_domains: see `Design`.
    """

    fpc: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    single_psu: SinglePsu = SinglePsu.ADJUST
    in_domains: bool = False

    def check(self, data: Microdata) -> None:
        """Refuse more stages than there are kinds of units."""
        if len(self.fpc) > 1 and data.roles.cluster is None:
            raise OptionError(
                "Sampling in several stages needs primary sampling units, and no column has the role "
                "'cluster'.",
                given=f"fpc: {join_names(self.fpc)}",
                hint="Give the column of the primary sampling units the role cluster.",
            )
        if len(self.fpc) > len(self.units) + 2:
            raise OptionError(
                "fpc names more stages than there are kinds of sampling units.",
                given=f"{len(self.fpc)} columns in fpc, {len(self.units)} in units",
                allowed=f"up to {len(self.units) + 2}: clusters, units, records",
                hint="Name the units of the second and later stages in units=.",
            )


def design_of(data: Microdata, options: SamplingOptions | None = None) -> tuple[Design, tuple[str, ...]]:
    """The design by the roles weight, strata and cluster of the data, and what must be said about it.

    A missing stratum is a stratum of its own; a missing cluster or unit makes the record its own. Units are
    told apart within the units of the stage before, PSUs within strata. Stages for which there is no column
    in `fpc` count as complete, as in R's survey package.
    """
    options = options or SamplingOptions()
    options.check(data)
    _require(data, (*options.fpc, *options.units))
    frame, roles, n = data.frame, data.roles, data.height
    columns = [c for c in roles.strata if c in frame.columns]
    stratum = np.zeros(n, dtype=np.int64)
    if columns:
        stratum = _combined(np.column_stack([column_codes(frame[c]) for c in columns]))
    cluster = np.arange(n, dtype=np.int64)
    if roles.cluster is not None:
        cluster = units_within(stratum, frame[roles.cluster])
    fraction = np.zeros(int(stratum.max()) + 1)
    if options.fpc:
        fraction = _fractions(frame[options.fpc[0]], stratum, cluster, "stratum")
    rules = (options.single_psu, options.in_domains)
    design = Design(data.weights(), stratum, cluster, fraction, (), *rules)
    later = tuple(_later(frame, options, design.stages[0]))
    design = Design(data.weights(), stratum, cluster, fraction, later, *rules)
    if options.single_psu is SinglePsu.FAIL:
        refuse_single_units([int(stage.single.sum()) for stage in design.stages])
    single, units = zip(*((int(s.single.sum()), len(s.group)) for s in design.stages), strict=True)
    return design, tuple(design_notes(data, single, units, options))


def _require(data: Microdata, columns: tuple[str, ...]) -> None:
    """Refuse a file that lacks a column of the design which the user named."""
    lost = [c for c in columns if c not in data.columns]
    if lost:
        raise ColumnError(
            f"The protected file has no column {lost[0]!r}.",
            allowed=join_names(data.columns),
            hint="Columns in fpc= and units= are needed in both files.",
        )


def _later(frame: pl.DataFrame, options: SamplingOptions, before: Stage) -> Iterator[Stage]:
    """The stages after the first that have a finite population of their own."""
    for i, name in enumerate(options.fpc[1:]):
        own = options.units[i : i + 1]
        unit = units_within(before.unit, frame[own[0]]) if own else np.arange(frame.height, dtype=np.int64)
        fraction = _fractions(frame[name], before.unit, unit, "unit of the stage before")
        reached = (before.reached * before.fraction)[before.group]
        before = Stage(unit, _group_of(unit, before.unit), fraction, reached)
        yield before


def design_notes(
    data: Microdata, single: Sequence[int], units: Sequence[int], options: SamplingOptions
) -> Iterator[str]:
    """What must be said of a design with so many groups of one unit, and units, at each of its stages."""
    roles = data.roles
    if roles.household is not None and roles.cluster is None:
        yield (
            f"Persons count as drawn one by one; give {roles.household} the role cluster too if whole "
            "households were drawn."
        )
    if len(options.fpc) == 1 and roles.cluster is not None:
        yield (
            "With one column in fpc every primary sampling unit counts as observed completely; name a second "
            "column where units were drawn within them, or variances are too small."
        )
    for number, (groups, drawn) in enumerate(zip(single, units, strict=True), 1):
        if not groups or options.single_psu is SinglePsu.CERTAINTY:
            continue
        if drawn == 1 and options.single_psu in (SinglePsu.ADJUST, SinglePsu.AVERAGE):
            yield "There is one sampling unit in all: variances of the design cannot be estimated."
            continue
        yield f"{_groups(number, groups)} one sampling unit; {_RULES[options.single_psu]}."


def refuse_single_units(single: Sequence[int]) -> None:
    """Refuse stages with groups of one unit; `single` are their numbers."""
    for number, groups in enumerate(single, 1):
        if groups:
            raise DataError(
                f"{_groups(number, groups)} one sampling unit, from which no variance can be estimated.",
                hint="Merge strata, or choose another rule in single_psu=.",
            )


def _groups(number: int, groups: int) -> str:
    one, several = ("stratum", "strata") if number == 1 else ("unit", "units")
    what = count_of(groups, one, several)
    return f"{what} {'' if number == 1 else f'of stage {number - 1} '}{'has' if groups == 1 else 'have'}"


_RULES = {
    SinglePsu.ADJUST: "it is compared with the mean of all units",
    SinglePsu.AVERAGE: "the mean variance of the others stands for what cannot be estimated",
    SinglePsu.REMOVE: "this adds nothing to the variance",
}


def column_codes(column: pl.Series) -> Ints:
    """Codes 0, 1, … of the values in sorted order, −1 for missing; the same in any row order."""
    plain = column if column.dtype.is_numeric() or column.dtype.is_temporal() else column.cast(pl.String)
    return np.asarray(plain.rank("dense").fill_null(0).to_numpy(), dtype=np.int64) - 1


def units_within(group: Ints, column: pl.Series) -> Ints:
    """[n] Codes of the units that a column names, told apart within groups."""
    unit = column_codes(column)
    unit = np.where(unit < 0, unit.max() + 1 + np.arange(len(unit)), unit)
    return _combined(np.column_stack([group, unit]))


def _group_of(unit: Ints, group: Ints) -> Ints:
    """[m] The group of every unit, from the codes [n] of both."""
    found = np.empty(int(unit.max()) + 1, dtype=np.int64)
    found[unit] = group
    return found


def _combined(codes: Ints) -> Ints:
    """Codes 0, 1, … of the distinct rows of codes [n, k]."""
    packed = pack(np.asarray(codes, dtype=np.int32))
    return np.asarray(np.unique(packed, return_inverse=True)[1], dtype=np.int64)


def _fractions(column: pl.Series, group: Ints, unit: Ints, what: str) -> Floats:
    """[g] The sampling fraction within each group of records, from fractions or numbers of units."""
    given = _numbers(column)
    low, high = np.full(int(group.max()) + 1, np.inf), np.zeros(int(group.max()) + 1)
    np.minimum.at(low, group, given)
    np.maximum.at(high, group, given)
    if (low < high).any():
        first = int(np.flatnonzero(low < high)[0])
        raise DataError(
            f"The finite population column {column.name!r} must be the same throughout a {what}.",
            given=f"{len(np.unique(given[group == first]))} values in one {what}",
        )
    if (given <= 1).all():
        return high
    drawn = np.bincount(_group_of(unit, group), minlength=len(low))
    short = drawn > high
    if short.any():
        first = int(np.flatnonzero(short)[0])
        raise DataError(
            f"{column.name!r} says that a {what} has fewer sampling units than were drawn.",
            given=f"{high[first]:g} in the population, {drawn[first]} drawn",
        )
    return np.asarray(drawn / high)


def _numbers(column: pl.Series) -> Floats:
    if not column.dtype.is_numeric():
        raise ColumnError(
            f"The finite population column {column.name!r} does not hold numbers.",
            given=in_words(column.dtype),
        )
    given = np.asarray(column.cast(pl.Float64).to_numpy(), dtype=np.float64)
    if not np.isfinite(given).all() or (given <= 0).any():
        raise DataError(
            f"The finite population column {column.name!r} must hold positive numbers, none missing.",
            allowed=_SHARES,
        )
    if (given < 1).any() and (given > 1).any():
        raise DataError(
            f"The finite population column {column.name!r} holds both shares and numbers of units.",
            given=f"{given.min():g} to {given.max():g}",
            allowed=_SHARES,
        )
    return given
