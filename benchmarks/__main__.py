"""Run every benchmark: python -m benchmarks [name …]."""

import sys
from importlib import import_module
from pathlib import Path

here = Path(__file__).parent
sys.path[:0] = [str(here.parent / "tests")]  # the slow plain twins
names = sys.argv[1:] or sorted(p.stem for p in here.glob("*.py") if not p.stem.startswith("_"))
sys.argv[1:] = []
for name in names:
    print(f"\n== {name}", flush=True)
    try:
        import_module(f"benchmarks.{name}").main()
    except FileNotFoundError as error:
        print(f"left out: {error.filename} is not here")
