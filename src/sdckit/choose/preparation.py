"""Preparation: what a plan does to a file before it is the original, written as steps under data:."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from warnings import catch_warnings, simplefilter, warn

import polars as pl

from sdckit.choose.scenario import Step
from sdckit.data.checks import check_names
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role, roles_of
from sdckit.errors import OptionError, SdcError, preview
from sdckit.io import read
from sdckit.io.codebook_labels import ProposedMissing, proposed_missing
from sdckit.io.file_header import header_of
from sdckit.io.read import with_roles, without_direct
from sdckit.io.table_options import MEANT_FOR, TableOptions
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Preparation(Step):
    """One preparation with its options, checked when it is written down.

    >>> Preparation("keep_records", where="age >= 18")
    keep_records(where=age >= 18)
    """

    kind: ClassVar[Kind] = Kind.PREPARATION

    def prepare(self, data: Microdata) -> Microdata:
        """Carry it out."""
        changed: Microdata = find(self.method, self.kind).call(data, **self.options)
        return changed

    def with_files(self, place: Callable[[str], str]) -> "Preparation":
        """The same with its files under other names: they lie beside the plan."""
        files = {f.name for f in find(self.method, self.kind).form() if f.kind == "file"}
        moved = {n: place(v) if n in files and isinstance(v, str) else v for n, v in self.options.items()}
        return Preparation(self.method, **moved)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it reads."""
        fields = find(self.method, self.kind).form()
        return tuple(str(self.options[f.name]) for f in fields if f.kind == "file" and f.name in self.options)


def preparations_of(given: Any) -> tuple[Preparation, ...]:
    """What stands under prepare: in a plan, checked: [{method: {option: value}}, …]."""
    if given is None:
        return ()
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise OptionError(
            "Entry 'prepare' of data must be a list.",
            given=preview(given),
            allowed="[{method: {option: value}}, …]",
            hint="In YAML each step begins with a dash, or the steps stand in [ ].",
        )
    return tuple(_step(position, step) for position, step in enumerate(given, 1))


def _step(position: int, step: Any) -> Preparation:
    if isinstance(step, Preparation):
        return step
    asked = {step: {}} if isinstance(step, str) else step
    method, options = next(iter(asked.items()), ("", {})) if isinstance(asked, Mapping) else ("", 0)
    if not isinstance(asked, Mapping) or len(asked) != 1 or not isinstance(options, Mapping | None):
        raise OptionError(
            f"Preparation {position} is not valid.",
            given=preview(step),
            allowed="{method: {option: value}}",
        )
    try:
        return Preparation(str(method), **{str(n): v for n, v in (options or {}).items()})
    except SdcError as error:
        raise error.after(f"Preparation {position}") from None


def prepared(data: Microdata, steps: Sequence[Preparation], folder: Path = Path()) -> Microdata:
    """The file after all steps; files they name are looked for in a folder."""
    for position, step in enumerate(steps, 1):
        try:
            data = step.with_files(lambda name: str(folder / Path(name).expanduser())).prepare(data)
        except SdcError as error:
            raise error.after(f"Preparation {position} ({step.method})") from None
    return data


def read_entries(source: Any, entries: Mapping[str, Any], folder: Path = Path()) -> Microdata:
    """A file, or a table without roles, as the section data: of a plan says: read, prepared, under its roles.

    The roles come last, for they are those of the prepared file. Direct identifiers are there until then.
    """
    known = _of_reading(entries)
    if known.get("codebook") is not None:
        known["codebook"] = folder / Path(known["codebook"]).expanduser()
    steps = preparations_of(entries.get("prepare"))
    if not steps and not isinstance(source, Microdata):
        return read(source, **known)
    roles = {name: known.pop(name) for name in list(known) if name in set(Role)}
    keep = bool(known.pop("keep_direct", False))
    with catch_warnings():
        simplefilter("ignore", ProposedMissing)  # a preparation may declare them
        data = source if isinstance(source, Microdata) else read(source, **known)
    done = prepared(data, steps, folder)
    for text in proposed_missing(done):
        warn(text, ProposedMissing, stacklevel=3)
    return with_roles(done, roles, keep_direct=keep)


def header_under_roles(file: Path, entries: Mapping[str, Any]) -> Microdata | None:
    """The columns of a file under the roles of a section data:, without records and types.

    With it names in a plan are checked before records are read. None where columns are known only then: of
    other formats, and after preparation.
    """
    for step in preparations_of(entries.get("prepare")):
        find(step.method, step.kind).check_engine(str(entries.get("engine", "polars")), step.options)
    known = _of_reading(entries)
    names = header_of(file, TableOptions(**{name: known[name] for name in MEANT_FOR if name in known}))
    if names is None or entries.get("prepare"):
        return None
    roles = roles_of(**{name: value for name, value in known.items() if name in set(Role)})
    check_names(roles, names)
    empty = Microdata(pl.DataFrame(schema=dict.fromkeys(names, pl.String)), roles)
    return empty if known.get("keep_direct") else without_direct(empty)


def _of_reading(entries: Mapping[str, Any]) -> dict[str, Any]:
    """What of a section data: is for `read`."""
    return {name: value for name, value in entries.items() if name not in ("file", "demo", "prepare")}
