"""The stored cases: their parameters, what R has for them, and the files they were computed on."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

import sdckit as sdc

HERE = Path(__file__).parent
CATEGORIES = ["region", "sex", "age_group", "education", "labour_status", "health"]


class Results(dict[str, Any]):
    """Stored figures by name, which remember which of them were read."""

    def __init__(self, stored: dict[str, Any]) -> None:
        super().__init__({k: Results(v) if isinstance(v, dict) else v for k, v in stored.items()})
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def __iter__(self) -> Iterator[str]:
        self.read.update(super().keys())
        return super().__iter__()

    def items(self) -> Any:
        self.read.update(super().keys())
        return super().items()

    def get(self, name: str, default: Any = None) -> Any:
        self.read.add(name)
        return super().get(name, default)

    def unread(self) -> set[str]:
        """The names that nobody read."""
        return set(super().keys()) - self.read


@dataclass(frozen=True)
class Case:
    """One call of R: its input files, options in R's terms, results, and how near sdckit has to come.

    tolerance is the largest relative difference, or a word: "bound" (R's figure must be reached or
    improved), "likelihood" (a log-likelihood may be lower by 0.01), "statistical" (averages over draws).
    """

    topic: str
    id: str
    inputs: list[str]
    parameters: dict[str, Any]
    call: str
    expected: Results
    tolerance: float | str
    note: str

    @property
    def relative(self) -> float:
        """The tolerance, where it is a number."""
        assert isinstance(self.tolerance, int | float), f"{self.id} has no relative tolerance"
        return float(self.tolerance)


@dataclass(frozen=True)
class KnownDifference:
    """Figures that are not R's, with who is right ("sdckit", "R" or "convention") and the reason.

    explained_by: the function of explanations.py that shows it.
    """

    topic: str
    cases: list[str]
    figures: list[str]
    right: str
    reason: str
    explained_by: str

    @property
    def id(self) -> str:
        """What the test is called."""
        return "-".join([self.topic, *self.figures, self.explained_by])

    def covers(self, case: Case, figure: str) -> bool:
        """Whether this figure of this case is one of those."""
        return self.has(case) and figure in self.figures

    def has(self, case: Case) -> bool:
        """Whether some figures of this case are."""
        return case.topic == self.topic and any(fnmatch(case.id, pattern) for pattern in self.cases)


@dataclass(frozen=True)
class Topic:
    """The cases of one file of results."""

    name: str
    made_with: str
    about: str
    cases: list[Case] = field(repr=False)


@cache
def topic(name: str) -> Topic:
    """A file of results."""
    stored = json.loads((HERE / "results" / f"{name}.json").read_text(encoding="utf-8"))
    cases = [Case(topic=name, **case | {"expected": Results(case["expected"])}) for case in stored["cases"]]
    return Topic(stored["topic"], stored["made_with"], stored["about"], cases)


@cache
def known_differences() -> list[KnownDifference]:
    """All that is known to differ."""
    stored = json.loads((HERE / "known_differences.json").read_text(encoding="utf-8"))
    return [KnownDifference(**entry) for entry in stored]


@cache
def frame(name: str) -> pl.DataFrame:
    """An input file; classes of economic activity are text."""
    path = HERE / "inputs" / name
    return pl.read_csv(path, infer_schema_length=None, schema_overrides={"nace": pl.String})


def names_in(value: str | list[str] | None) -> list[str]:
    """R writes a vector of one name as a name, and an empty one as nothing."""
    return [value] if isinstance(value, str) else list(value or [])


def numbers(case: Case) -> tuple[sdc.Microdata, sdc.Microdata]:
    """The numeric variables of an original and a protected file."""
    names = names_in(case.parameters["variables"])
    first, second = (frame(name).select(pl.col(names).cast(pl.Float64)) for name in case.inputs)
    data = sdc.read(first, numeric=names)
    return data, data.with_frame(second)


def synthetic_pair(case: Case, numeric: list[str]) -> tuple[sdc.Microdata, sdc.Microdata]:
    """The categories, and the numbers that are asked for, of the survey and a synthetic file."""
    columns = [*CATEGORIES, *(pl.col(name).cast(pl.Float64) for name in numeric)]
    first, second = (frame(name).select(columns) for name in case.inputs)
    data = sdc.read(first, keys=CATEGORIES, numeric=numeric)
    return data, data.with_frame(second)
