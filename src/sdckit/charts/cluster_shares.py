"""How the files mix in each cluster."""

from typing import Any

from sdckit._support.number_text import count_records, percent
from sdckit.charts.bars import nothing_to_draw
from sdckit.charts.theme import FILES, INK, file_colours, number_labels, rows, spoken, themed
from sdckit.data.result import Result

MOST = 30


def cluster_shares(result: Result) -> Any:
    """One bar a cluster: the share of original records left, of protected ones right, the largest on top.

    The line is the overall share: every bar changes colour there when the files mix evenly. A bar is as
    thick as all others; the tooltip tells how many records are in it.
    """
    import altair as alt

    if result.parts is None:
        raise nothing_to_draw(result)
    parts = result.parts.head(MOST)
    weight, share = result.parts["weight"], result.parts["share_original"]
    weighted = " (weighted)" if ((weight - result.parts["records"]).abs() > 1e-6).any() else ""
    overall = float((weight * share).sum()) / float(weight.sum())
    data = []
    for row in parts.iter_rows(named=True):
        x = row["share_original"]
        about = f"cluster {row['cluster']}: {count_records(row['records'])}, {percent(x)} original{weighted}"
        ends = ((0.0, x), (x, 1.0))
        data += [
            {"cluster": str(row["cluster"]), "from": a, "to": b, "file": file, "about": about}
            for file, (a, b) in zip(FILES, ends, strict=True)
        ]
    names = [str(c) for c in parts["cluster"]]
    x_axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], labelExpr=number_labels(share=True))
    bars = (
        alt.Chart(rows(data))
        .mark_bar(opacity=0.85)
        .encode(
            x=alt.X(
                "from:Q",
                title="share of the cluster",
                scale=alt.Scale(domain=[0, 1], nice=False),
                axis=x_axis,
            ),
            x2=alt.X2("to:Q"),
            y=alt.Y(
                "cluster:N", sort=names, title="cluster, by size", axis=alt.Axis(ticks=False, domain=False)
            ),
            color=alt.Color("file:N", scale=file_colours()),
            **spoken(),
        )
    )
    line = (
        alt.Chart(rows([{"from": overall}]))
        .mark_rule(color=INK, strokeDash=[4, 3], strokeWidth=1.5, aria=False)
        .encode(x=alt.X("from:Q"))
    )
    return themed((bars + line).properties(width=420, height=alt.Step(14)))
