"""t-closeness: how far sensitive values in a key cell are from those in the whole file."""

import math
from collections.abc import Sequence
from typing import Annotated

import narwhals as nw
import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Floats, Ints
from sdckit._support.messages import require_known
from sdckit._support.number_text import count_of
from sdckit.data.key_cells import Missing
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.engine import frames, tables
from sdckit.methods.options import KEYS, SENSITIVE, Columns, KeyColumns, MissingKeys, Option, SensitiveColumns
from sdckit.methods.registry import risk
from sdckit.methods.spec import Figure, records, share
from sdckit.risk._sensitive_values import SensitiveValues, sensitive_values, variables_to_protect
from sdckit.risk.frequencies import missing_note


@risk(
    "Largest t-closeness distance",
    family="Categorical keys",
    bounds=(0, 1),
    unit="distance from 0 to 1",
    needs=(Role.KEYS, Role.SENSITIVE),
    engines="all",
    main="t",
    figures={
        "mean_distance": Figure("Mean distance", "distance from 0 to 1", bounds=(0, 1)),
        "violations": records("Records that violate it"),
        "violating_share": share("Share of the records that violate it"),
    },
    chart=charts.TableBars(
        "variables", "variable", "largest_distance", "largest distance from the whole file"
    ),
    reference="Li, Li & Venkatasubramanian (2007)",
    interpretation=(
        "How much an intruder who knows the keys of a person learns about the sensitive variable beyond what "
        "the whole file says of everybody. 0: nothing, in every group the values are spread as in the whole "
        "file. 0.2: a fifth of the distribution lies elsewhere (for ordered values: moved over the whole "
        "range). Very small groups are always far away."
    ),
)
def t_closeness(
    data: Microdata,
    *,
    keys: KeyColumns = KEYS,
    sensitive: SensitiveColumns = SENSITIVE,
    t: Annotated[
        float, Field(ge=0, le=1), Option("t", "Records with a larger distance count as violations.", True)
    ] = 0.2,
    ordinal: Annotated[
        Columns,
        Option("Ordered codes", "Sensitive variables whose codes have an order.", absent="no further column"),
    ] = (),
    missing: MissingKeys = Missing.WILDCARD,
) -> Result:
    r"""Distance between the sensitive values in a record's group and in the whole file, for every record.

    With the distributions p of the group and q of the file over the m values that occur, the earth mover's
    distance is, for values without order (every move costs 1) and with order (a move from end to end does),

    .. math:: D = \tfrac12 \sum_i |p_i - q_i|, \qquad
       D = \frac{1}{m-1} \sum_{i=1}^{m-1} \Big| \sum_{j \le i} (p_j - q_j) \Big|

    0: the group is like the file; 1: as far from it as can be. Ordered are columns in the numeric role, other
    columns with fractions, Enum columns, and those named in `ordinal`. Whole numbers without that are codes,
    however they are stored. Ordered values count by rank, not by size.

    value: the largest distance. figures: mean_distance over records, violations (records above `t`),
    violating_share. parts: the distance for each record, the largest over the sensitive variables, and that
    of each variable where there are several. The table `variables` has a row for each.

    Weights: both distributions are weighted where there are weights, as they stand for the population.
    Missing keys: see `l_diversity`; with the rule "nothing" an incomplete record is compared as the cell it
    is in. Missing sensitive values are left out; a group without any value has no distance (NULL).
    After suppression, PRAM, swapping or synthesis it describes the file and is not the risk of its persons;
    that is `reidentification_risk`.
    Reference: Li, Li & Venkatasubramanian (2007).

    >>> import polars as pl, sdckit as sdc
    >>> frame = pl.DataFrame({"sex": list("ffmm"), "pay": [1.5, 2.0, 3.0, 3.0]})
    >>> data = sdc.read(frame, keys="sex", sensitive="pay")
    >>> sdc.risk.t_closeness(data).value  # women: (|½−¼| + |1−½|)/2, men: (|0−¼| + |0−½|)/2
    0.375
    """
    chosen = variables_to_protect(sensitive)
    require_known(ordinal, chosen, "ordinal names a variable that is not sensitive.")
    found = {}
    in_order = {variable: _ordered(data, variable, ordinal) for variable in chosen}
    for variable in chosen:
        values = sensitive_values(data, keys, variable, weighted=True)
        found[variable] = _distances(values, missing, ordered=in_order[variable])
        cells = values.cells
    largest = np.asarray(np.fmax.reduce(list(found.values())))
    columns = {"distance": largest}
    if len(found) > 1:
        columns |= {f"distance ({variable})": d for variable, d in found.items()}
    parts = cells.parts(**columns).with_columns(pl.col(list(columns)).fill_nan(None))
    table = pl.DataFrame(
        {
            "variable": chosen,
            "largest_distance": [None if np.isnan(d).all() else float(np.nanmax(d)) for d in found.values()],
            "violations": [cells.count(d > t) for d in found.values()],
            "ordered": list(in_order.values()),
        },
        schema_overrides={"largest_distance": pl.Float64},
    )
    notes = missing_note(cells, missing)
    known = ~np.isnan(largest)
    if not known.any():
        note = "No sensitive value is present in any group."
        return Result(math.nan, {}, parts, (*notes, note), {"variables": table})
    if not known.all():
        notes += (
            f"{count_of(cells.count(~known), 'record is', 'records are')} in groups without a "
            "sensitive value.",
        )
    violations = cells.count(largest > t)
    mean = float((largest[known] * cells.records[known]).sum()) / cells.count(known)
    return Result(
        float(largest[known].max()),
        {"mean_distance": mean, "violations": violations, "violating_share": violations / data.height},
        parts,
        notes,
        {"variables": table},
    )


