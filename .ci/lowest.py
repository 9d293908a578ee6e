"""Print the lowest versions that pyproject.toml promises to work with, as constraints for pip."""

import re
import sys
import tomllib
from pathlib import Path


def lowest(requirements: list[str]) -> list[str]:
    """Each requirement at its lower bound; those without one are left open."""
    found = [
        re.match(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?\s*>=\s*([0-9][0-9a-z.]*)", text) for text in requirements
    ]
    return [f"{match[1]}=={match[2]}" for match in found if match]


project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
wanted = [*project["dependencies"], *extras["duckdb"], *extras["web"]]
sys.stdout.write("\n".join(lowest(wanted)) + "\n")
