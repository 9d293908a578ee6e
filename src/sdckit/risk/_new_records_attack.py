"""What one intruder finds in a file of new records, linked by what its records contain."""

from dataclasses import replace

import numpy as np

from sdckit._support.arrays import Bools, Floats
from sdckit.data.intruder import Intruder, Unit
from sdckit.models.household_intruder import any_member
from sdckit.risk._household_attack import ONE_BY_ONE, household_numbers
from sdckit.risk._known_values import CountedPairs, KnownKeys, LinkedFiles, known_columns
from sdckit.risk._number_attack import Case, by_numbers, persons_attacked
from sdckit.risk._outcome import Outcome

WHOLE_RECORDS = (
    "No record was made from one person. The value is no link: it is the share of persons whose whole record "
    "comes back, in a record that can be nobody else's, and is picked."
)
TOGETHER = "Households whose members all come back in one household count as found."


def attack_new_records(files: LinkedFiles, intruder: Intruder, targets: int) -> Outcome:
    """What the intruder finds; persons without a record of their own are not found."""
    found = _of_persons(files, replace(intruder, unit=Unit.PERSON), targets)
    if intruder.unit is Unit.HOUSEHOLD and files.original.roles.household is not None:
        return _of_households(files, intruder, found)
    return replace(found, intruder=intruder)


def _of_persons(files: LinkedFiles, intruder: Intruder, targets: int) -> Outcome:
    if not (files.own >= 0).any():
        persons = persons_attacked(files, targets)
        nobody = np.zeros(len(persons))
        return Outcome(intruder, persons, nobody, nobody, nobody, nobody, "none", files.original.height)
    keys, numbers = known_columns(intruder, files)
    known = KnownKeys.of(files, keys)
    counted = CountedPairs.of(files, known)
    weigh = not intruder.in_file and not numbers and files.weights is not None
    found = by_numbers(Case(files, intruder, targets), known, counted, numbers, weigh=weigh)
    return replace(found, not_judged=())  # nothing has to be learned: records that differ are nobody's


def _of_households(files: LinkedFiles, intruder: Intruder, persons: Outcome) -> Outcome:
    """Members one by one, 1 − Π(1 − r), and households that come back as a whole."""
    name = files.original.roles.household or ""
    homes = household_numbers(files, name)
    of_persons = homes[persons.persons]
    labels, found = any_member(persons.found, of_persons)
    _, believed = any_member(persons.believed, of_persons)
    risks = found if persons.certain else any_member(persons.risks, of_persons)[1]
    notes = (*persons.notes, ONE_BY_ONE)
    if name in files.protected.columns:
        whole = _whole(files, name, homes)[labels]
        found = np.maximum(found, whole)
        risks = found if persons.certain else np.maximum(risks, whole)
        notes = (*persons.notes, TOGETHER)
    known, first = np.unique(homes, return_index=True)
    rows = first[np.searchsorted(known, labels)]
    everybody = len(persons.persons) == persons.total
    unknown = () if everybody else ("members who were not attacked",)
    return Outcome(intruder, rows, found, believed, found, risks, persons.attack, len(labels), notes, unknown)


def _whole(files: LinkedFiles, name: str, homes: np.ndarray) -> Floats:
    """For each household number 1 where two members or more all have a record, in one released household."""
    released = files.protected.frame[name].rank("dense").fill_null(0).cast(int).to_numpy()
    at = np.where(files.own >= 0, released[np.maximum(files.own, 0)], 0)
    size = int(homes.max(initial=0)) + 1
    lowest, highest = np.full(size, np.iinfo(np.int64).max), np.zeros(size, dtype=np.int64)
    np.minimum.at(lowest, homes, at)
    np.maximum.at(highest, homes, at)
    together: Bools = (np.bincount(homes, minlength=size) > 1) & (lowest == highest) & (highest > 0)
    return together.astype(np.float64)
