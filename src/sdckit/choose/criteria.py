"""The verdict on a protected file: a list of criteria, each met, not met or not judged."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from math import ceil, inf
from typing import Any

from sdckit._support.messages import did_you_mean, join_names
from sdckit._support.number_text import number, percent, percent_beside
from sdckit.choose.place import Place, PlaceKind
from sdckit.errors import OptionError, preview

FLAGS = ("order", "missing_keys")  # entries of what is accepted that are true or false


class Status(StrEnum):
    """What became of a criterion."""

    MET = "met"
    NOT_MET = "not met"
    NOT_JUDGED = "not judged"


class Release(StrEnum):
    """What the criteria say together."""

    RELEASABLE = "releasable"
    NOT_RELEASABLE = "not releasable"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Criterion:
    """One question that is asked before a file is released.

    value and limit are what was found and what is accepted, where there are such numbers. mends: the step or
    decision that would settle it, in words for whoever reads no plan; `in_plan` is what accepts it in one.
    share: value and limit are shares of persons. places: where that is decided, the best first; a criterion
    that is not met, or not judged, has at least one. intruder: whom it is about, with whose name its own
    ends.
    """

    name: str
    status: Status
    why: str
    value: float | None = None
    limit: float | None = None
    mends: str = ""
    share: bool = False
    places: tuple[Place, ...] = ()
    intruder: str = ""

    @property
    def met(self) -> bool:
        """Whether it was judged and is met."""
        return self.status is Status.MET

    @property
    def in_plan(self) -> str:
        """What a plan says where the data holder accepts this; nothing where it cannot be accepted.

        >>> places = (Place.accept("order"),)
        >>> Criterion("order", Status.NOT_MET, "The rows stand as they did.", places=places).in_plan
        'accept: {order: true}'
        """
        lines = [_accepting(p, self.value) for p in self.places if p.kind is PlaceKind.ACCEPT]
        return "" if self.met else ", or ".join(lines)

    def text(self, which: float | None) -> str:
        """The value or the limit as people write it, so that both differ where they do."""
        if which is None:
            return ""
        return percent_beside(which, self.limit) if self.share else number(which)

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "name": self.name,
            "status": self.status.value,
            "value": self.value,
            "limit": self.limit,
            "share": self.share,
            "why": self.why,
            "mends": self.mends,
            "in_plan": self.in_plan,
            "places": [place.as_dict() for place in self.places],
        }


def _accepting(place: Place, value: float | None) -> str:
    """The line of a plan that accepts what was found; a number for the holder to choose is an ellipsis."""
    import yaml  # loaded when it is first used

    if place.name == "max_risk":
        return "max_risk: …"
    entry: object = list(place.columns) or (place.name in FLAGS) or "…"
    if place.name == "claims" and value is not None:
        entry = ceil(value)
    text = yaml.safe_dump({place.name: entry}, allow_unicode=True, default_flow_style=True, width=inf)
    return f"accept: {text.strip()}"


def worst_of_each(found: Iterable[Criterion]) -> tuple[Criterion, ...]:
    """The criteria of several files, in their order: of the same question the worst answer.

    A criterion that is met by one file and not by another is not met. Answers that differ in their numbers
    only are told once, with the largest.

    >>> asked = [Criterion("copies", Status.MET, "few", v) for v in (0.1, 0.3)]
    >>> [c.value for c in worst_of_each(asked)]
    [0.3]
    """
    criteria = list(dict.fromkeys(found))
    open_ones = {c.name for c in criteria if not c.met}
    kept: dict[tuple[object, ...], Criterion] = {}
    for one in criteria:
        if one.met and one.name in open_ones:
            continue
        same = (one.name, one.status, one.mends, one.places)
        known = kept.get(same)
        if known is None or (one.value or 0.0) > (known.value or 0.0):
            kept[same] = one
    return tuple(kept.values())


@dataclass(frozen=True)
class Verdict(Sequence[Criterion]):
    """All criteria of one protected file. Releasable only if every one of them is judged and met.

    >>> asked = [Criterion("direct identifiers", Status.MET, "None is left.")]
    >>> Verdict(tuple(asked), "k3").status
    <Release.RELEASABLE: 'releasable'>
    >>> asked.append(Criterion("claims", Status.NOT_JUDGED, "5 claims are right."))
    >>> print(Verdict(tuple(asked), "k3").headline)
    “k3” is not cleared for release: 1 criterion is not judged. 5 claims are right.
    """

    criteria: tuple[Criterion, ...]
    scenario: str = ""
    prepared: bool = False  # the original of which it speaks was prepared before
    accepted: str = ""  # what the data holder accepts beyond the usual, in words
    trusted: str = ""  # what must hold besides, and what no measure can see

    @property
    def status(self) -> Release:
        """Releasable, not releasable, or open where something was not judged."""
        found = {criterion.status for criterion in self.criteria}
        if Status.NOT_MET in found:
            return Release.NOT_RELEASABLE
        return Release.RELEASABLE if found == {Status.MET} else Release.OPEN

    @property
    def releasable(self) -> bool:
        """Whether every criterion is judged and met."""
        return self.status is Release.RELEASABLE

    @property
    def exit_code(self) -> int:
        """What a program ends with: 0 met, 3 not met, 4 not judged."""
        return {Release.RELEASABLE: 0, Release.NOT_RELEASABLE: 3, Release.OPEN: 4}[self.status]

    @property
    def released(self) -> str:
        """What is said of a file that can be released, with what was accepted for it and what is trusted."""
        met = f"can be released: all {len(self.criteria)} criteria are judged and met"
        met += f", for the data holder accepts {self.accepted}." if self.accepted else "."
        return f"{met} {self.trusted}".rstrip()

    def of(self, status: Status) -> tuple[Criterion, ...]:
        """The criteria with this status."""
        return tuple(c for c in self.criteria if c.status is status)

    @property
    def headline(self) -> str:
        """The verdict in one or two sentences; what was not judged is part of it."""
        name = f"“{self.scenario}”" if self.scenario else "The protected file"
        name += ", made from the prepared file," if self.prepared else ""
        failed, unjudged = self.of(Status.NOT_MET), self.of(Status.NOT_JUDGED)
        if self.releasable:
            return f"{name} {self.released}"
        parts = [_counted(failed, "not met"), _counted(unjudged, "not judged")]
        counts = ", ".join(part for part in parts if part)
        first = (failed or unjudged)[0]
        cleared = "must not be released" if failed else "is not cleared for release"
        return f"{name} {cleared}: {counts}. {first.why}"

    def __getitem__(self, index: Any) -> Any:
        return self.criteria[index]

    def __len__(self) -> int:
        return len(self.criteria)

    def __iter__(self) -> Iterator[Criterion]:
        return iter(self.criteria)

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "status": self.status.value,
            "headline": self.headline,
            "criteria": [criterion.as_dict() for criterion in self.criteria],
        }

    def __repr__(self) -> str:
        marks = {Status.MET: "✓", Status.NOT_MET: "✗", Status.NOT_JUDGED: "?"}
        rows = [f"  {marks[c.status]} {c.name}: {c.why}" for c in self.criteria]
        return "\n".join([self.headline, *rows])

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(c.name)}</td><td>{c.status.value}</td><td>{escape(c.text(c.value))}</td>"
            f"<td>{escape(c.text(c.limit))}</td><td>{escape(c.why)}</td><td>{escape(c.mends)}"
            f"{f'<br><code>{escape(c.in_plan)}</code>' if c.in_plan else ''}</td></tr>"
            for c in self.criteria
        )
        heads = "".join(
            f"<th>{h}</th>" for h in ("criterion", "status", "value", "limit", "why", "what would mend it")
        )
        return f"<p><b>{escape(self.headline)}</b></p><table><tr>{heads}</tr>{rows}</table>"


def _counted(criteria: Sequence[Criterion], what: str) -> str:
    if not criteria:
        return ""
    plural = "criterion is" if len(criteria) == 1 else "criteria are"
    return f"{len(criteria)} {plural} {what}"


@dataclass(frozen=True, slots=True)
class Accepted:
    """What the data holder accepts with open eyes; everything else must be judged and met.

    claims: how many right claims of a sure intruder. inference: the share of persons whose sensitive value
    may be inferred beyond the baseline; without it the accepted risk. columns: columns that somebody has
    looked at and found harmless although no risk looks at them. numbers: numbers that may be released
    unchanged. order: the order of the rows may be that of the original. missing_keys: keys missing from the
    start are understood. population: the number of people the weights stand for. prepared: columns whose
    values preparation may have changed, for what an intruder knows of them is not looked at.
    """

    claims: float = 0
    inference: float | None = None
    columns: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    order: bool = False
    missing_keys: bool = False
    population: float | None = None
    prepared: tuple[str, ...] = ()

    def in_words(self, count: Callable[[float], str] = number) -> list[str]:
        """All that differs from accepting nothing; count: how a number of persons is written."""
        many = count(self.claims)  # for the public not the very number, nor by a singular
        found = [f"{many} right claim{'s' * (many != '1')}"] if self.claims else []
        if self.inference is not None:
            found.append(f"that of {percent(self.inference)} of the persons a sensitive value is inferred")
        if self.columns:
            found.append(f"columns that no risk looks at ({join_names(self.columns, 4)})")
        if self.numbers:
            found.append(f"unchanged numbers ({join_names(self.numbers, 4)})")
        if self.order:
            found.append("the order of the rows")
        if self.missing_keys:
            found.append("keys missing from the start")
        if self.prepared:
            found.append(f"values changed before ({join_names(self.prepared, 4)})")
        return found

    def as_dict(self) -> dict[str, Any]:
        """What differs from accepting nothing, as a plan has it."""
        values = {f.name: (getattr(self, f.name), f.default) for f in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, (value, nothing) in values.items()
            if value != nothing
        }

    @classmethod
    def of(cls, given: Any) -> "Accepted":
        """From what a user or a plan says, checked."""
        if given is None or isinstance(given, cls):
            return given or cls()
        names = list(cls.__dataclass_fields__)
        if not isinstance(given, Mapping):
            raise OptionError("accept is not valid.", given=preview(given), allowed=join_names(names))
        for name in given:
            if name not in names:
                raise OptionError(
                    f"accept has no entry {name!r}.",
                    allowed=join_names(names),
                    hint=did_you_mean(name, names),
                )
        for name in ("claims", "inference", "population"):
            value = given.get(name)
            good = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
            if value is not None and not good:
                raise OptionError(f"accept: {name} is a number.", given=preview(value), allowed="0 or more")
        for name in FLAGS:
            if not isinstance(given.get(name, False), bool):
                raise OptionError(f"accept: {name} is true or false.", given=preview(given[name]))
        values = dict(given)
        for name in ("columns", "numbers", "prepared"):
            value = given.get(name, ())
            listed = (value,) if isinstance(value, str) else value
            if not isinstance(listed, Sequence) or not all(isinstance(c, str) for c in listed):
                raise OptionError(f"accept: {name} names columns.", given=preview(value))
            values[name] = tuple(listed)
        return cls(**values)
