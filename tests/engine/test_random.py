from hashlib import md5

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from scipy import stats

from naive_tables import keyed_uniform
from sdckit.engine import frames, random
from sdckit.engine.joins import join_to_records
from sdckit.errors import ColumnError, DataError
from sdckit.kernels import keyed_numbers
from sdckit.kernels.keyed_numbers import DIGITS, UNIT

P = random.PRIME
EDGES = [0, 1, -1, 2, P - 1, P, P + 1, -P, P * P - 1, P * P, 2 * P * P, 2**62, 2**63 - 1, -(2**63)]


def draw(table, seed=7, step=0, id="id"):
    return frames.gather(random.uniform(table, id=id, seed=seed, step=step, name="u"))


def draw_normal(table, seed=7, step=0):
    return frames.gather(random.normal(table, id="id", seed=seed, step=step, name="z"))


def in_memory(ids, **kwargs):
    return draw(frames.lazy(pl.DataFrame({"id": ids})), **kwargs)["u"].to_numpy()


def test_the_prime_makes_cubing_one_to_one_and_products_fit():
    assert P % 3 == 2
    assert all(P % d for d in range(2, int(P**0.5) + 1))
    assert (2 * P) * (2 * P) < 2**63
    top = (P * DIGITS - 0.5) * UNIT
    assert top < 1.0
    assert P * DIGITS < 2**52


def test_every_engine_gives_exactly_the_numbers_of_the_definition(lazy):
    ids = [*EDGES, *range(100, 150)]
    got = draw(lazy(pl.DataFrame({"id": [*ids, None], "Other": [*ids, 1]})), step=3)
    assert got.columns == ["id", "Other", "u"]
    numbers = dict(zip(got["id"], got["u"], strict=True))
    assert numbers.pop(None) is None
    assert numbers == {i: keyed_uniform(i, 7, 3) for i in ids}


def test_text_ids_are_equal_on_every_engine(lazy):
    ids = ["A-1", "a-1", "", "Žofia 7", None, "A-1"]
    got = draw(lazy(pl.DataFrame({"id": ids})))
    numbers = dict(zip(got["id"], got["u"], strict=True))
    assert got["u"].n_unique() == 5
    assert numbers[None] is None
    for text in ("A-1", "a-1", "", "Žofia 7"):
        code = int(md5(text.encode()).hexdigest()[:15], 16)
        assert numbers[text] == keyed_uniform(code, 7, 0)


def test_whole_floats_are_ids_and_others_are_not(lazy):
    got = draw(lazy(pl.DataFrame({"id": [5.0, None, -2.0]})))
    assert dict(zip(got["id"], got["u"], strict=True)) == {
        5.0: keyed_uniform(5, 7, 0),
        -2.0: keyed_uniform(-2, 7, 0),
        None: None,
    }
    with pytest.raises(DataError, match="whole numbers"):
        draw(lazy(pl.DataFrame({"id": [5.0, 5.5]})))
    with pytest.raises(ColumnError, match="cannot be an id"):
        draw(lazy(pl.DataFrame({"id": [True, False]})))
    with pytest.raises(ColumnError, match="'u'"):
        draw(lazy(pl.DataFrame({"id": [1], "u": [2]})))


@pytest.mark.parametrize("start", [0, -100_000, P * P - 50_000, 2**62])
@pytest.mark.parametrize("stride", [1, 1000, P])
def test_numbers_are_uniform_and_unrelated(start, stride):
    n = 100_000
    if abs(start) + n * stride >= 2**63:
        n = (2**63 - 1 - start) // stride
    ids = start + stride * np.arange(n, dtype=np.int64)
    u = in_memory(ids)
    assert np.unique(u).size == n
    assert u.min() > 0
    assert u.max() < 1
    assert stats.kstest(u, "uniform").pvalue > 1e-4
    bound = 4.5 / np.sqrt(n)
    assert abs(np.corrcoef(u, in_memory(ids, step=1))[0, 1]) < bound
    assert abs(np.corrcoef(u, in_memory(ids, seed=8))[0, 1]) < bound
    assert abs(np.corrcoef(u, in_memory(-1 - ids))[0, 1]) < bound
    for lag in (1, 2, 10):
        assert abs(np.corrcoef(u[lag:], u[:-lag])[0, 1]) < bound
    pairs = np.histogram2d(u[1:], u[:-1], bins=16, range=[[0, 1], [0, 1]])[0]
    assert stats.chisquare(pairs.ravel()).pvalue > 1e-4
    low_bits = np.floor(u * 2**44).astype(np.int64) % 256
    assert stats.chisquare(np.bincount(low_bits, minlength=256)).pvalue > 1e-4


