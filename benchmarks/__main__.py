"""Every benchmark, one after the other: python -m benchmarks [words of a task …] [--write] [--sizes 6,7]."""

import argparse
from importlib import import_module
from pathlib import Path

from benchmarks import scale, start, web
from benchmarks._table import HEAD, LARGE, PAGE, START, kept, line, page
from benchmarks._task import Run, runs

DOCUMENT = Path(__file__).parents[1] / "docs" / "benchmarks.md"
MODULES = ("risk", "protect", "utility", "estimate", "choose")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only tasks whose name has one of these")
    parser.add_argument(
        "--write",
        action="store_true",
        help="go on with the first minute, the page and large files, and write docs/benchmarks.md",
    )
    parser.add_argument(
        "--sizes", default="6,7", help="with --write: powers of ten of the files larger than memory"
    )
    given = parser.parse_args()
    print(HEAD, flush=True)
    found: dict[str, list[Run]] = {}
    for name in MODULES:
        module = import_module(f"benchmarks.{name}")
        for position, task in enumerate(module.TASKS):
            if given.words and not any(word in task.name for word in given.words):
                continue
            for run in runs(module.__name__, position):
                found.setdefault(module.__doc__.strip(". \n"), []).append(run)
                print(line(run), flush=True)
    if given.write:
        sizes = [10 ** int(power) for power in given.sizes.split(",")]
        more = {START: start.section(), PAGE: web.section(web.SIZES), LARGE: scale.section(sizes, None)}
        others = kept(DOCUMENT.read_text(encoding="utf-8"))
        DOCUMENT.write_text(page(found, more) + others, encoding="utf-8")


if __name__ == "__main__":
    main()
