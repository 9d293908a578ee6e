"""Outlier disclosure: interval disclosure with wider intervals for records far from the bulk."""

import math
from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Bools, Floats
from sdckit._support.number_text import count_of
from sdckit.data.common_columns import lost_columns
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import match_numbers
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.methods.options import NUMERIC, NumericColumns, Option
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Compares, Figure, share
from sdckit.models.chi_square import chi_square_quantile
from sdckit.risk._points import by_record
from sdckit.risk._synthetic import require_named
from sdckit.risk._uncertainty import wilson

_EDGES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, math.inf)
_SHARE = 0.05  # an interval of width 1 is a twentieth of the robust distance to either side


class Needs(StrEnum):
    """How many variables must lie inside for a record to be at risk."""

    ANY = "any"
    ALL = "all"


@risk(
    "Records disclosed, outliers with wider intervals",
    family="Numbers",
    bounds=(0, 1),
    unit="share of records",
    needs=Role.NUMERIC,
    compares=Compares.RECORDS,
    share=True,
    main="width",
    figures={
        "weighted_inside": Figure("Records inside, counted by how far out they lie"),
        "weighted_at_risk": Figure("Records at risk, counted by how far out they lie"),
        "inside": share("Records inside the interval, whatever their neighbours"),
        "outliers": share("Records that are outliers", better=Better.NEITHER),
        "outliers_at_risk": share("Outliers at risk"),
        "low": share("At least (95 % interval)"),
        "high": share("At most (95 % interval)"),
    },
    chart=charts.outliers_at_risk,
    reference="Templ & Meindl (2008)",
    interpretation=(
        "An intruder recognises an outlier, such as the largest firm of a region, even when its numbers were "
        "moved a lot, unless other protected records lie close by. 0: no such record. 0.05: one record in "
        "twenty can be recognised. Not informative after swapping or synthesis."
    ),
)
def outlier_disclosure(
    original: Microdata,
    protected: Microdata,
    *,
    width: Annotated[
        float,
        Field(ge=0, allow_inf_nan=False),
        Option("Width", "The interval, as a multiple of a twentieth of the robust distance.", True),
    ] = 0.01,
    neighbour: Annotated[
        float,
        Field(ge=0, allow_inf_nan=False),
        Option(
            "Close neighbour",
            "A record with another protected record as near as this is hidden by it.",
            unit="standard deviations",
        ),
    ] = 0.05,
    variables: NumericColumns = NUMERIC,
    inside: Annotated[
        Needs,
        Option(
            "Inside on",
            "On how many variables a record must be inside to be at risk.",
            choices={"any": "at least one variable", "all": "every variable"},
        ),
    ] = Needs.ANY,
) -> Result:
    r"""Share of records near their original, measured by how outlying they are, and with no neighbour.

    .. math:: |z'_{ij} - z_{ij}| < w\,r_i, \qquad r_i = 0.05\,\sqrt{(z_i - \bar z)^T C^{-1} (z_i - \bar z)}

    z and z' are the original and protected numbers, each file standardised by its own mean and standard
    deviation (n−1); C is the covariance of z by the reweighted MCD, which outliers cannot inflate; w is
    `width`. A record is inside when this holds for any variable (`inside="all"`: for all). It is at risk when
    it is inside and its nearest other protected record is farther than `neighbour` standard deviations
    (Euclidean over z'): close records hide each other. The value is the share at risk.

    figures: inside (share inside, whatever the neighbours), outliers (share of records whose robust distance,
    from the centre of the MCD, exceeds the 0.975 quantile of χ), outliers_at_risk (of these, the share at
    risk), weighted_inside and weighted_at_risk (their number times the sum of their r, over n: sdcMicro's
    wrisk1 and wrisk2), low and high (95 % interval of Wilson of the value). parts, per record:
    robust_distance, reach (r), inside, neighbour_distance, at_risk; empty where a number is missing. tables:
    `distances`, records by robust distance in multiples of that quantile: all, at_risk, and hidden (inside
    with a neighbour).

    Weights: not used. Missing: records with a missing number in either file are left out, also from n. Where
    half of the records lie on a plane (more than half zeros in a variable, say) the MCD covariance cannot be
    inverted and the plain covariance takes its place. Variables that do not vary are left out. Records meet
    by id or position. Cost: n·log n time, O(n) memory.
    Reference: Templ & Meindl (2008). As sdcMicro's dRiskRMD (`width` is its k, `neighbour` its k2; the
    centre is the plain mean, inequalities are strict): the value is its risk2 and the figure `inside` its
    risk1, up to the search for the MCD, which is ours.

    >>> import sdckit as sdc
    >>> data = sdc.demo.business(n=300, seed=1)
    >>> sdc.risk.outlier_disclosure(data, sdc.protect.microaggregate(data, k=3)).value
    0.0
    """
    from sdckit.models.mcd import mcd_or_plain

    require_named([protected], variables)
    lost = lost_columns(original, protected, variables, numeric=True)
    names, x, y, notes = match_numbers(original, protected, variables)
    complete = np.asarray(~(np.isnan(x) | np.isnan(y)).any(axis=1))
    if not complete.all():
        notes += (f"{count_of(int((~complete).sum()), 'record', 'records')} with a missing number left out.",)
    x, y = x[complete], y[complete]
    varies = np.array([_varies(a) and _varies(b) for a, b in zip(x.T, y.T, strict=True)], dtype=bool)
    if len(x) < 2 or not varies.any():
        notes += ("No variable varies over the complete records of both files.",)
        return Result(math.nan, notes=notes, lost=lost)
    if not varies.all():
        flat = [c for c, v in zip(names, varies, strict=True) if not v]
        notes += (f"Does not vary, left out: {', '.join(flat)}.",)
    z, other = standardised(x[:, varies]), standardised(y[:, varies])
    centre, covariance, singular = mcd_or_plain(z)
    if singular:
        notes += (
            "The MCD covariance is singular: half of the records lie on a plane, or there are too few. "
            "The plain covariance took its place, so outliers look less outlying than they are.",
        )
    found = at_risk(z, other, covariance, width, neighbour, inside)
    result = _result(found, distances(z, centre, covariance), z.shape[1], original, complete, notes)
    return replace(result, lost=lost)


