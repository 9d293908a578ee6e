"""The simulation of Foschi (2011) in small: where the contaminations are, and that errors are counted."""

import importlib
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2


@pytest.fixture(scope="module")
def study():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2])
        yield importlib.import_module("studies.foschi_2011_simulation")


@pytest.fixture(scope="module")
def records(study):
    """2,000 contaminated records of every kind, and the place."""
    place = study.Place(6)
    kinds = {**study.KINDS, **study.OTHERS}
    return place, {name: kind(place, 2_000, np.random.default_rng(1)) for name, kind in kinds.items()}


def distances(place, x):
    return np.sqrt(place.squares(x))


def test_the_components_are_the_papers(study):
    place = study.Place(6)
    c = math.sqrt(chi2.ppf(0.99, 6) / 6)
    assert place.centres[0].tolist() == [0] * 6
    assert place.centres[1] == pytest.approx(2 * c)
    assert np.linalg.norm(place.centres[1]) == pytest.approx(2 * place.radius)  # the spheres touch
    assert (study.larger(90), study.larger(180)) == (50, 100)
    x = study.clean(place, 18_000, np.random.default_rng(1))
    assert x[:10_000].mean(axis=0) == pytest.approx(0, abs=0.05)
    assert x[10_000:].mean(axis=0) == pytest.approx(2 * c, abs=0.05)
    assert x[:10_000].var(axis=0) == pytest.approx(1, abs=0.07)


def test_separate_records_are_far_from_both(study, records):
    place, found = records
    for name, away in (("separate", 2), ("separate, 1.5 r from both centres", 1.5)):
        centre = found[name].mean(axis=0, keepdims=True)
        assert distances(place, centre)[0] == pytest.approx(away * place.radius, rel=0.02)
        assert found[name].var(axis=0) == pytest.approx(1, abs=0.15)
    line = found["separate, in line with the centres"].mean(axis=0, keepdims=True)
    assert distances(place, line)[0] == pytest.approx([4 * place.radius, 2 * place.radius], rel=0.02)


def test_radial_and_diffuse_records_are_outside(study, records):
    place, found = records
    for name in ("radial", "diffuse", "radial, variance 5", "diffuse, 1 to 1.5 r from a centre"):
        assert distances(place, found[name]).min() > place.radius
    inside = distances(place, found["radial, variance 9, also inside the spheres"]).min(axis=1) < place.radius
    assert 0.05 < inside.mean() < 0.15  # P(9·χ² < r²) = 0.07, and a few in the other sphere
    assert distances(place, found["diffuse, 1 to 1.5 r from a centre"]).min(axis=1).max() < 1.5 * place.radius
    low, high = -place.radius, place.centres.max() + place.radius
    assert low <= found["diffuse"].min() < low + 0.1 < high - 0.1 < found["diffuse"].max() <= high


def test_samples_are_as_large_as_the_papers(study):
    for n, m in ((90, 8), (180, 16)):
        x, contaminated = study.sample(study.KINDS["radial"], n, 0, 1)
        assert (len(x), contaminated) == (n + m, m)
        other, _ = study.sample(study.KINDS["diffuse"], n, 0, 1)
        assert (x[:n] == other[:n]).all()
        assert not (x[n:] == other[n:]).any()
        plain, none = study.sample(None, n, 0, 1)
        assert none == 0
        assert (plain == x[:n]).all()


def test_the_pieces_give_what_the_measure_gives(study):
    for replicate in range(3):
        x, _ = study.sample(study.KINDS["radial"], 90, replicate, 1)
        (atypical, p_value, model), (same, value, also) = study.measure(x), study.pieces(x)
        assert (atypical == same).all()
        assert p_value == pytest.approx(value, rel=1e-6)
        assert model == also


def test_errors_are_counted_by_hand(study):
    def test(x):
        values = np.full(len(x), 0.5)
        values[:9] = 0.01  # nine clean records
        values[90:92] = 0.01  # two of eight contaminated ones
        rejected = values < 0.05
        rejected[0] = False  # the first stage held it back
        return rejected, values, "1 × EII"

    errors = study.simulate(test, study.KINDS["separate"], 90, 2)
    assert errors.first.tolist() == pytest.approx([8 / 90] * 2)
    assert errors.first_at_once.tolist() == pytest.approx([0.1] * 2)
    assert errors.second.tolist() == errors.second_at_once.tolist() == [0.75] * 2
    assert errors.figure("second") == "0.7500 (0.0000)"
    assert errors.head(1).models.tolist() == ["1 × EII"]
    assert study.simulate(test, None, 90, 2).figure("second") == "–"


def test_who_knows_the_components_errs_as_the_level_says(study):
    errors = study.simulate(study.known, study.KINDS["separate"], 180, 60)
    assert errors.second.max() == 0
    # after the first stage everything is tested at 0.05, but in a component without far records
    assert errors.first_at_once.mean() == pytest.approx(0.05, abs=4.5 * math.sqrt(0.05 * 0.95 / (60 * 180)))
    clean = study.simulate(study.known, None, 180, 60)
    assert clean.first.mean() < 0.02


def test_the_measure_finds_contamination_and_spares_clean_records(study):
    for kind in study.KINDS.values():
        errors = study.simulate(study.measure, kind, 180, 4)
        assert errors.first.mean() < 0.05
        assert errors.second.mean() < 0.2
    assert study.simulate(study.measure, None, 180, 4).first.mean() < 0.01


def test_the_page_shows_the_papers_figures(study):
    kinds = {**study.KINDS, study.CLEAN: None}
    table = {(k, n): study.simulate(study.known, kinds[k], n, 3) for k in kinds for n in study.SIZES}
    settings = {(s, n): table["radial", n].head(2) for s in study.SETTINGS for n in study.SIZES}
    others = {(name, 90): table["radial", 90] for name in study.OTHERS}
    text = study.page(table, table, settings, others)
    for first, second in study.PAPER.values():
        assert f"{first:.4f}" in text
        assert math.isnan(second) or f"{second:.4f}" in text
    assert "3 replicates;" in text
    assert text.count("| the measure |") == 2
    for name in (*study.SETTINGS, *study.OTHERS):
        assert f"| {name} |" in text
