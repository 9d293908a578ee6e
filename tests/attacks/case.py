"""A pair of files with what the verdict on it must be, and the attack that shows why."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pytest

import sdckit as sdc

Built = tuple[sdc.Microdata, sdc.Microdata, Callable[[], float]]


@dataclass(frozen=True)
class Case:
    """One original and its protected file.

    name, why: what was done, and what an intruder makes of it, or why he cannot. max_risk: the accepted risk.
    intruders: what he knows, where it is not the default: name -> arguments of an intruder. least, most: the
    number of persons found or values inferred that `hits` reaches at least in an attack, and that it does not
    exceed in an honest file, where persons are found by drawing among the best records.
    """

    name: str
    why: str
    build: Callable[[], Built]
    max_risk: float = 0.05
    intruders: Mapping[str, Mapping[str, Any]] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)  # further arguments of sdckit.assess
    least: float = 0
    most: float = float("inf")

    @cached_property
    def built(self) -> Built:
        """Both files and the attack, made when first asked for."""
        return self.build()

    @property
    def original(self) -> sdc.Microdata:
        """The file before."""
        return self.built[0]

    @property
    def protected(self) -> sdc.Microdata:
        """The file that somebody would like to release."""
        return self.built[1]

    def hits(self) -> float:
        """Persons found or values inferred, when the attack is carried out."""
        return self.built[2]()


class Cases(list[Case]):
    """A list to which functions that build files are added by a decorator."""

    def add(self, why: str, **facts: Any) -> Callable[[Callable[[], Built]], Callable[[], Built]]:
        """Register a function under its name."""

        def register(build: Callable[[], Built]) -> Callable[[], Built]:
            self.append(Case(build.__name__, why, build, **facts))
            return build

        return register


def named(cases: Iterable[Case]) -> pytest.MarkDecorator:
    """Run a test with each of the cases; all tests of a case in one process, as files take long to build."""
    return pytest.mark.parametrize(
        "case", [pytest.param(c, id=c.name, marks=pytest.mark.xdist_group(f"case {c.name}")) for c in cases]
    )
