import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_counts import wildcard_counts_of_records
from sdckit.kernels.hashing import bit_layout
from sdckit.kernels.wildcard import wildcard_counts

CASES = [
    "francdat_na",
    "francdat_na_alpha0",
    "francdat_na_alpha05",
    "testdata_na_5keys",
    "testdata_na_alpha0",
    "testdata_na_1key",
    "eusilc_6keys",
]


def of_records(codes, weights):
    """One cell per record: with alpha = 1 the kernel copes with repeated cells."""
    return wildcard_counts(codes, np.ones(len(codes)), np.asarray(weights, dtype=float))


def of_cells(codes, weights, alpha):
    """One cell per key combination, results copied back to the records."""
    first, cell, records = np.unique(
        codes, axis=0, return_index=True, return_inverse=True, return_counts=True
    )[1:]
    cell = cell.reshape(-1)
    sums = np.bincount(cell, weights=weights)
    sample, population = wildcard_counts(codes[first], records.astype(float), sums, alpha)
    return sample[cell], population[cell]


@st.composite
def record_files(draw):
    keys = draw(st.integers(1, 5))
    # few values make ties and repeated cells; a wide code takes the keys past 62 bits
    code = st.sampled_from([-1, -1, 0, 1, 2]) | st.just(draw(st.sampled_from([0, 2**31 - 1])))
    rows = draw(st.lists(st.lists(code, min_size=keys, max_size=keys), min_size=1, max_size=30))
    weights = draw(st.lists(st.sampled_from([1.0, 2.5, 7.0]), min_size=len(rows), max_size=len(rows)))
    return np.array(rows, dtype=np.int32), np.array(weights)


@settings(max_examples=150, deadline=None)
@given(file=record_files(), alpha=st.sampled_from([0.0, 0.5, 1.0]))
def test_agrees_with_every_record_against_every_record(file, alpha):
    codes, weights = file
    expected = wildcard_counts_of_records(codes.tolist(), weights.tolist(), alpha)
    np.testing.assert_allclose(of_cells(codes, weights, alpha), expected, rtol=1e-12)
    if alpha == 1:
        np.testing.assert_allclose(of_records(codes, weights), expected, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("keys", "largest"), [(4, 6), (12, 2**31 - 1), (70, 3)])
def test_many_patterns_agree_with_the_naive_twin(keys, largest, alpha):
    rng = np.random.default_rng(keys)
    # half of the rows copy another one, so that long keys still match
    codes = rng.integers(0, 3, (240, keys)).astype(np.int32)
    codes[120:] = codes[rng.integers(0, 120, 120)]
    codes[codes == 2] = largest
    codes[rng.random(codes.shape) < 1.5 / keys] = -1
    weights = rng.choice([1.0, 3.0], 240)
    expected = wildcard_counts_of_records(codes.tolist(), weights.tolist(), alpha)
    assert max(expected[0]) > 1
    np.testing.assert_allclose(of_cells(codes, weights, alpha), expected, rtol=1e-12)


def test_the_wide_example_really_needs_several_words():
    assert bit_layout(np.full((1, 12), 2**31 - 1, dtype=np.int32)).words == 12
    assert bit_layout(np.full((1, 70), 3, dtype=np.int32)).words == 4


def test_half_a_match_over_two_words_is_no_match():
    # three 32-bit keys take a word each; (1, 2) shares its first word with one incomplete cell and the second
    # with none, which must not be taken for the cell (0, 1)
    top = 2**31 - 1
    incomplete = [[0, 0, -1], [1, 0, -1], [0, 1, -1]]
    codes = np.array([*incomplete, [1, 2, top], *[[top, top, top]] * 3], dtype=np.int32)
    sample, _ = wildcard_counts(codes, np.ones(7), np.ones(7))
    assert sample.tolist() == [1, 1, 1, 1, 3, 3, 3]


