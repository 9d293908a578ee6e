"""What a benchmark is: a task on files of growing size, each run in a fresh process."""

import os
import re
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from math import log
from multiprocessing import get_context
from pathlib import Path
from typing import Any

SHARED = Path(os.environ.get("SDCKIT_ORACLES", Path(__file__).parents[2] / "shared"))
SIZES = (10_000, 100_000, 1_000_000)
WARM = 300  # records on which imports and compilation are done before the clock starts
LONG = 10.0  # seconds: a shorter run is repeated, as the first may compile, and the best of three counts


@dataclass(frozen=True)
class Task:
    """`make` gives the input for n records, `run` is timed on it.

    naive: the slow plain twin, run on `naive_size` records. theirs: the row of sdcMicro's stored timings.
    say: what the result was, in a few words.
    """

    name: str
    make: Callable[[int], Any]
    run: Callable[[Any], Any]
    sizes: tuple[int, ...] = SIZES
    naive: Callable[[Any], Any] | None = None
    naive_size: int = 1_000
    theirs: str = ""
    say: Callable[[Any], str] = lambda _: ""


@dataclass(frozen=True)
class Run:
    """One line of the table; seconds are CPU seconds, memory is MB above the input."""

    task: str
    records: int
    seconds: float
    elapsed: float
    growth: float | None
    memory: float
    naive: float | None
    theirs: str
    said: str


def runs(module: str, position: int) -> list[Run]:
    """The task at every size; its twin's ratio stands in the first line."""
    task: Task = import_module(module).TASKS[position]
    found: list[Run] = []
    ratio = _afresh(_ratio, module, position) if task.naive else None
    for n in task.sizes:
        seconds, elapsed, memory, said = _afresh(_measure, module, position, n)
        growth = None
        if found and min(seconds, found[-1].seconds) > 0:
            growth = log(seconds / found[-1].seconds) / log(n / found[-1].records)
        theirs = stored().get((task.theirs, n), "")
        found.append(
            Run(task.name, n, seconds, elapsed, growth, memory, None if found else ratio, theirs, said)
        )
    return found


def _afresh(work: Callable[..., Any], *given: object) -> Any:
    """In a new process, which may start processes of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        return fresh.submit(work, *given).result()


def _measure(module: str, position: int, n: int) -> tuple[float, float, float, str]:
    task: Task = import_module(module).TASKS[position]
    task.run(task.make(min(WARM, n)))
    data = task.make(n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result, seconds, elapsed = _timed(lambda: task.run(data))
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    for _ in range(2 if seconds < LONG else 0):
        data = task.make(n)  # anew, so that nothing kept from the last run helps
        _, again, less = _timed(lambda data=data: task.run(data))
        seconds, elapsed = min(seconds, again), min(elapsed, less)
    return seconds, elapsed, memory, task.say(result)


def _ratio(module: str, position: int) -> float:
    task: Task = import_module(module).TASKS[position]
    task.run(task.make(WARM))
    ours = min(
        _timed(lambda data=data: task.run(data))[1] for data in (task.make(task.naive_size) for _ in range(3))
    )
    data = task.make(task.naive_size)
    return _timed(lambda: task.naive(data))[1] / ours


def _timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    answer = call()
    return answer, time.process_time() - cpu, time.perf_counter() - wall


@cache
def stored() -> dict[tuple[str, int], str]:
    """CPU seconds of sdcMicro and others by row and number of records, where they are here."""
    path = SHARED / "bench" / "sdcmicro_timings.md"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    rows = re.findall(r"^\| (\w+) \| (\d+) \| ([^|]+) \| (\S+) \|", text, flags=re.MULTILINE)
    return {
        (name, int(n)): elapsed.split("(")[0].strip() if cpu == "-" else cpu for name, n, elapsed, cpu in rows
    }
