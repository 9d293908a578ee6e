"""What attacks on synthetic files share: success on the people in the file against success on others."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.data.microdata import Microdata
from sdckit.methods.file_option import TableOption
from sdckit.methods.options import Option
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Compares, Figure, share
from sdckit.risk._held_back import not_other_people
from sdckit.risk._points import SAME, Distance, Points, distinct_order, points
from sdckit.risk._synthetic import as_sets, in_all, lost_note
from sdckit.risk._uncertainty import wilson

CHUNK = 2_000_000  # distances held at a time
REFERENCE = "Giomi, Boenisch, Wehmeyer & Tasnádi (2023)"

F = TypeVar("F", bound=Callable[..., Any])

HoldoutFile = Annotated[
    TableOption,
    Option("Records held back", "Records of the same population that the synthesis has not seen.", True),
]

MostAttacks = Annotated[
    int, Field(ge=1), Option("Most attacks", "At most so many of each kind and on each file.", unit="attacks")
]


def attack(
    title: str, *, figures: Mapping[str, Figure], interpretation: str, reference: str = REFERENCE
) -> Callable[[F], F]:
    """Register an attack as a risk: what is the same of all of them is said here."""
    return risk(
        title,
        family="Synthetic files",
        bounds=(0, 1),
        unit="share of attacks, beyond those on other people",
        compares=Compares.DISTRIBUTIONS,
        share=True,
        main="holdout",
        figures=figures,
        chart=charts.attack_rates,
        reference=reference,
        interpretation=interpretation,
    )


def attack_figures(kind: str) -> dict[str, Figure]:
    """The figures of one kind of attack."""
    ends = (-math.inf, math.inf)
    words = kind.replace("_", " ")
    prefix = f"{kind}_" if kind else ""
    about = f" ({words})" if kind else ""
    return {
        f"{prefix}low": Figure(f"Risk at least{about}, 95 % interval", "share", bounds=ends),
        f"{prefix}high": Figure(f"Risk at most{about}, 95 % interval", "share", bounds=ends),
        f"{prefix}attack": share(f"Attacks that succeed on people in the file{about}"),
        f"{prefix}control": share(f"Attacks that succeed on other people{about}", better=Better.NEITHER),
        f"{prefix}attacks": Figure(f"Attacks{about}", "attacks", Better.NEITHER),
    }


@dataclass(frozen=True, slots=True)
class Attacked:
    """Shares of attacks that succeeded on people in the file and on others, and how many there were.

    stretch: where only a part of the original was attacked although the synthesis saw all of it, the number
    of its records over that of the part.
    """

    success: float
    attacks: int
    control: float
    control_attacks: int
    stretch: float = 1.0

    @property
    def risk(self) -> float:
        """(success − control)/(1 − control): of the attacks that fail on others, how many more succeed."""
        if self.control >= 1:
            return math.nan
        return self.stretch * (self.success - self.control) / (1 - self.control)

    def ends(self) -> tuple[float, float]:
        """A 95 % interval of the risk: Wilson's of both shares, combined as independent errors."""
        if self.control >= 1:
            return math.nan, math.nan
        rest = 1 - self.control
        (low, high), (least, most) = (
            wilson(self.success, self.attacks),
            wilson(self.control, self.control_attacks),
        )
        steep = (1 - self.success) / rest**2
        down = math.hypot((self.success - low) / rest, (most - self.control) * steep)
        up = math.hypot((high - self.success) / rest, (self.control - least) * steep)
        return self.risk - self.stretch * down, self.risk + self.stretch * up

    def figures(self, kind: str = "") -> dict[str, float]:
        """The numbers of this attack by their names."""
        low, high = self.ends()
        prefix = f"{kind}_" if kind else ""
        found = {"low": low, "high": high, "attack": self.success, "control": self.control}
        return {**{f"{prefix}{n}": v for n, v in found.items()}, f"{prefix}attacks": self.attacks}


def attack_table(label: str, found: Mapping[str, Attacked]) -> pl.DataFrame:
    """A row per attack: its name, the risk, and the numbers it comes from."""
    return pl.DataFrame([{label: name, "risk": one.risk, **one.figures()} for name, one in found.items()])


def pooled(found: Sequence[Attacked]) -> Attacked:
    """The mean over several synthetic sets: they attack the same people, so these count once."""
    first = found[0]
    return Attacked(
        float(np.mean([a.success for a in found])),
        min(a.attacks for a in found),
        float(np.mean([a.control for a in found])),
        min(a.control_attacks for a in found),
        first.stretch,
    )


@dataclass(frozen=True, slots=True)
class Ground:
    """The files of an attack as points: the original, the records held back, and the synthetic sets."""

    space: Points
    lost: tuple[str, ...]
    notes: tuple[str, ...]
    frames: tuple[pl.DataFrame, ...]

    @property
    def original(self) -> Floats:
        """The people in the file."""
        return self.space.files[0]

    @property
    def holdout(self) -> Floats:
        """Other people."""
        return self.space.files[1]

    @property
    def sets(self) -> tuple[Floats, ...]:
        """The synthetic files."""
        return self.space.files[2:]

    def values(self, column: str) -> list[Floats]:
        """A variable of each file: codes of categories, numbers as they are, nan where missing."""
        place = self.space.variables.index(column)
        if self.space.nominal[place]:
            return [x[:, place] for x in self.space.files]
        plain = (frame[column].to_physical().cast(pl.Float64) for frame in self.frames)
        return [x.fill_null(math.nan).to_numpy() for x in plain]

    def places(self, columns: Sequence[str]) -> Ints:
        """Where some variables stand among all; those that were left out are not there."""
        return np.array([self.space.variables.index(c) for c in columns if c in self.space.variables], int)


def ground(
    original: Microdata,
    synthetic: Microdata | Sequence[Microdata],
    holdout: Microdata,
    variables: Sequence[str],
) -> Ground:
    """The variables of all files on one scale; none, and a note, where the hold-out is the original."""
    chosen, lost = in_all(as_sets(synthetic, ()), variables)
    sets, others = as_sets(synthetic, chosen), as_sets(holdout, chosen, "hold-out")
    files = [original, *others, *sets]
    notes = lost_note(lost)
    if not_other_people(original, holdout):
        chosen = []
        notes += ("The hold-out has people of the original: it must be other people.",)
    frames = tuple(f.collect().frame for f in files)
    space = points(frames, chosen, original, Distance.GOWER, ranges=len(files))
    if not space.variables:
        notes += ("No variable to compare.",)
    return Ground(space, lost, (*notes, *space.notes), frames)


def spread_rows(x: Floats, most: int) -> Ints:
    """At most so many rows, spread evenly over the rows in the order of their values."""
    order = distinct_order(x)
    if len(x) <= most:
        return order
    return order[np.linspace(0, len(x) - 1, most).round().astype(np.int64)]


def nearest(targets: Floats, records: Floats, nominal: Bools) -> Iterator[Bools]:
    """For each target which records are nearest to it (Gower's distance); several where they tie."""
    step = max(CHUNK // max(len(records), 1), 1)
    for start in range(0, len(targets), step):
        part = targets[start : start + step]
        sums = np.zeros((len(part), len(records)))
        for j, category in enumerate(nominal):
            a, b = part[:, j][:, None], records[:, j][None, :]
            apart = (a != b).astype(np.float64) if category else np.abs(a - b)
            missing = np.isnan(a).astype(np.int8) + np.isnan(b)
            sums += np.where(missing > 0, missing == 1, apart)
        least = sums.min(axis=1, keepdims=True)
        yield from sums <= least * (1 + SAME) + SAME