@pytest.mark.parametrize(("alpha", "expected"), [(1.0, [2, 2, 3]), (0.5, [1.5, 1.5, 3]), (0.0, [1, 1, 3])])
def test_alpha_lowers_what_others_get_never_ones_own(alpha, expected):
    codes = np.array([[0, 0], [0, 1], [0, -1]], dtype=np.int32)  # (M, a), (M, b), (M, missing)
    sample, population = wildcard_counts(codes, np.ones(3), np.full(3, 10.0), alpha)
    assert sample.tolist() == expected
    assert population.tolist() == [10 * value for value in expected]


def test_records_of_one_incomplete_cell_count_each_other_in_full():
    codes = np.array([[0, -1]], dtype=np.int32)
    sample, population = wildcard_counts(codes, np.array([4.0]), np.array([20.0]), 0.5)
    assert sample.tolist() == [4]
    assert population.tolist() == [20]


def test_a_record_missing_in_all_keys_matches_everybody():
    codes = np.array([[0, 0], [1, 1], [-1, -1], [1, -1]], dtype=np.int32)
    sample, _ = wildcard_counts(codes, np.array([5.0, 6.0, 1.0, 2.0]), np.ones(4))
    assert sample.tolist() == [6, 9, 14, 9]


def test_everything_missing_one_record_and_nothing():
    everything, _ = wildcard_counts(np.full((3, 2), -1, dtype=np.int32), np.ones(3), np.ones(3))
    assert everything.tolist() == [3, 3, 3]
    one, weight = wildcard_counts(np.array([[7]], dtype=np.int32), np.ones(1), np.array([3.5]))
    assert (one.tolist(), weight.tolist()) == ([1], [3.5])
    nothing, _ = wildcard_counts(np.empty((0, 2), dtype=np.int32), np.empty(0), np.empty(0))
    assert nothing.shape == (0,)


def test_wildcards_are_not_transitive():
    codes = np.array([[0], [1], [-1]], dtype=np.int32)
    sample, _ = wildcard_counts(codes, np.ones(3), np.ones(3))
    assert sample.tolist() == [2, 2, 3]


def read_text(path):
    """CSV as stripped text, empty fields as null."""
    text = pl.read_csv(path, infer_schema=False)
    return text.with_columns(pl.all().str.strip_chars().replace("", None))


def read_case(oracles, name):
    """Codes [n, q], weights, alpha and the expected values of one stored case."""
    case = next(case for case in oracles.cases("02") if case["id"] == name)
    data = read_text(oracles.path(case["dataset"].get("modified_csv") or case["dataset"]["name"]))
    keys = [
        data[key].rank("dense").cast(pl.Int32).fill_null(0).to_numpy() - 1
        for key in case["inputs"]["key_vars"]
    ]
    weights = data[case["inputs"]["weight"]].cast(pl.Float64).to_numpy()
    return np.column_stack(keys).astype(np.int32), weights, float(case["params"]["alpha"]), case["expected"]


def stored_counts(oracles, expected):
    if "per_record" in expected:
        return np.array(expected["per_record"]["fk"]), np.array(expected["per_record"]["Fk"])
    stored = read_text(oracles.path(expected["per_record_csv"]))
    return stored["fk"].cast(pl.Float64).to_numpy(), stored["Fk"].cast(pl.Float64).to_numpy()


@pytest.mark.parametrize("name", CASES)
def test_stored_frequencies_with_missing_keys(oracles, name):
    codes, weights, alpha, expected = read_case(oracles, name)
    assert (codes < 0).any()
    fk, Fk = stored_counts(oracles, expected)
    sample, population = of_cells(codes, weights, alpha)
    np.testing.assert_allclose(sample, fk, rtol=1e-12)
    np.testing.assert_allclose(population, Fk, rtol=1e-12)


def test_stored_frequencies_with_fully_missing_records(oracles):
    # the definition (symmetric matching), not sdcMicro, which leaves these records out for complete ones
    codes, weights, alpha, expected = read_case(oracles, "testdata_na_fully_missing")
    assert (codes < 0).all(axis=1).sum() == 2
    sample, _ = of_cells(codes, weights, alpha)
    assert sample.tolist() == expected["brute_force_fk"]
