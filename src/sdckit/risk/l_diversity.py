"""l-diversity: how many sensitive values records with the same keys have."""

import math
from collections.abc import Mapping
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Floats
from sdckit._support.number_text import count_of
from sdckit.data.key_cells import KeyCells, Missing
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.methods.options import (
    KEYS,
    SENSITIVE,
    KeyColumns,
    MissingKeys,
    MissingValues,
    Option,
    SensitiveColumns,
)
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Figure, records, share
from sdckit.risk._sensitive_values import SensitiveValues, sensitive_values, variables_to_protect
from sdckit.risk.frequencies import missing_note

KINDS = ("distinct", "entropy", "recursive")


@risk(
    "Smallest l-diversity",
    family="Categorical keys",
    bounds=(1, math.inf),
    unit="different values",
    better=Better.HIGH,
    needs=(Role.KEYS, Role.SENSITIVE),
    engines="all",
    main="l",
    figures={
        "violations": records("Records that violate it"),
        "smallest_entropy": Figure(
            "Smallest entropy l (1: only one value)", "values", Better.HIGH, (1, math.inf), extreme=True
        ),
        "smallest_recursive": Figure(
            "Smallest recursive l", "values", Better.HIGH, (1, math.inf), extreme=True
        ),
        "violating_share": share("Share of the records that violate it"),
    },
    chart=charts.TableBars(
        "variables", "variable", "smallest_distinct", "smallest number of values in a cell"
    ),
    reference="Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007)",
    interpretation=(
        "The intruder knows the keys of a person and that the person is in the file. 1: somewhere all "
        "records with the same keys have the same sensitive value, so it is learnt without finding the "
        "record. 3: whoever looks up a person is left with at least three values to choose from."
    ),
)
def l_diversity(
    data: Microdata,
    *,
    keys: KeyColumns = KEYS,
    sensitive: SensitiveColumns = SENSITIVE,
    l: Annotated[  # noqa: E741
        int, Field(ge=2), Option("l", "Records with fewer different values count as violations.", True)
    ] = 2,
    c: Annotated[
        float,
        Field(gt=0),
        Option("c", "Recursive diversity: the most frequent value is rarer than c times the others."),
    ] = 2.0,
    missing: MissingKeys = Missing.WILDCARD,
    missing_sensitive: Annotated[
        MissingValues,
        Option(
            "Missing sensitive values",
            "What a missing sensitive value means.",
            choices={"drop": "it is left out", "category": "missing is a value of its own"},
        ),
    ] = MissingValues.DROP,
) -> Result:
    r"""The variety of sensitive values among the records with the same keys, for every record.

    With the counts r₁ ≥ r₂ ≥ … ≥ r_m of the m values in the group of a record and p = r/Σr,

    .. math:: \text{distinct} = m, \quad \text{entropy} = e^{-\sum p \ln p}, \quad
       \text{recursive} = \max\{l : r_1 < c\,(r_l + \dots + r_m)\}

    1 is the worst for all three (recursive is 1 where no l satisfies it): the value is known. The largest is
    the number of values of the variable.

    value: the smallest distinct l. figures: violations (records with distinct below `l`), violating_share,
    smallest_entropy, smallest_recursive. parts: the three for each record, the smallest over the sensitive
    variables, and those of each variable where there are several. The table `variables` has a row for each.

    Several sensitive variables are taken one at a time. Every number is a value of its own: two incomes
    that differ by a cent are two values, so recode them first.

    Weights: not used, it is about the records in the file. Missing keys: `missing`; with the wildcard rule
    the group of a record is every record that agrees wherever neither is missing, with the rule "nothing" an
    incomplete record is a group of its own (l = 1, whatever it holds). Missing sensitive values: left out by
    default, as they may hide the value the others have; with "category" they are together one value. A group
    without any value has no l (NULL) and does not enter the smallest.
    After suppression, PRAM, swapping or synthesis it describes the file and is not the risk of its persons;
    that is `reidentification_risk`.
    Reference: Machanavajjhala et al. (2007). Departures: sdcMicro counts every missing sensitive value as a
    new one, which overstates the variety, and knows no wildcard here.

    >>> import polars as pl, sdckit as sdc
    >>> cell = [1, 1, 2, 3, 4, 3, 5, 6, 7, 7]
    >>> ill = ["flu", "flu", "flu", "flu", "none", "none", "none", "flu", "none", "flu"]
    >>> data = sdc.read(pl.DataFrame({"cell": cell, "ill": ill}), keys="cell", sensitive="ill")
    >>> result = sdc.risk.l_diversity(data)
    >>> result.parts["distinct"].to_list()
    [1, 1, 1, 2, 1, 2, 1, 1, 2, 2]
    >>> result.value, result.figures["violations"]
    (1.0, 6)
    """
    chosen = variables_to_protect(sensitive)
    found = {}
    for variable in chosen:
        values = sensitive_values(data, keys, variable, weighted=False)
        found[variable] = _diversity(values, c, missing, missing_sensitive)
        cells = values.cells
    smallest = {kind: _least([found[v][kind] for v in chosen]) for kind in KINDS}
    notes = missing_note(cells, missing) + _empty_note(cells, found)
    table = {"variables": _by_variable(cells, found, at_least=l)}
    parts = _parts(cells, smallest, found)
    if np.isnan(smallest["distinct"]).all():
        note = "No sensitive value is present in any group."
        return Result(math.nan, {}, parts, (*notes, note), table)
    violations = cells.count(smallest["distinct"] < l)
    return Result(
        float(np.nanmin(smallest["distinct"])),
        {
            "violations": violations,
            "violating_share": violations / data.height,
            "smallest_entropy": float(np.nanmin(smallest["entropy"])),
            "smallest_recursive": float(np.nanmin(smallest["recursive"])),
        },
        parts,
        notes,
        table,
    )


