"""The files of this machine that the page may open: below the allowed folders, whatever links say."""

from pathlib import Path
from typing import Any

from sdckit.errors import FileError, SdcError
from sdckit.io.formats import readable

PLANS = (".yaml", ".yml")


class FileList:
    """Folders and data files below the roots."""

    def __init__(self, roots: tuple[Path, ...]) -> None:
        self._roots = tuple(root.expanduser().resolve() for root in roots)

    def inside(self, name: str) -> Path:
        """The file or folder of this name, refused where it is not below a root."""
        name = _without_quotes(name.strip())
        try:
            path = Path(name).expanduser().resolve() if name else self._roots[0]
            path.exists()
        except (
            ValueError,
            RuntimeError,
            OSError,
        ):  # a NUL, half a character, ~nobody, a loop of links, too long
            raise FileError("This is not the name of a file.") from None
        if not any(path.is_relative_to(root) for root in self._roots):
            allowed = ", ".join(map(str, self._roots))
            raise FileError(
                "This is outside the folders that the page may read.",
                given=name,
                allowed=allowed,
                hint="Start with sdckit web --root FOLDER.",
            )
        return path

    def has(self, path: Path) -> bool:
        """Whether a file may be opened."""
        return self._leads_inside(path)

    def _leads_inside(self, path: Path) -> bool:
        """Whether an entry is what it seems, or a link to something below a root."""
        try:
            return any(path.resolve().is_relative_to(root) for root in self._roots)
        except (OSError, RuntimeError):
            return False

    def at(self, name: str) -> dict[str, Any]:
        """What a folder holds: folders, and the files that sdckit reads."""
        folder = self.inside(name)
        if not folder.is_dir():
            raise FileError("There is no such folder.", given=name)
        try:
            entries = sorted(folder.iterdir(), key=lambda p: p.name.casefold())
        except OSError:
            raise FileError("This folder may not be read.", given=name) from None
        shown = [p for p in entries if not p.name.startswith(".") and self._leads_inside(p)]
        above = folder.parent if any(folder.parent.is_relative_to(r) for r in self._roots) else None
        return {
            "at": str(folder),
            "above": None if above is None else str(above),
            "folders": [p.name for p in shown if p.is_dir()],
            "files": [{"name": p.name, "bytes": p.stat().st_size} for p in shown if _is_data(p)],
            "plans": [p.name for p in shown if p.is_file() and p.suffix.lower() in PLANS],
        }


def _is_data(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        readable(path)
    except SdcError:
        return False
    return True


def _without_quotes(name: str) -> str:
    """A path as file managers copy it has quotes around it.

    >>> _without_quotes('"C:/data/people.sav"'), _without_quotes("it's.csv")
    ('C:/data/people.sav', "it's.csv")
    """
    return name[1:-1] if len(name) > 2 and name[0] == name[-1] and name[0] in "\"'" else name
