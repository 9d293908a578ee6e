"""Records by classes of risk, score or size."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf
from typing import Any

from sdckit._support.number_text import SPACE, count_records, number, percent, short
from sdckit.charts.bars import TableBars, nothing_to_draw
from sdckit.charts.theme import INK, ORIGINAL, QUIET, WARNING, number_labels, rows, spoken, themed, unthemed
from sdckit.data.result import Result


def record_classes(classes: Sequence[tuple[str, str, int]], *, of: str, title: str) -> Any:
    """`classes`: from, to (as text) and records of each; `of` names the number."""
    import altair as alt

    data = [
        {
            "name": f"{low} to {high}",
            "records": records,
            "about": f"{of} {low} to below {high}: {count_records(records)}",
        }
        for low, high, records in classes
    ]
    counts = alt.Axis(tickMinStep=1, tickCount=4, labelExpr=number_labels(share=False))
    return (
        alt.Chart(rows(data))
        .mark_bar(color=WARNING, opacity=0.8)
        .encode(
            x=alt.X("name:N", sort=None, title=of, axis=alt.Axis(labelAngle=-40, grid=False)),
            y=alt.Y("records:Q", title="records", axis=counts),
            **spoken(),
        )
        .properties(width=420, height=170, title=title)
    )


LIMITS = (0, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0)


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
    classes = [(percent(low), percent(high), records) for low, high, records in table]
    return record_classes(classes, of="risk", title="Records by their risk")


def suda_scores(result: Result) -> Any:
    """Records by score, in classes whose limits double, and the share of the score each key is part of."""
    import altair as alt

    if result.tables["scores"].is_empty():
        return themed(_nothing())
    if "contributions" not in result.tables:
        return themed(_histogram(result))
    axis = f"part in the total score (adds to more than 100{SPACE}%)"
    keys = unthemed(TableBars("contributions", "key", "contribution", axis, True, ordered=True)(result))
    keys = keys.properties(width=420, title="Keys that make records unique")
    return themed(alt.vconcat(_histogram(result), keys, spacing=24).resolve_scale(x="independent"))


def _nothing() -> Any:
    import altair as alt

    told = "No special uniques: no record is the only one with its values of some of the keys."
    return (
        alt.Chart(rows([{"text": told}])).mark_text(fontSize=12, color=QUIET).encode(text=alt.Text("text:N"))
    )


def _histogram(result: Result) -> Any:
    classes = [(short(low), short(high), records) for low, high, records in result.tables["scores"].rows()]
    title = f"Records with a SUDA score: {percent(result.value)} of all"
    return record_classes(classes, of="score", title=title)


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
                "about": f"{self.axis}: {name} ({count_records(records)})",
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
        texts = base.mark_text(dy=-7, fontSize=11, color=INK, aria=False).encode(text=alt.Text("text:N"))
        title = f"In orange, fewer than {number(k)}: {percent(risky / total)} of {count_records(total)}"
        return themed(alt.layer(bars, texts).properties(width=alt.Step(46), height=170, title=title))


def _name(low: float, high: float) -> str:
    """A class of whole numbers: 1, 3–4, 1,000+."""
    if isinf(high):
        return f"{number(low)}+"
    return number(low) if high - low <= 1 else f"{number(low)}–{number(high - 1)}"
