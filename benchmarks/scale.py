"""How work on files larger than memory grows: 10⁶, 10⁷ and 10⁸ records on DuckDB.

    python -m benchmarks.scale [--sizes 6,7] [--only plan,moments] [--folder FOLDER]

Each line is a fresh process: CPU seconds with reading and, for protections, writing to Parquet; the
exponent of the number of records from the size before; the peak memory of the process and all it started.
Whole pieces of work come first: counting and individual risk, a plan, an assessment. Which methods run on
DuckDB is asked of the registry, so that new ones enter by themselves. The file is made
in a temporary folder, which is removed; a size whose file does not fit on the disk is left out.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from math import log10
from pathlib import Path

BYTES = 40  # of a record, in the file and in what is written from it, at most
KEYS = ("region", "sex", "age", "edu", "occ")
COLUMNS = """
    range as id, range // 3 as household,
    (hash(range) % 101)::int as region, (hash(range + 1) % 2)::int as sex,
    (hash(range + 2) % 90)::int as age, (hash(range + 3) % 8)::int as edu,
    case when hash(range + 4) % 50 > 0 then (hash(range + 5) % 60)::int end as occ,
    round(exp(8 + 3 * (hash(range + 6) % 1000003) / 1000003), 2) as income,
    round(exp(9 + 4 * (hash(range + 7) % 1000003) / 1000003), 2) as wealth,
    1 + (hash(range + 8) % 97) / 10.0 as weight
"""
# What the methods are asked to do; every other one that DuckDB has runs with its defaults.
OPTIONS = {
    "recode": {"variable": "age", "width": 20},
    "indicators": {"indicators": ["mean", "median", "gini", "poverty_rate"], "variables": ["income"]},
    "regression": {"formula": "log(income) ~ sex + age + I(age^2) + C(edu)"},
    "prediction_quality": {"formula": "log(income) ~ sex + age"},
    "group": {"variables": "edu", "map": {"low": [0, 1, 2]}},
    "drop": {"variables": ["wealth"]},
    "top_code": {"variables": ["income"], "share": 0.01},
    "bottom_code": {"variables": ["income"], "share": 0.01},
    "round_values": {"variables": ["income"], "base": 100},
    "pram": {"variables": ["edu"]},
    "suppress": {"k": 3},
    "swap_records": {"geography": ["region"], "similar": ["sex"], "keys": ["sex", "age", "edu"], "k": 3},
    "sample_records": {"share": 0.1},
    "synthesize": {"variables": ["income"], "by": ["region", "sex"]},
}
# Measures that need what the file has not, or are about other kinds of files.
WITHOUT = ("k_map", "magnitude_tables", "l_diversity", "t_closeness", "attribute_disclosure")


ASKED = {"indicators": OPTIONS["indicators"], "regression": {"formula": "log(income) ~ sex + C(edu)"}}
# Work of several steps.
WHOLE = ("counts and risk", "plan", "assess")
# Methods with a target of their own.
ON_THE_PAGE = (
    "household_risk",
    "moments",
    "indicators",
    "regression",
    "add_noise",
    "rank_swap",
    "microaggregate",
)


def make(path: Path, n: int) -> None:
    import duckdb

    connection = duckdb.connect()
    connection.execute("set preserve_insertion_order = false")
    connection.execute(f"copy (select {COLUMNS} from range({n})) to '{path}' (format parquet)")


def methods() -> list[tuple[str, str]]:
    """Kind and name of every method that runs on DuckDB."""
    from sdckit.methods.registry import specs

    found = [(s.kind.value, s.name) for s in specs() if "duckdb" in s.engines and s.name not in WITHOUT]
    return sorted(found, key=lambda one: ("risk", "utility", "protection").index(one[0]))


def work(path: Path, kind: str, name: str) -> str:
    """Run one method on the file; what it found, in a few words."""
    import warnings

    import sdckit as sdc
    from sdckit.methods.registry import find
    from sdckit.methods.spec import Kind

    warnings.simplefilter("ignore")
    roles = {"keys": KEYS, "numeric": ["income", "wealth"], "weight": "weight", "household": "household"}
    data = sdc.read(path, id="id", engine="duckdb", **roles)
    if kind == "whole":
        return whole(sdc, data, path, name)
    if name not in ("recode", "regression", "prediction_quality"):
        data = banded(sdc, data)
    if name == "synthesize":  # members of households are in different strata
        data = data.with_roles(household=None)
    spec = find(name, Kind(kind))
    if kind == "protection":
        drawn = {"rng": 1} if spec.is_random else {}
        done = spec.call(data, **drawn, **OPTIONS.get(name, {}))
        sdc.write(done, path.with_name(f"{name}.parquet"))
        return done.log[-1].summary()
    files = [data] if spec.compares.name == "ONE_FILE" else [data, coarser(sdc, data)]
    return f"{spec.call(*files, **OPTIONS.get(name, {})).value:.6g}"


def banded(sdc, data):
    """Ages in fives and occupations in sixes: half a million combinations of keys at most."""
    data = sdc.protect.recode(data, variable="age", width=5)
    return sdc.protect.recode(data, variable="occ", width=6)


def whole(sdc, data, path: Path, name: str) -> str:
    """Work of several steps."""
    if name == "counts and risk":
        data = banded(sdc, data)
        found = [sdc.risk.frequencies(data).value, sdc.risk.individual_risk(data).value]
        return ", ".join(f"{value:.6g}" for value in found)
    if name == "assess":
        data = banded(sdc, data)
        done = sdc.assess(data, sdc.protect.pram(data, variables=["edu"], rng=1), **ASKED)
        return f"{len(done.after) + len(done.utility)} measures, {len(done.omitted)} left out"
    done = sdc.protect.suppress(banded(sdc, data), k=3)
    done = sdc.protect.pram(done, variables=["edu"], rng=1)
    done = sdc.protect.top_code(done, variables=["income"], share=0.01, replacement="mean")
    done = sdc.protect.new_ids(done, rng=2)
    sdc.write(done, path.with_name("plan.parquet"))
    return "; ".join(entry.summary() for entry in done.log[2:])


def coarser(sdc, data):
    """A protected file, made of a step that takes little time itself."""
    return sdc.protect.round_values(data, variables=["income"], base=100)


def memory(process: int) -> int:
    """Bytes in use by a process and all that it started (Linux)."""
    total, waiting = 0, [process]
    while waiting:
        one = Path(f"/proc/{waiting.pop()}")
        try:
            total += int((one / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            for task in (one / "task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except OSError:  # it ended in the meantime
            continue
    return total


def measured(path: Path, kind: str, name: str) -> dict:
    """CPU seconds, seconds, peak memory and result of one method in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "--run", str(path), kind, name]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        peak = [0]

        def watch() -> None:
            while process.poll() is None:
                peak[0] = max(peak[0], memory(process.pid))
                time.sleep(0.2)

        watching = threading.Thread(target=watch)
        watching.start()
        out, error = process.communicate()
        watching.join()
    if process.returncode:
        return {"said": (error.strip().splitlines() or ["failed"])[-1][:100]}
    return {**json.loads(out), "wall": time.perf_counter() - start, "peak": peak[0]}


