import random
from datetime import date

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_tables as naive
from sdckit.engine import _duckdb, frames, tables
from sdckit.errors import ColumnError, EngineError

KEYS = ["a name", 'quo"te', "Ünï", "level", "yes", "day"]


def sample(n=300, seed=1):
    draw = random.Random(seed)

    def some(values):
        return [draw.choice([*values, None]) for _ in range(n)]

    return pl.DataFrame(
        {
            "a name": some(["x", "y", "Y", ""]),
            'quo"te': some([1, 2, -3]),
            "Ünï": some([0.5, 1.5]),
            "level": pl.Series(some(["low", "high"]), dtype=pl.Enum(["low", "high"])),
            "yes": some([True, False]),
            "day": some([date(2020, 1, 1), date(1950, 12, 31)]),
            "amount": [draw.choice([None, draw.gauss(1e6, 3.0)]) for _ in range(n)],
            "whole": pl.Series(some([7, 8, 2_000_000_000]), dtype=pl.Int32),
            "w": [draw.uniform(0.5, 200.0) for _ in range(n)],
            "number": [draw.randrange(1, 5) for _ in range(n)],
        }
    )


@pytest.mark.parametrize(
    ("keys", "weight"), [(KEYS[:1], None), (KEYS[:3], "w"), (KEYS[3:], "number"), ([], None), ([], "w")]
)
def test_cells_equal_plain_counts(lazy, keys, weight):
    frame = sample()
    got = tables.count_cells(lazy(frame), keys, weight)
    assert got.columns == [*keys, tables.RECORDS, tables.WEIGHT_SUM]
    assert (got.schema[tables.RECORDS], got.schema[tables.WEIGHT_SUM]) == (pl.Int64, pl.Float64)
    want = naive.cells(frame.rows(named=True), keys, weight)
    assert got.height == len(want)
    for *key, records, mass in got.rows():
        assert records == want[tuple(key)][0]
        assert mass == pytest.approx(want[tuple(key)][1], rel=1e-12)


def test_joined_cells_reach_every_record_also_through_missing_keys():
    frame = sample()
    cells = tables.count_cells(frames.lazy(frame), KEYS, "w")
    joined = tables.join_cells(frame, cells, KEYS, [tables.WEIGHT_SUM, tables.RECORDS])
    assert joined.columns == [*frame.columns, tables.WEIGHT_SUM, tables.RECORDS]
    assert joined.height == frame.height
    want = naive.cells(frame.rows(named=True), KEYS, "w")
    for row in joined.rows(named=True):
        assert row[tables.RECORDS] == want[tuple(row[k] for k in KEYS)][0]
        assert row[tables.WEIGHT_SUM] == pytest.approx(want[tuple(row[k] for k in KEYS)][1])
    whole = tables.join_cells(frame, tables.count_cells(frames.lazy(frame), [], None), [], [tables.RECORDS])
    assert whole[tables.RECORDS].to_list() == [frame.height] * frame.height


def test_join_in_memory_keeps_the_order():
    frame = sample()
    cells = tables.count_cells(frames.lazy(frame), KEYS, None)
    joined = tables.join_cells(
        frame, cells.sample(fraction=1.0, shuffle=True, seed=1), KEYS, [tables.RECORDS]
    )
    assert joined.drop(tables.RECORDS).equals(frame)
    want = naive.cells(frame.rows(named=True), KEYS, None)
    assert joined[tables.RECORDS].to_list() == [want[key][0] for key in frame.select(KEYS).rows()]
    partly = tables.join_cells(frame, cells[:1], KEYS, [tables.RECORDS])
    assert partly[tables.RECORDS].null_count() == frame.height - cells[tables.RECORDS][0]
    with pytest.raises(pl.exceptions.ComputeError):  # never multiply records
        tables.join_cells(frame, pl.concat([cells, cells]), KEYS, [tables.RECORDS])


def test_users_names_never_clash_with_ours(lazy):
    frame = pl.DataFrame({"records": [1, 2], "count": [1, 1], "Weight_Sum": [3, 4]})
    assert tables.count_cells(lazy(frame), ["records"], None).sort("records").rows() == [
        (1, 1, 1.0),
        (2, 1, 1.0),
    ]
    assert tables.contingency(lazy(frame), ["count"], None, drop_missing=False).rows() == [(1, 2.0)]
    cells = tables.count_cells(lazy(frame), ["Weight_Sum"], None).rename({tables.RECORDS: "records"})
    with pytest.raises(ColumnError, match="records"):
        tables.join_cells(frame, cells, ["Weight_Sum"], ["records"])


