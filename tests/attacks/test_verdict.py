"""No verdict may be "releasable" where an attack succeeds; where none does, it must be."""

import sdckit as sdc
from attacks.case import named
from attacks.files import ATTACKS, HONEST
from sdckit.choose.criteria import Status
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind

JUDGES = [spec.name for spec in specs(Kind.RISK) if spec.judges]


def verdict(case):
    return sdc.assess(
        case.original,
        case.protected,
        measures=JUDGES,
        max_risk=case.max_risk,
        intruders=case.intruders,
        **case.options,
    ).verdict


@named(ATTACKS)
def test_a_file_that_can_be_attacked_is_not_releasable(case):
    found = verdict(case)
    assert not found.releasable, found
    assert "can be released" not in found.headline


@named(HONEST)
def test_an_honest_file_is_releasable(case):
    found = verdict(case)
    assert found.releasable, found
    assert all(criterion.status is Status.MET for criterion in found)
