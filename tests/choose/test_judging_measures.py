"""Only what a criterion reads is measured for a verdict."""

import sdckit as sdc
from sdckit.choose.judging_measures import judging_measures
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind

JUDGES = [spec.name for spec in specs(Kind.RISK) if spec.judges]


def survey() -> sdc.Microdata:
    data = sdc.demo.survey(n=300, seed=1)
    return data.with_roles(
        id=None,
        keys=["region", "sex"],
        numeric=[],
        sensitive=["health"],
        household=None,
        cluster=None,
        strata=[],
    )


def test_the_verdict_is_the_same_as_with_all_of_them():
    data = survey()
    protected = sdc.protect.suppress(data, k=3, seed=1)
    few = judging_measures(data, protected)
    assert "closest_record" not in few
    short, long = (sdc.assess(data, protected, measures=m, max_risk=0.01).verdict for m in (few, JUDGES))
    assert short == long


def test_copies_are_asked_of_synthetic_files():
    data = survey().with_roles(id="person_id")
    assert judging_measures(data, sdc.protect.synthesize(data, rng=1)) == JUDGES


def test_a_weakened_measure_is_not_passed_over():
    data = survey()
    assert judging_measures(data, data, {"closest_record": {"variables": ["sex"]}}) == JUDGES
