"""One table of every task: python -m benchmarks [words of a task …] [--write]."""

import argparse
from importlib import import_module
from pathlib import Path

from benchmarks._table import HEAD, kept, line, page
from benchmarks._task import Run, runs

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
MODULES = ("risk", "protect", "utility", "estimate", "choose")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only tasks whose name has one of these")
    parser.add_argument("--write", action="store_true", help="also write docs/benchmarks.md")
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
        others = kept(PAGE.read_text(encoding="utf-8"))
        PAGE.write_text(page(found) + others, encoding="utf-8")


if __name__ == "__main__":
    main()
