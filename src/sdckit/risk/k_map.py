"""k-map: how many people of a known population share each record's keys."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Floats
from sdckit._support.messages import join_names
from sdckit._support.number_text import count_of
from sdckit.data.key_cells import KeyCells, Missing, key_cells, key_codes
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.engine import tables
from sdckit.errors import ColumnError, DataError
from sdckit.methods.file_option import TableOption
from sdckit.methods.options import KEYS, KeyColumns, MissingKeys, Option
from sdckit.methods.recoding import apply_same_recoding
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Figure, records, share
from sdckit.risk.frequencies import by_size, missing_note


@risk(
    "Records with fewer than k people in the population",
    family="Categorical keys",
    bounds=(0, 1),
    unit="share of records",
    needs=Role.KEYS,
    engines="all",
    share=True,
    main="population",
    figures={
        "violations": records("Records that violate it"),
        "expected_reidentifications": records("Expected re-identifications"),
        "prosecutor_highest": share("Highest risk if the person is known to be in the file", extreme=True),
        "prosecutor_mean": share("Mean risk if the person is known to be in the file"),
        "journalist_highest": share("Highest risk by the register", extreme=True),
        "journalist_mean": share("Mean risk by the register"),
        "smallest_population_count": Figure(
            "Fewest people with the same keys", "people", Better.HIGH, counts_records=True, extreme=True
        ),
        "unmatched": records("Records that fit nobody", better=Better.NEITHER),
    },
    chart=charts.CellSizes("people in the population with the same keys"),
    reference="Sweeney (2002); El Emam & Dankar (2008)",
    interpretation=(
        "The intruder (a “journalist”) has a register of the whole population and looks for the person "
        "behind a record, anyone will do. 0: every record fits at least k people in it. 0.05: one record in "
        "twenty fits fewer. A “prosecutor” knows that a certain person is in the file, so only the file "
        "counts."
    ),
)
def k_map(
    data: Microdata,
    *,
    population: Annotated[
        TableOption,
        Option("Population register", "The people of the population, or a table of their counts.", True),
    ],
    count: Annotated[
        str | None,
        Option(
            "Column of counts",
            "The column of the register with the number of people.",
            absent="a row is a person, or its weight",
        ),
    ] = None,
    k: Annotated[
        int,
        Field(ge=2),
        Option("k", "The smallest number of people that a record should fit.", True, "people"),
    ] = 3,
    keys: KeyColumns = KEYS,
    missing: MissingKeys = Missing.WILDCARD,
) -> Result:
    r"""Share of records whose keys fewer than k people of a known population have.

    `population` is a register with a row for each person, or a table of counts whose number of people is in
    the column `count`: a data frame, microdata or a path. It holds the keys under the same names, coded as in
    the file or as before the file was recoded, top-coded or rounded, which is then done to it too. With fₖ
    records of the file and Fₖ people of the population in key combination k,

    .. math:: \text{value} = \frac1n \sum_k f_k\,[F_k < k], \quad
       \text{journalist\_mean} = \frac1n \sum_k \frac{f_k}{F_k}, \quad
       \text{prosecutor\_mean} = \frac{\#k}{n}

    figures: violations, expected_reidentifications Σfₖ/Fₖ (if a register is matched with the whole file),
    journalist_highest and journalist_mean of 1/Fₖ, prosecutor_highest and prosecutor_mean of 1/fₖ,
    smallest_population_count, unmatched. parts: sample_count, population_count and journalist_risk of each
    record. tables: `sizes`, records by population_count, in classes of `from` to below `to`.

    A record that fits nobody (unmatched, a note says how many) violates, as 0 < k; its journalist risk is 0,
    because nobody is found. It shows that the codes differ, the register is incomplete, or the keys were
    perturbed.

    Weights: those of the file are not used, the population is known; a weight role of the population is its
    count. Missing keys, in the file or in the register: see `frequencies`; by "nothing" an incomplete
    record fits one person only, its own.
    After suppression, PRAM, swapping or synthesis it describes the file and is not the risk of its persons;
    that is `reidentification_risk`.
    Reference: El Emam & Dankar (2008).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"age": [30, 30, 80]}), keys="age")
    >>> register = pl.DataFrame({"age": [30, 80], "people": [100, 2]})
    >>> result = sdc.risk.k_map(data, population=register, count="people", k=3)
    >>> result.figures["violations"], result.parts["journalist_risk"].to_list()
    (1, [0.01, 0.01, 0.5])
    """
    cells = key_cells(data, keys, missing)
    register, notes = _register_cells(population, data, keys, count)
    people = _people(cells, register, keys, missing)
    found = people > 0
    journalist = np.where(found, 1 / np.where(found, np.maximum(people, 1.0), 1.0), 0.0)
    prosecutor = 1 / cells.sample
    unmatched = cells.count(~found)
    notes += missing_note(cells, missing)
    if unmatched:
        notes += (
            f"{count_of(unmatched, 'record fits', 'records fit')} nobody in the population; are the "
            "keys coded "
            "the same way?",
        )
    few = int((people[found] < cells.sample[found]).sum())
    if few:
        notes += (
            f"{count_of(few, 'key combination has', 'key combinations have')} fewer people in the population "
            "than records in the file.",
        )
    violations = cells.count(people < k)
    expected = float((journalist * cells.records).sum())
    return Result(
        violations / data.height,
        {
            "violations": violations,
            "expected_reidentifications": expected,
            "journalist_highest": float(journalist.max()),
            "journalist_mean": expected / data.height,
            "prosecutor_highest": float(prosecutor.max()),
            "prosecutor_mean": float((prosecutor * cells.records).sum()) / data.height,
            "smallest_population_count": float(people.min()),
            "unmatched": unmatched,
        },
        cells.parts(sample_count=cells.sample, population_count=people, journalist_risk=journalist),
        notes,
        {"sizes": by_size(people, cells.records, k)},
    )


def _register_cells(
    population: Microdata, data: Microdata, keys: Sequence[str], count: str | None
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """keys… as the data have them, the people in each combination (WEIGHT_SUM), and what was recoded."""
    absent = [c for c in (*keys, *([] if count is None else [count])) if c not in population.columns]
    if absent:
        raise ColumnError(
            f"The population has no column {absent[0]!r}.",
            allowed=join_names(population.columns),
            hint="The option keys names the keys to look for.",
        )
    register, notes = apply_same_recoding(population, data, keys)
    weight = population.roles.weight if count is None else count
    asked = ("register_cells", tuple(keys), weight)  # the same for every file compared with it
    counts = register.cached(asked, lambda: tables.count_cells(register.table, list(keys), weight))
    people = counts[tables.WEIGHT_SUM]
    if people.null_count() or not people.is_finite().all() or (people < 0).any():
        raise DataError("Population counts must be numbers from 0 up.", given=f"column {count!r}")
    return counts, notes


def _people(cells: KeyCells, register: pl.DataFrame, keys: Sequence[str], missing: Missing) -> Floats:
    """The number of people each key cell of the file fits."""
    from sdckit.kernels.hashing import pack
    from sdckit.kernels.wildcard import wildcard_counts

    stacked = [_stacked(cells.combinations[key], register[key]).alias(f"k{i}") for i, key in enumerate(keys)]
    codes = key_codes(pl.DataFrame(stacked), [column.name for column in stacked])
    mine = len(cells.records)
    counts = np.concatenate([np.zeros(mine), register[tables.WEIGHT_SUM].to_numpy()])
    if missing is Missing.WILDCARD and (codes < 0).any():
        return wildcard_counts(codes, counts, counts)[0][:mine]
    cell = np.unique(pack(codes), return_inverse=True)[1].reshape(-1)
    people: Floats = np.bincount(cell, weights=counts).astype(np.float64)[cell[:mine]]
    return np.where(cells.incomplete, 1.0, people) if missing is Missing.NOTHING else people


def _stacked(mine: pl.Series, theirs: pl.Series) -> pl.Series:
    """Both columns in one, in a type that holds both: numbers stay numbers, all else is compared as text."""
    if mine.dtype != theirs.dtype:
        common = pl.Float64 if mine.dtype.is_numeric() and theirs.dtype.is_numeric() else pl.String
        mine, theirs = mine.cast(common), theirs.cast(common)
    return pl.concat([mine, theirs.alias(mine.name)])
