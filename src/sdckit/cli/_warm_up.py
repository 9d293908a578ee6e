"""Compile the kernels of the demo before it runs, in two processes at once."""

from collections.abc import Callable
from multiprocessing import get_context

# Two parts that take about as long to compile: each kernel is compiled by one process and read by the other.
IN_HELPER = ("re-identification", "new records", "special uniques")
HERE = ("local suppression", "microaggregation", "synthesis")
PATIENCE = 60  # seconds after which this process goes on alone


def compile_ahead(task: str, say: Callable[[str], None]) -> None:
    """On a fresh machine this shortens the wait of `sdckit demo`; later the kernels come from disk."""
    from sdckit.choose.warm_up import is_warm, keeps_kernels, prepare
    from sdckit.kernels._threads import threads

    if is_warm(task):
        return
    say("Preparing, once: parts of the program are compiled, which takes about a quarter of a minute.")
    if (
        not keeps_kernels() or threads() == 1
    ):  # another process could not hand over or would only be in the way
        return
    helper = get_context("spawn").Process(target=prepare, args=IN_HELPER, daemon=True)
    helper.start()
    try:
        prepare(*HERE)
        helper.join(timeout=PATIENCE)
    finally:
        helper.kill()
