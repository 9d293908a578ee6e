"""serve: the page on this machine, until it is stopped."""

import os
import shutil
import signal
import socket
import tempfile
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event
from time import time
from types import FrameType

IDLE = 8 * 3600.0  # seconds
PAUSE = 0.5
PREFIX = "sdckit-web-"
BEGINNING, A_DAY = 600, 86_400  # seconds
# A closed terminal ends the program as a stop does: neither may leave microdata behind.
ENDS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


def serve(
    path: Path | None = None,
    *,
    port: int = 0,
    browser: bool = True,
    roots: tuple[Path, ...] = (),
    uploads: bool = True,
    idle: float = IDLE,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the page on this machine alone until it is stopped; the session's folder is removed then.

    `path`: a data file or a plan to open. `roots`: the folders from which files may be opened, the home
    folder and the present one if none is given. `idle`: after so many seconds without use it ends by itself,
    and its copy of the data is removed; 0: never.
    """
    ended = Event()

    def leave(number: int, _: FrameType | None) -> None:
        ended.set()  # what is imported just now may swallow the exception
        raise SystemExit(0)

    for number in ENDS:
        signal.signal(number, leave)  # also while we are still importing: the folder must go
    remove_left_over()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))  # mode 0700
    try:
        (folder / "pid").write_text(str(os.getpid()))
        with socket.socket() as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(("127.0.0.1", port))
            listening.listen()  # a browser that is quicker than our imports waits
            _run(listening, folder, path, browser, roots, uploads, idle, say, ended)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(
    listening: socket.socket,
    folder: Path,
    path: Path | None,
    browser: bool,
    roots: tuple[Path, ...],
    uploads: bool,
    idle: float,
    say: Callable[[str], None],
    ended: Event,
) -> None:
    from sdckit.web.guard import Guard

    guard = Guard(port=listening.getsockname()[1])
    say(f"Open {guard.address}")
    say("For this machine only; Ctrl+C ends it.")
    if browser:
        webbrowser.open(guard.address_for_once())
    import uvicorn

    from sdckit.web.app import Page
    from sdckit.web.idle import Idle

    page = Page(folder, roots or (Path.cwd(), Path.home()), uploads=uploads, memory=memory_file())
    unused = Idle(after=idle, busy=lambda: page.session.busy, tell=page.tell, end=lambda: _leave(page.quit))
    guard.app = unused.watch(page.app())
    try:
        page.session.prepare()
        if path is not None:
            page.open(path.expanduser())
        config = uvicorn.Config(guard, log_level="error", access_log=False, timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        page.quit = lambda: setattr(server, "should_exit", True)
        for number in ENDS:
            signal.signal(number, lambda *_: page.quit())
        if idle > 0:
            unused.start()
        if not ended.is_set():
            server.run(sockets=[listening])
    finally:
        unused.close()
        page.session.close()


def _leave(quit_page: Callable[[], None]) -> None:
    """End a moment later: open tabs are told first."""
    Event().wait(PAUSE)
    quit_page()


def memory_file() -> Path:
    """Where the decisions of the last session are kept for this user: no values of records."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "sdckit" / "last_session.json"


def remove_left_over() -> None:
    """Folders of sessions whose process is gone: they hold microdata."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if not _in_use(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _in_use(folder: Path) -> bool:
    """Whether the process of a session is there. One that has not yet said who it is has just begun."""
    age = time() - folder.stat().st_mtime
    if os.name == "nt":  # to ask there whether a process is alive sends it Ctrl+C
        return age < A_DAY
    try:
        return _alive(int((folder / "pid").read_text()))
    except (OSError, ValueError):
        return age < BEGINNING


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
