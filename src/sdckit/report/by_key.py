"""What the keys give away: too small cells, the part of each key, and the riskiest combinations."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from sdckit._support.number_text import number, percent
from sdckit.choose.assessment import Assessment, Omission
from sdckit.data.key_cells import Missing, key_cells
from sdckit.data.result import Result
from sdckit.methods.registry import find
from sdckit.models.cell_risk import Method, cell_risk
from sdckit.report.disclosure import CLOSE, FEW, counted, in_words, visible
from sdckit.report.sections import section_of

RISKIEST = 10
MOST_KEYS = 15
# public figures that tell how many records are unique: the measure, and the count behind it
UNIQUES = (
    ("frequencies", "unique_records"),
    ("suda", "scored_records"),
    ("population_uniques", "sample_uniques"),
)
AXES = {
    "reduction": "share of the risk that would go without this key",
    "contribution": "share of the scores this key is part of",
}


def by_k(x: Assessment, *, public: bool) -> list[dict[str, Any]]:
    """Records that violate k-anonymity before and after, by k.

    For the public without rows that differ from another by fewer than 5 records.
    """
    if "k_anonymity" not in x.after or "k_anonymity" not in x.before:
        return []
    tables = (x.before["k_anonymity"].parts, x.after["k_anonymity"].parts)
    files = [t.select("k", "violations").rows() if t is not None else [] for t in tables]
    rows = []
    for (k, before), (_, after) in zip(*files, strict=False):
        counts = before, after
        # a bar must not tell what the text does not
        drawn = [0 if public and n < FEW else n for n in counts]
        texts = [counted(n, public=public) for n in counts]
        rows.append({"k": k, "before": drawn[0], "after": drawn[1], "texts": texts})
    if public:
        shown = [x.after["k_anonymity"].options["k"], *([2] if "frequencies" in x.after else [])]
        rows = _apart(rows, shown)
    return [
        {"label": f"fewer than {row['k']} records", **{n: row[n] for n in ("before", "after", "texts")}}
        for row in rows
    ]


def without_close_uniques(x: Assessment, axis: Collection[str] = ()) -> Assessment:
    """The assessment for the public: without the records below k where 1 to 4 more or fewer are unique.

    Both are shown as they are, so their difference would be a count too small to show. Several measures tell
    of unique records, so k-anonymity is withheld; where it is on the `axis` of a map, all of the others are.
    With both there the map shows their mean, and neither is told beside it.
    """
    if not (_close(x.before) or _close(x.after)):
        return x
    uniques = {name for name, _ in UNIQUES}
    withheld = uniques if "k_anonymity" in axis else {"k_anonymity"}
    if "k_anonymity" in axis and uniques & {*axis}:
        withheld = {*uniques, "k_anonymity"}
    files = [{n: r for n, r in results.items() if n not in withheld} for results in (x.before, x.after)]
    omitted = (*x.omitted, *(Omission(name, CLOSE) for name in x.after if name in withheld))
    return replace(x, before=files[0], after=files[1], omitted=omitted)


def _close(results: Mapping[str, Result]) -> bool:
    if "k_anonymity" not in results:
        return False
    below = results["k_anonymity"].figures["violations"]
    counts = [results[name].figures.get(figure, 0) for name, figure in UNIQUES if name in results]
    # fewer than 5 are not told apart from none
    return any(n >= FEW and 0 < abs(below - n) < FEW for n in counts)


def _apart(rows: list[dict[str, Any]], shown: Sequence[int]) -> list[dict[str, Any]]:
    """Rows that differ by none or many records; those of the k whose shares are shown as measures stay."""
    kept: list[dict[str, Any]] = []
    for row in sorted(rows, key=lambda row: (row["k"] not in shown, row["k"])):
        differences = [abs(row[file] - other[file]) for other in kept for file in ("before", "after")]
        if not any(0 < difference < FEW for difference in differences):
            kept.append(row)
    return sorted(kept, key=lambda row: int(row["k"]))


def by_key(x: Assessment) -> list[dict[str, Any]]:
    """The part of each key in a risk before and after, of every measure with a table by key. Internal."""
    return [part for name, after in x.after.items() if (part := _by_key(x, name, after)) is not None]


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
    """The key combinations of the protected file with the highest risk, in labels. For internal reports."""
    if "individual_risk" not in x.after:
        return None
    data, options = x.protected[0], x.after["individual_risk"].options
    keys = [k for k in options["keys"] if k in visible(data, x.original)]
    cells = key_cells(data, keys, Missing(options["missing"]), float(options["missing_weight"]))
    risks = cell_risk(cells.sample, cells.population, Method(options["method"]))
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
