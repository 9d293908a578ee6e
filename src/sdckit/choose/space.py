"""Space: the scenarios a search may try, written as steps with choices and ranges.

- recode: {variable: age, width: {choices: [1, 5, 10]}}
- optional: {suppress: {k: {range: [2, 10]}}}
- one of:
  - {microaggregate: {k: {range: [2, 20]}}}
  - {add_noise: {sd: {range: [0.01, 0.5], log: true}}}
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

import numpy as np
import yaml

from sdckit.choose.scenario import NOTE, Scenario
from sdckit.errors import OptionError, SdcError
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind

OPTIONAL, ONE_OF = "optional", "one of"
GOLDEN = (5**0.5 - 1) / 2  # its multiples spread evenly over a list
Candidate = dict[str, float]  # place → where in it, from 0 (first, lowest) to 1 (last, highest)


@dataclass(frozen=True, slots=True)
class Parameter:
    """Something left open: a choice between options, or a number in a range."""

    options: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 0.0
    logarithmic: bool = False
    whole: bool = False

    @property
    def size(self) -> int:
        """How many different values there are; very many for a range of real numbers."""
        if self.options:
            return len(self.options)
        return int(self.high - self.low) + 1 if self.whole else 10**9

    def at(self, gene: float) -> Any:
        """The value at a point between 0 and 1."""
        if self.options:
            return self.options[min(int(gene * len(self.options)), len(self.options) - 1)]
        if self.logarithmic:
            value = exp(log(self.low) + gene * (log(self.high) - log(self.low)))
        else:
            value = self.low + gene * (self.high - self.low)
        return round(value) if self.whole else min(max(value, self.low), self.high)

    def cuts(self, number: int) -> list[float]:
        """Candidate of evenly spaced values, every option of a choice."""
        if self.options:
            return [(i + 0.5) / len(self.options) for i in range(len(self.options))]
        number = min(number, self.size)
        return [0.5] if number == 1 else [i / (number - 1) for i in range(number)]


@dataclass(frozen=True, slots=True)
class Space:
    """Steps with open places. Candidate say how each place is filled; `decode` makes steps of them."""

    steps: tuple[Mapping[str, Any], ...]
    places: Mapping[str, Parameter]

    @classmethod
    def of(cls, steps: Sequence[Any]) -> "Space":
        """The space, with every method, option and range checked."""
        if isinstance(steps, str | Mapping) or not steps:
            raise OptionError("A search space is a list of steps.", given=steps)
        content = tuple(_as_step(s) for s in steps)
        places: dict[str, Parameter] = {}
        for position, step in enumerate(content):
            _find_places(step, f"{position}", places)
            _refuse_lists(step, f"{position}", places)
        if not places:
            raise OptionError("The search space leaves nothing open.", hint=_how_to_open(content))
        space = cls(content, places)
        space.at_the_ends()
        return space

    def at_the_ends(self) -> list[Scenario]:
        """Scenarios in which every step is there at least once, with all places at one of their ends."""
        corners = (candidate for end in (0.0, 1.0) for candidate in self._corners(end))
        return [Scenario("search", self.decode(candidate)) for candidate in corners]

    def _corners(self, end: float) -> list[Candidate]:
        """All places at one end, with every alternative of `one of` in turn."""
        base = dict.fromkeys(self.places, end)
        branches = [(n, p) for n, p in self.places.items() if n.endswith(ONE_OF)]
        optional = {n: 1.0 for n in self.places if n.endswith(OPTIONAL)}
        return [
            base,
            *({**base, **optional, n: gene} for n, p in branches for gene in p.cuts(1)),
            {**base, **optional},
        ]

    def decode(self, candidate: Candidate) -> list[dict[str, Any]]:
        """The steps of a scenario."""
        drawn = (_fill(step, f"{i}", candidate, self.places) for i, step in enumerate(self.steps))
        return [step for step in drawn if step is not None]

    def random(self, rng: np.random.Generator) -> Candidate:
        """Candidate drawn at random."""
        return {name: float(rng.random()) for name in self.places}

    def mutate(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        """A neighbour: one or two places changed, numbers by a little or to an end, choices to any other."""
        child = dict(candidate)
        for name in rng.choice(list(self.places), size=1 + int(rng.random() < 0.3)):
            place = self.places[name]
            if place.options:
                child[name] = float(rng.random())
            elif rng.random() < 0.25:
                child[name] = float(rng.integers(0, 2))
            else:
                step = max(0.12, 1.0 / place.size)
                child[name] = float(np.clip(candidate[name] + rng.normal(0, step), 0, 1))
        return child

    def cross(self, one: Candidate, other: Candidate, rng: np.random.Generator) -> Candidate:
        """A child of two: numbers in between, choices from either."""
        child = {}
        for name, place in self.places.items():
            mix = float(rng.random())
            if place.options:
                child[name] = one[name] if mix < 0.5 else other[name]
            else:
                child[name] = one[name] + mix * (other[name] - one[name])
        return child

    def grid(self, size: int) -> list[Candidate]:
        """At most `size` scenarios on a regular grid: every choice, ranges cut as finely as fits."""
        for cuts in range(50, 1, -1):
            found = self._all(cuts, size)
            if found is not None:
                return found
        ends = self._all(2, 100_000) or [dict.fromkeys(self.places, 0.0)]  # the ends of ranges, thinned out
        return [ends[int((i * GOLDEN) % 1 * len(ends))] for i in range(size)]

    def size(self, limit: int) -> int:
        """The number of different scenarios, or the limit where there are more."""
        found = self._all(max(limit, 2), limit)
        return limit if found is None else len(found)

    def _all(self, cuts: int, limit: int) -> list[Candidate] | None:
        """Every scenario with ranges cut into `cuts` values; None where there are more than the limit."""
        found: dict[str, Candidate] = {}
        waiting: list[tuple[Candidate, list[str]]] = [({}, list(self.places))]
        while waiting:
            candidate, left = waiting.pop()
            if not left:
                full = {name: candidate.get(name, 0.5) for name in self.places}
                found.setdefault(str(self.decode(full)), full)
                if len(found) > limit:
                    return None
                continue
            name = left[0]
            if not _reached(name, candidate, self.places):
                waiting.append((candidate, left[1:]))
                continue
            waiting += [
                ({**candidate, name: gene}, left[1:]) for gene in reversed(self.places[name].cuts(cuts))
            ]
        return list(found.values())


def _as_step(step: Any) -> Mapping[str, Any]:
    if isinstance(step, str):
        step = {step: {}}
    if isinstance(step, Mapping):
        step = {name: value for name, value in step.items() if name != NOTE}
    if not isinstance(step, Mapping) or len(step) != 1:
        raise OptionError("A step of the search space is not valid.", given=step, allowed="{method: {…}}")
    return step


def _find_places(step: Mapping[str, Any], name: str, places: dict[str, Parameter]) -> None:
    method, content = next(iter(step.items()))
    if method == OPTIONAL:
        places[f"{name}/{OPTIONAL}"] = Parameter((False, True))
        _find_places(_as_step(content), f"{name}/there", places)
    elif method == ONE_OF:
        if not isinstance(content, list) or len(content) < 2:
            raise OptionError("'one of' takes a list of steps.", given=content)
        places[f"{name}/{ONE_OF}"] = Parameter(tuple(range(len(content))))
        for which, alternative in enumerate(content):
            _find_places(_as_step(alternative), f"{name}/{which}", places)
    else:
        find(method, Kind.PROTECTION)
        if not isinstance(content, Mapping | None):
            raise OptionError(
                f"The options of {method!r} in the search space must be a mapping.",
                given=content,
                allowed=f"{method}: {{option: value, …}}",
            )
        for option, value in (content or {}).items():
            _find_values(value, f"{name}/{method}.{option}", places)


def _refuse_lists(step: Mapping[str, Any], name: str, places: Mapping[str, Parameter]) -> None:
    """Refuse a list where the option takes one value: several to try are written as choices."""
    method, content = next(iter(step.items()))
    if method == OPTIONAL:
        return _refuse_lists(_as_step(content), f"{name}/there", places)
    if method == ONE_OF:
        for which, alternative in enumerate(content):
            _refuse_lists(_as_step(alternative), f"{name}/{which}", places)
        return None
    ((_, options),) = (_fill(step, name, dict.fromkeys(places, 0.0), places) or {}).items()
    lists = {option: value for option, value in options.items() if isinstance(value, list) and value}
    single = {**options, **{option: value[0] for option, value in lists.items()}}
    for option, value in lists.items():
        if _valid(method, single) and not _valid(method, {**single, option: value}):
            raise OptionError(
                f"Option {option!r} of {method} takes one value.",
                given=_flow(value),
                hint=f"To try each of them, write {option}: {{choices: {_flow(value)}}}.",
            )
    return None


def _valid(method: str, options: Mapping[str, Any]) -> bool:
    try:
        find(method, Kind.PROTECTION).validate(options)
    except SdcError:
        return False
    return True


def _how_to_open(steps: Sequence[Mapping[str, Any]]) -> str:
    """How to leave something open, on the first of the user's steps that have an option."""
    method, options = next(
        ((m, o) for step in steps for m, o in step.items() if o), (next(iter(steps[0])), {})
    )
    whole = f"make a step optional: - optional: {{{method}: {_flow(options or {})}}}"
    numbers = [o for o, v in options.items() if isinstance(v, int | float) and not isinstance(v, bool)]
    for option in numbers[:1]:
        value = options[option]
        return (
            f"Write values to try as {option}: {{choices: [{value}, …]}}, or all between two as "
            f"{option}: {{range: [{value}, …]}}, or {whole}."
        )
    return whole[0].upper() + whole[1:] + "."


