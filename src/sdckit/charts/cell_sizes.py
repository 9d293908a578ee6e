"""Records by how many share their keys, in the file or in the population."""

from dataclasses import dataclass
from math import isinf
from typing import Any

from sdckit._support.number_text import number, percent
from sdckit.charts.parts_bars import nothing_to_draw
from sdckit.charts.theme import INK, ORIGINAL, WARNING, number_labels, rows, spoken, themed
from sdckit.data.result import Result

TOP = 0.12  # room for the numbers above the bars


@dataclass(frozen=True, slots=True)
class CellSizes:
    """A chart of the table `sizes`, with the columns from, to and records. axis: what the sizes are of."""

    axis: str

    def __call__(self, result: Result) -> Any:
        """One bar a class of sizes; those below k (2 where the measure has none) in orange."""
        import altair as alt

        if "sizes" not in result.tables:
            raise nothing_to_draw(result)
        table, k = result.tables["sizes"].rows(), result.options.get("k", 2)
        total = sum(records for _, _, records in table)
        risky = sum(records for _, high, records in table if high <= k)
        data = [
            {
                "name": (name := _name(low, high)),
                "records": records,
                "text": percent(records / total),
                "risky": high <= k,
                "about": f"{name} {self.axis}: {number(records)} records",
            }
            for low, high, records in table
        ]
        room = alt.Scale(domain=[0, (1 + TOP) * max(records for _, _, records in table)], nice=False)
        counts = alt.Axis(tickMinStep=1, tickCount=4, labelExpr=number_labels(share=False))
        base = alt.Chart(rows(data)).encode(
            x=alt.X("name:N", sort=None, title=self.axis, axis=alt.Axis(labelAngle=0, grid=False)),
            y=alt.Y("records:Q", title="records", scale=room, axis=counts),
        )
        colour = alt.condition(alt.datum.risky, alt.value(WARNING), alt.value(ORIGINAL))
        bars = base.mark_bar(opacity=0.8).encode(color=colour, **spoken())
        texts = base.mark_text(dy=-7, fontSize=11, color=INK, aria=False).encode(text="text:N")
        title = f"In orange, fewer than {number(k)}: {percent(risky / total)} of {number(total)} records"
        return themed(alt.layer(bars, texts).properties(width=alt.Step(46), height=170, title=title))


def _name(low: float, high: float) -> str:
    """A class of whole numbers: 1, 3–4, 1,000+."""
    if isinf(high):
        return f"{number(low)}+"
    return number(low) if high - low <= 1 else f"{number(low)}–{number(high - 1)}"
