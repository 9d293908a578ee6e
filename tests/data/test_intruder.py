"""Who attacks, what they know, and what is refused."""

import polars as pl
import pytest

import sdckit as sdc
from sdckit import Intruder
from sdckit.data.intruder import Unit, default_intruders, intruders_of
from sdckit.errors import OptionError

DATA = sdc.read(
    pl.DataFrame({"sex": ["f", "m"], "age": [30, 40], "income": [1.0, 2], "debt": [5.0, 6], "w": [2.0, 3]}),
    keys=["sex", "age"],
    numeric=["income", "debt"],
    sensitive=["debt"],
    weight="w",
)


def test_one_list_or_two_say_the_same():
    one = Intruder("a", knows=["keys", {"income": "10%"}])
    two = Intruder("a", knows=["keys"], numbers={"income": 0.1})
    assert one == two
    assert one.known(DATA) == (("sex", "age"), {"income": 0.1})


@pytest.mark.parametrize("given", ["1.2.3%", "..%", "%", "ten", True, "-1%", "inf"])
def test_an_error_that_is_no_share_is_refused_in_words(given):
    with pytest.raises(OptionError, match="The error of 'income' of intruder 'a' is not valid"):
        Intruder("a", knows=["keys", {"income": given}])
    with pytest.raises(OptionError, match="max_risk of intruder 'a' is not valid"):
        Intruder("a", max_risk=given)


def test_the_word_numeric_means_numbers_that_are_not_sensitive():
    assert Intruder("a", knows=["numeric"]).known(DATA).numbers == {"income": 0.1}
    assert Intruder("a", knows=["sex", {"debt": 0}]).known(DATA) == (("sex",), {"debt": 0.0})


def test_default_intruders_follow_the_roles():
    found = {one.name: one for one in default_intruders(DATA.roles)}
    assert list(found) == ["neighbour", "insider", "register"]
    assert found["register"].known(DATA).numbers == {"income": 0.0}
    assert not found["neighbour"].in_file
    assert found["neighbour"].on_axis
    assert found["insider"].in_file
    assert not found["insider"].on_axis
    unweighted = DATA.with_roles(weight=None, numeric=[], sensitive=[])
    assert [(one.name, one.in_file) for one in default_intruders(unweighted.roles)] == [("neighbour", True)]
    homes = sdc.demo.survey(n=200, seed=1)
    assert [one.unit for one in default_intruders(homes.roles)] == [*[Unit.PERSON] * 3, Unit.HOUSEHOLD]


def test_a_plan_has_intruders_and_keeps_them():
    plan = sdc.Plan.parse(
        "data: {file: a.csv, keys: [sex]}\nintruders:\n  neighbour: {knows: [keys]}\n"
        "  register: {knows: [keys, {income: 10%}], in_file: false, max_risk: 5%}\n"
    )
    assert [one.name for one in plan.intruders] == ["neighbour", "register"]
    assert plan.intruders[1].max_risk == 0.05
    assert sdc.Plan.parse(plan.to_yaml()).intruders == plan.intruders


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"a": {"knows": []}}, "knows nothing"),
        ({"a": {"knows": ["keys"], "numbers": {"income": -0.1}}}, "error of 'income'"),
        ({"a": {"knows": [{"income": "ten"}]}}, "error of 'income'"),
        ({"a": {"know": ["keys"]}}, "Did you mean 'knows'"),
        ({"a": {"in_file": "yes"}}, "true or false"),
        ({"a": {"unit": "dog"}}, "person, household"),
        ({"a": 3}, "not valid"),
        ([], "not valid"),
        ([3], "not valid"),
        ([Intruder("a"), Intruder("a")], "must differ"),
    ],
)
def test_what_is_no_intruder_is_refused(given, says):
    with pytest.raises(OptionError, match=says):
        intruders_of(given)


def test_a_column_that_is_not_there_is_refused_before_any_work():
    with pytest.raises(OptionError, match=r"that the data do not have: 'agee'.*Did you mean 'age'"):
        sdc.risk.reidentification_risk(DATA, DATA, intruders=[Intruder("a", knows=["agee"])])
