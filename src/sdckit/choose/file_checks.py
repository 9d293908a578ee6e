"""Questions about the columns and rows of a protected file before it is released."""

from collections.abc import Iterator

import narwhals as nw
import numpy as np

from sdckit._support.arrays import Ints
from sdckit._support.messages import join_names
from sdckit._support.number_text import count_records
from sdckit.choose.criteria import Criterion, Status
from sdckit.choose.original_checks import OriginalChecks
from sdckit.choose.place import FILE, INTRUDERS, Place, at
from sdckit.choose.privacy_budget import losses_of, total_cost
from sdckit.choose.release_case import IN_MEMORY, LINKED
from sdckit.choose.release_facts import (
    done_here,
    drawn_here,
    joining_columns,
    names_records,
    near_unique,
    not_looked_at,
    odd_weights,
    repeats,
    spells,
    weight_facts,
)
from sdckit.choose.row_order import direct_that_tell, is_random_order, told_by_order
from sdckit.choose.trusted_checks import intruders_asked, judged_by_weights_alone
from sdckit.data.intruder import WITHIN, known_numbers
from sdckit.data.missing_codes import codes_in_place
from sdckit.data.privacy import distinct, ended
from sdckit.data.record_links import source_rows
from sdckit.data.roles import Role
from sdckit.data.text_codes import text_codes
from sdckit.data.unchanged import left_unchanged, released_ids, same_ids, unchanged_numbers
from sdckit.engine import frames

NEW_IDS = "Give new random ids, or drop them."
NEARLY = 0.01  # by which a number may have moved and still be that of the person
EMPTY = 50.0  # ε beyond which a promise holds of files that repeat their records as well
MISSING = 0.05  # share of records with keys missing from the start that is taken for granted


