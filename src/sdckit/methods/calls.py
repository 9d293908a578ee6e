"""What happens when a method is called: everything is checked, then it runs, then it is written down."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from sdckit._support.progress import Progress, closes_progress
from sdckit.data.effects import merged
from sdckit.data.files_unchanged import files_unchanged
from sdckit.data.microdata import LogEntry, Microdata, require_microdata
from sdckit.data.result import Result, pool_results, worst_result
from sdckit.engine import frames
from sdckit.errors import EngineError, OptionError, preview
from sdckit.methods.serialise import number, numbers, to_builtin
from sdckit.methods.signatures import readable
from sdckit.methods.spec import Better, Spec, files_wanted
from sdckit.methods.where import chosen_records, protect_some

T = TypeVar("T")


def prepare(spec: Spec, files: Sequence[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that can be wrong with a call is found here, before any work starts."""
    options = spec.validate(given)
    files_wanted(spec, files)
    for position, file in enumerate(files):
        several = isinstance(file, list | tuple)
        if several and (position == 0 or not file):
            what = f"{'needs at least' if position else 'takes'} one file as {spec.file_names[position]}"
            hint = "" if position else "sdckit.assess takes a list of protected files."
            raise OptionError(f"{spec.name} {what}.", given=f"a list of {len(file)}", hint=hint)
        for data in file if several else [file]:
            require_microdata(data, spec.name)
            with frames.engine_errors(data.engine):
                if position == 0:
                    spec.check(data, options)
                else:
                    require_same_engine(files[0], data)
    with frames.engine_errors(files[0].engine):
        return spec.resolve(files[0], options)


def require_same_engine(first: Microdata, second: Microdata) -> None:
    """Refuse to compare files that no engine has together."""
    if first.engine != second.engine:
        raise EngineError(
            "Both files must be on the same engine.",
            given=f"{first.engine}, {second.engine}",
            hint="data.collect() brings a file into memory (polars); read(…, engine=…) leaves it outside.",
        )
    if not frames.can_join(first.frame, second.frame):
        raise EngineError(
            "Both files must be of the same DuckDB connection.",
            hint="Read both with sdckit.read(…, engine='duckdb'), or both through your connection.",
        )


def measuring(spec: Spec) -> Callable[..., Result]:
    """The function that users call to measure."""

    @wraps(spec.function)
    def measure(*files: Any, progress: Any = None, **given: Any) -> Result:
        files += tuple(given.pop(name) for name in spec.file_names[len(files) :] if name in given)
        options = prepare(spec, files, given)
        if "progress" in spec.parameters:
            options["progress"] = Progress.of(progress)
        with files_unchanged(files), frames.engine_errors(files[0].engine):
            result = _of_sets(spec, files, options)
        options.pop("progress", None)
        plain = {"value": number(result.value), "figures": numbers(result.figures)}
        return replace(result, **plain, measure=spec.name, options=to_builtin(options), draw=spec.chart)

    measure.__signature__ = readable(spec.function)  # type: ignore[attr-defined]
    return closes_progress(measure) if "progress" in spec.parameters else measure


def _run(spec: Spec, kind: type[T], files: Sequence[Any], options: Mapping[str, Any]) -> T:
    """What the function makes of the files, which must be of its kind."""
    found = spec.function(*files, **options)
    if not isinstance(found, kind):
        raise OptionError(f"{spec.name} must return {kind.__name__}.", given=type(found).__name__)
    return found


def _of_sets(spec: Spec, files: Sequence[Any], options: Mapping[str, Any]) -> Result:
    """The result of a measure; of a list of synthetic sets the mean, where it does not take lists itself.

    A risk on which a release is decided is that of the worst set: one that repeats people is not made
    safe by others beside it. Such a measure keeps the result of each set, in the columns that the set has.
    """
    *first, last = files
    several = isinstance(last, list | tuple)
    if not several or (spec.takes_sets and (not spec.judges or len(last) == 1)):
        return _run(spec, Result, files, options)
    results = [_run(spec, Result, [*first, data], options) for data in last]
    if spec.takes_sets:
        return replace(_run(spec, Result, files, options), sets=tuple(results))
    if spec.judges:
        low = {name for name, figure in spec.figures.items() if figure.better is Better.LOW}
        return worst_result(results, low_is_good=spec.better is not Better.HIGH, low_figures=low)
    return pool_results(results)


def protecting(spec: Spec) -> Callable[..., Microdata]:
    """The function that users call to protect."""

    @wraps(spec.function)
    def protect(data: Any, *, rng: Any = None, progress: Any = None, **given: Any) -> Microdata:
        start = perf_counter()
        drawn = {} if rng is None or spec.is_random else {"rng": rng}  # refused, as in a step
        options = prepare(spec, [data], {**given, **drawn})
        where = options.pop("where", None)
        extra: dict[str, Any] = {}
        if spec.is_random:
            extra["rng"] = _generator(rng)
        if "progress" in spec.parameters:
            extra["progress"] = Progress.of(progress)

        def whole(file: Microdata) -> Microdata:
            with files_unchanged([file]), frames.engine_errors(file.engine):
                return _run(spec, Microdata, [file], {**options, **extra})

        if where is None or spec.gets_where:
            extra |= {} if where is None else {"where": chosen_records(data, where)}
            result = whole(data)
        else:
            result = protect_some(data, chosen_records(data, where), whole)
        logged = options if where is None else {**options, "where": where}
        return _logged(spec, data, result, logged, perf_counter() - start)

    protect.__signature__ = readable(spec.function)  # type: ignore[attr-defined]
    return closes_progress(protect) if "progress" in spec.parameters else protect


def _logged(
    spec: Spec, data: Microdata, result: Microdata, options: Mapping[str, Any], seconds: float
) -> Microdata:
    """The result with one entry for the step: what calls inside it did is merged, never lost."""
    steps = result.steps_since(data)
    figures = {name: value for entry in steps for name, value in entry.figures.items()}
    effects = merged(entry.effects for entry in steps)
    entry = LogEntry(spec.name, to_builtin(options), numbers(figures), effects, seconds=seconds)
    reading = result.reading
    if steps:  # it said what it did, whatever tables it made on the way
        reading = replace(reading, steps_before_table=data.reading.steps_before_table)
    return result.but(log=(*data.log, entry), reading=reading)


def _generator(rng: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise OptionError("rng must be a seed or a generator.", given=preview(rng)) from None