def run(path: str, kind: str, name: str) -> None:
    import resource

    said = work(Path(path), kind, name)
    mine, theirs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seconds = mine.ru_utime + mine.ru_stime + theirs.ru_utime + theirs.ru_stime
    print(json.dumps({"cpu": seconds, "said": said}))


def rows(sizes: Sequence[int], wanted: Sequence[tuple[str, str]], folder: str | None) -> Iterator[dict]:
    """What every piece of work takes at every size, one after the other."""
    before: dict[str, float] = {}
    for n in sizes:
        with tempfile.TemporaryDirectory(dir=folder) as made:
            if shutil.disk_usage(made).free < 2 * BYTES * n:
                yield {"name": "all", "records": n, "said": "left out: the disk has too little room"}
                continue
            path = Path(made) / "records.parquet"
            make(path, n)
            for kind, name in wanted:
                found = measured(path, kind, name)
                if "cpu" in found:
                    growth = log10(found["cpu"] / before[name]) if name in before else None
                    found["growth"], before[name] = growth, found["cpu"]
                yield {"name": name, "records": n, **found}
                for file in Path(made).glob("*.parquet"):
                    if file != path:
                        file.unlink()


def section(sizes: Sequence[int], folder: str | None) -> str:
    """Whole pieces of work and some methods, as a part of the page of benchmarks."""
    wanted = [one for one in every() if one[0] == "whole" or one[1] in ON_THE_PAGE]
    lines = ["| work | records | CPU s | elapsed | growth | memory |", "|---|---:|---:|---:|---:|---:|"]
    for row in rows(sizes, wanted, folder):
        if "cpu" in row:
            growth = "" if row["growth"] is None else f"{row['growth']:.2f}"
            figures = f"{row['cpu']:.1f} | {row['wall']:.1f} | {growth} | {row['peak'] / 1e9:.2f} GB"
        else:
            figures = f"{row['said']} | | |"
        lines.append(f"| {row['name']} | {row['records']:,} | {figures} |")
        print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def every() -> list[tuple[str, str]]:
    """All that can be measured: kind and name."""
    return [*(("whole", name) for name in WHOLE), *methods()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="6,7,8", help="powers of ten")
    parser.add_argument("--only", default="", help="names of methods")
    parser.add_argument("--folder", default=None, help="where files are made; the system's folder by default")
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        run(*given.run)
        return
    wanted = [one for one in every() if not given.only or one[1] in given.only.split(",")]
    print(f"{'method':<26}{'records':>13}{'CPU s':>9}{'wall s':>9}{'growth':>8}{'peak GB':>9}  result")
    for row in rows([10 ** int(power) for power in given.sizes.split(",")], wanted, given.folder):
        figures = ""
        if "cpu" in row:
            growth = "" if row["growth"] is None else f"{row['growth']:.2f}"
            figures = f"{row['cpu']:>9.1f}{row['wall']:>9.1f}{growth:>8}{row['peak'] / 1e9:>9.2f}"
        print(f"{row['name']:<26}{row['records']:>13,}{figures}  {row['said'][:60]}", flush=True)


if __name__ == "__main__":
    main()
