"""Values that a step hid behind each other."""

import numpy as np

from sdckit.risk._hidden_together import hidden_together
from sdckit.risk._kept_parts import blocks_of_moves

TRUE = np.repeat([0, 1, 2, 3], 200)
OWN = np.arange(800)


def test_values_that_were_always_blanked_are_one():
    shown = np.where(TRUE >= 2, -1, TRUE)
    true, records, size = hidden_together(TRUE, shown, OWN, 4, 0.9)
    assert size == 5
    assert true.tolist() == np.where(TRUE >= 2, 4, TRUE).tolist() == records.tolist()


def test_values_that_were_mostly_blanked_are_one_unless_others_were_too():
    drawn = np.random.default_rng(1).random(800) < 0.7
    for where, size in ((TRUE >= 2, 5), (TRUE >= 0, 5), (TRUE >= 4, 0)):
        merged = hidden_together(TRUE, np.where(drawn & where, -1, TRUE), OWN, 4, 0.9)
        assert (merged[2] if merged else 0) == size
    some = np.where(TRUE >= 2, 0.7, 0.4) > np.random.default_rng(1).random(800)
    assert hidden_together(TRUE, np.where(some, -1, TRUE), OWN, 4, 0.9) is None


def test_blanks_of_any_value_say_nothing():
    shown = np.where(np.random.default_rng(1).random(800) < 0.5, -1, TRUE)
    assert hidden_together(TRUE, shown, OWN, 4, 0.9) is None
    assert hidden_together(TRUE, TRUE, OWN, 4, 0.9) is None


def test_values_exchanged_among_each_other_are_one():
    shown = TRUE // 2 * 2 + np.random.default_rng(1).integers(0, 2, 800)
    true, records, _ = hidden_together(TRUE, shown, OWN, 4, 0.9)
    assert len(set(true.tolist())) == 2
    assert true.tolist() == records.tolist()
    anywhere = np.random.default_rng(2).integers(0, 4, 800)
    assert hidden_together(TRUE, anywhere, OWN, 4, 0.9) is None


def test_missing_values_and_persons_without_a_record():
    true, own = TRUE.copy(), OWN.copy()
    true[:10], own[-10:] = -1, -1
    image, records, _ = hidden_together(true, np.where(TRUE >= 2, -1, TRUE), own, 4, 0.9)
    assert (image[:10] == -1).all()
    assert set(records.tolist()) == {0, 1, 4}


def test_without_any_pair_of_values_nothing_is_learned():
    x, y = np.array([0, 1]), np.array([-1, -1])
    assert blocks_of_moves(x, y, np.array([False, False]), 2) is None
