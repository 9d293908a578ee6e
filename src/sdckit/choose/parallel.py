"""Scenarios measured over several processes."""

from collections.abc import Sequence
from dataclasses import replace
from multiprocessing import current_process
from signal import SIG_IGN, SIGINT, signal
from uuid import uuid4

from sdckit._support.progress import Progress
from sdckit._support.scratch import remove_abandoned
from sdckit.choose.evaluator import Evaluator
from sdckit.choose.point import Point
from sdckit.choose.scenario import Scenario
from sdckit.data.microdata import Microdata
from sdckit.methods.processes import packed, unpack


def run(
    evaluator: Evaluator,
    data: Microdata,
    plan: Sequence[Scenario],
    seeds: Sequence[int],
    jobs: int,
    progress: Progress,
) -> list[Point]:
    """The points of several scenarios, in their order, over several processes."""
    from joblib import Parallel, delayed

    name = data.cache.setdefault("name", uuid4().hex)
    own = b"" if jobs == 1 else packed()
    origin = data.origin  # which a file with steps does not take along by itself
    calls = (delayed(_point)(evaluator, name, data, origin, scenario, seeds, own) for scenario in plan)
    points = []
    measured = Parallel(n_jobs=jobs, return_as="generator")(calls)
    try:
        for point in measured:
            points.append(point)
            progress(point.name, len(points), len(plan))
    finally:  # nothing is held here, also after an interruption; other processes keep theirs for the next run
        measured.close()
        _held.clear()
        evaluator.files.clear()
        if evaluator.store is not None:  # of processes that were ended while they wrote
            remove_abandoned(evaluator.store.folder)
    return points


_held: dict[str, Microdata] = {}  # the data of the last run in this process, by their name


def _point(
    evaluator: Evaluator,
    name: str,
    data: Microdata,
    origin: int,
    scenario: Scenario,
    seeds: Sequence[int],
    own: bytes,
) -> Point:
    """A point measured in some process, with what is already known of the original there.

    Every call to another process brings its own copy of the data; the first is held for those after it.
    """
    if current_process().name.startswith("Loky"):
        signal(SIGINT, SIG_IGN)  # Ctrl-C is for the process that waits for this one, and ends it
    unpack(own)
    held = _held.get(name)
    if held is None:
        _held.clear()
        held = _held[name] = data if data.origin == origin else replace(data, origin=origin)
    return evaluator.point(held, scenario, seeds)
