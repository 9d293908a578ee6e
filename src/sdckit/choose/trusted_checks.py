"""What a verdict takes on trust: columns that, by their role, no intruder is taken to know."""

from collections.abc import Iterator, Sequence
from math import inf, isnan
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.messages import join_names
from sdckit._support.number_text import percent
from sdckit.choose.criteria import Criterion, Status
from sdckit.choose.describe import is_commonly_known
from sdckit.choose.following_columns import columns_that_follow
from sdckit.choose.place import INTRUDERS, Place, at
from sdckit.choose.release_case import ReleaseCase
from sdckit.choose.release_facts import LARGEST_HOUSEHOLD, names_records
from sdckit.data.effects import merged
from sdckit.data.intruder import WITHIN, Intruder, Unit, default_intruders, intruders_of, known_numbers
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import source_rows
from sdckit.data.roles import Role
from sdckit.engine import frames
from sdckit.engine.tables import OURS
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind

if TYPE_CHECKING:
    from sdckit.choose.assessment import Assessment

FEW = 120  # different values: ages, years of birth, counts and classes have no more


class TrustedChecks(ReleaseCase):
    """Whether persons are found who are safe only as long as a column is what its role says."""

    def criteria(self) -> Iterator[Criterion]:
        """The weight, which is shown to everybody, and sensitive columns that are called like known ones."""
        yield from self._weight()
        yield from self._sensitive()
        yield from self._one_value()
        yield from self._following()
        yield from self._numbers_of_households()

    def _weight(self) -> Iterator[Criterion]:
        """Nobody knows a weight of a person only if it really is a weight."""
        name = self.original.roles.weight
        if name is None or name not in self.data.columns or name in self.accepted.columns:
            return
        kind, lessen = "a weight that tells persons apart", "round_values"
        if names_records(self.data, name):
            why = f"{name}: exact weights that nearly name every record are released."
            why += " They are the same in every file of these persons."
            yield self._asked(kind, [name], lessen, why)
        elif self._like_something_known(name):
            why = (
                f"{name} has the role weight, so that nobody is taken to know it. But its values are such as"
            )
            yield from self._if_found(kind, [name], lessen, f"{why} ages, counts or classes have")

    def _sensitive(self) -> Iterator[Criterion]:
        """Age and region stay known to the neighbours when they are called sensitive."""
        asked = _trusted_columns(self.x)
        labels = self.original.labels.variables
        names = [
            c
            for c in self.original.roles.sensitive
            if c in asked and c in self.data.columns and c not in self.accepted.columns
            if is_commonly_known(c, labels.get(c, ""))
        ]
        if names:
            role = f"{join_names(names)}: by the role sensitive alone nobody is taken to know"
            role += " them" if len(names) > 1 else " it"
            kind = "sensitive columns that others may know"
            yield from self._if_found(kind, names, "recode", f"{role}. But by the name others may")

    def _following(self) -> Iterator[Criterion]:
        """Nobody knows the answers of others, but who was asked follows from the hidden age or income."""
        limit = self._ceiling()
        if limit is None or not self.in_memory:
            return
        follow = columns_that_follow(self.original, self.data)
        follow = {c: classes for c, classes in follow.items() if c not in self.accepted.columns}
        keys = [key for key in self.original.roles.keys if key in self.data.columns]
        if not follow:
            return
        told = pl.DataFrame({f"{OURS}{i}": classes for i, classes in enumerate(follow.values())})
        cells, n = self.data.frame.select(keys).hstack(told), max(self.data.height, 1)
        found, without = cells.n_unique() / n, (cells.select(keys).n_unique() if keys else 1) / n
        beside = self._found_beside_numbers(told)
        if (found > limit and found > without) or beside > limit:
            names, found = list(follow), max(found, beside)
            why = (
                f"{join_names(names, 4)}: their values, or whether they are missing, tell what follows from "
                f"keys or numbers that were hidden. Who knows these finds up to {100 * found:.3g} % of the "
                f"persons by them; accepted are {100 * limit:.3g} %."
            )
            yield self._asked("columns that follow from hidden keys", names, "recode", why, found, limit)

    def _found_beside_numbers(self, told: pl.DataFrame) -> float:
        """The share of persons found by keys, numbers known exactly, and classes that follow from these."""
        rows = source_rows(self.original, self.data)
        numbers = [c for c in known_numbers(self.original) if c in self.data.columns]
        if rows is None or not numbers:
            return 0.0
        persons = pl.DataFrame({OURS: np.arange(self.original.height)})
        of_persons = persons.join(told.with_columns(pl.Series(OURS, rows)), on=OURS, how="left")
        first = self.original.with_frame(self.original.frame.hstack(of_persons.sort(OURS).drop(OURS)))
        second = self.data.with_frame(self.data.frame.hstack(told))
        knows = [*self.original.roles.keys, *told.columns]
        one = Intruder("who knows what follows", knows, dict.fromkeys(numbers, 0.0))
        found = find("reidentification_risk", Kind.RISK).call(first, second, intruders=[one])
        return 0.0 if isnan(found.value) else float(found.value)

    def _numbers_of_households(self) -> Iterator[Criterion]:
        """Numbers that hide each person may show whose household it is, where those of all are known."""
        home, kinds = self.original.roles.household, frames.schema(self.data.frame)
        numbers = [c for c in known_numbers(self.original) if c in kinds and kinds[c].is_numeric()]
        if home is None or not numbers:
            return
        asked = [one for one in intruders_asked(self.x) if one.unit is Unit.HOUSEHOLD]
        keys = [key for key in self.original.roles.keys if key in kinds]
        knows, roughly = (
            Intruder("relative", keys, dict.fromkeys(numbers, error), unit=Unit.HOUSEHOLD)
            for error in (0.0, WITHIN)
        )
        if any(_knows_as_much(one, roughly, self.original) for one in asked):
            return
        limit = self._ceiling(Unit.HOUSEHOLD)
        if limit is None or not self._shows_households(home):
            return
        found = find("reidentification_risk", Kind.RISK).call(self.original, self.data, intruders=[knows])
        claims = found.figures["claims_right"]
        if found.value <= limit and claims <= self.accepted.claims:
            return
        why = (
            f"Who knows {join_names(numbers, 4)} of all members of a household finds "
            f"{100 * found.value:.3g} % of the households ({100 * limit:.3g} % are accepted), and is sure "
            f"and right for {claims:,.0f} of them; no intruder was said to know that."
        )
        mends = (
            f"Drop {home} and shuffle the rows, protect the numbers more strongly, or add an intruder who "
            "looks for households by their numbers, and say what is accepted of him."
        )
        places = at(Place.step("drop", [home]), Place.step("microaggregate", numbers), INTRUDERS)
        name = "numbers of whole households"
        yield Criterion(name, Status.NOT_JUDGED, why, found.value, limit, mends, share=True, places=places)

    def _shows_households(self, home: str) -> bool:
        """Whether the file shows who lives together."""
        from sdckit.risk._household_attack import household_numbers, visible_households  # loaded late
        from sdckit.risk._known_values import LinkedFiles

        files = LinkedFiles.of(self.original, self.data) if self.in_memory else None
        return files is not None and visible_households(files, home, household_numbers(files, home))

    def _one_value(self) -> Iterator[Criterion]:
        """Whoever is known to be in the file has the one value that all have: nothing need be inferred."""
        there = [c for c in self.original.roles.sensitive if c in self.data.columns]
        asked = [c for c in there if c not in self.accepted.columns]
        counts = frames.different_values(self.data.frame, asked) if asked else {}
        alike = [c for c, different in counts.items() if different == 1 and not self._all_missing(c)]
        if alike:
            why = (
                f"{join_names(alike)}: all records have the same value, so that whoever is known to be in "
                "the file has it."
            )
            mends = f"Drop {join_names(alike)}, or accept that they are released after looking at them."
            places = at(Place.step("drop", alike), Place.accept("columns", alike))
            name = "sensitive columns of one value"
            yield Criterion(name, Status.NOT_JUDGED, why, len(alike), 0, mends, places=places)

    def _all_missing(self, column: str) -> bool:
        """Whether no record has a value."""
        known = self.data.table.select((~nw.col(column).is_null()).cast(nw.Int64).sum())
        return not int(frames.gather(known)[column][0] or 0)

    def _if_found(self, kind: str, names: list[str], lessen: str, why: str) -> Iterator[Criterion]:
        """A criterion where who knows these columns finds more persons than is accepted."""
        limit = self._ceiling()
        if limit is None:
            return
        found = self._found_by(names, limit)
        if isnan(found):
            yield self._asked(kind, names, lessen, f"{why}: how many are found by it could not be measured.")
        elif found > limit:
            why += f": who does finds {100 * found:.3g} % of the persons; accepted are {100 * limit:.3g} %."
            yield self._asked(kind, names, lessen, why, found, limit)

    def _asked(
        self,
        kind: str,
        names: list[str],
        lessen: str,
        why: str,
        value: float | None = None,
        limit: float | None = None,
    ) -> Criterion:
        called = join_names(names)
        mends = (
            f"Give {called} the role keys if anybody can know it; else protect it by "
            f"“{find(lessen, Kind.PROTECTION).title}”, or the keys beside it more strongly, drop it, "
            "or accept it after looking at it."
        )
        keys = [Place.step("suppress")] if self.original.roles.keys else []
        places = at(Place.step(lessen, names), *keys, Place.step("drop", names))
        places = at(*places, Place.role(Role.KEYS, names), Place.accept("columns", names))
        share = value is not None
        return Criterion(kind, Status.NOT_JUDGED, why, value, limit, mends, share=share, places=places)

    def _like_something_known(self, name: str) -> bool:
        """Whether the original has few different values, or few whole numbers round which all lie.

        Values that few records share are asked about as those of households are.
        """
        if self.original.engine == "polars":
            few = self.original.column_fact("fewest values", name, _fewest_values)
        else:
            exact, whole = nw.col(name).n_unique(), nw.col(name).round(0).n_unique()
            counts = self.original.table.select(exact.alias("exact"), whole.alias("whole"))
            few = int(min(frames.gather(counts).row(0)))
        return 1 < few <= min(FEW, self.original.height / LARGEST_HOUSEHOLD)

    def _found_by(self, names: list[str], limit: float) -> float:
        """The share of persons found by who knows the keys and these columns, and who is in the file.

        Of persons of whom he knows the same, no intruder finds more than one: so many as there are different
        ones are the most, and are just those found where nothing was changed.
        """
        keys = [key for key in self.original.roles.keys if key in self.data.columns]
        known = [*keys, *names]
        if self.in_memory:
            first, second = (data.frame.select(known) for data in (self.original, self.data))
            at_most = first.select(pl.struct(known).n_unique()).item() / max(first.height, 1)
            if at_most <= limit or first.equals(second):
                return float(at_most)
        knows = Intruder(f"who knows {join_names(names)}", known)
        attack = find("reidentification_risk", Kind.RISK)
        return float(attack.call(self.original, self.data, intruders=[knows]).value)

    def _ceiling(self, unit: Unit = Unit.PERSON) -> float | None:
        """The risk that is accepted of somebody who knows all keys of a unit, and that it is in the file.

        What is accepted of an intruder who knows less says nothing of who knows a further column. Where
        nobody is said to know all that, it is what is accepted of all, or else the least of anybody.
        """
        keys, asked = {*self.original.roles.keys} & {*self.data.columns}, intruders_asked(self.x)
        inside = [one for one in asked if one.in_file and one.unit is unit]
        inside = [one for one in inside if keys <= _known_of(one, self.x)]
        if not inside and self.x.max_risk is not None:
            return self.x.max_risk
        limits = [one.max_risk if one.max_risk is not None else self.x.max_risk for one in inside or asked]
        return min((limit for limit in limits if limit is not None), default=None)


