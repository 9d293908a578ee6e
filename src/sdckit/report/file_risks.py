"""Risks that describe one file: what they mean after a protection that hides, moves or makes up values."""

from dataclasses import dataclass

from sdckit._support.messages import join_names
from sdckit._support.number_text import display
from sdckit.choose.assessment import Assessment
from sdckit.data.effects import Effects, merged
from sdckit.data.result import Result
from sdckit.methods.spec import Compares, Kind, Spec
from sdckit.report.sections import FILE, section_of


@dataclass(frozen=True, slots=True)
class Sound:
    """The number to read first where values were suppressed, and the headline number that it replaces."""

    value: float
    label: str
    headline: str


@dataclass(frozen=True, slots=True)
class FileRisks:
    """What became of the columns that intruders know, as far as a count of one file does not see it.

    After recoding alone a record that shares its keys with few is a person at risk. Where values were
    suppressed, moved, changed at random or drawn anew, it describes the file; the risk of its persons is
    measured by whoever knows their true values.
    """

    effects: Effects
    known: tuple[str, ...]
    synthetic: bool

    @classmethod
    def of(cls, x: Assessment) -> "FileRisks":
        """Of an assessment: what its steps did to keys, numbers and sensitive columns."""
        effects = merged(e.effects for data in x.protected for e in data.steps_since(x.original))
        roles = x.original.roles
        drawn = bool(roles.keys) and {*roles.keys} <= {*effects.synthesises}
        return cls(effects, (*roles.keys, *roles.numeric, *roles.sensitive), drawn or not x.same_people)

    def artificial(self, spec: Spec) -> bool:
        """Whether a measure counts records behind which there is nobody."""
        return self.synthetic and _of_one_file(spec)

    def section(self, spec: Spec) -> str:
        """The section of a measure: of artificial records it is no risk."""
        return FILE if self.artificial(spec) else section_of(spec)

    def notes(self, spec: Spec, sound: Sound | None) -> list[str]:
        """What must be known before the number is read."""
        found = []
        if sound is not None:
            found.append(
                f"{sound.label}, which whoever knows how the file was made can count. Where a blank matches "
                f"any value it would be {sound.headline}."
            )
        if _of_one_file(spec) and not self.synthetic and self._done:
            found.append(
                f"Describes the file and is not the risk of its persons: {'; '.join(self._done)}. Their risk "
                "is what an intruder finds who knows their true values: see the re-identification risk."
            )
        return found

    def sound(self, spec: Spec, result: Result, records: int) -> Sound | None:
        """The sound count of a measure after suppression, on the scale of its headline number."""
        name = next((n for n in result.figures if spec.figure(n).sound), None)
        if name is None or not {*self.effects.suppresses} & {*self.known}:
            return None
        figure, value = spec.figure(name), result.figures[name]
        scaled = value / records if figure.counts_records and spec.share else value
        return Sound(scaled, figure.label, display(result.value, share=spec.share))

    @property
    def _done(self) -> list[str]:
        """What was done, in words."""
        words = {
            "values of {} were suppressed": self.effects.suppresses,
            "values of {} went from record to record": self.effects.moves_values,
            "values of {} were changed at random": self.effects.randomises,
            "values of {} were drawn anew": self.effects.synthesises,
        }
        named = {text: [c for c in columns if c in self.known] for text, columns in words.items()}
        return [text.format(join_names(columns, 4)) for text, columns in named.items() if columns]


def _of_one_file(spec: Spec) -> bool:
    return spec.kind is Kind.RISK and spec.compares is Compares.ONE_FILE
