"""Figures and options as readers of a report see them: in their unit and in plain words."""

import pytest

from sdckit import protect
from sdckit._support.number_text import SPACE
from sdckit.choose.assess import assess
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.demo import survey
from sdckit.methods.registry import find, specs
from sdckit.report import measures as rows
from sdckit.report.disclosure import is_share
from sdckit.report.summarize import summarize
from sdckit.report.words import FIGURES, figure_in_percent, figure_words, option_words

# between 0 and 1 here, and no share of records, people or probability
NOT_SHARES = {
    "auc",
    "cramer_von_mises",
    "cramers_v_change",
    "du_sq",
    "duw_sq",
    "expected_by_chance",
    "fit_check",
    "kolmogorov_smirnov",
    "per_record",
    "pmse_ratio",
    "threshold",
    "wasserstein",
    "complete_pairs",
    "median_distance",
    "median_ratio",
    "reference_median_distance",
    "reference_median_ratio",
}
# figures that are means of changes, entropies or counts, which may be below 1
NOT_OF = {
    "entropy",
    "matrix_discrepancy",
    "moments",
    "il1",
    "il1s",
    "probabilistic_loss",
    "prediction_quality",
}


@pytest.fixture(scope="module")
def found():
    data = survey(n=600, seed=5)
    made = protect.add_noise(protect.suppress(data, k=2, rng=1), sd=0.3, rng=1)
    return assess(data, made, regression="income ~ sex + education")


def test_every_figure_that_is_a_share_is_declared(found):
    results = {**found.after, **found.utility}
    assert len(results) > 25
    missing = [
        f"{name}.{figure}"
        for name, result in results.items()
        for figure, value in result.figures.items()
        if name not in NOT_OF
        and isinstance(value, float)
        and 0 < value < 1
        and not float(value).is_integer()
        and figure not in find(name).shares
        and figure not in NOT_SHARES
        and not figure.startswith(("expected_", "tau", "sum_", "weighted_", "r_squared", "mean_difference"))
    ]
    assert not missing


def test_declared_shares_are_within_0_and_1(found):
    for name, result in {**found.after, **found.utility}.items():
        for figure in {*find(name).shares} & {*result.figures}:
            assert 0 <= result.figures[figure] <= 1, (name, figure)


def test_words_of_single_measures_are_of_measures_that_exist():
    known = {spec.name for spec in specs()}
    assert {name.split(".")[0] for name in FIGURES if "." in name} <= known


def test_units_are_not_mixed_in_a_row():
    linkage = find("record_linkage")
    after = Result(0.27, {"certain": 0.134, "second": 0.268, "by_chance": 0.00033})
    texts = [f["after"].replace(SPACE, " ") for f in rows._figures(linkage, None, after)]
    assert texts == ["13.4 %", "26.8 %", "0.033 %"]
    assert not is_share(find("cluster_overlap"))  # a distance of shares, as the figure beside it
    assert is_share(find("indicators"))
    assert not figure_in_percent(find("t_closeness"), "mean_distance")


def test_figures_and_options_in_plain_words():
    assert figure_words(find("matrix_discrepancy"), "mse_v") == "Mean squared change of covariances"
    assert figure_words(find("population_uniques"), "tau1").startswith("Unique in the file and in the")
    interval = {"width": 0.05, "method": "sd", "spread": "protected"}
    told = option_words(find("interval_disclosure"), interval)
    assert told == "interval of ± 0.05 standard deviations of the variable"
    assert option_words(find("frequencies"), {"missing": "wildcard", "missing_weight": 1.0}) == (
        "a missing value matches any value"
    )
    assert "counts as 0.5" in option_words(find("frequencies"), {"missing_weight": 0.5})


def test_no_change_in_percent_between_numbers_that_are_practically_0(found):
    spec = find("individual_risk")
    row = rows._row(found, spec, Result(5e-6), Result(2e-6), public=False)
    assert (row["change"], row["bar"], row["improved"]) == ("both near 0", None, None)
    assert rows._row(found, spec, Result(0.0), Result(0.0), public=False)["change"] == "no change"
    assert rows._row(found, spec, Result(0.2), Result(0.1), public=False)["change"].startswith("+100")


def test_the_summary_has_a_tile_for_keys_numbers_and_sensitive_values(found):
    tiles = summarize(found)["verdict"]["tiles"]
    labels = [tile["label"] for tile in tiles["Risk that remains"]]
    assert len(labels) == len({*labels}) <= 5
    named = [spec for spec in specs() if spec.title in labels]
    assert any(Role.SENSITIVE in spec.needs for spec in named)
    assert any(Role.NUMERIC in spec.needs or spec.name == "record_linkage" for spec in named)
    assert any(spec.needs == (Role.KEYS,) for spec in named)
    assert len(tiles["What is lost"]) == 3


def test_options_of_atypical_records_are_its_own():
    told = option_words(find("atypical_records"), {"alpha": 0.05, "components": 3})
    assert "test level 0.05" in told
    assert "mixtures of up to 3 distributions" in told
    assert "missing value" not in told
