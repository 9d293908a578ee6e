"""What differentially private scenarios cost together, and where it is said."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.choose.privacy_budget import total_cost
from sdckit.data.microdata import Microdata
from sdckit.data.privacy import PrivacyLoss, PrivacyUnit
from sdckit.methods.options import Option
from sdckit.methods.registry import protection, unregister
from sdckit.models.zcdp import epsilon_of
from sdckit.protect._private_synthesis import PrivateOptions, private_synthesis

VALUES = {"a": ["x", "y"], "b": ["x", "y", "z"], "c": ["x", "y"]}


@pytest.fixture
def private() -> Iterator[str]:
    """A protection of its own: the public one only hands its options on."""

    @protection("Private synthesis for tests", reference="none")
    def private_for_tests(
        data: Microdata,
        *,
        epsilon: Annotated[float, Option("ε", "The cost.")] = 1.0,
        rng: np.random.Generator,
    ) -> Microdata:
        """A synthetic file of a, b and c."""
        options = PrivateOptions(epsilon)
        return private_synthesis(data, variables=[*VALUES], values=VALUES, options=options, rng=rng)

    yield "private_for_tests"
    unregister("private_for_tests")


def people(n: int = 300) -> Microdata:
    rng = np.random.default_rng(1)
    return sdc.read(pl.DataFrame({c: rng.choice(v, n) for c, v in VALUES.items()}), keys=["a", "b", "c"])


def compared(data: Microdata, private: str, *epsilons: float, **options: object) -> sdc.RiskUtilityMap:
    plan = {f"e{e}": [{private: {"epsilon": e}}] for e in epsilons}
    return sdc.compare(data, plan, risk="frequencies", utility="contingency_tables", **options)


def loss(rho: float, release: int, *, replaced: bool = False, unit: str = "record") -> PrivacyLoss:
    return PrivacyLoss(1.0, 1e-6, rho, PrivacyUnit(unit), replaced, release)


def test_costs_add_up_by_hand() -> None:
    three = [loss(0.01, 1), loss(0.02, 2), loss(0.03, 3), loss(0.03, 3)]
    assert total_cost(three) == f"ε = {epsilon_of(0.06, 1e-6):.3g} at δ = 1e-06 for each record (ρ = 0.06)"
    mixed = [loss(0.01, 1), loss(0.02, 2, replaced=True)]
    assert "(ρ = 0.06)" in total_cost(mixed)  # 4 · 0.01 + 0.02
    units = [loss(0.01, 1), loss(0.02, 2, unit="household")]
    assert total_cost(units).count("ε") == 2


def test_trying_three_costs_their_sum_and_the_map_says_so(private: str) -> None:
    found = compared(people(), private, 0.5, 1.0, 2.0)
    losses = [p.privacy[0] for p in found.results]
    assert [x.epsilon for x in losses] == [0.5, 1.0, 2.0]
    together = epsilon_of(sum(x.rho for x in losses), 1e-6)
    assert together > 2.0
    (text,) = found.privacy_cost
    assert text.startswith("3 differentially private releases")
    assert f"ε = {together:.3g}" in text
    assert text in found.warnings
    assert text in repr(found)
    assert text in found._repr_html_()
    assert found.only_front().privacy_cost == (text,)  # those left out were tried, too


def test_the_file_handed_out_is_the_one_measured_where_it_can_be(private: str) -> None:
    data = people()
    found = compared(data, private, 1.0, seeds=3)
    assert len(found.results[0].privacy) == 1  # three files from the same noise
    made = found.protect()
    assert made.log[-1].effects.privacy == found.results[0].privacy
    assert len(found.privacy_cost) == 1
    assert "neither the choice nor a measure" in found.privacy_cost[0]


def test_a_file_drawn_again_counts_twice(private: str) -> None:
    data = people()
    found = compared(data, private, 1.0)
    data.cache.clear()
    assert len(found.privacy_cost) == 1
    found.protect()
    assert found.privacy_cost[0].startswith("2 differentially private releases")
    assert "drawn again" in found.privacy_cost[1]


def test_results_kept_on_disk_know_what_they_cost(private: str, tmp_path: Path) -> None:
    first = compared(people(), private, 1.0, 2.0, cache=tmp_path, seed=1)
    second = compared(people(), private, 1.0, 2.0, cache=tmp_path, seed=1)
    assert second.privacy == first.privacy


def test_a_map_without_private_scenarios_says_nothing() -> None:
    found = sdc.compare(people(), {"none": []}, risk="frequencies", utility="contingency_tables")
    assert found.privacy_cost == ()


def test_the_verdict_asks_whether_the_promise_holds(private: str) -> None:
    data = people()
    for before, status in (([], "met"), ([{"suppress": {"k": 2}}], "not judged")):
        made = sdc.Scenario("x", [*before, {private: {}}]).protect(data, seed=1)
        done = sdc.assess(data, made, measures=["frequencies"], linked=False)
        (asked,) = [c for c in done.verdict if c.name == "differential privacy"]
        assert asked.status.value == status
        assert ("suppress looked at" in asked.why) is (status == "not judged")


@pytest.mark.parametrize("audience", ["internal", "public"])
def test_a_report_has_the_promise_and_what_it_does_not_cover(
    private: str, audience: str, tmp_path: Path
) -> None:
    found = compared(people(), private, 1.0, 2.0)
    sdc.report(found, tmp_path / "r.html", audience=audience)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "2 differentially private releases" in text
    assert "Differentially private with ε" in text
    assert "look at the original file" in text


def test_a_promise_with_an_epsilon_that_bounds_nothing_is_not_judged():
    for epsilon, met in ((1e6, False), (2.0, True)):
        data = sdc.read(
            pl.DataFrame({"sex": ["f", "m"] * 200, "ill": ["yes", "no", "no", "no"] * 100}), keys="sex"
        )
        values = {"sex": ["f", "m"], "ill": ["yes", "no"]}
        made = sdc.protect.synthesize(data, method="marginals", epsilon=epsilon, values=values, rng=1)
        done = sdc.assess(data, made, measures=["closest_record"], max_risk=0.1)
        (asked,) = [c for c in done.verdict if c.name == "differential privacy"]
        assert asked.met is met
