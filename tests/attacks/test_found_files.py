"""What a written file tells beside what was measured."""

import numpy as np
import polars as pl
import pyreadstat

import sdckit as sdc
from attacks.test_found import verdict

N = 1_200


def test_reasons_of_missing_values_in_a_file_that_no_step_has_touched(tmp_path):
    """Ten codes in a key of three values: measures see one gap, a reader of the file sees ten."""
    draw = np.random.default_rng(1)
    codes = np.where(draw.random(N) < 0.04, -draw.integers(1, 11, N), draw.integers(1, 4, N)).astype(float)
    frame = pl.DataFrame({"sex": draw.integers(1, 3, N).astype(float), "work": codes})
    pyreadstat.write_sav(frame, tmp_path / "in.sav", missing_ranges={"work": [{"lo": -10, "hi": -1}]})
    data = sdc.read(tmp_path / "in.sav", keys=["sex", "work"])
    found = verdict(data, data)
    assert [c.name for c in found if not c.met] == ["reasons of missing values"]
    (asked,) = (c for c in found if not c.met)
    assert "when reading" not in asked.mends  # no option of `read` takes the codes for values
    assert "file" not in [place.kind for place in asked.places]
    assert verdict(data, data, accept={"columns": "work"}).releasable
    assert verdict(data, sdc.protect.shuffle_order(data, rng=1)).releasable
