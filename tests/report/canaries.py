"""Data with planted values that a report must not show."""

import numpy as np
import polars as pl

from sdckit.data.microdata import Microdata

TOWN, LARGEST, SMALLEST, NAME = "Canaryville", 987654.321, -43210.987, "Zebulon Canary"
NAMES = (NAME, "id-canary", "43210", "43211")  # in no report


def canaries() -> Microdata:
    rng = np.random.default_rng(7)
    n = 240
    income = rng.lognormal(9, 1, n).round(2)
    income[11], income[12] = LARGEST, SMALLEST
    town = np.array(["Aville", "Beville", "Ceville"])[rng.integers(3, size=n)].astype(object)
    town[11] = TOWN
    frame = pl.DataFrame(
        {
            "code": [f"id-canary-{i:04d}" for i in range(n)],
            "secret_name": [NAME] * n,
            "town": town.tolist(),
            "sex": rng.choice(["f", "m"], n).tolist(),
            "school": rng.choice(["none", "some", "all"], n).tolist(),
            "income": income,
            "w": rng.uniform(5, 50, n),
        }
    )
    return Microdata.of(
        frame, id="code", direct="secret_name", keys=["town", "sex", "school"], numeric=["income"], weight="w"
    )