def _option(name: str) -> str:
    """An option for a message: the place without the way to it."""
    return repr(name.rsplit("/", 1)[-1])


def _flow(value: Any) -> str:
    """A value as YAML has it, in one line."""
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10_000)
    return text.removesuffix("\n").removesuffix("\n...")


def _find_values(value: Any, name: str, places: dict[str, Parameter]) -> None:
    if not isinstance(value, Mapping):
        return
    if set(value) == {"choices"}:
        if not isinstance(value["choices"], list) or not value["choices"]:
            raise OptionError(f"choices of {_option(name)} must be a list.", given=value["choices"])
        places[name] = Parameter(tuple(value["choices"]))
    elif "range" in value and set(value) <= {"range", "log"}:
        places[name] = _range(value, name)
    else:
        for key, part in value.items():
            _find_values(part, f"{name}.{key}", places)


def _range(value: Mapping[str, Any], name: str) -> Parameter:
    ends = value["range"]
    numbers = isinstance(ends, list) and len(ends) == 2 and all(isinstance(e, int | float) for e in ends)
    if not numbers or not ends[0] < ends[1]:
        raise OptionError(f"range of {_option(name)} must be [low, high].", given=ends)
    logarithmic = bool(value.get("log", False))
    if logarithmic and ends[0] <= 0:
        raise OptionError(f"A logarithmic range of {_option(name)} must be positive.", given=ends)
    return Parameter((), ends[0], ends[1], logarithmic, all(isinstance(e, int) for e in ends))


