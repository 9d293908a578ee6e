"""One protected file of an assessment, as the questions before a release see it."""

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from sdckit.choose.criteria import Accepted, Criterion, Status
from sdckit.choose.place import FILE, Place
from sdckit.data.effects import merged
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind

if TYPE_CHECKING:
    from sdckit.choose.assessment import Assessment


IN_MEMORY = "Assess the file, or a part of it, in memory."
LINKED = "Keep the records linked: read both files with an id, or protect the file here."


@dataclass(frozen=True)
class ReleaseCase:
    """An assessment and one of its protected files."""

    x: "Assessment"
    data: Microdata

    @property
    def accepted(self) -> Accepted:
        """What the data holder accepts."""
        return self.x.accept

    @property
    def original(self) -> Microdata:
        """The file before."""
        return self.x.original

    @property
    def in_memory(self) -> bool:
        """Whether the records of both files can be looked at."""
        return self.original.engine == self.data.engine == "polars"

    @property
    def synthetic(self) -> bool:
        """Whether all that an intruder may know was drawn anew."""
        return drawn_anew(self.original, self.data)

    def result(self, measure: str) -> Result | None:
        """What a measure says of this file: of several that are released together, of this one alone."""
        result = self.x.after.get(measure)
        if result is None or len(result.sets) != len(self.x.protected):
            return result
        return next(own for own, data in zip(result.sets, self.x.protected, strict=True) if data is self.data)

    def measured(self, measure: str) -> Result | None:
        """What a measure found in the protected file; None where it could not say."""
        result = self.result(measure)
        return None if result is None or isnan(result.value) else result

    def not_known(self, name: str, measure: str, why: str, mends: str, *places: Place) -> Criterion:
        """A criterion that is not judged, for a measure could not say: why, and its reason.

        Where the measure needs the records in memory nothing else would mend it.
        """
        if self.original.engine not in find(measure, Kind.RISK).engines:
            mends, places = IN_MEMORY, (FILE,)
        text = f"{why}: {self.omitted_because(measure)}."
        return Criterion(name, Status.NOT_JUDGED, text, mends=mends, places=places)

    def omitted_because(self, measure: str) -> str:
        """Why there is no number of a measure."""
        reasons = [o.reason for o in self.x.omitted if o.measure == measure]
        result = self.result(measure)
        notes = () if result is None else result.notes
        return (reasons or list(notes) or ["it was not among the measures"])[0].rstrip(".")


def ask_it(measure: str) -> str:
    """What mends a criterion whose measure was not taken."""
    return f"Measure “{find(measure, Kind.RISK).title}”."


def drawn_anew(original: Microdata, data: Microdata) -> bool:
    """Whether steps since the original drew all that an intruder may know anew.

    What may be known is said by the roles of either file: a role that the protected file has lost, with its
    column or without, makes nothing unknown.
    """
    effects = merged(entry.effects for entry in data.steps_since(original))
    there = set(data.columns)
    roles = (original.roles, data.roles)
    known = [c for one in roles for c in (*one.keys, *one.numeric) if c in there]
    return bool(known) and all(c in effects.synthesises for c in known)
