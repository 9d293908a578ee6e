"""Variables of households: protected once for each household, and given back to all its members."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any, TypeVar, cast

import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.data.effects import merged
from sdckit.data.microdata import LogEntry, Microdata
from sdckit.protect._memory import refuse_shared

F = TypeVar("F", bound=Callable[..., Microdata])


def never(_: Mapping[str, Any]) -> bool:
    """No options under which a new value follows from the old one alone."""
    return False


def once_per_household(*, value_by_value: Callable[[Mapping[str, Any]], bool] = never) -> Callable[[F], F]:
    """Decorates a protection (below `@protection`): what households share, they still share afterwards.

    Variables whose present values are the same for all members of every household are protected in a file of
    one record per household (its first member's, for strata and weights) and merged back; then the other
    variables are protected in the file of all records. Without a household role nothing is different. The
    protection must have the option `variables` and keep the number and order of records. Draws are those of
    the household's number instead of a record's id. Outside memory such variables are refused. Its
    figures of the household file get the prefix `household_`; effects are those of both files. Missing values
    stay missing; a record without a household number is a household of its own.

    value_by_value: whether a new value follows from the old one and these options alone. Members with the
    same value then get the same one anyway, on every engine, and the file of records is all that is needed.
    """
    return partial(_decorated, value_by_value=value_by_value)


def _decorated(function: F, value_by_value: Callable[[Mapping[str, Any]], bool]) -> F:
    @wraps(function)
    def protect(data: Microdata, *, variables: Sequence[str], **options: Any) -> Microdata:
        if value_by_value(options):
            return function(data, variables=variables, **options)
        if data.engine != "polars":
            refuse_shared(data, tuple(variables))
            return function(data, variables=variables, **options)
        homes = households(data)
        shared = [c for c in dict.fromkeys(variables) if homes is not None and homes.share(data.frame[c])]
        if homes is None or not shared:
            return function(data, variables=variables, **options)
        done = function(homes.file(data, shared), variables=shared, **options)
        steps = done.steps_since(data)
        figures: dict[str, Any] = {"household_variables": shared, "households": len(homes.first)}
        figures |= {f"household_{name}": value for name, value in _figures(steps).items()}
        columns = [homes.to_members(done.frame[c], data.frame[c]) for c in shared]
        both = replace(done, roles=data.roles).with_frame(data.frame.with_columns(columns))
        own = [c for c in variables if c not in shared]
        if own:
            both = function(both, variables=own, **options)
            figures = {**_figures(both.steps_since(done)), **figures}
        effects = merged(entry.effects for entry in both.steps_since(data))
        return replace(both, log=(*data.log, LogEntry("", {}, figures, effects)))

    return cast("F", protect)


def _figures(steps: Sequence[LogEntry]) -> dict[str, Any]:
    return {name: value for entry in steps for name, value in entry.figures.items()}


@dataclass(frozen=True, slots=True)
class Households:
    """number: the household 0, 1, … of each record. first: the first record of each household."""

    number: Ints
    first: Ints

    def holders(self, column: pl.Series) -> Ints:
        """A record with a present value in each household, or one without where none has any."""
        holder = self.first.copy()
        present = np.flatnonzero(column.is_not_null().to_numpy())[::-1]
        holder[self.number[present]] = present  # the first of them is written last
        return holder

    def share(self, column: pl.Series) -> bool:
        """Whether all present values agree within households, some of which have two of them."""
        held = column.gather(self.holders(column)[self.number])
        present = self.number[column.is_not_null().to_numpy()]
        return bool((held == column).all()) and bool((np.bincount(present) > 1).any())

    def file(self, data: Microdata, shared: Sequence[str]) -> Microdata:
        """One record per household."""
        values = [data.frame[c].gather(self.holders(data.frame[c])) for c in shared]
        roles = replace(
            data.roles, id=data.roles.household
        )  # so that draws do not follow the order of members
        return replace(data, roles=roles).with_frame(data.frame[self.first].with_columns(values))

    def to_members(self, column: pl.Series, before: pl.Series) -> pl.Series:
        """A column of the household file laid out by record, missing where it was missing."""
        laid = column.gather(self.number)
        return pl.select(pl.when(before.is_not_null()).then(laid).alias(before.name)).to_series()


def households(data: Microdata) -> Households | None:
    """The households of a file in memory, or None where it has no household role."""
    name = data.roles.household
    if name is None:
        return None
    rows = pl.DataFrame([data.frame[name].alias("home")]).with_row_index("row")
    first = pl.when(pl.col("home").is_null()).then("row").otherwise(pl.col("row").first().over("home"))
    start = rows.select(first.cast(pl.Int64)).to_series().to_numpy()
    heads = np.flatnonzero(start == np.arange(len(start)))
    return Households(np.searchsorted(heads, start), heads)
