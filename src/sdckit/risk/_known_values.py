"""What an intruder knows of each person beside what the file shows: both files in common codes."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit.data.content_key import content_key
from sdckit.data.intruder import Intruder
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import source_rows
from sdckit.data.text_codes import TextCodes, common_codes, text_codes
from sdckit.data.written_numbers import written_numbers, written_out
from sdckit.kernels.hashing import distinct_rows
from sdckit.methods.recoding import in_categories_of
from sdckit.models.category_channel import CategoryChannel
from sdckit.models.key_pairs import KeyPairs
from sdckit.models.number_column import NumberColumn, number_columns
from sdckit.models.number_intruder import draw_for, first_drawn

T = TypeVar("T")
KEPT = 8  # keys, counts and attacks of the last intruders
FEW = 10  # values of a key up to which they are taken for codes, not for numbers
SURE = 5.0  # standard errors beyond chance
HUGE = 1e100  # squares of numbers near the largest overflow: such columns are brought to at most 1


@dataclass(frozen=True, eq=False)
class LinkedFiles:
    """An original and a protected file whose records are known to be made from the original's persons."""

    original: Microdata
    protected: Microdata
    own: Ints  # for each person the row of their record, −1 where it was left out

    @classmethod
    def of(cls, original: Microdata, protected: Microdata) -> "LinkedFiles | None":
        """The linked files; None where nothing tells which record is whose.

        The last pair is kept with the original, as several measures ask for it one after the other.
        """
        kept: LinkedFiles | None = original.cache.get("linked files")
        if kept is not None and kept.original is original and kept.protected is protected:
            return kept
        rows = source_rows(original, protected)
        if rows is None:
            return None
        own = np.full(original.height, -1, dtype=np.int64)
        own[rows] = np.arange(len(rows))
        files = original.cache["linked files"] = cls(original, protected, own)
        return files

    @cached_property
    def in_place(self) -> bool:
        """Whether every person's record stands in the person's row."""
        return len(self.own) == self.protected.height and bool((self.own == np.arange(len(self.own))).all())

    @cached_property
    def _made(self) -> OrderedDict[Hashable, Any]:
        return OrderedDict()

    def made(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, kept for the next intruder or measure; only the last few, as each is large."""
        if key not in self._made:
            self._made[key] = make()
            while len(self._made) > KEPT:
                self._made.popitem(last=False)
        found: T = self._made[key]
        return found

    @cached_property
    def found(self) -> dict[Hashable, Any]:
        """What intruders find, where few persons are attacked: two measures and every column ask for it."""
        return {}

    @cached_property
    def weights(self) -> Floats | None:
        """The survey weights of the released records, from the original; None without a weight role.

        Where records were left out the others stand for their people, too; a record that is nobody's, in a
        file of new records, stands for as many as a record does on average. Released weights are not used:
        a protection may have changed them, and the population stays what it is.
        """
        if self.original.roles.weight is None:
            return None
        kept, of_persons = self.own >= 0, self.original.weights()
        usual = of_persons.mean()  # of records that are nobody's
        weights = np.full(self.protected.height, usual)
        total = of_persons[kept].sum() + usual * (self.protected.height - int(kept.sum()))
        weights[self.own[kept]] = of_persons[kept]
        weights *= of_persons.sum() / total
        return weights

    @cached_property
    def _draw(self) -> Floats:
        return draw_for(self.identity, self.draws())

    def draws(self) -> np.random.Generator:
        """Random numbers that follow from all values: who makes the file cannot choose who is attacked."""
        return np.random.default_rng(self._key)

    @cached_property
    def _key(self) -> list[int]:
        return content_key(self.original, self.protected)

    def draw(self, size: int) -> Ints:
        """The rows of a random sample of persons, the same persons in every order of the rows."""
        n = self.original.height
        if size >= n:
            return np.arange(n)
        return self.made(("draw", size), lambda: first_drawn(self.identity, self._draw, size))

    @cached_property
    def identity(self) -> Ints:
        """A whole number for each person that does not depend on the order of the rows."""
        hashes = self.original.ids().hash(seed=1).to_numpy()
        return np.asarray(hashes >> np.uint64(1), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class KnownKeys:
    """Keys that an intruder knows, in codes that both files share; −1 is missing or suppressed."""

    names: tuple[str, ...]
    true: Ints  # [persons, keys]
    released: Ints  # [records, keys]
    sizes: tuple[int, ...]
    images: tuple[Ints | None, ...]  # where the log says so, the released category of each true value

    @classmethod
    def of(cls, files: LinkedFiles, names: Sequence[str]) -> "KnownKeys":
        """The codes of these columns."""
        shown = tuple(c for c in names if c in files.protected.columns)
        return files.made((cls, shown), lambda: cls._of_columns(files, shown))

    @classmethod
    def _of_columns(cls, files: LinkedFiles, shown: tuple[str, ...]) -> "KnownKeys":
        alike, recoded = in_categories_of(files.protected, files.original, shown)
        columns = []
        for c in shown:
            true, released = (
                data.column_fact("codes", c, text_codes) for data in (files.original, files.protected)
            )
            columns.append(_coded(true, released, text_codes(alike.frame[c]) if c in recoded else true))
        n, m = files.original.height, files.protected.height
        x, y = np.empty((n, 0), dtype=np.int64), np.empty((m, 0), dtype=np.int64)  # only numbers are known
        if columns:
            x = np.column_stack([c[0] for c in columns])
            same = n == m and all(c[0] is c[1] for c in columns)
            y = x if same else np.column_stack([c[1] for c in columns])
        return cls(shown, x, y, tuple(c[2] for c in columns), tuple(c[3] for c in columns))

    def only(self, names: Sequence[str]) -> "KnownKeys":
        """Some of the keys."""
        at = [self.names.index(c) for c in names]
        return KnownKeys(
            tuple(names),
            self.true[:, at],
            self.released[:, at],
            tuple(self.sizes[i] for i in at),
            tuple(self.images[i] for i in at),
        )


@dataclass(frozen=True, eq=False)
class CountedPairs:
    """Persons with the same true and released keys, counted once; `cell` is the pair of each person."""

    pairs: KeyPairs
    cell: Ints
    channels: tuple[CategoryChannel, ...]

    @classmethod
    def of(cls, files: LinkedFiles, keys: KnownKeys, extra: Ints | None = None) -> "CountedPairs":
        """The counts; `extra` codes of persons (a sensitive value) keep pairs apart."""
        if extra is None:
            return files.made((cls, keys), lambda: cls._counted(files, keys, []))
        return cls._counted(files, keys, [extra])

    @classmethod
    def _counted(cls, files: LinkedFiles, keys: KnownKeys, extra: list[Ints]) -> "CountedPairs":
        present = files.own >= 0
        x, y = keys.true, keys.released
        if not files.in_place:
            y = np.full(x.shape, -1, dtype=np.int64)
            y[present] = keys.released[files.own[present]]
        shown = list(range(x.shape[1]))[::-1]
        changed = [] if x is y else [v for v in shown if not np.array_equal(x[:, v], y[:, v])]
        columns = [*extra, present.astype(np.int64), *y.T[shown], *x.T[changed]]
        first, cell = distinct_rows(columns)
        count = np.bincount(cell).astype(np.float64)
        weights = None
        if files.weights is not None:
            of_persons = np.where(present, files.weights[np.maximum(files.own, 0)], 0.0)
            weights = np.bincount(cell, of_persons).astype(np.float64)
        pairs = KeyPairs(x[first], y[first], keys.sizes, count, weights, present[first])
        return cls(pairs, cell, pairs.channels(keys.images))


class Numbers(NamedTuple):
    """Numbers that both files have as numbers; dates are numbers of days."""

    names: tuple[str, ...]
    true: tuple[NumberColumn, ...]
    released: tuple[NumberColumn, ...]
    errors: Floats  # the relative error with which each is known

    def moved(self, files: LinkedFiles) -> bool:
        """Whether any number is another one than before; else nothing tells more than the numbers do."""
        same = all(before is after for before, after in zip(self.true, self.released, strict=True))
        return not (same and files.in_place)


def numbers_of(files: LinkedFiles, numbers: Mapping[str, float]) -> Numbers:
    """The numbers that an intruder knows; their values are sorted once for all intruders."""
    names = tuple(c for c in numbers if _numbers_in_both(files, c))
    true, released = files.made((numbers_of, names), lambda: _columns_of(files, names))
    return Numbers(names, true, released, np.array([numbers[c] for c in names]))


def _columns_of(
    files: LinkedFiles, names: Sequence[str]
) -> tuple[tuple[NumberColumn, ...], tuple[NumberColumn, ...]]:
    """Each column of both files; the same one twice where nothing was changed."""
    same = files.original is files.protected
    pairs = []
    for name in names:
        x = _written(files.original, name)[1]
        y = x if same else _written(files.protected, name)[1]
        largest = max(float(np.fmax.reduce(np.abs(values), initial=0.0)) for values in (x, y))
        if largest > HUGE:
            scale = 2.0 ** min(int(np.frexp(largest)[1]), 1023)
            x, y = x / scale, y / scale
        true = number_columns(x[:, None])[0]
        shown = true if y is x or np.array_equal(x, y, equal_nan=True) else number_columns(y[:, None])[0]
        pairs.append((true, shown))
    return tuple(true for true, _ in pairs), tuple(shown for _, shown in pairs)


def known_columns(intruder: Intruder, files: LinkedFiles) -> tuple[tuple[str, ...], dict[str, float]]:
    """What an intruder knows: keys, among them numbers that are released as categories, and numbers."""
    known = intruder.known(files.original)
    numbers = {c: e for c, e in known.numbers.items() if _numbers_in_both(files, c)}
    there = set(files.protected.columns)
    as_keys = [c for c in known.numbers if c in there and c not in numbers]
    return (*known.keys, *as_keys), numbers


def changed_like_numbers(files: LinkedFiles, keys: KnownKeys, counted: CountedPairs) -> list[str]:
    """Keys that are numbers or dates in both files, as ages, and were moved: nearness then tells more.

    How they are written does not matter: "34 years" and "1990-05-03" are a number and a date.
    """
    frames = files.original.frame, files.protected.frame
    return [
        name
        for name, channel in zip(keys.names, counted.channels, strict=True)
        if (not channel.learnable or (channel.moves and max(f[name].n_unique() for f in frames) > FEW))
        and _numbers_in_both(files, name)
    ]


def moved_nearby(files: LinkedFiles, name: str) -> bool:
    """Whether numbers that moved are still near what they were: of several together that tells a lot."""
    if not _numbers_in_both(files, name):
        return False
    linked = np.flatnonzero(files.own >= 0)
    x = _written(files.original, name)[1][linked]
    y = _written(files.protected, name)[1][files.own[linked]]
    moved = np.isfinite(x) & np.isfinite(y) & (x != y)
    ranks = [pl.Series(values[moved]).rank().to_numpy() for values in (x, y)]
    if moved.sum() < 3 or not all(np.ptp(rank) for rank in ranks):
        return False
    return bool(abs(np.corrcoef(ranks[0], ranks[1])[0, 1]) * np.sqrt(moved.sum()) > SURE)


def _numbers_in_both(files: LinkedFiles, name: str) -> bool:
    """Whether a column of both files holds numbers, dates, or categories in the same order.

    Numbers that became texts are classes of some kind, and numbers in their names do not stand for them.
    """
    if name not in files.protected.columns:
        return False
    if written_out(files.original.frame[name]) != written_out(files.protected.frame[name]):
        return False
    kinds = [_written(data, name)[0] for data in (files.original, files.protected)]
    return kinds[0] == kinds[1] != ""


def _written(data: Microdata, name: str) -> tuple[str, Floats]:
    """What a column measures, and its numbers; nothing where it holds none."""
    found: tuple[str, Floats] = data.column_fact("numbers", name, _numbers_or_nothing)
    return found


def _numbers_or_nothing(column: pl.Series) -> tuple[str, Floats]:
    return written_numbers(column) or ("", np.empty(0))


def coded(true: pl.Series, released: pl.Series, image: pl.Series) -> tuple[Ints, Ints, int, Ints | None]:
    """Codes of the true and the released values, how many values there are, and the map of the log.

    `image`: the true values in the released categories.
    """
    return _coded(*(text_codes(column) for column in (true, released, image)))


def _coded(true: TextCodes, released: TextCodes, image: TextCodes) -> tuple[Ints, Ints, int, Ints | None]:
    (x, y, mapped), size = common_codes(true, released, image)
    if x is mapped or np.array_equal(x, mapped):
        return x, y, size, None
    images = np.append(np.arange(size), size)
    images[np.where(x < 0, size, x)] = np.where(mapped < 0, size, mapped)
    return x, y, size, images
