"""Pictures of a risk–utility map."""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isclose, isfinite
from typing import TYPE_CHECKING, Any

import polars as pl

from sdckit._support.messages import did_you_mean, join_names
from sdckit.choose.cross_table import tabulated
from sdckit.choose.quantity import Quantity
from sdckit.errors import OptionError
from sdckit.methods.spec import Kind

if TYPE_CHECKING:
    from sdckit.choose.risk_utility_map import RiskUtilityMap

EXPECTED = "expected_reidentifications"  # a figure of some risks
MOSAICS = 12  # of more scenarios only those on the front are drawn, unless they are named


def map_chart(found: "RiskUtilityMap", *, risk: str | None = None, utility: str | None = None) -> Any:
    """The map as an Altair chart, with another of the measures on an axis where one is named.

    The recommended scenario stays that of the map itself.
    """
    from sdckit.charts import risk_utility_map

    view = found.with_axes(risk=risk, utility=utility)
    return risk_utility_map(
        _marked(found, view),
        original_risk=view.original.risk,
        max_risk=view.max_risk,
        risk_title=_title(view.risk),
        loss_title=_title(view.utility),
        risk_is_share=is_share(view.risk),
        loss_is_share=is_share(view.utility),
        advice=found.advice,
    )


def small_maps(found: "RiskUtilityMap", utilities: str | Sequence[str] | None = None) -> Any:
    """Small maps side by side, one a utility measure, against the same risk; the recommended in each.

    By default the map itself and then every other utility measured: see `extra_measures` of `compare`.
    """
    from sdckit.charts import MapPanel, risk_utility_multiples

    if utilities is None:
        names = [
            n for n in (*found.utility, *found.extra_measures) if Quantity.named(n).spec.kind is Kind.UTILITY
        ]
        views = [found, *(found.with_axes(utility=n) for n in names if [n] != list(found.utility))]
    else:
        chosen = [utilities] if isinstance(utilities, str) else utilities
        views = [found.with_axes(utility=name) for name in chosen]
    if not views:
        raise OptionError("There is no utility to draw.", given="an empty list")
    panels = [MapPanel(_title(v.utility), _marked(found, v), is_share(v.utility)) for v in views]
    return risk_utility_multiples(
        panels,
        original_risk=found.original.risk,
        max_risk=found.max_risk,
        risk_title=_title(found.risk),
        risk_is_share=is_share(found.risk),
        advice=found.advice,
    )


def estimate_chart(found: "RiskUtilityMap", name: str) -> Any:
    """One estimate and its interval under every scenario, against the risk that remains.

    `name` as in `estimates`. The risk is the number of expected re-identifications where one of the risks
    counts them, else the map's. Scenarios whose protection changed what is estimated (the reference category
    of a coefficient) or that no longer allow it are named under the chart, not drawn.
    """
    from sdckit.charts import estimate_and_risk

    base = next((e for e in found.original.estimates if e.name == name), None)
    if base is None:
        known = [e.name for e in found.original.estimates]
        raise OptionError(
            f"There is no estimate {name!r} on the map.",
            allowed=join_names(known, 30) or "none: name indicators or regression when comparing",
            hint=did_you_mean(name, known),
        )
    counted = expected_quantity((*found.risk, *found.extra_measures))
    expected = isfinite(found.original.value(counted))
    drawn, skipped = [], []
    for point in found.results:
        one = next((e for e in point.estimates if e.name == name and e.measure == base.measure), None)
        risk = point.value(counted) if expected else point.risk
        same = one is not None and isclose(one.original, base.original, rel_tol=1e-9, abs_tol=1e-12)
        if one is None or not same or not isfinite(one.estimate) or not isfinite(risk):
            skipped.append(point.name)
        else:
            drawn.append((point.name, risk, (one.estimate, one.low, one.high)))
    return estimate_and_risk(
        [d[0] for d in drawn],
        [d[1] for d in drawn],
        [d[2] for d in drawn],
        (base.estimate, base.low, base.high),
        title=f"Coefficient of {_term(name)}" if base.measure == "regression" else name,
        risk_title="Expected re-identifications" if expected else _title(found.risk),
        risk_is_share=not expected and is_share(found.risk),
        original_risk=found.original.value(counted) if expected else found.original.risk,
        best=found.best.name if found.best else None,
        advice=found.advice,
        skipped=skipped,
    )


def expected_quantity(names: Iterable[str]) -> str:
    """The figure of expected re-identifications of the first risk among these that has it; empty if none.

    >>> expected_quantity(["frequencies", "il1s", "individual_risk"])
    'individual_risk.expected_reidentifications'
    """
    measured = (Quantity.named(name).spec for name in names)
    return next((f"{spec.name}.{EXPECTED}" for spec in measured if EXPECTED in spec.figures), "")


def scenario_mosaics(
    found: "RiskUtilityMap",
    variables: str | Sequence[str],
    *,
    scenarios: Sequence[str] | None = None,
    public: bool = False,
) -> Any:
    """Mosaic plots of one variable or two: the original and the scenarios side by side.

    One variable: a column a scenario, tiles its categories. Two: a mosaic a scenario. The files are made
    again from the seed. `public` puts categories together that a file has fewer than five records of.
    """
    from sdckit.charts import mosaics

    if scenarios is None:
        shown = found if len(found.results) <= MOSAICS else found.only_front()
        scenarios = [p.name for p in shown.results if p.ok]
    names = ["Original", *scenarios]
    files = [found.data, *map(found.protect, scenarios)]
    tables = tabulated(files, variables, public=public)
    return mosaics(names, tables.titles, tables.levels, tables.files, other=tables.rest[-1])


def _marked(found: "RiskUtilityMap", view: "RiskUtilityMap") -> pl.DataFrame:
    """The points of a view, with the scenario that this map recommends."""
    best = found.best.name if found.best else ""  # which no scenario is called
    return view.points.with_columns(best=pl.col("scenario") == best)


def _term(name: str) -> str:
    """A coefficient's name for people: sex[T.Female] is sex: Female."""
    return re.sub(r"\[T\.([^\]]*)\]", r": \1", name)


def _title(axis: Mapping[str, float]) -> str:
    quantities = [Quantity.named(name) for name in axis]
    if len(quantities) == 1 and not quantities[0].low_is_good:
        return quantities[0].axis_title
    return ", ".join(q.title for q in quantities)


def is_share(axis: Mapping[str, float]) -> bool:
    """Whether the numbers of an axis are shares, which are written in percent."""
    return len(axis) == 1 and Quantity.named(next(iter(axis))).is_share
