"""The attack by numbers, or by keys alone where their combinations are too many, record by record."""

from functools import partial
from typing import NamedTuple

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit._support.number_text import count_of
from sdckit.data.intruder import Intruder
from sdckit.kernels.hashing import distinct_rows
from sdckit.models import linked_files
from sdckit.models.cell_risk import cell_risk
from sdckit.models.few_changes import attack_few_changes
from sdckit.models.number_column import NumberColumn
from sdckit.models.number_intruder import LinkAttack, attack_numbers
from sdckit.risk._kept_combinations import kept_combinations, on_logarithms
from sdckit.risk._known_values import CountedPairs, KnownKeys, LinkedFiles, Numbers, numbers_of
from sdckit.risk._moved_by_steps import remainders
from sdckit.risk._moved_dates import intervals
from sdckit.risk._outcome import Outcome

CELLS = 100  # categories that are looked at one by one; of more some are put together
ALL = 5_000  # persons up to whom everybody is attacked, also by numbers
APART = 200  # persons who are attacked as well, as they stand farthest from others


class Case(NamedTuple):
    """An intruder before two linked files; how many persons are attacked by numbers; what is to be said."""

    files: LinkedFiles
    intruder: Intruder
    targets: int
    notes: tuple[str, ...] = ()


def persons_attacked(files: LinkedFiles, targets: int) -> Ints:
    """Everybody, or a random sample of the persons of a large file."""
    n = files.original.height
    return np.arange(n) if n <= ALL else files.draw(targets)


