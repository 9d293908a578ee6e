"""Figures of an intruder who infers a sensitive value."""

from dataclasses import dataclass

from sdckit._support.arrays import Bools, Floats
from sdckit.models.key_intruder import ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class AttributeInference:
    """The intruder's probabilities of sensitive values; arrays over the pairs, or over sampled targets.

    A number counts as known within a relative error; its share is that of all persons within this error.
    Persons whose true value is missing have nothing to lose and are not counted.
    """

    count: Floats  # persons with a known true value; 0 for the others
    true_chance: Floats  # probability given to the true value
    without_own: Floats  # the same if the person's own record were not in the file
    largest_chance: Floats  # probability given to the likeliest value
    right: Floats  # 1 if the likeliest value is the true one; shared among ties
    true_share: Floats  # share of the true value among all persons: what is known without any keys
    baseline: float  # share of the most frequent value, or within the error of the best guess

    @property
    def persons(self) -> float:
        """Number of persons counted."""
        return float(self.count.sum())

    @property
    def guess_right(self) -> float:
        """Share of persons whose value is guessed."""
        return float(self.count @ self.right) / max(self.persons, 1.0)

    @property
    def believed(self) -> float:
        """Share of persons whose value the intruder believes to guess."""
        return float(self.count @ self.largest_chance) / max(self.persons, 1.0)

    def claims(self, sure: float) -> float:
        """Number of persons of whose value the intruder is so sure."""
        return float(self.count @ (self.largest_chance >= sure - ROUNDING))

    def claims_right(self, sure: float) -> float:
        """How many of these he is right about."""
        return float((self.count * self.right) @ (self.largest_chance >= sure - ROUNDING))

    def is_inferred(self, sure: float) -> Bools:
        """Whose true value he is so sure of, though it is not as frequent as that in the whole file."""
        return (self.count > 0) & (self.true_chance >= sure - ROUNDING) & (self.true_share < sure)

    def is_inferred_by_own_record(self, sure: float) -> Bools:
        """Of whom he would not be so sure, had they not taken part."""
        return self.is_inferred(sure) & (self.without_own < sure - ROUNDING)

    def inferred(self, sure: float) -> float:
        """Number of persons whose value is inferred."""
        return float(self.count @ self.is_inferred(sure))

    def inferred_by_own_record(self, sure: float) -> float:
        """Number of persons whose value is inferred because of their own record."""
        return float(self.count @ self.is_inferred_by_own_record(sure))
