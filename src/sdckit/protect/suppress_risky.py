"""Blank keys of the records whose re-identification risk is too high."""

from typing import Annotated, Any

import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Bools, Codes, Ints
from sdckit._support.messages import require_known
from sdckit.data.effects import Effects
from sdckit.data.key_cells import Missing
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.methods.options import KEYS, Columns, KeyColumns, Option
from sdckit.methods.registry import protection
from sdckit.models.cell_risk import cell_risk
from sdckit.protect._blanks_on_engine import BITS, carried_to_records
from sdckit.protect._draws import Draws
from sdckit.protect._inference import FIGURES, inferable
from sdckit.protect._lenders import Lenders
from sdckit.protect._lending import Records, Released, RiskyCells
from sdckit.protect._weighted_cells import WeightedCells, weighted_cells
from sdckit.protect.suppress import Rule, SecretSeed, refuse_nothing


@protection(
    "Suppression in risky records",
    family="Blanked values",
    figures=FIGURES,
    engines="all",
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
    combination k times with few blanks use `suppress`. DuckDB and Spark give the same values for the same
    seed; what other columns tell is not examined there. Reference: Franconi & Polettini (2004).

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
    cells = weighted_cells(data, names)
    if missing is Missing.WILDCARD:
        blank, singles = _one_by_one(cells, order, threshold), Records()
        did = _counted(cells, blank, threshold)
        frame = _blanked(data, names, cells, blank, singles, None)
    else:
        rng = np.random.default_rng([data.origin, len(data.log)] if seed is None else seed)
        lenders = Lenders(cells, Draws(data, rng))
        state = RiskyCells(cells, threshold, lenders.fetch, lenders.draw)
        for count in range(1, len(order) + 1):
            state.blank_keys(sum(1 << j for j in order[:count]), last=count == len(order))
        did = state.released()
        frame = _blanked(data, names, cells, state.blank, state.singles, lenders)
    gone = {c: int(n) for c, n in zip(names, did.suppressed, strict=True) if n}
    return data.with_frame(
        frame,
        effects=Effects(suppresses=tuple(gone)),
        cells_suppressed=sum(gone.values()),
        by_key=gone,
        records_touched=did.touched,
        records_lent=did.lent,
        above_before=did.above_before,
        above_after=did.above_after,
        **inferable(data, frame, gone),
    )


def _one_by_one(cells: WeightedCells, order: list[int], threshold: float) -> Ints:
    """Each variable blanked in the cells above the threshold by then, a blank matching any value (bits)."""
    blank = np.zeros(len(cells.codes), dtype=np.int64)
    for j in order:
        blank |= np.where(_above(cells, blank, threshold), 1 << j, 0)
    return blank


def _above(cells: WeightedCells, blank: Ints, threshold: float) -> Bools:
    """Which cells are above the threshold with these blanks, which match any value."""
    from sdckit.kernels.wildcard import wildcard_counts

    weights = cells.weight(cells.high, cells.low)
    counts = wildcard_counts(_shown(cells, blank), cells.records.astype(np.float64), weights)
    return np.asarray(cell_risk(*counts) > threshold)


def _shown(cells: WeightedCells, blank: Ints) -> Codes:
    bits = np.arange(cells.codes.shape[1], dtype=np.int64)
    return np.where(blank[:, None] >> bits & 1, np.int32(-1), cells.codes)


def _counted(cells: WeightedCells, blank: Ints, threshold: float) -> Released:
    """What the rule `wildcard` did: it touches records above the threshold alone."""
    gone = (_shown(cells, blank) < 0) & (cells.codes >= 0)
    none = np.zeros_like(blank)
    return Released(
        suppressed=(gone * cells.records[:, None]).sum(axis=0),
        touched=int(cells.records[gone.any(axis=1)].sum()),
        lent=0,
        above_before=int(cells.records[_above(cells, none, threshold)].sum()),
        above_after=int(cells.records[_above(cells, blank, threshold)].sum()),
    )


def _blanked(
    data: Microdata,
    names: tuple[str, ...],
    cells: WeightedCells,
    blank: Ints,
    singles: Records,
    lenders: Lenders | None,
) -> Any:
    """The file with the blanks (bits) of its cells and of single records."""
    if data.engine != "polars":
        drawn = lenders.ids(singles.record) if lenders is not None else pl.DataFrame()
        bits = drawn.with_columns(pl.Series(BITS, singles.blank))
        return carried_to_records(data, names, cells.combinations, blank, bits)
    of_records = blank[cells.of_records]
    of_records[singles.record] = singles.blank
    return data.frame.with_columns(
        pl.when(pl.Series(of_records >> j & 1 == 0)).then(pl.col(c)).alias(c)
        for j, c in enumerate(names)
        if (of_records >> j & 1).any()
    )