def _diversity(
    values: SensitiveValues, c: float, missing: Missing, missing_sensitive: MissingValues
) -> dict[str, Floats]:
    """The three measures by key cell; nan in cells without a value."""
    found = {kind: np.full(len(values.cells.records), np.nan) for kind in KINDS}
    for rows in values.matching(missing):
        kept = rows.filter(pl.col("value") >= 0) if missing_sensitive is MissingValues.DROP else rows
        if kept.height:
            _fill(found, kept.sort("cell", "count", descending=[False, True]), c)
    if missing is Missing.NOTHING:
        for kind in KINDS:
            found[kind][values.cells.incomplete] = 1.0
    return found


def _fill(found: Mapping[str, Floats], rows: pl.DataFrame, c: float) -> None:
    """Measures from counts sorted by cell and falling count."""
    count = rows["count"].to_numpy()
    cells, start, distinct = np.unique(rows["cell"].to_numpy(), return_index=True, return_counts=True)
    total = np.add.reduceat(count, start)
    share = count / np.repeat(total, distinct)
    before = np.cumsum(count) - count  # exact: whole numbers
    rest = np.repeat(before[start] + total, distinct) - before
    enough = np.repeat(count[start], distinct) < c * rest
    found["distinct"][cells] = distinct
    found["entropy"][cells] = np.exp(-np.add.reduceat(share * np.log(share), start))
    found["recursive"][cells] = np.maximum(np.add.reduceat(enough.astype(np.float64), start), 1.0)


def _least(columns: list[Floats]) -> Floats:
    """The smallest of each row; nan counts only where nothing else is there."""
    return np.asarray(np.fmin.reduce(columns))


def _parts(
    cells: KeyCells, smallest: Mapping[str, Floats], found: Mapping[str, Mapping[str, Floats]]
) -> pl.DataFrame:
    columns = dict(smallest)
    if len(found) > 1:
        columns |= {f"{kind} ({variable})": f[kind] for variable, f in found.items() for kind in KINDS}
    whole = [name for name in columns if not name.startswith("entropy")]
    parts = cells.parts(**columns).with_columns(pl.col(list(columns)).fill_nan(None))
    return parts.with_columns(pl.col(whole).cast(pl.Int64))


def _by_variable(cells: KeyCells, found: Mapping[str, Mapping[str, Floats]], at_least: int) -> pl.DataFrame:
    rows = [
        {
            "variable": variable,
            **{f"smallest_{kind}": None if np.isnan(f[kind]).all() else np.nanmin(f[kind]) for kind in KINDS},
            "violations": cells.count(f["distinct"] < at_least),
        }
        for variable, f in found.items()
    ]
    kinds = {f"smallest_{kind}": pl.Float64 for kind in KINDS}
    return pl.DataFrame(rows, schema={"variable": pl.String, **kinds, "violations": pl.Int64})


def _empty_note(cells: KeyCells, found: Mapping[str, Mapping[str, Floats]]) -> tuple[str, ...]:
    empty = {v: cells.count(np.isnan(f["distinct"])) for v, f in found.items()}
    return tuple(
        f"{count_of(count, 'record is', 'records are')} in groups where {variable} is missing "
        "throughout: no l."
        for variable, count in empty.items()
        if count
    )
