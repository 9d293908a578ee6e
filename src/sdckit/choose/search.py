"""search: find the scenarios on the risk–utility front instead of trying them all."""

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from sdckit._support.arrays import Floats
from sdckit._support.progress import Progress, ShowProgress, closes_progress
from sdckit.choose.assess import with_intruders
from sdckit.choose.compare import check_numbers
from sdckit.choose.criteria import Accepted
from sdckit.choose.evaluator import OF_EVERY_FILE, Evaluator, Weights, lack_a_loss, old_names
from sdckit.choose.parallel import run
from sdckit.choose.point import comparable
from sdckit.choose.risk_utility_map import Point, RiskUtilityMap, front
from sdckit.choose.scenario import Scenario, seed_or_secret
from sdckit.choose.space import Candidate, Space
from sdckit.data.microdata import Microdata, require_microdata

BATCH = 8  # scenarios proposed before results are looked at: fixed, so that jobs do not change the outcome
FIRST = 1 / 3  # share of the trials spent on a coarse grid


@closes_progress
def search(
    data: Microdata,
    space: Sequence[Any],
    *,
    risk: str | Sequence[str] | Weights | None = None,
    utility: str | Sequence[str] | Weights | None = None,
    extra_measures: str | Sequence[str] = (),
    max_risk: float | None = None,
    intruders: Any = None,
    accept: Any = None,
    trials: int = 100,
    minutes: float | None = None,
    seed: int | None = None,
    jobs: int = 1,
    cache: str | Path | None = None,
    progress: Progress | ShowProgress | bool | None = None,
    each: Callable[[RiskUtilityMap], Any] | None = None,
    **measure_options: Any,
) -> RiskUtilityMap:
    """Look for protections with little risk and little loss, and place all that were tried on a map.

    `space` is a list of steps with open places: {choices: […]}, {range: [low, high], log: true}, and whole
    steps that are {optional: …} or {"one of": […]}. A third of the trials go to a coarse grid, the others
    to neighbours and crossings of scenarios on the front so far, where the front is thin; with `max_risk`
    the part of the front under it is preferred. It ends after `trials` different scenarios or after
    `minutes`. The same data, space, trials and seed give the same map, whatever `jobs` is. `each` is called
    with the map so far after every few trials.
    See `compare` for the other arguments.

    >>> import sdckit as sdc
    >>> data = sdc.demo.survey(n=300, seed=1).with_roles(keys=["sex", "age"], numeric=["expenditure"])
    >>> space = [{"recode": {"variable": "age", "width": {"choices": [1, 5, 20]}}},
    ...          {"microaggregate": {"k": {"range": [2, 20]}}}]
    >>> sdc.search(data, space, trials=8).points.height
    8
    """
    require_microdata(data, "search")
    check_numbers(max_risk, seed=seed, jobs=jobs, trials=trials)
    wanted = Space.of(space)
    extra_measures, measure_options = old_names(extra_measures, measure_options)
    options = with_intruders(intruders, measure_options)
    evaluator = Evaluator.of(data, risk, utility, options, cache, extra_measures, Accepted.of(accept))
    evaluator.check_ceiling(max_risk)
    original = evaluator.original(data)
    tell, quiet = Progress.of(progress), Progress()
    rng = np.random.default_rng(seed or 0)  # it draws what is tried, and nothing of the files
    used = seed_or_secret(seed, data)
    tried: dict[str, tuple[Candidate, Point]] = {}  # by the steps
    start = perf_counter()

    def so_far() -> RiskUtilityMap:
        return evaluator.map(data, (point for _, point in tried.values()), original, max_risk, seed)

    waiting = wanted.grid(max(2, int(trials * FIRST)))
    while len(tried) < trials and (minutes is None or perf_counter() - start < 60 * minutes):
        waiting = waiting or propose(wanted, list(tried.values()), so_far(), rng)
        fresh: dict[str, tuple[Candidate, Sequence[Any]]] = {}
        for candidate in waiting[:BATCH]:
            steps = wanted.decode(candidate)
            if str(steps) not in tried:
                fresh[str(steps)] = candidate, steps
        waiting = waiting[BATCH:]
        if not fresh and not waiting and len(tried) >= wanted.size(trials):
            break  # there is nothing else to try
        room = list(fresh.items())[: trials - len(tried)]
        # names that tell nothing: they are shown to the public, options are not
        named = [Scenario(f"trial {len(tried) + i}", s) for i, (_, (_, s)) in enumerate(room, 1)]
        judged = run(evaluator, data, named, (used,), jobs, quiet)
        if utility is None and not tried and lack_a_loss(comparable(judged)):
            utility = OF_EVERY_FILE
            evaluator = Evaluator.of(data, risk, utility, options, cache, extra_measures, Accepted.of(accept))
            original = evaluator.original(data)
            judged = run(evaluator, data, named, (used,), jobs, quiet)
        tried |= {
            steps: (candidate, point) for (steps, (candidate, _)), point in zip(room, judged, strict=True)
        }
        found = so_far()
        if each is not None:
            each(found)
        tell(_so_far(found), len(tried), trials)
    return so_far()


def _so_far(found: RiskUtilityMap) -> str:
    best = found.best
    return "no scenario is acceptable yet" if best is None else f"best so far: {best.name}"


def propose(
    space: Space, tried: list[tuple[Candidate, Point]], found: RiskUtilityMap, rng: np.random.Generator
) -> list[Candidate]:
    """A batch of children of the front: neighbours of one scenario, or a crossing of two side by side.

    The front is that of the scenarios that could be released as far as is known; where there are none, of
    those with an accepted risk, else of all that were measured.
    """
    tried = list(zip((g for g, _ in tried), comparable([p for _, p in tried]), strict=True))
    measured = [(g, p) for g, p in tried if p.ok]
    accepted = [(g, p) for g, p in measured if found.accepts(p)]
    pool = [(g, p) for g, p in accepted if not found.objection(p)] or accepted or measured
    if not pool:
        return [space.random(rng) for _ in range(BATCH)]
    best = front([p for _, p in pool])
    parents = sorted(((g, p) for g, p in pool if p.name in best), key=lambda gp: gp[1].loss)
    chance = _gaps([p for _, p in parents])
    children = []
    for _ in range(BATCH):
        at = int(rng.choice(len(parents), p=chance))
        kind = rng.random()
        if kind < 0.1:
            children.append(space.random(rng))
        elif kind < 0.4 and len(parents) > 1:
            beside = at + 1 if at + 1 < len(parents) else at - 1
            children.append(space.cross(parents[at][0], parents[beside][0], rng))
        else:
            children.append(space.mutate(parents[at][0], rng))
    return children


def _gaps(points: Sequence[Point]) -> Floats:
    """Chances in proportion to how far the neighbours on the front are, both axes from 0 to 1."""
    if len(points) < 3:
        return np.full(len(points), 1 / len(points))
    xy = np.array([(p.risk, p.loss) for p in points])
    scaled = (xy - xy.min(axis=0)) / np.maximum(np.ptp(xy, axis=0), 1e-300)
    steps = np.abs(np.diff(scaled, axis=0)).sum(axis=1)
    gap = np.concatenate([[steps[0]], steps[1:] + steps[:-1], [steps[-1]]]) + 0.05
    return np.asarray(gap / gap.sum())