def _ordered(data: Microdata, variable: str, ordinal: Sequence[str]) -> bool:
    kind = frames.schema(data.frame)[variable]
    if variable in ordinal or variable in data.roles.numeric or isinstance(kind, nw.Enum):
        return True
    if not kind.is_float():
        return False
    # codes are stored as floats where one of them is missing: only fractions make numbers
    values = tables.count_cells(data.table, [variable], None)[variable].drop_nulls()
    return bool((values != values.floor()).any())


def _distances(values: SensitiveValues, missing: Missing, *, ordered: bool) -> Floats:
    """The distance by key cell; nan in cells without a value."""
    found = np.full(len(values.cells.records), np.nan)
    overall = values.overall["count"].to_numpy()
    if len(overall) == 0:
        return found
    overall = overall / overall.sum()
    for rows in values.matching(missing):
        kept = rows.filter(pl.col("value") >= 0).sort("cell", "value")
        if kept.height == 0:
            continue
        cells, start, size = np.unique(kept["cell"].to_numpy(), return_index=True, return_counts=True)
        mass, value = kept["count"].to_numpy(), kept["value"].to_numpy()
        share = mass / np.repeat(np.add.reduceat(mass, start), size)
        distance = _moved_in_order if ordered else _moved
        found[cells] = np.clip(distance(share, value, start, size, overall), 0.0, 1.0)
    return found


def _moved(share: Floats, value: Ints, start: Ints, size: Ints, overall: Floats) -> Floats:
    """½Σ|p−q|: values the cell lacks add their q, of which all q but those of its own values is left."""
    q = overall[value]
    distance: Floats = 0.5 * (1 + np.add.reduceat(np.abs(share - q) - q, start))
    return distance


def _moved_in_order(share: Floats, value: Ints, start: Ints, size: Ints, overall: Floats) -> Floats:
    """Σ|P−Q|/(m−1) without touching values the cell lacks.

    Between two values of the cell its cumulative share P stands still while Q rises, so |P−Q| is summed from
    prefix sums of Q on either side of where Q passes P.
    """
    m = len(overall)
    if m == 1:
        return np.zeros(len(start))
    rising = np.cumsum(overall)
    sums = np.concatenate([[0.0], np.cumsum(rising)])
    ends = np.full(len(value), m - 1)
    ends[:-1] = value[1:]
    ends[start[1:] - 1] = m - 1  # the last value of a cell
    running = np.cumsum(share)
    level = running - np.repeat(running[start] - share[start], size)
    crossing = np.clip(np.searchsorted(rising, level), value, ends)
    below = level * (crossing - value) - (sums[crossing] - sums[value])
    above = (sums[ends] - sums[crossing]) - level * (ends - crossing)
    total: Floats = np.add.reduceat(below + above, start) + sums[value[start]]
    return total / (m - 1)
