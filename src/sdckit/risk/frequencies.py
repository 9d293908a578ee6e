"""Sample and population frequencies of key combinations."""

from typing import Annotated

from pydantic import Field

from sdckit.cells import KeyCells, key_cells
from sdckit.microdata import Microdata
from sdckit.missing import Missing
from sdckit.registry import KEYS, Columns, Role, risk
from sdckit.result import Result


@risk(
    "Records unique on the keys",
    bounds=(0, 1),
    unit="share of records",
    needs=Role.KEYS,
    engines="all",
    reference="Hundepool et al. (2012), Statistical Disclosure Control, ch. 3",
    reading="0: no record is alone in the file on its keys. 1: every record is. "
    "A record that is unique in the sample may still have doubles in the population.",
)
def frequencies(
    data: Microdata,
    *,
    keys: Columns = KEYS,
    missing: Missing = Missing.WILDCARD,
    alpha: Annotated[float, Field(ge=0, le=1)] = 1.0,
) -> Result:
    """How many records, in the sample and in the population, share each record's keys.

    fₖ is the number of records with the same key combination k, Fₖ the sum of their weights, which
    estimates how many such people are in the population. Without weights Fₖ = fₖ.

    Weights: enter Fₖ only. Missing keys: `missing` (a missing value matches any, is its own category, or
    matches nothing); with the wildcard rule, `alpha` is what an incomplete record adds to the counts of
    others (never to its own).
    Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> frame = pl.DataFrame({"sex": ["f", "f", "m"], "w": [10.0, 20.0, 5.0]})
    >>> data = sdc.read(frame, keys="sex", weight="w")
    >>> sdc.risk.frequencies(data).parts
    shape: (3, 3)
    ┌────────┬──────────────┬──────────────────┐
    │ record ┆ sample_count ┆ population_count │
    │ ---    ┆ ---          ┆ ---              │
    │ i64    ┆ f64          ┆ f64              │
    ╞════════╪══════════════╪══════════════════╡
    │ 0      ┆ 2.0          ┆ 30.0             │
    │ 1      ┆ 2.0          ┆ 30.0             │
    │ 2      ┆ 1.0          ┆ 5.0              │
    └────────┴──────────────┴──────────────────┘
    """
    cells = key_cells(data, keys, missing, alpha)
    unique = cells.count(cells.sample <= 1)
    return Result(
        unique / data.height,
        {
            "unique_records": unique,
            "key_combinations": cells.combinations.select(keys).unique().height,
            "smallest_sample_count": float(cells.sample.min()),
        },
        cells.parts(sample_count=cells.sample, population_count=cells.population),
        missing_note(cells, missing, alpha),
    )


def missing_note(cells: KeyCells, missing: Missing, alpha: float) -> tuple[str, ...]:
    """How many records have a missing key, and what that was taken to mean; nothing where none has."""
    incomplete = cells.count(cells.incomplete)
    if not incomplete:
        return ()
    rule = {
        Missing.WILDCARD: "a missing value matches any value"
        + (f", with weight {alpha:g}" if alpha < 1 else ""),
        Missing.CATEGORY: "missing counts as a category of its own",
        Missing.NOTHING: "a record with a missing key matches only itself",
    }[missing]
    return (f"{incomplete:,} records have a missing key; {rule}.",)
