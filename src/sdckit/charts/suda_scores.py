"""The picture of a SUDA result: how many records score how much, and which keys make them unique."""

from typing import Any

from sdckit._support.number_text import SPACE, percent, short
from sdckit.charts.record_classes import record_classes
from sdckit.charts.table_bars import TableBars
from sdckit.charts.theme import QUIET, rows, themed, unthemed
from sdckit.data.result import Result


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
    return alt.Chart(rows([{"text": told}])).mark_text(fontSize=12, color=QUIET).encode(text="text:N")


def _histogram(result: Result) -> Any:
    classes = [(short(low), short(high), records) for low, high, records in result.tables["scores"].rows()]
    title = f"Records with a SUDA score: {percent(result.value)} of all"
    return record_classes(classes, of="score", title=title)