@pytest.mark.parametrize(("drop", "weight"), [(True, None), (False, "w"), (True, "w")])
def test_contingency(lazy, drop, weight):
    frame = sample()
    got = tables.contingency(lazy(frame), KEYS[:2], weight, drop_missing=drop)
    assert got.columns == [*KEYS[:2], tables.COUNT]
    want = naive.cells(frame.rows(named=True), KEYS[:2], weight)
    want = {key: mass for key, (_, mass) in want.items() if not (drop and None in key)}
    assert {(a, b): count for a, b, count in got.rows()} == pytest.approx(want)


def test_contingency_counts_a_variable_that_is_also_the_weight(lazy):
    frame = pl.DataFrame({"v": [2, 2, 5, None]})
    got = tables.contingency(lazy(frame), ["v"], "v", drop_missing=True)
    assert sorted(got.rows()) == [(2, 4.0), (5, 5.0)]


@pytest.mark.parametrize("weight", [None, "w", "number"])
def test_moments(lazy, weight):
    frame = sample()
    names = ["amount", "whole", "Ünï"]
    got = tables.moments(lazy(frame), names, weight)
    for name in names:
        part = frame.filter(pl.col(name).is_not_null())
        x = part[name].to_list()
        w = [1.0] * len(x) if weight is None else part[weight].to_list()
        assert got.n[name] == len(x)
        assert got.weight_sum[name] == pytest.approx(sum(w))
        assert got.mean[name] == pytest.approx(naive.mean(x, w), rel=1e-13)
        assert got.variance[name] == pytest.approx(naive.covariance(x, x, w), rel=1e-9)
        assert (got.min[name], got.max[name]) == (min(x), max(x))
    if weight is None:
        assert got.variance["amount"] == pytest.approx(frame["amount"].var(), rel=1e-9)


def test_moments_of_nearly_nothing(lazy):
    types = {"none": pl.Float64, "one": pl.Float64, "same": pl.Float64, "nan": pl.Float64}
    rows = {"none": [None] * 3, "one": [4.0, None, None], "same": [0.1] * 3, "nan": [1.0, 3.0, float("nan")]}
    got = tables.moments(lazy(pl.DataFrame(rows, schema=types)), list(types), None)
    assert got.n == {"none": 0, "one": 1, "same": 3, "nan": 2}
    assert (got.mean["none"], got.variance["none"], got.min["none"], got.max["none"]) == (None,) * 4
    assert (got.mean["one"], got.variance["one"]) == (4.0, None)
    assert got.variance["same"] == pytest.approx(0.0, abs=1e-30)
    assert (got.mean["nan"], got.variance["nan"], got.weight_sum["nan"]) == (2.0, 2.0, 2.0)


@pytest.mark.parametrize("weight", [None, "w"])
def test_covariance_of_complete_cases(lazy, weight):
    frame = sample()
    names = ["amount", "whole", "number"]
    got = tables.covariance(lazy(frame), names, weight)
    part = frame.drop_nulls(names)
    w = [1.0] * part.height if weight is None else part[weight].to_list()
    want = [[naive.covariance(part[a].to_list(), part[b].to_list(), w) for b in names] for a in names]
    np.testing.assert_allclose(got, want, rtol=1e-8)
    assert np.isnan(tables.covariance(lazy(frame[:1]), names, weight)).all()


def test_weights_on_another_scale_give_the_same_variance(lazy):
    frame = sample()
    one = tables.moments(lazy(frame), ["amount"], "w")
    other = tables.moments(lazy(frame.with_columns(pl.col("w") * 1e-6)), ["amount"], "w")
    assert one.variance["amount"] == pytest.approx(other.variance["amount"], rel=1e-12)


def test_missing_counts(lazy):
    frame = sample()
    got = tables.missing_counts(lazy(frame), frame.columns)
    assert got == {name: frame[name].null_count() for name in frame.columns}
    assert tables.missing_counts(lazy(frame), []) == {}


def test_quantiles(lazy):
    frame = sample()
    p = [0.0, 0.1, 0.333, 0.5, 0.99, 1.0]
    for name in ("amount", "whole"):
        values = frame[name].drop_nulls().to_list()
        got = tables.quantiles(lazy(frame), name, p)
        assert got == pytest.approx([naive.quantile(values, q) for q in p], rel=1e-12)
    empty = pl.DataFrame({"x": [None, None]}, schema={"x": pl.Float64})
    assert tables.quantiles(lazy(empty), "x", [0.5]) == [None]


