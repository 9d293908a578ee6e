"""What one intruder finds."""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.data.intruder import Intruder, Unit


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one intruder finds: arrays over the persons attacked, or over groups of `count` alike."""

    intruder: Intruder
    persons: Ints  # rows of the original; of households that of the first member
    found: Floats  # probability that the pick is right
    believed: Floats  # what the intruder gives it
    posterior: Floats  # what the intruder gives to the person's own record
    risks: Floats  # on the axis: found, or with weights for whom is not known to be in the file
    attack: str
    total: int  # persons, or households, in the file
    notes: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()  # columns whose change could not be learned: the risk may be higher
    count: Floats | None = None  # persons that each entry stands for; one each where it is not given
    more: "tuple[Outcome, ...]" = ()  # with persons not drawn at random, or weaker: they may be sure of more

    def of_those_in(self, released: Bools) -> "Outcome":
        """Without the persons who have no record, where the intruder knows who is in the file."""
        if not self.intruder.in_file or released.all():
            return self
        kept = released[self.persons]
        if not kept.any():
            return self
        found = self.found[kept]
        share = self._sum(kept.astype(np.float64)) / self._attacked
        return replace(
            self,
            persons=self.persons[kept],
            found=found,
            believed=self.believed[kept],
            posterior=self.posterior[kept],
            risks=found if self.certain else self.risks[kept],
            total=max(round(self.total * share), 1),
            count=None if self.count is None else self.count[kept],
            more=tuple(one.of_those_in(released) for one in self.more),
        )

    def drawn(self, random: Bools) -> "Outcome":
        """Of those who were drawn at random; the others have a part in nothing but claims."""
        found = self.found[random]
        return replace(
            self,
            persons=self.persons[random],
            found=found,
            believed=self.believed[random],
            posterior=self.posterior[random],
            risks=found if self.certain else self.risks[random],
            more=(self,),
        )

    def beside(self, weaker: "Outcome") -> "Outcome":
        """The same with what another attack cannot judge, and whom it is sure of, which may be others."""
        not_judged = tuple(dict.fromkeys((*self.not_judged, *weaker.not_judged)))
        return replace(self, not_judged=not_judged, more=(*self.more, weaker, *weaker.more))

    @property
    def value(self) -> float:
        """The mean risk over the persons attacked."""
        return self._sum(self.risks) / self._attacked

    @property
    def _attacked(self) -> int:
        return len(self.risks) if self.count is None else round(float(self.count.sum()))

    def _sum(self, numbers: Floats) -> float:
        return float(numbers.sum() if self.count is None else self.count @ numbers)

    def claimed(self, sure: float) -> Bools:
        """Whom the intruder claims to have found."""
        return np.asarray((self.believed if self.certain else self.risks) >= sure)

    def _claims(self, sure: float) -> tuple[float, float]:
        """Of how many of those attacked an intruder is sure, and right."""
        claimed = self.claimed(sure).astype(np.float64)
        return self._sum(claimed), self._sum(self.risks * claimed)

    @property
    def certain(self) -> bool:
        """Whether the intruder knows that the person is in the file."""
        return self.risks is self.found

    def row(self, sure: float) -> dict[str, Any]:
        """One row of the table of intruders, for everybody in the file."""
        n, attacked, value = self.total, self._attacked, self.value
        scale = n / attacked
        claims = [x * scale for x in self._claims(sure)]
        for one in self.more:  # who stands apart is counted as one
            claims = [max(both) for both in zip(claims, one._claims(sure), strict=True)]
        spread = sqrt(self._sum((self.risks - value) ** 2) / (attacked - 1)) if attacked > 1 else 0.0
        sampling = spread / sqrt(attacked) * sqrt(max(1 - attacked / n, 0.0))
        drawn = sqrt(self._sum(self.believed * (1 - self.believed)) * scale) / n if self.certain else 0.0
        return {
            "intruder": self.intruder.name,
            "knows": self.intruder.describe(),
            "value": value,
            "standard_error": sqrt(sampling**2 + drawn**2),
            "sampling_error": sampling,
            "max_risk": self.intruder.max_risk,
            "not_judged": ", ".join(self.not_judged),
            "in_file": self.intruder.in_file,
            "household": self.intruder.unit is Unit.HOUSEHOLD,
            "upper": min(value + 2 * sampling + (3 / attacked if attacked < n else 0.0), 1.0),
            "expected_links": self._sum(self.found) * scale,
            "believed": self._sum(self.believed) * scale,
            "claims": claims[0],
            "claims_right": claims[1],
            "expected_reidentifications": self._sum(self.risks) * scale,
            "attack": self.attack,
            "persons_attacked": attacked,
            "on_axis": self.intruder.on_axis,
        }


def unknown_row(intruder: Intruder) -> dict[str, Any]:
    """The row of an intruder whose attack could not be carried out."""
    nobody = np.full(1, np.nan)
    row = Outcome(intruder, np.zeros(1, dtype=np.int64), nobody, nobody, nobody, nobody, "none", 1).row(1.0)
    numbers = {name: value for name, value in row.items() if isinstance(value, float)}
    return {**row, **dict.fromkeys(numbers, float("nan")), "max_risk": intruder.max_risk}
