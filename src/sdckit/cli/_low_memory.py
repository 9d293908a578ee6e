"""Where memory is limited: libraries end the process when none is left; somebody must be there to say it."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import typer

from sdckit._support.files import WATCHED, remove
from sdckit.cli._exit import NO_MEMORY, Code

CALL = "from sdckit.cli import main; main()"


def limited() -> bool:
    """Whether the system bounds the memory of this process (`ulimit -v`)."""
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def supervise() -> int | None:
    """Run the command in a process of its own, where memory is limited; None where it is not.

    Its exit code, or that of an error with one line of ours where the process did not end by itself; what it
    was writing is then removed.
    """
    if not limited() or os.environ.get(WATCHED):
        return None
    command = [sys.executable, "-c", CALL, *sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        names = Path(folder) / "names"
        names.touch()
        env = {**os.environ, WATCHED: str(names)}
        ended = subprocess.run(command, env=env, check=False).returncode
        if ended >= 0:
            return ended
        for name in names.read_text(encoding="utf-8").splitlines():
            remove(Path(name))
    typer.echo(f"Error: {NO_MEMORY}", err=True)
    return int(Code.ERROR)
