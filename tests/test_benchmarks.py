"""Every task of the benchmarks runs, on few records."""

from importlib import import_module

import pytest
from benchmarks import choose, scale, search, start
from benchmarks.__main__ import MODULES

FEW = 200
TASKS = [
    pytest.param(task, id=task.name) for name in MODULES for task in import_module(f"benchmarks.{name}").TASKS
]


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_task_runs_on_few_records(task, monkeypatch):
    monkeypatch.setattr(search, "TRIALS", 4)
    monkeypatch.setattr(choose, "JOBS", 1)
    assert isinstance(task.say(task.run(task.make(FEW))), str)
    if task.naive:
        task.naive(task.make(50))


@pytest.mark.slow
def test_work_on_large_files_runs_on_a_small_one(tmp_path):
    path = tmp_path / "records.parquet"
    scale.make(path, 2_000)
    for kind, name in [*(("whole", name) for name in scale.WHOLE), *scale.methods()]:
        assert scale.work(path, kind, name), name


@pytest.mark.slow
def test_page_of_large_files_and_of_the_first_minute(monkeypatch):
    monkeypatch.setattr(scale, "WHOLE", ("counts and risk",))
    monkeypatch.setattr(scale, "ON_THE_PAGE", ())
    large = scale.section([1_000], None).splitlines()
    assert large[2].startswith("| counts and risk | 1,000 | ")
    monkeypatch.setattr(start, "COMMANDS", {"version": ("-m", "sdckit", "--version")})
    assert float(start.section().splitlines()[2].split("|")[2]) > 0