def _fill(
    step: Mapping[str, Any], name: str, candidate: Candidate, places: Mapping[str, Parameter]
) -> dict[str, Any] | None:
    method, content = next(iter(step.items()))
    if method == OPTIONAL:
        there = places[f"{name}/{OPTIONAL}"].at(candidate[f"{name}/{OPTIONAL}"])
        return _fill(_as_step(content), f"{name}/there", candidate, places) if there else None
    if method == ONE_OF:
        which = places[f"{name}/{ONE_OF}"].at(candidate[f"{name}/{ONE_OF}"])
        return _fill(_as_step(content[which]), f"{name}/{which}", candidate, places)
    return {
        method: {k: _value(v, f"{name}/{method}.{k}", candidate, places) for k, v in (content or {}).items()}
    }


def _value(value: Any, name: str, candidate: Candidate, places: Mapping[str, Parameter]) -> Any:
    if name in places:
        return places[name].at(candidate[name])
    if isinstance(value, Mapping):
        return {k: _value(v, f"{name}.{k}", candidate, places) for k, v in value.items()}
    return value


def _reached(name: str, candidate: Candidate, places: Mapping[str, Parameter]) -> bool:
    """Whether a place is in a part of the space that these candidate lead to."""
    position, *rest = name.split("/")
    prefix = position
    for part in rest[:-1]:
        if part == "there" and not places[f"{prefix}/{OPTIONAL}"].at(
            candidate.get(f"{prefix}/{OPTIONAL}", 0.0)
        ):
            return False
        if part.isdigit():
            chosen = places[f"{prefix}/{ONE_OF}"].at(candidate.get(f"{prefix}/{ONE_OF}", 0.0))
            if chosen != int(part):
                return False
        prefix = f"{prefix}/{part}"
    return True
