"""Differentially private synthesis: a new file from noisy tables of one and two variables."""

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Ints
from sdckit._support.messages import join_names
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.data.privacy import ENDS, PrivacyLoss, PrivacyUnit
from sdckit.data.roles import Role
from sdckit.errors import OptionError, RoleError
from sdckit.methods.options import ColumnName, Option, Shape
from sdckit.models.discrete_gaussian import uniform_below
from sdckit.models.marginal_tree import MarginalTree, marginal_tree
from sdckit.models.private_marginals import NoisyTables, Sensitivity, noisy_tables
from sdckit.models.zcdp import rho_of
from sdckit.protect._households import households
from sdckit.protect._private_domains import Domain, domains

NEVER = (Role.ID, Role.DIRECT, Role.HOUSEHOLD, Role.CLUSTER)  # roles of columns that number or name
MOSTLY = 0.5  # a share of missing values from which on codes or bounds are probably wrong


class RecordCount(StrEnum):
    """Whether the number of records is protected, too, or everybody may know it."""

    NOISY = "noisy"
    PUBLIC = "public"


# Options of a protection that hands them on to `private_synthesis`.
Epsilon = Annotated[
    float,
    Field(gt=0),
    Option(
        "ε (epsilon)",
        "What differential privacy costs at most: 1 is strong protection, 10 is weak.",
        basic=True,
        absent="no differential privacy",
    ),
]
Delta = Annotated[
    float,
    Field(gt=0, lt=1),
    Option("δ (delta)", "The probability that ε does not hold; far below one over the number of records."),
]
PossibleValues = Annotated[
    Mapping[str, Sequence[Any]],
    ColumnName(),
    Option(
        "Possible values",
        "The categories of columns without value labels, known without the data.",
        absent="value labels",
        shape=Shape.LISTS,
    ),
]
Bounds = Annotated[
    Mapping[str, Sequence[Any]],
    ColumnName(),
    Option(
        "Bounds",
        "The lowest and the highest number, or the limits of classes, known without the data.",
        absent="no column of numbers",
        shape=Shape.LISTS,
    ),
]
Unit = Annotated[
    PrivacyUnit,
    Option(
        "Unit of protection",
        "Whose presence in the file is hidden.",
        choices={"record": "one record", "household": "a household with all its members"},
    ),
]
MaxHousehold = Annotated[
    int,
    Field(ge=1),
    Option(
        "Members counted",
        "Of a larger household only so many members enter the counts.",
        unit="persons",
        absent="records are the unit",
    ),
]
CountOfRecords = Annotated[
    RecordCount,
    Option(
        "Number of records",
        "Whether everybody may know how many records the file has.",
        choices={"noisy": "it is hidden, too", "public": "everybody may know it"},
    ),
]


