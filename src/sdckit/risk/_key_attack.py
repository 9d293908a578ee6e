"""The attack by keys, by numbers beside them, and by what stayed of keys that moved."""

from dataclasses import replace

import numpy as np

from sdckit._support.messages import join_names
from sdckit.models._key_looks import TooManyCells
from sdckit.models.key_intruder import attack_keys
from sdckit.risk._kept_parts import with_kept_parts
from sdckit.risk._known_values import CountedPairs, KnownKeys
from sdckit.risk._moved_to_few import moved_to_few
from sdckit.risk._number_attack import Case, by_numbers, not_learned
from sdckit.risk._outcome import Outcome


def attack_by_keys(case: Case, known: KnownKeys, counted: CountedPairs, numbers: dict[str, float]) -> Outcome:
    """By keys and numbers, also by parts of keys that stayed where categories moved; the stronger counts."""
    files = case.files
    found = _attack(case, known, counted, numbers)
    few = files.made((moved_to_few, known), lambda: moved_to_few(files, known, counted))
    found = replace(found, not_judged=tuple(dict.fromkeys((*found.not_judged, *few))))
    parts = files.made((with_kept_parts, known), lambda: with_kept_parts(files, known, counted))
    if parts is None:
        return found
    told = f"Stayed and was used: {join_names(parts.names[len(known.names) :])}."
    also = case._replace(notes=(*case.notes, told))
    more = _attack(also, parts, CountedPairs.of(files, parts), numbers)
    more = replace(more, not_judged=found.not_judged)
    return max(found, more, key=lambda outcome: float(outcome.found.mean()))


def _attack(case: Case, known: KnownKeys, counted: CountedPairs, numbers: dict[str, float]) -> Outcome:
    files, intruder = case.files, case.intruder
    sentences = [channel.sentence(name) for name, channel in zip(known.names, counted.channels, strict=True)]
    case = case._replace(notes=(*case.notes, *sentences))
    if not numbers:
        by_keys = files.made(counted, lambda: attack_keys(counted.pairs, counted.channels))
        if isinstance(by_keys, TooManyCells):
            return by_numbers(case, known, counted, {})
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
            case.notes,
            not_learned(known, counted),
        )
    if not intruder.in_file:
        told = f"Intruder {intruder.name} knows numbers, so that being in the file is taken as known."
        case = case._replace(notes=(*case.notes, told))
    return by_numbers(case, known, counted, numbers)