values = st.one_of(st.none(), st.integers(-3, 3))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(values, values, st.integers(1, 9)), min_size=1, max_size=30))
def test_any_small_table_in_memory(rows):
    frame = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.Int64, "w": pl.Int64}, orient="row")
    table = frames.lazy(frame)
    got = {tuple(key): (n, mass) for *key, n, mass in tables.count_cells(table, ["a", "b"], "w").rows()}
    assert got == naive.cells(frame.rows(named=True), ["a", "b"], "w")
    complete = frame.drop_nulls()
    matrix = tables.covariance(table, ["a", "b"], "w")
    if complete.height < 2:
        assert np.isnan(matrix).all()
    else:
        a, b, w = (complete[c].to_list() for c in "abw")
        assert matrix[0, 1] == pytest.approx(naive.covariance(a, b, w), abs=1e-9)


def test_names_that_differ_only_in_case(put, engine):
    frame = pl.DataFrame({"Sex": ["f"], "sex": ["m"]})
    if engine == "polars":
        assert tables.count_cells(frames.lazy(put(frame)), ["Sex", "sex"], None).rows() == [
            ("f", "m", 1, 1.0)
        ]
    elif engine == "spark":
        with pytest.raises(EngineError, match="case"):
            put(frame)


def test_relation_with_names_that_differ_only_in_case(duckdb_connection):
    with pytest.raises(EngineError, match="case"):
        frames.accept(duckdb_connection.sql("select 1 as Sex, 2 as sex"))


def test_dots_in_names(put, engine):
    frame = pl.DataFrame({"a.b": ["f", None]})
    if engine == "spark":
        with pytest.raises(EngineError, match="dot"):
            put(frame)
    else:
        assert tables.count_cells(frames.lazy(put(frame)), ["a.b"], None).height == 2


def test_nan_is_missing_on_every_engine(lazy):
    frame = pl.DataFrame({"x": [1.0, float("nan"), None]})
    cells = tables.count_cells(lazy(frame), ["x"], None)
    assert sorted(cells.rows(), key=str) == [(1.0, 1, 1.0), (None, 2, 2.0)]


def test_a_new_column_must_not_differ_from_another_only_in_case(lazy, engine):
    table = lazy(pl.DataFrame({"Records": [5], "k": ["a"]}))
    if engine == "polars":
        tables.refuse_new_columns(table, ["records"])
    else:
        with pytest.raises(ColumnError, match="Records"):
            tables.refuse_new_columns(table, ["records"])


def test_types_that_only_duckdb_has(duckdb_connection):
    relation = duckdb_connection.sql(
        "select * from (values ('a'::enum('a', 'b'), 1.50::decimal(9, 2), 1::hugeint),"
        " (null, 1.5, 2), ('a', 1.5, 3)) t(e, d, h)"
    )
    table = frames.lazy(frames.accept(relation)[0])
    cells = tables.count_cells(table, ["e", "d"], "h")
    assert {(e, n, mass) for e, _, n, mass in cells.rows()} == {("a", 2, 4.0), (None, 1, 2.0)}
    joined = _duckdb.join_null_safe(relation, cells, ["e", "d"], [tables.RECORDS]).pl()
    assert sorted(joined.select("h", tables.RECORDS).cast(pl.Int64).rows()) == [(1, 2), (2, 1), (3, 2)]
    assert tables.moments(table, ["d", "h"], None).variance == {"d": 0.0, "h": 1.0}


def test_engine_of_a_lazy_table(lazy, engine):
    table = lazy(pl.DataFrame({"x": [1]}))
    assert isinstance(table, nw.LazyFrame)
    assert frames.engine_of(table.to_native()) == engine


def test_values_where_columns_ask_for_them(lazy):
    frame = sample()
    wanted = {'quo"te': nw.col('quo"te') < 0, "Ünï": ~nw.col("Ünï").is_null(), "day": nw.col("yes")}
    found = tables.values_where(lazy(frame), wanted | {"a name": nw.col("a name") == "nobody"})
    assert found["a name"].len() == 0
    for name, rows in (('quo"te', pl.col('quo"te') < 0), ("Ünï", pl.lit(True)), ("day", pl.col("yes"))):
        assert found[name].sort().equals(frame.filter(rows)[name].drop_nulls().sort()), name
