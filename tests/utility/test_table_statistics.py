"""Statistics of two tables: plain twins, the names of synthpop, and what a correct synthesis gives."""

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_table_statistics as naive
import sdckit as sdc
from sdckit.utility._table_statistics import RATIOS, STATISTICS, table_statistics

cells = st.sampled_from("abcde")
files = st.lists(cells, min_size=1, max_size=25)


def tables(first, second):
    data = sdc.read(pl.DataFrame({"x": first}), keys="x")
    return sdc.utility.contingency_tables(data, data.with_frame(pl.DataFrame({"x": second})))


@settings(max_examples=60, deadline=None)
@given(files, files)
def test_as_the_plain_twin(first, second):
    row = tables(first, second).parts.row(0, named=True)
    expected = naive.statistics(Counter(first), Counter(second))
    for name in (*STATISTICS, *RATIOS):
        if expected[name] is None:
            assert row[name] is None
        else:
            assert row[name] == pytest.approx(expected[name], rel=1e-9, abs=1e-12), name


@settings(max_examples=40, deadline=None)
@given(files, files)
def test_other_statistics_of_synthpop_are_functions_of_ours(first, second):
    o, s = Counter(first), Counter(second)
    row = tables(first, second).parts.row(0, named=True)
    pairs = len(first) * len(second)
    assert row["total_variation"] == pytest.approx(naive.specks(o, s), abs=1e-12)
    assert 50 * row["total_variation"] == pytest.approx(naive.over_half(o, s), abs=1e-9)
    assert pairs * (1 + row["concordance"]) / 2 == pytest.approx(naive.mann_whitney(o, s), abs=1e-9)
    overlap = sum(math.sqrt(o[j] / len(first) * s[j] / len(second)) for j in o)
    assert row["hellinger"] == pytest.approx(math.sqrt(max(0.0, 1 - overlap)), abs=1e-7)


def test_worked_by_hand():
    # o = (6, 2), s = (4, 4): c = 1/2, E = o, differences −2 and 2
    row = tables(list("aaaaaabb"), list("aaaabbbb")).parts.row(0, named=True)
    assert row["voas_williamson"] == pytest.approx(4 / 5 + 4 / 3)
    assert row["pmse"] == pytest.approx((10 * 0.1**2 + 6 * (1 / 6) ** 2) / 16)
    assert row["pmse_ratio"] == pytest.approx(row["voas_williamson"])
    assert row["deviance"] == pytest.approx(2 * (4 * math.log(4 / 6) + 4 * math.log(4 / 2)))
    assert row["freeman_tukey"] == pytest.approx(4 * ((2 - math.sqrt(6)) ** 2 + (2 - math.sqrt(2)) ** 2))
    assert row["weighted_difference"] == pytest.approx(
        (2 / math.sqrt(5) + 2 / math.sqrt(3)) * math.sqrt(math.pi / 2)
    )
    assert row["degrees_of_freedom"] == 1


def test_nothing_in_common_is_one_bit():
    row = tables(list("aab"), list("ccd")).parts.row(0, named=True)
    assert row["jensen_shannon"] == pytest.approx(1.0)
    assert row["concordance"] == pytest.approx(1.0)


def test_one_cell_has_no_ratio_and_empty_tables_no_statistic():
    row = tables(list("aa"), list("aaa")).parts.row(0, named=True)
    assert row["pmse"] == 0
    assert row["pmse_ratio"] is None
    found = table_statistics(np.array([1.0, 2.0]), np.zeros(2), np.zeros(2, dtype=np.int64), 1)
    assert all(np.isnan(found[name][0]) for name in (*STATISTICS, *RATIOS))


@pytest.mark.parametrize(("k", "n1", "n2"), [(12, 3000, 3000), (40, 2000, 6000), (20, 5000, 1000)])
def test_a_correct_synthesis_gives_one(k, n1, n2):
    rng = np.random.default_rng(k)
    o = rng.multinomial(n1, rng.dirichlet(np.full(k, 3.0)))
    drawn = rng.multinomial(n2, o / n1, 1500).astype(float)
    several = np.repeat(np.arange(len(drawn)), k)
    found = table_statistics(np.tile(o.astype(float), len(drawn)), drawn.ravel(), several, len(drawn))
    for name in RATIOS:
        error = found[name].std() / math.sqrt(len(drawn))
        assert abs(found[name].mean() - 1) < 0.02 + 4 * error, name
    # the published expectations are lower: 2·ln²2 of it for JSD and files of equal size, k−1 of k−½ cells
    if n1 == n2:
        published = found["jensen_shannon"].mean() / ((k - 1) * math.log(2) / (2 * (n1 + n2)))
        assert published == pytest.approx(found["jensen_shannon_ratio"].mean() / (2 * math.log(2) ** 2))
        assert found["weighted_difference"].mean() / (k - 1) > 1.015