def _fewest_values(column: pl.Series) -> int:
    """How many different values there are, as they are or rounded to whole numbers."""
    return min(column.n_unique(), column.round(0).n_unique())


def intruders_asked(x: "Assessment") -> tuple[Intruder, ...]:
    """The intruders whose attacks were measured."""
    result = x.after.get("reidentification_risk")
    if result is None:
        return ()
    given = result.options.get("intruders")
    if not given:
        return default_intruders(x.original.roles)
    return intruders_of({name: content for one in given for name, content in dict(one).items()})


def judged_by_weights_alone(x: "Assessment") -> list[str]:
    """Intruders who do not know who is in the file, where nobody who does knows as much.

    What was said of the population must not be all that protects persons: another who says the same,
    in `accept`, does not know more.
    """
    asked = intruders_asked(x)
    inside = [one for one in asked if one.in_file]
    return [
        one.name
        for one in asked
        if not one.in_file and not any(_knows_as_much(other, one, x.original) for other in inside)
    ]


def _knows_as_much(one: Intruder, other: Intruder, data: Microdata) -> bool:
    """Whether one knows all columns that another knows, each as exactly, of the same or more persons."""
    (keys, numbers), wanted = one.known(data), other.known(data)
    exactly = {**dict.fromkeys(keys, 0.0), **numbers}
    asked = {**dict.fromkeys(wanted.keys, 0.0), **wanted.numbers}
    same = one.unit is other.unit or one.unit is Unit.HOUSEHOLD
    return same and all(exactly.get(column, inf) <= error for column, error in asked.items())


