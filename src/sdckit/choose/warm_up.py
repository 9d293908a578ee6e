"""warm_up: compile the kernels of the usual calls ahead of their first use."""

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import polars as pl

from sdckit._support.files import write_text
from sdckit._support.progress import Progress, ShowProgress, closes_progress
from sdckit._version import __version__
from sdckit.data.microdata import Microdata
from sdckit.errors import SdcError
from sdckit.methods.registry import find

RECORDS = 2_200  # just enough that no measure takes the way for small files, which needs no kernel
FIRMS = 300
MANY = 5_600  # persons of whom only numbers are known: too many for every pair to be looked at
KEYS = ["region", "sex", "age", "education", "labour_status", "toilet"]  # enough for many patterns of blanks
OFTEN, RARELY = (2, 3, 5, 7, 11, 13), (97, 101, 103, 107, 109, 113)  # each so many records lacks a key
USUAL = "usual-calls"


@closes_progress
def warm_up(*, progress: Progress | ShowProgress | bool | None = None) -> bool:
    """Compile the kernels that the demo and the usual calls need; True if there was something to do.

    Compiled kernels are kept on disk, so this is work of once: after an installation, or when an image for
    many machines of one kind is built. Afterwards it returns at once, in this process and in others. Where
    nothing can be written, kernels are compiled for this process.

    `progress`: True for a bar, or a function of what is prepared, how many are done, and of how many.
    """
    if is_warm():
        return False
    tell = Progress.of(progress)
    calls = _calls()
    for position, (name, call) in enumerate(calls.items()):
        tell(f"preparing, once: {name}", position, len(calls))
        call()
    remember(USUAL)
    return True


def is_warm(task: str = USUAL) -> bool:
    """Whether the kernels of a task, or of all usual calls, were compiled before and are still there."""
    import numba

    switched_off = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
    return switched_off or any(_is_noted(name) for name in {task, USUAL})


def keeps_kernels() -> bool:
    """Whether compiled kernels are kept on disk, so that other processes have them, too."""
    return _stamp(USUAL) is not None


def prepare(*names: str) -> None:
    """Compile the kernels of some of the usual calls."""
    calls = _calls()
    for name in names:
        calls[name]()


def remember(task: str) -> None:
    """Note that everything this task needs is compiled now, and in which files it is."""
    from sdckit.kernels._jit import KERNELS, cached_files

    _in_this_process.add(task)
    stamp = _stamp(task)
    if stamp is not None:
        files = [str(file) for kernel in KERNELS for file in cached_files(kernel)]
        with suppress(OSError, SdcError):  # without the note the work is done again, in a few seconds
            write_text(json.dumps(files), stamp)


_in_this_process: set[str] = set()  # tasks, where nothing can be kept on disk


def _is_noted(task: str) -> bool:
    stamp = _stamp(task)
    if stamp is None:
        return task in _in_this_process
    try:
        return all(Path(file).exists() for file in json.loads(stamp.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return False


def _stamp(task: str) -> Path | None:
    """Where it is noted which files the kernels of a task are in; None where they are not kept on disk.

    What numba asks of a kernel on disk is part of the name: its own version, Python, the processor and the
    source.
    """
    import numba
    from llvmlite import binding

    from sdckit.kernels import _jit

    folder = _jit.cache_folder()
    if folder is None:
        return None
    needed = [numba.__version__, sys.version, binding.get_host_cpu_name(), _jit.source_checksum()]
    return folder / f"sdckit-{__version__}-{crc32(repr(needed).encode()):08x}.{task}"


def _calls() -> dict[str, Callable[[], Any]]:
    """What people do first, on a little data, by what is prepared."""
    from sdckit.demo import business, survey

    data = survey(n=RECORDS, seed=1).with_roles(keys=KEYS)
    firms = business(n=FIRMS, seed=1)
    noisy = find("add_noise").call(data, sd=0.1, rng=1)
    return {
        "local suppression": lambda: find("suppress").call(data, k=3),
        "microaggregation": lambda: find("microaggregate").call(data, k=3),
        "re-identification": lambda: find("reidentification_risk").call(data, noisy),
        "synthesis": lambda: find("synthesize").call(data, rng=1),
        "new records": lambda: find("reidentification_risk").call(data, noisy, linked=False),
        "re-identification in large files": lambda: find("reidentification_risk").call(*_many()),
        "inference in large files": lambda: find("attribute_inference").call(*_many("sex")),
        "special uniques": lambda: [find("suda").call(file) for file in (data, _blanked(data, RARELY))],
        "missing keys": lambda: find("individual_risk").call(_blanked(data, OFTEN)),
        "record linkage": lambda: find("record_linkage").call(data, noisy),
        "outliers": lambda: find("outlier_disclosure").call(data, noisy),
        "distributions": lambda: find("ecdf_distance").call(data, noisy),
        "propensity scores": lambda: find("propensity").call(data, noisy),
        "mixtures": lambda: find("atypical_records").call(firms),
    }


def _many(*keys: str) -> tuple[Microdata, Microdata]:
    """Numbers, keys and a sensitive value of many persons, before and after noise."""
    from sdckit.demo import survey

    numbers = ("income", "expenditure")
    frame = survey(n=MANY, seed=1).frame.select(*numbers, "health", *keys)
    data = Microdata.of(frame, numeric=numbers, sensitive="health", keys=keys)
    return data, find("add_noise").call(data, sd=0.1, rng=1)


def _blanked(data: Microdata, every: tuple[int, ...]) -> Microdata:
    """The data with keys missing in many combinations."""
    row = pl.int_range(pl.len())
    blanks = [pl.when(row % p > 0).then(key).alias(key) for key, p in zip(KEYS, every, strict=True)]
    return data.with_frame(data.collect().native().with_columns(blanks))