def persons_apart(files: LinkedFiles, numbers: Numbers, counted: CountedPairs) -> Ints:
    """Persons of a large file whose records stand farthest from all others, in the file or among equal keys.

    A sample of a thousand may have none of the few whom an intruder is sure of.
    """
    linked = np.flatnonzero(files.own >= 0)
    if not len(linked):
        return linked
    ties, cell = files.draws().random(len(linked)), counted.cell[linked]
    columns = numbers.released or (None,)
    most = min(APART // (2 * len(columns)), len(linked))
    found = []
    for column in columns if most else ():
        y = np.zeros(len(linked)) if column is None else column.values[files.own[linked]]
        for groups in (np.zeros_like(cell), cell):
            order = np.lexsort((y, groups))
            step = np.where(np.diff(groups[order]) == 0, np.diff(y[order]), np.inf)
            gap = np.empty(len(linked))
            gap[order] = np.minimum(np.append(np.inf, step), np.append(step, np.inf))
            gap = np.nan_to_num(gap, nan=0.0, posinf=np.inf)
            some = np.flatnonzero(gap >= np.partition(gap, -most)[-most])
            found.append(linked[some[np.lexsort((ties[some], -gap[some]))][:most]])
    return np.unique(np.concatenate(found)) if found else linked[:0]


def by_numbers(
    case: Case, keys: KnownKeys, counted: CountedPairs, numbers: dict[str, float], *, weigh: bool = False
) -> Outcome:
    """What an intruder finds by numbers and keys; `weigh`: who is in the file is not known, weights count."""
    files, intruder, targets, notes = case
    known = numbers_of(files, numbers)
    errors = known.errors
    n = files.original.height
    drawn = persons_attacked(files, targets)
    chosen = drawn if len(drawn) == n else np.union1d(drawn, persons_apart(files, known, counted))
    attacked = partial(
        attack_numbers,
        own=files.own,
        keys=_codes(files, keys, counted),
        weights=files.weights,
        targets=chosen,
        identity=files.identity,
    )
    found = attacked(_or_none(known.true, n), _or_none(known.released, files.protected.height), errors=errors)
    for find in (intervals, remainders, kept_combinations, on_logarithms) if known.moved(files) else ():
        more = find(files, known)
        if more is not None:
            further = more[0].shape[1] - len(errors)  # known exactly, as are the numbers they are parts of
            again = attacked(*more[:2], errors=np.append(errors, np.zeros(further)))
            found = max(found, again, key=lambda one: one.value)
            notes += (more[2],)
    by_changes = _by_few_changes(files, keys, known, chosen) if known.moved(files) else None
    if by_changes is not None and by_changes.value > found.value:
        found = by_changes
        notes += ("Numbers were changed by one of a few amounts or factors: each of them was tried.",)
    if len(drawn) < n:
        notes += (f"{len(drawn):,} of {n:,} persons, drawn at random, were attacked.",)
    if found.open:
        notes += (
            f"For {count_of(found.open, 'person', 'persons')} not every record could be looked at: "
            "found is whose "
            "own record is the best of those looked at, so that the value may be too high.",
        )
    everybody = Outcome(
        intruder,
        found.targets,
        found.found,
        found.believed,
        found.posterior,
        _weighed(found) if weigh else found.found,
        str(found.attack),
        n,
        notes,
        not_learned(keys, counted),
    )
    return everybody if len(drawn) == len(chosen) else everybody.drawn(np.isin(found.targets, drawn))


def _by_few_changes(files: LinkedFiles, keys: KnownKeys, known: Numbers, targets: Ints) -> LinkAttack | None:
    """The attack on numbers that are known exactly, within categories that no step changed."""
    exact = np.flatnonzero(known.errors == 0)
    if not exact.size:
        return None
    linked = files.own >= 0
    same = []
    for j, (images, size) in enumerate(zip(keys.images, keys.sizes, strict=True)):
        true = keys.true[:, j]
        if images is not None:
            true = np.where(images[true] == size, -1, images[true])  # −1, missing, is the last of the images
        if np.array_equal(true[linked], keys.released[files.own[linked], j]):
            same.append(np.concatenate([true, keys.released[:, j]]))
    n, m = files.original.height, files.protected.height
    cells = distinct_rows(same)[1] % CELLS if same else np.zeros(n + m, dtype=np.int64)
    return attack_few_changes(
        [known.true[v].values for v in exact],
        [known.released[v].values for v in exact],
        files.own,
        cells=(cells[:n], cells[n:]),
        weights=np.ones(m) if files.weights is None else files.weights,
        targets=targets,
        draws=files.draws(),
    )


def _or_none(columns: tuple[NumberColumn, ...], height: int) -> tuple[NumberColumn, ...] | Floats:
    """The columns; a table without any where there are none, so that its height is known."""
    return columns or np.empty((height, 0))


def _codes(files: LinkedFiles, keys: KnownKeys, counted: CountedPairs) -> linked_files.KnownKeys:
    """The keys as codes, a row for each pair of true and released keys, however many persons it stands for.

    Records that are nobody's are in no pair: where there are any, each record has its row.
    """
    sizes = np.array(keys.sizes, dtype=np.int64)
    pairs, linked = counted.pairs, files.own >= 0
    shown, record = pairs.y, counted.cell
    if not files.in_place:
        record = np.full(files.protected.height, -1, dtype=np.int64)
        record[files.own[linked]] = counted.cell[linked]
    everybodys = bool((record >= 0).all())
    shown = shown if everybodys else keys.released
    return linked_files.KnownKeys(
        np.where(pairs.x < 0, sizes, pairs.x).astype(np.int32),
        np.where(shown < 0, sizes, shown).astype(np.int32),
        tuple(channel.matrix() for channel in counted.channels),
        counted.cell,
        record if everybodys else None,
    )


def _weighed(attack: LinkAttack) -> Floats:
    """The individual risk of the set of best records where the own one is among them."""
    size = np.maximum(attack.best_records, 1.0)
    risks = cell_risk(size, np.maximum(attack.best_weight, size))
    return np.where(attack.found > 0, risks, 0.0)


def not_learned(keys: KnownKeys, counted: CountedPairs) -> tuple[str, ...]:
    return tuple(c for c, channel in zip(keys.names, counted.channels, strict=True) if not channel.learnable)
