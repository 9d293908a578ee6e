"""The first minute: how long commands and calls take in a new process, before and after kernels are compiled.

Run it with `python -m benchmarks.start`.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SURVEY = "import sdckit as sdc; d = sdc.demo.survey(n=500, seed=1); "
COMMANDS = {
    "`import sdckit`": ("-c", "import sdckit"),
    "`sdckit --help`": ("-m", "sdckit", "--help"),
    "`suppress`, 500 records": ("-c", SURVEY + "sdc.protect.suppress(d, k=3)"),
    "`microaggregate`, 500 records": ("-c", SURVEY + "sdc.protect.microaggregate(d, k=3)"),
    "`assess`, 500 records": ("-c", SURVEY + "sdc.assess(d, sdc.protect.top_code(d))"),
    "`sdckit demo`": ("-m", "sdckit", "demo", "--out", "demo"),
}


def measured(command: tuple[str, ...], folder: Path) -> tuple[float, float]:
    """Seconds of CPU and by the clock; compiled kernels are kept in `folder`."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, *command],
        check=False,  # the demo's exit code is its verdict
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "kernels")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    elapsed, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, elapsed


def section() -> str:
    """What it takes the first time and later, as a part of the page."""
    lines = ["| | first time: CPU | by the clock | later: CPU | by the clock |", "|---|---:|---:|---:|---:|"]
    for name, command in COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            twice = [seconds for _ in range(2) for seconds in measured(command, Path(folder))]
        lines.append(f"| {name} | " + " | ".join(f"{seconds:.1f}" for seconds in twice) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(section())