@pytest.mark.parametrize("oversampled", [False, True])
def test_weights_increase_what_a_correct_synthesis_gives(oversampled):
    """Weights of any records, or of the cells, as where regions are sampled with shares of their own."""
    rng = np.random.default_rng(5)
    k, n = 15, 2000
    o = rng.multinomial(n, rng.dirichlet(np.full(k, 3.0))).astype(float)
    of_cells = rng.choice([1.0, 3.0, 20.0], k)
    one = np.zeros(k, dtype=np.int64)
    ratios = []
    for _ in range(400):
        cell = rng.choice(k, n, p=o / n)
        w = of_cells[cell] if oversampled else rng.choice([1.0, 2.0, 6.0], n)
        w *= n / w.sum()
        s, squares = np.bincount(cell, w, k), np.bincount(cell, w**2, k)
        x = o * of_cells * n / (o @ of_cells) if oversampled else o
        found = table_statistics(x, s, one, 1, squares=squares)
        ratios.append([found[name][0] for name in RATIOS])
    assert np.mean(ratios, axis=0) == pytest.approx(np.ones(len(RATIOS)), abs=0.1)


def test_weights_of_a_file_are_scaled_to_its_records():
    frame = pl.DataFrame({"x": list("aabbb"), "w": [1.0, 3.0, 2.0, 2.0, 2.0]})
    data = sdc.read(frame, keys="x", weight="w")
    other = data.with_frame(pl.DataFrame({"x": list("aaaab"), "w": [5.0] * 5}))
    row = sdc.utility.contingency_tables(data, other).parts.row(0, named=True)
    expected = naive.statistics({"a": 2.0, "b": 3.0}, {"a": 4.0, "b": 1.0})
    assert row["pmse"] == pytest.approx(expected["pmse"])
    assert row["pmse_ratio"] == pytest.approx(expected["pmse_ratio"])  # equal weights in the second file
    back = sdc.utility.contingency_tables(other, data).parts.row(0, named=True)
    again = naive.statistics({"a": 4.0, "b": 1.0}, {"a": 2.0, "b": 3.0})
    whole = (1 + 9 + 4 + 4 + 4) / (1 + 3 + 2 + 2 + 2) / 2  # Σw²/Σw over the mean weight
    p = np.array([0.6, 0.4])  # (o + s)/N: 4 + 2 and 1 + 3 of 10
    v = (1 - 2 * p) * np.array([10 / 4 / 2, 12 / 6 / 2]) + p * whole
    assert back["pmse_ratio"] == pytest.approx(again["pmse_ratio"] / v.sum())
    assert back["weighted_difference_ratio"] == pytest.approx(
        again["weighted_difference_ratio"] * np.sqrt(1 - p).sum() / np.sqrt(v).sum()
    )


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_weights_of_a_table_are_those_of_its_records(engine, tmp_path):
    """Who lacks a value may have other weights: without them the file is one of its own."""
    rng = np.random.default_rng(2)
    light = rng.random(600) < 0.3
    lacks = rng.random(600) < np.where(light, 0.05, 0.9)
    frame = pl.DataFrame(
        {
            "a": [None if gone else f"a{v}" for gone, v in zip(lacks, rng.integers(0, 3, 600), strict=True)],
            "b": [f"b{v}" for v in rng.integers(0, 3, 600)],
            "w": np.where(light, 1.0, 20.0) * rng.uniform(0.8, 1.2, 600),
        }
    )

    def read(table, name):
        table.write_parquet(tmp_path / name)
        return sdc.read(tmp_path / name, keys=["a", "b"], weight="w", engine=engine)

    files = [frame, frame[rng.integers(0, 600, 600)]]
    whole, left = (
        [read(f.drop_nulls() if drop else f, f"{drop}{i}.parquet") for i, f in enumerate(files)]
        for drop in (False, True)
    )
    measures = [sdc.utility.contingency_tables] + [sdc.utility.table_pmse] * (engine == "polars")
    for measure in measures:
        dropped = measure(*whole, missing="drop").parts.row(-1, named=True)
        alone = measure(*left).parts.row(-1, named=True)
        assert {n: dropped[n] for n in RATIOS} == pytest.approx({n: alone[n] for n in RATIOS}, rel=1e-9)
