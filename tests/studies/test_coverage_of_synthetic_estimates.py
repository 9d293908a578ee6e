"""The study of synthetic estimates in small: its estimators, its rules and its page."""

import polars as pl
import pytest

import conftest
import sdckit as sdc


@pytest.fixture(scope="module")
def study():
    return conftest.study("coverage_of_synthetic_estimates")


@pytest.fixture(scope="module")
def people(study) -> pl.DataFrame:
    return study.population(2_000)


def test_its_estimates_are_those_of_the_measures(study, people):
    data = study.microdata(people)
    found = study.estimates(people)
    means = sdc.utility.indicators(data, data, indicators="mean", variables=list(study.MEANS)).parts
    for row in means.iter_rows(named=True):
        own = found[study.MEANS[row["variable"]]]
        assert own == pytest.approx((row["estimate_original"], row["variance_original"]))
    for family, (target, *terms) in study.MODELS.items():
        formula = f"{target} ~ {' + '.join(terms)}"
        rows = sdc.utility.regression(data, data, formula=formula, family=family, variance="design").parts
        by_term = {row["term"]: row for row in rows.iter_rows(named=True)}
        for term in terms:
            row = by_term[term]
            expected = (row["estimate_original"], row["variance_original"])
            assert found[f"{family}: {term}"] == pytest.approx(expected, rel=1e-4)


def test_intervals_are_those_of_the_measures(study, people):
    """The rule by which the study combines is the one that the measures find in the log."""
    results = study.simulate([3], people=people, records=400)
    places = study.np.sort(study.np.random.default_rng([1, 3]).choice(people.height, 400, replace=False))
    sample = study.microdata(people[places])
    for synthesis, options in study.SYNTHESES.items():
        sets = sdc.synthesize(sample, m=5, seed=3, **options)
        row = sdc.utility.indicators(sample, sets, indicators="mean", variables=["expenditure"]).parts
        own = results.filter(synthesis=synthesis, files=5, estimate="mean expenditure")
        assert own["value"][0] == pytest.approx(row["estimate_protected"][0])
        assert own["variance"][0] == pytest.approx(row["variance_protected"][0])


def test_the_page_has_every_estimate_and_says_what_is_too_low(study, people):
    results = study.simulate(range(2), people=people, records=300)
    text = study.page(results, runs=2, records=300, people=people.height)
    estimates = 3 + 3 + 2
    assert text.count("\n| ols: ") == 3 * len(study.SYNTHESES)
    assert results.height == 2 * estimates * (1 + len(study.SYNTHESES) * len(study.FILES))
    missed = results.with_columns(covered=pl.lit(False))
    assert "full, m = 10, mean income: 0.0 %" in study.outside(study.summary(missed))
    assert study.outside(study.summary(missed.with_columns(covered=pl.lit(True))))[0].endswith("100.0 %")
