"""Identification risk of synthetic data: expected match risk, true and false match rate."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, stdev
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Bools, Floats, Ints
from sdckit._support.messages import join_names, require_known
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import PROTECTED, match_records
from sdckit.data.result import Result
from sdckit.data.values import in_words
from sdckit.engine import frames
from sdckit.engine.tables import COUNT, OURS, join_cells
from sdckit.errors import ColumnError, OptionError
from sdckit.methods.options import KEYS, Column, Columns, Option
from sdckit.methods.recoding import apply_same_recoding
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Compares, Figure, records, share
from sdckit.risk._synthetic import KnownColumns, as_sets, in_all, lost_note, same_type

NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Radius = NonNegative | Mapping[Column, NonNegative]

# 0.7 + 0.1 is below 0.8 in binary: the ends are this many roundings wider, so that they stay closed
_ROUNDINGS = 4


class Shape(StrEnum):
    """What several radii make together.

    box: every variable within its own radius.
    ellipsoid: the sum of the squared differences, each in units of its radius, at most 1.
    """

    BOX = "box"
    ELLIPSOID = "ellipsoid"


@dataclass(frozen=True, slots=True)
class Window:
    """How near a number must be: within a radius, in its own unit or relative to the target's value."""

    radius: float
    relative: bool


@risk(
    "Identification risk of synthetic data",
    family="Synthetic files",
    unit="records expected to be matched",
    compares=Compares.RECORDS,
    counts_records=True,
    main="synthesised",
    figures={
        "expected_match_risk": records("Records expected to be matched"),
        "unique_matches": records("Records with a unique match"),
        "between_sets": Figure("Standard deviation between the sets", "records", Better.NEITHER),
        "match_risk_per_record": share("Match risk per record"),
        "true_match_rate": share("True match rate"),
        "false_match_rate": share("False match rate", better=Better.HIGH),
    },
    chart=charts.TableBars(
        "sets", "set", "expected_match_risk", "records expected to be matched", prefix="set "
    ),
    reference="Reiter & Mitra (2009); Drechsler & Reiter (2008); Hu (2019)",
    interpretation=(
        "An intruder knows some variables and the true values of the synthesised ones, and picks at random "
        "among the synthetic records that agree. The value is how many such picks should be right: 41 of "
        "10,000 is 0.4 % per record. A high false match rate protects: matches that look unique are wrong."
    ),
)
def identification_risk(
    original: Microdata,
    synthetic: Microdata | Sequence[Microdata],
    *,
    known: KnownColumns = KEYS,
    synthesised: Annotated[
        Columns,
        Option("Synthesised", "The synthesised variables, whose true values the intruder knows.", True),
    ],
    radius: Annotated[
        Radius | None,
        Option(
            "Radius",
            "How near a synthetic number must be to match, for all or {column: number}.",
            True,
            absent="numbers must be equal",
        ),
    ] = None,
    relative_radius: Annotated[
        Radius | None,
        Option(
            "Relative radius",
            "The same as a share of the person's own value: 0.2 is 20 %.",
            unit="share",
            absent="radius",
        ),
    ] = None,
    shape: Annotated[
        Shape,
        Option(
            "Several numbers",
            "What several radii make together.",
            choices={
                "box": "every variable within its own radius",
                "ellipsoid": "the squared differences, in units of the radii, add up to at most 1",
            },
        ),
    ] = Shape.BOX,
) -> Result:
    r"""How many records an intruder is expected to find in partially synthetic data.

    For each record i, cᵢ is the number of synthetic records equal to it on the `known` variables and equal
    to, or near, its original values on the `synthesised` ones. Tᵢ = 1 if its own synthetic record (the same
    id, else the same position) is among them, otherwise, and so also for cᵢ = 0, Tᵢ = 0. Kᵢ = [cᵢTᵢ = 1],
    Fᵢ = [cᵢ(1−Tᵢ) = 1], s = #{cᵢ = 1}.

    .. math:: \text{expected match risk} = \sum_{c_i>0} \frac{T_i}{c_i}, \quad
       \text{true match rate} = \frac{\sum_i K_i}{n}, \quad \text{false match rate} = \frac{\sum_i F_i}{s}

    The expected match risk is a sum: 0 nobody can be found, n everybody is. For m synthetic sets value and
    figures are means over the sets; the table `sets` has each, `between_sets` is their standard deviation.
    The false match rate is left out where no set has a unique match. parts: c, t, k, f by record and set.

    **Near.** A synthesised column in the numeric role, or named in a radius, matches within ± `radius` of the
    target's value, or within `relative_radius`·|value| (0.2 is 20 % of the target's own value); the interval
    is closed. One number goes for all such columns, {column: number} for each; where no synthesised column is
    in the numeric role, one number goes for all that hold numbers. 0 asks for equal values.

    **Several numbers.** Each has its own radius, because each is known to the intruder with its own error and
    in its own unit. `box` asks for all of them within their radius, as the categorical rule asks for all
    equal: the radii can be set one by one, and a variable more never adds matches. `ellipsoid` takes
    the errors together, Σ((y−x)/r)² ≤ 1: a record at the limit in one variable may not differ in another.
    It is the smaller set (π/4 of the box for two variables, π/6 for three) and suits radii that are
    multiples of a standard error. Correlations are left out on purpose: what counts is the error
    of the intruder's knowledge, not how the variables vary in the population. The risk is not monotone in the
    radius (a wider one finds the record more often among more others), so try several.

    Where `recode` or `group` changed a column that must be equal, the original is recoded in the same way;
    known variables that were dropped help nobody, a note says so.
    Weights: not used, the targets are the records of the file. Missing values: equal only to missing ones.
    Reference: Reiter & Mitra (2009). Departures: the R package IdentificationRiskCalculation has open
    intervals; it and the course code set T = 1 for c = 0, which no figure uses. A column both known and
    synthesised counts as synthesised.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": list("ffmm"), "born": list("aaab")}), keys="sex")
    >>> made = data.with_frame(pl.DataFrame({"sex": list("ffmm"), "born": list("abab")}))
    >>> result = sdc.risk.identification_risk(data, made, synthesised="born")
    >>> result.value, result.figures["true_match_rate"]  # the first and the last two are found, alone
    (3.0, 0.75)
    """
    windows = _windows(original, synthesised, radius, relative_radius)
    files = as_sets(synthetic, synthesised)
    there, lost = in_all(files, [c for c in known if c not in synthesised])
    notes = lost_note(lost)
    equal = [c for c in dict.fromkeys((*there, *synthesised)) if c not in windows]
    if not equal and not windows and lost:
        return Result(math.nan, notes=(*notes, "There is nothing left to match on."), lost=lost)
    if not equal and not windows:
        hint = "Name variables in the options known or synthesised."
        raise OptionError("There is nothing to match on.", hint=hint)
    found = []
    for data in files:
        alike, recoded = apply_same_recoding(original, data, equal)
        notes = tuple(dict.fromkeys((*notes, *recoded)))
        c, t = _matches(alike, data, equal, windows, shape)
        found.append(pl.DataFrame({"c": c, "t": t, "k": c * t == 1, "f": c * (1 - t) == 1}))
    sets = pl.DataFrame([_summary(i, one) for i, one in enumerate(found, 1)])
    rates = sets["false_match_rate"].drop_nulls()
    names = ("expected_match_risk", "match_risk_per_record", "true_match_rate", "unique_matches")
    figures = {name: fmean(sets[name]) for name in names}
    notes += _notes(original, equal, windows)
    if len(rates):
        figures["false_match_rate"] = fmean(rates)
    else:
        notes += ("No record has a unique match, so there is no false match rate.",)
    if len(found) > 1:
        figures["between_sets"] = stdev(sets["expected_match_risk"])
        notes += (f"Means over {len(found)} synthetic sets.",)
    parts = _parts(original, found)
    return Result(figures["expected_match_risk"], figures, parts, notes, {"sets": sets}, lost=lost)


