"""Where memory is limited: libraries end the process when none is left; somebody must be there to say it."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Event, Thread, Timer
from typing import IO

import typer

from sdckit._support.files import ENDS, WATCHED, remove
from sdckit.cli._exit import NO_MEMORY, Code
from sdckit.cli._standstill import worked

CALL = "from sdckit.cli import main; main()"
LAST_WORDS = b"memory allocation of "  # of Rust's runtime, which then ends the process
REPEATED = 100  # times the same line, as an allocator says that cannot start a thread and tries for ever
PATIENCE = 10.0  # seconds in which it does, or has come to a standstill on the way
LOOK = 1.0  # seconds between two looks at how much it worked
STILL = 30  # looks without any work after which it is at a standstill


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
    was writing is then removed. A signal that ends this process ends that one.
    """
    if not limited() or os.environ.get(WATCHED):
        return None
    command = [sys.executable, "-c", CALL, *sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        names = Path(folder) / "names"
        names.touch()
        env = {**os.environ, WATCHED: str(names)}
        with subprocess.Popen(command, env=env, stderr=subprocess.PIPE) as process:
            for number in ENDS:
                signal.signal(number, lambda told, _: process.send_signal(told))
            _listen(process)
            ended = process.wait()
        if ended >= 0:
            return ended
        for name in names.read_text(encoding="utf-8").splitlines():
            remove(Path(name))
    if -ended in ENDS:
        return 128 - ended
    typer.echo(f"Error: {NO_MEMORY}", err=True)
    return int(Code.ERROR)


def _listen(process: "subprocess.Popen[bytes]") -> None:
    """Pass on what the process says, each line once, to its end; out of memory it has a little time to end.

    Several threads that find no memory at once may wait for each other for ever, with last words or without.
    """
    ended = Event()
    Thread(target=_end_a_standstill, args=(process, ended), daemon=True).start()
    stream: IO[bytes] | None = process.stderr
    end = Timer(PATIENCE, process.kill)
    end.daemon = True
    before, same = b"", 0
    for line in stream or ():
        before, same = line.rstrip(), same + 1 if line.rstrip() == before else 0  # the last may lack its end
        if not same:
            sys.stderr.buffer.write(line)
            sys.stderr.buffer.flush()
        if (LAST_WORDS in line or same >= REPEATED) and end.ident is None:  # not started yet
            end.start()
    end.cancel()
    ended.set()


def _end_a_standstill(process: "subprocess.Popen[bytes]", ended: Event) -> None:
    """End a process that does nothing any more, as where a thread it waits for could not be started."""
    before, still = worked(process.pid), 0
    while before is not None and still < STILL and not ended.wait(LOOK):
        now = worked(process.pid)
        before, still = now, still + 1 if now == before else 0
    if still >= STILL:
        process.kill()
