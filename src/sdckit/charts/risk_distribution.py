"""How the risks of the records are distributed, and which keys they come from."""

from typing import Any

from sdckit._support.number_text import percent
from sdckit.charts.record_classes import record_classes
from sdckit.charts.table_bars import TableBars
from sdckit.charts.theme import themed, unthemed
from sdckit.data.result import Result

LIMITS = (0, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0000001)


def risk_distribution(result: Result) -> Any:
    """Records by class of risk, above the share of the risk that each key adds."""
    import altair as alt

    drawn = [_classes(result)]
    if "keys" in result.tables and result.tables["keys"].height > 1:
        keys = TableBars(
            "keys", "key", "reduction", "risk that would go without this key", True, ordered=True
        )
        drawn.append(unthemed(keys(result)).properties(title="Keys the risk comes from"))
    return themed(alt.vconcat(*drawn, spacing=24).resolve_scale(x="independent"))


def _classes(result: Result) -> Any:
    table = result.tables["classes"].rows()
    classes = [(percent(low), percent(min(high, 1.0)), records) for low, high, records in table]
    return record_classes(classes, of="risk", title="Records by their risk")
