"""Two columns that tell a hidden category only together, among many that tell a little each."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.risk._dependence import VALUES, agreement, dependence

N = 1_500
AREAS = {"A": [0, 1, 2, 3], "B": [4, 5, 6, 7]}


def people(*, together: bool) -> sdc.Microdata:
    draw = np.random.default_rng(1)
    region, first = draw.integers(0, 8, N), draw.integers(0, 8, N)
    second = (region - first) % 8 if together else draw.integers(0, 8, N)
    a_little = {f"c{i}": np.where(draw.random(N) < 0.15, region, draw.integers(0, 8, N)) for i in range(10)}
    frame = pl.DataFrame({"sex": draw.choice(["f", "m"], N), "region": region, **a_little})
    frame = frame.with_columns(first=pl.Series(first), second=pl.Series(second))
    return sdc.read(frame, keys=["sex", "region"], sensitive=frame.columns[2:])


@pytest.mark.parametrize("together", [True, False])
def test_two_codes_whose_sum_is_the_hidden_one(together):
    """Neither of the two depends on the region, and eight others do."""
    data = people(together=together)
    safe = sdc.protect.group(data, variables=["region"], map=AREAS)
    found = sdc.risk.revealing_columns(data, safe)
    alarms = [] if found.parts is None else found.parts.filter("alarm")["columns"].to_list()
    assert ("first and second" in alarms) == together


def test_agreement_is_the_dependence_of_few_values():
    draw = np.random.default_rng(1)
    x, codes = draw.integers(0, VALUES, 500), draw.integers(0, 30, 500)
    assert agreement(x, codes, 40) == pytest.approx(dependence(x, VALUES, codes, 40))
