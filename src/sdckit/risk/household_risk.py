"""Household risk: the chance that at least one member of the household is re-identified."""

from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Floats
from sdckit._support.number_text import count_of
from sdckit.data.key_cells import Missing, key_cells
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.engine.tables import missing_counts
from sdckit.methods.options import KEYS, KeyColumns, MissingKeys, MissingKeyWeight, Option
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Figure, records, share
from sdckit.models.cell_risk import Method, cell_risk
from sdckit.risk._engine_households import sizes_on_engine
from sdckit.risk.frequencies import WEIGHT_NEEDS_WILDCARD, missing_note
from sdckit.risk.individual_risk import RiskMethod


@risk(
    "Household re-identification risk",
    family="Categorical keys",
    bounds=(0, 1),
    unit="probability",
    needs=(Role.KEYS, Role.HOUSEHOLD),
    engines="all",
    share=True,
    main="threshold",
    rules=(WEIGHT_NEEDS_WILDCARD,),
    renamed={"alpha": "missing_weight"},
    figures={
        "expected_reidentifications": records("Persons expected in a household that is re-identified"),
        "expected_households": Figure(
            "Households expected to be re-identified", "households", counts_records=True
        ),
        "mean_over_households": share("Mean over households"),
        "households": Figure("Households", "households", Better.NEITHER, counts_records=True),
        "above_threshold": records("Persons whose household is above the threshold"),
        "highest": share("Highest risk of a household", extreme=True),
    },
    chart=charts.TableBars(
        "household_sizes", "household_size", "mean_household_risk", "mean household risk", True, "size "
    ),
    reference="Hundepool et al. (2012), Statistical Disclosure Control, ch. 3; Templ (2017), ch. 3",
    interpretation=(
        "The mean, over persons, of the probability that an intruder who knows the keys of everybody in a "
        "household recognises at least one of its members, and with one all the others. 0.01: one person in "
        "a hundred is exposed in this way on average. It is at least as high as the individual risk."
    ),
)
def household_risk(
    data: Microdata,
    *,
    keys: KeyColumns = KEYS,
    method: RiskMethod = Method.APPROX,
    threshold: Annotated[
        float,
        Field(gt=0, le=1),
        Option("Threshold", "Persons in households with a risk above it are counted.", True, "probability"),
    ] = 0.1,
    missing: MissingKeys = Missing.WILDCARD,
    missing_weight: MissingKeyWeight = 1.0,
) -> Result:
    r"""Probability that somebody in the household is re-identified, for every record.

    With the individual risks rᵢ of the members (see `individual_risk`), taken as independent,

    .. math:: r_h = 1 - \prod_{i \in h} (1 - r_i)

    0: nobody can be recognised; 1: some member certainly is. In a household of one it is the individual risk.

    value: the mean of r_h over persons, so a household counts once for each of its members.
    figures: expected_reidentifications Σ r_h over persons, expected_households Σ r_h over households,
    mean_over_households, households, above_threshold (persons whose household is above `threshold`), highest.
    parts: individual_risk, household_risk and household_size of each record; on DuckDB and Spark the
    individual risk of each combination of keys.
    The table `household_sizes` has both mean risks for each household size.

    Weights: enter the individual risks. Missing keys: see `frequencies`. A record without a household number
    is a household of its own. Household variables among the keys make the members' risks dependent; the
    product then overstates the risk, which errs on the safe side.
    After suppression, PRAM, swapping or synthesis it describes the file and is not the risk of its persons;
    that is `reidentification_risk`.
    Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> frame = pl.DataFrame({"age": [1, 1, 2, 3], "home": ["a", "a", "b", "b"]})
    >>> data = sdc.read(frame, keys="age", household="home")
    >>> sdc.risk.household_risk(data).parts["household_risk"].to_list()  # 1 − ½·½ and 1 − 0·0
    [0.75, 0.75, 1.0, 1.0]
    """
    cells = key_cells(data, keys, missing, missing_weight)
    of_cells = cell_risk(cells.sample, cells.population, method)
    household = data.roles.household or ""
    if data.engine == "polars":
        persons = _persons(data.frame[household], of_cells[cells.of_records])
        sizes = _by_size(persons, threshold)
        parts = pl.DataFrame([data.ids(beside=persons.columns), *persons])
    else:
        sizes = sizes_on_engine(data, cells, of_cells, threshold)
        parts = cells.parts(individual_risk=of_cells)
    notes = missing_note(cells, missing, missing_weight)
    alone = missing_counts(data.table, [household])[household]
    if alone:
        notes += (
            f"{count_of(alone, 'record has', 'records have')} no household number: each is a household "
            "of its own.",
        )
    if data.roles.weight is None:
        notes += ("No weights: the file is taken for the whole population, individual risks are 1/f.",)
    persons_found, homes_found = (
        _sum(sizes["household_total"]),
        _sum(sizes["household_total"] / sizes["household_size"]),
    )
    homes = int(sizes["households"].sum())
    return Result(
        persons_found / data.height,
        {
            "expected_reidentifications": persons_found,
            "expected_households": homes_found,
            "mean_over_households": homes_found / homes,
            "households": homes,
            "above_threshold": int(sizes["above"].sum()),
            "highest": float(sizes["highest"].max()),  # type: ignore[arg-type]
        },
        parts,
        notes,
        {"household_sizes": _shown(sizes)},
    )


def _persons(household: pl.Series, risks: Floats) -> pl.DataFrame:
    """individual_risk, household_risk and household_size of each record.

    Sums of ln(1−r) keep digits that a product of numbers near 1 would lose; r = 1 gives −∞ and so 1.
    """
    with np.errstate(divide="ignore"):
        safe = np.log1p(-risks)
    alone = pl.col("household").is_null()
    homes = pl.DataFrame([household.alias("household"), pl.Series("safe", safe)]).select(
        pl.when(alone).then("safe").otherwise(pl.col("safe").sum().over("household")).alias("safe"),
        pl.when(alone).then(1).otherwise(pl.len().over("household")).cast(pl.Int64).alias("size"),
    )
    return pl.DataFrame(
        {
            "individual_risk": risks,
            "household_risk": -np.expm1(homes["safe"].to_numpy()),
            "household_size": homes["size"],
        }
    )


def _by_size(persons: pl.DataFrame, threshold: float) -> pl.DataFrame:
    """Sums over persons for each household size: what a file outside memory delivers, too."""
    size, risk = pl.col("household_size"), pl.col("household_risk")
    return (
        persons.group_by(size)
        .agg(
            pl.len().cast(pl.Int64).alias("persons"),
            pl.col("individual_risk").sum().alias("individual_total"),
            risk.sum().alias("household_total"),
            (risk > threshold).sum().cast(pl.Int64).alias("above"),
            risk.max().alias("highest"),
        )
        .with_columns((pl.col("persons") // size).alias("households"))
        .sort("household_size")
    )


def _shown(sizes: pl.DataFrame) -> pl.DataFrame:
    return sizes.select(
        "household_size",
        "households",
        "persons",
        (pl.col("individual_total") / pl.col("persons")).alias("mean_individual_risk"),
        (pl.col("household_total") / pl.col("persons")).alias("mean_household_risk"),
    )


def _sum(column: pl.Series) -> float:
    return float(column.sum())
