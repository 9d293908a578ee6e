"""What a file shows to be in the way of its release."""

import pickle
import warnings
from datetime import date, timedelta

import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.before_release import before_release
from sdckit.errors import ReleaseWarning, RoleError

N = 60
FRAME = pl.DataFrame(
    {
        "id": [1000 + 7 * i for i in range(N)],
        "home": [i // 3 for i in range(N)],
        "name": [f"person {i}" for i in range(N)],
        "sex": ["f", "m"] * (N // 2),
        "income": [1000.5 + 13 * i for i in range(N)],
        "rent": [300.5 + 11 * i for i in range(N)],
        "remark": ["none"] * N,
    }
)
ROLES = {"id": "id", "household": "home", "direct": "name", "keys": "sex", "numeric": ["income", "rent"]}


@pytest.fixture
def data():
    return sdc.read(FRAME, **ROLES)


def test_a_file_as_it_was_read(data):
    assert before_release(data) == (
        "Before this file is released: no step has protected it; ids of the original, which new_ids renews: "
        "id, home; numbers as in the original: income, rent; no role, so that no risk looks at them: remark."
    )


def test_every_step_takes_its_part_off_the_list(data):
    noisy = sdc.protect.add_noise(data, variables="income", sd=0.5, rng=1)
    assert "numbers as in the original: rent;" in before_release(noisy)
    assert "no step" not in before_release(noisy)
    means = sdc.protect.microaggregate(noisy, variables=["rent"], k=3)
    assert "numbers" not in before_release(means)
    capped = sdc.protect.top_code(noisy, variables="rent", value=900.0)
    assert "numbers as in the original: rent;" in before_release(capped)  # most values stand as they stood
    renamed = sdc.protect.new_ids(means, rng=1)
    assert before_release(renamed) == (
        "Before this file is released: no role, so that no risk looks at them: remark."
    )
    shuffled = sdc.protect.shuffle_order(capped, rng=1)
    assert (
        "ids of the original, which new_ids renews: id, home; numbers as in the original: rent;"
        in before_release(shuffled)
    )
    ready = sdc.protect.drop(renamed, variables="remark")
    assert before_release(ready) == ""


def test_a_table_put_in_by_hand_is_compared_with_what_was_read(data):
    other = data.with_frame(data.frame.with_columns(income=pl.lit(1.0)))
    told = before_release(other)
    assert "no step" not in told
    assert "numbers as in the original: rent" in told


def test_less_is_known_outside_memory_and_in_other_processes(data, tmp_path):
    again = pickle.loads(pickle.dumps(data))
    assert (
        "ids of the original, which new_ids renews: id, home; numbers as in the original: income, rent"
        in before_release(again)
    )
    data.frame.write_parquet(tmp_path / "a.parquet")
    there = sdc.read(
        tmp_path / "a.parquet", engine="duckdb", **{k: v for k, v in ROLES.items() if k != "direct"}
    )
    assert (
        "no step has protected it; ids of the original, which new_ids renews: id, home; numbers"
        in before_release(there)
    )
    told = before_release(sdc.protect.round_values(there, variables="income", base=100))
    assert "not compared with the original, for the records are not in memory: income, rent" in told


def test_write_tells_it_once(data, tmp_path):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sdc.write(data, tmp_path / "a.csv")
    assert [w.category for w in told] == [ReleaseWarning]
    assert "remark" in str(told[0].message)
    assert told[0].filename == __file__
    ready = data.without(("remark", "id", "home", "income", "rent"))
    ready = sdc.protect.suppress(ready.with_roles(keys="sex"), k=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sdc.write(ready, tmp_path / "b.csv")


def test_direct_identifiers_that_come_back_are_not_written(data, tmp_path):
    joined = data.with_frame(data.frame.with_columns(FRAME["name"]))
    assert joined.roles.direct == ()
    with pytest.raises(RoleError, match=r"Direct identifiers are not written\. Given: name\."):
        sdc.write(joined, tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []
    with pytest.warns(ReleaseWarning, match="direct identifiers: name;"):
        sdc.write(joined, tmp_path / "a.csv", keep_direct=True)


def test_dates_as_they_were_read_and_columns_that_were_not():
    days = [date(1990, 1, 1) + timedelta(days=i // 2) for i in range(40)]
    names = [f"person {i}" for i in range(40)]
    frame = pl.DataFrame({"birth": days, "sex": ["f", "m"] * 20, "income": range(40)})
    data = sdc.read(frame, keys=["birth", "sex"], numeric="income")
    noisy = sdc.protect.add_noise(data, variables="income", rng=1)
    assert before_release(noisy) == "Before this file is released: dates as in the original: birth."
    assert before_release(sdc.protect.shift_dates(noisy, days=9, rng=1)) == ""
    joined = sdc.protect.shift_dates(noisy, days=9, rng=1)
    joined = joined.with_frame(joined.frame.with_columns(label=pl.Series(names)))
    told = before_release(joined.with_roles(sensitive="label"))
    assert told.endswith("not in what was read, so that nothing is known of them: label.")


def test_numbers_that_many_records_lack():
    values = [float(i) if i % 3 == 0 else None for i in range(60)]
    data = sdc.read(pl.DataFrame({"x": values, "sex": ["f", "m"] * 30}), keys="sex", numeric="x")
    assert "numbers as in the original: x" in before_release(data)


def test_a_number_in_classes_was_looked_at_and_a_column_without_a_role_was_not():
    """The verdict has both criteria met of the first: the sentence must not say otherwise."""
    frame = pl.DataFrame({"income": [float(i) for i in range(40)], "other": [1.0, 2.0] * 20})
    data = sdc.read(frame, numeric="income")
    for column in ("income", "other"):
        data = sdc.protect.recode(data, variable=column, width=20)
    assert (
        before_release(data) == "Before this file is released: no role, so that no risk looks at them: other."
    )
