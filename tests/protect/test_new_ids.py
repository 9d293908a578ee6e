"""new_ids: as many as before, shared as before, and nothing to be read from them."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.errors import DataError, RoleError


@settings(max_examples=60, deadline=None)
@given(
    homes=st.lists(st.none() | st.sampled_from(["h 1", "h 2", "ß", ""]), min_size=1, max_size=15),
    seed=st.integers(0, 99),
)
def test_equal_stays_equal_and_different_stays_different(homes, seed):
    frame = pl.DataFrame({"p": range(1, len(homes) + 1), "h": pl.Series(homes, dtype=pl.String)})
    data = sdc.read(frame, id="p", household="h")
    done = sdc.protect.new_ids(data, rng=seed)
    new = done.frame["h"].to_list()
    for a, x in zip(homes, new, strict=True):
        assert (a is None) == (x is None)
        for b, y in zip(homes, new, strict=True):
            assert (a == b) == (x == y)
    assert done.frame["p"].n_unique() == len(homes)
    digits = len(str(len(homes))) + 1
    assert {len(str(p)) for p in done.frame["p"]} == {digits}
    assert done.frame.equals(sdc.protect.new_ids(data, rng=seed).frame)


def test_the_order_of_the_old_says_nothing_of_the_new():
    n = 4000
    data = sdc.read(pl.DataFrame({"p": range(n), "x": range(n)}), id="p")
    done = sdc.protect.new_ids(data, rng=1)
    ranks = done.frame["p"].rank().to_numpy()
    assert abs(np.corrcoef(ranks, np.arange(n))[0, 1]) < 4.5 / np.sqrt(n)
    assert done.frame["x"].equals(data.frame["x"])
    assert not done.frame["p"].equals(sdc.protect.new_ids(data, rng=2).frame["p"])


def test_records_of_the_released_file_cannot_be_found_again_by_id(survey):
    done = sdc.protect.new_ids(survey, rng=1)
    assert done.log[-1].figures["ids_replaced"]["person_id"] == survey.height
    released = sdc.read(done.frame, **done.roles.as_dict())
    with pytest.raises(DataError, match=r"ids in 'person_id' differ"):
        sdc.utility.il1s(survey, released)
    assert {o.measure for o in sdc.assess(survey, released, measures=["il1s"]).omitted} == {"il1s"}


def test_labels_of_ids_go_and_roles_are_needed():
    labels = sdc.Labels({}, {"c": {1: "Cluster one"}})
    data = sdc.Microdata.of(pl.DataFrame({"c": [1, 2]}), labels=labels, cluster="c")
    assert sdc.protect.new_ids(data, rng=1).labels.values == {}
    with pytest.raises(RoleError, match=r"needs the role 'id', 'household' or 'cluster'"):
        sdc.protect.new_ids(sdc.read(pl.DataFrame({"x": [1]})))


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_ids_beyond_the_largest_signed_number(tmp_path, engine):
    if engine == "duckdb":
        pytest.importorskip("duckdb")
    ids = pl.Series("id", [2**63 + 5, 2**63 + 9, 7, 7_000], dtype=pl.UInt64)
    pl.DataFrame([ids, pl.Series("a", [1, 2, 3, 4])]).write_parquet(tmp_path / "people.parquet")
    data = sdc.read(tmp_path / "people.parquet", id="id", engine=engine)
    new = sdc.protect.new_ids(data, rng=1).collect().frame
    assert new["id"].n_unique() == 4
    memory = sdc.protect.new_ids(data.collect(), rng=1).frame
    assert dict(memory.select("a", "id").rows()) == dict(new.select("a", "id").rows())
