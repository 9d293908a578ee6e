"""The blocks of `_blocks` for records that stay on an engine."""

from collections.abc import Mapping, Sequence

import narwhals as nw
import numpy as np
import polars as pl

from sdckit.engine import frames, random
from sdckit.engine.joins import join_to_records
from sdckit.engine.tables import OURS, RECORDS, Table, count_cells, native_module
from sdckit.protect import _blocks
from sdckit.protect._blocks import Blocks, Scale, parts_by_presence, sampled_share, without_small
from sdckit.protect._groupings import Transform
from sdckit.protect._strata_on_engine import CODE, STRATUM

_PART, _BLOCK, _SHARE, _DRAWN = (f"{OURS}{part}" for part in ("part", "block", "share", "drawn"))


def in_blocks(
    table: Table, names: Sequence[str], k: int, transform: Transform
) -> tuple[Table, dict[int, Scale], int]:
    """A table of strata with blocks in the place of strata above a size, as `blocks_in_memory` makes them.

    With the scale of distances of the blocks that do not have their own, and how many blocks were made of
    strata that were cut.
    """
    sizes = count_cells(table, [STRATUM], None)
    large = set(sizes.filter(pl.col(RECORDS) > _blocks.LARGEST)[STRATUM].to_list())
    if not large:
        return table, {}, 0
    has = [f"{OURS}has{j}" for j in range(len(names))]
    table = table.with_columns((~nw.col(c).is_null()).alias(h) for c, h in zip(names, has, strict=True))
    cells = _parts(count_cells(table, [STRATUM, *has], None), large, has, k)
    table = join_to_records(table, cells, [STRATUM, *has], [_PART]).drop(STRATUM, *has)
    table = table.filter(~nw.col(_PART).is_null())
    counts = dict(cells.drop_nulls(_PART).group_by(_PART).agg(pl.col(RECORDS).sum()).iter_rows())
    cut = set(cells.filter(pl.col(STRATUM).is_in(list(large)))[_PART].drop_nulls())
    too_large = {part: n for part, n in counts.items() if part in cut and n > _blocks.LARGEST}
    divided = _divided(table, names, too_large, transform)
    block = nw.lit(0)
    for part, blocks in divided.items():
        here = blocks.expression(names, CODE)
        block = nw.when(nw.col(_PART) == part).then(here).otherwise(block)
    table = table.with_columns(block.cast(nw.Int64).alias(_BLOCK))
    table = frames.lazy(native_module(table).worked_out(table.to_native()))  # read once for each block
    numbers = _numbers(count_cells(table, [_PART, _BLOCK], None), divided, k)
    table = join_to_records(table, numbers, [_PART, _BLOCK], [STRATUM]).drop(_PART, _BLOCK)
    rows = numbers.select(STRATUM, _PART).unique().iter_rows()
    scales = {number: divided[part].scale for number, part in rows if part in divided}
    return table, scales, numbers.filter(pl.col(_PART).is_in(list(cut)))[STRATUM].n_unique()


def _parts(cells: pl.DataFrame, large: set[int], has: Sequence[str], k: int) -> pl.DataFrame:
    """The cells of strata and present values with the number of their part, none where none is present."""
    found, start = [], 0
    for stratum in cells.partition_by(STRATUM, maintain_order=True):
        part = np.zeros(stratum.height, dtype=np.int64)
        if stratum[STRATUM][0] in large:
            part = parts_by_presence(stratum.select(has).to_numpy(), stratum[RECORDS].to_numpy(), k)
        number = pl.Series(_PART, np.where(part < 0, -1, part + start))
        found.append(stratum.with_columns(number.replace(-1, None)))
        start += int(part.max()) + 1
    return pl.concat(found)


def _divided(
    table: Table, names: Sequence[str], sizes: Mapping[int, int], transform: Transform
) -> dict[int, Blocks]:
    """For each part that is too large its blocks, from a sample of its records."""
    if not sizes:
        return {}
    shares = pl.DataFrame(
        [(part, sampled_share(n)) for part, n in sizes.items()],
        schema={_PART: pl.Int64, _SHARE: pl.Float64},
        orient="row",
    )
    table = join_to_records(table, shares, [_PART], [_SHARE]).filter(~nw.col(_SHARE).is_null())
    ends = [nw.col(c).min().alias(f"{c}a") for c in names] + [nw.col(c).max().alias(f"{c}z") for c in names]
    limits = frames.gather(table.group_by(_PART).agg(*ends))
    table = random.uniform(table, id=CODE, seed=_blocks.SEED, step=_blocks.STEP, name=_DRAWN)
    drawn = table.filter(nw.col(_DRAWN) <= nw.col(_SHARE)).select(_PART, CODE, *names)
    sample = frames.gather(drawn).sort(_PART, CODE)
    found = {}
    for part, n in sizes.items():
        rows = sample.filter(pl.col(_PART) == part)
        x, end = _matrix(rows, names), limits.filter(pl.col(_PART) == part)
        low, high = (_matrix(end, [f"{c}{side}" for c in names])[0] for side in "az")
        scale = Scale.of_sample(x, transform, low, high)
        found[part] = Blocks.of_sample(x, rows[CODE].to_numpy(), n, scale)
    return found


def _matrix(rows: pl.DataFrame, names: Sequence[str]) -> np.ndarray:
    return np.array(rows.select(pl.col(c).cast(pl.Float64).fill_null(np.nan) for c in names).to_numpy())


def _numbers(sizes: pl.DataFrame, divided: Mapping[int, Blocks], k: int) -> pl.DataFrame:
    """The final number of each block of each part, those of too few records together with a neighbour."""
    start = 0
    none = pl.Series(STRATUM, [], dtype=pl.Int64)
    found = [sizes.select(_PART, _BLOCK).clear().with_columns(none)]  # where no record has a value
    for rows in sizes.sort(_PART, _BLOCK).partition_by(_PART, maintain_order=True):
        blocks = divided.get(rows[_PART][0])
        counts = np.zeros(1 if blocks is None else blocks.count, dtype=np.int64)
        counts[rows[_BLOCK].to_numpy()] = rows[RECORDS].to_numpy()
        new = start + without_small(counts, k)[rows[_BLOCK].to_numpy()]
        found.append(rows.select(_PART, _BLOCK, pl.Series(STRATUM, new, dtype=pl.Int64)))
        start = int(new.max()) + 1
    return pl.concat(found)
