"""PrivacyLoss: what a differentially private step promises, what it costs, and what ends the promise."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sdckit._support.messages import join_names


class PrivacyUnit(StrEnum):
    """Whose presence in the file is hidden."""

    RECORD = "record"
    HOUSEHOLD = "household"


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """The promise of one differentially private release.

    unit: what is hidden; of a household so many members were counted. replaced: two files are neighbours
    where a unit is replaced by another, as the number of records is public; else where one is added or
    removed. release: a random number that tells noisy tables apart; files drawn from the same tables share
    it and cost once. ended_by: the steps before that looked at several records, so that nothing is promised.
    """

    epsilon: float
    delta: float
    rho: float
    unit: PrivacyUnit
    replaced: bool
    release: int
    members: int = 1
    ended_by: tuple[str, ...] = ()

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> "PrivacyLoss":
        """From its fields as JSON has them."""
        unit, steps = PrivacyUnit(kept["unit"]), tuple(kept["ended_by"])
        return cls(**{**kept, "unit": unit, "ended_by": steps})

    @property
    def holds(self) -> bool:
        """Whether the promise holds for the file."""
        return not self.ended_by

    @property
    def guarantee(self) -> str:
        """The promise in words."""
        unit = self.unit.value
        if self.unit is PrivacyUnit.HOUSEHOLD:
            unit += f" (of which at most {self.members} members are counted)"
        change = "is replaced by any other" if self.replaced else "is in the file or not"
        words = (
            f"Differentially private with ε = {self.epsilon:g} and δ = {self.delta:g} (zCDP with "
            f"ρ = {self.rho:.4g}): whether one {unit} {change} changes the probability of every outcome by a "
            f"factor of at most exp({self.epsilon:g}), but for a probability of {self.delta:g}."
        )
        if self.replaced:
            words += " The number of records is public."
        return words if self.holds else f"Nothing is promised. Without the steps before: {words}"


ENDS = (
    "Every further release from the same data adds to ε, as does every ε that is tried. The promise says "
    "nothing of other looks at the original: steps before the synthesis that look at several records end it, "
    "and measures, maps and reports that compare with the original are not covered by it. Whatever is done "
    "with the synthetic file alone costs nothing. The noise comes from the secret source of the system and "
    "not from the seed, so that the step cannot be repeated."
)


def ended(losses: Iterable[PrivacyLoss]) -> str:
    """A warning where some promise was ended by an earlier step; empty where all hold."""
    steps = dict.fromkeys(step for loss in losses for step in loss.ended_by)
    if not steps:
        return ""
    return (
        f"The file is not differentially private: {join_names(steps)} looked at several records of the "
        "original before the synthesis. Leave it out, or do it afterwards with the synthetic file."
    )


def large_delta(losses: Iterable[PrivacyLoss], records: int) -> str:
    """A warning where δ allows that whole records get out; empty where it is small enough."""
    found = max((loss.delta for loss in losses), default=0.0)
    if found * records < 1:
        return ""
    return (
        f"δ = {found:g} is not below one over the number of records: with such a probability a file may give "
        f"away records as they are. Take a δ far below {1 / records:.2g}."
    )


def distinct(losses: Iterable[PrivacyLoss]) -> list[PrivacyLoss]:
    """Each release once."""
    return list({loss.release: loss for loss in losses}.values())
