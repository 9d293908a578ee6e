"""Compile the kernels of the measures in a second process while the scenarios run in the first."""

from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path


@contextmanager
def warming_up() -> Iterator[None]:
    """On a fresh machine this shortens the wait of `sdckit demo`; later the kernels come from disk."""
    if any((Path(__file__).parents[1] / "kernels" / "__pycache__").glob("dominance*.nbi")):
        yield
        return
    helper = get_context("spawn").Process(target=_measure_a_little, daemon=True)
    helper.start()
    try:
        yield
        helper.join(timeout=60)
    finally:
        helper.kill()


def _measure_a_little() -> None:
    """The measures whose kernels take longest to compile, on a little data."""
    from sdckit.choose.assess import assess
    from sdckit.demo import survey

    data = survey(n=200, seed=1).with_roles(keys=["region", "sex", "age"])
    measures = ["reidentification_risk", "ecdf_distance", "suda", "record_linkage", "outlier_disclosure"]
    assess(data, data, measures=measures)