class FileChecks(OriginalChecks):
    """Columns, numbers, ids, the order of the rows, missing keys and weights."""

    def criteria(self) -> Iterator[Criterion]:
        """Every criterion that applies."""
        yield from self.protected_before()
        yield from self.put_in_later()
        yield from self.preparation()
        yield self._same_columns()
        yield self._columns_not_looked_at()
        yield self._ids()
        if self.x.same_people:
            yield self._order()
            yield from self._numbers()
            yield from self._joined_records()
            yield from self._repeated_ids()
        yield from self._missing_keys()
        yield from self._reasons_of_missing()
        yield from self._weights()
        yield from self._differential_privacy()

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
            mends, places = "Rename the columns as in the original.", at(FILE, Place.step("drop", new))
            return Criterion(name, Status.NOT_JUDGED, why, mends=mends, places=places)
        if new:
            why = f"Only the protected file has {join_names(new)}: nothing is known of what they tell."
            mends, places = f"Drop {join_names(new)}, or have them in both.", at(Place.step("drop", new))
            return Criterion(name, Status.NOT_JUDGED, why, mends=mends, places=places)
        if gone:
            why = f"The protected file lacks {join_names(gone)}, and no logged step dropped them."
            mends = "If they were dropped on purpose, drop them by a step, or leave them out of the roles."
            places = tuple(Place.role(roles.of(c)[0], [c]) for c in gone)
            return Criterion(
                name, Status.NOT_JUDGED, why, mends=mends, places=(Place.step("drop", gone), *places)
            )
        return Criterion(
            name, Status.MET, "Both files have the same columns, but for those dropped by a step."
        )

    def _columns_not_looked_at(self) -> Criterion:
        name = "columns that no risk looks at"
        unseen = not_looked_at(self.original, self.data)
        if self.x.same_people:
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
        them = "it" if len(unseen) == 1 else "them"
        mends = f"Drop {them}, or give a role: key if an intruder may know it, sensitive if not; or accept "
        mends += f"{them} after looking at {them}."
        status = Status.NOT_MET if near else Status.NOT_JUDGED
        bare = [c for c in unseen if not self.original.roles.of(c)]
        roles = [Place.role(role, bare) for role in (Role.KEYS, Role.SENSITIVE)] if bare else [INTRUDERS]
        places = at(*roles, Place.step("drop", unseen), Place.accept("columns", unseen))
        return Criterion(name, status, why, len(unseen), 0, mends, places=places)

    def _known_to_nobody(self) -> list[str]:
        """Keys and numbers that not even the best informed of the intruders is taken to know."""
        intruders = intruders_asked(self.x)
        if not intruders:
            return []
        wanted = [
            c for c in (*self.original.roles.keys, *known_numbers(self.original)) if c in self.data.columns
        ]
        missing = [wanted]
        for intruder in intruders:
            keys, numbers = intruder.known(self.original)
            known = {*keys, *(c for c, error in numbers.items() if error <= WITHIN)}
            missing.append([c for c in wanted if c not in known])
        return min(missing, key=len)  # one intruder must know them together

    def _ids(self) -> Criterion:
        same, name, mends = same_ids(self.original, self.data), "ids of the original", NEW_IDS
        if same is None:
            why = "Whether the ids are those of the original is not known: the records are not in memory."
            mends = f"{NEW_IDS} {IN_MEMORY}"
            return Criterion(name, Status.NOT_JUDGED, why, mends=mends, places=(Place.step("new_ids"), FILE))
        texts = [c for c in released_ids(self.original, self.data) if c not in same and spells(self.data, c)]
        if texts and not same:
            why = f"{join_names(texts)} are texts: what they spell, or how they were made, is not known."
            places = at(Place.step("new_ids"), Place.step("drop", texts))
            return Criterion(name, Status.NOT_JUDGED, why, len(texts), 0, mends, places=places)
        if same:
            why = (
                f"The ids in {join_names(same)} are those of the original file: whoever has them finds "
                "the records."
            )
            places = at(Place.step("new_ids"), Place.step("drop", same))
            return Criterion(name, Status.NOT_MET, why, len(same), 0, mends, places=places)
        drawn = drawn_here(self.data.steps_since(self.original))
        others = [c for c in released_ids(self.original, self.data) if c not in drawn]
        if others:
            why = f"{join_names(others)}: what the numbers follow is not known, as steps of others made them "
            why += "or came later."
            places = at(Place.step("new_ids"), Place.step("drop", others))
            return Criterion(name, Status.NOT_JUDGED, why, len(others), 0, mends, places=places)
        return Criterion(name, Status.MET, "No number of the original names a record.", 0, 0)

    def _order(self) -> Criterion:
        name, mends = "order of the rows", "Shuffle the order of records, or accept the order."
        places = at(Place.step("shuffle_order"), Place.accept("order"))
        if self.accepted.order:
            return Criterion(
                name, Status.MET, "That the order of the rows may be the original's is accepted."
            )
        rows = source_rows(self.original, self.data) if self.in_memory else None
        if rows is None:
            why = "Whether the rows are in the order of the original is not known."
            mends = mends if self.in_memory else f"{mends} {IN_MEMORY}"
            return Criterion(name, Status.NOT_JUDGED, why, mends=mends, places=places)
        if len(rows) < 2 or is_random_order(rows, self._homes(rows)):
            return self._new_order(name, rows, mends, places)
        told = told_by_order(self.original)
        if told:
            why = f"The rows stand in the order of the original file, which follows {join_names(told, 4)}."
            return Criterion(name, Status.NOT_MET, why, mends=mends, places=places)
        why = "The rows stand in the order of the original file, which follows nothing that could be known."
        return Criterion(name, Status.MET, why)

    def _homes(self, rows: Ints) -> Ints | None:
        """A number for the household of each record, where there are households."""
        name = self.original.roles.household
        if name is None:
            return None
        homes = text_codes(self.original.frame[name].gather(rows)).codes.astype(np.int64)
        return np.where(homes < 0, homes.max(initial=0) + 1 + np.arange(len(homes)), homes)

    def _new_order(self, name: str, rows: Ints, mends: str, places: tuple[Place, ...]) -> Criterion:
        """Rows that stand in another order than before: whether names tell it, which no file has any more."""
        names = direct_that_tell(self.original, rows)
        if names:
            why = f"The rows stand in the order of {join_names(names)}."
            return Criterion(name, Status.NOT_MET, why, mends=mends, places=places)
        steps = [s for s in self.data.steps_since(self.original) if s.effects.reorders_rows]
        unseen = [c for c in self.original.dropped if c not in self.original.columns]
        if unseen and not (steps and done_here(steps[-1])):
            why = f"No step of sdckit made this order: whether it follows {join_names(unseen)} is not known."
            return Criterion(name, Status.NOT_JUDGED, why, mends=mends, places=places)
        return Criterion(name, Status.MET, "The rows are not in the order of the original.")

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
            places = at(Place.role(Role.ID), FILE)
            mends = LINKED if self.in_memory else IN_MEMORY
            yield Criterion(name, Status.NOT_JUDGED, why, mends=mends, places=places)
        elif same:
            left = [left_unchanged(self.original, self.data, c) for c in same]
            why = f"{join_names(left)}: the original values stand in the file, and an intruder may know them."
            mends = (
                "Microaggregate, add noise, swap ranks, or recode, which alone hides a value that most have. "
                "Sensitive numbers that nobody can know have the role sensitive, too. Or accept that "
                "they stay unchanged."
            )
            steps = [Place.step(m, same) for m in ("microaggregate", "add_noise", "rank_swap")]
            places = at(*steps, Place.step("recode", same[:1]))
            places = at(*places, Place.role(Role.SENSITIVE, same), Place.accept("numbers", same))
            yield Criterion(name, Status.NOT_MET, why, len(same), 0, mends, places=places)
        else:
            yield Criterion(name, Status.MET, "Every number that an intruder may know was protected.", 0, 0)
        bare = [
            c
            for c in unchanged_numbers(self.original, self.data, secret, within=NEARLY) or ()
            if names_records(self.data, c)
        ]
        if bare:
            why = (
                f"{join_names(bare)}: values that are exact to 1 % and nearly name every record are released "
                "as sensitive."
            )
            mends = "Round or perturb them, or accept that they stay unchanged if nobody can know them."
            places = at(Place.step("round_values", bare), Place.step("add_noise", bare))
            places = at(*places, Place.accept("numbers", bare))
            yield Criterion(
                "sensitive numbers left unchanged", Status.NOT_JUDGED, why, len(bare), 0, mends, places=places
            )

    def _joined_records(self) -> Iterator[Criterion]:
        """Columns that nobody knows, but that show which records belong together."""
        joining = [c for c in joining_columns(self.original, self.data) if c not in self.accepted.columns]
        if joining:
            why = f"{join_names(joining)}: few records share a value, so that members of a household show."
            mends = f"Round {join_names(joining, 4)}, drop it, or accept it after looking at it."
            places = at(Place.step("round_values", joining), Place.step("drop", joining))
            places = at(*places, Place.accept("columns", joining))
            yield Criterion(
                "records joined by a column", Status.NOT_JUDGED, why, len(joining), 0, mends, places=places
            )

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
            "accept it after looking at it."
        )
        places = at(Place.role(Role.HOUSEHOLD, [name]), Place.step("drop", [name]))
        places = at(*places, Place.accept("columns", [name]))
        yield Criterion("several records of a person", Status.NOT_JUDGED, why, mends=mends, places=places)

    def _missing_keys(self) -> Iterator[Criterion]:
        keys = list(self.original.roles.keys)
        if not keys:
            return
        any_missing = nw.any_horizontal(*(nw.col(k).is_null() for k in keys), ignore_nulls=False)
        count = frames.gather(self.original.table.select(any_missing.cast(nw.Int64).sum().alias("n")))["n"][0]
        share = int(count or 0) / self.original.height
        name = "keys missing from the start"
        if share <= MISSING:
            why = f"{100 * share:.3g} % of the original records lack a key."
            yield Criterion(name, Status.MET, why, share, MISSING, share=True)
        elif self.accepted.missing_keys:
            why = f"{100 * share:.3g} % of the original records lack a key; that is understood and accepted."
            yield Criterion(name, Status.MET, why, share, share=True)
        else:
            why = (
                f"{100 * share:.3g} % of the original records lack a key: an intruder who knows the true "
                "value may "
                "find persons who look alike here."
            )
            mends = "Impute the keys before measuring, or accept that they are missing."
            places = at(Place.accept("missing_keys"), FILE)
            yield Criterion(name, Status.NOT_JUDGED, why, share, MISSING, mends, share=True, places=places)

    def _reasons_of_missing(self) -> Iterator[Criterion]:
        """Codes such as refused that a written file would have, where measures saw one kind of missing."""
        kept = codes_in_place(self.data)[0]
        told = [c for c in kept if self.original.roles.of(c) and c not in self.accepted.columns]
        if told:
            why = (
                f"A .sav or .dta file of these data tells why values of {join_names(told, 4)} are missing: "
                "risks were measured with one kind of missing value."
            )
            mends = (
                "Protect the file by any step, after which they are plain missing; or accept that the "
                "reasons are told."
            )
            places = at(Place.step("shuffle_order"), Place.accept("columns", told))
            name = "reasons of missing values"
            yield Criterion(name, Status.NOT_JUDGED, why, len(told), 0, mends, places=places)

    def _weights(self) -> Iterator[Criterion]:
        if self.original.roles.weight is None:
            return
        weights = weight_facts(self.original)
        total, name, n = weights.total, "weights", weights.records
        about = f"The weights add up to {total:,.0f} people for {count_records(n)}"
        if self._said_population():
            about = (
                f"The file came without weights and is said to be a sample of {total:,.0f} people, "
                f"{total / n:,.4g} for each record"
            )
        population = self.accepted.population
        if population is not None and abs(total - population) > 0.1 * population:
            why = f"{about}, the population is said to have {population:,.0f}."
            mends = "Correct the weights (implied decimals?), or the population."
            places = at(Place.accept("population"), Place.role(Role.WEIGHT, [self.original.roles.weight]))
            yield Criterion(name, Status.NOT_MET, why, total, population, mends, places=places)
        elif self._said_population() and (alone := judged_by_weights_alone(self.x)):
            why = f"{about}: nothing but this says what {join_names(alone)} finds."
            mends = "Add an intruder who knows the same, and that the person is in the file."
            yield Criterion(name, Status.NOT_JUDGED, why, total, None, mends, places=(INTRUDERS,))
        elif population is None and (fault := odd_weights(weights) or self._weights_alone()):
            mends = "Correct the weights, or say how many people there are."
            places = at(Place.accept("population"), Place.role(Role.WEIGHT, [self.original.roles.weight]))
            why = f"{about}: {fault}."
            yield Criterion(name, Status.NOT_JUDGED, why, total, None, mends, places=(*places, INTRUDERS))
        else:
            yield Criterion(name, Status.MET, f"{about}.", total, population)

    def _said_population(self) -> bool:
        """Whether the weights are what somebody said of the population, and not those of a survey."""
        weight = self.original.roles.weight
        return any(weight in step.figures.get("equal_weights", ()) for step in self.original.prepared)

    def _differential_privacy(self) -> Iterator[Criterion]:
        """Whether what a step promised holds for all files that are released together."""
        losses = distinct(loss for data in self.x.protected for loss in losses_of(data))
        if not losses:
            return
        name, broken = "differential privacy", ended(losses)
        if broken:
            mends = "Do such steps after the synthesis, or do not call the file differentially private."
            places = at(
                Place.step("synthesize"),
            )
            yield Criterion(name, Status.NOT_JUDGED, broken, mends=mends, places=places)
        elif max(loss.epsilon for loss in losses) > EMPTY:
            why = f"So large an ε bounds what nobody could learn anyway: {total_cost(losses)}."
            mends, places = "Choose a smaller epsilon.", at(Place.step("synthesize"))
            yield Criterion(name, Status.NOT_JUDGED, why, mends=mends, places=places)
        else:
            why = f"The promise holds for what is released: {total_cost(losses)}."
            yield Criterion(name, Status.MET, f"{why} Measures of the original are not covered by it.")

    def _weights_alone(self) -> str:
        """Whether something rests on the weights alone: nobody who knows as much knows who is in the file."""
        alone = judged_by_weights_alone(self.x)
        if not alone:
            return ""
        return (
            f"what {join_names(alone)} finds rests on them alone, as nobody who knows as much is taken to "
            "know who is in the file"
        )
