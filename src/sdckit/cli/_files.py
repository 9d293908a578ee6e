"""Files the commands read and write."""

from pathlib import Path
from typing import Any

from sdckit.errors import FileError
from sdckit.microdata import Microdata
from sdckit.roles import Role


def check_folder(path: Path | None) -> None:
    """Refuse, before any work, a file in a folder that does not exist."""
    if path is not None and not path.expanduser().parent.is_dir():
        raise FileError("The folder to write to does not exist.", given=path.parent)
    if path is not None and path.is_dir():
        raise FileError("A file name is needed, this is a folder.", given=path)


def read_protected(path: Path, original: Microdata, engine: str) -> tuple[Microdata, list[str]]:
    """A protected file under the roles of its original, and the columns with a role that it lacks.

    A number recoded into intervals comes back as text: as in `recode`, it is then a key.
    """
    from sdckit.engine import frames
    from sdckit.io import read

    data = read(path, engine=engine)  # type: ignore[arg-type]
    kinds = frames.schema(data.frame)
    there = {role: [c for c in original.roles.columns(role) if c in kinds] for role in Role}
    recoded = [c for c in there[Role.NUMERIC] if not kinds[c].is_numeric()]
    there[Role.NUMERIC] = [c for c in there[Role.NUMERIC] if c not in recoded]
    there[Role.KEYS] += recoded
    roles: dict[str, Any] = {role.value: columns for role, columns in there.items()}
    wanted = [c for role in Role for c in original.roles.columns(role)]
    return data.with_roles(**roles), [c for c in wanted if c not in kinds]
