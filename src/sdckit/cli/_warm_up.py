"""Compile the kernels of the verdict in a second process while the scenarios run in the first."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context


@contextmanager
def warming_up(task: str, say: Callable[[str], None]) -> Iterator[None]:
    """On a fresh machine this shortens the wait of `sdckit demo`; later the kernels come from disk."""
    from sdckit.choose.warm_up import is_warm, keeps_kernels

    if is_warm(task):
        yield
        return
    say("Preparing, once: parts of the program are compiled, which takes about half a minute.")
    if not keeps_kernels():  # another process could not hand over what it compiled
        yield
        return
    helper = get_context("spawn").Process(target=_attack_a_little, daemon=True)
    helper.start()
    try:
        yield
        helper.join(timeout=60)
    finally:
        helper.kill()


def _attack_a_little() -> None:
    """The measure whose kernels take longest to compile, on a little data."""
    from sdckit.choose.warm_up import prepare

    prepare("re-identification")
