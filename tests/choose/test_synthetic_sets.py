"""sdc.synthesize: m files from one fit, and the rule by which their estimates are combined."""

import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import OptionError


@pytest.fixture(scope="module")
def data() -> sdc.Microdata:
    survey = sdc.demo.survey(n=800, seed=5)
    return sdc.Microdata.of(survey.frame.select("sex", "region", "age", "expenditure"), numeric="expenditure")


def test_files_differ_and_more_of_them_leave_the_first_unchanged(data):
    three, five = sdc.synthesize(data, m=3, seed=4), sdc.synthesize(data, m=5, seed=4)
    assert [a.frame.equals(b.frame) for a, b in zip(three, five, strict=False)] == [True] * 3
    assert len({one.frame.hash_rows().sum() for one in five}) == 5
    assert len([key for key in data.cache if key[0] == "synthesis"]) == 1


@pytest.mark.parametrize("proper", [False, True])
@pytest.mark.parametrize("size", [800, 400])
def test_the_rule_is_found_in_the_log(data, proper, size):
    sets = sdc.synthesize(data, m=4, seed=1, proper=proper, size=size)
    found = sdc.utility.indicators(data, sets, indicators="mean")
    single = [sdc.utility.indicators(data, s, indicators="mean", synthesis="partial").parts for s in sets]
    within = sum(p["variance_protected"][0] for p in single) / 4
    factor = size / 800 + (1 + size / 800 if proper else 1) / 4
    assert found.parts["variance_protected"][0] == pytest.approx(factor * within)
    assert found.parts["estimate_protected"][0] == pytest.approx(
        sum(p["estimate_protected"][0] for p in single) / 4
    )
    model = sdc.utility.regression(data, sets, formula="expenditure ~ age")
    assert any("samples from a model" in note for note in model.notes)


def test_one_file_has_its_rule_too(data):
    one = sdc.synthesize(data, m=1, seed=1)[0]
    found = sdc.utility.indicators(data, one, indicators="mean").parts["variance_protected"][0]
    plain = sdc.utility.indicators(data, one, indicators="mean", synthesis="partial").parts
    assert found == pytest.approx(2 * plain["variance_protected"][0])


def test_partial_synthesis_is_combined_by_its_own_rule(data):
    sets = sdc.synthesize(data, m=2, seed=1, variables=["expenditure"])
    notes = sdc.utility.indicators(data, sets, indicators="mean").notes
    assert "2 synthetic sets combined by the rules for partial synthesis." in notes
    assert not any("One partly synthetic file" in note for note in notes)


def test_the_intervals_of_one_partly_synthetic_file_come_with_a_warning(data):
    one = sdc.synthesize(data, m=1, seed=1, variables=["expenditure"])[0]
    whole = sdc.synthesize(data, m=1, seed=1)[0]
    noisy = sdc.protect.add_noise(data, variables=["expenditure"], rng=1)
    for file, warned in ((one, True), (whole, False), (noisy, False)):
        for notes in (
            sdc.utility.indicators(data, file, indicators="mean").notes,
            sdc.utility.regression(data, file, formula="expenditure ~ age").notes,
        ):
            assert any("too short" in note for note in notes) is warned


@pytest.mark.parametrize("m", [0, -1, True, 2.5, "many"])
def test_m_is_a_number_of_files(data, m):
    with pytest.raises(OptionError, match="number of synthetic files"):
        sdc.synthesize(data, m=m)


def test_options_are_checked_before_any_work(data):
    with pytest.raises(OptionError, match="no option 'leafs'"):
        sdc.synthesize(data, leafs=3)


@pytest.mark.slow
def test_intervals_cover_the_population_mean():
    """150 samples of 500: 95 % intervals of a mean and of a relation from five sets each."""
    import numpy as np

    rng = np.random.default_rng(1)
    covered = []
    for i in range(150):
        x = rng.normal(size=500)
        y = 2 * x + rng.normal(size=500)
        sample = sdc.Microdata.of(pl.DataFrame({"x": x, "y": y}), numeric=["x", "y"])
        sets = sdc.synthesize(sample, m=5, seed=i)
        mean = sdc.utility.indicators(sample, sets, indicators="mean", variables=["y"]).parts
        covered.append(mean["low_protected"][0] <= 0 <= mean["high_protected"][0])
    assert 0.9 <= np.mean(covered) <= 0.995  # 0.987 with this seed
