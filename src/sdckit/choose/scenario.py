"""Step and Scenario: an ordered list of protections, written and read as YAML, carried out from a seed."""

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sdckit._support.progress import Progress, ShowProgress, closes_progress
from sdckit.data.microdata import Microdata, require_microdata
from sdckit.errors import OptionError, SdcError, Stopped, preview
from sdckit.methods.options import as_names, names_columns
from sdckit.methods.registry import find
from sdckit.methods.serialise import to_builtin
from sdckit.methods.spec import Kind

NOTE = "note"  # the entry beside the method of a step
LONGEST_NOTE = 2000  # characters


@dataclass(frozen=True, slots=True, init=False)
class Step:
    """One protection with its options, checked when it is written down.

    note: why the step is there, for whoever reads the plan; it changes nothing. See `with_note`.

    >>> Step("suppress", k=3)
    suppress(k=3)
    """

    method: str
    options: Mapping[str, Any]
    note: str
    kind: ClassVar[Kind] = Kind.PROTECTION

    def __init__(self, method: str, /, **options: Any) -> None:
        spec = find(method, self.kind)
        given = spec.with_new_names(options)
        options = {n: as_names(v) if names_columns(spec.hints.get(n)) else v for n, v in given.items()}
        spec.validate(options)
        object.__setattr__(self, "method", method)
        object.__setattr__(self, "options", to_builtin(options))
        object.__setattr__(self, "note", "")

    def __repr__(self) -> str:
        return f"{self.method}({', '.join(f'{k}={v}' for k, v in self.options.items())})"

    def with_note(self, note: str) -> "Step":
        """The same step, with a note on why it is there.

        >>> Step("suppress", k=3).with_note("asked for by the board").as_dict()
        {'suppress': {'k': 3}, 'note': 'asked for by the board'}
        """
        if not isinstance(note, str) or len(note) > LONGEST_NOTE:
            raise OptionError(
                f"The note of {self.method} is a text.",
                given=preview(note),
                allowed=f"a text of at most {LONGEST_NOTE:,} characters",
            )
        noted = copy(self)
        object.__setattr__(noted, "note", note.strip())
        return noted

    def check(self, data: Microdata, engine: str = "") -> None:
        """Refuse columns that are not there, and an engine the step cannot use, before any work starts.

        Roles may change on the way (a recoded number is no longer numeric), so each step checks its own.
        engine: where the records will be, if these data are their header alone.
        """
        spec = find(self.method, self.kind)
        options = spec.validate(self.options)
        spec.check_engine(engine or data.engine, options)
        spec.resolve(data, options)

    @property
    def random(self) -> bool:
        """Whether the step draws random numbers."""
        return find(self.method, Kind.PROTECTION).draws(self.options)

    @property
    def may_draw_records(self) -> bool:
        """Whether the step can make a file of new records, in which nobody has one."""
        return find(self.method, Kind.PROTECTION).new_records

    def breaks_links(self, data: Microdata) -> bool:
        """Whether nothing tells afterwards whose a record was: outside memory an id alone links records."""
        renames = find(self.method, Kind.PROTECTION).renames_ids
        return renames and data.engine != "polars" and data.roles.id is not None

    def protect(
        self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None
    ) -> Microdata:
        """Carry the step out; long steps tell `progress` how far they are."""
        spec = find(self.method, Kind.PROTECTION)
        drawn = {"rng": rng} if spec.is_random else {}
        changed: Microdata = spec.call(data, **drawn, progress=progress, **self.options)
        return changed

    def cache_key(self, seed: int) -> str:
        """What the step does to a file, as a text: the seed counts only where numbers are drawn."""
        content = {self.method: dict(self.options)}  # not the note, which changes nothing
        return json.dumps([seed if self.random else None, content], default=id)

    def as_dict(self) -> dict[str, Any]:
        """The step as YAML has it: {method: {option: value}}, with its note where there is one."""
        return {self.method: dict(self.options), **({NOTE: self.note} if self.note else {})}


