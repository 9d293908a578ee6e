"""The attack on keys: by hand, by permutations, against all pairs, against a channel learned elsewhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_intruder as naive
from intruder_files import SIZES, people, pram, recoded, suppress_unique, swap
from sdckit.models import _key_looks
from sdckit.models.category_channel import CategoryChannel, Relation
from sdckit.models.cell_risk import Method, cell_risk
from sdckit.models.key_intruder import Attack, KeyAttack, TooManyCells, attack_keys
from sdckit.models.key_pairs import KeyPairs


def protections(x, rng):
    return {
        "unchanged": x.copy(),
        "recoded": recoded(x, 2, 10),
        "suppressed": suppress_unique(x, rng),
        "recoded, suppressed": suppress_unique(recoded(x, 2, 10), rng),
        "PRAM .9": pram(x, 0.9, rng),
        "PRAM .7": pram(x, 0.7, rng),
        "PRAM .5 on two": pram(x, 0.5, rng, (0, 2)),
        "PRAM .3": pram(x, 0.3, rng),
        "swapped": swap(x, 0.3, rng, (0, 2, 3)),
        "suppressed, PRAM .8": pram(suppress_unique(x, rng), 0.8, rng),
        "recoded, PRAM .8, suppressed": suppress_unique(pram(recoded(x, 2, 10), 0.8, rng), rng),
        "all blank": np.full_like(x, -1),
    }


def by_definition(x, y, channels, **options):
    likelihood = naive.likelihoods(x, y, [channel.matrix() for channel in channels])
    return naive.attack(likelihood, options.pop("own", np.arange(len(x))), **options)


def channel_with(matrix):
    """A channel between two values with these probabilities."""
    (aa, ab), (ba, bb) = matrix
    return CategoryChannel(
        np.arange(3),
        np.array([aa, bb, 0.0]),
        np.zeros(3),
        np.array([ab, ba, 0.0]),
        np.array([1.0, 1.0, 0.0]),
        Relation.RANDOM,
        5.0,
        True,
    )


def test_four_records_by_hand():
    # rows normalised alone would give .5714, shares .7785
    x = np.array([[0], [1], [1], [1]])
    attack = attack_keys(KeyPairs.of_records(x, x), [channel_with([[0.8, 0.2], [0.1, 0.9]])])
    assert attack.posterior[0] == pytest.approx(0.9231, abs=5e-5)
    likelihood = naive.likelihoods(x, x, [channel_with([[0.8, 0.2], [0.1, 0.9]]).matrix()])
    assert naive.exact_posterior(likelihood)[0, 0] == pytest.approx(0.9231, abs=5e-5)
    assert naive.attack(likelihood, np.arange(4))["posterior"][0] == pytest.approx(0.9231, abs=5e-5)


def test_agrees_with_all_permutations_of_seven_records():
    rng = np.random.default_rng(1)
    error, found, possible = [], 0.0, 0.0
    for _ in range(40):
        x = np.column_stack([rng.integers(0, 3, 7), rng.integers(0, 2, 7)])
        y = pram(x, 0.7, rng)
        pairs = KeyPairs.of_records(x, y, sizes=(3, 2))
        channels = pairs.channels()
        exact = naive.exact_posterior(naive.likelihoods(x, y, [c.matrix() for c in channels]))
        attack = attack_keys(pairs, channels)
        error.append(np.abs(attack.posterior - np.diag(exact)).mean())
        found += attack.odds.found.sum()
        best = exact >= exact.max(axis=1, keepdims=True) * (1 - 1e-9)
        possible += (np.diag(best) / best.sum(axis=1)).sum()
    assert np.mean(error) <= 0.035
    assert found >= 0.97 * possible


@pytest.mark.parametrize("stay", [0.4, 0.8])
def test_in_a_tiny_file_nobody_finds_more_than_is_reported(stay):
    """The pairs of six persons tell more of their draws than the true probabilities do: it is a bound."""
    rng = np.random.default_rng(2)
    reported, possible = 0.0, 0.0
    moves = [np.full((k, k), (1 - stay) / (k - 1)) for k in (3, 2)]
    for matrix in moves:
        np.fill_diagonal(matrix, stay)
    for _ in range(60):
        x = np.column_stack([np.append(rng.integers(0, k, 5), k - 1) for k in (3, 2)])
        y = pram(x, stay, rng)
        reported += attack_keys(KeyPairs.of_records(x, y, sizes=(3, 2))).expected_links
        chances = [np.pad(matrix, (0, 1)) for matrix in moves]
        exact = naive.exact_posterior(naive.likelihoods(x, y, chances))
        best = exact >= exact.max(axis=1, keepdims=True) * (1 - 1e-9)
        possible += (np.diag(best) / best.sum(axis=1)).sum()
    assert possible < reported < 2 * possible


@pytest.mark.parametrize(
    "name", list(protections(people(5, np.random.default_rng(0)), np.random.default_rng(0)))
)
@pytest.mark.parametrize("seed", [1, 2])
def test_agrees_with_all_persons_against_all_records(name, seed):
    rng = np.random.default_rng(seed)
    x = people(250, rng)
    x[rng.random(x.shape) < 0.03] = -1
    y = protections(x, rng)[name]
    weight = rng.uniform(1, 50, len(x))
    pairs = KeyPairs.of_records(x, y, sizes=SIZES, weight=weight)
    channels = pairs.channels()
    fast, slow = attack_keys(pairs, channels), by_definition(x, y, channels, weights=weight)
    np.testing.assert_allclose(fast.odds.found, slow["found"], rtol=1e-9)
    np.testing.assert_allclose(fast.likelihood.found, slow["likely"], rtol=1e-9)
    np.testing.assert_allclose(fast.odds.records, slow["size"], rtol=1e-9)
    np.testing.assert_allclose(fast.odds.weight, slow["weight"], rtol=1e-9)
    assert fast.count @ fast.believed == pytest.approx(slow["believed"].sum(), rel=0.01)
    assert (fast.believed >= slow["believed"] - 1e-9).all()
    assert fast.posterior.sum() == pytest.approx(slow["posterior"].sum(), rel=0.01)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kept", [1.0, 0.6])
def test_subsets_of_equal_keys_give_the_figures_of_the_tensor(seed, kept, monkeypatch):
    rng = np.random.default_rng(seed)
    x = people(400, rng)
    x[rng.random(x.shape) < 0.02] = -1
    for name, y in protections(x, rng).items():
        released = None if kept == 1 else rng.random(400) < kept
        pairs = KeyPairs.of_records(x, y, sizes=SIZES, weight=rng.uniform(1, 9, 400), released=released)
        monkeypatch.setattr(_key_looks, "FEW_TENSOR_CELLS", 1e9)
        tensor = attack_keys(pairs)
        monkeypatch.setattr(_key_looks, "FEW_TENSOR_CELLS", 0)
        monkeypatch.setattr(_key_looks, "VISITS_PER_TENSOR_CELL", 1e9)
        subsets = attack_keys(pairs)
        for a, b in ((tensor.odds, subsets.odds), (tensor.likelihood, subsets.likelihood)):
            np.testing.assert_array_equal(a.has_own, b.has_own, err_msg=name)
            np.testing.assert_allclose(a.records, b.records, rtol=1e-9, err_msg=name)
            np.testing.assert_allclose(a.weight, b.weight, rtol=1e-9, err_msg=name)
        np.testing.assert_allclose(subsets.believed, tensor.believed, rtol=1e-9, err_msg=name)
        np.testing.assert_allclose(subsets.posterior, tensor.posterior, rtol=1e-9, atol=1e-12, err_msg=name)


def test_too_many_combinations_are_not_tried(monkeypatch):
    monkeypatch.setattr(_key_looks, "FEW_TENSOR_CELLS", 10)
    monkeypatch.setattr(_key_looks, "MOST_TENSOR_CELLS", 10)
    monkeypatch.setattr(_key_looks, "MOST_VISITED", 10)
    x = people(100, np.random.default_rng(1))
    answer = attack_keys(KeyPairs.of_records(x, pram(x, 0.5, np.random.default_rng(2)), sizes=SIZES))
    assert isinstance(answer, TooManyCells)
    assert answer.jobs >= 2**5
    assert isinstance(attack_keys(KeyPairs.of_records(x, x, sizes=SIZES)), KeyAttack)


def test_unchanged_file_gives_cells_and_individual_risk():
    rng = np.random.default_rng(3)
    x, weight = people(600, rng), rng.uniform(2, 400, 600)
    for y in (x, recoded(x, 2, 10)):
        attack = attack_keys(KeyPairs.of_records(x, y, sizes=SIZES, weight=weight))
        cells, place, f = np.unique(y, axis=0, return_inverse=True, return_counts=True)
        assert attack.expected_links == pytest.approx(len(cells))
        assert attack.count @ attack.believed == pytest.approx(len(cells))
        population = np.bincount(place.ravel(), weight)
        for method in Method:
            risk = cell_risk(f.astype(float), population, method)[place.ravel()]
            np.testing.assert_allclose(attack.risks(method), risk, rtol=1e-12)


def test_without_weights_the_risk_is_what_is_found():
    rng = np.random.default_rng(4)
    x = people(300, rng)
    attack = attack_keys(KeyPairs.of_records(x, pram(x, 0.8, rng), sizes=SIZES))
    np.testing.assert_allclose(attack.risks(), attack.found)


@pytest.mark.parametrize("seed", range(3))
def test_a_shuffled_column_tells_nothing(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 90, (2000, 1))
    found = [attack_keys(KeyPairs.of_records(x, rng.permutation(x))).expected_links for _ in range(6)]
    assert np.mean(found) <= 4  # chance is 2; the free transition matrix finds 17


@pytest.mark.parametrize(
    "protect",
    [
        lambda x, rng: pram(x, 0.9, rng),
        lambda x, rng: pram(x, 0.7, rng),
        lambda x, rng: pram(x, 0.5, rng),
        lambda x, rng: swap(x, 0.3, rng, (0, 2, 3)),
        lambda x, rng: pram(suppress_unique(x, rng), 0.8, rng),
    ],
)
def test_own_pairs_flatter_nobody(protect):
    """Learned from the file's own pairs or from other persons of the same population: the same is found."""
    own, elsewhere = np.zeros(8), np.zeros(8)
    for seed in range(8):
        rng = np.random.default_rng(100 + seed)
        here, there = people(2000, rng), people(2000, rng)
        pairs = KeyPairs.of_records(here, protect(here, rng), sizes=SIZES)
        others = KeyPairs.of_records(there, protect(there, rng), sizes=SIZES)
        own[seed] = attack_keys(pairs).odds.found.sum()
        elsewhere[seed] = attack_keys(pairs, others.channels()).odds.found.sum()
    standard_error = np.std(own - elsewhere, ddof=1) / np.sqrt(8)
    assert own.mean() == pytest.approx(elsewhere.mean(), rel=0.02, abs=2 * standard_error)


