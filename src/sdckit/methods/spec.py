"""Spec: all that is known of a protection or measure besides its code."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import inf
from typing import Any, get_type_hints
from warnings import warn

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from sdckit._support.messages import did_you_mean, join_names
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.errors import EngineError, OptionError, RoleError
from sdckit.methods.form import FormField, form_of
from sdckit.methods.messages import refusal
from sdckit.methods.options import KEYS, OneOf, Requires, RoleColumns, column_names, is_columns, names_columns

NOT_OPTIONS = ("rng", "progress")


class Kind(StrEnum):
    """What a registered function is. Preparations are asked for by their kind; nothing else includes them."""

    PREPARATION = "preparation"
    PROTECTION = "protection"
    RISK = "risk"
    UTILITY = "utility"


STEPS = (Kind.PREPARATION, Kind.PROTECTION)  # what makes another file of a file


class Better(StrEnum):
    """The good direction of a measure or figure."""

    LOW = "low"
    HIGH = "high"
    NEITHER = "neither"


class Compares(StrEnum):
    """What a measure looks at, and so after which protections it is informative."""

    ONE_FILE = "one file"
    RECORDS = "each record with its counterpart"
    PERSONS = "each person with the record that was made from them, where there is one"
    DISTRIBUTIONS = "distributions, also of files of different length"


@dataclass(frozen=True, slots=True)
class Figure:
    """What one named number of a result means: its label, unit, good direction and bounds.

    share: it is a share from 0 to 1 and shown in percent. counts_records: it is a number of records or
    persons, which a public report does not show below the threshold. extreme: it may be the value of one
    record, which a public report does not show at all. sound: where values were suppressed it is read before
    the headline number, which takes a suppressed value for any value.
    """

    label: str
    unit: str = ""
    better: Better = Better.LOW
    bounds: tuple[float, float] = (0.0, inf)
    share: bool = False
    counts_records: bool = False
    extreme: bool = False
    sound: bool = False


def share(label: str, *, better: Better = Better.LOW, extreme: bool = False) -> Figure:
    """A figure that is a share from 0 to 1."""
    return Figure(label, "share", better, (0.0, 1.0), share=True, extreme=extreme)


def records(label: str, *, better: Better = Better.LOW, sound: bool = False) -> Figure:
    """A figure that is a number of records or persons."""
    return Figure(label, "records", better, counts_records=True, sound=sound)


@dataclass(frozen=True)
class Spec:
    """All that is known of one protection or measure besides its code.

    interpretation: how to read the value, in sentences. figures: what the further numbers of its results
    are. flags: the yes-or-no column of `parts` that marks records, for `where`. main: the option that is
    meant where only a value is given, `k_anonymity=5`. counts_values: it says how many values changed, not
    how far. judges: the verdict on a file rests on it. rules: which options go together. renamed: earlier
    names of options, each with its new name or a function of the options given that tells it. draws_when:
    the values of options with which it draws random numbers, where it does not always. section: of the
    report, where roles, files and options do not tell. family: the heading under which lists of methods have
    it. several: the second file may be a list of synthetic sets. gets_where: it carries out `where` itself,
    since all records have a part in what the chosen get. new_records: it may draw all records anew, so that
    none is that of a person. renames_ids: it gives records new ids.
    """

    name: str
    kind: Kind
    title: str
    function: Callable[..., Any]
    reference: str = ""
    interpretation: str = ""
    unit: str = ""
    bounds: tuple[float, float] = (0.0, inf)
    better: Better = Better.LOW
    share: bool = False
    counts_records: bool = False
    counts_values: bool = False
    needs: tuple[Role, ...] = ()
    compares: Compares = Compares.ONE_FILE
    engines: tuple[str, ...] = ("polars",)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    chart: Callable[[Result], Any] | None = None
    several: bool = False
    judges: bool = False
    flags: str = ""
    main: str = ""
    rules: tuple[OneOf | Requires, ...] = ()
    renamed: Mapping[str, str | Callable[[Mapping[str, Any]], str]] = field(default_factory=dict)
    draws_when: Mapping[str, Any] = field(default_factory=dict)
    section: str = ""
    family: str = "Further"
    gets_where: bool = False
    new_records: bool = False
    renames_ids: bool = False

    @cached_property
    def _accepted(self) -> Mapping[str, inspect.Parameter]:
        """Everything that the function takes: its files and its options."""
        return inspect.signature(self.function).parameters

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The keyword-only parameters: the options and, where drawn, `rng`."""
        return {n: p for n, p in self._accepted.items() if p.kind is p.KEYWORD_ONLY}

    @cached_property
    def hints(self) -> Mapping[str, Any]:
        """The types of the parameters with their annotations."""
        return get_type_hints(self.function, include_extras=True)

    def check_signature(self) -> None:
        """Refuse a function whose options nothing could check; it would break every list of methods."""
        wanted = ("data",) if self.kind in STEPS else ("data", "original, protected")
        if len(self.file_names) not in [len(names.split(",")) for names in wanted]:
            raise OptionError(
                f"{self.name} takes files that it does not get; options come after a star.",
                given=join_names(self.file_names) or "none",
                allowed=" or ".join(f"def {self.name}({names}, *, option: float = 1)" for names in wanted),
            )
        untyped = [name for name in self.parameters if name not in (*NOT_OPTIONS, *self.hints)]
        if untyped:
            raise OptionError(
                f"An option of {self.name} has no type.",
                given=join_names(untyped),
                allowed=f"a type after the name, as in {untyped[0]}: float",
            )

    @cached_property
    def options(self) -> type[BaseModel]:
        """The options as a pydantic model."""
        fields: dict[str, Any] = {
            name: (self.hints[name], ... if p.default is p.empty else p.default)
            for name, p in self.parameters.items()
            if name not in NOT_OPTIONS
        }
        return create_model(
            f"{self.name}_options",
            __config__=ConfigDict(extra="forbid", arbitrary_types_allowed=True),
            **fields,
        )

    @cached_property
    def json_schema(self) -> dict[str, Any]:
        """The options as JSON schema; an option whose default is the columns of a role says which role."""
        schema = self.options.model_json_schema()
        for name, role in self._role_options.items():
            schema["properties"][name]["default_role"] = role.value
        return schema

    def form(self) -> list[FormField]:
        """The options as fields of a form: label, help, kind, default, limits, choices."""
        return form_of(self.json_schema, self.hints, self.parameters, self.rules)

    def figure(self, name: str) -> Figure:
        """What a figure of its results means; where it is not declared, by its name."""
        for known, figure in self.figures.items():
            prefix, star, _ = known.partition("*")
            if name == known or (star and name.startswith(prefix)):
                return figure
        words = name.replace("_", " ").strip()
        return Figure(words[:1].upper() + words[1:])

    @cached_property
    def file_names(self) -> tuple[str, ...]:
        """What its files are called: data, or original and protected (or synthetic)."""
        return tuple(p.name for p in self._accepted.values() if p.kind is p.POSITIONAL_OR_KEYWORD)

    @property
    def takes_sets(self) -> bool:
        """Whether the second file may be a list: several synthetic sets of the same data."""
        return self.several or "synthetic" in self._accepted

    @property
    def is_random(self) -> bool:
        """Whether it can draw random numbers."""
        return "rng" in self.parameters

    def draws(self, given: Mapping[str, Any]) -> bool:
        """Whether it draws random numbers with these options."""
        asked = {name: given.get(name, self.parameters[name].default) for name in self.draws_when}
        return self.is_random and asked == self.draws_when

    @property
    def call(self) -> Callable[..., Any]:
        """The function with its checks: what users call."""
        from sdckit.methods.calls import measuring, protecting  # which use specs
        from sdckit.methods.preparing import preparing

        made = {Kind.PROTECTION: protecting, Kind.PREPARATION: preparing}
        return made.get(self.kind, measuring)(self)

    @property
    def summary(self) -> str:
        """The first line of the docstring, for people: without the marks of code."""
        return (inspect.getdoc(self.function) or "").split("\n")[0].replace("`", "")

    def validate(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options with types, bounds and rules checked and defaults filled in, or an SdcError."""
        given = self.with_new_names(given)
        for name in sorted(set(given) - set(self.options.model_fields)):
            raise self._unknown(name)
        if given.get("where") is not None and self._takes_measure:
            from sdckit.methods.where import checked_where  # which uses the registry

            given = {**given, "where": checked_where(self, given["where"])}
        try:
            model = self.options(**given)
        except ValidationError as error:
            columns = [name for name in self.parameters if is_columns(self.hints[name])]
            raise refusal(self.name, error, given, columns, step=self.kind in STEPS) from None
        options = {name: getattr(model, name) for name in self.options.model_fields}
        for name in self._never_empty:
            if not options[name] and not isinstance(options[name], RoleColumns):
                raise OptionError(f"{self.name} needs at least one column in {name!r}.", given="none")
        defaults = {name: p.default for name, p in self.parameters.items()}
        for rule in self.rules:
            rule.check(self.name, options, defaults)
        return options

    @property
    def _takes_measure(self) -> bool:
        """Whether its option `where` is a measure that flags records; that of a preparation is a rule."""
        return self.kind is not Kind.PREPARATION and "where" in self.options.model_fields

    def with_new_names(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """The options with earlier names replaced, each with a warning."""
        names = {name: name for name in given}
        for name in given:
            if name not in self.renamed or name in self.options.model_fields:
                continue
            to = self.renamed[name]
            new = names[name] = to if isinstance(to, str) else to(given)
            text = (
                f"Option {name!r} of {self.name} is now called {new!r}; the old name goes with version 0.3."
            )
            warn(text, DeprecationWarning, stacklevel=4)
            if new in given:
                raise OptionError(f"{self.name} was given {name!r} and {new!r}, which are the same option.")
        return {names[name]: value for name, value in given.items()}

    @cached_property
    def _never_empty(self) -> list[str]:
        """Options that name columns without which nothing is measured or protected."""
        asked = {n for n, p in self.parameters.items() if p.default is p.empty and is_columns(self.hints[n])}
        roles = {name for name, role in self._role_options.items() if role in self.needs}
        return sorted(roles | asked if self.kind in STEPS else roles)

    @cached_property
    def _role_options(self) -> Mapping[str, Role]:
        """The options whose default is the columns of a role."""
        found = self.parameters.items()
        return {name: p.default.role for name, p in found if isinstance(p.default, RoleColumns)}

    def _unknown(self, name: str) -> OptionError:
        """The refusal of an option that there is not."""
        fields = self.options.model_fields
        allowed, hint = join_names(fields), did_you_mean(name, fields)
        if self.is_random:
            allowed = ", in a call in Python also ".join(filter(None, (allowed, "rng")))
            if name in ("seed", "rng"):
                hint = "A scenario has one seed for all its steps; a call in Python takes rng=3."
        elif self.kind is Kind.PROTECTION and name == "rng" and "seed" in fields:
            hint = "Its draws are secret; seed=3 repeats them."
        elif self.kind is Kind.PROTECTION and name in ("seed", "rng"):
            hint = "It draws no random numbers."
        return OptionError(f"{self.name} has no option {name!r}.", allowed=allowed or "no options", hint=hint)

    def resolve(self, data: Microdata, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options with role defaults filled in and every named column found in the data."""
        done = dict(options)
        for name, value in options.items():
            if isinstance(value, RoleColumns):
                done[name] = RoleColumns(value.role, data.roles.columns(value.role))
            elif name == "where" and self._takes_measure:
                if value is not None:
                    from sdckit.methods.where import require_where  # which uses the registry

                    require_where(data, value)
            elif names_columns(self.hints[name]):
                for column in [value] if isinstance(value, str) else column_names(value):
                    data.require(column)
        return done

    def lacks(self, data: Microdata, given: Mapping[str, Any]) -> tuple[Role, ...]:
        """The roles this function needs, the data do not have and no option names columns instead of."""

        def named(role: Role) -> bool:
            names = [name for name, its in self._role_options.items() if its is role]
            return bool(names) and not any(isinstance(given.get(n, KEYS), RoleColumns) for n in names)

        return tuple(r for r in self.needs if not data.roles.columns(r) and not named(r))

    def check(self, data: Microdata, given: Mapping[str, Any]) -> None:
        """Refuse data without the roles or on an engine this function cannot use."""
        missing = self.lacks(data, given)
        if missing:
            role = missing[0].value
            raise RoleError(
                f"{self.name} needs the role {role!r}, and the data have none.",
                hint=f"Give a column this role ({role}=… when you read the data, under data: in a plan, or "
                f"--{role} on the command line), or leave {self.name} out: an earlier step may have removed "
                "the columns that had it.",
            )
        self.check_engine(data.engine, given)

    def check_engine(self, engine: str, given: Mapping[str, Any]) -> None:
        """Refuse an engine that this function cannot use, or not with these options."""
        chosen = self._takes_measure and given.get("where") is not None
        if engine not in (("polars",) if chosen else self.engines):
            raise EngineError(
                f"{'where' if chosen else self.name} needs the records in memory.",
                given=f"the {engine} engine",
                allowed=join_names(["polars"] if chosen else self.engines),
                hint="data.collect() brings them into memory.",
                plan_hint="Without engine under data: in the plan they are read into memory.",
            )


def files_wanted(spec: Spec, files: Sequence[Any]) -> None:
    """Refuse another number of files than a method takes."""
    if len(files) != len(spec.file_names):
        raise OptionError(
            f"{spec.name} takes {len(spec.file_names)} file{'s' * (len(spec.file_names) > 1)}.",
            given=len(files),
            allowed=join_names(spec.file_names),
        )
