"""The questions before a release that are about persons, and the verdict that all questions give together."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import ceil, isnan
from typing import TYPE_CHECKING, Any

from sdckit._support.messages import join_names
from sdckit._support.number_text import count_of, figures_beside, number
from sdckit.choose.copies import copies_of_originals
from sdckit.choose.criteria import Criterion, Status, Verdict, worst_of_each
from sdckit.choose.file_checks import FileChecks
from sdckit.choose.judging_options import high_ceilings, weakened_options
from sdckit.choose.moved_together import by_moved_values
from sdckit.choose.numbers_come_back import numbers_that_come_back
from sdckit.choose.place import FILE, INTRUDERS, Place, at
from sdckit.choose.release_case import IN_MEMORY, LINKED, ReleaseCase, ask_it
from sdckit.choose.same_records import surely_linked
from sdckit.choose.sets_together import sets_together
from sdckit.choose.told_columns import columns_that_tell
from sdckit.choose.trusted_checks import TrustedChecks, intruders_asked, trusted
from sdckit.data.common_columns import measured_variables
from sdckit.data.intruder import Unit
from sdckit.data.roles import Role
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind

if TYPE_CHECKING:
    from sdckit.choose.assessment import Assessment

MANY_NUMBERS = 3  # from which on a person can be found by numbers with noise in which no record stands out
HANDFUL = 10  # right claims at most that are offered to be accepted: so few can be looked at one by one


def beyond_others(figures: Mapping[str, float]) -> float:
    """The part of the whole records that come back which people who were not in the original do not show."""
    back, others = figures.get("come_back", 0.0), figures.get("among_others")
    if others is None:
        return 1.0
    return max(back - others, 0.0) / back if back else 0.0


def judged(x: "Assessment") -> Verdict:
    """The verdict on the protected file or files of an assessment."""
    found: list[Criterion] = []
    for data in x.protected:
        found += [*PersonChecks(x, data).criteria(), *FileChecks(x, data).criteria()]
        found += TrustedChecks(x, data).criteria() if x.same_people else ()
    found += sets_together(x.protected)
    unique = worst_of_each(found) if len(x.protected) > 1 else tuple(dict.fromkeys(found))
    return Verdict(unique, x.scenario, bool(x.original.prepared), accepted_in_words(x), trusted(x))


def accepted_in_words(x: "Assessment", count: Callable[[float], str] = number) -> str:
    """What the data holder accepts beyond the usual; count: how a number of persons is written."""
    return join_names([*high_ceilings(x), *x.accept.in_words(count)], 9)


def judged_intruders(x: "Assessment") -> tuple[Criterion, ...]:
    """The criteria about the intruders whose attacks were measured, and none about anything else."""
    return tuple(c for data in x.protected for c in PersonChecks(x, data).of_intruders())


class PersonChecks(ReleaseCase):
    """Direct identifiers, what intruders find and infer, and what columns tell."""

    def criteria(self) -> Iterator[Criterion]:
        """Every criterion that applies, the gravest first."""
        yield self._direct_identifiers()
        yield from self._options()
        yield from self._not_examined()
        if self.x.same_people:
            yield from self._reidentification()
        if not self.x.same_people or self.synthetic:
            yield copies_of_originals(self)
        if not self.x.same_people:
            yield from self._whole_records()
            yield from numbers_that_come_back(self)
            yield from self._not_synthetic()
        yield from self._inference()
        if self.x.same_people:
            yield columns_that_tell(self)
            yield from self._moved_together()

    def _moved_together(self) -> Iterator[Criterion]:
        """What is found and inferred where a person's record is the one that has these values of hers."""
        for names, data in by_moved_values(self.original, self.data):
            asked = {"intruders": intruders_asked(self.x)}
            measures = [
                m for m in ("reidentification_risk", "attribute_inference") if self.measured(m) is not None
            ]
            after = {m: find(m, Kind.RISK).call(self.original, data, **asked) for m in measures}
            other = PersonChecks(replace(self.x, protected=(data,), after=after), data)
            for one in (*other.of_intruders(), *other._inference()):
                moved = f"{join_names(names, 4)} moved together, and are the person's in another record."
                yield replace(one, name=f"values that moved together: {one.name}", why=f"{moved} {one.why}")

    def _direct_identifiers(self) -> Criterion:
        left = [*self.data.roles.direct]
        left += [c for c in (*self.original.dropped, *self.original.roles.direct) if c in self.data.columns]
        names = list(dict.fromkeys(left))
        if names:
            why = f"The file still has direct identifiers: {join_names(names)}."
            mends, places = "Drop them.", at(Place.step("drop", names), Place.role(Role.DIRECT, names))
            return Criterion("direct identifiers", Status.NOT_MET, why, len(names), 0, mends, places=places)
        return Criterion("direct identifiers", Status.MET, "No direct identifier is in the file.", 0, 0)

    def _options(self) -> Iterator[Criterion]:
        """Whether the measures that judge were asked with options that make them look away."""
        weak = weakened_options(self.x)
        if weak:
            names = join_names(f"{measure}: {option}" for measure, option in weak)
            why = f"Measures were taken with options that see less than usual: {names}."
            mends = "Leave these options at their defaults."
            places = tuple(Place.options(measure) for measure in dict.fromkeys(m for m, _ in weak))
            yield Criterion("options of the measures", Status.NOT_JUDGED, why, mends=mends, places=places)

    def _not_examined(self) -> Iterator[Criterion]:
        """What was left out because the records were not in memory: by measures, and by steps."""
        away = [o.measure for o in self.x.omitted if self.original.engine not in find(o.measure).engines]
        if away:
            why = f"On {self.original.engine} there is no {join_names(away, 4)}."
            name = "measures that need memory"
            yield Criterion(name, Status.NOT_JUDGED, why, len(away), 0, IN_MEMORY, places=(FILE,))
        steps = [e.method for e in self.data.log if e.figures.get("inference_examined") is False]
        if steps:
            why = f"Whether other columns tell what {join_names(steps)} blanked was not examined."
            mends = "Read the file into memory before the step."
            name = "what blanked values are told by"
            yield Criterion(name, Status.NOT_JUDGED, why, mends=mends, places=(FILE,))

    def _not_synthetic(self) -> Iterator[Criterion]:
        """Files of a list, or said to be new records, that are the same people after all."""
        if surely_linked(self.original, self.data):
            why = "The file has the original's people row by row, so that it is not synthetic."
            name, mends = "records of the same people", "Assess it alone, and as records that are linked."
            yield Criterion(name, Status.NOT_JUDGED, why, mends=mends, places=(FILE,))

    def _reidentification(self) -> Iterator[Criterion]:
        measure = "reidentification_risk"
        result = self.result(measure)
        if result is None or "intruders" not in result.tables:
            why = "What an intruder finds could not be measured"
            mends = LINKED
            if self.original.engine != "polars":
                mends = f"Outside memory the id links records: assess before it is new. {IN_MEMORY}"
            places = at(Place.role(Role.KEYS), Place.role(Role.ID), FILE)
            yield self.not_known("re-identification", measure, why, mends, *places)
            return
        if not surely_linked(self.original, self.data):
            why = (
                "Records were linked by their place in the file, and nothing shows that the rows are in the "
                "same "
                "order: what an intruder finds may be far more than measured."
            )
            mends = "Read both files with an id, or protect the file here."
            places = at(Place.role(Role.ID), FILE)
            yield Criterion(
                "records that belong together", Status.NOT_JUDGED, why, mends=mends, places=places
            )
        if self.original.roles.household is not None and not self._households_attacked():
            why = (
                "Members of households were not attacked together by all keys, which finds far more of them."
            )
            mends = (
                "Add an intruder who looks for households and knows the keys of all members, or drop the "
                "household and shuffle the rows."
            )
            places = at(INTRUDERS, Place.step("drop", [self.original.roles.household]))
            yield Criterion("households as targets", Status.NOT_JUDGED, why, mends=mends, places=places)
        yield from self.of_intruders()

    def _households_attacked(self) -> bool:
        """Whether somebody knows all released keys of all members: who knows less of them finds less."""
        keys = [key for key in self.original.roles.keys if key in self.data.columns]
        homes = [one for one in intruders_asked(self.x) if one.unit is Unit.HOUSEHOLD]
        known = [one.known(self.original) for one in homes]
        return any({*keys} <= {*k.keys, *(c for c, error in k.numbers.items() if error == 0)} for k in known)

    def of_intruders(self) -> Iterator[Criterion]:
        """What each intruder finds, and is sure of."""
        result = self.result("reidentification_risk")
        table = None if result is None else result.tables.get("intruders")
        for row in () if table is None else table.iter_rows(named=True):
            for one in (self._risk_of(row), self._claims_of(row)):
                yield replace(one, intruder=row["intruder"])

    def _risk_of(self, row: dict[str, object]) -> Criterion:
        name = f"re-identification by {row['intruder']}"
        limit = row["max_risk"] if row["max_risk"] is not None else self.x.max_risk
        value = float(str(row["value"]))
        upper = float(str(row["upper"]))
        unsure = str(row["not_judged"])
        if isnan(value):
            why = (
                f"What an intruder finds who {row['knows']} could not be measured with the data where they "
                "are."
            )
            places = at(Place.preparation("keep_records"), INTRUDERS)
            return Criterion(name, Status.NOT_JUDGED, why, mends=IN_MEMORY, places=places)
        classes = self._in_classes()
        mends = "Recode the keys, suppress, or protect the numbers more strongly; or accept a higher risk."
        if classes:
            mends = f"{mends} With the role keys, {join_names(classes)} would be suppressed, too."
        figures = figures_beside(value, None if limit is None else float(str(limit)))
        about = (
            f"An intruder who {row['knows']} finds {100 * value:.{figures}g} % of the {self._targets(row)}"
        )
        if unsure:
            why = f"{about}; what became of {unsure} could not be learned, so that the risk may be higher."
            mends = f"Protect {unsure} here, so that the log knows the recoding, or drop it."
            changed = [c for c in self.data.columns if c in unsure.split(", ")]
            places = at(Place.step("drop", changed), INTRUDERS)
            return Criterion(name, Status.NOT_JUDGED, why, value, None, mends, share=True, places=places)
        if limit is None:
            why = f"{about}; no accepted risk was set."
            mends, places = "Say what risk is accepted.", at(Place.accept("max_risk"))
            return Criterion(name, Status.NOT_JUDGED, why, value, None, mends, share=True, places=places)
        ceiling = float(str(limit))
        sampled = "" if upper == value else f" (up to {100 * upper:.3g} %, as not all were attacked)"
        if upper <= ceiling:
            why = f"{about}{sampled}, at most {100 * ceiling:.3g} % are accepted."
            return Criterion(name, Status.MET, why, value, ceiling, share=True)
        why = f"{about}{sampled}; accepted are {100 * ceiling:.3g} %."
        places = at(*self._stronger(), Place.accept("max_risk"))
        return Criterion(name, Status.NOT_MET, why, value, ceiling, mends, share=True, places=places)

    def _targets(self, row: dict[str, object]) -> str:
        """Whom the figures of an intruder count: households where these are looked for as a whole."""
        return "households" if row["household"] and self.original.roles.household else "persons"

    def _stronger(self) -> tuple[Place, ...]:
        """The steps that make persons harder to find."""
        keys = self.original.roles.keys
        numbers = [
            c for c in self.original.roles.numeric if c in self.data.roles.numeric
        ]  # not recoded since
        of_keys = at(*(Place.step(m) for m in ("suppress", "recode", "group") if keys))
        if keys and (classes := self._in_classes()):
            of_keys = at(*of_keys, Place.role(Role.KEYS, classes))
        return (*of_keys, Place.step("microaggregate", numbers)) if numbers else of_keys

    def _in_classes(self) -> list[str]:
        """Numbers that a step made classes: they can be known, and no suppression takes them for keys."""
        known = {*self.original.roles.keys, *self.original.roles.sensitive, *self.data.roles.keys}
        there = {*self.data.columns} - {*self.data.roles.numeric} - known
        return [c for c in self.original.roles.numeric if c in there]

    def _claims_of(self, row: dict[str, object]) -> Criterion:
        name = f"claims of {row['intruder']}"
        right, claims = float(str(row["claims_right"])), float(str(row["claims"]))
        if isnan(right):
            why, places = f"What {row['intruder']} claims could not be measured.", at(INTRUDERS)
            return Criterion(name, Status.NOT_JUDGED, why, mends=IN_MEMORY, places=places)
        limit = self.accepted.claims
        whom = self._targets(row)
        claimed = count_of(claims, whom[:-1], whom)
        told = f"{row['intruder']} is sure of {claimed} and right for {number(right)}"
        if right <= limit + 1e-9:
            return Criterion(name, Status.MET, f"{told}; {limit:g} are accepted.", right, limit)
        why = f"An intruder who is sure claims {claimed}, and is right for {number(right)}."
        mends, places = "Protect more strongly.", self._stronger()
        if right <= HANDFUL:  # more of them no holder could look at one by one
            accepted = count_of(ceil(right), "right claim", "right claims")
            mends, places = (
                f"Protect more strongly, or accept {accepted}.",
                at(*places, Place.accept("claims")),
            )
        return Criterion(name, Status.NOT_JUDGED, why, right, limit, mends, places=places)

    def _whole_records(self) -> Iterator[Criterion]:
        """Files of new records: what comes back as a whole and is found, beyond what other people would."""
        name, measure = "whole records that come back", "reidentification_risk"
        result = self.measured(measure)
        if result is None:
            why = "How many whole records come back is not known"
            yield self.not_known(name, measure, why, ask_it(measure), Place.role(Role.KEYS), INTRUDERS)
            return
        beyond, others = beyond_others(result.figures), result.figures.get("among_others")
        for row in result.tables["intruders"].iter_rows(named=True):
            yield replace(self._whole_records_of(row, beyond, others), intruder=row["intruder"])
        yield self._in_some_columns(result.figures["in_some_columns"], held_back=others is not None)

    def _in_some_columns(self, value: float, *, held_back: bool) -> Criterion:
        """Columns that were renamed or drawn anew hide nobody where the others are those of persons.

        Strong noise on many numbers leaves records that are nearest to their persons, but hardly nearer than
        those of others: without people held back nothing shows what chance is.
        """
        name, limit = "records that come back in some columns", self.x.max_risk
        more = f"{100 * value:.{figures_beside(value, limit)}g} % more persons"
        about = f"In some columns together {more} come back than by chance"
        places = at(
            Place.accept("max_risk"),
        )
        if limit is None:
            mends = "Say what risk is accepted."
            return Criterion(
                name, Status.NOT_JUDGED, f"{about}.", value, None, mends, share=True, places=places
            )
        numbers = () if held_back else measured_variables(self.original, self.data)
        if value <= limit and len(numbers) >= MANY_NUMBERS:
            why = f"{about}, but {len(numbers)} numbers may lead to persons through strong noise."
            mends = "Give a hold-out: people who were not in the original show what chance is."
            places = at(Place.options("reidentification_risk"), Place.step("drop", numbers))
            return Criterion(name, Status.NOT_JUDGED, why, value, limit, mends, share=True, places=places)
        if value <= limit:
            return Criterion(name, Status.MET, f"{about}.", value, limit, share=True)
        why = f"{about}; accepted are {100 * limit:.3g} %: the file repeats parts of original records."
        mends = "Draw all columns anew; a record of which only some columns changed is the person's."
        places = at(Place.step("synthesize"), *places)
        return Criterion(name, Status.NOT_MET, why, value, limit, mends, share=True, places=places)

    def _whole_records_of(self, row: dict[str, Any], beyond: float, others: float | None) -> Criterion:
        name = f"whole records found by {row['intruder']}"
        limit = row["max_risk"] if row["max_risk"] is not None else self.x.max_risk
        found = row["upper"]
        value = found * beyond
        about = (
            f"The whole record of {100 * found:.3g} % of the persons comes back and is found by "
            f"{row['intruder']}"
        )
        if others is not None:
            about += f", {100 * value:.3g} % beyond what people who were not in the original would show"
        if row["not_judged"] or limit is None:
            what = "no accepted risk was set" if limit is None else f"not judged: {row['not_judged']}"
            mends = "Say what risk is accepted." if limit is None else "Attack everybody: raise targets."
            places = at(
                Place.accept("max_risk") if limit is None else Place.options("reidentification_risk"),
            )
            return Criterion(
                name, Status.NOT_JUDGED, f"{about}; {what}.", value, limit, mends, share=True, places=places
            )
        if value <= limit:
            why = f"{about}; at most {100 * limit:.3g} % are accepted."
            return Criterion(name, Status.MET, why, value, limit, share=True)
        why = f"{about}; accepted are {100 * limit:.3g} %."
        if others is None:
            mends = "Give a hold-out: people who were not in the original show how many come back by chance."
            places = at(Place.options("reidentification_risk"), Place.step("synthesize"))
            return Criterion(name, Status.NOT_JUDGED, why, value, limit, mends, share=True, places=places)
        mends = "Synthesise with a larger gain, larger leaves and smoothing."
        places = at(Place.step("synthesize"), Place.accept("max_risk"))
        return Criterion(name, Status.NOT_MET, why, value, limit, mends, share=True, places=places)

    def _inference(self) -> Iterator[Criterion]:
        if not self.original.roles.sensitive:
            return
        name, measure = "inference of sensitive values", "attribute_inference"
        result, hidden = self.measured(measure), self.original.roles.sensitive
        limit = self.x.max_risk if self.accepted.inference is None else self.accepted.inference
        value = self._inferred_at_least() if result is None else result.value
        if result is None and (limit is None or value <= limit):
            why = "What can be inferred of sensitive values is not known"
            mends = "For synthetic files give a hold-out, people who were not in the original."
            places = at(Place.options(measure), Place.role(Role.SENSITIVE, hidden))
            yield self.not_known(name, measure, why, mends, *places)
            return
        who = (
            f"{100 * value:.{figures_beside(value, limit)}g} % of the persons have" if value else "Nobody has"
        )
        about = (
            f"{who} a sensitive value that can be inferred with near certainty, and could not be guessed "
            "without the file"
        )
        figures = {} if result is None else result.figures
        upper, among = figures.get("upper", value), figures.get("among_others")
        if upper > value:
            sample = "as not all were asked" if among is None else "as few people were held back"
            about += f" (up to {100 * upper:.3g} %, {sample})"
        if limit is None:
            why = f"{about}; no accepted share was set."
            mends = "Say what risk is accepted, or of how many persons a sensitive value may be inferred."
            places = at(Place.accept("max_risk"), Place.accept("inference"))
            yield Criterion(name, Status.NOT_JUDGED, why, value, None, mends, share=True, places=places)
        elif upper <= limit:
            yield Criterion(name, Status.MET, f"{about}.", value, limit, share=True)
        elif value <= limit and among is not None:
            why = f"{about}; accepted are {100 * limit:.3g} %."
            mends = "Hold back more people: few show too roughly what is chance."
            places = at(Place.options(measure), Place.accept("inference"))
            yield Criterion(name, Status.NOT_JUDGED, why, value, limit, mends, share=True, places=places)
        else:
            mends = "Make the keys coarser, suppress with l-diversity, or apply PRAM to the sensitive column."
            why = f"{about}; accepted are {100 * limit:.3g} %."
            places = at(Place.step("pram", hidden), Place.step("recode"), Place.step("suppress"))
            places = at(*places, Place.accept("inference"))
            yield Criterion(name, Status.NOT_MET, why, value, limit, mends, share=True, places=places)

    def _inferred_at_least(self) -> float:
        """The largest share that any attack inferred, where others could not be judged."""
        result = self.result("attribute_inference")
        if result is None or result.parts is None:
            return 0.0
        return max((share for share in result.parts["share"] if share == share), default=0.0)
