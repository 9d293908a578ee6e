"""The registry: validation from the signature, and one new function showing up everywhere."""

import json
from typing import Annotated

import numpy as np
import polars as pl
import pytest
from pydantic import Field
from typer.testing import CliRunner

import sdckit as sdc
from sdckit.data.roles import Role
from sdckit.errors import ColumnError, EngineError, OptionError, UnknownMethodError
from sdckit.methods import registry
from sdckit.methods.options import NUMERIC, Columns
from sdckit.methods.registry import find, protection, specs, utility
from sdckit.methods.spec import Kind


@pytest.fixture
def twice_the_mean():
    @utility(
        "Twice the difference of means", needs=Role.NUMERIC, interpretation="0: same means.", bounds=(0, 5)
    )
    def mean_gap(
        original: sdc.Microdata,
        protected: sdc.Microdata,
        *,
        variables: Columns = NUMERIC,
        factor: Annotated[float, Field(gt=0)] = 2.0,
    ) -> sdc.Result:
        """How far apart the means are."""
        gaps = [abs(original.frame[c].mean() - protected.frame[c].mean()) for c in variables]
        return sdc.Result(factor * float(np.mean(gaps)))

    yield mean_gap
    registry.unregister("mean_gap")


def test_a_new_measure_shows_up_everywhere(twice_the_mean, survey, tmp_path):
    from sdckit.cli import app

    protected = sdc.protect.microaggregate(survey, k=3)
    assessment = sdc.assess(survey, protected)
    assert assessment.utility["mean_gap"].options == {"variables": list(survey.roles.numeric), "factor": 2.0}
    listed = CliRunner().invoke(app, ["methods", "--json"])
    assert "mean_gap" in {m["name"] for m in json.loads(listed.stdout)}
    page = sdc.report(assessment, tmp_path / "report.html").read_text()
    assert "Twice the difference of means" in page
    assert "0: same means." in page


def test_options_are_validated_from_the_signature(twice_the_mean, survey):
    with pytest.raises(
        OptionError, match=r"Option 'factor' of mean_gap is not valid. Given: -1. Allowed: greater than 0"
    ):
        twice_the_mean(survey, survey, factor=-1)
    with pytest.raises(OptionError, match=r"Did you mean 'factor'"):
        twice_the_mean(survey, survey, fctor=1)
    with pytest.raises(ColumnError, match=r"Did you mean 'income'"):
        twice_the_mean(survey, survey, variables=["incom"])
    with pytest.raises(OptionError, match=r"takes Microdata"):
        twice_the_mean(survey.frame, survey)
    assert twice_the_mean(survey, survey, variables="income").options["variables"] == ["income"]


def test_json_schema_of_options(twice_the_mean):
    schema = find("mean_gap").json_schema
    assert schema["properties"]["factor"]["exclusiveMinimum"] == 0
    assert schema["properties"]["variables"]["format"] == "columns"


def test_every_schema_can_be_made_and_dumped():
    for spec in specs():
        json.dumps(spec.json_schema)
        assert spec.title
        assert spec.summary


def test_every_measure_explains_itself():
    for spec in specs():
        if spec.kind is not Kind.PROTECTION:
            assert spec.interpretation, spec.name
            assert spec.reference, spec.name


def test_unknown_names_get_a_suggestion():
    with pytest.raises(UnknownMethodError, match=r"no protection 'supress'.*Did you mean 'suppress'"):
        find("supress", Kind.PROTECTION)


def test_a_protection_logs_and_draws_from_its_own_generator(survey):
    @protection("Add a number")
    def add_one(data: sdc.Microdata, *, amount: float = 1.0, rng: np.random.Generator) -> sdc.Microdata:
        """Add a random number to the income."""
        moved = data.frame.with_columns(pl.col("income") + rng.random() * amount)
        return data.with_frame(moved, records_touched=data.height)

    try:
        scenario = sdc.Scenario("s", [sdc.Step("add_one"), sdc.Step("add_one", amount=2)])
        first, again, other = (scenario.protect(survey, seed=s) for s in (1, 1, 2))
        assert first.frame.equals(again.frame)
        assert not first.frame.equals(other.frame)
        assert [e.method for e in first.log] == ["add_one", "add_one"]
        assert first.log[1].options == {"amount": 2.0}
        assert first.log[1].figures == {"records_touched": survey.height}
    finally:
        registry.unregister("add_one")


