import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from naive_rank_swap import naive_largest_group
from sdckit.kernels.microaggregation.rank_groups import rank_groups


@given(n=st.integers(1, 200), percent=st.integers(1, 100))
@example(n=100, percent=7)  # 0.07 · 100 > 7 in floating point
def test_groups_obey_the_rule_and_are_as_few_as_possible(n, percent):
    label = rank_groups(n, percent / 100, 1)
    sizes = np.bincount(label)
    largest = naive_largest_group(n, percent / 100)
    assert (np.diff(label) >= 0).all()
    assert sizes.max() <= largest
    assert len(sizes) == -(-n // largest)
    assert sizes.max() - sizes.min() <= 1


@given(n=st.integers(1, 200), percent=st.integers(1, 100), least=st.integers(1, 9))
def test_groups_are_never_too_small(n, percent, least):
    sizes = np.bincount(rank_groups(n, percent / 100, least))
    assert sizes.min() >= min(least, n)


def test_the_paper_s_groups():
    assert np.bincount(rank_groups(100, 0.04, 1)).tolist() == [4] * 25
    assert np.bincount(rank_groups(300, 0.08, 3)).tolist() == [24] + [23] * 12
