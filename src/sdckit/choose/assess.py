"""assess: every measure that applies to an original and a protected file."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import isnan
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from sdckit._support.messages import did_you_mean, join_names
from sdckit.choose.release_checks import unmeasured
from sdckit.data.microdata import Microdata, require_microdata
from sdckit.data.record_links import linkage_problem
from sdckit.data.result import Result, pool_results, show
from sdckit.errors import OptionError, SdcError, UnknownMethodError, preview
from sdckit.methods.options import column_names, names_columns
from sdckit.methods.registry import is_third_party, specs
from sdckit.methods.spec import Compares, Kind, Spec

Progress = Callable[[str, int, int], None]  # measure, position, measures in all

# Values that changed records: the protection, and the option that names the columns.
MOVED = {"rank_swap": "variables", "shuffle": "variables", "swap_records": "geography"}
NO_DISTANCE = {"missing_values", "records_changed"}  # how many, not how far


@dataclass(frozen=True, slots=True)
class Omission:
    """A measure that was not computed, and why."""

    measure: str
    reason: str


@dataclass(frozen=True)
class Assessment:
    """What was measured: risk before and after, utility, and what was left out and why."""

    original: Microdata
    protected: tuple[Microdata, ...]
    before: Mapping[str, Result]
    after: Mapping[str, Result]
    utility: Mapping[str, Result]
    omitted: tuple[Omission, ...] = ()
    max_risk: float | None = None
    scenario: str = ""
    seed: int | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    same_people: bool = True  # each record of a protected file is one of the original's people

    @property
    def identifiers_left(self) -> tuple[str, ...]:
        """Direct identifiers that a protected file still has: it is not for release, whatever its risk."""
        return tuple(dict.fromkeys(c for data in self.protected for c in data.roles.direct))

    @property
    def risk_acceptable(self) -> bool | None:
        """Whether the mean individual risk is at or below the accepted one; None without a ceiling.

        Never with direct identifiers in the protected file.
        """
        if self.identifiers_left:
            return False
        if self.max_risk is None or "individual_risk" not in self.after:
            return None
        return self.after["individual_risk"].value <= self.max_risk

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to mind before the file is released: of its steps, and of columns that no risk looks at."""
        found: list[str] = []
        for data in self.protected:
            found += data.warnings
            found += unmeasured(self.original, data, same_people=self.same_people)
        return tuple(dict.fromkeys(found))

    def __repr__(self) -> str:
        lines = [f"Assessment of {self.scenario or 'a protected file'}: {self.original.height:,} records"]
        rows = [("risk", "before", "after")]
        for name, result in self.after.items():
            before = show(self.before[name].value) if name in self.before else ""
            rows.append((name, before, show(result.value)))
        rows.append(("utility", "", "value"))
        rows += [(name, "", show(r.value)) for name, r in self.utility.items()]
        first, *rest = (max(len(row[i]) for row in rows) for i in range(3))
        widths = [max(10, width) for width in rest]
        lines += [f"  {a:<{first}}  {b:>{widths[0]}}  {c:>{widths[1]}}" for a, b, c in rows]
        lines += [f"  warning: {text}" for text in self.warnings]
        lines += [f"  left out: {o.measure}: {o.reason}" for o in self.omitted]
        return "\n".join(lines)


