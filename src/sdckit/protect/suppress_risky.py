"""Blank keys of the records whose re-identification risk is too high."""

from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Bools
from sdckit._support.messages import require_known
from sdckit.data.effects import Effects
from sdckit.data.key_cells import Missing, key_cells
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.methods.options import KEYS, Columns, KeyColumns, Option
from sdckit.methods.registry import protection
from sdckit.models.cell_risk import cell_risk
from sdckit.protect._inference import inferable
from sdckit.protect._lending import RiskyRecords
from sdckit.protect._suppression import codes_of
from sdckit.protect.suppress import Rule, SecretSeed, refuse_nothing


@protection(
    "Suppression in risky records",
    family="Blanked values",
    needs=Role.KEYS,
    reference="Franconi & Polettini (2004); Templ, Kowarik & Meindl (2015)",
)
def suppress_risky(
    data: Microdata,
    *,
    variables: Annotated[
        Columns,
        Option("Keys to suppress", "The keys that may be suppressed, the first one first.", basic=True),
    ] = KEYS,
    threshold: Annotated[
        float, Field(gt=0, lt=1), Option("Risk above", "Records with a higher risk are treated.", basic=True)
    ] = 0.1,
    keys: KeyColumns = KEYS,
    missing: Rule = Missing.CATEGORY,
    seed: SecretSeed | None = None,
) -> Microdata:
    """Set keys to missing in records whose individual risk is above a threshold.

    `variables` are the keys that may be blanked, in this order: the first in records above `threshold`, then
    the first two in those still above, and so on. `keys` are the keys the risk is computed from, as in
    `individual_risk`. Weights enter the risk; without them it is 1/f.

    A blank is a value of its own (`missing="category"`): a record whose key is blanked is as easy to find as
    before unless others show the same values and the same blank. So records are blanked only together with
    enough others, drawn at random from combinations that remain below the threshold without them; with
    the last variable also where the risk merely falls. The log says how many records are above the threshold
    before and after, and how many were taken from safe combinations (`records_lent`); some records may be
    left if the variables do not suffice. The draw is secret, as in `suppress`, unless a `seed` is given.

    With `missing="wildcard"` a blank matches any value: each record above the threshold loses the first
    variable, those still above the second, and so on, and nobody else loses any. That lowers the number
    computed, not what an intruder finds who takes the exact match.

    Blanked values that other columns still tell are counted and warned of as in `suppress`. To have every
    combination k times with few blanks use `suppress`. Reference: Franconi & Polettini (2004).

    >>> import polars as pl, sdckit as sdc
    >>> frame = pl.DataFrame({"sex": list("ffffm"), "region": list("aaaaa")})
    >>> data = sdc.read(frame, keys=["sex", "region"])
    >>> done = sdc.protect.suppress_risky(data, variables="sex", threshold=0.5)
    >>> figures = done.log[-1].figures
    >>> done.frame["sex"][4] is None, figures["records_lent"], figures["above_before"], figures["above_after"]
    (True, 1, 1, 0)
    """
    refuse_nothing(missing)
    require_known(variables, keys, "Only keys can be suppressed for their risk.")
    names = tuple(dict.fromkeys(keys))
    order = [names.index(c) for c in dict.fromkeys(variables)]
    before = _above(data, names, threshold, missing)
    if missing is Missing.WILDCARD:
        frame = _one_by_one(data, names, order, threshold)
    else:
        rng = np.random.default_rng([data.origin, len(data.log)] if seed is None else seed)
        records = RiskyRecords(codes_of(data, names), data.weights(), threshold, rng)
        for count in range(1, len(order) + 1):
            records.blank(order[:count], last=count == len(order))
        frame = _blanked(data.frame, names, records.mask())
    gone = {c: frame[c].is_null() & data.frame[c].is_not_null() for c in names}
    cells = {c: int(blank.sum()) for c, blank in gone.items() if blank.any()}
    touched = np.any([blank.to_numpy() for blank in gone.values()], axis=0)
    return data.with_frame(
        frame,
        effects=Effects(suppresses=tuple(cells)),
        cells_suppressed=sum(cells.values()),
        by_key=cells,
        records_touched=int(touched.sum()),
        records_lent=int((touched & ~before).sum()),
        above_before=int(before.sum()),
        above_after=int(_above(data.with_frame(frame), names, threshold, missing).sum()),
        **inferable(data, frame, cells),
    )


def _above(data: Microdata, keys: Columns, threshold: float, missing: Missing) -> Bools:
    cells = key_cells(data, keys, missing)
    return np.asarray((cell_risk(cells.sample, cells.population) > threshold)[cells.of_records])


def _one_by_one(data: Microdata, names: tuple[str, ...], order: list[int], threshold: float) -> pl.DataFrame:
    """Each variable blanked in the records above the threshold by then, a blank matching any value."""
    now = data
    for j in order:
        mask = np.zeros((data.height, len(names)), dtype=bool)
        mask[:, j] = _above(now, names, threshold, Missing.WILDCARD)
        now = now.with_frame(_blanked(now.frame, names, mask))
    frame: pl.DataFrame = now.frame
    return frame


def _blanked(frame: pl.DataFrame, names: tuple[str, ...], mask: Bools) -> pl.DataFrame:
    return frame.with_columns(
        pl.when(~pl.Series(mask[:, j])).then(pl.col(c)).alias(c)
        for j, c in enumerate(names)
        if mask[:, j].any()
    )
