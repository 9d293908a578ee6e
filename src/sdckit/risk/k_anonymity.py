"""k-anonymity: records in key cells smaller than k."""

from itertools import combinations
from math import comb
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Floats, Ints
from sdckit._support.messages import require_known, too_large
from sdckit._support.number_text import count_of
from sdckit.data.key_cells import KeyCells, Missing, fewer_keys, key_cells
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.engine.tables import OURS, join_cells
from sdckit.errors import OptionError
from sdckit.methods.options import KEYS, Columns, KeyColumns, MissingKeys, MissingKeyWeight, Option
from sdckit.methods.registry import risk
from sdckit.methods.spec import records
from sdckit.risk._codes_below_k import codes_below_k
from sdckit.risk.frequencies import WEIGHT_NEEDS_WILDCARD, missing_note

USUAL = (2, 3, 5)
MOST_SUBSETS = 5_000


@risk(
    "Records in key cells smaller than k",
    family="Categorical keys",
    bounds=(0, 1),
    unit="share of records",
    needs=Role.KEYS,
    engines="all",
    share=True,
    main="k",
    rules=(WEIGHT_NEEDS_WILDCARD,),
    renamed={"alpha": "missing_weight"},
    figures={
        "violations": records("Records that violate it"),
        **{f"violations_{k}": records(f"Records below k = {k}") for k in USUAL},
        "violations_if_blank_is_a_value": records("Records below k if a blank is a value", sound=True),
    },
    chart=charts.TableBars("", "k", "share", "share of records in smaller cells", True, "fewer than "),
    reference="Samarati & Sweeney (1998); Sweeney (2002)",
    interpretation=(
        "0: every record shares its keys with at least k−1 others, the file is k-anonymous. 0.05: one record "
        "in twenty does not."
    ),
)
def k_anonymity(
    data: Microdata,
    *,
    k: Annotated[
        int,
        Field(ge=2),
        Option("k", "The smallest number of records that should share their keys.", True, "records"),
    ] = 3,
    keys: KeyColumns = KEYS,
    missing: MissingKeys = Missing.WILDCARD,
    missing_weight: MissingKeyWeight = 1.0,
    subsets: Annotated[
        Annotated[int, Field(ge=1)] | list[Columns] | None,
        Option(
            "Subsets of the keys",
            "Ask the same of all subsets of the keys up to this size, or of the combinations listed.",
            absent="all keys together",
        ),
    ] = None,
) -> Result:
    """Share of records whose keys are shared by fewer than k records.

    A record violates k-anonymity when fₖ < k. With `subsets` the same is asked of every subset of the
    keys up to that size, or of the key combinations listed; a record violates when any of them does. The
    tables then say where that comes from: `subsets`, the violations of each combination of keys; `codes`, for
    each number of keys (size), key and code the records, those among them below k in any combination of this
    many keys (violations), and the cells below k (combinations), as µ-ARGUS lists them.

    Missing keys: records are counted by the wildcard rule unless `missing` says otherwise, see `frequencies`.
    By it a record can reach k by matching blanks alone, so where keys are missing the figure
    violations_if_blank_is_a_value counts the records in smaller cells when a blank is read as a value of its
    own (`missing="category"`), and a note says so.

    Weights: not used, k-anonymity is about the records in the file.
    After suppression, PRAM, swapping or synthesis it describes the file and is not the risk of its persons;
    that is `reidentification_risk`.
    Reference: Samarati & Sweeney (1998).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": list("fffmm"), "region": list("aaabb")}), keys=["sex", "region"])
    >>> sdc.risk.k_anonymity(data, k=3).figures["violations"]
    2
    """
    if k > data.height:
        raise too_large(k, data.height)
    cells = key_cells(data, keys, missing, missing_weight)
    levels = sorted({*USUAL, k})
    wanted = _subsets(tuple(keys), subsets)
    if subsets is None:
        smallest, exact = cells.sample, cells.records
        tables: dict[str, pl.DataFrame] = {}
    else:
        fewest = [fewer_keys(cells, subset, missing, missing_weight) for subset in wanted]
        each = [_sizes(cells, fewer, fewer.sample) for fewer in fewest]
        smallest = np.min(each, axis=0)
        exact = np.min([_sizes(cells, fewer, fewer.records) for fewer in fewest], axis=0)
        violating = [cells.count(size < k) for size in each]
        names = [", ".join(s) for s in wanted]
        below = [size < k for size in each]
        tables = {
            "subsets": pl.DataFrame({"keys": names, "violations": violating}),
            "codes": codes_below_k(cells, wanted, below, fewest, k),
        }
    counts = {level: cells.count(smallest < level) for level in levels}
    parts = pl.DataFrame(
        {
            "k": levels,
            "violations": [counts[level] for level in levels],
            "share": [counts[level] / data.height for level in levels],
        }
    )
    figures = {"violations": counts[k], **{f"violations_{level}": counts[level] for level in USUAL}}
    notes = missing_note(cells, missing, missing_weight)
    if notes and missing is Missing.WILDCARD:
        rare = cells.count(exact < k)
        figures["violations_if_blank_is_a_value"] = rare
        notes += _blank_note(rare, k)
    return Result(counts[k] / data.height, figures, parts, notes, tables)


def _blank_note(rare: int, k: int) -> tuple[str, ...]:
    """What the wildcard rule hides: records that reach k only by matching blanks."""
    if not rare:
        return ()
    return (
        f"{count_of(rare, 'record is', 'records are')} rarer than {k} if a blank is read as a value "
        "of its own: whoever knows which values were "
        "suppressed sees these.",
    )


def _subsets(keys: tuple[str, ...], asked: int | list[Columns] | None) -> list[tuple[str, ...]]:
    if asked is None:
        return [keys]
    if isinstance(asked, int):
        number = sum(comb(len(keys), size) for size in range(1, min(asked, len(keys)) + 1))
        if number > MOST_SUBSETS:
            raise OptionError(
                "So many combinations of keys are not looked at one by one.",
                given=f"{number:,} of up to {asked} of {len(keys)} keys",
                allowed=f"at most {MOST_SUBSETS:,}: fewer keys together, or a list of combinations",
            )
        return [s for size in range(1, min(asked, len(keys)) + 1) for s in combinations(keys, size)]
    require_known((c for subset in asked for c in subset), keys, "subsets may only name keys.")
    if not asked or not all(asked):
        raise OptionError("subsets must list key combinations.", given=asked)
    return [tuple(subset) for subset in asked]


def _sizes(cells: KeyCells, fewer: KeyCells, counts: Floats | Ints) -> Floats:
    """The cell counts on a subset of the keys, in the order of all cells."""
    names = fewer.combinations.columns
    sizes = fewer.combinations.with_columns(pl.Series(OURS, counts))
    joined = join_cells(cells.combinations.select(names), sizes, names, [OURS])
    return joined[OURS].to_numpy()