def assess(
    original: Microdata,
    protected: Microdata | Sequence[Microdata],
    *,
    measures: str | Sequence[str] | None = None,
    max_risk: float | None = None,
    linked: bool | None = None,
    progress: Progress | None = None,
    **needs: Any,
) -> Assessment:
    """Run every measure that applies, or those named in `measures`.

    Risks of one file are measured before and after. `needs` sets options by the measure's name,
    `k_anonymity={"k": 5}` or, for its first option, `k_anonymity=5`; `by=…` goes to all that have it.
    Measures that compare record by record are left out, with the reason, after synthesis, `sample_records`
    and `shuffle_order` and for files with other ids or another length (`linked=False` says so for a file from
    elsewhere). After swapping and shuffling a record keeps its place: values that moved are compared with
    what stood there before, and a note says so. `protected` may be a list of synthetic files: the figures
    are then means over the files. `warnings` of the result says what no risk looks at.

    >>> import sdckit as sdc
    >>> data = sdc.demo.survey(n=300, seed=1)
    >>> protected = sdc.protect.microaggregate(data, variables=["income"], k=3)
    >>> sdc.assess(data, protected, measures=["il1s"]).utility["il1s"].measure
    'il1s'
    """
    sets = tuple(protected) if isinstance(protected, list | tuple) else (protected,)
    if not sets:
        raise OptionError("assess needs at least one protected file.", given="an empty list")
    for data in (original, *sets):
        require_microdata(data, "assess")
    check_ceiling(max_risk)
    if max_risk is not None and not 0 <= max_risk <= 1:
        raise OptionError("max_risk is a mean individual risk.", given=max_risk, allowed="0 to 1")
    options = measure_options(needs)
    measures = None if measures is None else listed(measures, "measures")
    _check_names(measures)
    chosen = [s for name, s in _measures().items() if measures is None or name in measures]
    unlinked = _why_unlinked(original, sets, linked)
    synthetic = bool(unlinked) or len(sets) > 1
    before: dict[str, Result] = {}
    results: dict[Kind, dict[str, Result]] = {Kind.RISK: {}, Kind.UTILITY: {}}
    omitted: list[Omission] = []
    seconds: dict[str, float] = {}
    for position, spec in enumerate(chosen):
        if progress is not None:
            progress(spec.name, position, len(chosen))
        reason = _why_not(spec, (original, *sets), unlinked, options)
        if not reason and not (synthetic or spec.name in options or measures is not None):
            reason = _only_synthetic(spec)
        if reason:
            omitted.append(Omission(spec.name, reason))
            continue
        start = perf_counter()
        try:
            if spec.compares is Compares.ONE_FILE:
                before[spec.name] = _of_one(spec, original, options.get(spec.name, {}))
            found = _on_sets(spec, original, sets, options)
            results[spec.kind][spec.name] = _with_note(found, spec, sets)
        except Exception as error:
            before.pop(spec.name, None)
            omitted.append(Omission(spec.name, _why_failed(spec, error)))
        seconds[spec.name] = perf_counter() - start
    return Assessment(
        original,
        sets,
        before,
        results[Kind.RISK],
        results[Kind.UTILITY],
        tuple(omitted),
        max_risk,
        seconds=seconds,
        same_people=linked is not False and len(sets) == 1,
    )


def check_ceiling(max_risk: Any) -> None:
    """Refuse an accepted risk that is not a number."""
    number = isinstance(max_risk, int | float) and not isinstance(max_risk, bool) and not isnan(max_risk)
    if max_risk is not None and not number:
        raise OptionError("max_risk must be a number.", given=preview(max_risk))


def listed(names: Any, what: str) -> list[str]:
    """One name or several, once: what gives them may be used up."""
    found = [names] if isinstance(names, str) else list(names) if isinstance(names, Iterable) else [names]
    if not all(isinstance(name, str) for name in found):
        raise OptionError(
            f"{what} names measures.", given=preview(names), allowed="a name or a list of names"
        )
    return found


def _why_failed(spec: Spec, error: Exception) -> str:
    """Why there is no number: what we refuse, or whatever a measure from outside sdckit does wrong."""
    if isinstance(error, SdcError):
        return str(error)
    if is_third_party(spec.function):
        return f"failed with {type(error).__name__}: {error}"
    raise error


def _measures() -> dict[str, Spec]:
    return {s.name: s for s in specs() if s.kind is not Kind.PROTECTION}


def _check_names(measures: Sequence[str] | None) -> None:
    known = _measures()
    for name in measures or ():
        if name not in known:
            raise UnknownMethodError(
                f"There is no measure {name!r}.",
                allowed=join_names(known, 60),
                hint=did_you_mean(name, known),
            )


def measure_options(
    needs: Mapping[str, Any], who: str = "assess", own: str = "measures, max_risk, linked"
) -> dict[str, dict[str, Any]]:
    """Options by measure, validated before any work starts; `who` asks and has these options of its `own`."""
    measures = _measures()
    wanted: dict[str, dict[str, Any]] = {}
    for name, value in needs.items():
        if name in measures:
            first = next(iter(measures[name].options.model_fields), None)
            given = dict(value) if isinstance(value, Mapping) else {first: value} if first else {}
            wanted.setdefault(name, {}).update(given)
            continue
        takers = [s for s in measures.values() if name in s.options.model_fields]
        if not takers or name != "by":
            raise OptionError(
                f"{who} does not know {name!r}.",
                allowed=f"{own}, by, or the name of a measure",
                hint=did_you_mean(name, [*own.split(", "), "by", *measures]),
            )
        for spec in takers:
            wanted.setdefault(spec.name, {})[name] = value
    for name, given in wanted.items():
        measures[name].validate(given)
    return wanted


