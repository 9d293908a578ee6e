"""The process that works: it receives a task, calls sdckit, and tells how far it is."""

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any

from sdckit._support.files import is_full
from sdckit._support.progress import Progress
from sdckit.errors import FileError, SdcError, Stopped

OFTEN = 0.1  # seconds between two messages of progress
FULL = {
    "what": "There is no room left on the disk where the page keeps its copy of the data.",
    "hint": "Make room in the folder for temporary files, or start sdckit with TMPDIR set to another one.",
}


def work(pipe: Any, stop: Any, folder: str) -> None:
    """Serve tasks until the pipe closes: {id, kind, …} in, (event, id, content) out."""
    from sdckit.web.tasks import Desk

    desk = Desk(Path(folder))
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        if task is None:
            return
        tell = Progress(_told(pipe, task["id"]), stop=stop.is_set)
        try:
            event, content = "done", desk.do(task, tell, _first_told(pipe, task["id"]))
        except Stopped:
            event, content = "stopped", None
        except SdcError as error:
            event, content = "failed", error_as_dict(error)
        except MemoryError:
            event, content = "failed", {"what": "There is not enough memory for this.", "hint": ""}
        except Exception as error:  # a full disk, or a fault of ours or of a plug-in: serve the next task
            what = f"This is a fault of the program: {type(error).__name__}."
            event = "failed"
            content = FULL if is_full(error) else {"what": what, "hint": "Please report it."}
        pipe.send((event, task["id"], content))


def error_as_dict(error: SdcError) -> dict[str, Any]:
    """An error of ours in its parts, for the field that it is about."""
    parts = {"what": error.what, "hint": error.plan_hint or error.hint, "step": error.step}
    more = {"given": error.given, "allowed": error.allowed}
    return {**parts, **{name: None if value is None else str(value)[:300] for name, value in more.items()}}


def _told(pipe: Any, task: int) -> Callable[[str, int, int], None]:
    last = 0.0

    def tell(what: str, done: int, of: int) -> None:
        nonlocal last
        if monotonic() - last >= OFTEN or done == of:
            last = monotonic()
            pipe.send(("progress", task, {"what": what, "done": int(done), "of": int(of)}))

    return tell


def _first_told(pipe: Any, task: int) -> Callable[[Any], None]:
    """What tells what is known of a task before its end."""
    return lambda content: pipe.send(("so_far", task, content))


def digest(path: Path) -> str:
    """What a file holds, as a number: the same name with another content is another file."""
    try:
        with path.open("rb") as file:
            found = sha256()
            while block := file.read(1 << 20):
                found.update(block)
    except OSError:
        raise FileError(
            f"{path.name} is not there, or cannot be read.", hint="Put it back, or open another file."
        ) from None
    return found.hexdigest()


def source_key(source: Mapping[str, Any]) -> str:
    """What was opened and how it is read and prepared, as a text that tells two contents apart."""
    from sdckit.choose.preparation import preparations_of  # the worker's process is to start at once

    more = {name: value for name, value in source.items() if name != "file"}
    merged = [digest(Path(file)) for step in preparations_of(source.get("prepare")) for file in step.files]
    merged += [digest(Path(source["codebook"]))] if source.get("codebook") else []
    how = json.dumps([more, merged], sort_keys=True, default=str)
    return f"file {digest(Path(source['file']))} {how}" if "file" in source else f"demo {how}"
