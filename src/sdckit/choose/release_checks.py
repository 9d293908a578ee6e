"""What is asked of a file before it is released: each question gives one criterion or more."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.messages import join_names
from sdckit.choose.criteria import Accepted, Criterion, Status, Verdict
from sdckit.choose.release_facts import (
    near_unique,
    not_looked_at,
    odd_weights,
    same_ids,
    told_by_order,
    unchanged_numbers,
)
from sdckit.data.effects import merged
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import source_rows
from sdckit.engine import frames

if TYPE_CHECKING:
    from sdckit.choose.assessment import Assessment

MISSING = 0.05  # share of records with keys missing from the start that is taken for granted


def judged(x: "Assessment") -> Verdict:
    """The verdict on the protected file or files of an assessment."""
    found: list[Criterion] = []
    for data in x.protected:
        found += _Case(x, data).criteria()
    unique = dict.fromkeys(found)
    return Verdict(tuple(unique), x.scenario)


@dataclass(frozen=True)
class _Case:
    """One protected file of an assessment."""

    x: "Assessment"
    data: Microdata

    @property
    def accepted(self) -> Accepted:
        return self.x.accept

    @property
    def original(self) -> Microdata:
        return self.x.original

    def criteria(self) -> Iterator[Criterion]:
        """Every criterion that applies, the gravest first."""
        yield self._direct_identifiers()
        if self.x.same_people and not self._synthetic:
            yield from self._reidentification()
        else:
            yield from self._synthetic_file()
        yield from self._inference()
        yield from self._revealing_columns()
        yield self._same_columns()
        yield self._columnsnot_looked_at()
        if self.x.same_people:
            yield self._ids()
            yield self._order()
            yield from self._numbers()
        yield from self._missing_keys()
        yield from self._weights()

    @property
    def _in_memory(self) -> bool:
        return self.original.engine == self.data.engine == "polars"

    @property
    def _synthetic(self) -> bool:
        """Whether all that an intruder may know was drawn anew."""
        effects = merged(entry.effects for entry in self.data.steps_since(self.original))
        known = [*self.data.roles.keys, *self.data.roles.numeric]
        return bool(effects.synthesises) and all(c in effects.synthesises for c in known)

    def _omitted(self, measure: str) -> str:
        reasons = [o.reason for o in self.x.omitted if o.measure == measure]
        notes = self.x.after[measure].notes if measure in self.x.after else ()
        return (reasons or list(notes) or ["it was not among the measures"])[0].rstrip(".")

    def _direct_identifiers(self) -> Criterion:
        left = [*self.data.roles.direct]
        left += [c for c in (*self.original.dropped, *self.original.roles.direct) if c in self.data.columns]
        names = list(dict.fromkeys(left))
        if names:
            why = f"The file still has direct identifiers: {join_names(names)}."
            return Criterion("direct identifiers", Status.NOT_MET, why, len(names), 0, "drop")
        return Criterion("direct identifiers", Status.MET, "No direct identifier is in the file.", 0, 0)

    def _reidentification(self) -> Iterator[Criterion]:
        result = self.x.after.get("reidentification_risk")
        if result is None or isnan(result.value):
            why = f"What an intruder finds could not be measured: {self._omitted('reidentification_risk')}."
            mends = "Keep the records linked: read both files with an id, or protect the file here."
            yield Criterion("re-identification", Status.NOT_JUDGED, why, mends=mends)
            return
        for row in result.tables["intruders"].iter_rows(named=True):
            yield self._risk_of(row)
            yield self._claims_of(row)

    def _risk_of(self, row: dict[str, object]) -> Criterion:
        name = f"re-identification by {row['intruder']}"
        limit = row["max_risk"] if row["max_risk"] is not None else self.x.max_risk
        value = float(str(row["value"]))
        upper = value + 2 * float(str(row["sampling_error"]))
        unsure = str(row["not_judged"])
        mends = "Recode the keys, suppress, or protect the numbers more strongly; or accept a higher risk."
        about = f"An intruder who {row['knows']} finds {100 * value:.3g} % of the persons"
        if unsure:
            why = f"{about}; what became of {unsure} could not be learned, so that the risk may be higher."
            mends = f"Protect {unsure} here, so that the log knows the recoding, or drop it."
            return Criterion(name, Status.NOT_JUDGED, why, value, None, mends, share=True)
        if limit is None:
            why = f"{about}; no accepted risk was set."
            return Criterion(name, Status.NOT_JUDGED, why, value, None, "Set max_risk.", share=True)
        ceiling = float(str(limit))
        sampled = "" if upper == value else f" (up to {100 * upper:.3g} %, as not all were attacked)"
        if upper <= ceiling:
            why = f"{about}{sampled}, at most {100 * ceiling:.3g} % are accepted."
            return Criterion(name, Status.MET, why, value, ceiling, share=True)
        why = f"{about}{sampled}; accepted are {100 * ceiling:.3g} %."
        return Criterion(name, Status.NOT_MET, why, value, ceiling, mends, share=True)

    def _claims_of(self, row: dict[str, object]) -> Criterion:
        name = f"claims of {row['intruder']}"
        right, claims = float(str(row["claims_right"])), float(str(row["claims"]))
        limit = self.accepted.claims
        told = f"{row['intruder']} is sure of {claims:,.0f} persons and right for {right:,.0f}"
        if right <= limit + 1e-9:
            return Criterion(name, Status.MET, f"{told}; {limit:g} are accepted.", right, limit)
        why = f"An intruder who is sure claims {claims:,.0f} persons and is right for {right:,.3g} of them."
        mends = f"Protect more strongly, or accept the number: accept: {{claims: {int(np.ceil(right))}}}."
        return Criterion(name, Status.NOT_JUDGED, why, right, limit, mends)

    def _synthetic_file(self) -> Iterator[Criterion]:
        """Synthetic or unlinked files: re-identification is not defined, but copies are."""
        result = self.x.after.get("closest_record")
        if result is None or isnan(result.value) or "copies" not in result.figures:
            why = (
                f"Whether the file repeats original records is not known: {self._omitted('closest_record')}."
            )
            yield Criterion(
                "copies of original records", Status.NOT_JUDGED, why, mends="Measure closest_record."
            )
            return
        copies, real = result.figures["copies"], result.figures.get("reference_copies", 0.0)
        low, near = result.figures.get("low", result.value), result.figures.get("reference_share", 0.0)
        if copies > real or low > near:
            why = (
                f"{100 * copies:.3g} % of the records are copies of original ones ({100 * real:.3g} % would "
                "be "
                f"expected of other people), and {100 * result.value:.3g} % are as close as the closest "
                "originals "
                f"({100 * near:.3g} %)."
            )
            mends = "Synthesise with smoothing and fewer predictors; a copied record is a released record."
            yield Criterion(
                "copies of original records", Status.NOT_MET, why, copies, real, mends, share=True
            )
            return
        why = "The file repeats original records no more often than other people of the population would."
        yield Criterion("copies of original records", Status.MET, why, copies, real, share=True)

    def _inference(self) -> Iterator[Criterion]:
        if not self.original.roles.sensitive:
            return
        result = self.x.after.get("attribute_inference")
        name = "inference of sensitive values"
        if result is None or isnan(result.value):
            why = (
                "What can be inferred of sensitive values is not known: "
                f"{self._omitted('attribute_inference')}."
            )
            mends = "For synthetic files give people who were not in the original: holdout=."
            yield Criterion(name, Status.NOT_JUDGED, why, mends=mends)
            return
        limit = self.x.max_risk if self.accepted.inference is None else self.accepted.inference
        about = (
            f"Of {100 * result.value:.3g} % of the persons a sensitive value can be inferred with near "
            "certainty "
            "that could not be guessed without the file"
        )
        if limit is None:
            why = f"{about}; no accepted share was set."
            mends = "Set max_risk or accept: {inference: …}."
            yield Criterion(name, Status.NOT_JUDGED, why, result.value, None, mends, share=True)
        elif result.value <= limit:
            yield Criterion(name, Status.MET, f"{about}.", result.value, limit, share=True)
        else:
            mends = "Make the keys coarser, suppress with l-diversity, or apply PRAM to the sensitive column."
            why = f"{about}; accepted are {100 * limit:.3g} %."
            yield Criterion(name, Status.NOT_MET, why, result.value, limit, mends, share=True)

    def _revealing_columns(self) -> Iterator[Criterion]:
        if not self.x.same_people:
            return
        result, name = self.x.after.get("revealing_columns"), "columns that tell what was hidden"
        if result is None or isnan(result.value):
            why = (
                "Whether other columns tell what was hidden is not known: "
                f"{self._omitted('revealing_columns')}."
            )
            yield Criterion(name, Status.NOT_JUDGED, why, mends="Measure revealing_columns.")
            return
        limit = float(result.options.get("gain", 0.5))
        alarms = result.parts.filter("alarm") if result.parts is not None else pl.DataFrame()
        if alarms.height:
            pairs = [f"{c} tells {h}" for h, c in alarms.select("hidden", "columns").rows()]
            why = f"{join_names(pairs, 4)}: what was hidden there can be read off."
            mends = f"Drop or recode {join_names(dict.fromkeys(alarms['columns']), 4)}."
            yield Criterion(name, Status.NOT_MET, why, result.value, limit, mends, share=True)
        else:
            why = "No released column tells what was hidden in another."
            yield Criterion(name, Status.MET, why, result.value, limit, share=True)

    def _same_columns(self) -> Criterion:
        roles = self.original.roles
        known = dict.fromkeys((*roles.keys, *roles.numeric, *roles.sensitive))
        steps = self.data.steps_since(self.original)
        dropped = {c for entry in steps for c in entry.effects.drops}
        gone = [c for c in known if c not in self.data.columns and c not in dropped]
        new = [c for c in self.data.columns if c not in self.original.columns]
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

    def _columnsnot_looked_at(self) -> Criterion:
        name = "columns that no risk looks at"
        unseen = [c for c in not_looked_at(self.original, self.data) if c not in self.accepted.columns]
        if not unseen:
            return Criterion(
                name, Status.MET, "Every released column has a role that a measure looks at.", 0, 0
            )
        near = [c for c in near_unique(self.data) if c in unseen]
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

    def _ids(self) -> Criterion:
        same = same_ids(self.original, self.data)
        if same is None:
            why = "Whether the ids are those of the original is not known: the records are not in memory."
            return Criterion("ids of the original", Status.NOT_JUDGED, why)
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
        rows = source_rows(self.original, self.data) if self._in_memory else None
        if rows is None:
            why = "Whether the rows are in the order of the original is not known."
            return Criterion(name, Status.NOT_JUDGED, why, mends=mends)
        if len(rows) < 2 or bool((np.diff(rows) < 0).any()):
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
        numbers = [
            c for c in numbers if c not in self.accepted.numbers and c not in self.original.roles.sensitive
        ]
        if not self.original.roles.numeric:
            return
        same = unchanged_numbers(self.original, self.data, numbers)
        if same is None:
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
        elif population is None and (fault := odd_weights(weights)):
            mends = "Correct the weights, or say how many people there are: accept: {population: …}."
            yield Criterion(name, Status.NOT_JUDGED, f"{about}: {fault}.", total, None, mends)
        else:
            yield Criterion(name, Status.MET, f"{about}.", total, population)
