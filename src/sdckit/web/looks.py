"""What the page shows before a step is added: columns, risks above a threshold, the riskiest combinations."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit.choose.assessment import Assessment
from sdckit.choose.describe import ColumnSummary, is_categorical
from sdckit.data.key_cells import Missing, key_cells
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.data.values import as_text, texts
from sdckit.errors import OptionError, preview
from sdckit.methods.registry import find
from sdckit.models.cell_risk import cell_risk
from sdckit.report.by_key import riskiest

BINS = 40  # of a histogram
CATEGORIES = 60  # most frequent ones of a column that are shown
FEWEST = 5  # records that a shown category has at least
PLACES = 300  # thresholds that can be chosen
NAMING = (Role.DIRECT, Role.ID, Role.HOUSEHOLD, Role.CLUSTER, Role.WEIGHT)
RISKS = np.array([0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0])


def distribution(values: pl.Series) -> dict[str, Any]:
    """Counts in classes of equal width for numbers with many values, else of the frequent categories.

    SPSS holds every number as one with decimals: 1.0 is the category 1, as steps that name it have it.

    >>> distribution(pl.Series([1.0, 2.5] * 5))["categories"]
    [{'value': '1', 'count': 5}, {'value': '2.5', 'count': 5}]
    """
    there = values.drop_nulls()
    facts = {"records": len(values), "missing": len(values) - len(there), "different": there.n_unique()}
    if there.dtype.is_numeric() and facts["different"] > CATEGORIES:
        numbers = there.cast(pl.Float64).to_numpy()
        finite = numbers[np.isfinite(numbers)]
        ends = min(max(FEWEST, len(finite) // 200), (len(finite) - 1) // 2)  # records at either end at least
        places = (ends, len(finite) - 1 - ends)
        low, high = np.partition(finite, places)[list(places)]
        counts, edges = np.histogram(np.clip(finite, low, high), bins=BINS)
        return {**facts, "counts": counts.tolist(), "edges": edges.tolist()}
    counted = texts(there).alias("value").value_counts().sort(["count", "value"], descending=[True, False])
    shown = counted.filter(pl.col("count") >= FEWEST).head(CATEGORIES)
    return {**facts, "categories": [{"value": v, "count": c} for v, c in shown.rows()]}


def value_labels(data: Microdata, column: str) -> dict[str, str]:
    """The labels of a column's codes, which are written as `distribution` and `rows` write them."""
    return {as_text(code): text for code, text in data.labels.values.get(column, {}).items()}


def codes(data: Microdata, column: ColumnSummary) -> list[str]:
    """The codes of a column of categories that names nobody, as `distribution` writes them; else none.

    Codes that few records have may tell of them, and are left out.
    """
    if column.role in NAMING or not is_categorical(column, data):
        return []
    counted = texts(data.frame[column.name].drop_nulls()).alias("value").value_counts()
    return sorted(counted.filter(pl.col("count") >= FEWEST)["value"].to_list())


def beyond(values: pl.Series, value: float) -> dict[str, Any]:
    """How many numbers of a column lie below and above a value.

    >>> beyond(pl.Series([1, 2, 3, None]), 2)
    {'value': 2, 'below': 1, 'above': 1}
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not values.dtype.is_numeric():
        raise OptionError("A limit is a number, of a column of numbers.", given=preview(value))
    return {"value": value, "below": int((values < value).sum()), "above": int((values > value).sum())}


def above(data: Microdata, keys: Sequence[str], threshold: float) -> dict[str, Any]:
    """How many records have an individual risk above a threshold, and how the risks lie around it.

    The risk is the one that `suppress_risky` treats: a missing key is a value of its own.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": list("ffffm")}), keys=["sex"])
    >>> found = above(data, ["sex"], 0.5)
    >>> found["above"], found["records"], sum(found["counts"])
    (1, 5, 5)
    >>> [(round(p["threshold"], 3), p["above"], round(p["rate"], 3)) for p in found["curve"]]
    [(0.25, 1, 0.2), (1.0, 0, 0.4)]
    """
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold < 1:
        raise OptionError("The threshold is a risk.", given=preview(threshold), allowed="between 0 and 1")
    cells = key_cells(data, tuple(keys), Missing.CATEGORY)
    risks = cell_risk(cells.sample, cells.population)
    counts, _ = np.histogram(risks, RISKS, weights=cells.records)
    order = np.argsort(risks)
    risks_so_far = np.cumsum((risks * cells.records)[order])
    rate_below = np.append(0.0, risks_so_far)[np.searchsorted(risks[order], threshold, side="right")]
    return {
        "records": data.height,
        "above": int(cells.records[risks > threshold].sum()),
        "expected": float((risks * cells.records)[risks > threshold].sum()),
        "expected_all": float((risks * cells.records).sum()),
        "rate": float(rate_below / data.height),
        "curve": _curve(risks[order], np.cumsum(cells.records[order]), risks_so_far),
        "counts": counts.astype(int).tolist(),
        "edges": RISKS.tolist(),
    }


def _curve(risks: Floats, records: Floats, expected: Floats) -> list[dict[str, Any]]:
    """For thresholds that make a difference: the records above, and the rate of re-identification below.

    risks: rising, one per cell; records and expected: added up to and with the cell. A threshold is
    rounded up to six digits, so that it can be written down and takes in its own cell.
    """
    if not len(risks):
        return []
    rounded = np.array([float(f"{r:.6g}") for r in risks])
    rounded = np.where(rounded < risks, [float(f"{r * (1 + 2e-6):.6g}") for r in risks], rounded)
    ends = np.flatnonzero(np.append(np.diff(rounded) > 0, True))  # the last cell of each threshold
    chosen = ends[np.unique(np.linspace(0, len(ends) - 1, PLACES).astype(int))]
    n = records[-1]
    return [
        {"threshold": float(rounded[i]), "above": int(n - records[i]), "rate": float(expected[i] / n)}
        for i in chosen
    ]


def combinations(done: Assessment) -> dict[str, Any]:
    """The key combinations with the highest risk, for the office alone."""
    return {"riskiest": riskiest(done)}


def codes_below(data: Microdata, k: Any, most: Any) -> list[dict[str, Any]]:
    """For each code of each key the records and combinations below k, by the number of keys looked at.

    most: the most keys that are looked at together. For the office alone: rare codes may be persons.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": list("ffm"), "town": list("aab")}), keys=["sex", "town"])
    >>> codes_below(data, 2, 2)[1]["sizes"]
    {1: {'records': 1, 'combinations': 1}, 2: {'records': 1, 'combinations': 1}}
    """
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise OptionError("Keys together are a whole number.", given=preview(most), allowed="1 or more")
    table = find("k_anonymity").call(data, k=k, subsets=most).tables["codes"]
    found: dict[tuple[str, str | None], dict[str, Any]] = {}
    for row in table.iter_rows(named=True):
        name, code = row["variable"], row["code"]
        labels = {str(value): text for value, text in data.labels.values.get(name, {}).items()}
        facts = {"variable": name, "code": code, "label": labels.get(code or "", ""), "sizes": {}}
        one = found.setdefault((name, code), {**facts, "records": row["records"]})
        counts = {"records": row["violations"], "combinations": row["combinations"]}
        one["sizes"][row["size"]] = counts
    return list(found.values())
