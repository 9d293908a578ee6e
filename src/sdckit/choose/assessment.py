"""Assessment: what was measured of an original and a protected file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sdckit._support.html_text import bullets, paragraph, table
from sdckit._support.number_text import count_records
from sdckit.choose.criteria import Accepted, Verdict
from sdckit.choose.release_checks import judged
from sdckit.choose.release_facts import unmeasured
from sdckit.data.files_unchanged import require_unchanged
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result, show


@dataclass(frozen=True, slots=True)
class Omission:
    """A measure that was not computed, and why."""

    measure: str
    reason: str


@dataclass(frozen=True)
class Assessment:
    """What was measured: risk before and after, utility, and what was left out and why."""

    original: Microdata
    protected: tuple[Microdata, ...]
    before: Mapping[str, Result]
    after: Mapping[str, Result]
    utility: Mapping[str, Result]
    omitted: tuple[Omission, ...] = ()
    max_risk: float | None = None
    scenario: str = ""
    seed: int | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    same_people: bool = True  # each record of a protected file is one of the original's people

    accept: Accepted = field(default_factory=Accepted)

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the file can be released: every criterion with its value, limit, status and reason."""
        require_unchanged([self.original, *self.protected])  # what it reads now must fit what was measured
        return judged(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of the steps, and of columns that no risk looks at."""
        found: list[str] = []
        for data in self.protected:
            found += data.warnings
            found += unmeasured(self.original, data, same_people=self.same_people)
        return tuple(dict.fromkeys(found))

    def __repr__(self) -> str:
        lines = [
            f"Assessment of {self.scenario or 'a protected file'}: {count_records(self.original.height)}"
        ]
        rows = [("risk", "before", "after")]
        for name, result in self.after.items():
            before = show(self.before[name].value) if name in self.before else ""
            rows.append((name, before, show(result.value)))
        rows.append(("utility", "", "value"))
        rows += [(name, "", show(r.value)) for name, r in self.utility.items()]
        first, *rest = (max(len(row[i]) for row in rows) for i in range(3))
        widths = [max(10, width) for width in rest]
        lines += [f"  {a:<{first}}  {b:>{widths[0]}}  {c:>{widths[1]}}" for a, b, c in rows]
        lines += [f"  warning: {text}" for text in self.warnings]
        lines += [f"  left out: {o.measure}: {o.reason}" for o in self.omitted]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The verdict with its criteria first, then risks before and after, utility, what was left out."""
        before = {name: show(result.value) for name, result in self.before.items()}
        risks = [(name, before.get(name, ""), show(result.value)) for name, result in self.after.items()]
        parts = [
            self.verdict._repr_html_(),
            paragraph(f"{self.scenario or 'A protected file'}: {count_records(self.original.height)}"),
            table(["risk", "before", "after"], risks),
            table(["utility", "value"], ((name, show(r.value)) for name, r in self.utility.items())),
            bullets(self.warnings, "Warnings"),
            bullets((f"{o.measure}: {o.reason}" for o in self.omitted), "Left out"),
        ]
        return f"<div>{''.join(parts)}</div>"
