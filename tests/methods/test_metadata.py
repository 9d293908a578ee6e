"""What methods say of themselves: options, choices, defaults, figures, rules, old names."""

from typing import Annotated

import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.roles import Role
from sdckit.errors import OptionError
from sdckit.methods import registry
from sdckit.methods.options import OneOf, Option, Requires, RoleColumns
from sdckit.methods.registry import find, protection, specs, utility
from sdckit.methods.spec import Better, Compares, Kind, Spec

OURS = [s for s in specs() if not registry.is_third_party(s.function)]
MEASURES = [s for s in OURS if s.kind is not Kind.PROTECTION]
OTHERS = {"holdout": sdc.demo.survey(n=150, seed=9)}
TOLD = {  # what measures of the survey must be told, and some of what they can be told
    "atypical_records": [{"complete": True}, {"observed": True}, {"variables": ["income", "expenditure"]}],
    "attribute_disclosure": [{"sensitive": ["health"], "known": ["sex", "region"]}],
    "identification_risk": [{"synthesised": ["health", "income"], "relative_radius": 0.1}],
    "indicators": [{"indicators": ["mean", "gini"]}],
    "inference_attack": [{**OTHERS, "sensitive": ["health"]}],
    "linkability": [OTHERS],
    "singling_out": [{**OTHERS, "attacks": 50}],
    "k_map": [{"population": sdc.demo.survey(n=300, seed=2)}],
    "magnitude_tables": [{"by": ["region"]}, {"by": ["size_class"]}],
    "population_uniques": [{}, {"model": "pitman"}, {"model": "zayatz"}],
    "prediction_quality": [{"formula": "log(income) ~ sex + age"}],
    "regression": [{"formula": "log(income) ~ sex + age"}],
}


def each(chosen: list[Spec]):
    return pytest.mark.parametrize("spec", [pytest.param(s, id=s.name) for s in chosen])


@each(OURS)
def test_every_option_has_a_label_and_help(spec):
    for field in spec.form():
        default = field.name.replace("_", " ").capitalize()
        assert field.label, field.name
        assert field.help.endswith((".", "?")), f"{spec.name}.{field.name}: {field.help!r}"
        assert field.help != default, field.name
        if field.kind == "choice":
            silent = [value for value, text in field.choices.items() if not text]
            assert not silent, f"{spec.name}.{field.name}: {silent}"
        if field.optional or field.default in ("", [], None):
            needless = field.required or field.role or field.default not in ("", [], None)
            assert needless or field.absent, f"{spec.name}.{field.name}: what without it?"


@each(OURS)
def test_defaults_that_are_the_columns_of_a_role_are_told(spec):
    roles = {n: p.default.role for n, p in spec.parameters.items() if isinstance(p.default, RoleColumns)}
    told = spec.json_schema.get("properties", {})
    assert {n: told[n]["default_role"] for n in roles} == {n: role.value for n, role in roles.items()}
    assert {f.name: f.role for f in spec.form() if f.role} == roles


@each(OURS)
def test_what_is_said_of_options_is_about_options_that_there_are(spec):
    options = set(spec.options.model_fields)
    assert spec.main in {"", *options}
    assert options.isdisjoint(spec.renamed)
    assert {to for to in spec.renamed.values() if isinstance(to, str)} <= options
    assert set(spec.draws_when) <= options
    for rule in spec.rules:
        assert {*(rule.names if isinstance(rule, OneOf) else (rule.name, rule.other))} <= options


@each(MEASURES)
def test_declared_figures_say_what_they_are(spec):
    for name, figure in spec.figures.items():
        assert figure.label, name
        assert figure.bounds[0] < figure.bounds[1], name
        assert not (figure.share and figure.counts_records), name
        if figure.share:
            assert figure.bounds == (0, 1), name


def protected_files(data: sdc.Microdata) -> list[sdc.Microdata]:
    """The file protected in ways that bring out different figures, the last one as if synthetic."""
    number = data.roles.numeric[0]
    key = data.roles.keys[0]
    coarse = sdc.protect.suppress(data, k=3, keys=data.roles.keys[:3])
    noisy = sdc.protect.add_noise(data, variables=[number], rng=1)
    mixed = sdc.protect.pram(data, variables=[key], stay=0.6, rng=2)
    moved = sdc.protect.shuffle_order(sdc.protect.new_ids(sdc.protect.rank_swap(mixed, rng=3), rng=4), rng=5)
    part = sdc.protect.sample_records(noisy, share=0.5, rng=6)
    other = sdc.protect.drop(coarse, variables=[number])
    return [data, coarse, noisy, moved, part, other]


@pytest.fixture(scope="module")
def survey_files():
    data = sdc.demo.survey(n=200, seed=1)
    return protected_files(
        data.with_roles(keys=["sex", "region", "education"], numeric=["income", "expenditure", "age"])
    )


@pytest.fixture(scope="module")
def business_files():
    data = sdc.demo.business(n=200, seed=1)
    return protected_files(data)


def results(spec: Spec, files: list[sdc.Microdata], told: list[dict]) -> list[sdc.Result]:
    found = []
    for given in told:
        for protected in files:
            pair = [protected] if spec.compares is Compares.ONE_FILE else [files[0], protected]
            try:
                found.append(spec.call(*pair, **given))
            except sdc.SdcError:
                continue  # not for this file
    return found


