"""Draw the picture of the README: its example, and other kinds of protection. Run it as a script."""

from pathlib import Path
from typing import Any

import sdckit as sdc

COLUMNS = ["region", "urban", "sex", "age", "health", "weight"]
LAST: list[Any] = [{"round_values": {"variables": "weight", "base": 500}}, {"shuffle_order": {}}]


def draw_map() -> None:
    """Write map.png beside this file."""
    people = sdc.demo.survey(n=3000, seed=1).frame.select(COLUMNS)
    data = sdc.read(people, keys=COLUMNS[:4], sensitive="health", weight="weight")
    found = sdc.compare(data, ways(), intruders=sdc.Intruder("colleague"), max_risk=0.05, seed=1)
    chart = found.chart()
    chart.config.background = "white"  # readable on dark pages, too
    chart.save(str(Path(__file__).with_name("map.png")), ppi=140)


def ways() -> dict[str, list[Any]]:
    """Recoding, suppression and post-randomisation, alone and together."""
    made: dict[str, list[Any]] = {"k = 3": [{"suppress": {"k": 3}}, *LAST]}
    for width in (5, 10, 20):
        coarse = {"recode": {"variable": "age", "width": width}}
        made[f"age by {width}"] = [coarse, *LAST]
        for k in (3, 10):
            made[f"age by {width}, k = {k}"] = [coarse, {"suppress": {"k": k}}, *LAST]
    ten = {"recode": {"variable": "age", "width": 10}}
    made["age by 10, PRAM"] = [ten, {"pram": {"variables": ["region", "urban"], "stay": 0.95}}, *LAST]
    return made


if __name__ == "__main__":
    draw_map()