def trusted(x: "Assessment") -> str:
    """What the verdict takes on trust, in a sentence: that some columns are known to nobody, and other files.

    Each of two files may be safe while both together are not, and only this one was looked at. Twelve months
    of one person look like twelve persons where no id tells them apart.
    """
    names = _trusted_columns(x)
    said = [f"nobody knows a person's {_either(names)}"] if names else []
    for error, numbers in _known_roughly(x).items():
        said.append(f"nobody knows a person's {_either(numbers)} more exactly than to {percent(error)}")
    if x.same_people and x.original.roles.weight is not None and judged_by_weights_alone(x):
        said.append("nobody knows who is in the file")
    if x.same_people and x.original.roles.id is None:
        said.append("no two records are of one person")
    if _said_to_be_new(x):
        said.append("every record was drawn anew, as was said")
    said.append("no other file of the same people is released")
    return f"Trusted: {', and '.join(filter(None, (', '.join(said[:-1]), said[-1])))}."


def _either(names: Sequence[str]) -> str:
    """One of these names; cut when there are many."""
    return (
        " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        if len(names) < 5
        else join_names(names, 4)
    )


def _said_to_be_new(x: "Assessment") -> bool:
    """Whether only the caller says that no record is made from one person, and no log of a step does."""
    result = x.after.get("reidentification_risk")
    if result is None or result.options.get("linked") is not False:
        return False
    steps = (merged(entry.effects for entry in data.steps_since(x.original)) for data in x.protected)
    return not all(effects.new_records for effects in steps)