def _windows(
    data: Microdata, synthesised: Sequence[str], radius: Radius | None, relative: Radius | None
) -> dict[str, Window]:
    """The window of each continuous column."""
    each = {**_by_column(radius, relative=False), **_by_column(relative, relative=True)}
    require_known(sorted(each), synthesised, "A radius is for synthesised columns.")
    for_all = [Window(r, r is relative) for r in (radius, relative) if isinstance(r, float)]
    given = [*_by_column(radius, relative=False), *_by_column(relative, relative=True)]
    if len(given) > len(each) or len(for_all) > 1:
        raise OptionError("A column has a radius or a relative_radius, not both.")
    schema = frames.schema(data.frame)
    continuous = {c for c in synthesised if c in data.roles.numeric} | set(each)
    if for_all and not continuous:
        continuous = {c for c in synthesised if schema[c].is_numeric()}
    windows = {}
    for column in (c for c in synthesised if c in continuous):
        if not schema[column].is_numeric():
            raise ColumnError(
                f"A radius needs numbers; column {column!r} does not hold numbers.",
                given=in_words(schema[column]),
            )
        if column not in each and not for_all:
            raise OptionError(
                f"{column!r} is in the numeric role: how near is a match?",
                hint="Name it in the option radius or relative_radius; 0 asks for equality.",
            )
        windows[column] = each[column] if column in each else for_all[0]
    return windows


def _by_column(radius: Radius | None, *, relative: bool) -> dict[str, Window]:
    """The windows of the columns that a radius names."""
    named = radius.items() if isinstance(radius, Mapping) else ()
    return {column: Window(size, relative) for column, size in named}


