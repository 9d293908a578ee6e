"""What the keys give away: the part of each key in a risk, and the riskiest combinations."""

from typing import Any

import polars as pl

from sdckit._support.number_text import number, percent
from sdckit.choose.assessment import Assessment
from sdckit.data.key_cells import Missing, key_cells
from sdckit.data.result import Result
from sdckit.methods.registry import find
from sdckit.models.cell_risk import Method, cell_risk
from sdckit.report.disclosure import in_words, visible
from sdckit.report.file_risks import FileRisks
from sdckit.report.sections import section_of

RISKIEST = 10
MOST_KEYS = 15
AXES = {
    "reduction": "share of the risk that would go without this key",
    "contribution": "share of the scores this key is part of",
}


def by_key(x: Assessment) -> list[dict[str, Any]]:
    """The part of each key in a risk before and after, of every measure with a table by key. Internal."""
    about = FileRisks.of(x)
    risks = {name: after for name, after in x.after.items() if not about.artificial(find(name))}
    return [part for name, after in risks.items() if (part := _by_key(x, name, after)) is not None]


def _by_key(x: Assessment, name: str, after: Result) -> dict[str, Any] | None:
    table = next((t for t in after.tables.values() if t.columns[0] == "key"), None)
    if table is None or name not in x.before:
        return None
    column = table.columns[-1]
    found = next((t for t in x.before[name].tables.values() if t.columns[0] == "key"), None)
    if found is None:
        return None
    files = [dict(t.select("key", column).drop_nulls().iter_rows()) for t in (found, table)]
    seen = {*visible(x.original, *x.protected)}
    keys = sorted((k for k in files[0] if k in files[1] and k in seen), key=lambda k: -round(files[0][k], 9))
    if len(keys) < 2 or not any(file[k] for file in files for k in keys):
        return None
    spec = find(name)
    return {
        "name": name,
        "section": section_of(spec),
        "title": f"{spec.title}, by key",
        "axis": AXES.get(column, in_words(column).lower()),
        "labels": [x.original.labels.name(k) for k in keys[:MOST_KEYS]],
        "before": [files[0][k] for k in keys[:MOST_KEYS]],
        "after": [files[1][k] for k in keys[:MOST_KEYS]],
        "all": len(keys),
    }


def riskiest(x: Assessment) -> dict[str, Any] | None:
    """The key combinations of the protected file with the highest risk, in labels. For internal reports.

    A suppressed value is a value of its own: whoever knows the true one knows which records it can be.
    """
    data = x.protected[0]
    keys = [k for k in data.roles.keys if k in visible(data, x.original)]
    if not keys or FileRisks.of(x).synthetic:
        return None
    cells = key_cells(data, keys, Missing.CATEGORY)
    risks = cell_risk(cells.sample, cells.population, Method.EXACT)
    # of equal risks the first by their values: cells come in no set order
    found = cells.combinations
    order = pl.DataFrame({"risk": risks.round(9), **{f"key_{i}": found[k] for i, k in enumerate(keys)}})
    ranked = order.with_row_index("cell").sort(order.columns, descending=[True, *[False] * len(keys)])
    top = ranked["cell"].head(RISKIEST).to_list()
    return {
        "keys": [data.labels.name(k) for k in keys],
        "rows": [
            {
                "values": [data.labels.text(k, cells.combinations[k][i]) for k in keys],
                "records": number(cells.sample[i]),
                "population": number(cells.population[i]),
                "risk": percent(risks[i]),
            }
            for i in top
        ],
    }
