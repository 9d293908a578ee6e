"""Ctrl-C and broken disks, for real: nothing is half-written, and an interrupted comparison goes on.

The programs run as processes of their own; the signal is sent when they show that they are in the middle.
"""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from sdckit._support.scratch import Scratch

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")

MANY = 400  # steps, scenarios or trials: more than fit between the sign and the signal
PLAN = """
data: {file: survey.csv, keys: [region, sex, age], numeric: [income], weight: weight}
scenarios:
"""
SPACE = """
search:
- recode: {variable: age, width: {range: [1, 100]}}
- add_noise: {sd: {range: [0.01, 1.0]}}
"""


@pytest.fixture(scope="module")
def survey(tmp_path_factory) -> bytes:
    file = tmp_path_factory.mktemp("survey") / "survey.csv"
    return sdc.write(sdc.demo.survey(n=300, seed=1), file).read_bytes()


@pytest.fixture
def folder(tmp_path, survey) -> Path:
    """A plan with one long scenario, one with many scenarios and a space, and the data beside them."""
    (tmp_path / "survey.csv").write_bytes(survey)
    steps = ", ".join(f"{{add_noise: {{sd: 0.{100 + i}}}}}" for i in range(MANY))
    (tmp_path / "long.yaml").write_text(f"{PLAN}  long: [{steps}]\n")
    many = "".join(f"  s{i}: [{{add_noise: {{sd: 0.{100 + i}}}}}]\n" for i in range(MANY))
    (tmp_path / "many.yaml").write_text(PLAN + many + SPACE)
    return tmp_path


def sdckit_process(folder: Path, *words: str) -> subprocess.Popen:
    program = [sys.executable, "-c", "from sdckit.cli import main; main()", *words]
    return subprocess.Popen(
        program, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def interrupt_at(process: subprocess.Popen, sign: str) -> str:
    """What stderr says after the sign: Ctrl-C is pressed there, as a terminal does, for all processes."""
    for line in process.stderr:
        if sign in line:
            break
    else:
        pytest.fail(f"{sign!r} never came; the process ended with {process.wait()}")
    os.killpg(process.pid, signal.SIGINT)
    _, rest = process.communicate(timeout=120)
    return rest


def left_over(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()} - {
        "survey.csv",
        "long.yaml",
        "many.yaml",
    }


def assert_interrupted(process: subprocess.Popen, rest: str) -> None:
    assert process.returncode == 130, rest
    ours, *workers = rest.split("Process Loky")  # one that has not begun yet may tell of its end at length
    assert "Traceback" not in ours, workers
    assert rest.splitlines()[-1] == "Interrupted; nothing is half-written."


@pytest.mark.parametrize("sign", [f"Step 1/{MANY + 1}", f"Step 20/{MANY + 1}"])
def test_protect(folder, sign):
    (folder / "out.csv").write_text("the old file")
    process = sdckit_process(folder, "protect", "long.yaml", "--out", "out.csv", "--force")
    assert_interrupted(process, interrupt_at(process, sign))
    assert left_over(folder) == {"out.csv"}
    assert (folder / "out.csv").read_text() == "the old file"


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_compare_goes_on_where_it_stopped(folder, jobs):
    process = sdckit_process(folder, "compare", "many.yaml", "--jobs", jobs)
    assert_interrupted(process, interrupt_at(process, f"Scenario 3/{MANY}"))
    kept = left_over(folder)
    assert 3 <= len(kept) < MANY
    assert all(name.endswith(".json") and not name.startswith(".") for name in kept)
    before = {name: (folder / ".sdckit" / name).stat().st_mtime_ns for name in kept}
    for name in kept:
        assert "risk" in json.loads((folder / ".sdckit" / name).read_text())

    again = sdckit_process(folder, "compare", "many.yaml")  # goes past the scenarios that are there
    assert_interrupted(again, interrupt_at(again, f"Scenario {len(kept) + 5}/{MANY}"))
    assert len(left_over(folder)) > len(kept)
    assert before == {name: (folder / ".sdckit" / name).stat().st_mtime_ns for name in kept}


def test_search(folder):
    process = sdckit_process(folder, "search", "many.yaml", "--trials", str(MANY))
    assert_interrupted(process, interrupt_at(process, f"Trial 8/{MANY}"))
    kept = left_over(folder)
    assert len(kept) > 8
    assert all(name.endswith(".json") and not name.startswith(".") for name in kept)


@pytest.mark.parametrize("scenario", [[], ["--scenario", "s1"]])
def test_report(folder, scenario):
    (folder / "report.html").write_text("the old report")
    sign = "Measure 2/" if scenario else f"Scenario 2/{MANY}"
    process = sdckit_process(folder, "report", "many.yaml", "--out", "report.html", "--force", *scenario)
    assert_interrupted(process, interrupt_at(process, sign))
    assert (folder / "report.html").read_text() == "the old report"
    assert {name for name in left_over(folder) if not name.endswith(".json")} == {"report.html"}
    assert not (folder / "report.json").exists()


WRITE = """
import sys, time
import sdckit as sdc
import sdckit.io

module = sys.modules["sdckit.io.write"]  # the package has the function under this name
whole = module._write

def slowly(data, path, *more):
    whole(data, path, *more)
    path.write_bytes(path.read_bytes()[:-7])
    print("half-written", file=sys.stderr, flush=True)
    time.sleep(100)

module._write = slowly
sdc.write(sdc.read("survey.csv"), sys.argv[1])
"""


@pytest.mark.parametrize(("ending", "old"), [(".csv.gz", None), (".parquet", "the old file")])
def test_write(folder, ending, old):
    target = folder / f"out{ending}"
    if old is not None:
        target.write_text(old)
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, target.name], cwd=folder, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    rest = interrupt_at(process, "half-written")
    assert rest.splitlines()[-1] == "KeyboardInterrupt"
    assert left_over(folder) == ({target.name} if old else set())
    assert old is None or target.read_text() == old