def test_an_engine_that_will_not_do_is_named_before_work_starts():
    duckdb = pytest.importorskip("duckdb")
    data = sdc.read(duckdb.sql("select 1.0 as x union all select 2.0"), numeric="x")
    with pytest.raises(
        EngineError, match=r"closest_record needs the records in memory. Given: the duckdb engine"
    ):
        sdc.risk.closest_record(data, data)


def test_files_may_be_given_by_name_and_are_counted(survey):
    assert sdc.utility.il1s(original=survey, protected=survey).value == 0
    assert sdc.risk.frequencies(data=survey).value == sdc.risk.frequencies(survey).value
    with pytest.raises(OptionError, match=r"il1s takes 2 files. Given: 1. Allowed: original, protected"):
        sdc.utility.il1s(survey)
    with pytest.raises(OptionError, match=r"frequencies takes 1 file. Given: 2"):
        sdc.risk.frequencies(survey, survey)


def test_a_generator_that_is_none(survey):
    with pytest.raises(OptionError, match=r"rng must be a seed or a generator. Given: 'a'"):
        sdc.protect.add_noise(survey, rng="a")


def test_our_error_inside_an_option_comes_as_it_is():
    with pytest.raises(sdc.SdcError) as met:
        find("indicators").validate({"indicators": ["ginni"]})
    text = str(met.value)
    assert text.startswith("There is no indicator 'ginni'.")
    assert text.count("Allowed:") == 1
    assert ".." not in text


def test_several_synthetic_sets_are_averaged_as_in_assess(survey):
    sets = [sdc.protect.pram(survey, variables=["sex"], stay=0.5, rng=seed) for seed in range(3)]
    single = [sdc.utility.records_changed(survey, data).value for data in sets]
    result = sdc.utility.records_changed(survey, sets)
    assert result.value == pytest.approx(np.mean(single))
    assert result.notes[-1] == "Mean over 3 files; parts are of the first."
    assessed = sdc.assess(survey, sets, measures=["records_changed"]).utility["records_changed"]
    assert (assessed.value, assessed.figures) == (result.value, result.figures)
    assert sdc.utility.records_changed(survey, tuple(sets)).value == result.value
    assert (
        sdc.utility.records_changed(survey, sets[:1]).notes
        == sdc.utility.records_changed(survey, sets[0]).notes
    )


def test_every_measure_of_two_files_takes_a_list_or_none(survey):
    for spec in specs():
        if spec.kind is not Kind.PROTECTION and len(spec.file_names) == 2:
            required = [n for n, f in spec.options.model_fields.items() if f.is_required()]
            with pytest.raises(OptionError, match=r"needs at least one file" if not required else r"needs"):
                spec.call(survey, [])


def test_a_list_where_one_file_is_meant(survey):
    with pytest.raises(OptionError, match=r"k_anonymity takes one file as data. Given: a list of 2.*assess"):
        sdc.risk.k_anonymity([survey, survey])
    with pytest.raises(OptionError, match=r"il1s takes one file as original"):
        sdc.utility.il1s([survey], survey)
    with pytest.raises(OptionError, match=r"suppress takes one file as data"):
        sdc.protect.suppress([survey])


def test_an_empty_choice_of_columns_is_no_choice(survey):
    for call in (
        lambda: sdc.risk.k_anonymity(survey, keys=[]),
        lambda: sdc.utility.il1s(survey, survey, variables=()),
        lambda: sdc.protect.suppress(survey, keys=[]),
        lambda: sdc.protect.pram(survey, variables=[]),
        lambda: sdc.Step("microaggregate", variables=[]),
    ):
        with pytest.raises(OptionError, match=r"needs at least one column in '(keys|variables)'"):
            call()
    assert sdc.protect.microaggregate(survey, by=[], k=3).log  # by nothing is the whole file


def test_columns_that_are_named_need_no_role(survey):
    bare = sdc.read(survey.frame)
    keys, income = ["sex", "region"], "income"
    assert sdc.risk.k_anonymity(bare, keys=keys).value == sdc.risk.k_anonymity(survey, keys=keys).value
    assert sdc.utility.il1s(bare, bare, variables=income).value == 0
    assert sdc.protect.microaggregate(bare, variables=income, k=3).log
    found = sdc.assess(bare, bare, measures=["k_anonymity"], k_anonymity={"keys": keys})
    assert found.after["k_anonymity"].options["keys"] == keys
    assert sdc.compare(
        bare, [sdc.Scenario("no")], risk="k_anonymity", utility="records_changed", k_anonymity={"keys": keys}
    )
    with pytest.raises(sdc.SdcError, match=r"suppress_risky needs the role 'keys'"):
        sdc.protect.suppress_risky(bare, keys=keys)  # of which variables?
    with pytest.raises(sdc.SdcError, match=r"an earlier step may have removed the columns that had it"):
        sdc.protect.microaggregate(sdc.protect.drop(bare.with_roles(numeric=income), variables=income))
    with pytest.raises(sdc.SdcError, match=r"l_diversity needs the role 'sensitive'"):
        sdc.risk.l_diversity(bare, keys=keys)


