"""Draw the picture of the README: the risk–utility map of the demo. Run it as a script."""

from pathlib import Path

import sdckit as sdc
from sdckit.demo.scenarios import ASSESS, KEYS, SCENARIOS


def draw_map() -> None:
    """Write map.png beside this file."""
    data = sdc.demo.survey(n=3000, seed=1).with_roles(keys=KEYS)
    found = sdc.compare(data, SCENARIOS, max_risk=0.0003, seed=1, **ASSESS)
    chart = found.chart()
    chart.config.background = "white"  # readable on dark pages, too
    chart.save(str(Path(__file__).with_name("map.png")), ppi=140)


if __name__ == "__main__":
    draw_map()