@dataclass(frozen=True, slots=True)
class PrivateOptions:
    """What the guarantee is about. members: of a household so many are counted at most."""

    epsilon: float | None
    delta: float = 1e-6
    unit: PrivacyUnit = PrivacyUnit.RECORD
    members: int | None = None
    count: RecordCount = RecordCount.NOISY

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit moves a table."""
        if self.unit is PrivacyUnit.HOUSEHOLD:
            return Sensitivity.of_households(self.members or 1)
        return Sensitivity.of_records(replaced=self.count is RecordCount.PUBLIC)


@dataclass(frozen=True, slots=True)
class _Fit:
    """Noisy tables of a file, the tree made of them, and the promise. They share one random number."""

    tables: NoisyTables
    tree: MarginalTree
    loss: PrivacyLoss


def private_synthesis(
    data: Microdata,
    *,
    variables: Sequence[str] = (),
    values: Mapping[str, Sequence[Any]] | None = None,
    bounds: Mapping[str, Sequence[Any]] | None = None,
    options: PrivateOptions,
    size: int | None = None,
    rng: np.random.Generator,
) -> Microdata:
    """A new file of these variables (by default all but those that number or name) and no others.

    The possible values come from value labels, `values` and `bounds`, never from the data. `bounds` are
    the lowest and the highest number, which make 20 equal classes, or the limits of all classes; numbers are
    drawn evenly within a class, whole ones and dates whole. Missing is a category of every variable.

    The noisy tables are made once for the same data and options, so that further files cost nothing more.
    `rng` draws records from them, and no noise: that comes from the secret source of the system.
    `size`: records of the new file, by default the public number or its noisy estimate.
    """
    columns = _columns(data, variables)
    _check(data, options)
    named, limits = dict(values or {}), dict(bounds or {})
    known = domains(data, columns, named, limits)
    key = (
        "private_tables",
        tuple(columns),
        repr(sorted(named.items())),
        repr(sorted(limits.items())),
        options,
    )
    fit = data.cached(key, lambda: _fit(data, known, options))
    records = size or max(round(fit.tables.total), 1)
    codes = fit.tree.draw(records, rng)
    made = {d.column: d.decode(codes[:, j], rng) for j, d in enumerate(known)}
    return _file(data, made, fit, known)


def _columns(data: Microdata, variables: Sequence[str]) -> list[str]:
    """What is synthesised, in the order of the file."""
    apart = {c for role in NEVER for c in data.roles.columns(role)}
    asked = [c for c in dict.fromkeys(variables) if c in apart]
    if asked:
        raise OptionError(
            "Columns that number or name records, households or clusters are not synthesised.",
            given=join_names(asked),
        )
    wanted = set(variables) or set(data.columns) - apart
    return [c for c in data.columns if c in wanted]


def _check(data: Microdata, options: PrivateOptions) -> None:
    """Refuse what the guarantee cannot be given for."""
    if not 0 < (options.epsilon or 0.0) < math.inf or not 0 < options.delta < 1:
        raise OptionError(
            "Differential privacy needs epsilon, a positive number, and delta between 0 and 1.",
            given=f"epsilon {options.epsilon}, delta {options.delta}",
            hint="An epsilon of 1 is often taken for strong protection, one of 10 for weak.",
        )
    if data.roles.weight is not None:
        raise RoleError(
            "Differentially private tables cannot be weighted: one record would move them by its weight.",
            given=f"the weight {data.roles.weight!r}",
            hint="Drop the column first: the synthetic file then describes the sample, not the population.",
        )
    if options.unit is PrivacyUnit.RECORD:
        if options.members is not None:
            raise OptionError("max_household goes with unit='household'.", given=options.members)
    elif data.roles.household is None:
        raise RoleError("unit='household' needs the role 'household', and the data have none.")
    elif options.members is None:
        raise OptionError(
            "unit='household' needs max_household, the most members of a household that are counted.",
            given="none",
            hint="A number known without the data, such as 6; further members are left out.",
        )
    elif options.count is RecordCount.PUBLIC:
        raise OptionError(
            "The number of records cannot be public where households are the unit: it tells their sizes.",
            given="records: public",
            allowed="records: noisy",
        )
    if options.count is RecordCount.PUBLIC and options.delta * data.height >= 1:
        raise OptionError(
            "delta must be far below one over the number of records.",
            given=options.delta,
            allowed=f"less than {1 / data.height:.2g}",
        )


def _fit(data: Microdata, known: Sequence[Domain], options: PrivateOptions) -> _Fit:
    """The tables with noise; the only look at the data."""
    rows = _counted(data, options)
    codes = np.column_stack([d.encode(data.frame[d.column])[rows] for d in known])
    total = data.height if options.count is RecordCount.PUBLIC else None
    epsilon = options.epsilon or 0.0
    looks = [e for e in (*data.prepared, *data.log) if not e.effects.record_by_record]
    budget = Fraction(rho_of(epsilon, options.delta))
    tables = noisy_tables(codes, [d.size for d in known], budget, options.sensitivity, total=total)
    loss = PrivacyLoss(
        epsilon,
        options.delta,
        float(tables.rho),
        options.unit,
        options.count is RecordCount.PUBLIC,
        int(uniform_below(2**62, 1, secrets.token_bytes)[0]),
        options.members or 1,
        tuple(dict.fromkeys(e.method or "a change" for e in looks)),
    )
    return _Fit(tables, marginal_tree(tables, [d.size - 1 for d in known]), loss)


def _counted(data: Microdata, options: PrivateOptions) -> Ints:
    """The rows that enter the counts: of a household its first ones, as many as are allowed."""
    homes = households(data) if options.unit is PrivacyUnit.HOUSEHOLD else None
    if homes is None:
        return np.arange(data.height)
    place = pl.DataFrame({"home": homes.number}).select(pl.int_range(pl.len()).over("home")).to_series()
    return np.flatnonzero(place.to_numpy() < (options.members or 1))


def _file(data: Microdata, made: Mapping[str, pl.Series], fit: _Fit, known: Sequence[Domain]) -> Microdata:
    """The new file under the roles and labels of the old, with the promise in its log."""
    numbered = data.roles.id is not None
    gone = tuple(c for c in data.columns if c not in made and c != data.roles.id)
    frame = pl.DataFrame(list(made.values()))
    if data.roles.id is not None:
        frame = frame.insert_column(0, pl.Series(data.roles.id, np.arange(1, frame.height + 1)))
    left = data.without(gone) if gone else data
    names = [c for c in left.columns if c in frame.columns]
    effects = Effects(
        reorders_rows=True,
        drops_rows=True,
        renames_ids=numbered,
        new_numbers=(data.roles.id,) if data.roles.id is not None else (),
        synthesises=tuple(made),
        drops=gone,
        new_records=True,
        privacy=(fit.loss,),
    )
    absent = {d.column: round(float(share[-1]), 3) for d, share in zip(known, fit.tree.shares, strict=True)}
    return replace(left, kind=data.kind).with_frame(
        frame.select(names),
        effects=effects,
        records_made=frame.height,
        epsilon=fit.loss.epsilon,
        delta=fit.loss.delta,
        rho=fit.loss.rho,
        unit=fit.loss.unit.value,
        guarantee=fit.loss.guarantee,
        what_ends_it=ENDS,
        noise_of_counts=round(math.sqrt(fit.tables.single_variance), 2),
        noise_of_pairs=round(math.sqrt(fit.tables.double_variance), 2),
        pairs=[f"{known[a].column} × {known[b].column}" for a, b in fit.tables.pairs],
        missing_by_noisy_counts={c: s for c, s in absent.items() if s > 0},
        mostly_missing=[c for c, s in absent.items() if s > MOSTLY],
    )
