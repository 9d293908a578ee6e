import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sdckit.kernels.hashing import bit_layout, distinct_rows, pack, pack_words

SMALL = hnp.arrays(np.int32, st.tuples(st.integers(0, 12), st.integers(0, 4)), elements=st.integers(-1, 3))
WIDE = hnp.arrays(
    np.int32,
    st.tuples(st.integers(1, 12), st.integers(3, 9)),
    elements=st.sampled_from([-1, 0, 1, 2**30, 2**31 - 1]),
)


@given(SMALL | WIDE)
def test_equal_numbers_exactly_for_equal_rows(codes):
    packed = pack(codes)
    assert packed.dtype == np.int64
    assert packed.shape == (len(codes),)
    rows = [tuple(row) for row in codes.tolist()]
    for i, row in enumerate(rows):
        assert [packed[i] == other for other in packed] == [row == other for other in rows]


@given(SMALL | WIDE, st.data())
def test_masked_words_compare_the_kept_keys_only(codes, data):
    keep = np.array(
        data.draw(st.lists(st.booleans(), min_size=codes.shape[1], max_size=codes.shape[1])), dtype=bool
    )
    layout = bit_layout(codes)
    masked = pack_words(codes, layout) & layout.mask(keep)[:, None]
    rows = [tuple(row) for row in codes[:, keep].tolist()]
    for i, row in enumerate(rows):
        assert (masked == masked[:, [i]]).all(axis=0).tolist() == [row == other for other in rows]


def test_layout_of_a_small_table():
    # largest codes 1, 6, 3 are stored as 2, 7, 4: two, three and three bits
    layout = bit_layout(np.array([[0, 6, -1], [1, 2, 3]], dtype=np.int32))
    assert layout.shift.tolist() == [0, 2, 5]
    assert layout.field.tolist() == [0b11, 0b111 << 2, 0b111 << 5]
    assert layout.words == 1
    assert layout.mask(np.array([[True, False, True], [False, False, False]])).tolist() == [[0b11100011], [0]]


def test_packing_by_hand():
    codes = np.array([[0, 6, -1], [1, 2, 3]], dtype=np.int32)
    assert pack(codes).tolist() == [1 | 7 << 2, 2 | 3 << 2 | 4 << 5]


def test_a_column_that_is_all_missing_takes_no_bits():
    codes = np.array([[-1, 0], [-1, 1]], dtype=np.int32)
    assert bit_layout(codes).field.tolist() == [0, 0b11]


@pytest.mark.parametrize(("keys", "words"), [(31, 1), (32, 2), (62, 2), (63, 3)])
def test_a_new_word_starts_after_62_bits(keys, words):
    codes = np.full((2, keys), 1, dtype=np.int32)  # two bits each
    codes[0, -1] = 0
    layout = bit_layout(codes)
    assert layout.words == words
    assert pack_words(codes, layout).min() >= 0
    first, second = pack(codes)
    assert first != second


def test_full_width_codes_differ_in_one_place_only():
    codes = np.full((5, 4), 2**31 - 1, dtype=np.int32)
    codes[np.arange(4), np.arange(4)] = -1
    assert len(set(pack(codes).tolist())) == 5


def test_no_rows_and_no_keys():
    assert pack(np.empty((0, 3), dtype=np.int32)).shape == (0,)
    assert pack(np.empty((3, 0), dtype=np.int32)).tolist() == [0, 0, 0]


@given(
    st.integers(1, 4).flatmap(
        lambda q: st.lists(st.lists(st.integers(-2, 4) | st.just(2**40), min_size=q, max_size=q), min_size=1)
    )
)
def test_distinct_rows_are_those_that_sorting_finds(rows):
    table = np.array(rows, dtype=np.int64)
    _, first, cell = np.unique(table, axis=0, return_index=True, return_inverse=True)
    found, number = distinct_rows(list(table.T))
    assert found.tolist() == first.tolist()
    assert number.tolist() == cell.ravel().tolist()
