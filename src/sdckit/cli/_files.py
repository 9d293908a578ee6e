"""Files the commands read and write: what is read is never written over."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from sdckit.choose.plan import Plan
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.errors import FileError


def check_outputs(
    outputs: Iterable[Path], inputs: Iterable[Path], *, force: bool, folders: bool = False
) -> None:
    """Refuse, before any work, what cannot be written or must not be replaced."""
    read, others = list(inputs), list[Path]()
    for path in outputs:
        if not path.parent.is_dir():
            raise FileError("The folder to write to does not exist.", given=path.parent)
        if path.is_dir() and not folders:
            raise FileError("A file name is needed, this is a folder.", given=path)
        if any(_same(path, other) for other in read):
            raise FileError(
                "The command reads this file, so it is not written over.",
                given=path,
                hint="Choose another name.",
            )
        if any(_same(path, other) for other in others):
            raise FileError(
                "Two outputs would be written to the same file.", given=path, hint="Choose another name."
            )
        others.append(path)
        if path.exists() and not force:
            raise FileError(f"{path} exists already; add --force to replace it.")
        if not may_write(path.parent):
            raise FileError("No file can be written to this folder: no permission.", given=path.parent)


def _same(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, also through links."""
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return one.resolve() == other.resolve()


def may_write(folder: Path) -> bool:
    """Whether a file can be made in this folder: tried, because permissions do not tell on every system."""
    try:
        with TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def check_plan_name(path: Path) -> None:
    """Refuse a name for a plan that is not one of a YAML file."""
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise FileError("A plan is a YAML file.", given=path, allowed="a name that ends in .yaml")


def report_outputs(path: Path | None) -> list[Path]:
    """What a report writes: an HTML file, and its numbers beside it."""
    from sdckit.report.write import check_name, json_beside

    if path is None:
        return []
    check_name(path)
    return [path, json_beside(path)]


def results_output(path: Path | None) -> list[Path]:
    """What saved results write: a JSON file."""
    from sdckit.report.results import check_results_name

    if path is None:
        return []
    check_results_name(path)
    return [path]


def plan_inputs(file: Path, plan: Plan, *, data: bool = True) -> list[Path]:
    """All that a plan reads: itself, its data, and the files its measures name (a register, a holdout)."""
    sections = [plan.data if data else {}, plan.assess, plan.search, [s.as_list() for s in plan.scenarios]]
    named = {text for section in sections for text in _texts(section)}
    return [file, *(folder / text for text in sorted(named) for folder in (plan.folder, Path()))]


def _texts(value: Any) -> Iterator[str]:
    """Every text in a section that could be the name of a file."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def relative(file: Path, plan: Path) -> str:
    """A data file as a plan names it: from the plan's folder where there is a way from there."""
    real = file.parent.resolve() / file.name  # through linked folders, which .. leaves another way
    try:
        return Path(os.path.relpath(real, plan.parent.resolve())).as_posix()
    except ValueError:  # another drive
        return real.as_posix()


def read_protected(
    path: Path, original: Microdata, direct: Iterable[str], engine: str
) -> tuple[Microdata, list[str]]:
    """A protected file under the roles of its original, and the columns with a role that it lacks.

    Columns that are `direct` identifiers of the original and are still there have that role here, too. A
    number recoded into intervals comes back as text: as after `recode`, it is no number then, and no key.
    """
    from sdckit.engine import frames
    from sdckit.io import read

    data = read(path, engine=engine)  # type: ignore[arg-type]
    kinds = frames.schema(data.frame)
    there = {role: [c for c in original.roles.columns(role) if c in kinds] for role in Role}
    there[Role.NUMERIC] = [c for c in there[Role.NUMERIC] if kinds[c].is_numeric()]
    there[Role.DIRECT] = [c for c in direct if c in kinds]
    roles: dict[str, Any] = {role.value: columns for role, columns in there.items()}
    wanted = [c for role in Role for c in original.roles.columns(role) if role is not Role.DIRECT]
    return data.with_roles(**roles), [c for c in wanted if c not in kinds]
