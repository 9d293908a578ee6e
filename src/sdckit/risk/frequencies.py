"""Sample and population frequencies of key combinations."""

import numpy as np
import polars as pl

from sdckit import charts
from sdckit._support.arrays import Floats, Ints
from sdckit._support.number_text import count_of
from sdckit.data.key_cells import KeyCells, Missing, key_cells
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.methods.options import KEYS, KeyColumns, MissingKeys, MissingKeyWeight, Requires
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Figure, records

SIZES = (0, 1, 2, 3, 5, 10, 20, 50, 100, 1000, np.inf)  # from here to below the next
WEIGHT_NEEDS_WILDCARD = Requires("missing_weight", "missing", (Missing.WILDCARD,))


@risk(
    "Records unique on the keys",
    family="Categorical keys",
    bounds=(0, 1),
    unit="share of records",
    needs=Role.KEYS,
    engines="all",
    share=True,
    main="keys",
    rules=(WEIGHT_NEEDS_WILDCARD,),
    renamed={"alpha": "missing_weight"},
    figures={
        "unique_records": records("Records unique in the file"),
        "key_combinations": Figure("Key combinations in the file", "combinations", Better.NEITHER),
        "smallest_sample_count": Figure(
            "Fewest records with the same keys", "records", Better.HIGH, counts_records=True, extreme=True
        ),
    },
    chart=charts.CellSizes("records in the file with the same keys"),
    reference="Hundepool et al. (2012), Statistical Disclosure Control, ch. 3",
    interpretation=(
        "0: no record is alone in the file on its keys. 1: every record is. These are the records that "
        "k-anonymity counts with k = 2. A record that is unique in the sample may still have doubles in the "
        "population."
    ),
)
def frequencies(
    data: Microdata,
    *,
    keys: KeyColumns = KEYS,
    missing: MissingKeys = Missing.WILDCARD,
    missing_weight: MissingKeyWeight = 1.0,
) -> Result:
    """How many records, in the sample and in the population, share each record's keys.

    fₖ is the number of records with the same key combination k, Fₖ the sum of their weights, which
    estimates how many such people are in the population. Without weights Fₖ = fₖ.

    value: the share of records with fₖ < 2, which is that of `k_anonymity` with k = 2. figures:
    unique_records (their number), key_combinations, smallest_sample_count. parts: sample_count fₖ and
    population_count Fₖ of each record. tables: `sizes`, records by fₖ, in classes of `from` to below `to`.

    Missing keys: records are counted by the wildcard rule, by which a missing or suppressed value matches any
    value, unless `missing` is "category" (it is a value of its own) or "nothing" (its record matches only
    itself). With the wildcard rule, `missing_weight` is what an incomplete record adds to the counts of
    others (never to its own). Counts are fractions then, and a record with fₖ = 1.5, say, is unique still.

    Weights: enter Fₖ only.
    After suppression, PRAM, swapping or synthesis it describes the file and is not the risk of its persons;
    that is `reidentification_risk`.
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
    cells = key_cells(data, keys, missing, missing_weight)
    unique = cells.count(cells.sample < 2)
    return Result(
        unique / data.height,
        {
            "unique_records": unique,
            "key_combinations": cells.combinations.select(keys).unique().height,
            "smallest_sample_count": float(cells.sample.min()),
        },
        cells.parts(sample_count=cells.sample, population_count=cells.population),
        missing_note(cells, missing, missing_weight),
        {"sizes": by_size(cells.sample, cells.records)},
    )


def by_size(sizes: Floats, records: Ints, k: int = 2) -> pl.DataFrame:
    """Records by the size of their cell, in classes that k is never inside of, up to the largest size."""
    limits = np.unique([*SIZES, k])
    place = np.searchsorted(limits, sizes, side="right") - 1
    counts = np.bincount(place, records, len(limits) - 1).astype(np.int64)
    table = pl.DataFrame({"from": limits[:-1], "to": limits[1:], "records": counts})
    first = 0 if counts[0] else 1
    return table[first : int(place.max()) + 1]


def missing_note(cells: KeyCells, missing: Missing, missing_weight: float = 1.0) -> tuple[str, ...]:
    """How many records have a missing key, and what that was taken to mean; nothing where none has."""
    incomplete = cells.count(cells.incomplete)
    if not incomplete:
        return ()
    rule = {
        Missing.WILDCARD: "a missing value matches any value"
        + (f", with weight {missing_weight:g}" if missing_weight < 1 else ""),
        Missing.CATEGORY: "missing counts as a category of its own",
        Missing.NOTHING: "a record with a missing key matches only itself",
    }[missing]
    return (f"{count_of(incomplete, 'record has', 'records have')} a missing key; {rule}.",)
