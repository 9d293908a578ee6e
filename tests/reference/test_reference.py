"""sdckit against results of R on its own artificial files; README.md says where they come from."""

import fnmatch
from collections.abc import Callable
from functools import cache

import pytest

from reference import explanations, losses, models, protections, risks, surveys, synthetic
from reference.cases import HERE, Case, known_differences, topic
from reference.comparison import Comparison, Comparisons

TOPICS: dict[str, Callable[[Case], Comparisons]] = {
    "categorical_loss": synthetic.categorical_loss,
    "contingency_tables": synthetic.contingency_tables,
    "disclosure": synthetic.disclosure,
    "ecdf": losses.ecdf,
    "estimates": surveys.estimates,
    "fits": synthetic.fits,
    "frequencies": risks.frequencies,
    "identification_risk": synthetic.identification_risk,
    "indicators": surveys.indicators,
    "interval_disclosure": losses.interval_disclosure,
    "l_diversity": risks.l_diversity,
    "loglinear": risks.loglinear,
    "mcd": models.minimum_determinant,
    "microaggregation": protections.microaggregation,
    "mixtures": models.mixtures,
    "numeric_loss": losses.numeric_loss,
    "outlier_disclosure": losses.outlier_disclosure,
    "perturbation": protections.perturbation,
    "propensity": synthetic.propensity,
    "regressions": surveys.regressions,
    "shuffling": protections.shuffling,
    "suda": risks.suda,
    "suppression": risks.suppression,
}
CASES = {f"{name}-{case.id}": case for name in TOPICS for case in topic(name).cases}
# said of how R came to its figures, and no results to reach
OF_THE_CALL = {
    "perturbation": {"draws", "stay"},  # how often; the diagonal that R drew
    "propensity": {"converged"},
    "shuffling": {"draws"},
    "suppression": {"by_key"},  # their sum is compared
}
KNOWN = {entry.id: entry for entry in known_differences()}

pytestmark = pytest.mark.filterwarnings("error:Option .* is now called:DeprecationWarning")


@cache
def compared(name: str) -> list[Comparison]:
    """Every figure of a case."""
    case = CASES[name]
    return list(TOPICS[case.topic](case))


def is_known(case: Case, figure: str) -> bool:
    return any(entry.covers(case, figure) for entry in KNOWN.values())


@pytest.mark.parametrize("name", CASES)
def test_figures_are_those_of_r(name: str) -> None:
    case, found = CASES[name], compared(name)
    assert found, "nothing was compared"
    wrong = [str(c) for c in found if not c.agrees and not is_known(case, c.figure)]
    assert not wrong, "\n".join([case.call, case.note, *wrong])


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_difference_is_still_there_and_explained(name: str) -> None:
    known = KNOWN[name]
    assert known.right in ("sdckit", "R", "convention")
    assert known.reason
    cases = {i: case for i, case in CASES.items() if known.has(case)}
    unused = [
        pattern
        for pattern in known.cases
        if not fnmatch.filter([case.id for case in cases.values()], pattern)
    ]
    assert not unused, f"no case has these ids: {unused}"
    for i, case in cases.items():
        by_figure = {c.figure: c for c in compared(i)}
        gone = [figure for figure in known.figures if by_figure[figure].agrees]
        assert not gone, f"{case.id} agrees with R in {gone}: take it out of known_differences.json"
        wrong = [str(c) for c in getattr(explanations, known.explained_by)(case) if not c.agrees]
        assert not wrong, "\n".join([known.reason, f"This does not hold any more for {case.id}:", *wrong])


def test_every_stored_result_is_compared() -> None:
    assert {path.stem for path in (HERE / "results").glob("*.json")} == set(TOPICS)
    used = {name for case in CASES.values() for name in case.inputs}
    assert used <= {path.name for path in (HERE / "inputs").glob("*.csv")}
    assert len(CASES) == sum(len(topic(name).cases) for name in TOPICS), "ids are not unique"
    assert len(KNOWN) == len(known_differences())


@pytest.mark.slow
@pytest.mark.parametrize("name", TOPICS)
def test_every_stored_figure_is_read(name: str) -> None:
    unread: dict[str, set[str]] = {}
    for i, case in CASES.items():
        if case.topic == name:
            compared(i)
            for known in KNOWN.values():
                if known.has(case):
                    list(getattr(explanations, known.explained_by)(case))
            unread[case.id] = case.expected.unread() - OF_THE_CALL.get(name, set())
    assert not {case: figures for case, figures in unread.items() if figures}