def test_more_randomisation_finds_fewer():
    rng = np.random.default_rng(5)
    x = people(3000, rng)
    found = [
        attack_keys(KeyPairs.of_records(x, pram(x, stay, rng), sizes=SIZES)).value
        for stay in (1, 0.9, 0.7, 0.5, 0.3)
    ]
    assert found == sorted(found, reverse=True)
    assert found[0] > 5 * found[3]


def test_knowing_more_never_finds_fewer():
    rng = np.random.default_rng(6)
    x = people(2000, rng)
    for y in (x, pram(x, 0.8, rng), suppress_unique(x, rng), swap(x, 0.3, rng, (0, 2))):
        some = attack_keys(KeyPairs.of_records(x[:, :3], y[:, :3], sizes=SIZES[:3]))
        more = attack_keys(KeyPairs.of_records(x, y, sizes=SIZES))
        assert more.value >= some.value - 3 * more.standard_error


def test_a_unique_person_among_blanked_others_is_found():
    # the wildcard rule says that three records match; the intruder knows that blanks are rare
    x = np.array([[0, 0]] * 40 + [[1, 1]] + [[0, 1]] * 40 + [[1, 0]] * 40)
    y = x.copy()
    y[0, 0], y[50, 0] = -1, -1
    assert attack_keys(KeyPairs.of_records(x, y)).found[40] == 1