@dataclass(frozen=True, slots=True, init=False)
class Scenario:
    """A named list of steps. The same data, steps and seed give the same file to the byte.

    Differentially private steps are the exception: their noise comes from a secret source, not from the seed;
    and so is `suppress` without a seed of its own.

    >>> Scenario("k3", [Step("suppress", k=3)])
    Scenario 'k3': suppress(k=3)
    """

    name: str
    steps: tuple[Step, ...]

    def __init__(self, name: str, steps: Sequence[Step | Mapping[str, Any] | str] = ()) -> None:
        if not isinstance(name, str) or not name.strip():
            raise OptionError(
                "A scenario needs a name, and it comes first.",
                given=preview(name),
                allowed='Scenario("name", [Step("method", option=value), …])',
            )
        if isinstance(steps, str | Mapping) or not isinstance(steps, Iterable):
            raise OptionError(
                f"The steps of scenario {name!r} must be a list.",
                given=preview(steps),
                allowed="[{method: {option: value}}, …]",
                hint="In YAML each step begins with a dash, or the steps stand in [ ].",
            )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "steps", tuple(_step(name, s) for s in steps))

    def __repr__(self) -> str:
        return f"Scenario {self.name!r}: {self.describe()}"

    def describe(self) -> str:
        """The steps in one line."""
        return ", then ".join(map(repr, self.steps)) or "no protection"

    def check(self, data: Microdata, engine: str = "") -> None:
        """Refuse before any work what these data do not allow. engine: as in `Step.check`."""
        for step in self.steps:
            step.check(data, engine)

    @closes_progress
    def protect(
        self,
        data: Microdata,
        seed: int | None = None,
        progress: Progress | ShowProgress | bool | None = None,
        *,
        cache: "StepCache | None" = None,
    ) -> Microdata:
        """The protected microdata; its log says what every step did.

        Each step draws from its own generator, made of the seed and the step's position. Without a seed it is
        drawn in secret when data are read: nobody can repeat the draw, or learn from an id what its record
        drew. A seed must be kept as secret as the original. With a `cache`, first steps that another scenario
        had as well are not done again.

        >>> import sdckit as sdc
        >>> data = sdc.demo.survey(n=300, seed=1)
        >>> protected = Scenario("k2", [Step("suppress", k=2, keys=["sex", "region"])]).protect(data, seed=1)
        >>> protected.log[-1].method
        'suppress'
        """
        require_microdata(data, "Scenario.protect")
        used = seed_or_secret(seed, data)
        self.check(data)
        tell = Progress.of(progress)
        keys = tuple(step.cache_key(used) for step in self.steps)
        lengths, file = ((), data) if cache is None else cache.longest(data, keys)  # of the log, by step
        for position, step in enumerate(self.steps[len(lengths) :], len(lengths)):
            tell(step.method, position, len(self.steps))
            part = tell.part(step.method, position, len(self.steps))
            try:
                file = step.protect(file, _generator(used, position), part)
            except Stopped:
                raise
            except SdcError as error:  # of several steps, which
                failed = error.after(find(step.method).title) if len(self.steps) > 1 else error
                failed.step = position
                raise failed from None
            lengths = (*lengths, len(file.log))
            if cache is not None:
                cache.put(keys[: position + 1], file, lengths)
        before = (len(data.log), *lengths)
        logged = zip(self.steps, before, lengths, strict=False)
        notes = {end - 1: step.note for step, begin, end in logged if step.note and end > begin}
        return _with_notes(file, notes)

    def without(self, position: int) -> "Scenario":
        """The scenario with one step undone (0 is the first)."""
        if not 0 <= position < len(self.steps):
            raise OptionError("There is no such step.", given=position, allowed=f"0 to {len(self.steps) - 1}")
        return Scenario(self.name, [s for i, s in enumerate(self.steps) if i != position])

    def as_list(self) -> list[dict[str, Any]]:
        """The steps as YAML has them."""
        return [step.as_dict() for step in self.steps]


def check_seed(seed: Any) -> None:
    """Refuse what cannot be a seed."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise OptionError("seed must be a whole number, 0 or more.", given=preview(seed))


def seed_or_secret(seed: int | None, data: Microdata) -> int:
    """The seed given, or a secret one that all has that was made from one reading, and no file."""
    if seed is None:
        return data.origin
    check_seed(seed)
    return seed


def _generator(seed: int, position: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence([seed, position]))


def _with_notes(file: Microdata, notes: Mapping[int, str]) -> Microdata:
    """The file whose log has the notes of its steps: files are kept without, since notes may change."""
    if not notes:
        return file
    return replace(
        file, log=tuple(replace(e, note=notes[i]) if i in notes else e for i, e in enumerate(file.log))
    )


class StepCache:
    """Files after the first steps of scenarios, by these steps: the last few, of one original at a time."""

    def __init__(self, size: int = 6) -> None:
        self._size = size
        self._data: Microdata | None = None
        self._files: OrderedDict[tuple[str, ...], tuple[tuple[int, ...], Microdata]] = OrderedDict()

    def longest(self, data: Microdata, steps: tuple[str, ...]) -> tuple[tuple[int, ...], Microdata]:
        """The file after as many of these steps as need not be done again; lengths of its log after each."""
        if self._data is not data:
            self._files.clear()
            self._data = data
        for done in range(len(steps), 0, -1):
            if steps[:done] in self._files:
                self._files.move_to_end(steps[:done])
                return self._files[steps[:done]]
        return (), data

    def clear(self) -> None:
        """Let all files go."""
        self._files.clear()
        self._data = None

    def put(self, steps: tuple[str, ...], file: Microdata, lengths: tuple[int, ...]) -> None:
        """Keep the file after these steps; the one not used for longest makes room."""
        self._files[steps] = lengths, file
        while len(self._files) > self._size:
            self._files.popitem(last=False)


def _step(scenario: str, step: Step | Mapping[str, Any] | str) -> Step:
    """A step from a Step, {method: {options}}, with a note beside the method, or just the method's name."""
    if isinstance(step, Step):
        return step
    if isinstance(step, str):
        step = {step: {}}
    note = ""
    if isinstance(step, Mapping) and NOTE in step:
        note, step = step[NOTE], {name: value for name, value in step.items() if name != NOTE}
    if not isinstance(step, Mapping) or len(step) != 1:
        raise OptionError(
            f"A step of scenario {scenario!r} is not valid.",
            given=preview(step),
            allowed='Step("method", option=value), or {method: {option: value}}, with note: text beside it',
        )
    method, options = next(iter(step.items()))
    if not isinstance(options, Mapping | None):
        raise OptionError(
            f"The options of {method!r} in scenario {scenario!r} must be a mapping.", given=options
        )
    try:
        made = Step(str(method), **{str(k): v for k, v in (options or {}).items()})
        return made.with_note("" if note is None else note)
    except SdcError as error:
        raise error.after(f"Scenario {scenario!r}") from None
