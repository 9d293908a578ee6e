"""Records of two files meet by id, or not at all."""

import duckdb
import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import sdckit as sdc
from sdckit.data import record_links
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import PROTECTED, match_records, source_rows
from sdckit.engine import frames
from sdckit.errors import DataError


def file(engine: str, ids: list, values: list) -> Microdata:
    frame = pl.DataFrame({"pid": ids, "x": values})
    return Microdata.of(duckdb.from_arrow(frame.to_arrow()) if engine == "duckdb" else frame, id="pid")


def met(original: Microdata, protected: Microdata) -> list:
    both = frames.gather(match_records(original, protected, ["x"]))
    return sorted(both.select("x", "x" + PROTECTED).rows())


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_records_meet_in_any_order(engine):
    first, second = file(engine, [1, 2, 3], [10, 20, 30]), file(engine, [3, 1, 2], [33, 11, 22])
    assert met(first, second) == [(10, 11), (20, 22), (30, 33)]
    assert met(first, first) == [(10, 10), (20, 20), (30, 30)]


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize(
    ("one", "two"),
    [
        ([1, 1, 2, 3], [1, 1, 4, 5]),  # on id 1 as many pairs meet as there are records
        ([1, 2, 3, 4], [1, 1, 2, 2]),
        ([1, 1, 2, 3], [3, 2, 1, 1]),
        ([None, 1, 2, 3], [1, 2, 3, None]),
    ],
)
def test_ids_that_do_not_name_records_are_not_guessed_at(engine, one, two):
    with pytest.raises(DataError, match=r"one by one: ids in 'pid' (are repeated or missing|differ)"):
        met(file(engine, one, [1, 2, 3, 4]), file(engine, two, [1, 2, 3, 4]))


def test_repeated_ids_in_the_same_rows_meet_row_by_row():
    assert met(file("polars", [1, 1, 2], [10, 20, 30]), file("polars", [1, 1, 2], [11, 22, 33])) == [
        (10, 11),
        (20, 22),
        (30, 33),
    ]


def people(n: int = 200, **roles) -> Microdata:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "region": np.sort(rng.choice(list("abcd"), n)),
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "income": rng.normal(100, 10, n),
            "w": rng.choice([1.0, 2.5, 7.0], n),
        }
    )
    return Microdata.of(frame, **(roles or {"keys": ["age", "sex"], "numeric": "income"}))


def noisy(data: Microdata) -> Microdata:
    return data.with_frame(data.frame.with_columns(pl.col("income") + 1.0))


def shuffled(data: Microdata) -> Microdata:
    return data.with_frame(data.frame.sample(fraction=1, shuffle=True, seed=2))