def _trusted_columns(x: "Assessment") -> list[str]:
    """Released columns that are safe because no intruder is taken to know them, and all keys with them."""
    roles, there = x.original.roles, {c for data in x.protected for c in data.columns}
    named = [c for c in (*roles.sensitive, roles.weight) if c in there and c is not None]
    known = [_known_of(one, x) for one in intruders_asked(x)]
    unknown = [[c for c in named if c not in k] for k in known if {*roles.keys} & there <= k]
    return min([named, *unknown], key=len)


def _known_roughly(x: "Assessment") -> dict[float, list[str]]:
    """Released numbers that no intruder knows exactly, by the smallest error with which one does.

    Noise that hides a number from who knows it to within a tenth need not hide it from who has it exactly.
    """
    asked = intruders_asked(x)
    kinds = [frames.schema(data.frame) for data in x.protected]
    found: dict[float, list[str]] = {}
    for column in known_numbers(x.original):
        known = [one.known(x.original) for one in asked]
        errors = [0.0 if column in k.keys else k.numbers.get(column, inf) for k in known]
        released = any(column in kind and kind[column].is_numeric() for kind in kinds)
        if released and 0 < (least := min(errors, default=inf)) < inf:
            found.setdefault(least, []).append(column)
    return found


def _known_of(one: Intruder, x: "Assessment") -> set[str]:
    """The columns that an intruder knows well enough to find somebody by them."""
    keys, numbers = one.known(x.original)
    return {*keys, *(column for column, error in numbers.items() if error <= WITHIN)}
