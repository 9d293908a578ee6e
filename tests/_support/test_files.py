"""Temporary files go away however a process ends, and signals keep their meaning."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from sdckit._support.files import atomic_folder, atomic_write, write_text
from sdckit.errors import FileError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to send")

# The word behind the program says what the program does about signals, or who writes.
PROGRAM = """
import os, signal, sys, threading, time
from multiprocessing import get_context
from pathlib import Path
from sdckit._support.files import atomic_write

def write():
    with atomic_write(Path("out.csv")) as one, atomic_write(Path("out.json")) as two:
        one.write_text("half of it")
        two.write_text("half of it")
        print(os.getpid(), flush=True)
        time.sleep(100)

if __name__ == "__main__":
    how = sys.argv[1]
    if how == "own handler":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
    if how == "worker":
        worker = get_context("spawn").Process(target=write)
        worker.start()
        worker.join()
        sys.exit(worker.exitcode + 100)
    write()
"""


@pytest.mark.parametrize(
    ("how", "number", "code"),
    [
        ("plain", signal.SIGTERM, -signal.SIGTERM),
        ("plain", signal.SIGHUP, -signal.SIGHUP),
        ("own handler", signal.SIGTERM, 7),
        ("worker", signal.SIGTERM, 100 - signal.SIGTERM),
    ],
)
def test_nothing_is_left_by_a_process_that_is_told_to_end(tmp_path, how, number, code):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "out.csv").write_text("the old file")
    words = [sys.executable, "program.py", how]

    def heard():
        """What ran the tests may ignore it (nohup), which programs inherit."""
        signal.signal(number, signal.SIG_DFL)

    with subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, text=True, preexec_fn=heard
    ) as process:
        os.kill(int(process.stdout.readline()), number)
        assert process.wait(60) == code
    assert {p.name for p in tmp_path.iterdir()} == {"program.py", "out.csv"}
    assert (tmp_path / "out.csv").read_text() == "the old file"


def test_signals_mean_the_same_afterwards(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    with atomic_write(tmp_path / "a") as temporary:
        temporary.write_text("")
    assert signal.getsignal(signal.SIGTERM) is before


def test_handlers_of_the_program_are_left_alone(tmp_path):
    def mine(*_):
        """Nothing: the program goes on."""

    before = signal.signal(signal.SIGTERM, mine)
    try:
        with atomic_write(tmp_path / "a") as temporary:
            temporary.write_text("whole")
            os.kill(os.getpid(), signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (tmp_path / "a").read_text() == "whole"


def files_in(folder):
    return sorted(path.name for path in folder.rglob("*"))


def test_what_a_killed_process_left_of_a_folder_is_in_nobodys_way(tmp_path):
    """It ended after its new folder was in place, and before the older one was removed."""
    for name in ("out", ".out.before"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_text(name)
    with atomic_folder(tmp_path / "out") as made:
        (made / "b").write_text("new")
    assert files_in(tmp_path) == ["b", "out"]


def test_a_folder_that_another_process_puts_there_meanwhile_stays(tmp_path, monkeypatch):
    rename = type(tmp_path).rename

    def overtaken(self, target):
        if self.name == "new":
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "theirs").write_text("")
        return rename(self, target)

    monkeypatch.setattr(type(tmp_path), "rename", overtaken)
    refused = pytest.raises(FileError, match="Another process wrote to this folder")
    with refused, atomic_folder(tmp_path / "out") as made:
        (made / "ours").write_text("")
    assert files_in(tmp_path) == ["out", "theirs"]


def test_a_thread_writes_without_asking_about_signals(tmp_path):
    thread = threading.Thread(target=write_text, args=("text", tmp_path / "a"))
    thread.start()
    thread.join()
    assert (tmp_path / "a").read_text() == "text"


SCRATCH = """
import os, sys, time
import sdckit as sdc
from sdckit.engine import duckdb_session

duckdb_session.connection()
sdc.write(sdc.demo.survey(n=20, seed=1), "out.csv", keep_direct=True)  # whose own signals are over
(duckdb_session.scratch_path() / "records").write_text("of people")
print(os.getpid(), flush=True)
time.sleep(100)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_duckdb_left_on_disk_goes_with_the_process(tmp_path, number):
    pytest.importorskip("duckdb")
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", SCRATCH], cwd=tmp_path, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    ) as process:  # fmt: skip
        os.kill(int(process.stdout.readline()), number)
        assert process.wait(60) == -number
    assert {p.name for p in tmp_path.iterdir()} == {"out.csv"}
