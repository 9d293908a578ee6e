"""The attacks succeed and the honest files resist: without that, a verdict on them would prove nothing."""

import pytest

import sdckit as sdc
from attacks.files import ATTACKS, HONEST


def named(cases):
    return pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in cases])


def test_there_are_enough_and_each_has_its_own_name():
    assert len(ATTACKS) >= 40
    assert len(HONEST) >= 20
    names = [case.name for case in (*ATTACKS, *HONEST)]
    assert len(set(names)) == len(names)
    assert all(case.why.endswith(".") for case in (*ATTACKS, *HONEST))


@named(ATTACKS)
def test_the_attack_succeeds(case):
    assert isinstance(case.original, sdc.Microdata)
    assert isinstance(case.protected, sdc.Microdata)
    assert case.least > 0
    assert case.hits() >= case.least


@named(HONEST)
def test_the_honest_file_resists(case):
    assert case.hits() <= case.most
    assert case.most <= max(case.max_risk * case.protected.height, 10)
