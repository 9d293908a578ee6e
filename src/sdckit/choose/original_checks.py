"""Whether what a file is compared with has the true values: questions before it is released."""

from collections.abc import Iterator

from sdckit._support.messages import join_names
from sdckit.choose.criteria import Criterion, Status
from sdckit.choose.place import FILE, Place, at
from sdckit.choose.release_case import ReleaseCase
from sdckit.data.effects import merged
from sdckit.data.roles import Role
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind

RESTED_ON = {Role.WEIGHT, Role.HOUSEHOLD}  # what risks rest on even where it is not released


class OriginalChecks(ReleaseCase):
    """What was done to the original before anything was measured."""

    def protected_before(self) -> Iterator[Criterion]:
        """Whether what is called the original had been protected: true values are those before any step."""
        effects = merged(entry.effects for entry in self.original.log)
        changed = (effects.moves_values, effects.suppresses, effects.randomises, effects.synthesises)
        columns = dict.fromkeys(c for names in (*changed, tuple(effects.recodes)) for c in names)
        there = {c for c in self.data.columns if self.original.roles.of(c)}
        asked = [c for c in columns if c in there and c not in self.accepted.prepared]
        if asked:
            done = join_names(dict.fromkeys(entry.method or "a change" for entry in self.original.log))
            why = (
                f"What is called the original was protected itself ({done}): an intruder who knows the "
                f"values of {join_names(asked, 4)} before was not looked at."
            )
            mends = "Compare with the file as it was read, or accept that these had been changed."
            name, places = "the original as it was read", at(FILE, Place.accept("prepared", asked))
            yield Criterion(name, Status.NOT_JUDGED, why, len(asked), 0, mends, places=places)

    def put_in_later(self) -> Iterator[Criterion]:
        """Whether another table was put in after steps whose work nobody can see in a table."""
        place = self.data.reading.steps_before_table
        steps = self.data.steps_since(self.original)
        before = self.data.log[len(self.data.log) - len(steps) : place]
        done = [
            e.method for e in before if e.effects.new_records or e.effects.new_numbers or e.effects.privacy
        ]
        if place is None or not done:
            return
        names = join_names(dict.fromkeys(done))
        why = (
            f"Another table was put in by hand after {names}: whether its ids, or its records, are those "
            "that were drawn is not known."
        )
        mends = f"Make the change by a step, or before {names}."
        places = at(*(Place.step(method) for method in dict.fromkeys(done)), FILE)
        yield Criterion("a table put in by hand", Status.NOT_JUDGED, why, mends=mends, places=places)

    def preparation(self) -> Iterator[Criterion]:
        """What was done before anything was measured: everything here is about the prepared file."""
        steps = self.original.prepared
        if not steps:
            return
        name = "preparation of the original"
        done = join_names(dict.fromkeys(f"“{find(step.method, Kind.PREPARATION).title}”" for step in steps))
        about = f"All this is about the file after preparation ({done}), not about the file that was read."
        changed = self._changed_before()
        asked = [column for column in changed if column not in self.accepted.prepared]
        if not asked:
            yield Criterion(name, Status.MET, about, 0, 0)
            return
        counts = join_names((f"{changed[c]:,} of {c}" for c in asked), 4)
        why = (
            f"Values were changed before anything was measured: {counts}. An intruder who knows the true "
            f"ones was not looked at. {about}"
        )
        mends = (
            "Protect true values by a step, which is judged; or accept the change of "
            f"{join_names(asked, 4)} if these were errors or codes for missing."
        )
        places = at(Place.preparation(), Place.accept("prepared", asked))
        yield Criterion(name, Status.NOT_JUDGED, why, sum(changed[c] for c in asked), 0, mends, places=places)

    def _changed_before(self) -> dict[str, int]:
        """How many values preparation changed, in columns with a role or what these are made of.

        Columns that are not released tell nothing; but who does not know who is in the file is judged by the
        weights, and households by their numbers, whether they are released or not.
        """
        counts: dict[str, int] = {}
        made_from: dict[str, list[str]] = {}
        for step in self.original.prepared:
            made_from |= step.figures.get("made_from", {})
            for column, count in step.figures.get("values_changed", {}).items():
                counts[column] = counts.get(column, 0) + count
        roles, released = self.original.roles, set(self.data.columns)
        asked = [
            c for c in self.original.columns if RESTED_ON & {*roles.of(c)} or (c in released and roles.of(c))
        ]
        found = {c: sum(counts.get(part, 0) for part in (c, *made_from.get(c, ()))) for c in asked}
        return {c: count for c, count in found.items() if count}
