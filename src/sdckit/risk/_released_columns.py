"""Two linked files as arrays: what is released in each column, and what of the original is hidden."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.data.common_columns import is_continuous
from sdckit.data.content_key import content_key
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import PROTECTED, is_sortable, match_records
from sdckit.data.values import texts
from sdckit.engine import frames
from sdckit.engine.tables import OURS
from sdckit.risk._clues import (
    clue_of,
    is_partly_rounded,
    is_telling_text,
    parts_of,
    plain_values,
    rounding_of,
)
from sdckit.risk._guesses import Clue, Truth, sorted_by

ORDER = "order of the rows"
ENOUGH = 30  # values that differ between the files, so that a variable counts as hidden
SPREAD = (0.05, 0.95)  # shares of the records between which a number's usual range lies
EXACT = 1e-6  # relative difference of decimal numbers that are the same but for rounding
GROUPED = 20  # records a value: of a column with larger groups any sample will do
MANY = 10  # records for each value of a key, on average, from which on what follows from it is no accident
BINS = 20  # of a column with many values
CLASSES = 102  # of records by one column: so many values, or bins and one for missing
BLOCK = 500  # records that follow each other in the order of a column and are sampled together
_ROW = f"{OURS}row"


@dataclass(frozen=True, slots=True)
class Hidden:
    """A variable of the original that was changed or dropped.

    rows: records with a value in the original; column: these values; truth: the same as codes and numbers.
    changed: which of them are hidden.
    released: what the protected file says instead, None where the variable was dropped; guess: the same as a
    number, nan where it is none. member: the number of the record in its household, where members share the
    value, else None; votes: the released values as codes of true ones, −1 where they are none, then.
    """

    name: str
    rows: Ints
    column: pl.Series
    truth: Truth
    changed: Bools
    released: Clue | None
    guess: Floats
    member: Clue | None = None
    votes: Ints | None = None


class Clues(Mapping[str, Clue]):
    """Clues by name, each made when it is first asked for: where nothing is hidden none is."""

    def __init__(self, makers: Mapping[str, Callable[[], Clue]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, Clue] = {}

    def __getitem__(self, name: str) -> Clue:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@dataclass(frozen=True, slots=True)
class Released:
    """The columns of the protected file, in the row order of the original."""

    protected: Microdata
    frame: pl.DataFrame
    clues: Mapping[str, Clue]
    _samples: dict[tuple[str, int], Ints] = field(default_factory=dict)
    _texts: dict[int, dict[str, list[tuple[str, Clue]]]] = field(default_factory=dict)
    _classes: dict[str, Ints] = field(default_factory=dict)

    @property
    def height(self) -> int:
        """Number of records."""
        return self.frame.height

    def finest(self, columns: Sequence[str], size: int) -> str:
        """Of some columns the one whose groups are too small for a sample of so many records; else empty."""
        if size >= self.height or not columns:
            return ""
        finest = max(columns, key=lambda c: self.clues[c].size)
        return finest if self.clues[finest].size * GROUPED > size else ""

    def sample(self, finest: str, size: int) -> Ints:
        """About so many records at random; equal and neighbouring values of the finest column stay together.

        A record of a household can only be compared with the other members if they are sampled, too. So of a
        column with small groups whole runs of its sorted values are taken, and of its large groups any part.
        """
        if size >= self.height:
            return np.arange(self.height)
        if (finest, size) not in self._samples:
            self._samples[finest, size] = self._drawn(finest, size)
        return self._samples[finest, size]

    def texts(self, size: int) -> dict[str, list[tuple[str, Clue]]]:
        """Texts and codes that are nearly unique, and their parts in a sample of so many records."""
        if size not in self._texts:
            long = [c for c in self.frame.columns if is_telling_text(self.frame[c])]
            rows = self.sample("", size)
            self._texts[size] = {c: list(parts_of(self.frame[c][rows])) for c in long}
        return self._texts[size]

    def classes(self, column: str) -> Ints:
        """The records in classes of equal or neighbouring values of a column."""
        if column not in self._classes:
            self._classes[column] = classes_of(self.clues[column])
        return self._classes[column]

    def draws(self) -> np.random.Generator:
        """Random numbers that follow from all values: who makes the file cannot choose who is sampled."""
        return np.random.default_rng(content_key(self.protected))

    def _drawn(self, column: str, size: int) -> Ints:
        rng = self.draws()
        if not column:
            return np.sort(rng.choice(self.height, size, replace=False))
        clue = self.clues[column]
        large = np.bincount(clue.codes, minlength=clue.size)[clue.codes] > BLOCK // 5
        some = np.flatnonzero(large & (rng.random(self.height) < size / self.height))
        rest = np.flatnonzero(~large)
        order = sorted_by(clue.codes, clue.size, rest)
        ordered = clue.codes[order]
        blocks = -(-len(order) // BLOCK)
        taken = np.sort(rng.permutation(blocks)[: round(blocks * size / self.height)]) * BLOCK
        first = np.searchsorted(ordered, ordered[taken])
        last = np.searchsorted(ordered, ordered[np.minimum(taken + BLOCK, len(order) - 1)])
        last[taken + BLOCK >= len(order)] = len(order)
        return np.concatenate([some, *(order[a:b] for a, b in zip(first, last, strict=True))])


def classes_of(clue: Clue) -> Ints:
    """Numbers below CLASSES: of few values each its own, else of bins in their order; missing is one, too."""
    if clue.size < CLASSES:
        return clue.codes.astype(np.uint8)
    codes, size = clue.codes, clue.size
    if size > 2 * len(codes):
        codes = np.unique(codes, return_inverse=True)[1]
        size = int(codes.max(initial=0)) + 1
    missing = np.isnan(clue.place)
    counts = np.bincount(codes[~missing], minlength=size)
    below = np.cumsum(counts) - counts
    bins = below * BINS // max(1, int(counts.sum()))
    return np.where(missing, BINS, bins[codes]).astype(np.uint8)


def released_columns(original: Microdata, protected: Microdata) -> Released:
    """All that an intruder sees: every column but direct identifiers, and the order of the rows.

    Ids that are still the original's are a finding of their own; new ones may be made of what was hidden.
    """
    rows = _rows(original, protected)
    left_out = {*original.roles.direct}
    number, schema = original.roles.id, protected.frame.schema
    if (
        number is not None
        and number in schema
        and not differs(original.frame[number], protected.frame[number][rows]).any()
    ):
        left_out.add(number)
    seen = [c for c, kind in schema.items() if c not in left_out and is_sortable(kind)]
    frame = protected.frame.select(seen)
    if not np.array_equal(rows, np.arange(frame.height)):
        frame = frame[rows]
    makers: dict[str, Callable[[], Clue]] = {c: partial(clue_of, frame[c]) for c in seen}
    home = original.roles.household
    if home in makers:  # a size that was coarsened can be counted
        makers[members_of(home)] = lambda: _members_counted(frame[home])
    for c in seen:
        if is_partly_rounded(frame[c]):
            makers.setdefault(rounding_of_column(c), partial(rounding_of, frame[c]))
    makers[order_among(makers)] = lambda: Clue(rows, len(rows), rows.astype(np.float64))
    return Released(protected, frame, Clues(makers))


def order_among(columns: Collection[str]) -> str:
    """What the order of the rows is called beside these columns."""
    return ORDER if ORDER not in columns else f"{ORDER} (of the file)"


def members_of(home: str) -> str:
    """What the number of records in a household is called."""
    return f"number of records with the same {home}"


def rounding_of_column(name: str) -> str:
    """What the last digits of a number are called, where only some of its values are rounded."""
    return f"how {name} is rounded"


def _members_counted(home: pl.Series) -> Clue:
    """How many records have the same household."""
    codes = clue_of(home).codes
    return clue_of(pl.Series(np.bincount(codes)[codes]))


def _rows(original: Microdata, protected: Microdata) -> Ints:
    """For each record of the original, its row in the protected file."""
    if original is protected:
        return np.arange(original.height)
    numbered = [
        data.with_frame(data.frame.with_columns(pl.int_range(data.height, dtype=pl.Int64).alias(_ROW)))
        for data in (original, protected)
    ]
    both = frames.gather(match_records(numbered[0], numbered[1], [_ROW]))
    return both[_ROW + PROTECTED].to_numpy()


def hidden_variables(
    original: Microdata, released: Released, protected: Microdata, within: float
) -> tuple[list[Hidden], dict[str, int]]:
    """The variables that were changed in enough records, and in how many records others were changed.

    Ids and direct identifiers are not for guessing; weights belong to the sample, not to the person. A
    stratum that preparation combined of other columns and that is dropped again holds nothing but what these
    hold, which are asked for themselves; so do classes of a key, such as of the age.
    """
    roles = original.roles
    left_out = {roles.id, roles.weight, *roles.direct}
    found: list[Hidden] = []
    few: dict[str, int] = {}
    there = set(protected.columns)
    left_out |= {c for c in _combined(original, left_out) if c not in there}
    left_out |= _classes_of_keys(original, there)
    for truth in original.frame.iter_columns():
        name = truth.name
        if name in left_out or not is_sortable(truth.dtype) or (name in there and name not in released.clues):
            continue
        told = released.frame[name] if name in released.clues else None
        if told is not None and told.dtype == truth.dtype and told.equals(truth):
            continue  # quickly told, and so of most columns of a wide file
        present = truth.is_not_null()
        changed = present if told is None else present & differs(truth, told)
        if 0 < changed.sum() < ENOUGH:
            few[name] = int(changed.sum())
        elif changed.any():
            found.append(_hidden(original, truth, told, released, changed, within))
    return found, few


def _combined(original: Microdata, not_asked: Collection[str | None]) -> list[str]:
    """Columns that preparation made of others, where these tell them still and are asked for themselves."""
    made = {c: p for entry in original.prepared for c, p in entry.figures.get("made_from", {}).items()}
    found = []
    for column, named in made.items():
        parts = [p for p in named if p in original.columns]
        if column in original.columns and len(parts) == len(named) and not set(parts) & set(not_asked):
            both = original.frame.select(*parts, column)
            if both.n_unique() == both.n_unique(parts):
                found.append(column)
    return found


def _classes_of_keys(original: Microdata, there: Collection[str]) -> set[str]:
    """Dropped columns, none of them sensitive, whose value follows from a released key in a large file."""
    frame, sensitive = original.frame, original.roles.sensitive
    sizes = {k: frame[k].n_unique() for k in original.roles.keys if k in there}
    keys = {k: size for k, size in sizes.items() if size * MANY <= original.height}
    dropped = [
        c for c in frame.columns if c not in there and c not in sensitive and is_sortable(frame.schema[c])
    ]
    return {c for c in dropped if any(frame.select(k, c).n_unique() == size for k, size in keys.items())}


def differs(first: pl.Series, second: pl.Series) -> pl.Series:
    """Where two columns differ, missing being a value; 1 and 1.0 are the same."""
    if first.dtype != second.dtype:
        if first.dtype.is_numeric() and second.dtype.is_numeric():
            first, second = first.cast(pl.Float64), second.cast(pl.Float64)
        else:
            first, second = texts(first), texts(second)
    return first.ne_missing(second)


def _hidden(
    original: Microdata,
    column: pl.Series,
    told: pl.Series | None,
    seen: Released,
    changed: pl.Series,
    within: float,
) -> Hidden:
    rows = np.flatnonzero(column.is_not_null().to_numpy())
    present = column.drop_nulls()
    truth = _truth(original, present, within)
    guess = np.full(len(rows), np.nan)
    if told is not None and truth.values is not None:
        plain = plain_values(told)
        if plain.dtype.is_numeric() and told.dtype.is_temporal() == column.dtype.is_temporal():
            guess = plain.cast(pl.Float64).fill_null(np.nan).to_numpy()[rows]
    clue = seen.clues.get(column.name)
    released = None if clue is None else clue.take(rows)
    hidden = Hidden(column.name, rows, present, truth, changed.to_numpy()[rows], released, guess)
    household = original.roles.household
    if household is None or household == column.name:
        return hidden
    home = clue_of(original.frame[household]).take(rows).codes
    if not members_share(truth.codes, home):
        return hidden
    votes = np.full(len(rows), -1) if told is None else _votes(present, truth.codes, told[rows])
    return replace(hidden, member=_members(home, seen.draws()), votes=votes)


def members_share(codes: Ints, home: Ints) -> bool:
    """Whether members of a household mostly have the same value, though others have not."""
    order = np.argsort(home, kind="stable")
    fellows = home[order][1:] == home[order][:-1]
    alike = codes[order][1:] == codes[order][:-1]
    if not fellows.any():
        return False
    by_chance = float((np.bincount(codes) ** 2).sum()) / len(codes) ** 2
    return float(alike[fellows].mean()) > (1 + by_chance) / 2


def _members(home: Ints, draws: np.random.Generator) -> Clue:
    """A number for each member of a household, 0, 1, …, in random order.

    Members with the same number live in different households, so that they do not tell each other what they
    share: who does not know one member's region does not know the other's.
    """
    order = np.lexsort((draws.random(len(home)), home))
    ordered = home[order]
    number = np.empty(len(home), dtype=np.int64)
    number[order] = np.arange(len(home)) - np.searchsorted(ordered, ordered)
    return Clue(number, int(number.max(initial=0)) + 1, np.full(len(home), np.nan))


def _votes(truth: pl.Series, codes: Ints, told: pl.Series) -> Ints:
    """Released values as the codes that the same true values have; −1 for missing and for new values."""
    known = pl.DataFrame({"text": texts(truth), "code": codes}).unique("text")
    found = pl.DataFrame({"text": texts(told)}).join(known, on="text", how="left", maintain_order="left")
    return found["code"].fill_null(-1).to_numpy()


def _truth(original: Microdata, column: pl.Series, within: float) -> Truth:
    """True values; of a number with what counts as told: the value itself, or within a part of it.

    A part of a value says little for numbers far from 0, as years, so the slack is at most that part of the
    range in which nine of ten records lie; of dates, which have no 0, it is just that.
    """
    clue = clue_of(column)
    number = column.name in original.roles.numeric or is_continuous(column, original)
    if not (number or column.dtype.is_temporal()):
        return Truth(clue.codes, clue.size)
    values = clue.place
    unit, low = _unit(values)
    exact = np.full(len(values), unit / 4) if unit else EXACT * np.abs(values)
    usual = float(np.subtract(*np.quantile(values, SPREAD[::-1])))
    near = np.full(len(values), within * usual)
    if number:
        near = np.minimum(within * np.abs(values), near) if usual > 0 else within * np.abs(values)
    repeats = 2 * clue.size <= len(values)
    return Truth(clue.codes, clue.size, values, (exact, np.maximum(exact, near)), unit, low, repeats)


def _unit(values: Floats) -> tuple[float, float]:
    """Of whole numbers, the step between them and the smallest; 0 for decimal numbers."""
    if not len(values) or np.abs(values).max() >= 2.0**53 or not np.array_equal(values, np.round(values)):
        return 0.0, 0.0
    low = float(values.min())
    return float(np.gcd.reduce((values - low).astype(np.int64))) or 1.0, low
