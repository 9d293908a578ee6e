"""Sums and maxima over subsets of equal keys against the full matrix of likelihoods."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from intruder_files import matrix, random_axis
from sdckit.kernels.equal_key_subsets import Cells, Subsets


def random_cells(rng, number, lengths, blocks):
    rows = np.column_stack([rng.integers(0, length, number) for length in (*lengths, blocks)])
    distinct = np.unique(rows, axis=0)
    return Cells(distinct[:, :-1], distinct[:, -1])


def full_matrix(axes, persons, records):
    likelihood = (persons.block[:, None] == records.block[None, :]).astype(float)
    for v, axis in enumerate(axes):
        likelihood *= matrix(axis)[np.ix_(persons.places[:, v], records.places[:, v])]
    return likelihood


@settings(max_examples=80)
@given(st.integers(0, 100_000), st.integers(1, 4), st.sampled_from([0.0, 0.5, 1.0]))
def test_agrees_with_the_full_matrix(seed, keys, moving):
    rng = np.random.default_rng(seed)
    axes = []
    for _ in range(keys):
        axis = random_axis(rng, *rng.integers(1, 5, 2), bool(rng.integers(0, 2)), rng.random() < moving)
        # probabilities in general position: the same record must not tie with itself in two ways
        chances = [c * rng.uniform(0.5, 1, len(c)) for c in axis[1:5]]
        axes.append(axis._replace(stay=chances[0], suppressed=chances[1], spread=chances[2], pull=chances[3]))
    blocks = int(rng.integers(1, 4))
    persons = random_cells(rng, 40, [len(a.same) for a in axes], blocks)
    records = random_cells(rng, 30, [a.released for a in axes], blocks)
    likelihood = full_matrix(axes, persons, records)
    subsets = Subsets(axes, persons, records)
    assert subsets.possible
    number = rng.integers(1, 5, len(persons.block)).astype(float)
    np.testing.assert_allclose(subsets.expected_records(number), number @ likelihood, atol=1e-12)
    share = rng.uniform(0.1, 1, len(records.block))
    payload = rng.integers(1, 5, (2, len(records.block))).astype(float)
    sums, best, held = subsets.look(share, payload, 2, 3)
    shares = likelihood * share
    np.testing.assert_allclose(sums, payload @ (shares + shares**2 + shares**3).T, atol=1e-12)
    for attack, values in enumerate((shares, likelihood)):
        np.testing.assert_allclose(best[attack], values.max(axis=1), rtol=1e-9)
        some = values.max(axis=1) > 0
        ties = values >= values.max(axis=1, keepdims=True) * (1 - 1e-9)
        np.testing.assert_allclose(held[attack][:, some], (payload @ ties.T)[:, some], rtol=1e-9)


def test_jobs_are_subsets_of_keys_that_move_and_are_shown():
    rng = np.random.default_rng(1)
    still, moving = random_axis(rng, 3, 3, True, False), random_axis(rng, 3, 3, True, True)
    same = np.arange(3)
    moving = moving._replace(same=same, stay=np.full(3, 0.8), spread=np.full(3, 0.01), pull=np.ones(3))
    places = np.array([[0, 0], [0, 3], [3, 0], [3, 3]])  # 3 is blank
    cells = Cells(places, np.zeros(4, np.int64))
    assert Subsets([still, moving], Cells(places[:1], np.zeros(1, np.int64)), cells).jobs == 2 + 1 + 2 + 1
    crowded = moving._replace(stay=np.array([0.8, 0.001, 0.8]))
    assert Subsets([still, crowded], Cells(places[:1], np.zeros(1, np.int64)), cells).jobs == 3 + 1 + 3 + 1