def at_risk(
    z: Floats, other: Floats, covariance: Floats, width: float, neighbour: float, needs: Needs
) -> tuple[Floats, Bools, Floats, Bools]:
    """Per record r, inside, the distance to the nearest other protected record, and at risk."""
    r = _SHARE * distances(z, z.mean(axis=0), covariance)
    near = np.abs(other - z) < width * r[:, None]
    inside = np.asarray(near.any(axis=1) if needs is Needs.ANY else near.all(axis=1))
    apart = _nearest_other(other)
    return r, inside, apart, inside & (apart > neighbour)


def distances(z: Floats, centre: Floats, covariance: Floats) -> Floats:
    """Mahalanobis distances of the rows."""
    from sdckit.models.mcd import squared_distances

    return np.asarray(np.sqrt(np.maximum(squared_distances(z, centre, covariance), 0.0)))


def standardised(x: Floats) -> Floats:
    """Columns less their mean, over their standard deviation (n−1); divided by their size first."""
    x = x / np.abs(x).max(axis=0)
    return np.asarray((x - x.mean(axis=0)) / x.std(axis=0, ddof=1))


def _varies(column: Floats) -> bool:
    return len(column) > 0 and float(column.min()) < float(column.max())


def _nearest_other(points: Floats) -> Floats:
    """The distance of each row to the nearest other one."""
    from sdckit.kernels.nearest import Rule, build, two_nearest

    p = points.shape[1]
    tree = build(np.ascontiguousarray(points), Rule(np.zeros(p, bool), np.ones(p), np.ones(p), True, True))
    distance = np.empty(len(points))
    distance[tree.record] = np.sqrt(two_nearest(tree, tree.points, tree.record)[0])
    return distance


def _result(
    found: tuple[Floats, Bools, Floats, Bools],
    robust: Floats,
    variables: int,
    original: Microdata,
    complete: Bools,
    notes: tuple[str, ...],
) -> Result:
    r, inside, apart, risky = found
    n, value = len(r), float(risky.mean())
    limit = math.sqrt(chi_square_quantile(0.975, variables))
    far = robust > limit
    low, high = wilson(value, n)
    figures = {
        "inside": float(inside.mean()),
        "outliers": float(far.mean()),
        "outliers_at_risk": float(risky[far].mean()) if far.any() else 0.0,
        "weighted_inside": float(inside.sum() * r[inside].sum() / n),
        "weighted_at_risk": float(risky.sum() * r[risky].sum() / n),
        "low": low,
        "high": high,
    }
    columns = pl.DataFrame(
        {
            "robust_distance": robust,
            "reach": r,
            "inside": inside,
            "neighbour_distance": apart,
            "at_risk": risky,
        }
    )
    place = pl.Series(np.where(complete, np.cumsum(complete) - 1, -1))
    place = place.set(place < 0, None)
    parts = by_record(original, pl.DataFrame([columns[c].gather(place) for c in columns.columns]))
    return Result(value, figures, parts, notes, {"distances": _by_distance(robust / limit, inside, risky)})


def _by_distance(times: Floats, inside: Bools, risky: Bools) -> pl.DataFrame:
    """Records by class of distance, up to the farthest one's."""
    place = np.clip(np.searchsorted(_EDGES, times, side="left") - 1, 0, None)  # on the limit: no outlier
    last = int(place.max()) + 1
    which = {"records": np.ones_like(risky), "at_risk": risky, "hidden": inside & ~risky}
    counts = {name: np.bincount(place[rows], minlength=last) for name, rows in which.items()}
    return pl.DataFrame({"from": _EDGES[:last], "to": _EDGES[1 : last + 1], **counts})
