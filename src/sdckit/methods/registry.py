"""The registry: every protection and measure, with what a form, a report and a check need to know of it.

A function becomes known by its decorator. The decorator also validates the options (from the signature),
resolves role defaults, checks roles, columns and the engine, and fills in `Result.measure` and `.options`.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from math import inf
from typing import Any, TypeVar, cast, get_type_hints

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from sdckit.data.microdata import LogEntry, Microdata, require_microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role as Role
from sdckit.data.sets import mean_result
from sdckit.engine.frames import ENGINES
from sdckit.errors import EngineError, OptionError, RoleError, UnknownMethodError, listing, nearest, shown
from sdckit.methods.kinds import Better as Better
from sdckit.methods.kinds import Compares as Compares
from sdckit.methods.kinds import Kind as Kind
from sdckit.methods.messages import refusal
from sdckit.methods.options import KEYS as KEYS
from sdckit.methods.options import NUMERIC as NUMERIC
from sdckit.methods.options import SENSITIVE as SENSITIVE
from sdckit.methods.options import STRATA as STRATA
from sdckit.methods.options import Column as Column
from sdckit.methods.options import ColumnName as ColumnName
from sdckit.methods.options import Columns as Columns
from sdckit.methods.options import RoleColumns as RoleColumns
from sdckit.methods.options import column_names, is_columns, names_columns
from sdckit.methods.plugins import is_own, load_ours, load_plugins
from sdckit.methods.serialise import number, numbers
from sdckit.methods.serialise import plain as plain
from sdckit.methods.signatures import readable
from sdckit.methods.where import WHERE as WHERE
from sdckit.methods.where import Chosen, flagged, protect_some
from sdckit.methods.where import Where as Where

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Spec:
    """All that is known of one protection or measure besides its code."""

    name: str
    kind: Kind
    title: str
    function: Callable[..., Any]
    reference: str = ""
    reading: str = ""
    unit: str = ""
    bounds: tuple[float, float] = (0.0, inf)
    better: Better = Better.LOW
    needs: tuple[Role, ...] = ()
    compares: Compares = Compares.ONE_FILE
    engines: tuple[str, ...] = ("polars",)
    keeps_records: bool = True
    shares: tuple[str, ...] = ()  # figures that are shares, from 0 to 1: shown in percent
    chart: Callable[[Result], Any] | None = None
    several: bool = False  # the second file may be a list of synthetic sets
    flags: str = ""  # the yes-or-no column of `parts` that marks records, for `where`
    section: str = ""  # of the report, where roles, files and options do not tell

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The keyword-only parameters: the options and, where drawn, `rng`."""
        found = inspect.signature(self.function).parameters
        return {n: p for n, p in found.items() if p.kind is p.KEYWORD_ONLY}

    @cached_property
    def hints(self) -> Mapping[str, Any]:
        """The types of the parameters with their annotations."""
        return get_type_hints(self.function, include_extras=True)

    @cached_property
    def options(self) -> type[BaseModel]:
        """The options as a pydantic model; its JSON schema makes forms."""
        fields: dict[str, Any] = {
            name: (self.hints[name], ... if p.default is p.empty else p.default)
            for name, p in self.parameters.items()
            if name not in ("rng", "progress")
        }
        return create_model(
            f"{self.name}_options",
            __config__=ConfigDict(extra="forbid", arbitrary_types_allowed=True),
            **fields,
        )

    @cached_property
    def json_schema(self) -> dict[str, Any]:
        """The options as JSON schema."""
        return self.options.model_json_schema()

    @cached_property
    def file_names(self) -> tuple[str, ...]:
        """What its files are called: data, or original and protected (or synthetic)."""
        found = inspect.signature(self.function).parameters.values()
        return tuple(p.name for p in found if p.kind is p.POSITIONAL_OR_KEYWORD)

    @property
    def takes_sets(self) -> bool:
        """Whether the second file may be a list: several synthetic sets of the same data."""
        return self.several or "synthetic" in inspect.signature(self.function).parameters

    @property
    def call(self) -> Callable[..., Any]:
        """The function with its checks: what users call."""
        return _protecting(self) if self.kind is Kind.PROTECTION else _measuring(self)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.function) or "").split("\n")[0]

    def validate(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options with types and bounds checked and defaults filled in; ours is the error."""
        for name in sorted(set(given) - set(self.options.model_fields)):
            raise self._unknown(name)
        if given.get("where") is not None and "where" in self.options.model_fields:
            given = {**given, "where": _chooser(self, given["where"])}
        try:
            model = self.options(**given)
        except ValidationError as error:
            columns = [name for name in self.parameters if is_columns(self.hints[name])]
            raise refusal(self.name, error, given, columns) from None
        options = {name: getattr(model, name) for name in self.options.model_fields}
        for name in self._never_empty:
            if not options[name] and not isinstance(options[name], RoleColumns):
                raise OptionError(f"{self.name} needs at least one column in {name!r}.", given="none")
        return options

    @cached_property
    def _never_empty(self) -> list[str]:
        """Options that name columns without which nothing is measured or protected."""
        asked = {n for n, p in self.parameters.items() if p.default is p.empty and is_columns(self.hints[n])}
        roles = {name for name, role in self._role_options.items() if role in self.needs}
        return sorted(roles | asked if self.kind is Kind.PROTECTION else roles)

    @cached_property
    def _role_options(self) -> Mapping[str, Role]:
        """The options whose default is the columns of a role."""
        found = self.parameters.items()
        return {name: p.default.role for name, p in found if isinstance(p.default, RoleColumns)}

    def _unknown(self, name: str) -> OptionError:
        """The refusal of an option that there is not."""
        allowed, hint = listing(self.options.model_fields), nearest(name, self.options.model_fields)
        if "rng" in self.parameters:
            allowed += ", in a call also rng"
            if name in ("seed", "rng"):
                hint = "A call takes rng=3; a scenario has one seed for all its steps."
        elif self.kind is Kind.PROTECTION and name in ("seed", "rng"):
            hint = "It draws no random numbers."
        return OptionError(f"{self.name} has no option {name!r}.", allowed=allowed or "no options", hint=hint)

    def resolve(self, data: Microdata, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options with role defaults filled in and every named column found in the data."""
        done = dict(options)
        for name, value in options.items():
            if isinstance(value, RoleColumns):
                done[name] = data.roles.columns(value.role)
            elif name == "where":
                for measure, given in value.items() if isinstance(value, Mapping) else ():
                    find(measure).resolve(data, find(measure).validate(given))
            elif names_columns(self.hints[name]):
                for column in [value] if isinstance(value, str) else column_names(value):
                    data.require(column)
        return done

    def lacks(self, data: Microdata, given: Mapping[str, Any]) -> tuple[Role, ...]:
        """The roles this function needs, the data do not have and no option names columns instead of."""

        def told(role: Role) -> bool:
            names = [name for name, its in self._role_options.items() if its is role]
            return bool(names) and not any(isinstance(given.get(n, KEYS), RoleColumns) for n in names)

        return tuple(r for r in self.needs if not data.roles.columns(r) and not told(r))

    def check(self, data: Microdata, given: Mapping[str, Any]) -> None:
        """Refuse data without the roles or on an engine this function cannot use."""
        missing = self.lacks(data, given)
        if missing:
            raise RoleError(
                f"{self.name} needs the role {missing[0].value!r}, and the data have none.",
                hint=f"Give it when you read the data: {missing[0].value}=…, under data: in a plan, or "
                f"--{missing[0].value} on the command line.",
            )
        if data.engine not in self.engines:
            raise EngineError(
                f"{self.name} needs the records in memory.",
                given=f"the {data.engine} engine",
                allowed=listing(self.engines),
                hint="data.collect() brings them into memory.",
            )


_known: dict[str, Spec] = {}


def specs(kind: Kind | None = None) -> list[Spec]:
    """All registered functions, or those of one kind, in the order they were registered."""
    load_ours()
    load_plugins()
    return [spec for spec in _known.values() if kind is None or spec.kind is kind]


def find(name: str, *kinds: Kind) -> Spec:
    """The registered function of this name; the error suggests the nearest."""
    known = [spec.name for spec in specs() if not kinds or spec.kind in kinds]
    if name not in known:
        what = " or ".join(kinds) if kinds else "protection or measure"
        raise UnknownMethodError(
            f"There is no {what} {name!r}.", allowed=listing(known, 60), hint=nearest(name, known)
        )
    return _known[name]


def known(name: str) -> bool:
    """Whether a function of this name is registered."""
    return name in _known


def remember(spec: Spec) -> None:
    """Make a function known; the name of one of ours is not given away."""
    if is_own(spec.function):
        load_ours()
        if known(spec.name) and not is_own(_known[spec.name].function):
            raise OptionError(
                "sdckit has a method of this name.", given=spec.name, hint="Choose another name."
            )
    _known[spec.name] = spec


def forget(name: str) -> None:
    """Take a function out of the registry (used by tests that register their own)."""
    _known.pop(name, None)


def risk(title: str, **facts: Any) -> Callable[[F], F]:
    """Register a disclosure-risk measure."""
    return _register(Kind.RISK, title, **facts)


def utility(title: str, **facts: Any) -> Callable[[F], F]:
    """Register a utility (information-loss) measure."""
    facts.setdefault("compares", Compares.DISTRIBUTIONS)
    return _register(Kind.UTILITY, title, **facts)


def protection(title: str, **facts: Any) -> Callable[[F], F]:
    """Register a protection method."""
    return _register(Kind.PROTECTION, title, **facts)


def _register(kind: Kind, title: str, **facts: Any) -> Callable[[F], F]:
    needs = facts.pop("needs", ())
    facts["needs"] = (needs,) if isinstance(needs, Role) else tuple(needs)
    facts.setdefault("engines", ("polars",))
    if facts["engines"] == "all":
        facts["engines"] = ENGINES

    def decorate(function: F) -> F:
        spec = Spec(function.__name__, kind, title, function, **facts)
        remember(spec)
        return cast("F", spec.call)

    return decorate


def prepare(spec: Spec, files: Sequence[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that can be wrong with a call is found here, before any work starts."""
    options = spec.validate(given)
    if len(files) != len(spec.file_names):
        raise OptionError(
            f"{spec.name} takes {len(spec.file_names)} file{'s' * (len(spec.file_names) > 1)}.",
            given=len(files),
            allowed=listing(spec.file_names),
        )
    for position, file in enumerate(files):
        several = isinstance(file, list | tuple)
        if several and (position == 0 or not file):
            what = f"{'needs at least' if position else 'takes'} one file as {spec.file_names[position]}"
            hint = "" if position else "sdckit.choose.assess takes a list of protected files."
            raise OptionError(f"{spec.name} {what}.", given=f"a list of {len(file)}", hint=hint)
        for data in file if several else [file]:
            require_microdata(data, spec.name)
            if position == 0:
                spec.check(data, options)
            elif data.engine != files[0].engine:
                raise EngineError(
                    "Both files must be on the same engine.", given=f"{files[0].engine}, {data.engine}"
                )
    return spec.resolve(files[0], options)


def _measuring(spec: Spec) -> Callable[..., Result]:
    @wraps(spec.function)
    def measure(*files: Any, **given: Any) -> Result:
        files += tuple(given.pop(name) for name in spec.file_names[len(files) :] if name in given)
        options = prepare(spec, files, given)
        result = _of_sets(spec, files, options)
        own = {"value": number(result.value), "figures": numbers(result.figures)}
        return replace(result, **own, measure=spec.name, options=plain(options), draw=spec.chart)

    measure.__signature__ = readable(spec.function)  # type: ignore[attr-defined]
    return measure


def _of_sets(spec: Spec, files: Sequence[Any], options: Mapping[str, Any]) -> Result:
    """The result of a measure; of a list of synthetic sets the mean, where it does not take lists itself."""
    *first, last = files
    if spec.takes_sets or not isinstance(last, list | tuple):
        result: Result = spec.function(*files, **options)
        return result
    return mean_result([spec.function(*first, data, **options) for data in last])


def _protecting(spec: Spec) -> Callable[..., Microdata]:
    @wraps(spec.function)
    def protect(data: Any, *, rng: Any = None, progress: Any = None, **given: Any) -> Microdata:
        options = prepare(spec, [data], given)
        where = options.pop("where", None)
        extra: dict[str, Any] = {}
        if "rng" in spec.parameters:
            extra["rng"] = _generator(rng)
        if "progress" in spec.parameters:
            extra["progress"] = progress

        def whole(file: Microdata) -> Microdata:
            done: Microdata = spec.function(file, **options, **extra)
            return done

        if where is None:
            result = whole(data)
        else:
            chosen = _chosen(data, where)
            result = protect_some(data, chosen.records, whole, not_judged=chosen.not_judged)
        figures = result.log[-1].figures if len(result.log) > len(data.log) else {}
        told = plain(options if where is None else {**options, "where": where})
        entry = LogEntry(spec.name, told, numbers(figures), moves_rows=not spec.keeps_records)
        return replace(result, log=(*data.log, entry))

    protect.__signature__ = readable(spec.function)  # type: ignore[attr-defined]
    return protect


def _chooser(spec: Spec, given: Any) -> Mapping[str, Any] | Result:
    """What `where` was given, checked: a result, or one measure with its options."""
    asked = (
        {given.measure: {}} if isinstance(given, Result) else {given: {}} if isinstance(given, str) else given
    )
    name, options = next(iter(asked.items()), ("", {})) if isinstance(asked, Mapping) else ("", {})
    useful = [s.name for s in specs(Kind.RISK) if s.flags]
    if not isinstance(asked, Mapping) or len(asked) != 1 or not isinstance(options, Mapping | None):
        raise OptionError(
            f"Option 'where' of {spec.name} is not valid.",
            given=shown(given),
            allowed=f"a measure that flags records ({listing(useful)}), {{measure: {{option: value}}}}, "
            "or in Python the result of one",
        )
    if not known(str(name)):
        raise UnknownMethodError(
            f"There is no measure {name!r}.", allowed=listing(useful), hint=nearest(str(name), useful)
        )
    measure = find(str(name))
    if not measure.flags:
        raise OptionError(f"{name} flags no records that where could choose.", allowed=listing(useful))
    told = {str(option): value for option, value in (options or {}).items()}
    measure.validate(told)
    return given if isinstance(given, Result) else {measure.name: told}


def _chosen(data: Microdata, where: Mapping[str, Any] | Result) -> Chosen:
    """The records to protect. Data never change, so what a measure flags in them is kept with them."""
    if isinstance(where, Result):
        return flagged(data, where, find(where.measure).flags)
    ((name, options),) = where.items()
    spec = find(name)
    asked = ("where", repr(plain(where)))
    return data.once(asked, lambda: flagged(data, spec.call(data, **options), spec.flags))


def _generator(rng: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise OptionError("rng must be a seed or a generator.", given=shown(rng)) from None
