"""Atypical records with missing numbers: distances in what is observed, against complete data and by hand."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import f

import sdckit as sdc
from sdckit.errors import DataError, OptionError
from sdckit.models.mixture_families import Family
from sdckit.models.trimmed_mixture import trimmed_mixture
from sdckit.risk.atypical_records import atypical_records

NAMES = ["x", "y", "z"]
FAMILY = (Family.EEE, Family.VVV)


def correlated(n=300, seed=1):
    rng = np.random.default_rng(seed)
    shape = np.array([[2.0, 1.2, 0.5], [1.2, 1.0, 0.4], [0.5, 0.4, 3.0]])
    return rng.multivariate_normal([10.0, 5.0, -2.0], shape, n)


def blanked(x, cells):
    x = x.copy()
    for row, column in cells:
        x[row, column] = np.nan
    return x


def read(x):
    return sdc.read(pl.DataFrame(x, NAMES).fill_nan(None), numeric=NAMES)


def test_complete_files_are_tested_as_before():
    x = correlated()
    x[0] += 20
    plain, observed = (atypical_records(read(x), families=FAMILY, observed=o) for o in (False, True))
    assert plain.parts.equals(observed.parts)
    assert plain.figures == observed.figures
    assert "incomplete" not in observed.figures


def test_distances_are_those_in_the_observed_variables():
    cells = [(0, 1), (1, 0), (1, 2), (2, 2), (3, 0), (3, 1), (3, 2)]
    x = blanked(correlated(), cells)
    result = atypical_records(read(x), families=(Family.EEE,), components=1, observed=True)
    without = atypical_records(read(x), families=(Family.EEE,), components=1, complete=True)
    assert result.parts[4:].equals(without.parts[4:])  # incomplete records do not shape the fit
    # the complete records alone, on the scale on which the measure fits them
    inner = x[4:]
    middle = np.median(inner, axis=0)
    unit = np.median(np.abs(inner - middle), axis=0)
    fit = trimmed_mixture((inner - middle) / unit, components=(1,), families=(Family.EEE,), smallest=30)
    some = 17
    factor = fit.squares[some, 0] / result.parts["distance"][4 + some] ** 2
    mean, covariance = fit.mixture.means[0], fit.mixture.covariances[0] * factor
    n = len(inner)
    for i, seen in enumerate(([0, 2], [1], [0, 1])):
        z = ((x[i] - middle) / unit)[seen] - mean[seen]
        square = z @ np.linalg.inv(covariance[np.ix_(seen, seen)]) @ z
        assert result.parts["distance"][i] == pytest.approx(np.sqrt(square), rel=1e-6)
        q = len(seen)
        p_value = f.sf(square * (n - q) * n / ((n * n - 1) * q), q, n - q)
        assert result.parts["p_value"][i] == pytest.approx(p_value, rel=1e-6)
        assert result.parts["driver"][i] in [NAMES[j] for j in seen]
        # the same with conditional expectations in the place of what is missing
        gone = [j for j in range(3) if j not in seen]
        whole = np.zeros(3)
        whole[seen] = z
        whole[gone] = covariance[np.ix_(gone, seen)] @ np.linalg.solve(covariance[np.ix_(seen, seen)], z)
        assert whole @ np.linalg.inv(covariance) @ whole == pytest.approx(square, rel=1e-9)
    assert result.parts["p_value"][3] is None  # nothing is known of this record
    assert result.figures["incomplete"] == 3
    assert (result.figures["tested"], result.figures["untested"]) == (299, 1)
    assert result.parts["kept"][:3].to_list() == [False] * 3


def test_what_stands_out_in_what_is_known_is_found_and_what_is_unknown_hides():
    x = correlated()
    x[0] = [10.0, 5.0, 60.0]  # z is far off
    x[1] = [10.0, 5.0, 60.0]
    x[2] = [14.0, 2.0, -2.0]  # only x and y together are odd
    x[3] = [14.0, 2.0, -2.0]
    result = atypical_records(
        read(blanked(x, [(0, 0), (1, 2), (2, 2), (3, 1)])), families=FAMILY, observed=True
    )
    assert result.parts["atypical"][:2].to_list() == [True, False]
    assert result.parts["driver"][0] == "z"
    assert result.parts["atypical"][2]
    assert not result.parts["atypical"][3] or result.parts["p_value"][3] > result.parts["p_value"][2]


def test_as_many_incomplete_records_are_atypical_as_complete_ones():
    rng = np.random.default_rng(4)
    x = correlated(4000, seed=3)
    x[0] += 50  # so that every record is tested at the level itself
    gone = [(i, int(rng.integers(0, 3))) for i in range(2000, 4000)]
    result = atypical_records(read(blanked(x, gone)), families=(Family.EEE,), components=1, observed=True)
    parts = result.parts["atypical"].to_numpy()
    assert parts[:2000].mean() == pytest.approx(0.05, abs=0.02)
    assert parts[2000:].mean() == pytest.approx(0.05, abs=0.02)
    assert result.value == pytest.approx(parts.mean())
    table = result.tables["strata"].row(0, named=True)
    assert (table["records"], table["atypical"]) == (4000, parts.sum())


def test_two_components_and_any_of_them_will_do():
    rng = np.random.default_rng(5)
    x = np.vstack([rng.normal(size=(120, 3)), rng.normal(size=(120, 3)) + 30])
    x[0], x[1] = [0, 0, 30], [0, 0, 30]
    result = atypical_records(read(blanked(x, [(0, 2), (1, 0)])), families=FAMILY, observed=True)
    assert result.parts["atypical"][:2].to_list() == [
        False,
        True,
    ]  # (0, 0, ·) fits one group, (·, 0, 30) none


def test_variables_missing_too_often_are_left_out():
    x = correlated(60)
    x[:57, 2] = np.nan
    result = atypical_records(read(x), families=FAMILY, observed=True)
    assert result.figures["tested"] == 60
    assert any("In 1 stratum variables were left out" in note for note in result.notes)
    plain = atypical_records(sdc.read(pl.DataFrame(x[:, :2], NAMES[:2]), numeric=NAMES[:2]), families=FAMILY)
    assert result.parts["p_value"].to_list() == pytest.approx(plain.parts["p_value"].to_list())
    hardly = x.copy()
    hardly[3:] = np.nan
    nothing = atypical_records(read(hardly), observed=True)
    assert np.isnan(nothing.value)
    assert nothing.tables["strata"]["why"][0] == "too few records"


def test_both_rules_at_once_and_infinite_numbers_are_refused():
    x = correlated(50)
    with pytest.raises(OptionError, match="either 'complete' or 'observed'"):
        atypical_records(read(x), complete=True, observed=True)
    with pytest.raises(DataError, match=r"complete numbers.*observed tests them"):
        atypical_records(read(blanked(x, [(0, 0)])))
    x[0, 0] = np.inf
    with pytest.raises(DataError, match="finite"):
        atypical_records(read(x), observed=True)
