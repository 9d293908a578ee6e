"""Record swapping on engines: households are counted and joined there, and paired batch by batch."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.data.key_cells import has_missing, key_codes
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, random
from sdckit.engine.joins import join_to_records
from sdckit.engine.quantiles import order_statistics
from sdckit.engine.strata import map_strata
from sdckit.engine.tables import OURS, Table, count_cells, native_module
from sdckit.protect import _blocks
from sdckit.protect._engine_homes import ALONE, CODE, UNIT, with_units
from sdckit.protect._swapped_homes import (
    Homes,
    Round,
    Swapping,
    area_numbers,
    blocks_of,
    figures_of,
    level_left,
    numbered,
)

SIZE, AREA, RISK, NEW, TURN, LEFT = (
    f"{OURS}{part}" for part in ("size", "area", "risk", "new_area", "turn", "left")
)
_LAST, _COUNT, _START, _BLOCKS, _DRAWN, _OTHER, _BATCH = (
    f"{OURS}{part}" for part in ("last", "count", "start", "blocks", "drawn", "other", "together")
)
BITS = 40  # of the numbers whose sums tell profiles apart: sums of eight million members fit
FULL = 0.5  # how full batches of small profiles are on average


@dataclass(frozen=True, slots=True)
class _Pairing:
    """What a worker needs to pair the households of a batch. areas [n, depth]: the numbers of each area."""

    round: Round
    areas: Ints
    profile: tuple[str, ...]

    def __call__(self, batch: pl.DataFrame) -> pl.DataFrame:
        area, risk = batch[AREA].to_numpy(), batch[RISK].to_numpy()
        ranks = [batch[c].rank("dense").cast(pl.Int64).to_numpy() for c in (*self.profile, _BATCH)]
        levels, code = self.areas[area], batch[CODE].to_numpy()
        homes = Homes(numbered(np.column_stack(ranks)), levels, risk, code, batch[ALONE].to_numpy() == 1)
        partner, turn = self.round.pairs(homes)
        swapped = np.flatnonzero(partner >= 0)
        there = partner[swapped]
        made = [
            pl.Series(NEW, area[there]),
            pl.Series(TURN, turn[swapped]),
            pl.Series(LEFT, level_left(levels[swapped], levels[there])),
        ]
        return batch[swapped].select(UNIT, ALONE, SIZE, RISK).with_columns(made)


def swapped_on_engine(data: Microdata, asked: Swapping) -> tuple[Any, dict[str, Any]]:
    """The file with households in other areas, and what the log says."""
    areas = count_cells(data.table, asked.geography, None).select(asked.geography)
    homes = _worked_out(_homes(data, asked, areas))
    depth = len(asked.geography)
    counts = frames.gather(
        homes.select(
            nw.len().cast(nw.Int64).alias("households"),
            ((nw.col(AREA) >= 0) & (nw.col(RISK) < depth)).cast(nw.Int64).sum().alias("households_risky"),
        )
    ).row(0, named=True)
    counts = {name: int(value or 0) for name, value in counts.items()}
    homes = homes.filter(nw.col(AREA) >= 0)
    levels = area_numbers(key_codes(areas, asked.geography))
    done: list[Table] = []
    swapped, blocks = 0, 1
    for one in asked.rounds():
        free = homes
        for pairs in done:
            free = free.join(pairs.select(UNIT, ALONE), on=[UNIT, ALONE], how="anti")
        found, most = _paired(free, one, asked, levels)
        blocks = max(blocks, most)
        if not one.risky:
            wanted = max(int(asked.share * counts["households"] + 1e-9) - swapped, 0) // 2
            found = _first_pairs(found, wanted)
        done.append(found)
        swapped += frames.height(found.to_native())
    told, leaving = _counted(done, depth)
    figures = {
        "households": counts["households"],
        "households_swapped": swapped,
        "households_risky": counts["households_risky"],
        "risky_without_partner": counts["households_risky"] - told["helped"],
        "records_moved": told["records"],
    }
    return _moved(data, asked, areas, done), figures_of(asked.geography, figures, leaving, blocks)


def _homes(data: Microdata, asked: Swapping, areas: pl.DataFrame) -> Table:
    """A row for each household: what tells it apart, its size, its area (−1: none or several) and risk.

    And for each list of `similar` columns two sums of numbers that stand for the members' values: they are
    the same where members agree, in any order.
    """
    records, depth = with_units(data), len(asked.geography)
    names = list(dict.fromkeys([*asked.geography, *asked.keys, *(c for one in asked.similar for c in one)]))
    short = {name: f"{OURS}c{i}" for i, name in enumerate(names)}
    records = records.select(UNIT, ALONE, CODE, *(nw.col(c).alias(short[c]) for c in names))
    places = [short[c] for c in asked.geography]
    known = areas.rename(dict(zip(asked.geography, places, strict=True)))
    number = np.where(has_missing(known), -1, np.arange(known.height))
    records = join_to_records(records, known.with_columns(pl.Series(AREA, number)), places, [AREA])
    risk = nw.lit(depth)
    for level in reversed(range(depth) if asked.k is not None else range(0)):
        cell = dict.fromkeys([*(short[c] for c in asked.keys), *places[: level + 1]])
        risk = nw.when(nw.len().over(*cell) < asked.k).then(nw.lit(level)).otherwise(risk)
    records = records.with_columns(risk.cast(nw.Int64).alias(RISK))
    sums: list[str] = []
    for place, columns in enumerate(asked.similar):
        if columns:
            combined = [short[c] for c in dict.fromkeys(columns)]
            cells = count_cells(records, combined, None).select(combined)
            drawn = np.random.default_rng([asked.seed, place]).integers(2**BITS, size=(2, cells.height))
            both = _sums_of(place)
            sums += both
            cells = cells.with_columns(pl.Series(c, x) for c, x in zip(both, drawn, strict=True))
            records = join_to_records(records, cells, combined, both)
    records = records.select(UNIT, ALONE, CODE, AREA, RISK, *sums)
    if data.roles.household is None:
        return records.with_columns(nw.lit(1).cast(nw.Int64).alias(SIZE))
    homes = records.group_by(UNIT, ALONE).agg(
        nw.col(CODE).min(),
        nw.col(AREA).min(),
        nw.col(AREA).max().alias(_LAST),
        nw.col(RISK).min(),
        nw.len().cast(nw.Int64).alias(SIZE),
        *(nw.col(c).sum().cast(nw.Int64).alias(c) for c in sums),
    )
    one = nw.when(nw.col(AREA) == nw.col(_LAST)).then(nw.col(AREA)).otherwise(nw.lit(-1))
    return homes.with_columns(one.cast(nw.Int64).alias(AREA)).drop(_LAST)


def _sums_of(place: int) -> list[str]:
    return [f"{OURS}p{place}a", f"{OURS}p{place}b"]


def _paired(homes: Table, one: Round, asked: Swapping, levels: Ints) -> tuple[Table, int]:
    """The households that find a partner in a round, and into how many blocks a profile was cut at most."""
    profile = [SIZE, *(_sums_of(one.profile) if asked.similar[one.profile] else ())]
    table, most = _in_batches(homes, one, profile)
    kinds = frames.gather(table.select(UNIT).head(0)).schema
    schema = {
        UNIT: kinds[UNIT],
        **dict.fromkeys((ALONE, SIZE, RISK, NEW), pl.Int64()),
        TURN: pl.Float64(),
        LEFT: pl.Int64(),
    }
    pairing = _Pairing(one, levels, tuple(profile))
    return _worked_out(frames.lazy(map_strata(table, [_BATCH], pairing, schema))), most


def _in_batches(homes: Table, one: Round, profile: Sequence[str]) -> tuple[Table, int]:
    """The households with a batch each: a block of a large profile, or several whole small profiles."""
    kept = [UNIT, ALONE, CODE, AREA, RISK, *profile]
    n = frames.height(homes.to_native())
    sizes = homes.group_by(*profile).agg(nw.len().cast(nw.Int64).alias(_COUNT))
    large = frames.gather(sizes.filter(nw.col(_COUNT) > _blocks.LARGEST // 10)).sort(profile)
    blocks = np.array([blocks_of(int(size)) for size in large[_COUNT]], dtype=np.int64)
    small = max(ceil((n - int(large[_COUNT].sum())) / (FULL * _blocks.LARGEST)), 1)
    starts = small + np.cumsum(blocks) - blocks
    cells = large.select(profile).with_columns(pl.Series(_START, starts), pl.Series(_BLOCKS, blocks))
    table = join_to_records(homes.select(*kept), cells, profile, [_START, _BLOCKS])
    batch, most = nw.col(_START), int(blocks.max(initial=1))
    if most > 1:
        names = (_OTHER, _DRAWN)
        for step, name in zip(one.block_steps(), names, strict=True):
            table = random.uniform(table, id=CODE, seed=one.seed, step=step, name=name)
        drawn = nw.when(nw.col(ALONE) == 1).then(nw.col(_DRAWN)).otherwise(nw.col(_OTHER))
        batch = batch + (drawn * nw.col(_BLOCKS)).floor().cast(nw.Int64)
    rest = nw.col(profile[-1]) % small
    batch = nw.when(nw.col(_START).is_null()).then(rest).otherwise(batch)
    return _worked_out(table.select(*kept, batch.cast(nw.Int64).alias(_BATCH))), most


def _first_pairs(pairs: Table, wanted: int) -> Table:
    """So many pairs, those made first."""
    if not wanted:
        return pairs.filter(nw.col(TURN) < 0)
    if frames.height(pairs.to_native()) <= 2 * wanted:
        return pairs
    (end,) = order_statistics(pairs, TURN, [2 * wanted])
    return pairs.filter(nw.col(TURN) < end)


def _counted(done: Sequence[Table], depth: int) -> tuple[dict[str, int], list[int]]:
    """How many records moved and risky households were helped, and how many left their area of each level."""
    told, leaving = {"records": 0, "helped": 0}, [0] * depth
    helped = (nw.col(RISK) < depth) & (nw.col(LEFT) <= nw.col(RISK))
    sums = [nw.col(SIZE).sum().alias("records"), helped.cast(nw.Int64).sum().alias("helped")]
    sums += [(nw.col(LEFT) <= j).cast(nw.Int64).sum().alias(f"left_{j}") for j in range(depth)]
    for pairs in done:
        row = frames.gather(pairs.select(*sums)).row(0, named=True)
        told = {name: told[name] + int(row[name] or 0) for name in told}
        leaving = [leaving[j] + int(row[f"left_{j}"] or 0) for j in range(depth)]
    return told, leaving


def _moved(data: Microdata, asked: Swapping, areas: pl.DataFrame, done: Sequence[Table]) -> Any:
    """The records with the areas of the households' partners."""
    if not done:
        return data.frame
    pairs = nw.concat([one.select(UNIT, ALONE, NEW) for one in done], how="vertical")
    table = with_units(data).join(pairs, on=[UNIT, ALONE], how="left")
    names = {c: f"{OURS}to{i}" for i, c in enumerate(asked.geography)}
    cells = areas.rename(names).with_columns(pl.Series(NEW, np.arange(areas.height)))
    table = join_to_records(table, cells, [NEW], list(names.values()))
    moved = ~nw.col(NEW).is_null()
    columns = [nw.when(moved).then(nw.col(to)).otherwise(nw.col(c)).alias(c) for c, to in names.items()]
    return table.with_columns(*columns).select(*data.columns).to_native()


def _worked_out(table: Table) -> Table:
    return frames.lazy(native_module(table).worked_out(table.to_native()))