def _matches(
    original: Microdata,
    data: Microdata,
    equal: Sequence[str],
    windows: Mapping[str, Window],
    shape: Shape,
) -> tuple[Ints, Ints]:
    """c and t of every record."""
    both = frames.gather(match_records(original, data, [*equal, *windows]))
    pairs = [same_type(both[c], both[c + PROTECTED]) for c in (*equal, *windows)]
    near = pairs[len(equal) :]
    missing = [(x.is_null(), y.is_null()) for x, y in near if x.null_count() or y.null_count()]
    exact = pairs[: len(equal)] + missing
    left, right = (
        pl.DataFrame([s[side].alias(f"{OURS}{i}") for i, s in enumerate(exact)]) for side in (0, 1)
    )
    t = np.ones(original.height, dtype=np.bool_)
    for x, y in exact:
        t &= x.eq_missing(y).to_numpy()
    if not near:
        cells = right.group_by(right.columns).agg(pl.len().cast(pl.Int64).alias(COUNT))
        counts = join_cells(left, cells, right.columns, [COUNT])[COUNT]
        return counts.fill_null(0).to_numpy(), t.astype(np.int64)
    return _near(left, right, t, near, list(windows.values()), shape)


def _near(
    left: pl.DataFrame,
    right: pl.DataFrame,
    t: Bools,
    near: Sequence[tuple[pl.Series, pl.Series]],
    windows: Sequence[Window],
    shape: Shape,
) -> tuple[Ints, Ints]:
    """c and t where numbers must lie in a window, within groups of records that are otherwise equal."""
    from sdckit.kernels.match_windows import count_in_windows, pairs_in_window

    x, y = (np.column_stack([_floats(pair[side]) for pair in near]) for side in (0, 1))
    width = np.column_stack(
        [
            w.radius * np.abs(c) if w.relative else np.full(len(c), w.radius)
            for w, c in zip(windows, x.T, strict=True)
        ]
    )
    width += _ROUNDINGS * np.finfo(np.float64).eps * (np.abs(x) + width)
    # powers of two change no digit: with windows of about 1 the k-d tree cuts where it helps
    typical = [np.median(w[w > 0]) if (w > 0).any() else 1.0 for w in width.T]
    scale = np.exp2(np.round(np.log2(typical)))
    x, y, width = x / scale, y / scale, width / scale
    groups = [np.zeros(len(x), dtype=np.int64)] * 2
    if right.width:
        number = f"{OURS}cell"
        cells = right.unique().with_row_index(number)
        groups = [
            join_cells(side, cells, right.columns, [number])[number].cast(pl.Int64).fill_null(-1).to_numpy()
            for side in (left, right)
        ]
    ellipsoid = shape is Shape.ELLIPSOID
    c = count_in_windows(x, width, groups[0], y, groups[1], ellipsoid=ellipsoid)
    t = t & pairs_in_window(x, width, y, ellipsoid)
    return c, t.astype(np.int64)


def _floats(column: pl.Series) -> Floats:
    """Missing values become 0 on both sides; the groups keep them apart from numbers."""
    if not column.dtype.is_numeric():
        raise ColumnError(
            f"A radius needs numbers; column {column.name!r} does not hold numbers in the synthetic file.",
            given=in_words(column.dtype),
        )
    return np.asarray(column.cast(pl.Float64).fill_null(0.0).to_numpy())


def _summary(number: int, one: pl.DataFrame) -> dict[str, float | int | None]:
    """The figures of one set."""
    unique = int((one["c"] == 1).sum())
    total = float(one.filter(pl.col("c") > 0).select((pl.col("t") / pl.col("c")).sum()).item())
    return {
        "set": number,
        "expected_match_risk": total,
        "match_risk_per_record": total / one.height,
        "true_match_rate": float(one["k"].sum()) / one.height,
        "false_match_rate": float(one["f"].sum()) / unique if unique else None,
        "unique_matches": unique,
        "without_match": int((one["c"] == 0).sum()),
    }


def _parts(original: Microdata, found: Sequence[pl.DataFrame]) -> pl.DataFrame:
    ids = original.ids(beside=("set", "c", "t", "k", "f"))
    return pl.concat(
        one.with_columns(pl.col("t", "k", "f").cast(pl.Int8)).select(
            ids, pl.lit(number, pl.Int32).alias("set"), "c", "t", "k", "f"
        )
        for number, one in enumerate(found, 1)
    )


def _notes(original: Microdata, equal: Sequence[str], windows: Mapping[str, Window]) -> tuple[str, ...]:
    """Which variables had a window, and what missing values meant."""
    notes: tuple[str, ...] = ()
    if windows:
        near = [
            f"{c} within ±{w.radius:.4g}{' of its value' if w.relative else ''}" for c, w in windows.items()
        ]
        notes += (f"Matched nearly: {join_names(near)}. All others must be equal.",)
    if any(original.frame[c].null_count() for c in (*equal, *windows)):
        notes += ("A missing value matches only a missing value.",)
    return notes
