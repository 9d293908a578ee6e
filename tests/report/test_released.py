"""Pictures of recoded keys: the original is shown in the categories of the protected file."""

import polars as pl
import pytest

import sdckit as sdc
from sdckit import protect
from sdckit.choose.assess import assess
from sdckit.methods.recoding import in_categories_of
from sdckit.report.summarize import summarize


@pytest.fixture(scope="module")
def files():
    data = sdc.demo.survey(n=500, seed=4)
    banded = protect.recode(data, variable="age", breaks=[0, 15, 30, 45, 60, 120])
    return data, protect.pram(banded, variables="region", rng=3)


def test_a_recoded_key_is_compared_in_the_categories_released(files):
    data, protected = files
    alike, names = in_categories_of(protected, data, data.roles.keys)
    assert names == ["age"]
    assert alike.frame["age"].cast(pl.String).equals(protected.frame["age"].cast(pl.String))
    assert in_categories_of(data, data, data.roles.keys) == (data, [])


@pytest.mark.parametrize("audience", ["internal", "public"])
def test_mosaics_show_bands_and_say_so(files, audience):
    content = summarize(assess(*files, measures=["k_anonymity"]), audience)
    charts = [c for c in content["mosaics"]["charts"] if "age" in c["names"]]
    for chart in charts:
        assert chart["recoded"] == ["age"]
        levels = chart["first"] if chart["names"][0] == "age" else chart["second"]
        assert not {"30", "41"} & {*levels}
    assert charts or audience == "public"


def test_tables_are_compared_in_the_categories_released(files):
    x = assess(*files, measures=["contingency_tables"])
    (row,) = [r for s in summarize(x)["utility"] for r in s["rows"]]
    assert "Compared in the categories of the protected file: age." in row["notes"]


@pytest.mark.parametrize("name", ["gower_distance", "variable_loss"])
def test_measures_of_change_say_what_new_categories_mean(files, name):
    measure = getattr(sdc.utility, name)
    assert any("age has other categories" in note for note in measure(*files).notes)
    assert not any("categories" in note for note in measure(files[0], files[0]).notes)