def test_rows_in_another_order_are_not_compared_by_position():
    data = people()
    with pytest.raises(DataError, match=r"another order: 'region' and 'age' have the same values .*role id"):
        sdc.risk.record_linkage(data, shuffled(noisy(data)))
    with pytest.raises(DataError, match="another order"):
        sdc.utility.il1s(data, shuffled(data))
    weighted = people(numeric=["income", "age"], weight="w")
    coarse = noisy(weighted).with_frame(
        weighted.frame.with_columns(pl.col("age") // 10, pl.col("income") + 1, sex=pl.lit("f"))
    )
    with pytest.raises(DataError, match=r"another order: 'w' has the same values in other rows"):
        sdc.risk.interval_disclosure(weighted, shuffled(coarse))
    within = data.with_frame(shuffled(data).frame.sort("region", maintain_order=True))
    with pytest.raises(DataError, match="another order: the same records stand in other rows"):
        sdc.risk.record_linkage(data, within)


def test_what_protection_moves_from_row_to_row_is_compared():
    data = people()
    frame = data.frame
    assert sdc.risk.record_linkage(data, data).value == 1
    mixed = [pl.col(c).shuffle(seed=i) for i, c in enumerate(frame.columns)]
    for some in ([0, 1], [1, 3], [0, 1, 2, 3, 4]):  # each column on its own, as in rank swapping
        moved = data.with_frame(frame.with_columns(mixed[i] for i in some))
        assert (sdc.risk.record_linkage(data, moved).value < 0.2) == (3 in some)
    together = data.with_frame(frame.with_columns(pl.col("region", "age", "w").shuffle(seed=1)))
    assert sdc.risk.record_linkage(data, together).value == 1  # income and sex stand where they stood
    few = Microdata.of(pl.DataFrame({"a": [1, 2, 3], "b": [4.0, 5.0, 7.0]}), numeric="b")
    assert sdc.utility.il1s(few, few.with_frame(few.frame.reverse())).value > 0


def test_a_note_says_that_records_met_by_their_place():
    data = people()
    said = "No column is the id: records were compared by their place in the file, row by row."
    for measure in (sdc.risk.record_linkage, sdc.risk.interval_disclosure, sdc.risk.outlier_disclosure):
        assert said in measure(data, noisy(data)).notes
        assert said not in measure(data, sdc.protect.add_noise(data, rng=1)).notes
    named = Microdata.of(data.frame.with_row_index("i"), id="i", numeric="income")
    assert said not in sdc.risk.record_linkage(named, shuffled(noisy(named))).notes


@pytest.mark.parametrize("steps", [[{"new_ids": {}}], [{"drop": {"variables": ["person_id"]}}]])
def test_rows_that_stayed_in_place_meet_without_their_ids(steps):
    data = sdc.demo.survey(n=200, seed=1)
    noisy = [{"add_noise": {"variables": ["income"], "sd": 0.3}}]
    plain, other = (sdc.Scenario("a", s).protect(data, seed=3) for s in (noisy, [*noisy, *steps]))
    assert sdc.utility.il1s(data, other).value == sdc.utility.il1s(data, plain).value > 0
    assert "il1s" in sdc.assess(data, other, measures="il1s").utility


def test_rows_do_not_meet_without_ids_where_they_moved_or_the_steps_are_not_known():
    data = sdc.demo.survey(n=200, seed=1)
    elsewhere = sdc.read(sdc.protect.new_ids(data, rng=1).frame, **data.roles.as_dict())
    again = sdc.read(data.frame.sample(fraction=1, shuffle=True, seed=3), **data.roles.as_dict())
    renamed = sdc.protect.new_ids(data, rng=1)
    by_hand = renamed.with_frame(renamed.frame.sort("income", "weight"))
    for other in (elsewhere, sdc.protect.new_ids(again, rng=1), by_hand):
        with pytest.raises(sdc.SdcError, match=r"cannot be compared one by one: (ids|the rows)"):
            sdc.utility.il1s(data, other)
    with pytest.raises(sdc.SdcError, match="no id column"):
        sdc.utility.il1s(data, sdc.protect.drop(again, variables=["person_id"]))


def test_the_data_holder_still_knows_the_order_of_shuffled_records():
    data = sdc.demo.survey(n=200, seed=1)
    noise = [{"add_noise": {"variables": ["income"]}}]
    moved = [{"new_ids": {}}, {"shuffle_order": {}}]
    plain, shuffled = (sdc.Scenario("a", s).protect(data, seed=3) for s in (noise, [*noise, *moved]))
    assert not shuffled.frame["income"].equals(plain.frame["income"])
    assert sdc.utility.il1s(data, shuffled).value == sdc.utility.il1s(data, plain).value > 0
    rows = source_rows(data, shuffled)
    assert plain.frame["income"].gather(rows).equals(shuffled.frame["income"])


def test_a_sample_knows_which_records_it_kept():
    data = sdc.demo.survey(n=200, seed=1)
    part = sdc.protect.shuffle_order(sdc.protect.sample_records(data, share=0.4, rng=1), rng=2)
    rows = source_rows(data, part)
    assert data.frame["person_id"].gather(rows).equals(part.frame["person_id"])


def test_columns_that_cannot_be_sorted_prove_nothing():
    odd = pl.Series("o", [object(), object(), object()], dtype=pl.Object)
    data = sdc.read(
        pl.DataFrame([odd, pl.Series("x", [1.0, 2, 3]), pl.Series("y", [3.0, 1, 2])]), numeric="x"
    )
    assert sdc.utility.il1s(data, data.with_frame(data.frame.reverse())).value > 0


def test_steps_before_the_original_do_not_unlink():
    half = sdc.protect.sample_records(sdc.demo.survey(n=200, seed=1), share=0.5, rng=1)
    done = sdc.assess(half, sdc.protect.add_noise(half, rng=1), measures=["il1s"])
    assert "il1s" in done.utility


def test_an_engine_joins_two_files_once(monkeypatch):
    first = file("duckdb", [1, 2, 3], [10, 20, 30])
    others = [file("duckdb", [3, 2, 1], values) for values in ([33, 22, 11], [3, 2, 1])]
    joins = []
    real = record_links._joined
    monkeypatch.setattr(record_links, "_joined", lambda *given: joins.append(given) or real(*given))
    for _ in range(3):
        assert met(first, others[0]) == [(10, 11), (20, 22), (30, 33)]
    assert len(joins) == 1
    assert met(first, others[1]) == [(10, 1), (20, 2), (30, 3)]
    assert met(others[0], first) == [(11, 10), (22, 20), (33, 30)]
    assert len(joins) == 3


def test_columns_that_no_step_changed_are_not_joined(monkeypatch):
    frame = pl.DataFrame({"id": [1, 2, 3], "x": [10, 20, 30], "y": ["a", "b", "c"], "w": [1.0, 2.0, 3.0]})
    here = sdc.read(frame, id="id", keys=["x", "y"], weight="w")
    data = sdc.read(duckdb.from_arrow(frame.to_arrow()), id="id", keys=["x", "y"], weight="w")
    joined = []
    real = record_links._joined
    monkeypatch.setattr(record_links, "_joined", lambda *given: joined.append(given[-1]) or real(*given))
    for columns, apart in [(["y"], []), (["x"], ["x"]), (["x", "y"], ["x"])]:
        seen = []
        for one in (data, here):
            made = sdc.protect.round_values(one, variables=["x"], base=100)
            both = frames.gather(record_links.match_records(one, made, columns))
            seen.append(both.select(sorted(set(both.columns) - {"id"})).sort("w"))
        assert_frame_equal(*seen, check_dtypes=False)
        assert list(joined.pop()) == apart
    assert not joined
