"""The attack by keys, by numbers beside them, and by what stayed of keys that moved."""

from dataclasses import replace

import numpy as np

from sdckit._support.messages import join_names
from sdckit.data.intruder import Intruder
from sdckit.models._key_looks import TooManyCells
from sdckit.models.key_intruder import attack_keys
from sdckit.risk._kept_parts import with_kept_parts
from sdckit.risk._known_values import CountedPairs, KnownKeys, LinkedFiles
from sdckit.risk._number_attack import by_numbers, not_learned
from sdckit.risk._outcome import Outcome


def attack_by_keys(
    files: LinkedFiles,
    intruder: Intruder,
    known: KnownKeys,
    counted: CountedPairs,
    numbers: dict[str, float],
    targets: int,
    notes: tuple[str, ...],
) -> Outcome:
    """By keys and numbers, also by parts of keys that stayed where categories moved; the stronger counts."""
    found = _attack(files, intruder, known, counted, numbers, targets, notes)
    parts = files.made((with_kept_parts, known), lambda: with_kept_parts(files, known))
    if parts is None:
        return found
    told = (*notes, f"Stayed and was used: {join_names(parts.names[len(known.names) :])}.")
    more = _attack(files, intruder, parts, CountedPairs.of(files, parts), numbers, targets, told)
    more = replace(more, not_judged=found.not_judged)
    return max(found, more, key=lambda outcome: float(outcome.found.mean()))


def _attack(
    files: LinkedFiles,
    intruder: Intruder,
    known: KnownKeys,
    counted: CountedPairs,
    numbers: dict[str, float],
    targets: int,
    notes: tuple[str, ...],
) -> Outcome:
    notes += tuple(
        channel.sentence(name) for name, channel in zip(known.names, counted.channels, strict=True)
    )
    if not numbers:
        by_keys = files.made(counted, lambda: attack_keys(counted.pairs, counted.channels))
        if isinstance(by_keys, TooManyCells):
            return by_numbers(files, intruder, known, counted, {}, targets, notes)
        risks = by_keys.found
        if not intruder.in_file and files.weights is not None:
            risks = by_keys.risks()
        cell = counted.cell
        found = by_keys.found[cell]
        return Outcome(
            intruder,
            np.arange(files.original.height),
            found,
            by_keys.believed[cell],
            by_keys.posterior[cell],
            found if risks is by_keys.found else risks[cell],
            str(by_keys.strongest),
            files.original.height,
            notes,
            not_learned(known, counted),
        )
    if not intruder.in_file:
        notes += (f"Intruder {intruder.name} knows numbers, so that being in the file is taken as known.",)
    return by_numbers(files, intruder, known, counted, numbers, targets, notes)
