"""Whether categories moved to a few others only."""

import warnings

import numpy as np
import pytest

from sdckit.models.category_channel import CategoryChannel
from sdckit.risk._moved_to_few import _meet_again


@pytest.mark.parametrize("next_one", [True, False])
def test_a_category_alone_in_its_block_hides_nothing(next_one):
    class Channel:
        size = 21
        pull = np.append(np.full(21, 100.0), 0.0)

    rng = np.random.default_rng(1)
    image = rng.integers(0, 20, 2000)
    shown = (image + (1 if next_one else rng.integers(1, 20, 2000))) % 20
    blocks = np.append(np.zeros(20, dtype=np.int64), 1)
    channel: CategoryChannel = Channel()  # type: ignore[assignment]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _meet_again(image, shown, channel, blocks) == next_one
