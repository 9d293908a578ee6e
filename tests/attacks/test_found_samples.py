"""Who knows which persons will be attacked needs to protect only these."""

import numpy as np
import polars as pl

import sdckit as sdc
from sdckit.data.content_key import content_key
from sdckit.risk._known_values import LinkedFiles
from sdckit.risk._number_attack import ALL, persons_attacked
from sdckit.risk._released_columns import released_columns

N = ALL + 1_000
TARGETS = 200


def persons(n: int = N) -> pl.DataFrame:
    draw = np.random.default_rng(1)
    return pl.DataFrame({"sex": draw.choice(["f", "m"], n), "pay": np.round(draw.lognormal(7, 1, n), 2)})


def attacked(original: sdc.Microdata, protected: sdc.Microdata) -> np.ndarray:
    files = LinkedFiles.of(original, protected)
    assert files is not None
    return persons_attacked(files, TARGETS)


def test_only_the_persons_of_the_sample_are_protected():
    """Their pay is drawn anew; that of everybody else is released as it is, but for one unit."""
    data = sdc.read(persons(), keys="sex", numeric="pay")
    safe = data.with_frame(data.frame.with_columns(pl.col("pay") + 1))
    for _ in range(3):  # again and again, as the sample changes with the file
        sample = pl.int_range(N).is_in(attacked(data, safe))
        anew = pl.when(sample).then(pl.col("pay").shuffle(seed=2)).otherwise(pl.col("pay") + 1)
        safe = data.with_frame(data.frame.with_columns(anew))
    register = sdc.Intruder("register", numbers={"pay": 0.0})
    assert sdc.risk.reidentification_risk(data, safe, targets=TARGETS, intruders=[register]).value > 0.8


def test_the_same_files_are_judged_by_the_same_persons_in_every_order():
    frame = persons().with_columns(nr=pl.int_range(N))
    data = sdc.read(frame, keys="sex", numeric="pay", id="nr")
    turned = sdc.read(frame[::-1], keys="sex", numeric="pay", id="nr")
    ours, theirs = attacked(data, data), attacked(turned, turned)
    assert sorted(N - 1 - theirs) == ours.tolist()


def test_no_two_versions_of_some_records_bring_a_sample_to_a_wanted_one():
    """An exclusive or of the rows is linear: changes of two records would undo each other's trace."""
    frame = persons(50)
    first, second = (pl.int_range(50) == i for i in (3, 4))
    changes = [(), (first,), (second,), (first, second)]
    tables = [frame.with_columns([pl.col("pay") + 1 * sum(c, pl.lit(0))]) if c else frame for c in changes]
    keys = [np.array(content_key(sdc.read(table))) for table in tables]
    assert np.bitwise_xor.reduce(keys).all()
    draws = {released_columns(*[sdc.read(t, keys="sex")] * 2).draws().integers(2**60) for t in tables}
    assert len(draws) == 4
