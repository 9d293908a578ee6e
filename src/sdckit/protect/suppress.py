"""Local suppression: blank as few key values as possible until the file is k-anonymous."""

from collections.abc import Mapping
from itertools import combinations
from math import inf
from typing import Annotated, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Floats
from sdckit._support.messages import require_known
from sdckit._support.progress import Progress
from sdckit.data.key_cells import Missing, key_codes
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.errors import DataError, OptionError
from sdckit.methods.options import KEYS, Columns
from sdckit.methods.registry import protection
from sdckit.protect._inference import told
from sdckit.protect._strata import strata

Level = Literal["low", "normal", "high", "never"] | Annotated[float, Field(gt=0)]
LEVELS = {"low": 0.5, "normal": 1.0, "high": 100.0, "never": inf}


@protection(
    "Local suppression to k-anonymity",
    needs=Role.KEYS,
    reference="Samarati (2001); Templ, Kowarik & Meindl (2015)",
)
def suppress(
    data: Microdata,
    *,
    k: Annotated[int, Field(ge=2)] = 3,
    keys: Columns = KEYS,
    importance: Mapping[str, Level] | list[str] | None = None,
    subsets: Annotated[int, Field(ge=1)] | list[Columns] | None = None,
    by: Columns = (),
    missing: Missing = Missing.WILDCARD,
    progress: Progress,
) -> Microdata:
    """Set key values to missing until every record shares its keys with at least k−1 others.

    The fewest cells are sought, each counted with the importance of its key: a list from the most to the
    least important key, or a mapping to "low", "normal", "high", "never" (not to be touched) or a number
    (what one suppression costs; "high" is 100, "low" ½). With `subsets`, every subset of the keys up to that
    size, or every listed combination, is made k-anonymous. `by`: within strata, each on its own.

    A missing key value matches any value (`missing="wildcard"`) or is a category of its own. The result is
    counted again under the same rule before it is returned. Weights are not used.

    A blanked value is no secret where another column tells it: the stratum the region, another member that of
    the household, a weight the stratum, an income its class. The log says how many values are told
    (`values_told`) and by which columns (`told_by`), the `warnings` of the protected data say it in words.
    A column counts if guesses from it are right nine times in ten beyond chance; what two columns tell
    together, or the id and the order of the file (see `new_ids`, `shuffle_order`), is not looked at.
    Reference: Samarati (2001); Templ, Kowarik & Meindl (2015).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": list("fffm"), "region": list("aaaa")}), keys=["sex", "region"])
    >>> sdc.protect.suppress(data, k=2).frame["sex"].to_list()
    ['f', 'f', 'f', None]
    """
    refuse_nothing(missing)
    if missing is Missing.CATEGORY and subsets is not None:
        raise OptionError("subsets need the wildcard rule.", given="missing=category", allowed="wildcard")
    from sdckit.kernels.suppression.wildcard_rule import suppress_cells

    names = tuple(keys)
    costs = key_costs(names, importance)
    wanted = _positions(names, subsets)
    mask = np.zeros((data.height, len(names)), dtype=bool)

    def tell(left: int) -> None:
        progress("suppress", data.height - left, data.height)

    for rows in strata(data, by):
        if k > len(rows):
            where = " in a stratum" if by else ""
            raise OptionError(
                f"k is larger than the number of records{where}.", given=k, allowed=f"2 to {len(rows)}"
            )
        codes = key_codes(data.frame[rows], names)
        rule: Literal["wildcard", "category"] = "category" if missing is Missing.CATEGORY else "wildcard"
        mask[rows] = suppress_cells(codes, k=k, cost=costs, rule=rule, subsets=wanted, progress=tell)
    frame = data.frame.with_columns(
        pl.when(pl.Series(mask[:, j])).then(None).otherwise(pl.col(c)).alias(c) for j, c in enumerate(names)
    )
    if mask.any() and all(frame[c].null_count() == data.height for c in names):
        raise DataError(
            "The file cannot become k-anonymous unless every value of every key is suppressed.",
            given=f"k={k}, {data.height:,} records",
            hint="Lower k, recode the keys first, or let missing values match any value (missing=wildcard).",
        )
    cells = {c: int(mask[:, j].sum()) for j, c in enumerate(names)}
    return data.with_frame(
        frame,
        cells_suppressed=int(mask.sum()),
        records_touched=int(mask.any(axis=1).sum()),
        by_key=cells,
        **told(data, frame, cells),
    )


def refuse_nothing(missing: Missing) -> None:
    """Refuse the rule under which a blank key never hides a record."""
    if missing is Missing.NOTHING:
        raise OptionError(
            "Suppression cannot help when a missing value matches nothing.",
            given="nothing",
            allowed="wildcard, category",
        )


def key_costs(keys: tuple[str, ...], importance: object) -> Floats:
    """What one suppressed cell of each key costs."""
    if importance is None:
        return np.ones(len(keys))
    names = list(importance) if isinstance(importance, Mapping | list) else []
    require_known(names, keys, "importance names a column that is not a key.")
    if isinstance(importance, Mapping):
        levels = [importance.get(key, "normal") for key in keys]
        costs = np.array([LEVELS[v] if isinstance(v, str) else float(v) for v in levels])
    else:
        from sdckit.kernels.suppression.wildcard_rule import importance_costs

        rest = [key for key in keys if key not in names]
        order = {key: rank for rank, key in enumerate([*names, *rest], 1)}
        costs = importance_costs(np.array([order[key] for key in keys]))
    if np.isinf(costs).all():
        raise OptionError("Every key is marked never.", hint="Leave at least one key that may be suppressed.")
    return costs


def _positions(keys: tuple[str, ...], subsets: object) -> list[tuple[int, ...]] | None:
    if subsets is None:
        return None
    if isinstance(subsets, int):
        sizes = range(1, min(subsets, len(keys)) + 1)
        return [s for size in sizes for s in combinations(range(len(keys)), size)]
    wanted = [tuple(s) for s in subsets] if isinstance(subsets, list) else []
    require_known((c for s in wanted for c in s), keys, "subsets may only name keys.")
    return [tuple(keys.index(c) for c in s) for s in wanted]
