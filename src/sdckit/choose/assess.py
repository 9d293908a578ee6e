"""assess: every measure that applies to an original and a protected file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import isnan
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from sdckit._support.messages import did_you_mean, join_names
from sdckit._support.progress import Progress, ShowProgress, closes_progress
from sdckit.choose.applicability import not_applicable, unlinked_reason
from sdckit.choose.assessment import Assessment, Omission
from sdckit.choose.criteria import Accepted
from sdckit.data.effects import merged
from sdckit.data.files_unchanged import require_unchanged
from sdckit.data.intruder import intruders_of
from sdckit.data.microdata import Microdata, require_microdata
from sdckit.data.result import Result, pool_results
from sdckit.errors import OptionError, SdcError, Stopped, UnknownMethodError, preview
from sdckit.methods.calls import require_same_engine
from sdckit.methods.registry import is_third_party, specs
from sdckit.methods.spec import Compares, Kind, Spec


@closes_progress
def assess(
    original: Microdata,
    protected: Microdata | Sequence[Microdata],
    *,
    measures: str | Sequence[str] | None = None,
    max_risk: float | None = None,
    linked: bool | None = None,
    intruders: Any = None,
    accept: Any = None,
    progress: Progress | ShowProgress | bool | None = None,
    **measure_options: Any,
) -> Assessment:
    """Run every measure that applies, or those named in `measures`, and judge whether to release the file.

    Risks of one file are measured before and after. `measure_options` are options by the measure's name,
    `k_anonymity={"k": 5}` or, for its main option, `k_anonymity=5`; `by=…` goes to all that have it.
    Measures that compare record by record are left out, with the reason, for files with other ids or another
    length (`linked=False` says so for a file from elsewhere). After swapping and shuffling a record keeps its
    place: values that moved are compared with what stood there before, and a note says so. `protected` may be
    a list of synthetic files: the figures are then means over the files.

    `max_risk`: the share of persons that every one of the `intruders` may find. `accept`: what the data
    holder accepts with open eyes, for instance {"claims": 5}; see `verdict` of the result, which lists every
    criterion as met, not met or not judged.

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
        require_same_engine(original, data)
    require_unchanged([original, *sets])
    check_ceiling(max_risk)
    if max_risk is not None and not 0 <= max_risk <= 1:
        raise OptionError("max_risk is a share of persons.", given=max_risk, allowed="0 to 1")
    accepted = Accepted.of(accept)
    options = options_by_measure(with_intruders(intruders, measure_options))
    measures = None if measures is None else listed(measures, "measures")
    check_names(measures)
    chosen = [s for name, s in _measures().items() if measures is None or name in measures]
    unlinked = unlinked_reason(original, sets, linked)
    tell = Progress.of(progress)
    synthetic = bool(unlinked) or len(sets) > 1
    same_people = linked is not False and len(sets) == 1 and not _are_new(original, sets[0])
    before: dict[str, Result] = {}
    results: dict[Kind, dict[str, Result]] = {Kind.RISK: {}, Kind.UTILITY: {}}
    omitted: list[Omission] = []
    seconds: dict[str, float] = {}
    for position, spec in enumerate(chosen):
        tell(spec.name, position, len(chosen))
        asked = synthetic or spec.name in options or measures is not None
        reason = not_applicable(
            spec, (original, *sets), unlinked, options, asked=asked, same_people=same_people
        )
        if reason:
            omitted.append(Omission(spec.name, reason))
            continue
        start = perf_counter()
        try:
            if spec.compares is Compares.ONE_FILE:
                before[spec.name] = _of_one(spec, original, options.get(spec.name, {}))
            if not same_people and "linked" in spec.options.model_fields:
                options = {**options, spec.name: {"linked": False, **options.get(spec.name, {})}}
            found = _on_sets(spec, original, sets, options)
            results[spec.kind][spec.name] = _with_note(found, spec, original, sets)
        except Stopped:
            raise
        except Exception as error:
            before.pop(spec.name, None)
            omitted.append(Omission(spec.name, _why_failed(spec, error)))
        seconds[spec.name] = perf_counter() - start
    require_unchanged([original, *sets])
    return Assessment(
        original,
        sets,
        before,
        results[Kind.RISK],
        results[Kind.UTILITY],
        tuple(omitted),
        max_risk,
        seconds=seconds,
        same_people=same_people,
        accept=accepted,
    )


def _are_new(original: Microdata, protected: Microdata) -> bool:
    """Whether a step drew all records anew, so that none is that of a person."""
    return merged(entry.effects for entry in protected.steps_since(original)).new_records


def with_intruders(given: Any, measure_options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with the same intruders for every measure that has any, beside its other options."""
    options = dict(measure_options)
    if given is None:
        return options
    known = intruders_of(given)
    for spec in specs(Kind.RISK):
        if "intruders" not in spec.options.model_fields:
            continue
        own = options.get(spec.name, {})
        own = own if isinstance(own, Mapping) else _main_option(spec, own)
        options[spec.name] = {"intruders": known, **own}
    return options


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


def check_names(measures: Sequence[str] | None) -> None:
    """Refuse names of measures that there are not."""
    known = _measures()
    for name in measures or ():
        if name not in known:
            raise UnknownMethodError(
                f"There is no measure {name!r}.",
                allowed=join_names(known, 60),
                hint=did_you_mean(name, known),
            )


def options_by_measure(
    needs: Mapping[str, Any], who: str = "assess", own: str = "measures, max_risk, linked, intruders, accept"
) -> dict[str, dict[str, Any]]:
    """Options by measure, validated before any work starts; `who` asks and has these options of its `own`."""
    measures = _measures()
    wanted: dict[str, dict[str, Any]] = {}
    for name, value in needs.items():
        if name in measures:
            given = value if isinstance(value, Mapping) else _main_option(measures[name], value)
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


def _main_option(spec: Spec, value: Any) -> dict[str, Any]:
    """What `k_anonymity=5` means: the main option of the measure, where it has one."""
    if not spec.main:
        names = join_names(spec.options.model_fields)
        raise OptionError(
            f"{spec.name} has no main option that a value alone could be.",
            given=f"{spec.name}={preview(value)}",
            allowed=f"{spec.name}={{option: value}}" + (f" with {names}" if names else ""),
        )
    return {spec.main: value}


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


def _with_note(result: Result, spec: Spec, original: Microdata, sets: Sequence[Microdata]) -> Result:
    """The result of comparing record by record with a note on values that moved from record to record."""
    if spec.compares is not Compares.RECORDS or spec.kind is not Kind.UTILITY or spec.counts_values:
        return result
    moved: dict[str, set[str]] = {}
    for entry in (entry for data in sets for entry in data.steps_since(original)):
        if entry.effects.moves_values:
            moved.setdefault(entry.method, set()).update(entry.effects.moves_values)
    parts = result.parts
    used = set() if parts is None or "variable" not in parts.columns else set(parts["variable"])
    notes = tuple(
        f"{method} moved values of {join_names(sorted(columns & used))} from record to record: this says how "
        "far, and little of what analyses lose. Look at distributions, tables and estimates as well."
        for method, columns in moved.items()
        if columns & used
    )
    return replace(result, notes=result.notes + notes)
