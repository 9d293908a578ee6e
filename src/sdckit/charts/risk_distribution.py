"""How the risks of the records are distributed, and which keys they come from."""

from typing import Any

from sdckit.charts.numbers import number, percent
from sdckit.charts.table_bars import TableBars
from sdckit.charts.theme import WARNING, number_labels, rows, themed, unthemed
from sdckit.result import Result

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
    import altair as alt

    table = result.tables["classes"]
    data = [
        {
            "name": f"{percent(low)} to {percent(min(high, 1.0))}",
            "records": records,
            "about": f"risk {percent(low)} to below {percent(min(high, 1.0))}: {number(records)} records",
        }
        for low, high, records in table.rows()
    ]
    return (
        alt.Chart(rows(data))
        .mark_bar(color=WARNING, opacity=0.8)
        .encode(
            x=alt.X("name:N", sort=None, title="risk", axis=alt.Axis(labelAngle=-40, grid=False)),
            y=alt.Y(
                "records:Q", title="records", axis=alt.Axis(tickCount=4, labelExpr=number_labels(share=False))
            ),
            tooltip=alt.Tooltip("about:N", title=" "),
            description=alt.Description("about:N"),
        )
        .properties(width=420, height=170, title="Records by their risk")
    )