def _why_unlinked(original: Microdata, sets: Sequence[Microdata], linked: bool | None) -> str:
    if linked is False:
        return "the records are not the same people"
    for data in sets:
        for entry in data.steps_since(original):
            if not entry.effects.rows_known:
                return f"after {entry.method} records can no longer be compared one by one"
        reason = linkage_problem(original, data)
        if reason:
            return reason
    return ""


def _why_not(spec: Spec, files: Sequence[Microdata], unlinked: str, options: Mapping[str, Any]) -> str:
    original, *protected = files
    given = options.get(spec.name, {})
    missing = spec.lacks(original, given)
    if missing:
        return f"no column has the role {join_names(r.value for r in missing)}"
    gone = {role for data in protected for role in spec.lacks(data, given)}
    if gone and spec.compares is Compares.ONE_FILE:
        return f"the protected file has no column left with the role {join_names(sorted(gone))}"
    dropped = _dropped(spec, options.get(spec.name, {}), original, protected)
    if dropped and spec.compares is Compares.ONE_FILE:
        return f"needs {join_names(dropped)}, and the protected file has no such column"
    if original.engine not in spec.engines:
        return f"needs the records in memory, and they are on {original.engine}"
    required = [n for n, f in spec.options.model_fields.items() if f.is_required()]
    absent = [n for n in required if n not in options.get(spec.name, {})]
    if absent:
        return f"needs to be told {join_names(absent)}, for example {spec.name}={{{absent[0]!r}: …}}"
    if spec.compares is Compares.RECORDS and unlinked:
        return f"compares each record with its protected self, and {unlinked}"
    return ""


def _dropped(
    spec: Spec, given: Mapping[str, Any], original: Microdata, protected: Sequence[Microdata]
) -> list[str]:
    """The columns named in the options that the original has and a protected file does not."""
    asked = (v for name, v in given.items() if name in spec.hints and names_columns(spec.hints[name]))
    named = {c for value in asked for c in column_names(value)} & set(original.columns)
    return sorted(c for c in named if any(c not in data.columns for data in protected))


def _only_synthetic(spec: Spec) -> str:
    """Why risks of synthetic files are left out where each record is a version of an original one."""
    if spec.kind is Kind.RISK and "synthetic" in spec.file_names:
        return "is about synthetic files: say so with linked=False, or ask for it by name"
    return ""


def _on_sets(
    spec: Spec, original: Microdata, sets: Sequence[Microdata], options: Mapping[str, dict[str, Any]]
) -> Result:
    given = options.get(spec.name, {})
    if spec.compares is Compares.ONE_FILE:
        return pool_results([_of_protected(spec, data, given) for data in sets])
    return cast("Result", spec.call(original, list(sets), **given))


def _of_protected(spec: Spec, data: Microdata, given: Mapping[str, Any]) -> Result:
    """The risk of a protected file. The original's could be measured, so errors are about this one."""
    try:
        return _of_one(spec, data, given)
    except SdcError as error:
        raise error.after("in the protected file") from None


def _of_one(spec: Spec, data: Microdata, given: Mapping[str, Any]) -> Result:
    """The risk of one file, kept with it: the original is the same in every comparison."""
    try:
        asked = ("result", spec.function, json.dumps(given, sort_keys=True), _changed(given))
    except TypeError:  # a table among the options
        return cast("Result", spec.call(data, **given))
    return data.cached(asked, lambda: cast("Result", spec.call(data, **given))).copy()


def _changed(given: Mapping[str, Any]) -> tuple[tuple[int, int], ...]:
    """When the files among the options were last written, and their sizes."""
    found = []
    for text in (value for value in given.values() if isinstance(value, str)):
        with suppress(OSError, ValueError, RuntimeError):  # most texts are no file
            file = Path(text).expanduser().stat()
            found.append((file.st_mtime_ns, file.st_size))
    return tuple(found)


def _with_note(result: Result, spec: Spec, sets: Sequence[Microdata]) -> Result:
    """The result of comparing record by record with a note on values that moved from record to record."""
    if spec.compares is not Compares.RECORDS or spec.kind is not Kind.UTILITY or spec.name in NO_DISTANCE:
        return result
    moved: dict[str, set[str]] = {}
    for entry in (entry for data in sets for entry in data.log if entry.method in MOVED):
        moved.setdefault(entry.method, set()).update(entry.options.get(MOVED[entry.method], ()))
    parts = result.parts
    used = set() if parts is None or "variable" not in parts.columns else set(parts["variable"])
    notes = tuple(
        f"{method} moved values of {join_names(sorted(columns & used))} from record to record: this says how "
        "far, and little of what analyses lose. Look at distributions, tables and estimates as well."
        for method, columns in moved.items()
        if columns & used
    )
    return replace(result, notes=result.notes + notes)
