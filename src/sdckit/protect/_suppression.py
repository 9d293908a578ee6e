"""What `suppress` asks of the kernels: which values of which records are blanked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit._support.arrays import Bools, Codes, Floats, Ints
from sdckit.data.key_cells import KeyCells, Missing, key_cells, key_codes
from sdckit.data.microdata import Microdata
from sdckit.errors import DataError
from sdckit.protect._draws import Draws
from sdckit.protect._households import Households

if TYPE_CHECKING:  # which brings the compiler along
    from sdckit.kernels.suppression.release import Release

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Request:
    """What is asked for. Strata are the last columns of the codes and cost infinitely much.

    subsets: column numbers, or None for all together. household: columns that all members share.
    """

    k: int
    costs: Floats
    subsets: list[tuple[int, ...]] | None = None
    homes: Households | None = None
    household: tuple[int, ...] = ()
    sensitive: Codes | None = None
    diversity: int = 1
    effort: float = 1.0
    progress: Progress | None = None


@dataclass(frozen=True)
class Suppressed:
    """The values [records, columns] to blank, and how many of them are there for diversity."""

    mask: Bools
    for_diversity: int = 0


@dataclass(frozen=True)
class Cells:
    """The distinct rows of keys and strata, a missing value being a value."""

    found: KeyCells

    @property
    def codes(self) -> Codes:
        """The values as codes, missing −1."""
        return self.found.codes

    @property
    def counts(self) -> Ints:
        """The records of each cell."""
        return np.asarray(self.found.records, dtype=np.int64)

    @property
    def of_records(self) -> Ints:
        """The cell of each record, in memory."""
        return np.asarray(self.found.of_records, dtype=np.int64)


def cells_of(data: Microdata, columns: Sequence[str]) -> Cells:
    """The cells of some columns, counted once for all that ask."""
    return Cells(key_cells(data, columns, Missing.CATEGORY))


def codes_of(data: Microdata, columns: Sequence[str]) -> Codes:
    """Columns as codes, missing −1."""
    return key_codes(data.frame, columns)


def released(cells: Cells, ask: Request, missing: Missing) -> "Release":
    """How to release the cells, where they are enough to go by: no households, no sensitive values."""
    from sdckit.kernels.suppression.release import in_drawing_order
    from sdckit.kernels.suppression.sound import suppress_cells
    from sdckit.kernels.suppression.wildcard_rule import suppress_by_wildcard

    codes, counts = cells.codes, cells.counts
    same: dict[str, Any] = {"k": ask.k, "cost": ask.costs, "progress": ask.progress}
    if missing is Missing.WILDCARD:
        found = _reached(lambda: suppress_by_wildcard(codes, counts, subsets=ask.subsets, **same))
    else:
        found = _reached(lambda: suppress_cells(codes, counts, effort=ask.effort, **same))
    return in_drawing_order(found)


def masked(
    cells: Cells, ask: Request, missing: Missing, rng: np.random.Generator, draws: Draws
) -> Suppressed:
    """What to blank in records that are in memory.

    With the rule `category` every released pattern, a blank being a value of its own, occurs k times; with
    `wildcard` every record matches k if a blank matches any value.
    """
    by_cells = ask.subsets is None and ask.homes is None and ask.sensitive is None
    if missing is Missing.WILDCARD or by_cells:
        return Suppressed(_drawn(released(cells, ask, missing), cells.of_records, ask, draws, 0))
    codes = cells.codes[cells.of_records]
    together = np.zeros(codes.shape, dtype=bool)
    for step in count():
        now = np.where(together, np.int32(-1), codes)
        mask = together | _by_record(now, ask, rng, draws, step)
        extra = _for_diversity(np.where(mask, np.int32(-1), codes), ask, rng)
        shared = _shared(mask | extra, ask) & (codes >= 0)
        if not (shared & ~(mask | extra)).any():
            break
        together |= shared
    return Suppressed(mask | extra, int(extra.sum()))


def exposure_of(cells: Cells, release: "Release", k: int) -> dict[str, int]:
    """What an intruder who knows the keys still finds, for the log."""
    from sdckit.kernels.suppression.exposure import measure_exposure

    return measure_exposure(cells.codes, cells.counts, release, k)._asdict()


def release_of(cells: Cells, mask: Bools) -> "Release":
    """The release that blanks these values of records."""
    from sdckit.kernels.suppression.release import count_release

    record, key = np.divmod(np.flatnonzero(mask), mask.shape[1])  # few as a rule
    blank = np.zeros(len(mask), dtype=np.int64)
    np.add.at(blank, record, np.int64(1) << key)
    return count_release(cells.of_records, blank)


def _drawn(release: "Release", of_records: Ints, ask: Request, draws: Draws, step: int) -> Bools:
    """The values [records, columns] to blank, drawn among the records of each cell."""
    from sdckit.kernels.suppression.release import draw_records, split_records

    split = split_records(release, of_records)
    codes = draws.codes[split]
    numbers = draws.uniform_of(codes, step)
    return _bits(draw_records(release, of_records, split, numbers, codes), len(ask.costs))


def _by_record(codes: Codes, ask: Request, rng: np.random.Generator, draws: Draws, step: int) -> Bools:
    from sdckit.kernels.suppression.release import distinct_rows
    from sdckit.kernels.suppression.sound import suppress_cells
    from sdckit.kernels.suppression.subsets import suppress_on_subsets

    same: dict[str, Any] = {"k": ask.k, "cost": ask.costs, "effort": ask.effort, "progress": ask.progress}
    if ask.subsets is None:
        first, counts, group = distinct_rows(codes)
        return _drawn(_reached(lambda: suppress_cells(codes[first], counts, **same)), group, ask, draws, step)
    subsets = ask.subsets
    found: Bools = _reached(lambda: suppress_on_subsets(codes, subsets, rng=rng, **same))
    return found


def _for_diversity(released: Codes, ask: Request, rng: np.random.Generator) -> Bools:
    from sdckit.kernels.suppression.diversity import NotDiverseError, diversify

    if ask.sensitive is None:
        return np.zeros(released.shape, dtype=bool)
    try:
        return diversify(released, ask.sensitive, k=ask.k, least=ask.diversity, cost=ask.costs, rng=rng)
    except NotDiverseError as error:
        raise DataError(
            f"Some records cannot get {ask.diversity} different sensitive values: too few occur among those "
            "that agree on the columns that must stay.",
            given=f"{len(error.records):,} such records",
            hint="Lower diversity, allow suppression in more keys, or leave out a sensitive column.",
        ) from None


def _shared(mask: Bools, ask: Request) -> Bools:
    """Household keys blanked in one member, for all members."""
    found = np.zeros_like(mask)
    if ask.homes is not None:
        for j in ask.household:
            blank = np.zeros(len(ask.homes.first), dtype=bool)
            blank[ask.homes.number[mask[:, j]]] = True
            found[:, j] = blank[ask.homes.number]
    return found


def _bits(blank: Ints, columns: int) -> Bools:
    found = np.zeros((len(blank), columns), dtype=bool)
    touched = np.flatnonzero(blank)  # few as a rule
    found[touched] = blank[touched, None] >> np.arange(columns) & 1 == 1
    return found


def _reached(work: Callable[[], Any]) -> Any:
    """The result of a kernel, or our error where no suppression helps."""
    from sdckit.kernels.suppression.sound import UnreachableError

    try:
        return work()
    except UnreachableError as error:
        raise DataError(
            "Some records cannot become k-anonymous: too few others agree on the columns that must stay.",
            given=f"{len(error.cells):,} such key combinations",
            hint="Lower k, allow suppression in more keys, or merge small groups first.",
        ) from None
