"""What is decided for a whole file before the strata of a synthesis are fitted and drawn one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.errors import OptionError
from sdckit.protect._engine_homes import home_facts_on_engine
from sdckit.protect._synthesis_draft import computed_values
from sdckit.protect._synthesis_facts import facts_of
from sdckit.protect._synthesis_households import HomeFacts, home_facts
from sdckit.protect._synthesis_names import refuse_names, refuse_rare_spikes
from sdckit.protect._synthesis_order import (
    Scope,
    after_conditions,
    numbers_of,
    order_of,
    refuse_late,
    scope_of,
)
from sdckit.protect._synthesis_rules import Rule, Rules, parsed, requirements


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that a fit depends on. apart: columns that are neither drawn nor predict."""

    variables: tuple[str, ...]
    order: tuple[str, ...]
    predictors: Mapping[str, Sequence[str]]
    leaf: int
    gain: float
    tails: int
    spikes: Mapping[str, Sequence[float]] | None
    categories: tuple[str, ...]
    rules: tuple[Rule, ...]
    require: tuple[str, ...]
    derive: Mapping[str, str]
    zeros: bool
    uniques: bool
    by: tuple[str, ...]
    apart: tuple[str, ...]
    some: bool
    by_weight: bool
    smooth: bool


@dataclass(frozen=True, slots=True)
class Kinds:
    """Which columns are drawn, in which order, and as what. numbers: those that are, with their spikes.

    homes: what is true of the households; None where records are drawn one by one. Of 100 records a column
    may have 20 values, or all households one of its values: strata must not decide such things for
    themselves.
    """

    scope: Scope
    order: tuple[str, ...]
    numbers: Mapping[str, tuple[float, ...]]
    homes: HomeFacts | None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are drawn or predict."""
        return (*self.scope.kept, *self.scope.targets)

    def keys(self, data: Microdata) -> list[str]:
        """The columns among them that are keys."""
        return [c for c in data.roles.keys if c in self.columns]


def kinds_of(data: Microdata, asked: Asked) -> Kinds:
    """What is decided for a file on any engine; what cannot be drawn is refused."""
    empty = data if data.engine == "polars" else without_records(data)
    rules = Rules(empty, asked.rules)
    expressions = expressions_of(empty, asked)
    scope = scope_of(empty, asked.variables, (*asked.derive, *asked.apart), some=asked.some)
    if scope.full and asked.apart and not asked.by_weight:
        raise OptionError(
            "A fully synthetic file cannot keep weights: its records are no persons.",
            given="weights: keep",
            allowed="synthesise, equal",
        )
    columns = (*scope.kept, *scope.targets)
    on_engine = data.engine != "polars"
    homes = home_facts_on_engine(data, columns) if on_engine else home_facts(data, columns)
    if homes is not None and not scope.full and homes.size_name in scope.targets:
        kept = (*scope.kept, homes.size_name)  # members stay what they are
        scope = Scope(tuple(c for c in scope.targets if c != homes.size_name), kept, full=False)
    strange = [c for c in rules.variables if c not in scope.targets]
    if strange:
        raise OptionError("rules give values to columns that are not drawn.", given=join_names(strange))
    home = None if homes is None else data.roles.household
    facts = facts_of(data, (*scope.kept, *scope.targets), home)
    codes_only = asked.categories if homes is None else (*asked.categories, homes.size_name)
    numbers = numbers_of(data, facts, codes_only, asked.spikes)
    refuse_names(data, scope, facts, numbers, smooth=asked.smooth)
    refuse_rare_spikes(facts, asked.spikes or {}, asked.leaf)
    order = order_of(data, scope.targets, numbers, asked.order)
    if homes is not None:
        ranks = homes.size_name, homes.shared, homes.relation
        order = sorted(order, key=lambda c: (c != ranks[0], c not in ranks[1], c != ranks[2]))
    order = after_conditions(order, rules.conditions())
    requirements(empty, asked.require, order, expressions)
    for name in rules.variables:
        rules.free(name, np.empty(0, dtype=np.int32))  # a condition that fails does so before any work
    size = () if homes is None else (homes.size_name,)
    for place, name in enumerate(order):
        if name in asked.predictors:
            refuse_late(name, asked.predictors[name], (*scope.kept, *size, *order[:place]))
    return Kinds(scope, tuple(order), numbers, homes)


def expressions_of(data: Microdata, asked: Asked) -> dict[str, pl.Expr]:
    """The columns that are computed of others."""
    expressions = {name: parsed(text, data, "derive") for name, text in asked.derive.items()}
    for name, expression in expressions.items():
        data.require(name)
        computed = [c for c in expression.meta.root_names() if c in expressions]
        if computed:  # a column of itself would be the person's own, and a circle has no end
            raise OptionError(
                f"The computed column {name!r} needs columns that are computed, too.",
                given=join_names(computed),
                allowed="columns that are drawn or kept",
            )
        computed_values(expression, data.frame.clear(2), asked.derive[name])
    return expressions


def without_records(data: Microdata) -> Microdata:
    """The file in memory without a record: what depends on names and types alone is checked on it."""
    return replace(data, frame=frames.gather(data.table.head(0)), kind="polars")