def test_normal_numbers_are_the_quantiles_of_the_uniform_ones_on_every_engine(lazy):
    ids = pl.DataFrame({"id": [*EDGES, *range(3000), None]}, schema={"id": pl.Int64})
    u, z = (dict(draw(lazy(ids)).rows()), dict(draw_normal(lazy(ids)).rows()))
    assert z.pop(None) is None
    here = dict(draw_normal(frames.lazy(ids)).rows())
    assert all(z[i] == here[i] for i in z)  # bit by bit
    x = np.array([u[i] for i in z])
    np.testing.assert_allclose(list(z.values()), stats.norm.ppf(x), rtol=1e-13, atol=1e-15)


def test_normal_quantiles_far_out():
    u = np.concatenate(
        [2.0 ** -np.arange(1.0, 52.0), 1 - 2.0 ** -np.arange(2.0, 52.0), [0.075, 0.925, UNIT / 2]]
    )
    got = keyed_numbers.normal_of(u, keyed_numbers.Arrays())
    np.testing.assert_allclose(got, stats.norm.ppf(u), rtol=2e-15 * 4, atol=1e-300)


def test_compiled_numbers_are_those_of_arrays(monkeypatch):
    ids = np.array([*EDGES, *range(-500, 500)], dtype=np.int64)
    keys = random.round_keys(5, 1)
    plain = keyed_numbers.keyed_uniform(ids, keys)
    monkeypatch.setattr(keyed_numbers, "COMPILED", 0)
    assert (keyed_numbers.keyed_uniform(ids, keys) == plain).all()


def test_a_filter_on_the_numbers(lazy):
    """It must not make an engine write the rounds into each other."""
    drawn = random.uniform(lazy(pl.DataFrame({"id": range(1000)})), id="id", seed=1, step=1, name="u")
    kept = frames.gather(drawn.filter(nw.col("u") < 0.25))
    assert sorted(kept["id"]) == [i for i in range(1000) if keyed_uniform(i, 1, 1) < 0.25]


def test_sums_of_the_numbers_of_joined_records(lazy):
    """Nor must an aggregate over a join: a plan protects records that were joined in an earlier step."""
    table = lazy(pl.DataFrame({"id": range(300), "s": [i % 3 for i in range(300)]}))
    cells = pl.DataFrame({"s": [0, 1], "f": [2.0, 3.0]})
    drawn = random.normal(join_to_records(table, cells, ["s"], ["f"]), id="id", seed=1, step=0, name="z")
    total = frames.gather(drawn.select((nw.col("z") * nw.col("f")).sum().alias("t")))["t"][0]
    here = draw_normal(frames.lazy(pl.DataFrame({"id": range(300)})), seed=1)["z"].to_numpy()
    assert total == pytest.approx(sum(here[i] * (2.0 + i % 3) for i in range(300) if i % 3 < 2))


def test_large_ids_stay_the_numbers_they_are(lazy, engine):
    if engine == "spark":
        pytest.skip("Spark has no numbers without a sign")
    table = lazy(pl.DataFrame({"id": pl.Series([2**63, 2**63 + 7], dtype=pl.UInt64)}))
    drawn = random.uniform(table, id="id", seed=1, step=1, name="u")
    assert drawn.collect_schema()["id"] == table.collect_schema()["id"]
