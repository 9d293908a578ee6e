"""Collapse small strata along a hierarchy of codes, such as NACE digits by size class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit._support.messages import join_names
from sdckit.errors import ColumnError, OptionError


@dataclass(frozen=True, slots=True)
class CollapsedStrata:
    """Which stratum each record ends in, and how many end at which level.

    stratum: a number per record, in the order of `strata`. strata: level, code, classes and records of each.
    levels: strata, records and those below the minimum at each level, from the finest to the coarsest.
    """

    stratum: Ints
    strata: pl.DataFrame
    levels: pl.DataFrame


def collapse_strata(
    frame: pl.DataFrame,
    code: str,
    within: Sequence[str] = (),
    *,
    smallest: int = 80,
) -> CollapsedStrata:
    """Strata of at least `smallest` records where the hierarchy allows it.

    The finest strata are the whole `code` by the columns `within`. Records of a stratum with fewer than
    `smallest` records go to the next level, with fewer digits, and form a stratum there only with others
    that came from below: a stratum once large enough takes in no more. After the fewest digits the columns
    `within` are dropped. What is left there stays, however small. Dots and blanks in codes do not count;
    numbers are read as they are written, so leading zeros need text. Missing codes and classes are
    categories of their own.
    Reference: Foschi (2011), Tables 2 to 4.

    >>> frame = pl.DataFrame({"nace": ["1011", "1011", "1012", "1020", "2011"], "size": [1, 1, 1, 2, 2]})
    >>> found = collapse_strata(frame, "nace", ["size"], smallest=2)
    >>> found.stratum.tolist(), found.levels["strata"].to_list()
    ([0, 0, 1, 1, 2], [1, 0, 0, 0, 2])
    """
    _require(frame, [code, *within], smallest)
    text = frame[code].cast(pl.String).str.replace_all(r"[.\s]", "")
    longest = max(text.drop_nulls().str.len_chars().to_list(), default=1)
    lengths = range(max(longest, 1), 0, -1)
    classes = [frame[w].cast(pl.String).alias(str(i)) for i, w in enumerate(within)]
    steps = [(n, True) for n in lengths] + ([(1, False)] if within else [])
    left = pl.DataFrame([pl.Series("row", np.arange(frame.height)), text.alias("code"), *classes])
    stratum = np.full(frame.height, -1, dtype=np.int64)
    strata: list[dict[str, Any]] = []
    levels: list[dict[str, Any]] = []
    for place, (length, by_class) in enumerate(steps):
        last = place == len(steps) - 1
        name = _name(code, length, within if by_class else ())
        keys = ["code", *(str(i) for i in range(len(within)) if by_class)]
        grouped = (
            left.with_columns(pl.col("code").str.head(length))
            .group_by(keys)
            .agg("row")
            .filter(pl.lit(last) | (pl.col("row").list.len() >= smallest))
            .sort(keys, nulls_last=True)
        )
        sizes = grouped["row"].list.len().to_list()
        for group, size in zip(grouped.iter_rows(named=True), sizes, strict=True):
            stratum[group["row"]] = len(strata)
            label = ", ".join("missing" if group[k] is None else group[k] for k in keys)
            strata.append({"stratum": len(strata), "level": name, "codes": label, "records": size})
        below = sum(size < smallest for size in sizes)
        levels.append({"level": name, "strata": len(sizes), "records": sum(sizes), "below_minimum": below})
        left = left.filter(pl.Series(stratum[left["row"].to_numpy()] < 0))
    kinds = {"stratum": pl.Int64, "level": pl.String, "codes": pl.String, "records": pl.Int64}
    counts = {"level": pl.String, "strata": pl.Int64, "records": pl.Int64, "below_minimum": pl.Int64}
    return CollapsedStrata(stratum, pl.DataFrame(strata, kinds), pl.DataFrame(levels, counts))


def _name(code: str, length: int, within: Sequence[str]) -> str:
    return " × ".join([f"{code} ({length} digits)" if length > 1 else f"{code} (1 digit)", *within])


def _require(frame: pl.DataFrame, columns: Sequence[str], smallest: int) -> None:
    for column in columns:
        if column not in frame.columns:
            raise ColumnError(f"There is no column {column!r}.", allowed=join_names(frame.columns))
    if smallest < 1:
        raise OptionError("A stratum holds at least one record.", given=smallest, allowed="1 or more")