def test_odd_files():
    one = attack_keys(KeyPairs.of_records(np.array([[0, 1]]), np.array([[-1, 1]])))
    assert (one.value, one.claims(0.9)) == (1, 1)
    alike = attack_keys(KeyPairs.of_records(np.zeros((8, 2), int), np.zeros((8, 2), int)))
    assert alike.value == 1 / 8
    blank = attack_keys(
        KeyPairs.of_records(people(50, np.random.default_rng(7)), np.full((50, 5), -1), sizes=SIZES)
    )
    assert blank.value == pytest.approx(1 / 50)
    missing = np.full((20, 1), -1)
    missing[:5] = 0
    assert attack_keys(KeyPairs.of_records(missing, missing)).expected_links == pytest.approx(2)


@settings(max_examples=25)
@given(st.integers(0, 100_000), st.sampled_from(["suppressed", "PRAM .7", "swapped", "suppressed, PRAM .8"]))
def test_order_names_and_grouping_do_not_matter(seed, name):
    rng = np.random.default_rng(seed)
    x = people(120, rng)
    y = protections(x, rng)[name]
    weight = rng.integers(1, 9, 120).astype(float)
    plain = attack_keys(KeyPairs.of_records(x, y, sizes=SIZES, weight=weight))
    order = rng.permutation(120)
    renamed = [rng.permutation(size) for size in SIZES]
    new_x = np.column_stack([names[x[order, v]] for v, names in enumerate(renamed)])
    new_y = np.column_stack(
        [np.where(y[order, v] < 0, -1, names[y[order, v]]) for v, names in enumerate(renamed)]
    )
    other = attack_keys(KeyPairs.of_records(new_x, new_y, sizes=[s + 3 for s in SIZES], weight=weight[order]))
    np.testing.assert_allclose(other.found, plain.found[order], rtol=1e-9)
    np.testing.assert_allclose(other.believed, plain.believed[order], rtol=1e-9)
    rows, place, count = np.unique(np.hstack([x, y]), axis=0, return_inverse=True, return_counts=True)
    place = place.ravel()
    grouped = attack_keys(
        KeyPairs(rows[:, :5], rows[:, 5:], SIZES, count.astype(float), np.bincount(place, weight))
    )
    np.testing.assert_allclose(grouped.found[place], plain.found, rtol=1e-9)
    np.testing.assert_allclose(grouped.posterior[place], plain.posterior, rtol=1e-9)
    np.testing.assert_allclose(grouped.risks()[place], plain.risks(), rtol=1e-9)
    assert grouped.standard_error == pytest.approx(plain.standard_error)
    assert grouped.claims_right(0.5) == pytest.approx(plain.claims_right(0.5))


