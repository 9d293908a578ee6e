"""Questions about the columns and rows of a protected file before it is released."""

from collections.abc import Iterator

import narwhals as nw

from sdckit._support.messages import join_names
from sdckit.choose.criteria import Criterion, Status
from sdckit.choose.privacy_budget import losses_of, total_cost
from sdckit.choose.release_case import ReleaseCase
from sdckit.choose.release_facts import (
    is_random_order,
    joining_columns,
    names_records,
    near_unique,
    not_looked_at,
    odd_weights,
    repeats,
    spells,
    told_by_order,
)
from sdckit.data.effects import merged
from sdckit.data.intruder import WITHIN, intruders_of, known_numbers
from sdckit.data.privacy import distinct, ended
from sdckit.data.record_links import source_rows
from sdckit.data.roles import Role
from sdckit.data.unchanged import released_ids, same_ids, unchanged_numbers
from sdckit.engine import frames

RESTED_ON = {Role.WEIGHT, Role.HOUSEHOLD}  # what risks rest on even where it is not released
MISSING = 0.05  # share of records with keys missing from the start that is taken for granted


class FileChecks(ReleaseCase):
    """Columns, numbers, ids, the order of the rows, missing keys and weights."""

    def criteria(self) -> Iterator[Criterion]:
        """Every criterion that applies."""
        yield from self._protected_before()
        yield from self._prepared()
        yield self._same_columns()
        yield self._columns_not_looked_at()
        yield self._ids()
        if self.x.same_people:
            yield self._order()
            yield from self._numbers()
            yield from self._joined_records()
            yield from self._repeated_ids()
        yield from self._missing_keys()
        yield from self._weights()
        yield from self._differential_privacy()

    def _protected_before(self) -> Iterator[Criterion]:
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
            mends = (
                f"Compare with the file as it was read, or accept: {{prepared: [{join_names(asked, 4)}]}}."
            )
            yield Criterion("the original as it was read", Status.NOT_JUDGED, why, len(asked), 0, mends)

    def _prepared(self) -> Iterator[Criterion]:
        """What was done before anything was measured: everything here is about the prepared file."""
        steps = self.original.prepared
        if not steps:
            return
        name, done = "preparation of the original", join_names(step.method for step in steps)
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
            "Protect true values by a step (suppress, group, recode), or accept: "
            f"{{prepared: [{join_names(asked, 4)}]}} if they were errors or codes for missing."
        )
        yield Criterion(name, Status.NOT_JUDGED, why, sum(changed[c] for c in asked), 0, mends)

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

    def _same_columns(self) -> Criterion:
        roles = self.original.roles
        known = dict.fromkeys((*roles.keys, *roles.numeric, *roles.sensitive))
        steps = self.data.steps_since(self.original)
        dropped = {c for entry in steps for c in entry.effects.drops}
        gone = [c for c in known if c not in self.data.columns and c not in dropped]
        before = set(self.original.columns)
        new = [c for c in self.data.columns if c not in before]
        name = "the same columns in both files"
        if gone and new:
            why = (
                f"{join_names(gone)} of the original are not in the protected file, which has "
                f"{join_names(new)} "
                "instead: renamed columns are not compared."
            )
            return Criterion(name, Status.NOT_JUDGED, why, mends="Rename the columns as in the original.")
        if new:
            why = f"Only the protected file has {join_names(new)}: nothing is known of what they tell."
            return Criterion(
                name, Status.NOT_JUDGED, why, mends=f"Drop {join_names(new)}, or have them in both."
            )
        if gone:
            why = f"The protected file lacks {join_names(gone)}, and no logged step dropped them."
            mends = "If they were dropped on purpose, use the step drop, or leave them out of the roles."
            return Criterion(name, Status.NOT_JUDGED, why, mends=mends)
        return Criterion(
            name, Status.MET, "Both files have the same columns, but for those dropped by a step."
        )

    def _columns_not_looked_at(self) -> Criterion:
        name = "columns that no risk looks at"
        unseen = not_looked_at(self.original, self.data)
        if self.x.same_people and not self.synthetic:
            unseen += [c for c in self._known_to_nobody() if c not in unseen]
        unseen = [c for c in unseen if c not in self.accepted.columns]
        if not unseen:
            return Criterion(
                name, Status.MET, "Every released column has a role that a measure looks at.", 0, 0
            )
        asked = set(unseen)
        near = [c for c in near_unique(self.data) if c in asked]
        why = f"No risk looks at {join_names(unseen)}."
        if near:
            why += f" {join_names(near)} nearly names every record."
        mends = (
            f"Drop {join_names(unseen, 4)}, or give a role: keys if an intruder may know it, sensitive if "
            "not; "
            f"or accept: {{columns: [{join_names(unseen, 4)}]}} after looking at it."
        )
        status = Status.NOT_MET if near else Status.NOT_JUDGED
        return Criterion(name, status, why, len(unseen), 0, mends)

    def _known_to_nobody(self) -> list[str]:
        """Keys and numbers that not even the best informed of the intruders is taken to know."""
        result = self.x.after.get("reidentification_risk")
        given = (result.options.get("intruders") if result is not None else None) or []
        if not given:
            return []
        wanted = [
            c for c in (*self.original.roles.keys, *known_numbers(self.original)) if c in self.data.columns
        ]
        missing = [wanted]
        for intruder in intruders_of({n: c for one in given for n, c in dict(one).items()}):
            keys, numbers = intruder.known(self.original)
            known = {*keys, *(c for c, error in numbers.items() if error <= WITHIN)}
            missing.append([c for c in wanted if c not in known])
        return min(missing, key=len)  # one intruder must know them together

    def _ids(self) -> Criterion:
        same = same_ids(self.original, self.data)
        if same is None:
            why = "Whether the ids are those of the original is not known: the records are not in memory."
            return Criterion("ids of the original", Status.NOT_JUDGED, why)
        texts = [c for c in released_ids(self.original, self.data) if c not in same and spells(self.data, c)]
        if texts and not same:
            why = f"{join_names(texts)} are texts: what they spell, or how they were made, is not known."
            return Criterion("ids of the original", Status.NOT_JUDGED, why, len(texts), 0, "new_ids, or drop")
        if same:
            why = (
                f"The numbers in {join_names(same)} are those of the original file: whoever has them finds "
                "the records."
            )
            return Criterion("ids of the original", Status.NOT_MET, why, len(same), 0, "new_ids, or drop")
        return Criterion("ids of the original", Status.MET, "No number of the original names a record.", 0, 0)

    def _order(self) -> Criterion:
        name, mends = "order of the rows", "shuffle_order, or accept: {order: true}"
        if self.accepted.order:
            return Criterion(
                name, Status.MET, "That the order of the rows may be the original's is accepted."
            )
        rows = source_rows(self.original, self.data) if self.in_memory else None
        if rows is None:
            why = "Whether the rows are in the order of the original is not known."
            return Criterion(name, Status.NOT_JUDGED, why, mends=mends)
        if len(rows) < 2 or is_random_order(rows):
            return Criterion(name, Status.MET, "The rows are not in the order of the original.")
        told = told_by_order(self.original)
        if told:
            why = f"The rows stand in the order of the original file, which follows {join_names(told, 4)}."
            return Criterion(name, Status.NOT_MET, why, mends=mends)
        why = "The rows stand in the order of the original file, which follows nothing that could be known."
        return Criterion(name, Status.MET, why)

    def _numbers(self) -> Iterator[Criterion]:
        name = "numbers left unchanged"
        numbers = [c for c in self.original.roles.numeric if c in self.data.columns]
        kinds = frames.schema(self.data.frame)
        secret = [
            c
            for c in self.original.roles.sensitive
            if c in kinds and kinds[c].is_numeric() and c not in self.accepted.numbers
        ]
        numbers = [
            c for c in numbers if c not in self.accepted.numbers and c not in self.original.roles.sensitive
        ]
        same = unchanged_numbers(self.original, self.data, numbers)
        if not self.original.roles.numeric:
            pass
        elif same is None:
            why = "Whether numbers were protected is not known: records are not linked in memory."
            yield Criterion(name, Status.NOT_JUDGED, why)
        elif same:
            why = f"{join_names(same)}: the original values stand in the file, and an intruder may know them."
            mends = (
                "microaggregate, add_noise, rank_swap or recode; sensitive numbers that nobody can know have "
                "the "
                f"role sensitive, too; or accept: {{numbers: [{join_names(same, 4)}]}}."
            )
            yield Criterion(name, Status.NOT_MET, why, len(same), 0, mends)
        else:
            yield Criterion(name, Status.MET, "Every number that an intruder may know was protected.", 0, 0)
        bare = [
            c
            for c in unchanged_numbers(self.original, self.data, secret) or ()
            if names_records(self.data, c)
        ]
        if bare:
            why = f"{join_names(bare)}: exact values that nearly name every record are released as sensitive."
            mends = (
                f"Round or perturb them, or accept: {{numbers: [{join_names(bare, 4)}]}} if nobody can know "
                "them."
            )
            yield Criterion("sensitive numbers left unchanged", Status.NOT_JUDGED, why, len(bare), 0, mends)

    def _joined_records(self) -> Iterator[Criterion]:
        """Columns that nobody knows, but that show which records belong together."""
        joining = [c for c in joining_columns(self.data) if c not in self.accepted.columns]
        if joining:
            why = f"{join_names(joining)}: few records share a value, so that members of a household show."
            mends = (
                f"Round {join_names(joining, 4)}, drop it, or accept: "
                f"{{columns: [{join_names(joining, 4)}]}}."
            )
            yield Criterion("records joined by a column", Status.NOT_JUDGED, why, len(joining), 0, mends)

    def _repeated_ids(self) -> Iterator[Criterion]:
        """An id that several records share: what they tell together is more than risks of single records."""
        files = [self.data, self.original]
        shared = [
            data.roles.id for data in files if data.roles.id is not None and repeats(data, data.roles.id)
        ]
        if not shared or shared[0] in self.accepted.columns:
            return
        name = shared[0]
        why = (
            f"Records share a number in {name}: an intruder who knows several records of a person, or the "
            "days between them, finds all of them, and only single records were attacked. Records that look "
            "alike may all be one person's."
        )
        mends = (
            f"Give {name} the role household, so that its records are attacked together; or drop it; or "
            f"accept: {{columns: [{name}]}}."
        )
        yield Criterion("several records of a person", Status.NOT_JUDGED, why, mends=mends)

    def _missing_keys(self) -> Iterator[Criterion]:
        keys = list(self.original.roles.keys)
        if not keys:
            return
        any_missing = nw.any_horizontal(*(nw.col(k).is_null() for k in keys), ignore_nulls=False)
        count = frames.gather(self.original.table.select(any_missing.cast(nw.Int64).sum().alias("n")))["n"][0]
        share = int(count or 0) / self.original.height
        name = "keys missing from the start"
        if share <= MISSING or self.accepted.missing_keys:
            why = f"{100 * share:.3g} % of the original records lack a key."
            yield Criterion(name, Status.MET, why, share, MISSING, share=True)
        else:
            why = (
                f"{100 * share:.3g} % of the original records lack a key: an intruder who knows the true "
                "value may "
                "find persons who look alike here."
            )
            mends = "Impute the keys before measuring, or accept: {missing_keys: true}."
            yield Criterion(name, Status.NOT_JUDGED, why, share, MISSING, mends, share=True)

    def _weights(self) -> Iterator[Criterion]:
        if self.original.roles.weight is None:
            return
        weights = self.original.weights()
        total, name, n = float(weights.sum()), "weights", self.original.height
        about = f"The weights add up to {total:,.0f} people for {n:,} records"
        population = self.accepted.population
        if population is not None and abs(total - population) > 0.1 * population:
            why = f"{about}, the population is said to have {population:,.0f}."
            mends = "Correct the weights (implied decimals?), or the population."
            yield Criterion(name, Status.NOT_MET, why, total, population, mends)
        elif population is None and (fault := odd_weights(weights) or self._weights_alone()):
            mends = "Correct the weights, or say how many people there are: accept: {population: …}."
            yield Criterion(name, Status.NOT_JUDGED, f"{about}: {fault}.", total, None, mends)
        else:
            yield Criterion(name, Status.MET, f"{about}.", total, population)

    def _differential_privacy(self) -> Iterator[Criterion]:
        """Whether what a step promised holds for all files that are released together."""
        losses = distinct(loss for data in self.x.protected for loss in losses_of(data))
        if not losses:
            return
        name, broken = "differential privacy", ended(losses)
        if broken:
            mends = "Do such steps after the synthesis, or do not call the file differentially private."
            yield Criterion(name, Status.NOT_JUDGED, broken, mends=mends)
        else:
            why = f"The promise holds for what is released: {total_cost(losses)}."
            yield Criterion(name, Status.MET, f"{why} Measures of the original are not covered by it.")

    def _weights_alone(self) -> str:
        """Whether everything rests on the weights: no intruder knows that the person is in the file."""
        result = self.x.after.get("reidentification_risk")
        table = None if result is None else result.tables.get("intruders")
        if table is None or table["in_file"].any():
            return ""
        return "every risk rests on them, as no intruder is taken to know who is in the file"