def test_seed_is_called_rng(survey):
    with pytest.raises(OptionError, match=r"in a call in Python also rng. A scenario has one seed"):
        sdc.protect.pram(survey, variables="sex", seed=3)
    with pytest.raises(OptionError, match=r"It draws no random numbers"):
        sdc.protect.recode(survey, variable="age", width=5, seed=3)
    with pytest.raises(OptionError, match=r"seed=3 repeats them"):
        sdc.protect.suppress(survey, keys=["sex", "region"], k=2, rng=3)
    with pytest.raises(OptionError, match=r"Allowed: rng\. A scenario"):
        sdc.protect.shuffle_order(survey, seed=3)


@pytest.mark.parametrize("collection", [np.array, pl.Series, set, frozenset, iter, tuple])
def test_column_names_in_any_collection(survey, collection):
    names = ["region", "sex"]
    assert sdc.read(survey.frame, keys=collection(names)).roles.keys == ("region", "sex")
    assert sdc.risk.k_anonymity(survey, keys=collection(names)).options["keys"] == names
    step = sdc.Step("suppress", keys=collection(names))
    assert step.options == {"keys": names}
    assert step == sdc.Step("suppress", keys=names)


@pytest.mark.parametrize("wrong", [{"sex": 1}, pl.DataFrame({"sex": [1]}), 3, np.zeros((2, 2)), ["sex", 1]])
def test_what_holds_no_column_names(survey, wrong):
    with pytest.raises(sdc.SdcError, match=r"Role 'keys' takes column names"):
        sdc.read(survey.frame, keys=wrong)
    with pytest.raises(
        OptionError, match=r"Option 'keys' of k_anonymity is not valid.*Allowed: column names"
    ):
        sdc.risk.k_anonymity(survey, keys=wrong)


def test_numbers_of_results_are_those_of_python(survey):
    @utility("NumPy's numbers", interpretation="None.", compares=registry.Compares.ONE_FILE)
    def numpys(data: sdc.Microdata) -> sdc.Result:
        """NumPy's numbers."""
        return sdc.Result(np.float64(1), {"count": np.int64(2), "share": np.float32(0.5)})

    try:
        result = numpys(survey)
        assert [type(v) for v in (result.value, *result.figures.values())] == [float, int, float]
    finally:
        registry.unregister("numpys")


def test_figures_stand_below_each_other():
    long = sdc.Result(1.0, {"expected_reidentifications": 19.1, "records": 8})
    assert {line.index(end) for line, end in zip(repr(long).split("\n")[1:], ("19.1", "8"), strict=True)} == {
        30
    }


def test_a_function_whose_options_nothing_can_check_is_refused_when_it_is_written():
    def untyped(original, protected, *, factor=2.0, rng=None):
        """Without a type."""

    def positional(original, protected, factor: float = 2.0):
        """Without a star."""

    for function, words in (
        (untyped, "An option of untyped has no type. Given: factor. Allowed: .* factor: float"),
        (
            positional,
            r"options come after a star. Given: original, protected, factor. Allowed: def positional",
        ),
    ):
        with pytest.raises(OptionError, match=words):
            utility("Of no use", interpretation="0: none.")(function)
        assert not registry.is_registered(function.__name__)
    with pytest.raises(OptionError, match=r"Allowed: def positional\(data, \*, option: float = 1\)\.$"):
        protection("Of no use")(positional)


def test_what_a_function_returns_must_be_of_its_kind(survey):
    try:

        @utility("A bare number", interpretation="0: none.")
        def bare_number(original, protected):
            """No result."""
            return 0.5

        @protection("A bare table")
        def bare_table(data):
            """No microdata."""
            return data.frame

        with pytest.raises(OptionError, match=r"bare_number must return Result. Given: float."):
            bare_number(survey, survey)
        with pytest.raises(OptionError, match=r"bare_table must return Microdata. Given: DataFrame."):
            bare_table(survey)
    finally:
        registry.unregister("bare_number")
        registry.unregister("bare_table")