@each(MEASURES)
def test_every_figure_of_a_result_is_declared(spec, survey_files, business_files):
    of_survey = results(spec, survey_files, TOLD.get(spec.name, [{}]))
    assert of_survey, f"{spec.name} needs to be told something: add it to TOLD"
    found = [*of_survey, *results(spec, business_files[:4], [{}])]
    declared = [name.partition("*") for name in spec.figures]
    for name in {name for result in found for name in result.figures}:
        known = any(name == head if not star else name.startswith(head) for head, star, _ in declared)
        assert known, f"{spec.name} does not declare its figure {name!r}"
        low, high = spec.figure(name).bounds
        values = [r.figures[name] for r in found if name in r.figures]
        assert all(low - 1e-9 <= v <= high + 1e-9 for v in values if v == v), (name, values)


def test_a_figure_that_should_be_high_is_turned_on_the_axis_of_risks(survey):
    data = survey.with_roles(keys=["sex", "region"], sensitive=["health"])
    changed = {
        f"stay {stay}": [{"pram": {"variables": ["health"], "stay": stay}}] for stay in (1.0, 0.5, 0.1)
    }
    told = {"identification_risk": {"synthesised": ["health"]}}
    name = "identification_risk.false_match_rate"
    found = sdc.compare(data, changed, risk=name, utility="records_changed", seed=1, **told)
    rates = [p.risk_values[name] for p in found.results]
    risks = [p.risk for p in found.results]
    assert rates == sorted(rates)
    assert risks == sorted(risks, reverse=True)
    assert risks == pytest.approx([1 - rate for rate in rates])


def test_an_own_measure_with_its_direction_as_a_text():
    @utility("Kept", better="high", bounds=(0, 1), interpretation="1: all.", figures={"part": "A part"})
    def kept_here(original: sdc.Microdata, protected: sdc.Microdata) -> sdc.Result:
        """What was kept."""
        return sdc.Result(0.75, {"part": 0.5})

    try:
        spec = find("kept_here")
        assert spec.better is Better.HIGH
        assert spec.figure("part").label == "A part"
        assert spec.figure("not_declared").label == "Not declared"
        data = sdc.read(pl.DataFrame({"a": ["x", "y"]}), keys="a")
        found = sdc.compare(data, {"none": []}, risk="frequencies", utility="kept_here")
        assert found.results[0].loss == 0.25
    finally:
        registry.unregister("kept_here")


@pytest.mark.parametrize(
    ("decorate", "facts", "message"),
    [
        (
            registry.risk,
            {"beter": "low"},
            r"decorator of a risk has no argument 'beter'.*Did you mean 'better'",
        ),
        (registry.utility, {"reading": "0: good"}, r"decorator of a utility has no argument 'reading'"),
        (registry.protection, {"keeps_records": True}, r"of a protection has no argument 'keeps_records'"),
        (
            registry.utility,
            {"better": "up"},
            r"'better' of a utility is not valid. Given: up. Allowed: low, hi",
        ),
        (registry.risk, {"compares": "twins"}, r"'compares' of a risk is not valid. Given: twins"),
        (registry.risk, {"needs": "kes"}, r"'needs' of a risk is not valid. Given: kes.*Did you mean 'keys'"),
        (registry.risk, {"engines": ["spork"]}, r"'engines' of a risk is not valid. Given: spork"),
    ],
)
def test_decorators_refuse_facts_they_do_not_know(decorate, facts, message):
    with pytest.raises(OptionError, match=message):
        decorate("Title", **facts)


@pytest.fixture
def shift():
    """A protection with rules and an option that had another name."""

    @protection(
        "Shift",
        needs=Role.NUMERIC,
        rules=(OneOf(("by", "share"), required=True), Requires("round_to", "by")),
        renamed={"amount": "by"},
    )
    def shift(
        data: sdc.Microdata,
        *,
        by: Annotated[float, Option("By", "How far.")] | None = None,
        share: Annotated[float, Option("Share", "How far, as a share.")] | None = None,
        round_to: Annotated[int, Option("Round to", "Digits.")] = 0,
    ) -> sdc.Microdata:
        """Shift the numbers."""
        return data.with_frame(data.frame.with_columns(pl.col(data.roles.numeric) + by))

    yield find("shift")
    registry.unregister("shift")


def test_rules_are_checked_when_a_step_is_written_down(shift):
    with pytest.raises(OptionError, match=r"shift needs 'by' or 'share'. Given: neither"):
        sdc.Step("shift")
    with pytest.raises(OptionError, match=r"shift takes either 'by' or 'share'. Given: by, share"):
        sdc.Step("shift", by=1, share=0.5)
    with pytest.raises(OptionError, match=r"'round_to' of shift means nothing without 'by'"):
        sdc.Step("shift", share=1, round_to=2)
    by, share, round_to = shift.form()
    assert (by.excludes, share.excludes, round_to.requires) == (("share",), ("by",), "by")


def test_earlier_names_of_options_warn_once_and_work(shift, recwarn):
    data = sdc.read(pl.DataFrame({"x": [1.0, 2.0]}), numeric="x")
    with pytest.warns(DeprecationWarning, match=r"'amount' of shift is now called 'by'.*version 0.3"):
        step = sdc.Step("shift", amount=2)
    assert step.options == {"by": 2}
    recwarn.clear()
    assert sdc.Scenario("s", [step]).protect(data).frame["x"].to_list() == [3.0, 4.0]
    assert not recwarn
    with (
        pytest.warns(DeprecationWarning, match="'amount' of shift"),
        pytest.raises(OptionError, match=r"given 'amount' and 'by', which are the same option"),
    ):
        sdc.Step("shift", amount=2, by=3)
