"""Too little memory: one line, an exit code, and no half of a file."""

import shlex
import subprocess
import sys
import time
from itertools import pairwise

import polars as pl
import pytest

import sdckit as sdc
from sdckit.cli._standstill import worked


def test_a_command_without_memory_says_so_and_leaves_nothing(run, tmp_path, monkeypatch):
    sdc.write(sdc.read(pl.DataFrame({"sex": ["f", "m"] * 10})), tmp_path / "people.csv")
    plan = tmp_path / "plan.yaml"
    plan.write_text("data: {file: people.csv, keys: [sex]}\nscenarios: {k: [{suppress: {k: 3}}]}\n")

    def full(*_args, **_options):
        raise MemoryError

    monkeypatch.setattr(sdc.Scenario, "protect", full)
    result = run("protect", plan, "--out", tmp_path / "safe.csv")
    assert result.exit_code == 1
    assert "not enough memory; nothing is half-written" in result.stderr
    assert not (tmp_path / "safe.csv").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.csv", "plan.yaml"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize("megabytes", [900, 1300])
def test_a_real_limit_ends_with_one_line_or_works(tmp_path, megabytes):
    sdc.demo.survey(n=30_000, seed=1).frame.write_csv(tmp_path / "people.csv")
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "data: {file: people.csv, keys: [sex, age, region]}\nscenarios: {k: [{suppress: {k: 3}}]}\n"
    )
    call = "from sdckit.cli import main; main()"
    words = [sys.executable, "-c", call, "protect", "plan.yaml", "--out", "safe.csv"]
    limit = f"ulimit -v {megabytes * 1024}; exec " + shlex.join(words)
    done = subprocess.run(
        ["bash", "-c", limit], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr
    if done.returncode == 1:
        assert done.stderr.splitlines()[-1].startswith("Error: ")
        assert not (tmp_path / "safe.csv").exists()
    assert {p.name for p in tmp_path.iterdir()} <= {"people.csv", "plan.yaml", "safe.csv"}


LAST = "print('memory allocation of 8 bytes failed', file=sys.stderr, flush=True); time.sleep(600)"
SILENT = (
    "print('begun', file=sys.stderr, flush=True); time.sleep(600)"  # as a thread that could not be started
)
AGAIN = "[print('no thread', file=sys.stderr) for _ in iter(int, 1)]"  # as jemalloc does, for ever


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize(
    ("stuck", "said"), [(LAST, "memory allocation of"), (SILENT, "begun"), (AGAIN, "no thread")]
)
def test_a_process_that_comes_to_a_standstill_without_memory_is_ended(tmp_path, stuck, said):
    program = tmp_path / "program.py"
    program.write_text(
        "import subprocess, sys\n"
        "from sdckit.cli import _low_memory\n"
        "_low_memory.PATIENCE = 0.2\n"
        "_low_memory.LOOK = 0.1\n"
        f"stuck = {'import sys, time; ' + stuck!r}\n"
        "words = [sys.executable, '-c', stuck]\n"
        "with subprocess.Popen(words, stderr=subprocess.PIPE) as process:\n"
        "    _low_memory._listen(process)\n"
        "    print(process.wait())\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "-9"
    assert done.stderr.count(said) == 1


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux tells how much each thread worked"
)
def test_work_of_a_process_and_of_those_it_started(tmp_path):
    def comes_to_rest(code, looks=5):
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            seen = []
            for _ in range(looks):  # the first may see it on its way to sleep
                seen.append(worked(process.pid))
                time.sleep(0.5)
            process.kill()
        return any(first == second for first, second in pairwise(seen))

    begun = "print('begun', flush=True); "
    looks_around = "[time.sleep(0.05) for _ in range(1000)]"  # a server that waits for somebody
    assert comes_to_rest("import time; " + begun + "time.sleep(60)", looks=20)
    assert not comes_to_rest("import time; " + begun + looks_around)
    child = begun + "sum(range(3 * 10**8))"
    started = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    assert not comes_to_rest(started)


TOLD = """
import os, signal, sys
from pathlib import Path
from sdckit._support.files import WATCHED
if not os.environ.get(WATCHED):  # the process that looks after the other
    import sdckit.cli._low_memory as low
    low.CALL = f"exec(open({sys.argv[0]!r}).read())"
    low.limited = lambda: True
    for number in (signal.SIGTERM,):
        signal.signal(number, signal.SIG_DFL)
    sys.exit(low.supervise())
import time
Path("half").write_text("of it")
with open(os.environ[WATCHED], "a") as names:
    names.write(f"{Path('half').resolve()}\\n")
os.kill(os.getppid(), signal.SIGTERM)
time.sleep(60)
Path("went on").touch()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_signal_ends_the_command_where_memory_is_limited(tmp_path):
    (tmp_path / "told.py").write_text(TOLD)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "told.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 128 + 15, done.stderr
    assert "memory" not in done.stderr
    assert time.monotonic() - began < 50
    assert [p.name for p in tmp_path.iterdir()] == ["told.py"]