def test_figures_by_hand():
    x = np.array([[0], [1], [1], [2], [2], [2]])
    attack = attack_keys(KeyPairs.of_records(x, x))
    assert attack.strongest is Attack.ODDS
    assert attack.expected_links == pytest.approx(3)
    assert attack.claims(0.9) == attack.claims_right(0.9) == 1
    assert attack.claims(0.5) == 3
    assert attack.claims_right(0.5) == pytest.approx(2)
    assert attack.standard_error == pytest.approx(np.sqrt(2 * 0.25 + 3 * 2 / 9) / 6)


@pytest.mark.parametrize("kept", [0.8, 0.3])
def test_persons_without_a_record(kept):
    rng = np.random.default_rng(8)
    x = people(500, rng)
    released = rng.random(500) < kept
    plain = attack_keys(KeyPairs.of_records(x, x, sizes=SIZES, released=released))
    _, place, f = np.unique(x, axis=0, return_inverse=True, return_counts=True)
    kept_in_cell = np.bincount(place.ravel(), released)[place.ravel()]
    np.testing.assert_allclose(plain.found, np.where(released, 1 / np.maximum(kept_in_cell, 1), 0))
    np.testing.assert_allclose(plain.believed, np.where(kept_in_cell > 0, 1 / f[place.ravel()], 0), rtol=1e-9)
    y = pram(x, 0.8, rng)
    pairs = KeyPairs.of_records(x, y, sizes=SIZES, released=released)
    channels = pairs.channels()
    own = np.where(released, np.cumsum(released) - 1, -1)
    slow = by_definition(x, y[released], channels, own=own, everybody_in_file=False)
    fast = attack_keys(pairs, channels)
    np.testing.assert_allclose(fast.odds.found, slow["found"], rtol=1e-9)
    assert fast.count @ fast.believed == pytest.approx(slow["believed"].sum(), rel=0.01)
    assert not fast.found[~released].any()


def test_values_of_one_file_only():
    x = np.array([[0], [0], [1], [1], [2], [2]] * 5)
    y = np.where(x == 2, 5, x)
    attack = attack_keys(KeyPairs.of_records(x, y))
    assert attack.expected_links == pytest.approx(3)


@pytest.mark.parametrize(
    ("name", "found", "claims", "expected"),
    [("nothing", 1335, 653, 40.418), ("recode", 347, 118, 8.503)],
)
def test_published_figures_of_testdata(oracles, name, found, claims, expected):
    keys = ["urbrur", "water", "sex", "age", "relat"]
    frame = oracles.frame("testdata")
    x = frame.select(keys).to_numpy().astype(np.int64)
    y = recoded(x, 3, 10) if name == "recode" else x
    weight = frame["sampling_weight"].to_numpy().astype(float)
    attack = attack_keys(KeyPairs.of_records(x, y, weight=weight))
    assert attack.expected_links == pytest.approx(found)
    assert (attack.claims(0.9), attack.claims_right(0.9)) == (claims, claims)
    assert attack.risks().sum() == pytest.approx(expected, abs=5e-4)
