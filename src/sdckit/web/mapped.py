"""A risk–utility map as the page shows it: numbers, pictures, and estimates against the risk."""

from typing import Any

from sdckit.choose import plain
from sdckit.choose.quantity import Quantity
from sdckit.choose.risk_utility_map import RiskUtilityMap
from sdckit.methods.spec import Kind

CHARTS = 12  # pairs of axes that are drawn
ESTIMATES = 24  # estimates that are drawn


def mapped(found: RiskUtilityMap) -> dict[str, Any]:
    """The map without its data: points, verdict on the best, pictures as Vega-Lite specifications."""
    axes = {kind: found.measured(kind) for kind in (Kind.RISK, Kind.UTILITY)}
    pairs = [(risk, utility) for risk in axes[Kind.RISK] for utility in axes[Kind.UTILITY]][:CHARTS]
    several = len(axes[Kind.UTILITY]) > 1
    return {
        **plain.risk_utility_map(found),
        "chart": found.chart().to_dict(),
        "multiples": found.multiples().to_dict() if several else None,
        "axes": {
            kind.value: {name: Quantity.named(name).title for name in names} for kind, names in axes.items()
        },
        "charts": {f"{r} {u}": found.chart(risk=r, utility=u).to_dict() for r, u in pairs} if several else {},
        "estimates": _estimates(found),
    }


def _estimates(found: RiskUtilityMap) -> list[dict[str, Any]]:
    """Each estimate with its interval, in the original and in every scenario, and its picture."""
    rows = found.estimates.to_dicts()
    return [
        {
            "name": one.name,
            "original": {"estimate": one.estimate, "low": one.low, "high": one.high},
            "scenarios": [r for r in rows if (r["name"], r["measure"]) == (one.name, one.measure)],
            "chart": found.estimate_chart(one.name).to_dict(),
        }
        for one in found.original.estimates[:ESTIMATES]
    ]