COMMAND = WRITE.replace(
    'sdc.write(sdc.read("survey.csv"), sys.argv[1])', "from sdckit.cli import main; main()"
)


@pytest.mark.parametrize("old", [None, "the old file"])
def test_a_command_that_is_told_to_end_leaves_nothing(folder, old):
    target = folder / "out.sav"
    if old is not None:
        target.write_text(old)
    words = ["protect", "many.yaml", "--scenario", "s1", "--codebook", "--force", "--out", target.name]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    for line in process.stderr:
        if "half-written" in line:
            break
    else:
        pytest.fail(f"it ended before it wrote, with {process.wait()}")
    process.terminate()
    assert process.wait(60) == -signal.SIGTERM
    process.stderr.close()
    assert left_over(folder) == ({target.name} if old else set())
    assert old is None or target.read_text() == old


DATA = sdc.read(pl.DataFrame({"sex": ["f", "m"], "age": [30, 41]}), keys="sex")


def disk_full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet", ".sav", ".dta", ".xpt", ".xlsx"])
@pytest.mark.parametrize("place", ["os.fsync", "pathlib.Path.replace"])
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, ending, place):
    target = tmp_path / f"out{ending}"
    target.write_text("the old file")
    monkeypatch.setattr(place, disk_full)
    with pytest.raises(sdc.SdcError, match="No space left"):
        sdc.write(DATA, target)
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    assert target.read_text() == "the old file"


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet", ".sav", ".dta", ".xpt", ".xlsx"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the zip file Excel needs
def test_a_disk_that_is_full_from_the_start(tmp_path, monkeypatch, ending):
    """Every byte goes to /dev/full, which takes none."""
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")

    def on_full_disk(parent):
        made = Scratch(parent)
        (made.folder / f"new{ending}").symlink_to("/dev/full")
        return made

    monkeypatch.setattr("sdckit._support.files.Scratch", on_full_disk)
    with pytest.raises(sdc.SdcError, match="cannot be written"):
        sdc.write(DATA, tmp_path / f"out{ending}")
    assert list(tmp_path.iterdir()) == []


def test_a_report_on_a_full_disk_leaves_the_old_one(tmp_path, monkeypatch):
    done = sdc.assess(DATA, DATA, measures=["k_anonymity"])
    target = tmp_path / "report.html"
    target.write_text("the old report")
    monkeypatch.setattr("os.fsync", disk_full)
    with pytest.raises(OSError, match="No space left"):
        sdc.report(done, target)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert target.read_text() == "the old report"


def test_folders_that_are_absent_or_files(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.csv").mkdir()
    for path in (tmp_path / "absent" / "x.csv", tmp_path / "file" / "x.csv", tmp_path / "folder.csv"):
        with pytest.raises(sdc.SdcError, match="folder"):
            sdc.write(DATA, path)
        with pytest.raises(sdc.SdcError, match=r"does not exist|in this folder"):
            sdc.read(path)


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_and_a_file_that_may_not_be_read(tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir()
    sdc.write(DATA, locked / "x.csv").chmod(0)
    locked.chmod(0o555)
    with pytest.raises(sdc.SdcError, match="cannot be written"):
        sdc.write(DATA, locked / "y.csv")
    with pytest.raises(sdc.SdcError, match="cannot be read"):
        sdc.read(locked / "x.csv")
    locked.chmod(0o755)
