"""Refuse a release whose tag, version, changelog and citation do not agree: check_release.py v0.2.0."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problems(tag: str, root: Path = ROOT) -> list[str]:
    """What would have to be mended before the release."""
    source = (root / "src" / "sdckit" / "_version.py").read_text(encoding="utf-8")
    version = re.search(r'__version__ = "([^"]+)"', source)[1]
    heading = re.search(r"^## (.*)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[1]
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    dated = re.fullmatch(rf"{re.escape(version)} \((\d{{4}}-\d\d-\d\d)\)", heading)
    found = []
    if tag != f"v{version}":
        found.append(f"The tag is {tag}, the version {version}.")
    if not dated:
        found.append(f"The changelog begins with {heading!r}, not with {version!r} and a date.")
    if f"version: {version}\n" not in citation:
        found.append(f"CITATION.cff does not name version {version}.")
    if dated and f'date-released: "{dated[1]}"\n' not in citation:
        found.append(f"CITATION.cff does not have the date {dated[1]}.")
    return found


if __name__ == "__main__":
    wrong = problems(sys.argv[1])
    sys.exit("\n".join(wrong) if wrong else 0)
