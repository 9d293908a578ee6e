"""What the page has done for it: read, judge, measure, compare, search, report, release."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sdckit._support.progress import Progress
from sdckit.choose import plain
from sdckit.choose.assess import assess, options_by_measure, with_intruders
from sdckit.choose.assessment import Assessment
from sdckit.choose.compare import compare
from sdckit.choose.describe import describe
from sdckit.choose.judging_measures import judging_measures
from sdckit.choose.plan import with_files_named
from sdckit.choose.preparation import preparations_of, prepared
from sdckit.choose.release_checks import judged_intruders
from sdckit.choose.risk_utility_map import RiskUtilityMap
from sdckit.choose.scenario import Scenario, StepCache
from sdckit.choose.search import search
from sdckit.choose.warm_up import warm_up
from sdckit.data.effects import merged
from sdckit.data.intruder import Unit, default_intruders
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.errors import FileError, OptionError, SdcWarning
from sdckit.io.read import with_roles
from sdckit.methods.registry import find
from sdckit.methods.spec import Compares
from sdckit.web.document import Document
from sdckit.web.explore import explored
from sdckit.web.kept import aligned_rows, kept
from sdckit.web.looks import above, beyond, codes, codes_below, combinations, distribution, value_labels
from sdckit.web.mapped import mapped
from sdckit.web.opening import opened, reading, reading_notes
from sdckit.web.release import release, release_folder
from sdckit.web.worker import source_key

LOSSES = ("records_changed", "missing_values", "entropy_loss", "il1s")  # beside the verdict in the panel
OF_NEW_RECORDS = ("table_pmse", "contingency_loss", "distribution_distance", "correlation_loss")
AXES = ("risk", "utility", "extra_measures")
ONE_FILE = ("measures", "linked")  # what a plan says for the command `sdckit assess`
LARGE = 50_000  # records from which on first answers are told: below, all are there in half a second


class Desk:
    """One worker's data: the file that is open, and the protected files made from it last."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._key = ""
        self._read: Microdata | None = None
        self._file: tuple[str, Microdata] | None = None  # as it was read, before it was prepared
        self._with_roles: tuple[str, Microdata] | None = None
        self._map: tuple[str, Any, RiskUtilityMap] | None = None  # the last one, and what it is of
        self._cache = StepCache()
        self._so_far: Callable[[Any], None] | None = None

    def do(
        self, task: Mapping[str, Any], progress: Progress, so_far: Callable[[Any], None] | None = None
    ) -> Any:
        """Do one task; what it gives is plain JSON. `so_far` is told what is known before the end."""
        self._so_far = so_far
        kinds = {
            "open": self.open,
            "judge": self.judge,
            "try": self.judge,
            "measure": self.measure,
            "column": self.column,
            "explore": self.explore,
            "threshold": self.threshold,
            "riskiest": self.riskiest,
            "codes": self.codes,
            "compare": self.compare,
            "ceiling": self.ceiling,
            "search": self.search,
            "release": self.release,
            "warm_up": self.warm_up,
        }
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", SdcWarning)
            found = kinds[task["kind"]](task, progress)
        notes = [str(w.message) for w in told if issubclass(w.category, SdcWarning)]
        return plain.clean({**found, "told": list(dict.fromkeys(notes))})

    def raw(self, source: Mapping[str, Any], content: str | None = None) -> Microdata:
        """The open file without roles. Read again only where its content is another.

        `content`: what the file held when it was opened. A file that was changed since is refused: what was
        decided, and what is shown, is about the other one.
        """
        key = source_key(source)
        if content is not None and key != content:
            raise FileError("The file was changed since it was opened.", hint="Open it again.")
        if self._read is None or key != self._key:
            self._read = prepared(self._unprepared(source), preparations_of(source.get("prepare")))
            self._key = ""
            if source_key(source) != key:
                self._read = self._file = None  # which content was read is not known
                raise FileError("The file was changed while it was read.", hint="Open it again.")
            self._key = key  # after the reading: a key without its data would be another file's
            self._with_roles = None
            self._cache.clear()
        return self._read

    def _unprepared(self, source: Mapping[str, Any]) -> Microdata:
        """The file as it was read, which stays when only its preparation is another."""
        bare = {name: value for name, value in source.items() if name != "prepare"}
        key = source_key(bare)
        if self._file is None or self._file[0] != key:
            self._file = None  # two files at a time would need twice the memory
            self._file = (key, opened(bare))
        return self._file[1]

    def data(self, task: Mapping[str, Any], document: Document) -> Microdata:
        """The open file under its roles, without direct identifiers."""
        raw = self.raw(document.source, task["content"])
        roles = document.columns_by_role
        key = repr(sorted(roles.items()))
        if self._with_roles is None or self._with_roles[0] != key:
            if self._with_roles is not None:
                self._with_roles[1].cache.clear()  # results lead back to their data: nothing else frees them
            self._with_roles = (key, with_roles(raw, roles))
        return self._with_roles[1]

    def open(self, task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """Read a file, put it where the page can look at its rows, and say what it holds."""
        progress("reading the file", 0, 3)
        raw = self.raw(task["source"])
        progress("looking at the columns", 1, 3)
        seen = describe(raw)
        progress("keeping the records", 2, 3)
        name = kept(raw, self.folder, "original", self._key)
        found = reading(task["source"])
        return {
            "records": raw.height,
            "rows": name,
            "columns": [
                {**plain.column(c), "value_labels": value_labels(raw, c.name), "codes": codes(raw, c)}
                for c in seen.columns
            ],
            "suggested": seen.roles,
            "key": self._key,
            "prepared": plain.prepared(raw),
            "reading": found,
            "notes": reading_notes(task["source"], raw, found),
        }

    def judge(self, task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """Protect as a scenario says, and judge the file by every criterion."""
        document = Document.of_dict(task["document"])
        data = self.data(task, document)
        scenario = document.scenario(task["scenario"])
        protected = scenario.protect(data, document.seed, progress, cache=self._cache)
        if task["kind"] == "judge":
            self._tell_first_answers(document, data, protected, progress)
        new = merged(entry.effects for entry in protected.steps_since(data)).new_records
        losses = OF_NEW_RECORDS if new else LOSSES  # new records have no counterpart to be compared with
        measures = [*judging_measures(data, protected, _options(document)), *losses]
        done = self._assessed(document, data, protected, scenario, progress, measures)
        same = protected is data and not data.dropped  # nothing was changed: the rows are there already
        key = self._key if same else f"{self._key} {task['key']}"
        name = kept(protected, self.folder, "original" if same else "protected", key)
        known = document.intruders or default_intruders(data.roles)
        aligned = name if same else aligned_rows(data, protected, self.folder, key, name)
        return {
            **plain.assessment(done),
            "log": plain.log(protected),
            "took": [entry.seconds for entry in protected.log],
            "rows": name,
            "aligned": aligned,
            "protected_records": protected.height,
            "new_records": new,
            "columns": list(protected.columns),
            "intruders": {one.name: {**one.as_dict(), "words": one.describe()} for one in known},
        }

    def _tell_first_answers(
        self, document: Document, data: Microdata, protected: Microdata, progress: Progress
    ) -> None:
        """In large files, tell what those find who know keys alone before who knows numbers is at work.

        It is no verdict: nothing says that a file can be released before every criterion is judged. What is
        found here is kept with the data, and not found a second time.
        """
        known = document.intruders or default_intruders(data.roles)
        quick = [one for one in known if not one.known(data).numbers and one.unit is Unit.PERSON]
        told_otherwise = "reidentification_risk" in document.assess
        if self._so_far is None or data.height < LARGE or len(quick) in (0, len(known)) or told_otherwise:
            return
        alone = replace(document, intruders=tuple(quick))
        done = self._assessed(alone, data, protected, Scenario("first"), progress, ["reidentification_risk"])
        waiting = [one.name for one in known if one not in quick]
        found = [criterion.as_dict() for criterion in judged_intruders(done)]
        self._so_far(plain.clean({"criteria": found, "waiting": waiting}))

    def _assessed(
        self,
        document: Document,
        data: Microdata,
        protected: Microdata,
        scenario: Scenario,
        progress: Progress,
        measures: list[str] | None,
    ) -> Assessment:
        done = assess(
            data,
            protected,
            measures=measures,
            max_risk=document.max_risk,
            intruders=document.intruders or None,
            accept=document.accept,
            progress=progress,
            **_options(document),
        )
        return replace(done, scenario=scenario.name, seed=document.seed)

    def measure(self, task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """One measure of a scenario's file, before and after, with its pictures."""
        document, data = self._under_roles(task)
        spec = find(task["measure"])
        said = options_by_measure(with_intruders(document.intruders or None, _options(document)))
        options = {**said.get(spec.name, {}), **(task.get("options") or {})}  # as the verdict is made with
        progress(spec.title, 0, 2)
        protected = self._protected(task, document, data, progress)
        if spec.compares is Compares.ONE_FILE:
            found = {"before": spec.call(data, **options), "after": spec.call(protected, **options)}
        else:
            found = {"after": spec.call(data, protected, **options)}
        return {"measure": spec.name, **{name: _shown(result) for name, result in found.items()}}

    def column(self, task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """The distribution of one column, and of the same column of a scenario's file."""
        document = Document.of_dict(task["document"])
        raw = self.raw(document.source, task["content"])
        raw.require(task["column"])
        files = {"original": raw.frame[task["column"]]}
        if task.get("scenario") and document.scenario(task["scenario"]).steps:
            protected = self._protected(task, document, self.data(task, document), progress)
            if task["column"] in protected.columns:
                files["protected"] = protected.frame[task["column"]]
        hidden = {"direct", "id"} & set(document.roles.get(task["column"], ()))
        labels = {} if hidden else value_labels(raw, task["column"])
        return {
            "column": task["column"],
            "labels": labels,
            **{name: {} if hidden else distribution(values) for name, values in files.items()},
            **(
                {"beyond": beyond(files["original"], task["value"])} if "value" in task and not hidden else {}
            ),
        }

    def explore(self, task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """One or two variables of both files, with a picture and numbers."""
        document = Document.of_dict(task["document"])
        hidden = [c for c in task["columns"] if {"direct", "id"} & set(document.roles.get(c, ()))]
        if hidden:
            raise OptionError("Values that name records are not drawn.", given=", ".join(hidden))
        data = self.data(task, document)
        protected = self._protected(task, document, data, progress)
        steps = document.scenario(task["scenario"]).steps
        return explored(data, protected if steps else None, task["columns"])

    def threshold(self, task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """How many records of a scenario's file are above a risk."""
        document, data = self._under_roles(task)
        protected = self._protected(task, document, data, progress)
        return above(protected, task.get("keys") or protected.roles.keys, task["threshold"])

    def riskiest(self, task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """The riskiest combinations of keys of a scenario's file."""
        document, data = self._under_roles(task)
        protected = self._protected(task, document, data, progress)
        scenario = document.scenario(task["scenario"])
        return combinations(self._assessed(document, data, protected, scenario, progress, []))

    def codes(self, task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """For each code of each key the records below k, in the original and in a scenario's file."""
        document, data = self._under_roles(task)
        files = {"original": data, "protected": self._protected(task, document, data, progress)}
        return {name: codes_below(file, task["k"], task["most"]) for name, file in files.items()}

    def _under_roles(self, task: Mapping[str, Any]) -> tuple[Document, Microdata]:
        document = Document.of_dict(task["document"])
        return document, self.data(task, document)

    def _protected(
        self, task: Mapping[str, Any], document: Document, data: Microdata, progress: Progress
    ) -> Microdata:
        scenario = document.scenario(task["scenario"])
        return scenario.protect(data, document.seed, progress, cache=self._cache)

    def compare(self, task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """Every scenario on one map."""
        document = Document.of_dict(task["document"])
        scenarios = [document.scenario(name) for name in task["scenarios"]]
        placing = _placing(document)
        extra = [*placing.get("extra_measures", ()), *task.get("extra", ())]
        placing["extra_measures"] = list(dict.fromkeys(extra))
        found = compare(self.data(task, document), scenarios, progress=progress, **placing)
        return self._mapped(task, found)

    def search(self, task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """Trials over ranges of options, on one map."""
        document = Document.of_dict(task["document"])
        space, trials = task["space"], task["trials"]

        def show(found: RiskUtilityMap) -> None:
            if self._so_far is not None:
                self._so_far(plain.clean(plain.points(found)))

        data, placing = self.data(task, document), _placing(document)
        found = search(data, space, trials=trials, progress=progress, each=show, **placing)
        return self._mapped(task, found)

    def _mapped(self, task: Mapping[str, Any], found: RiskUtilityMap) -> dict[str, Any]:
        self._map = (task["key"], _but_the_ceiling(task), found)
        return {**mapped(found), "key": task["key"]}

    def ceiling(self, task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """The last map under the accepted risk of now: nothing is placed again, the best file is judged."""
        if self._map is None or self._map[:2] != (task["map"], _but_the_ceiling(task)):
            raise OptionError("The map is of something else than what is shown now.", hint="Compare again.")
        progress("judging the best scenario", 0, 1)
        found = self._map[2].with_ceiling(task["document"]["max_risk"])
        return {**mapped(found), "key": task["map"]}

    def release(self, task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """The files of a release, in the session's folder."""
        document, data = self._under_roles(task)
        protected = self._protected(task, document, data, progress)
        scenario = document.scenario(task["scenario"])
        done = self._assessed(document, data, protected, scenario, progress, None)
        folder = release_folder(self.folder / "release", task["key"])
        return release(self._named(document), protected, done, folder, task["wanted"], progress)

    def _named(self, document: Document) -> Document:
        """The document as its plan says it: uploaded files have only names, and lie beside the plan."""

        def bare(name: str) -> str:
            return Path(name).name if Path(name).is_relative_to(self.folder) else name

        named = ("file", "codebook")
        source = {n: bare(str(v)) if n in named else v for n, v in document.source.items()}
        if "prepare" in source:
            source["prepare"] = [s.with_files(bare).as_dict() for s in preparations_of(source["prepare"])]
        return replace(document, source=source, assess=with_files_named(document.assess, bare))

    def warm_up(self, task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """Compile ahead what the usual tasks need."""
        warm_up(progress=progress)
        return {}


def _but_the_ceiling(task: Mapping[str, Any]) -> tuple[Any, ...]:
    """All that a map is of: the content of the file, and every decision but the accepted risk."""
    return task["content"], {**task["document"], "max_risk": None}


def _placing(document: Document) -> dict[str, Any]:
    """What a scenario is placed on the map by, and judged by."""
    return {
        "max_risk": document.max_risk,
        "intruders": document.intruders or None,
        "accept": document.accept,
        "seed": document.seed,
        **_axes(document),
        **_options(document),
    }


def _axes(document: Document) -> dict[str, Any]:
    """The axes of the map and what is measured beside them, where a plan says so."""
    given = {"extra_measures" if name == "also" else name: v for name, v in document.assess.items()}
    return {name: given[name] for name in AXES if name in given}


def _options(document: Document) -> dict[str, Any]:
    """Options of measures, by the measure's name."""
    return {name: v for name, v in document.assess.items() if name not in (*AXES, "also", *ONE_FILE)}


def _shown(result: Result) -> dict[str, Any]:
    """A result as the page shows it: numbers, notes, and its picture as a Vega-Lite specification."""
    spec = find(result.measure)
    chart = None if spec.chart is None else result.chart()
    figures = {
        name: {"label": spec.figures[name].label if name in spec.figures else name, "value": value}
        for name, value in result.figures.items()
    }
    return {
        "value": result.value,
        "figures": figures,
        "notes": list(result.notes),
        "chart": None if chart is None else chart.to_dict(),
    }
