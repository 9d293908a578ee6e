"""Blank keys of the records whose re-identification risk is too high."""

from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Bools
from sdckit._support.messages import require_known
from sdckit.data.key_cells import Missing, key_cells
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.methods.options import KEYS, Columns
from sdckit.methods.registry import protection
from sdckit.models.cell_risk import cell_risk
from sdckit.protect._inference import told
from sdckit.protect.suppress import refuse_nothing


@protection(
    "Suppression in risky records",
    needs=Role.KEYS,
    reference="Franconi & Polettini (2004); Templ, Kowarik & Meindl (2015)",
)
def suppress_risky(
    data: Microdata,
    *,
    variables: Columns = KEYS,
    threshold: Annotated[float, Field(gt=0, lt=1)] = 0.1,
    keys: Columns = KEYS,
    missing: Missing = Missing.WILDCARD,
) -> Microdata:
    """Set keys to missing in records whose individual risk is above a threshold.

    `variables` are the keys that may be blanked, in this order: the first in all records above `threshold`,
    then, with the risks computed anew, the second in those still above, and so on. With one variable only
    that key is blanked. The log says how many records are above the threshold before and after; some may be
    left if the variables do not suffice. `keys` are the keys the risk is computed from, as in
    `individual_risk`.

    A missing key value matches any value (`missing="wildcard"`) or is a category of its own. Weights enter
    the risk; without them it is 1/f. Blanked values that other columns still tell are counted and warned of
    as in `suppress`. To reach k-anonymity with few blanks use `suppress`.
    Reference: Franconi & Polettini (2004).

    >>> import polars as pl, sdckit as sdc
    >>> frame = pl.DataFrame({"sex": list("ffffm"), "region": list("aaaab")})
    >>> data = sdc.read(frame, keys=["sex", "region"])
    >>> done = sdc.protect.suppress_risky(data, variables="region", threshold=0.5)
    >>> done.frame["region"].to_list(), done.log[-1].figures["above_after"]
    (['a', 'a', 'a', 'a', None], 1)
    """
    refuse_nothing(missing)
    require_known(variables, keys, "Only keys can be suppressed for their risk.")
    now = data
    risky = before = _above(data, keys, threshold, missing)
    cells: dict[str, int] = {}
    for name in dict.fromkeys(variables):
        blank = risky & now.frame[name].is_not_null().to_numpy()
        if not blank.any():
            continue
        frame = now.frame.with_columns(pl.when(~pl.Series(blank)).then(pl.col(name)).alias(name))
        cells[name] = int(blank.sum())
        now = now.with_frame(frame)
        risky = _above(now, keys, threshold, missing)
    return data.with_frame(
        now.frame,
        cells_suppressed=sum(cells.values()),
        by_key=cells,
        records_touched=_touched(data, now, list(cells)),
        above_before=int(before.sum()),
        above_after=int(risky.sum()),
        **told(data, now.frame, cells),
    )


def _above(data: Microdata, keys: Columns, threshold: float, missing: Missing) -> Bools:
    cells = key_cells(data, keys, missing)
    return np.asarray((cell_risk(cells.sample, cells.population) > threshold)[cells.of_records])


def _touched(before: Microdata, after: Microdata, names: list[str]) -> int:
    """Records with a blank they did not have."""
    gone = [after.frame[c].is_null() & before.frame[c].is_not_null() for c in names]
    return int(pl.select(pl.any_horizontal(gone)).to_series().sum()) if gone else 0
