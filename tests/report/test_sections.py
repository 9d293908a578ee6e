"""Every measure finds its section from the registry, also one nobody has seen before."""

import pytest

from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.methods import registry
from sdckit.methods.registry import find, specs
from sdckit.methods.spec import Compares, Kind
from sdckit.report.sections import FILE, SECTIONS, in_order, in_sections, section_of

KINDS = (Kind.RISK, Kind.UTILITY)
NAMES = {kind: [s.name for s in SECTIONS if s.kind is kind and s.name != FILE] for kind in KINDS}


def test_every_measure_has_a_section_and_every_section_a_measure():
    found = {kind: {section_of(s) for s in specs(kind)} for kind in NAMES}
    assert {kind: sorted(some) for kind, some in found.items()} == {k: sorted(n) for k, n in NAMES.items()}


@pytest.mark.parametrize(
    ("section", "names"),
    [
        ("intruder", ["reidentification_risk", "attribute_inference", "revealing_columns"]),
        ("keys", ["individual_risk", "k_anonymity", "k_map", "l_diversity", "suda"]),
        ("household", ["household_risk"]),
        ("continuous", ["record_linkage", "interval_disclosure", "atypical_records", "il1s", "moments"]),
        ("synthetic", ["closest_record", "identification_risk", "attribute_disclosure"]),
        ("values", ["missing_values", "records_changed", "gower_distance"]),
        ("categorical", ["contingency_tables", "contingency_loss", "entropy", "entropy_loss"]),
        ("distribution", ["propensity", "cluster_overlap", "ecdf_distance", "distribution_distance"]),
        ("estimates", ["indicators"]),
        ("regression", ["regression", "prediction_quality"]),
    ],
)
def test_known_measures_are_where_people_look(section, names):
    assert {section_of(find(name)) for name in names} == {section}


@pytest.mark.parametrize(
    ("facts", "section"),
    [
        ({"needs": Role.KEYS}, "categorical"),
        ({"needs": Role.NUMERIC}, "continuous"),
        ({"compares": Compares.RECORDS}, "values"),
        ({"several": True}, "estimates"),
        ({"needs": Role.NUMERIC, "section": "distribution"}, "distribution"),
        ({"needs": Role.NUMERIC, "section": "no such section"}, "continuous"),
        ({}, "distribution"),
    ],
)
def test_a_new_measure_lands_by_itself(facts, section):
    @registry.utility("New", **facts)
    def brand_new(original: Microdata, protected: Microdata) -> Result:
        return Result(0.0)

    try:
        assert section_of(find("brand_new")) == section
    finally:
        registry.unregister("brand_new")


def test_sections_have_what_is_theirs_in_order_and_common_notes_once():
    rows = [
        {"section": "continuous", "name": "c", "notes": ["both", "own"]},
        {"section": "keys", "name": "a", "notes": []},
        {"section": "continuous", "name": "d", "notes": ["both"]},
    ]
    found = in_sections(Kind.RISK, {"rows": rows}, always=["synthetic"])
    assert [s["name"] for s in found] == ["keys", "continuous", "synthetic"]
    assert [r["name"] for r in found[1]["rows"]] == ["c", "d"]
    assert found[1]["notes"] == ["both"]
    assert [r["name"] for r in in_order(Kind.RISK, rows)] == ["a", "c", "d"]
    assert [r["name"] for r in in_order(Kind.UTILITY, [rows[0]])] == ["c"]
